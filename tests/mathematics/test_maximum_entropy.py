"""Regularised maximum entropy against a dense solver, and what happens when Newton's method fails."""

from __future__ import annotations

import numpy as np
import pytest

from dpbench.mathematics import maximum_entropy
from dpbench.mathematics.maximum_entropy import Boxes, MaximumEntropy, Prefixes
from dpbench.mathematics.multiplicative_weights import Replays
from dpbench.mathematics.worst_answered import queries_of
from dpbench.workloads import Identity, Prefix, RandomRange, Ranges
from reference import maximum_entropy as dense

WORKLOADS = [
    Prefix(1),
    Prefix(2),
    Prefix(32),
    Ranges(9, [0, 0, 0, 0], [4, 9, 4, 1]),  # prefixes, one twice
    Identity(7),
    RandomRange(40, 25, seed=1),
    RandomRange((4, 8), 20),
    RandomRange((9, 5), 30, seed=2),
    RandomRange((1, 7), 6),
    Ranges((3, 4), [[0, 0], [1, 1], [1, 1]], [[3, 4], [2, 3], [2, 3]]),  # all of the domain, and a box twice
]


def solved(kind, workload, order, targets, penalty, trials=1):
    """A solver that has learned all of a workload's queries in some order, to the last digit."""
    queries = queries_of(workload)
    solver = kind(queries, trials, len(order))
    ones = np.ones(trials)
    for number, query in enumerate(order):
        left = solver.learn(
            np.full(trials, query),
            np.atleast_2d(targets).T[number] * ones,
            np.ones(trials, dtype=np.bool_),
            penalty * ones,
            1e-13 * ones,
            200,
        )
        assert (left <= 1e-11).all()
    return solver


@pytest.mark.parametrize(
    ("noise", "penalty"), [(0.0, 1e-4), (0.0, 1.0), (0.05, 1e-3), (0.05, 0.05), (3.0, 0.1), (3.0, 3.0)]
)
@pytest.mark.parametrize("workload", WORKLOADS, ids=repr)
def test_it_is_the_dense_solution(workload, noise, penalty):
    """Shares of all cells, to 1e-9; answers are those of the estimate; in any order of the queries."""
    rng = np.random.default_rng(5)
    x = rng.integers(0, 9, size=workload.domain.size) + 0.5
    matrix = Ranges(workload.domain, workload.ranges().lower, workload.ranges().upper).matrix()
    targets = matrix @ x / x.sum() + noise * rng.laplace(size=len(matrix))
    order = rng.permutation(len(matrix))
    expected = dense.shares(matrix, targets, penalty)
    for kind in (Prefixes, Boxes) if queries_of(workload).prefixes else (Boxes,):
        solver = solved(kind, workload, order, targets[order], penalty)
        found = solver.estimate(np.array([50.0]))
        assert found.shape == (1, *workload.domain.shape)
        np.testing.assert_allclose(found.reshape(-1) / 50, expected, rtol=1e-9, atol=1e-11)
        np.testing.assert_allclose(solver.answers(np.array([50.0]))[0], matrix @ found.reshape(-1), atol=1e-10)


def learned(workload, answers, totals, deviation=1.0, replays=20):
    """All queries in order, ``answers`` ``(trials, q)``."""
    estimates = MaximumEntropy(queries_of(workload), totals, answers.shape[1], deviation, replays)
    for query in range(answers.shape[1]):
        estimates.learn(np.full(len(totals), query), answers[:, query])
    return estimates


def replayed(workload, answers, totals, replays=20):
    """The same by multiplicative weights."""
    weights = Replays(queries_of(workload), totals, answers.shape[1], replays)
    for query in range(answers.shape[1]):
        weights.learn(np.full(len(totals), query), answers[:, query])
    return weights.estimate()


def problem(workload, trials=3, noise=1.0, seed=0):
    """Noisy answers of one data vector."""
    rng = np.random.default_rng(seed)
    x = rng.integers(0, 60, size=workload.domain.shape)
    exact = np.asarray(workload.answer(x), dtype=np.float64)
    return exact + noise * rng.laplace(size=(trials, len(exact))), np.full(trials, float(x.sum()))


@pytest.mark.parametrize("workload", [Prefix(64), RandomRange((8, 9), 40)], ids=repr)
def test_few_steps_per_round_end_near_the_solution(workload):
    """With the steps and tolerances that MWEM has: every answer is met within its noise, the penalty's pull aside."""
    answers, totals = problem(workload)
    estimates = learned(workload, answers, totals)
    assert estimates.replayed == ()
    matrix, deviation = workload.matrix(), 1.0 / totals[0]
    for trial, estimate in enumerate(estimates.estimate()):
        assert estimate.sum() == pytest.approx(totals[trial], rel=1e-12)
        expected = dense.shares(matrix, answers[trial] / totals[trial], maximum_entropy.PENALTY * deviation)
        off = matrix @ (estimate.reshape(-1) / totals[trial] - expected)
        assert np.abs(off).max() < deviation


@pytest.mark.parametrize("workload", [Prefix(30), RandomRange((6, 7), 25)], ids=repr)
def test_a_trial_does_not_depend_on_the_others(workload):
    """Bit for bit the same alone and in a batch."""
    answers, totals = problem(workload)
    together = learned(workload, answers, totals).estimate()
    for trial in range(3):
        one = slice(trial, trial + 1)
        np.testing.assert_array_equal(learned(workload, answers[one], totals[one]).estimate(), together[one])


@pytest.mark.parametrize("workload", [Prefix(12), RandomRange((5, 4), 9)], ids=repr)
def test_a_round_that_ends_far_off_is_replayed(workload, monkeypatch):
    """Without a single step in the last round nothing of its answer is learned: such a trial goes to the replays."""
    answers, totals = problem(workload)
    answers = answers[:, :9]
    answers[1, -1] += 0.4 * totals[1]  # news that no earlier round has
    monkeypatch.setattr(maximum_entropy, "LAST_STEPS", 0)
    estimates = learned(workload, answers, totals, deviation=0.05 * totals[0])
    assert 1 in estimates.replayed
    again = list(estimates.replayed)
    np.testing.assert_array_equal(estimates.estimate()[again], replayed(workload, answers, totals)[again])


def test_answers_that_contradict_each_other_end_somewhere():
    """Two boxes that cover everything with a tenth of the records each: eight times the noise, and no fault of ours."""
    workload = Ranges((3, 2), [[0, 0], [1, 0]], [[2, 2], [3, 2]])
    estimate = learned(workload, np.ones((1, 2)), np.array([10.0]), deviation=1.0).estimate()
    assert np.isfinite(estimate).all()
    assert estimate.sum() == pytest.approx(10)


@pytest.mark.parametrize("workload", [Prefix(12), RandomRange((5, 4), 9)], ids=repr)
@pytest.mark.parametrize("when", [0, 4, 8])
def test_a_number_that_is_none_is_replayed(workload, when, monkeypatch):
    """One trial's solver breaks in some round; the trial has the replays' estimate and the others keep theirs."""
    answers, totals = problem(workload)
    answers = answers[:, :9]
    sound = learned(workload, answers, totals).estimate()
    kind = Prefixes if queries_of(workload).prefixes else Boxes
    whole, rounds = kind.learn, []

    def breaks(self, *given):
        rounds.append(1)
        left = whole(self, *given)
        if len(rounds) == when + 1:
            left[1] = np.nan
        return left

    monkeypatch.setattr(kind, "learn", breaks)
    estimates = learned(workload, answers, totals)
    assert estimates.replayed == (1,)
    found = estimates.estimate()
    np.testing.assert_array_equal(found[1], replayed(workload, answers, totals)[1])
    np.testing.assert_array_equal(found[[0, 2]], sound[[0, 2]])
    np.testing.assert_allclose(estimates.answers()[1], workload.answer(found)[1], rtol=1e-9)


@pytest.mark.parametrize("workload", [Prefix(12), RandomRange((5, 4), 9)], ids=repr)
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_the_solver_says_when_it_is_broken(workload, bad):
    """An answer that is no number ends in NaN, in as many steps as any other."""
    solver = (Prefixes if queries_of(workload).prefixes else Boxes)(queries_of(workload), 1, 2)
    yes, one = np.ones(1, dtype=np.bool_), np.ones(1)
    assert np.isfinite(solver.learn(np.array([3]), 0.3 * one, yes, 0.1 * one, 0.1 * one, 5)).all()
    assert not np.isfinite(solver.learn(np.array([1]), bad * one, yes, 0.1 * one, 0.1 * one, 5)).any()


@pytest.mark.parametrize("workload", [Prefix(64), RandomRange((9, 8), 60), RandomRange(50, 40)], ids=repr)
@pytest.mark.parametrize("noise", [1e-6, 1e-2, 1.0, 1e3, 1e9], ids=lambda noise: f"noise {noise:g}")
def test_no_amount_of_noise_breaks_it(workload, noise):
    """From more exact than double precision to a million times the total: finite, non-negative, the total kept."""
    answers, totals = problem(workload, trials=5, noise=noise, seed=3)
    answers[:, ::7] *= -3
    estimates = learned(workload, answers, totals, deviation=noise * 2**0.5)
    found = estimates.estimate()
    assert (found >= 0).all()
    np.testing.assert_allclose(found.reshape(5, -1).sum(axis=1), totals, rtol=1e-9)


@pytest.mark.parametrize("workload", [Prefix(5), RandomRange((3, 2), 4)], ids=repr)
def test_nothing_to_share_out_gives_zeros(workload):
    """A total of 0 or less, beside a trial that has one."""
    answers = np.tile(workload.answer(np.ones(workload.domain.shape)), (3, 1))
    estimates = learned(workload, answers, np.array([0.0, -3.0, 10.0]))
    np.testing.assert_array_equal(estimates.estimate()[:2], 0)
    np.testing.assert_array_equal(estimates.answers()[:2], 0)
    assert estimates.estimate()[2].sum() == pytest.approx(10)
    assert estimates.replayed == ()


@pytest.mark.parametrize("workload", [Prefix(6), RandomRange((2, 3), 4)], ids=repr)
def test_before_any_answer_it_is_uniform(workload):
    """The total over the number of cells."""
    estimates = MaximumEntropy(queries_of(workload), np.array([12.0]), 4, 1.0, 100)
    np.testing.assert_allclose(estimates.estimate(), np.full((1, *workload.domain.shape), 2.0), rtol=1e-15)
    np.testing.assert_allclose(estimates.answers(), workload.answer(estimates.estimate()), rtol=1e-14)
