"""Columns to and from Arrow without pandas, as pyarrow itself would make them."""

import subprocess
import sys

import numpy as np
import pyarrow as pa
import pytest

from dpbench.store import plain_arrays
from dpbench.store.plain_arrays import distinct_texts, list_lengths, list_numbers, text_codes, to_arrow, to_numpy

COLUMNS = {
    "texts": (pa.string(), ["a", "", "é", "a"]),
    "whole": (pa.int64(), [1, -2, 3, 2**60]),
    "floats": (pa.float64(), [1.5, None, float("inf"), 0.0]),
    "truths": (pa.bool_(), [True, False, True, True]),
    "lists": (pa.list_(pa.float64()), [[1.0, 2.0], [], [3.0], [float("inf")]]),
    "maps": (pa.map_(pa.string(), pa.list_(pa.float64())), [[("a", [1.0])], [], [("b", []), ("c", [2.0, 3.0])], []]),
}


@pytest.mark.parametrize("name", COLUMNS)
def test_a_column_is_what_pyarrow_makes_of_the_same_values(name):
    kind, values = COLUMNS[name]
    for part in (values, values[:1], []):
        made = to_arrow(part, kind)
        made.validate(full=True)
        assert made.equals(pa.array(part, kind))


@pytest.mark.parametrize("name", ["texts", "whole", "floats", "truths"])
def test_an_array_is_what_pyarrow_makes_of_the_same_column(name):
    """In one chunk, in several that begin in the middle of their buffers, as a dictionary, and empty."""
    kind, values = COLUMNS[name]
    array = pa.array(values, kind)
    columns = [
        pa.chunked_array([array]),
        pa.chunked_array([array.slice(1), array.slice(0, 0), array.slice(2, 1)]),
        pa.chunked_array([], kind),
    ]
    if name == "texts":
        columns += [columns[1].dictionary_encode(), pa.chunked_array([pa.array(["a", None, "b"])])]
    for column in columns:
        wanted = column.cast(pa.string()).to_numpy() if name == "texts" else column.to_numpy(zero_copy_only=False)
        found = to_numpy(column)
        np.testing.assert_array_equal(found, wanted)
        assert found.dtype == (object if name == "texts" else wanted.dtype)


def test_reading_the_study_and_a_small_run_do_not_import_pandas(tmp_path):
    """It is installed here, and takes longer to import than either of them."""
    words = ["run", "demo", "--algorithm", "Identity", "--dataset", "bimodal", "--scale", "1000", "--trials", "1"]
    words += ["--samples", "1", "--quiet", "--store", str(tmp_path / "store")]
    for line in (["paper", "--finding", "9"], words):
        code = f"import sys; from dpbench.cli import main; main({line!r}); sys.exit('pandas' in sys.modules)"
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr


LISTS = [[1.0, 2.0], [], [3.0], [4.0, 5.0, 6.0]]


@pytest.mark.parametrize("cut", [(0, 4), (1, 3), (2, 2), (3, 1)])
def test_lists_are_taken_apart_as_pyarrow_would(cut):
    """Any slice, in one chunk or several; lists of fixed length too."""
    whole = pa.chunked_array([pa.array(LISTS), pa.array(LISTS[::-1]), pa.array([], pa.list_(pa.float64()))])
    for column in (whole, pa.chunked_array([chunk.slice(*cut) for chunk in whole.chunks[:2]])):
        held = column.to_pylist()
        assert list_lengths(column).tolist() == [len(each) for each in held]
        assert list_numbers(column).tolist() == [number for each in held for number in each]
    fixed = pa.FixedSizeListArray.from_arrays(pa.array(np.arange(12.0, dtype=np.float32)), 3).slice(*cut)
    expected = [number for each in fixed.to_pylist() for number in each]
    assert list_numbers(pa.chunked_array([fixed])).tolist() == expected


def test_lists_that_are_empty_cells_have_no_numbers():
    """As columns that an older store lacks."""
    column = pa.chunked_array([pa.nulls(2, pa.list_(pa.float64())), pa.array([[1.0]])])
    assert list_lengths(column).tolist() == [0, 0, 1]
    assert list_numbers(column).tolist() == [1.0]


@pytest.mark.parametrize("long", [0, 10**6])
def test_texts_are_the_same_whoever_sorts_them_out(long, monkeypatch):
    """Short columns in Python, long ones by pyarrow."""
    monkeypatch.setattr(plain_arrays, "LONG", long)
    column = pa.chunked_array([["b", "a", None], ["b"]], pa.string())
    assert to_numpy(column).tolist() == ["b", "a", None, "b"]
    assert to_numpy(column.slice(0, 0)).tolist() == []
    assert distinct_texts(column) == {"a", "b", None}
    codes, different = text_codes(column.drop_null())
    assert (codes.tolist(), different) == ([0, 1, 0], 2)
