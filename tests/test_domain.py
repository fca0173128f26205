"""Domains and coarsening."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpbench.domain import Domain
from dpbench.errors import InvalidDomain


class Whole(int):
    """A whole number of another class."""


@pytest.mark.parametrize(
    ("like", "shape"),
    [
        (1024, (1024,)),
        (np.int64(8), (8,)),
        (Whole(8), (8,)),
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


@pytest.mark.parametrize(
    ("bad", "reason"),
    [
        *((each, "20 axes was given; give at most 12") for each in ((2,) * 20, [2] * 20, "x".join("2" * 20))),
        *((each, "20 axes") for each in (np.ones(20), np.ones(20, dtype=int), range(20))),
        *((each, "more than 12 axes was given") for each in (iter([2] * 20), range(2**70))),
        ((2,) * 10**6, "1000000 axes was given"),
        *(
            (each, "is 9007199254740993; give at least 1 and at most 9007199254740992")
            for each in (2**53 + 1, [2**53 + 1])
        ),
        ("9" * 19, "along an axis of a domain is 9999999999999999999; give"),
        (10**400, "along an axis of a domain is a huge number; give"),
        ("0x3", "along an axis of a domain is 0; give at least 1"),
        (Whole(-5), "along an axis of a domain is -5; give at least 1"),
        (True, "cannot read the domain True;"),
        (b"12", "cannot read the domain b'12';"),
    ],
)
def test_the_reason_of_a_refusal_is_true(bad, reason):
    """Extreme axes and numbers of axes are told as they were given."""
    with pytest.raises(InvalidDomain) as refusal:
        Domain.of(bad)
    assert reason in str(refusal.value)


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
