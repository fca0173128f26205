"""DAWA: buckets of nearly equal counts, then GreedyH over the buckets. The hierarchy: tests/linear/test_greedy.py."""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
import pytest

from dpbench import algorithms
from dpbench.audit import check_algorithm
from dpbench.errors import CheckFailed, InvalidInput, NotPrivate, UnknownName, Unsupported
from dpbench.mathematics.buckets import cells_along
from dpbench.mathematics.greedy import greedy_tree
from dpbench.privacy import NoNoise, PrivateData, RandomNoise, Recording
from dpbench.workloads import AllRange, Prefix, RandomRange
from reference import dawa as reference

DAWA = algorithms.get("DAWA")
PUBLISHED = algorithms.get("DAWA", variant="published")
DOMAINS = [(1,), (2,), (13,), (16,), (4, 4), (3, 5), (1, 7)]


def workload_on(domain):
    return Prefix(domain) if len(domain) == 1 else RandomRange(domain, queries=20)


def recorded(algorithm, x, workload, epsilon, trials, seed=0, noise=None):
    """The estimate, and the recording of a run."""
    channel = Recording()
    return algorithm._outcome(x, workload, epsilon, trials, seed, channel=channel, noise=noise).estimate, channel


class TestPrivate:
    def test_it_passes_every_check(self):
        """Budget, replay on neighbours, edges, consistency and exchangeability, draw for draw."""
        check_algorithm(DAWA, cases=8)

    def test_where_epsilon_goes(self):
        """A quarter chooses the buckets, the rest counts them; both at sensitivity 1."""
        for domain in ((16,), (4, 4)):
            _, recording = recorded(DAWA, np.ones(domain, dtype=int), workload_on(domain), 1, 2)
            (partition, _), (counts, _) = recording.exchanges[0], recording.only(0).exchanges[0]
            assert (partition.kind, partition.amount, partition.sensitivity) == ("partition", Fraction(1, 4), 1)
            assert (counts.kind, counts.amount) == ("laplace", Fraction(3, 4))
            assert 1 <= counts.sensitivity < 1 + 1e-13

    @pytest.mark.parametrize("domain", DOMAINS)
    def test_without_noise_buckets_are_averaged(self, domain):
        """The estimate is the mean of the counts within each bucket of the partition that was drawn."""
        x = np.random.default_rng(0).integers(0, 100, size=domain)
        workload = workload_on(domain)
        estimate, recording = recorded(DAWA, x, workload, 0.1, 1, noise=NoNoise(1))
        cuts = np.flatnonzero(recording.exchanges[0][1][0])
        line = cells_along(workload.domain, padded=False)
        averaged = np.empty(x.size)
        for a, b in itertools.pairwise(cuts):
            averaged[line[a:b]] = x.reshape(-1)[line[a:b]].mean()
        # 1e-8: rounding of answers near 10^3 through weights down to 1e-3
        np.testing.assert_allclose(workload.answer(estimate[0]), workload.answer(averaged.reshape(domain)), atol=1e-8)

    def test_buckets_of_two_axes_are_squares_or_halves_of_squares(self):
        """Aligned runs of the Hilbert curve."""
        x = np.random.default_rng(0).poisson(3, size=(16, 16))
        _, recording = recorded(DAWA, x, RandomRange((16, 16), queries=10), 1, 5)
        line = cells_along(RandomRange((16, 16), queries=10).domain, padded=False)
        for cuts in recording.exchanges[0][1]:
            for a, b in itertools.pairwise(np.flatnonzero(cuts)):
                rows, columns = np.unravel_index(line[a:b], (16, 16))
                sides = sorted([np.ptp(rows) + 1, np.ptp(columns) + 1])
                assert sides[0] * sides[1] == b - a
                assert sides[1] in (sides[0], 2 * sides[0])

    def test_flat_data_have_few_buckets_and_rough_data_many(self):
        """At a scale where it matters."""
        flat, rough = np.full(256, 1000), np.arange(256) % 2 * 20_000
        sizes = [recorded(DAWA, x, Prefix(256), 0.1, 10)[1].exchanges[0][1].sum(axis=1) - 1 for x in (flat, rough)]
        assert sizes[0].max() < 64
        assert sizes[1].min() > 200

    def test_rho_zero_is_greedy_h(self):
        """No partition: the hierarchy over single cells, draw for draw."""
        x = np.arange(20)
        found = algorithms.get("DAWA", rho=0).run(x, Prefix(20), 0.5, 3, 1)
        np.testing.assert_allclose(found, algorithms.get("GreedyH").run(x, Prefix(20), 0.5, 3, 1), rtol=1e-9)

    def test_counts_cannot_be_revealed(self):
        """The published partition asks for what the private form may not have."""
        data = PrivateData.open(np.arange(4), 1, NoNoise(1))
        with pytest.raises(NotPrivate, match="true deviations"):
            PUBLISHED._least_cost(data, Fraction(1, 4), Fraction(3, 4), 4)

    @pytest.mark.parametrize("workload", [AllRange(20), AllRange((4, 5)), RandomRange(20, queries=7)], ids=repr)
    @pytest.mark.parametrize("objective", ["gram", "workload", "by axes"])
    def test_any_workload(self, workload, objective):
        """Products of distributions and lists of ranges; nearly exact answers at a huge epsilon."""
        x = np.random.default_rng(0).integers(0, 50, size=workload.domain.shape)
        estimate = algorithms.get("DAWA", objective=objective).run(x, workload, 1e9, seed=0)
        # 1e-4: noise of size 1e-9 through weights down to 1e-3
        assert workload.norm(estimate - x, "Linf").max() < 1e-4


class TestPublished:
    def test_it_fails_the_checks(self):
        """It needs raw counts."""
        with pytest.raises(CheckFailed, match="not private"):
            check_algorithm(PUBLISHED)

    @pytest.mark.parametrize("domain", [(1,), (3,), (10,), (2, 2), (3, 2), (1, 4)])
    def test_against_the_slow_version(self, domain):
        """Given the same noise: every partition in turn, dense GreedyH, pseudo-inverse; then truncation in 2-D."""
        workload = workload_on(domain)
        line = cells_along(workload.domain, padded=True)
        W = np.where(line >= 0, workload.matrix()[:, line], 0.0)
        whole = algorithms.get("DAWA", variant="published", truncate=False)
        for seed in range(3):
            x = np.random.default_rng(seed).integers(0, 30, size=domain)
            along = np.where(line >= 0, x.reshape(-1)[line], 0)
            estimate, recording = recorded(whole, x, workload, 1, 2, seed)
            noise = recording.exchanges[0][1]
            for trial in range(2):
                if len(line) > 10:
                    continue
                edges = np.array(reference.published_edges(along, noise[trial] * 0.25, 0.25, 0.75))
                tree = greedy_tree(workload, 2, 100, "gram", edges)
                nodes = list(zip(tree.start.tolist(), tree.stop.tolist(), strict=True))[tree.unmeasured :]
                answers = dict(zip(nodes, recording.only(trial).exchanges[0][1][0], strict=True))
                expected = W @ reference.estimate(W, edges, answers, "gram")
                np.testing.assert_allclose(workload.answer(estimate[trial]), expected, rtol=1e-8, atol=1e-8)
            cut = PUBLISHED.run(x, workload, 1, 2, seed)
            np.testing.assert_array_equal(cut, np.trunc(estimate) if len(domain) == 2 else estimate)

    def test_padding_takes_its_share(self):
        """Without noise, a bucket that reaches into the padding loses what falls there, as in the authors' code."""
        x = np.full((3, 3), 8)
        workload = RandomRange((3, 3), queries=4)
        whole = algorithms.get("DAWA", variant="published", truncate=False, rho=0.999999)
        lost = whole._outcome(x, workload, Fraction(1, 10**9), noise=NoNoise(1)).estimate
        assert lost.sum() < x.sum()

    def test_single_cells_betray_a_record(self):
        """Pr[single cells] is .1409 on zeros and .2178 with one record in the middle, 1.74 of the budget of 1/4.

        10,000 draws each; 4.5 standard errors have a false alarm rate of 7e-6.
        """
        trials, found = 10_000, []
        for seed, (x, expected) in enumerate((([0, 0, 0], 0.1409), ([0, 1, 0], 0.2178))):
            data = PrivateData.open(x, 1, RandomNoise.seeded(seed, trials), published=True)
            cuts = PUBLISHED._least_cost(data, Fraction(1, 4), Fraction(3, 4), 3)
            found.append(cuts.all(axis=1).mean())
            assert abs(found[-1] - expected) < 4.5 * np.sqrt(expected * (1 - expected) / trials)
        assert np.log(found[1] / found[0]) > 0.25  # 5.4 standard errors below the truth

    def test_without_noise_a_cheap_bucket_is_flat(self):
        """At a huge epsilon each bucket costs nothing, and the partition found has no deviation."""
        x = np.repeat([3, 9, 1, 1], 8)
        data = PrivateData.open(x, 10**9, NoNoise(1), published=True)
        (cuts,) = PUBLISHED._least_cost(data, Fraction(10**9, 4), Fraction(3 * 10**9, 4), 32)
        assert np.flatnonzero(cuts).tolist() == [0, 8, 16, 32]

    def test_facts(self):
        """It is marked, truncates in 2-D, and uses the authors' objective."""
        assert not PUBLISHED.is_private
        assert DAWA.is_private
        assert (PUBLISHED.truncate, PUBLISHED.objective, PUBLISHED.rho) == (True, "gram", 0.25)
        assert (DAWA.truncate, DAWA.consistent, DAWA.exchangeable) == (False, True, True)


class TestRefusals:
    @pytest.mark.parametrize(
        ("bad", "message"),
        [
            ({"rho": 1}, "rho is 1; give a number of at least 0 and below 1"),
            ({"rho": -0.1}, "rho is -0.1"),
            ({"longest": 0}, "longest is 0; give a number above 0 and at most 1"),
            ({"split": 1}, "split is 1; give a number above 0 and below 1"),
            ({"branching": 1}, "branching is 1; give a whole number of at least 2"),
            ({"steps": 1}, "steps is 1; give a whole number of at least 2"),
        ],
    )
    def test_numbers_out_of_range(self, bad, message):
        """The message quotes them and the range."""
        with pytest.raises(InvalidInput, match=message):
            algorithms.get("DAWA", **bad)

    def test_an_unknown_objective(self):
        """There are three."""
        with pytest.raises(UnknownName, match="did you mean workload"):
            algorithms.get("DAWA", objective="workloads")

    def test_three_axes(self):
        """The Hilbert curve here has two."""
        with pytest.raises(Unsupported, match="1-D or 2-D"):
            DAWA.run(np.ones((2, 2, 2)), AllRange((2, 2, 2)), 1, seed=0)
