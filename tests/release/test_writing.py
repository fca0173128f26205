"""Files of a histogram: made in pieces, and the same as row by row."""

import datetime as dt
from io import BytesIO

import numpy as np
import pyarrow.parquet as pq
import pytest

from dpbench.release import picture, writing
from dpbench.release.writing import csv_bytes, parquet_bytes, pieces, short_label, wide_csv
from dpbench.store.files import csv_line
from dpbench.tables import Categories, Numbers, Times

AXES = {
    "whole": Numbers("age", 0, 12, bins=4, missing="cell"),
    "halves": Numbers("x", -1, 1, bins=4),
    "mixed": Numbers("mixed", edges=[-0.5, -0.0, 1, 2**53, 1e300]),
    "days": Times("day", dt.date(2020, 1, 1), dt.date(2020, 1, 5), bins=4, missing="cell"),
    "times": Times("time", dt.time(0), dt.time(12), bins=3),
    "texts": Categories("sex", ["f", 'm, or "n"', "=1+1", "ü"], outside="cell", missing="cell"),
    "count": Categories("count", ["a", "b"]),
}
FORMS = [("whole",), ("halves",), ("texts",), ("whole", "texts"), ("count", "mixed"), ("days", "times", "count")]


def slow_rows(axes, counts):
    """The obvious way: a cell after the other."""
    names = [heading for axis in axes for heading in axis.headings()]
    yield [*names, "records" if "count" in names else "count"]
    for place in np.ndindex(counts.shape):
        yield [*(each for axis, cell in zip(axes, place, strict=True) for each in axis.label(cell)), int(counts[place])]


def as_written(rows):
    """Whole numbers of a column with fractions have a decimal point."""
    head, *rows = rows
    columns = [list(column) for column in zip(*rows, strict=True)]
    for column in columns:
        if any(isinstance(value, float) for value in column):
            column[:] = [None if value is None else float(value) for value in column]
    return [head, *zip(*columns, strict=True)]


@pytest.mark.parametrize("piece", [1, 3, 7, 2**20])
@pytest.mark.parametrize("form", FORMS, ids="-".join)
def test_pieces_are_the_table_row_by_row(form, piece, monkeypatch):
    """CSV to the byte and Parquet by its values, whatever the size of a piece."""
    monkeypatch.setattr(writing, "PIECE", piece)
    axes = [AXES[name] for name in form]
    counts = np.random.default_rng(0).integers(0, 10**12, [axis.cells for axis in axes])
    rows = as_written(slow_rows(axes, counts))
    assert csv_bytes(pieces(axes, counts)) == "".join(map(csv_line, rows)).encode()
    table = pq.read_table(BytesIO(parquet_bytes(pieces(axes, counts))))
    assert table.column_names == rows[0]
    assert list(zip(*(column.to_pylist() for column in table.columns), strict=True)) == [*map(tuple, rows[1:])]


def test_a_wide_table_has_a_row_per_cell_of_the_first_axis():
    """And says of each column which cell of the second one it is."""
    first, second = AXES["texts"], AXES["whole"]
    counts = np.arange(first.cells * second.cells).reshape(first.cells, second.cells)
    head = ["sex by age", *(short_label(second, cell) for cell in range(second.cells))]
    rows = [[short_label(first, cell), *counts[cell].tolist()] for cell in range(first.cells)]
    assert wide_csv([first, second], counts) == "".join(map(csv_line, [head, *rows])).encode()


def test_a_picture_has_no_more_pixels_than_fit():
    """Beyond that a pixel shows the largest of its cells."""
    counts = np.zeros((2000, 3), dtype=np.int64)
    counts[1999, 2] = 9
    pixels = picture._heat(counts)
    assert pixels.shape == (720, 720, 3)
    assert (pixels[0, -1] == picture.DARK.astype(np.uint8)).all()
    assert (pixels[1:] == picture.LIGHT.astype(np.uint8)).all()
