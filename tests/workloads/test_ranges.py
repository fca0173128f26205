"""Ranges of one's own, from arrays and from files."""

from __future__ import annotations

import numpy as np
import pytest

from dpbench.errors import InvalidWorkload
from dpbench.workloads import Ranges


@pytest.mark.parametrize(
    ("lower", "upper", "weights", "says"),
    [
        ([], [], None, "at least one range"),
        ([0, 1], [1], None, "one of each"),
        ([2], [2], None, r"range 0 is \[2, 2\)"),
        ([0, 3], [1, 2], None, r"range 1 is \[3, 2\)"),
        ([-1], [2], None, r"0 <= lower"),
        ([0], [5], None, r"<= 4"),
        ([0.5], [2.0], None, "whole numbers"),
        ([True], [True], None, "whole numbers"),
        ([[0, 0]], [[1, 1]], None, r"\(q, 1\)"),
        (["a"], ["b"], None, "whole numbers"),
        ([[0], [0, 1]], [[1], [1]], None, "whole numbers"),
        (0, 1, None, "whole numbers"),
        ([0], [1], [1, 2], "one real number per range"),
        ([0, 0], [1, 2], [1, np.nan], "weights holds NaN"),
        ([0], [1], [np.inf], "finite"),
        ([0], [1], ["heavy"], "one real number"),
    ],
)
def test_bad_arrays_are_refused_in_one_line(lower, upper, weights, says):
    """The message says which range is wrong and what is wanted."""
    with pytest.raises(InvalidWorkload, match=says) as refusal:
        Ranges(4, lower, upper, weights)
    assert "\n" not in str(refusal.value)


def write(tmp_path, content, name="ranges.csv"):
    path = tmp_path / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def test_a_file_gives_the_ranges_it_lists(tmp_path):
    """Comments, blank lines, spaces, a byte-order mark and Windows line ends do not matter."""
    path = write(
        tmp_path,
        "\ufeff# my ranges\r\n\r\nlower0, upper0,lower1,upper1,weight\r\n0,2,1,3,0.5\r\n  # more\r\n1,4, 0,1,-2\r\n",
    )
    expected = Ranges((4, 3), [[0, 1], [1, 0]], [[2, 3], [4, 1]], [0.5, -2])
    assert Ranges.from_csv(path, "4x3") == expected
    assert Ranges.from_csv(str(path), (4, 3)).key == expected.key


def test_weights_in_a_file_are_optional(tmp_path):
    """Without the column every weight is 1."""
    assert Ranges.from_csv(write(tmp_path, "lower0,upper0\n0,4"), 4) == Ranges(4, [0], [4])


@pytest.mark.parametrize(
    ("row", "says"),
    [
        ("0.5,2", "'0.5' is not a whole number"),
        ("a,2", "'a' is not a whole number"),
        ("1_0,12", "not a whole number"),
        ("٣,4", "not a whole number"),
        ("," + "9" * 5000, "not a whole number"),
        ("0," + "9" * 5000, "not a whole number"),
        ("2,2", r"\[2, 2\)"),
        ("3,1", r"\[3, 1\)"),
        ("-1,1", "0 <= lower"),
        ("0,5", "<= 4"),
        ("0", "1 columns where the header has 2"),
        ("0,1,2", "3 columns where the header has 2"),
    ],
)
def test_a_bad_row_is_refused_with_file_and_line(tmp_path, row, says):
    """The line number counts every line of the file."""
    path = write(tmp_path, f"# two lines before\nlower0,upper0\n\n0,1\n{row}\n")
    with pytest.raises(InvalidWorkload, match=says) as refusal:
        Ranges.from_csv(path, 4)
    message = str(refusal.value)
    assert "ranges.csv, line 5" in message
    assert "\n" not in message
    assert len(message) < 300 + len(str(path))


@pytest.mark.parametrize("weight", ["nan", "inf", "-inf", "x", "", "1_0", "1e999"])
def test_a_bad_weight_is_refused_with_file_and_line(tmp_path, weight):
    """A weight is a finite real number."""
    with pytest.raises(InvalidWorkload, match=r"line 2: the weight .* finite"):
        Ranges.from_csv(write(tmp_path, f"lower0,upper0,weight\n0,1,{weight}"), 4)


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ("", "is empty"),
        ("\n# nothing\n", "is empty"),
        ("lower0,upper0\n", "no ranges"),
        ("0,1\n1,2\n", "line 1: the header is '0,1'"),
        ("lower0,upper0,lower1,upper1\n0,1,0,1", "needs lower0,upper0 and may add weight"),
        (b"\xff\xfe\x00\x01", "not a UTF-8"),
        (b"lower0,upper0\n0,\x001\n", "binary"),
        (b"PK\x03\x04\x80\x81", "not a UTF-8"),
    ],
)
def test_a_file_that_is_no_list_of_ranges_is_refused(tmp_path, content, says):
    """Empty, headless and binary files get one line each."""
    with pytest.raises(InvalidWorkload, match=says) as refusal:
        Ranges.from_csv(write(tmp_path, content), 4)
    assert "\n" not in str(refusal.value)
    assert "ranges.csv" in str(refusal.value)


def test_a_missing_file_and_a_folder_are_refused(tmp_path):
    """What cannot be opened is named."""
    with pytest.raises(InvalidWorkload, match=r"nothing.csv: No such file"):
        Ranges.from_csv(tmp_path / "nothing.csv", 4)
    with pytest.raises(InvalidWorkload, match="check the path"):
        Ranges.from_csv(tmp_path, 4)


def test_corners_that_lie_in_memory_by_columns():
    """As a transposed array does."""
    lower = np.array([[0, 1], [0, 2]])
    ranges = Ranges((5, 6), lower.T, np.asfortranarray(lower.T + 2))
    np.testing.assert_array_equal(ranges.answer(np.ones((5, 6))), [4, 4])
