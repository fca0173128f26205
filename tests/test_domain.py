"""Domains and coarsening."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpbench.domain import Domain
from dpbench.errors import InvalidDomain


@pytest.mark.parametrize(
    ("like", "shape"),
    [
        (1024, (1024,)),
        (np.int64(8), (8,)),
        ("1024", (1024,)),
        ("128x64", (128, 64)),
        (" 4 x 3 x 2 ", (4, 3, 2)),
        ((16, 8), (16, 8)),
        ([16, 8], (16, 8)),
        (np.array([2, 3]), (2, 3)),
        (Domain((5,)), (5,)),
        ((2.0, 3), (2, 3)),
    ],
)
def test_a_domain_is_read_from_what_people_write(like, shape):
    """A number, a sequence, a text or a Domain."""
    domain = Domain.of(like)
    assert domain.shape == shape
    assert all(type(side) is int for side in domain)
    assert domain.size == np.prod(shape)
    assert domain.ndim == len(shape)
    assert Domain.of(str(domain)) == domain


@pytest.mark.parametrize(
    "bad",
    [
        *(0, -4, True, 2.5, None, "", "x", "4x", "x4", "-4", "4,4", "9" * 5000, b"12", float("nan")),
        *((), (4, 0), (4, -1), (4.5, 2), (True, 4), ("a", "b"), np.ones((3, 3)), (None,), {"a": 1}),
    ],
)
def test_what_is_no_domain_is_refused_in_one_line(bad):
    """The message shows what was given, shortly, and an example."""
    with pytest.raises(InvalidDomain) as refusal:
        Domain.of(bad)
    assert "\n" not in str(refusal.value)
    assert len(str(refusal.value)) < 200


@settings(deadline=None)
@given(st.lists(st.tuples(st.integers(1, 4), st.integers(1, 4)), min_size=1, max_size=3))
def test_coarsening_adds_up_adjacent_cells(pairs):
    """A coarse cell is the sum of its block, whatever the number of axes."""
    coarse = tuple(side for side, _ in pairs)
    fine = Domain(tuple(side * group for side, group in pairs))
    counts = np.arange(fine.size).reshape(fine.shape)
    merged = fine.coarsen(counts, coarse)
    assert merged.shape == coarse
    assert merged.sum() == counts.sum()
    for cell in np.ndindex(*coarse):
        block = tuple(slice(c * group, (c + 1) * group) for c, (_, group) in zip(cell, pairs, strict=True))
        assert merged[cell] == counts[block].sum()


@pytest.mark.parametrize(
    ("coarse", "says"), [((4, 4), "4 does not divide 6"), (8, "2 axes"), ((16, 6), "does not divide")]
)
def test_a_domain_that_does_not_divide_is_refused(coarse, says):
    """The message names the numbers."""
    with pytest.raises(InvalidDomain, match=says):
        Domain((8, 6)).coarsen(np.zeros((8, 6), dtype=np.int64), coarse)


def test_counts_on_another_domain_are_refused():
    """Counts must be on the domain that coarsens them."""
    with pytest.raises(InvalidDomain, match=r"\(4, 4\)"):
        Domain((8, 2)).coarsen(np.zeros((4, 4), dtype=np.int64), (4, 1))
