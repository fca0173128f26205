"""Tables of the plane, which a kernel makes, and sums over boxes: to the last bit what numpy adds up."""

from __future__ import annotations

import numpy as np
import pytest

from dpbench.domain import Domain
from dpbench.workloads.summed_area import box_sums, corners, summed_area

SHAPES = [(0, 3, 4), (2, 1, 1), (3, 1, 7), (3, 5, 1), (2, 64, 33)]


def added_up(values):
    """By numpy: first along the second axis, then along the third."""
    table = np.zeros((len(values), *(side + 1 for side in values.shape[1:])), dtype=values.dtype)
    table[:, 1:, 1:] = np.add.accumulate(np.add.accumulate(values, axis=1), axis=2)
    return table


def several(shape):
    """Numbers of very different sizes, whole numbers, zeros below zero, every second column, and what is read-only."""
    rng = np.random.default_rng(0)
    wide = rng.normal(size=(*shape[:2], 2 * shape[2])) * 10.0 ** rng.integers(-9, 9, size=(*shape[:2], 2 * shape[2]))
    kept = wide[:, :, 1::2].copy()
    kept.setflags(write=False)
    return kept, rng.integers(-(2**60), 2**60, size=shape), np.full(shape, -0.0), wide[:, :, ::2]


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_the_table_of_a_plane(shape):
    for values in several(shape):
        table = summed_area(values)
        assert table.dtype == values.dtype
        assert table.tobytes() == added_up(values).tobytes()


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_sums_over_boxes_of_a_plane(shape):
    """Corner by corner, in the order of inclusion and exclusion."""
    rng, sides = np.random.default_rng(1), np.array(shape[1:])
    lower = rng.integers(0, sides, size=(20, 2))
    upper = rng.integers(lower, sides, size=(20, 2)) + 1
    for values in several(shape):
        rows = added_up(values).reshape(len(values), np.prod(sides + 1))
        wanted = np.zeros((len(values), 20), dtype=values.dtype)
        for sign, flat in corners(Domain(shape[1:]), lower, upper):
            wanted += sign * rows[:, flat]
        assert box_sums(Domain(shape[1:]), lower, upper, values).tobytes() == wanted.tobytes()
