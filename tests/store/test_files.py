import csv
import io
from math import nan

import pytest

from dpbench.errors import InvalidStore
from dpbench.store.files import csv_cell, csv_text, known, write_file


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


@pytest.mark.parametrize("text", ["=1+1", "@SUM(A1)", "+cmd|' /C calc'!A0", "-2+3", "\t=1", "  =1", "-x"])
def test_no_cell_is_a_formula(text):
    """Text that a spreadsheet would run begins with an apostrophe, in headings as well."""
    assert csv_text(("a", "b"), [{"a": text, "b": 1}]).splitlines()[1].lstrip('"').startswith("'")
    assert csv_text((text,), []).lstrip('"').startswith("'")


@pytest.mark.parametrize("text", ["a\rb", "a\nb", "a\r", 'a"', "a,b"])
def test_what_could_end_a_line_or_a_cell_is_quoted(text):
    """A CR too, at which readers end a line."""
    assert list(csv.reader(io.StringIO(csv_text((text, "b"), []), newline=""))) == [[text, "b"]]
    assert csv_cell(text) == '"{}"'.format(text.replace('"', '""'))


@pytest.mark.parametrize("cell", [-0.5, -1, 1e-300, "-0.5", "+2", "-1e5", "-", "+", "", "a=b", "-inf"])
def test_numbers_and_other_texts_stay_what_they_are(cell):
    """A sign before a number is no formula."""
    assert csv_text(("a", "b"), [{"a": cell, "b": 1}]) == f"a,b\n{cell},1\n"
    assert csv_cell(cell) == str(cell)
