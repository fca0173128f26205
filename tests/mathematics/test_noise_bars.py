"""Intervals from the noise alone: quantiles of sums of noises, and what queries take of the answers."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import gamma, laplace, norm

import dpbench as dpb
from dpbench.errors import InvalidInput, Unsupported
from dpbench.mathematics.kernels.noise_sums import counted_quantiles, weighted_quantiles
from dpbench.mathematics.noise_bars import indicators
from dpbench.workloads import AllRange, Prefix, RandomRange, Ranges

ON_A_LINE = ("Identity", "Privelet", "H", "Hb", "HbW", "GreedyH", "HDMM")
IN_THE_PLANE = ("Identity", "Privelet", "Hb", "HbW", "GreedyH", "QuadTree", "HDMM", "GaussianOptimal")


@pytest.mark.parametrize("level", [0.01, 0.5, 0.9, 0.99, 0.9999])
def test_one_laplace_noise(level):
    """In closed form, to 1e-5 and never below."""
    exact = laplace.ppf((1 + level) / 2)
    for found in (
        weighted_quantiles(np.array([[2.0, 0.0]]), level)[0] / 2,
        counted_quantiles(np.array([[1]]), np.array([1.0]), level)[0],
    ):
        assert exact <= found <= exact * (1 + 1e-3) if level > 0.9 else found == pytest.approx(exact, abs=1e-5)


@pytest.mark.parametrize("level", [0.5, 0.9, 0.99])
def test_the_difference_of_gammas(level):
    """A sum of n Laplace noises is the difference of two gamma variables; 10^6 draws are within 0.6 %."""
    rng = np.random.default_rng(0)
    for n in (2, 5, 40):
        off = np.abs(gamma.rvs(n, size=10**6, random_state=rng) - gamma.rvs(n, size=10**6, random_state=rng))
        expected = np.quantile(off, level)
        assert weighted_quantiles(np.ones((1, n)), level)[0] == pytest.approx(expected, rel=6e-3)
        assert counted_quantiles(np.array([[n]]), np.ones(1), level)[0] == pytest.approx(expected, rel=6e-3)


def test_many_noises_are_normal():
    """20,000 equal ones, to 1e-4."""
    found = weighted_quantiles(np.full((1, 20_000), 0.5), 0.9)[0]
    assert found == pytest.approx(np.sqrt(2 * 20_000) * 0.5 * norm.ppf(0.95), rel=1e-4)


def test_a_query_that_takes_nothing_has_no_noise():
    """Zero, not NaN."""
    assert weighted_quantiles(np.zeros((1, 3)), 0.9)[0] == 0.0


def cases():
    for name in ON_A_LINE:
        for budget in ({"epsilon": 0.5}, {"rho": 0.1}):
            yield name, AllRange(13), budget
    for name in IN_THE_PLANE:
        for budget in ({"epsilon": 0.5}, {"rho": 0.1}):
            if "rho" in budget or name != "GaussianOptimal":
                yield name, RandomRange((6, 9), queries=40, seed=1), budget
    yield "SquareRoot", AllRange(13), {"rho": 0.1}
    yield "GaussianOptimal", AllRange(13), {"rho": 0.1}


@pytest.mark.parametrize(("name", "workload", "budget"), list(cases()), ids=str)
def test_exact_intervals_have_their_level_query_by_query(name, workload, budget):
    """4,000 runs on counts of no particular kind: each query within 5 standard errors of 90 %.

    And the variance of every query, read off the width under Gaussian noise, adds up to the expected error.
    """
    algorithm = dpb.algorithms.get(name)
    x = np.arange(workload.domain.size).reshape(workload.domain.shape) ** 2 % 23
    outcome = algorithm.outcome(x, workload, trials=4000, seed=5, **budget)
    found, truth = outcome.intervals(workload, 0.9), workload.answer(x)
    assert found.dtype == np.float64
    assert found.shape == (4000, workload.queries, 2)
    held = ((found[..., 0] <= truth) & (truth <= found[..., 1])).mean(axis=0)
    assert np.abs(held - 0.9).max() < 5 * np.sqrt(0.9 * 0.1 / 4000)
    assert outcome.guaranteed(workload).all()
    if "rho" in budget:
        deviation = (found[0, :, 1] - found[0, :, 0]) / 2 / norm.ppf(0.95)
        assert (deviation**2).mean() == pytest.approx(algorithm.expected_error(workload, **budget), rel=1e-6)


@pytest.mark.parametrize("name", [*ON_A_LINE, "QuadTree"])
def test_published_forms(name):
    """The authors' weights are linear too; where their code truncates there is no interval."""
    shape = (8, 8) if name in ("QuadTree", "GreedyH") else (16,)
    algorithm, workload = dpb.algorithms.get(name, variant="published"), AllRange(shape)
    outcome = algorithm.outcome(np.full(shape, 9), workload, 1.0, trials=2000, seed=1)
    if name == "GreedyH":
        with pytest.raises(Unsupported, match="depends on the data"):
            outcome.intervals(workload)
        return
    found, truth = outcome.intervals(workload), workload.answer(np.full(shape, 9))
    held = ((found[..., 0] <= truth) & (truth <= found[..., 1])).mean(axis=0)
    assert np.abs(held - 0.9).max() < 5.5 * np.sqrt(0.9 * 0.1 / 2000)


def test_weights_and_other_workloads():
    """A query of weight -3 has three times the width; the workload asked for need not be the one of the run."""
    outcome = dpb.algorithms.get("Hb").outcome(np.arange(64), Prefix(64), 1.0, seed=0)
    found = outcome.intervals(Ranges(64, [3, 3], [20, 20], [1.0, -3.0]))[0]
    assert found[1, 1] - found[1, 0] == pytest.approx(3 * (found[0, 1] - found[0, 0]))
    assert found[1, 0] == pytest.approx(-3 * found[0, 1])


def test_wider_with_the_level():
    """And a level is a number between 0 and 1."""
    outcome = dpb.algorithms.get("Privelet").outcome(np.arange(64), Prefix(64), 1.0, seed=0)
    widths = [np.diff(outcome.intervals(Prefix(64), level)).min() for level in (0.1, 0.5, 0.9, 0.99)]
    assert widths == sorted(widths)
    for level in (0, 1, 1.5, "high", True, None, float("nan")):
        with pytest.raises(InvalidInput, match="between 0 and 1"):
            outcome.intervals(Prefix(64), level)


@pytest.mark.parametrize("name", ["Uniform", "DAWA", "TopDown", "PHP", "PrivTree"])
def test_others_have_none(name):
    """Their error depends on the counts."""
    outcome = dpb.algorithms.get(name).outcome(np.arange(16), Prefix(16), 1.0, seed=0)
    with pytest.raises(Unsupported, match="no intervals"):
        outcome.intervals(Prefix(16))
    with pytest.raises(Unsupported):
        outcome.draws(3)


def test_parts_of_groups_are_refused():
    """HDMM measures cells that its workload does not tell apart as one; a query that does is biased."""
    workload = Ranges(64, [0, 16], [16, 64])
    for name in ("HDMM", "GreedyH"):
        outcome = dpb.algorithms.get(name).outcome(np.arange(64), workload, 1.0, seed=0)
        assert np.isfinite(outcome.intervals(workload)).all()
        with pytest.raises(Unsupported, match="groups of cells"):
            outcome.intervals(Ranges(64, [3], [9]))


def test_too_many_queries_are_refused_in_one_line():
    """With what to do instead."""
    outcome = dpb.algorithms.get("Identity").outcome(np.zeros(2**15, dtype=int), Prefix(2**15), 1.0, seed=0)
    with pytest.raises(Unsupported, match="Ranges"):
        outcome.intervals(AllRange(2**15))


def test_indicators_are_the_matrix():
    """Row by row."""
    ranges = RandomRange((5, 7), queries=30, seed=0).ranges()
    np.testing.assert_array_equal(indicators(ranges, slice(None)).reshape(30, -1), ranges.matrix())
