"""Prefix and Identity."""

from __future__ import annotations

import numpy as np
import pytest

from dpbench.errors import InvalidWorkload
from dpbench.workloads import AxisRanges, Identity, Prefix
from reference import ranges as reference


@pytest.mark.parametrize("side", [1, 2, 9])
def test_prefix_lists_every_prefix(side):
    """Query i is [0, i + 1)."""
    lower, upper = zip(*reference.prefixes(side), strict=True)
    np.testing.assert_array_equal(Prefix(side).matrix(), reference.dense_matrix((side,), lower, upper))
    assert Prefix(side).axes is None


def test_prefix_is_one_dimensional():
    """Elsewhere it says what to use."""
    with pytest.raises(InvalidWorkload, match="RandomRange"):
        Prefix((4, 4))


@pytest.mark.parametrize("shape", [(1,), (5,), (2, 3), (2, 2, 3)])
def test_identity_lists_every_cell(shape):
    """Cells come in row-major order, so the matrix is the identity."""
    lower, upper = zip(*reference.cells(shape), strict=True)
    identity = Identity(shape)
    np.testing.assert_array_equal(identity.matrix(), np.eye(identity.domain.size))
    np.testing.assert_array_equal(identity.ranges().lower, lower)
    np.testing.assert_array_equal(identity.ranges().upper, upper)
    assert identity.axes == tuple(AxisRanges(side, np.eye(side)[0]) for side in shape)


def test_answers_of_identity_are_a_copy():
    """Changing an answer does not change the estimate."""
    x = np.zeros(3)
    Identity(3).answer(x)[0] = 1
    assert x[0] == 0
