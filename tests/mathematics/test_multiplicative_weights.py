"""Multiplicative weights on atoms, against the dense update over cells."""

from __future__ import annotations

import numpy as np
import pytest

from dpbench.domain import Domain
from dpbench.mathematics.kernels.multiplicative_weights import BLOCK, GROUP
from dpbench.mathematics.multiplicative_weights import MultiplicativeWeights
from dpbench.workloads import Prefix, RandomRange, Ranges
from reference import mwem as dense


def learned(ranges, answers, totals, replays):
    """Estimates of all trials after every query of ``ranges``, in order, with ``answers`` ``(trials, q)``."""
    trials, queries = answers.shape
    weights = MultiplicativeWeights(ranges.domain, totals, queries, replays)
    for q in range(queries):
        lower, upper = (np.repeat(corner[q : q + 1], trials, axis=0) for corner in (ranges.lower, ranges.upper))
        weights.learn(lower, upper, np.full(trials, ranges.weights[q]), answers[:, q])
    return weights


@pytest.mark.parametrize("noise", [0.5, 20.0, 1e7], ids=["little noise", "much", "so much that exponents are clipped"])
@pytest.mark.parametrize(
    "workload",
    [
        Prefix(1),
        Prefix(32),
        RandomRange(32, 2 * BLOCK + 3, seed=1),
        RandomRange((4, 8), 20),
        RandomRange((5, 6), BLOCK + 1),
        RandomRange((1, 7), 6),
        RandomRange((3, 2, 4), 20),
        RandomRange((2, 2, 2, 2), 9),
    ],
    ids=repr,
)
def test_atoms_give_the_dense_update(workload, noise):
    """The same masses as updating every cell, to 3e-13 of the total, in any number of axes and blocks."""
    rng = np.random.default_rng(0)
    listed, matrix = workload.ranges(), workload.matrix()
    order = rng.permutation(listed.queries)
    weights = rng.uniform(-1, 1, size=listed.queries)
    ranges = Ranges(workload.domain, listed.lower[order], listed.upper[order], weights)
    rows = matrix[order] * weights[:, None]
    x = rng.integers(0, 30, size=workload.domain.size)
    totals = np.array([float(x.sum()), 1e-3])
    answers = rows @ x + noise * rng.laplace(size=(2, len(rows)))
    found = learned(ranges, answers, totals, replays=10).estimate().reshape(2, -1)
    for trial in range(2):
        expected = dense.rounds(totals[trial], rows, np.arange(len(rows)), answers[trial], 10)[-1]
        np.testing.assert_allclose(found[trial], expected, atol=3e-13 * totals[trial], rtol=1e-9)
        assert found[trial].sum() == pytest.approx(totals[trial], rel=1e-12)


def test_one_answer_is_approached():
    """A single query of 300 of 1000 records: 299.998 after 100 replays."""
    weights = learned(Ranges(10, [2], [4]), np.array([[300.0]]), np.array([1000.0]), 100)
    estimate = weights.estimate()[0]
    assert estimate[2:4].sum() == pytest.approx(299.998, abs=1e-3)
    np.testing.assert_allclose(estimate[2:4], estimate[2])
    np.testing.assert_allclose(np.delete(estimate, [2, 3]), estimate[0])


def test_exact_answers_to_everything_give_the_counts():
    """All prefixes without noise and many replays: every positive count is found."""
    x = np.array([3.0, 9.0, 1.0, 4.0, 7.0, 2.0])
    estimate = learned(Prefix(6).ranges(), np.cumsum(x)[None], np.array([x.sum()]), 5000).estimate()[0]
    np.testing.assert_allclose(estimate, x, rtol=1e-6)


@pytest.mark.parametrize(
    ("workload", "most"),
    [(Prefix(64), lambda t: t + 1), (RandomRange(500, 30), lambda t: 2 * t + 1)],
    ids=["prefix", "ranges"],
)
def test_there_are_few_atoms(workload, most):
    """t prefixes cut a line into at most t + 1 atoms, t ranges into at most 2 t + 1."""
    listed = workload.ranges()
    few = Ranges(workload.domain, listed.lower[::3], listed.upper[::3])
    weights = learned(few, np.full((1, few.queries), 5.0), np.array([50.0]), 1)
    signatures = {tuple(column) for column in few.matrix().T}
    assert weights.atoms.tolist() == [len(signatures)]
    assert len(signatures) <= most(few.queries)


def test_atoms_are_the_cells_that_the_same_boxes_cover():
    """In two axes, too, where a set of cells need not be connected."""
    workload = RandomRange((9, 11), 12).ranges()
    weights = learned(workload, np.random.default_rng(0).uniform(0, 50, (1, 12)), np.array([99.0]), 3)
    signatures = {tuple(column) for column in workload.matrix().T}
    assert weights.atoms.tolist() == [len(signatures)]
    assert len(np.unique(weights.estimate())) == len(signatures)


def test_nothing_to_share_out_gives_zeros():
    """A total of 0 or less, beside a trial that has one."""
    ranges = Prefix(5).ranges()
    estimate = learned(ranges, np.ones((3, 5)), np.array([0.0, -3.0, 10.0]), 4).estimate()
    np.testing.assert_array_equal(estimate[:2], 0)
    assert estimate[2].sum() == pytest.approx(10)


@pytest.mark.parametrize("queries", [2 * BLOCK, (GROUP + 1) * BLOCK + 1], ids=["one group", "two groups"])
def test_a_trial_does_not_depend_on_the_others(queries):
    """Bit for bit the same alone and in a batch, where trials go in pairs."""
    rng = np.random.default_rng(3)
    ranges = RandomRange((6, 6), queries).ranges()
    answers, totals = rng.uniform(0, 60, size=(3, ranges.queries)), np.array([50.0, 60.0, 70.0])
    together = learned(ranges, answers, totals, 5).estimate()
    for trial in range(3):
        one = slice(trial, trial + 1)
        np.testing.assert_array_equal(learned(ranges, answers[one], totals[one], 5).estimate(), together[one])


def test_before_any_answer_it_is_uniform():
    """The scale over the number of cells."""
    weights = MultiplicativeWeights(Domain((2, 3)), np.array([12.0]), 4, 100)
    np.testing.assert_array_equal(weights.estimate(), np.full((1, 2, 3), 2.0))
