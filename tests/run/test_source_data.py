import numpy as np
import pytest

from dpbench.domain import Domain
from dpbench.errors import CorruptData, DatasetUnavailable, DPBenchError, UnknownName
from dpbench.run.source_data import find, read_histogram


def test_a_histogram_of_ones_own_has_the_name_of_its_file(tmp_path):
    """A .npy array and a .csv of the same counts are the same data."""
    counts = np.arange(12).reshape(3, 4)
    np.save(tmp_path / "größe☃.npy", counts)
    (tmp_path / "größe☃.csv").write_text("# a comment\n" + "\n".join(",".join(map(str, row)) for row in counts))
    one, other = find(str(tmp_path / "größe☃.npy")), find(str(tmp_path / "größe☃.csv"))
    assert (one.name, one.ndim, one.source) == (other.name, other.ndim, other.source) == ("größe☃", 2, one.source)
    assert (one.histogram(Domain((3, 4))) == counts).all()


@pytest.mark.parametrize("text", ["1,2,3,4", "1\n2\n3\n4\n", "\ufeff1\n2\n\n3\n4"])
def test_a_line_of_numbers_is_one_axis(text, tmp_path):
    """One row, one column, a byte order mark and blank lines are all the same four cells."""
    path = tmp_path / "own.csv"
    path.write_text(text, encoding="utf-8")
    assert read_histogram(str(path)).tolist() == [1, 2, 3, 4]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "no rows"),
        ("a,b", "line 1"),
        ("1,2\n3", "line 2 has 1 cells"),
        ("1,-2", "negative"),
        ("1,0.5", "fractional"),
        ("1,nan", "missing"),
        ("0,0", "no record"),
        ("1e16,1", "2\\^53"),
        ("1e400,1", "missing"),
    ],
)
def test_what_is_not_a_histogram_is_refused(text, reason, tmp_path):
    """The refusal names the file and what is wrong."""
    path = tmp_path / "own.csv"
    path.write_text(text)
    with pytest.raises(DPBenchError, match=reason) as refused:
        find(str(path))
    assert str(path) in str(refused.value)


@pytest.mark.parametrize(
    "content", [b"", b"\x93NUMPY", b"\x93NUMPY\x01\x00v\x00{'descr': '<f8'", b"PK\x03\x04", b"x" * 99]
)
def test_a_mangled_array_is_refused(content, tmp_path):
    """Whatever numpy makes of a broken header, it is reported in one line."""
    path = tmp_path / "own.npy"
    path.write_bytes(content)
    with pytest.raises(DPBenchError, match="own.npy"):
        find(str(path))


@pytest.mark.parametrize("array", [np.array("text"), np.array(3), np.zeros(0), np.array([1 + 2j]), np.array([True])])
def test_an_array_of_something_else_is_refused(array, tmp_path):
    """Counts are whole numbers on at least one axis."""
    np.save(tmp_path / "own.npy", array)
    with pytest.raises(DPBenchError, match="give an array of counts"):
        find(str(tmp_path / "own.npy"))


def test_a_missing_file_and_an_unknown_name_are_different_errors():
    """One says to check the path, the other names the nearest dataset or shape."""
    with pytest.raises(DatasetUnavailable, match=r"nowhere.npy: No such file"):
        find("nowhere.npy")
    with pytest.raises(UnknownName, match="did you mean bimodal"):
        find("bimodel")


def test_a_file_that_changes_under_a_run_is_noticed(tmp_path):
    """Results of other counts are never stored under the old ones' key."""
    path = tmp_path / "own.npy"
    np.save(path, np.arange(8))
    data = find(str(path))
    np.save(path, np.arange(8) + 1)
    with pytest.raises(CorruptData, match="has changed since the run began"):
        data.histogram(Domain((8,)))


def test_a_header_without_its_brace_is_refused_in_one_line(tmp_path):
    """Numpy's reader of old headers ends in an exception of the tokenizer."""
    header = b"{'descr': '<i8', 'fortran_order': False, 'shape': (4,), ".ljust(117) + b"\n"
    (tmp_path / "own.npy").write_bytes(b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header + bytes(32))
    with pytest.raises(CorruptData) as refusal:
        find(str(tmp_path / "own.npy"))
    assert "\n" not in str(refusal.value)
