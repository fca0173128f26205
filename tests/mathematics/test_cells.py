"""The strategy that asks for every cell."""

from __future__ import annotations

import numpy as np

from dpbench.domain import Domain
from dpbench.mathematics.cells import Cells


def test_the_answers_are_the_counts():
    """One answer a cell, moved by 1 by one record."""
    x = np.arange(6).reshape(2, 3)
    cells = Cells(Domain((2, 3)))
    np.testing.assert_array_equal(cells.answer(x), x)
    assert cells.shape == (2, 3)
    assert cells.sensitivity == 1
