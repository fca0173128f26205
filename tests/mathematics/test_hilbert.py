"""The Hilbert curve."""

from __future__ import annotations

import numpy as np
import pytest

from dpbench.domain import Domain
from dpbench.errors import Unsupported
from dpbench.mathematics.hilbert import coordinates, order
from reference import hilbert as reference


@pytest.mark.parametrize("side", [1, 2, 4, 8, 16, 32])
def test_the_curve_is_the_textbook_one(side):
    """Four turned copies, one after the other, walk the cells that the bit-by-bit loop walks."""
    rows, columns = coordinates(side)
    assert list(zip(rows.tolist(), columns.tolist(), strict=True)) == [
        reference.cell(side, distance) for distance in range(side * side)
    ]


@pytest.mark.parametrize("side", [2, 4, 8, 64])
def test_consecutive_cells_are_adjacent(side):
    """Every step moves by one cell along one axis."""
    rows, columns = coordinates(side)
    assert (np.abs(np.diff(rows)) + np.abs(np.diff(columns)) == 1).all()


@pytest.mark.parametrize("side", [2, 4, 8, 64])
def test_aligned_runs_are_aligned_squares(side):
    """Every aligned run of 4^k positions is a square of side 2^k at a multiple of 2^k."""
    rows, columns = coordinates(side)
    width = 1
    while width <= side:
        for along in (rows, columns):
            runs = along.reshape(-1, width * width)
            assert (runs // width == runs[:, :1] // width).all()
        width *= 2


@pytest.mark.parametrize("shape", [(1, 1), (4, 4), (3, 5), (5, 3), (1, 6), (7, 1), (2, 16), (12, 12)])
def test_a_line_meets_every_cell_once_and_pads_the_rest(shape):
    """The line is as long as the least enclosing power-of-two square; outside the domain it is -1."""
    line = order(Domain(shape))
    side = next(2**m for m in range(9) if 2**m >= max(shape))
    assert len(line) == side * side
    assert sorted(line[line >= 0].tolist()) == list(range(shape[0] * shape[1]))
    for position, cell in enumerate(line):
        row, column = reference.cell(side, position)
        inside = row < shape[0] and column < shape[1]
        assert cell == (row * shape[1] + column if inside else -1)


def test_one_axis_is_its_own_line():
    """No padding and no permutation in 1-D."""
    np.testing.assert_array_equal(order(Domain((11,))), np.arange(11))


def test_three_axes_are_refused():
    """The message names the domain."""
    with pytest.raises(Unsupported, match="2x2x2"):
        order(Domain((2, 2, 2)))
