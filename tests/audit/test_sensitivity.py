"""Claims recomputed: by the audit's own search, by brute force, and by hypothesis."""

from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from audit.mutants import HalfNoise, SinglePrecision
from dpbench import algorithms
from dpbench.audit.sensitivity import _share_of, check_sensitivity, largest_share
from dpbench.audit.subject import Subject, workload_for
from dpbench.domain import Domain
from dpbench.errors import CheckFailed
from dpbench.privacy import Laplace, Partition, Recording
from dpbench.privacy.transcript import Question


def questions(name, written="12"):
    algorithm = algorithms.get(name)
    domain = Domain.of(written if algorithm.supports(written) else "4x3")
    x = (np.arange(domain.size) * 7 % 11).reshape(domain.shape)
    recording = Recording()
    algorithm._outcome(x, workload_for(domain), 1, trials=2, seed=0, channel=recording)
    return recording.questions()


@pytest.mark.parametrize("name", algorithms.names())
@settings(max_examples=12, deadline=None, derandomize=True)
@given(drawn=st.data())
def test_hypothesis_finds_no_record_that_moves_more_than_its_claim(name, drawn):
    """Any counts, any cell, any question of any private form."""
    asked = drawn.draw(st.sampled_from(questions(name)))
    n = asked.domain.size
    x = np.array(drawn.draw(st.lists(st.integers(0, 10**6) | st.integers(0, 3), min_size=n, max_size=n)))
    assert _share_of(asked, x, drawn.draw(st.integers(0, n - 1))) <= 1 + 1e-9


def test_the_change_of_partitions_is_that_of_all_of_them():
    """The dynamic programme against every partition of five cells into lengths 1, 2 and 4."""

    class Cost:
        lengths = (1, 2, 4)
        sensitivity = 1
        penalty = 0.0

    rng = np.random.default_rng(0)
    before, after = rng.random((2, 3, 6))
    totals = []
    for many in range(5):
        for inner in combinations(range(1, 5), many):
            edges = [0, *inner, 5]
            lengths = np.diff(edges)
            if set(lengths.tolist()) <= {1, 2, 4}:
                places = [(Cost.lengths.index(length), end) for length, end in zip(lengths, edges[1:], strict=True)]
                totals.append(sum(after[place] - before[place] for place in places))
    loss = Partition(Cost(), 5).largest_loss(before, after, 0.5)
    assert loss == pytest.approx((max(totals) - min(totals)) / 2, abs=1e-9)


def test_the_largest_change_stands_beside_the_claim():
    """Identity's one question moves by exactly what it claims."""
    figures = check_sensitivity(Subject(algorithms.get("Identity")))
    assert (figures["claim"], figures["of"]) == (1.0, "cells")
    assert figures["largest change"] == pytest.approx(1.0, rel=1e-12)


def test_single_precision_is_found_at_large_counts_on_a_larger_domain():
    """The search reaches counts at which float32 loses records."""
    domain = Domain((40,))
    mechanism = Laplace(SinglePrecision(domain))
    asked = Question(mechanism, "prefix sums", Fraction(1), Fraction(1), mechanism.level(Fraction(1)), None, domain)
    assert largest_share(asked, np.random.default_rng(0), search=True)[0] > 1


def test_a_claim_that_does_not_hold_is_told_with_both_numbers():
    """What was claimed, and what one record did."""
    with pytest.raises(CheckFailed, match=r"claims a sensitivity of 0\.5, but one record moved what it asks by 1"):
        check_sensitivity(Subject(HalfNoise()))
