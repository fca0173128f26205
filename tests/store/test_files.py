from math import nan

import pytest

from dpbench.errors import InvalidStore
from dpbench.store.files import csv_text, known, write_file


def test_unknown_numbers_are_none_however_deep():
    """NaN has no place in JSON; everything else is kept."""
    assert known({"a": (nan, 1.5), "b": [{"c": nan}], "d": "nan", "e": 0}) == {
        "a": [None, 1.5],
        "b": [{"c": None}],
        "d": "nan",
        "e": 0,
    }


def test_csv_has_a_heading_and_leaves_none_empty():
    """Names once, floats with all their digits."""
    assert csv_text(("a", "b"), [{"a": 0.1, "b": None}, {"a": "x,y", "b": 2}]) == 'a,b\n0.1,\n"x,y",2\n'


def test_a_file_that_cannot_be_written_is_refused_in_one_line(tmp_path):
    """What is wrong, and what to give in its place."""
    with pytest.raises(InvalidStore, match="cannot write .*: No such file or directory; give a file in a folder that"):
        write_file(tmp_path / "no" / "where.csv", b"")
