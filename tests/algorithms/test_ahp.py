"""AHP: cells with similar noisy counts share one total."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from dpbench import algorithms
from dpbench.algorithms.ahp import cluster
from dpbench.errors import InvalidInput
from dpbench.privacy import NoNoise, Recording
from dpbench.workloads import Identity, Prefix
from reference import ahp as reference
from reference.sampling import standard_errors

AHP = algorithms.get("AHP")


def recorded(x, epsilon, trials=1, seed=0, algorithm=AHP):
    """A run with the noisy cells and the noisy totals that it was told."""
    recording = Recording()
    x = np.asarray(x)
    release = algorithm._outcome(x, Identity(x.shape), epsilon, trials, seed, channel=recording)
    (_, cells), (_, totals) = recording.exchanges
    return release, cells.reshape(trials, -1), totals


class TestClusters:
    @pytest.mark.parametrize("seed", range(300))
    def test_they_are_those_of_the_rule_evaluated_plainly(self, seed):
        """With opt(j) over all l in exact arithmetic: the same on 300 inputs of many kinds."""
        rng = np.random.default_rng(seed)
        n = int(rng.integers(1, 20))
        values = [
            rng.exponential(10, size=n),
            np.where(rng.random(n) < 0.6, 0, rng.exponential(20, size=n)),
            rng.choice(rng.exponential(5, size=4), size=n),
            10.0**8 + rng.normal(0, 3, size=n),
            np.sort(rng.pareto(1, size=n)) * 50,
        ][seed % 5]
        price = float(10.0 ** rng.uniform(-3, 4))
        labels = cluster(values[None], price)[0]
        order = np.argsort(values, kind="stable")
        expected = [order[positions].tolist() for positions in reference.clusters(values[order], price)]
        found = [order[labels[order] == number].tolist() for number in range(labels.max() + 1)]
        assert found == expected

    def test_a_long_run_of_equal_values_is_one_cluster(self):
        """Zeros join at no cost, in one step each, and do not hold up the values above."""
        values = np.concatenate([np.zeros(200_000), [1e6, 1e6 + 1]])
        labels = cluster(values[None], 1e-3)[0]
        assert labels.max() == 2
        np.testing.assert_array_equal(labels[:200_000], 0)

    def test_nearby_large_values_are_told_apart(self):
        """Sums of squares of 10^8 would hide a difference of 1."""
        assert cluster(np.array([[1e8, 1e8 + 1, 1e8 + 2]]), 1e-6)[0].tolist() == [0, 1, 2]

    def test_they_do_not_depend_on_the_order_of_the_cells(self):
        """Equal partitions whatever way the cells are laid out: adjacency plays no part."""
        rng = np.random.default_rng(1)
        values = rng.exponential(10, size=(1, 50))
        permutation = rng.permutation(50)
        np.testing.assert_array_equal(cluster(values[:, permutation], 50.0), cluster(values, 50.0)[:, permutation])

    def test_a_trial_is_clustered_by_itself(self):
        """A batch gives what single trials give."""
        values = np.random.default_rng(2).exponential(10, size=(4, 30))
        np.testing.assert_array_equal(cluster(values, 9.0), np.concatenate([cluster(row[None], 9.0) for row in values]))


class TestEstimate:
    @pytest.mark.parametrize("shape", [(40,), (5, 8), (2, 4, 5)])
    @pytest.mark.parametrize("parameters", [{}, {"rho": 0.3, "eta": 0.0}, {"rho": 0.5, "eta": 1.2}])
    def test_it_is_the_definition_step_by_step(self, shape, parameters):
        """Threshold, sort, cluster by the plain rule, and spread the noisy total of each cluster."""
        algorithm = algorithms.get("AHP", **parameters)
        x = (np.random.default_rng(0).pareto(1, size=shape) * 30).astype(int)
        release, cells, totals = recorded(x, 0.5, trials=5, algorithm=algorithm)
        rho, n = algorithm.rho, x.size
        for noisy, answers, estimate in zip(cells, totals, release.estimate, strict=True):
            y = np.where(noisy <= algorithm.eta * math.log(n) / (rho * 0.5), 0.0, noisy)
            order = np.argsort(y, kind="stable")
            expected = np.empty(n)
            for number, positions in enumerate(reference.clusters(y[order], 2 / ((1 - rho) * 0.5) ** 2)):
                expected[order[positions]] = answers[number] / len(positions)
            np.testing.assert_allclose(estimate.reshape(-1), expected, rtol=1e-13)

    def test_without_noise_cluster_totals_are_true_totals(self):
        """The second look is at the true counts, so the whole sum is exact."""
        x = np.random.default_rng(3).integers(0, 50, size=64)
        estimate = AHP._outcome(x, Prefix(64), 0.5, noise=NoNoise(1)).estimate[0]
        assert estimate.sum() == pytest.approx(x.sum(), rel=1e-12)
        for value in np.unique(estimate):
            assert value == pytest.approx(x[estimate == value].mean(), rel=1e-12)

    def test_several_axes_are_one_axis(self):
        """The same draws on the same counts laid out otherwise give the same estimate."""
        x = np.arange(24) % 7
        flat = AHP.run(x, Prefix(24), 0.5, 3, 1)
        square = AHP.run(x.reshape(4, 6), Identity((4, 6)), 0.5, 3, 1)
        np.testing.assert_array_equal(square.reshape(3, 24), flat)

    def test_empty_data_are_one_large_cluster(self):
        """Nearly all noisy counts fall to the threshold, so the sum of the cells carries little noise."""
        estimate = AHP.run(np.zeros(4096, dtype=int), Prefix(4096), 0.1, trials=20, seed=0)
        largest = [np.unique(trial, return_counts=True)[1].max() for trial in estimate]
        assert min(largest) > 3500

    def test_one_cell_is_one_cluster(self):
        """ln 1 = 0, so only a negative first look is set to zero, and the answer is the second look."""
        release, _, totals = recorded([7], 1.0, trials=4)
        np.testing.assert_array_equal(release.estimate, totals)

    def test_a_single_cell_of_noise_has_the_variance_of_the_second_budget(self):
        """2 / ((1 - rho) epsilon)^2 at n = 1; |z| > 4 happens by chance once in 16,000 runs (seed fixed)."""
        estimate = algorithms.get("AHP", rho=0.5).run([100], Prefix(1), 1.0, trials=4000, seed=1)[:, 0]
        assert abs(standard_errors((estimate - 100) ** 2, 2 / 0.25)) < 4

    def test_large_epsilon_gives_the_counts(self):
        """Clusters become runs of equal counts."""
        x = np.random.default_rng(4).integers(0, 10, size=300)
        np.testing.assert_allclose(AHP.run(x, Prefix(300), 1e6, seed=0)[0], x, atol=1e-3)

    def test_the_budget_is_split_by_rho(self):
        """rho on the cells, the rest on the totals, each at sensitivity 1."""
        ledger = recorded(np.arange(9), Fraction(1, 3))[0].ledger
        assert [charge.amount for charge in ledger.charges] == [Fraction(17, 60), Fraction(1, 20)]
        assert [charge.sensitivity for charge in ledger.charges] == [1, 1]

    def test_the_published_form_is_the_same_and_private(self):
        """Draw for draw: no fault was found in the authors' code."""
        published = algorithms.get("AHP", variant="published")
        assert published.is_private
        x = np.arange(50)
        np.testing.assert_array_equal(
            published.run(x, Prefix(50), 0.1, 2, seed=0), AHP.run(x, Prefix(50), 0.1, 2, seed=0)
        )


@pytest.mark.parametrize(
    ("bad", "words"),
    [
        ({"rho": 0}, "rho is 0;"),
        ({"rho": 1.0}, r"rho is 1\.0;"),
        ({"rho": float("nan")}, "rho is nan"),
        ({"eta": -0.1}, r"eta is -0\.1"),
        ({"eta": float("inf")}, "eta is inf"),
    ],
)
def test_bad_parameters_are_quoted(bad, words):
    """With the range that is wanted."""
    with pytest.raises(InvalidInput, match=words):
        algorithms.get("AHP", **bad)
