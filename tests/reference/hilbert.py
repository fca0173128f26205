"""The Hilbert curve bit by bit: the textbook loop from a distance along the curve to a cell."""

from __future__ import annotations


def cell(side, distance) -> tuple[int, int]:
    """Row and column of one position of the curve through a square of a power of two."""
    row = column = 0
    width = 1
    while width < side:
        second_half = 1 & (distance // 2)
        odd = 1 & (distance ^ second_half)
        if odd == 0:
            if second_half == 1:
                row, column = width - 1 - row, width - 1 - column
            row, column = column, row
        row += width * second_half
        column += width * odd
        distance //= 4
        width *= 2
    return row, column
