"""SF: StructureFirst, bins of small squared error, then a tree over each bin."""

from __future__ import annotations

from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pytest

from dpbench import algorithms
from dpbench.algorithms.sf import _starts_beyond_length
from dpbench.audit import check_algorithm
from dpbench.domain import Domain
from dpbench.errors import CheckFailed, InvalidInput, UnknownName, Unsupported
from dpbench.mathematics.bins import binned_tree
from dpbench.mathematics.least_squares import TreeLeastSquares
from dpbench.mathematics.structure import LARGEST_EXACT, BoundaryScore, Structure
from dpbench.privacy import PrivateData, RandomNoise
from dpbench.privacy.transcript import Recording, Replay
from dpbench.workloads import Prefix, RandomRange
from reference import sf as reference
from reference import tree as reference_tree
from reference.sampling import standard_errors

SF = algorithms.get("SF")
PUBLISHED = algorithms.get("SF", variant="published")


def opened(counts, epsilon, trials, algorithm=SF):
    """A handle whose scale is public."""
    published = algorithm.variant == "published"
    data = PrivateData.open(counts, epsilon, RandomNoise.seeded(0, trials), declared=("scale",), published=published)
    data.publish_scale()
    return data


def boundaries(counts, epsilon, trials, algorithm=SF):
    """Edges of every trial, ``(trials, bins + 1)``."""
    return np.array([algorithm._boundaries(one) for one in opened(counts, epsilon, trials, algorithm).each_trial()])


class TestTable:
    @pytest.mark.parametrize("n", [2, 5, 7, 9])
    def test_least_error_of_all_sets_of_bins(self, n):
        """S(k, j) is the least error of all ways to cut the first j cells into k bins, ties and runs included."""
        stream = np.random.default_rng(n)
        for largest in (2, 4, 100):
            counts = stream.integers(0, largest, n)
            for bins in range(2, n + 1):
                line = Structure(counts, bins).exact(np.inf)
                for k in range(1, bins):
                    exact = [reference.best_of_all(counts, k, j) for j in range(k, n)]
                    assert line.layer(k, n) == pytest.approx(exact, abs=1e-9)

    @pytest.mark.parametrize(
        ("n", "bins", "largest", "zeros"), [(60, 6, 3, 0.5), (75, 75, 9, 0.0), (150, 15, 10**6, 0.8), (170, 60, 5, 0.0)]
    )
    def test_equals_the_plain_recurrence(self, n, bins, largest, zeros):
        """Passing over runs and stretches loses nothing: every layer equals the recurrence without a trick."""
        stream = np.random.default_rng(n)
        counts = np.where(stream.random(n) < zeros, 0, stream.integers(0, largest, n))
        line, exact = Structure(counts, bins).exact(np.inf), reference.table(counts, bins - 1)
        for k in range(bins - 1, 0, -1):
            assert line.layer(k, n) == pytest.approx(exact[k, k:n], rel=1e-9, abs=1e-6)

    def test_a_shorter_layer_first(self):
        """A layer asked for up to a place is asked for further later on."""
        counts = np.random.default_rng(0).integers(0, 9, 40)
        line = Structure(counts, 4).exact(np.inf)
        short = line.energies(2, 20)
        assert short == pytest.approx(reference.energies(counts, 2, 20), abs=1e-9)
        assert line.energies(2, 40) == pytest.approx(reference.energies(counts, 2, 40), abs=1e-9)

    def test_large_counts_keep_their_small_differences(self):
        """Counts near 10^8 that differ by a few have the squared errors of the differences."""
        small = np.random.default_rng(1).integers(0, 9, 30)
        score = [BoundaryScore(3, 2, 30, np.inf, 1.0).score(Structure(x, 3)) for x in (small, small + 10**8)]
        assert score[0] == pytest.approx(score[1], abs=1e-9)

    def test_counts_are_cut_off_at_the_ceiling(self):
        """The energies are those of the clipped counts; a ceiling that cuts nothing changes nothing."""
        counts = np.random.default_rng(2).integers(0, 100, 20)
        structure = Structure(counts, 2)
        for ceiling in (1000.0, 30.0, 12.5, 99.0):
            clipped = np.minimum(counts, ceiling)
            found = structure.below(ceiling).energies(1, 20)
            assert found == pytest.approx(reference.energies(clipped, 1, 20), abs=1e-9)

    def test_one_record_moves_an_energy_by_at_most_twice_the_ceiling(self):
        """On 400 random pairs no energy moves by more than 2 F, and some by more than F."""
        stream, largest = np.random.default_rng(3), 0.0
        for _ in range(400):
            ceiling = float(stream.choice([0.5, 1, 2.5, 6]))
            counts = stream.integers(0, 9, 8) * stream.integers(0, 2, 8)
            more = counts.copy()
            more[stream.integers(8)] += 1
            bins = int(stream.integers(2, 5))
            moved = [Structure(x, bins).below(ceiling).energies(bins - 1, 8) for x in (counts, more)]
            largest = max(largest, np.abs(moved[0] - moved[1]).max() / ceiling)
        assert 1 < largest <= 2 + 1e-9


class TestBoundaries:
    def test_are_drawn_from_the_softmax(self):
        """5,000 draws of two boundaries at n = 12 match exact probabilities by chi-square, false alarm 1e-4.

        The 15 most probable pairs are classes by themselves, the rest is one (15 degrees: 44.3).
        """
        counts = np.array([9, 8, 9, 0, 1, 0, 0, 7, 6, 7, 7, 0])
        algorithm = algorithms.get("SF", cells_per_bin=4, structure_share=0.5)
        epsilon = 20
        drawn = boundaries(counts, epsilon, 5_000, algorithm)
        rate = epsilon * 0.5 / 2 / (2 * 2 * counts.sum())
        exact = reference.boundary_probabilities(counts, 3, rate)
        likely = sorted(exact, key=exact.get)[-15:]
        seen = dict.fromkeys(likely, 0)
        for edges in map(tuple, drawn.tolist()):
            if edges in seen:
                seen[edges] += 1
        expected = np.array([5_000 * exact[edges] for edges in likely])
        found = np.array(list(seen.values()))
        rest = 5_000 - expected.sum()
        statistic = ((found - expected) ** 2 / expected).sum() + (5_000 - found.sum() - rest) ** 2 / rest
        assert expected.min() > 50
        assert statistic < 44.3

    def test_published_form_spends_less_on_each(self):
        """The authors divide by bins, not bins - 1, and by 2 F + 1; the rest is forfeited."""
        ledger = PUBLISHED.outcome(np.arange(24), Prefix(24), 1, seed=0).ledger.charges[-1].regions[0]
        choices = [charge for charge in ledger.charges if charge.kind == "choose"]
        assert {charge.amount for charge in choices} == {Fraction(1, 60)}
        assert ledger.forfeited == Fraction(1, 20) - len(choices) * Fraction(1, 60)
        assert ledger.spent == 1 - ledger.forfeited

    def test_draws_that_are_not_needed_go_to_the_counts(self):
        """Structure has a twentieth in bins - 1 portions; what single cells leave unused measures the trees."""
        x, epsilon = np.arange(200), Fraction(1)
        for region in SF.outcome(x, Prefix(200), epsilon, 20, seed=0).ledger.charges[1].regions:
            *choices, counts = region.charges
            portion = Fraction(19, 20) / 20 / 19
            assert all(charge.amount == portion for charge in choices)
            assert counts.amount == Fraction(19, 20) - len(choices) * portion
            assert len(choices) < 19

    def test_even_draws_leave_few_long_bins(self):
        """At 4096 cells and no preference, H(3686) = 8.79 bins have several cells and the longest has 2221 on average.

        Each draw is even over what is left, so the number left is a chain of records. 300 trials, 4 standard errors,
        false alarm 1.3e-4 for both.
        """
        drawn = boundaries(np.zeros(4096, dtype=int), 0.1, 300)
        lengths = np.diff(drawn, axis=1)
        assert lengths.shape == (300, 410)
        assert (lengths >= 1).all()
        assert abs(standard_errors((lengths > 1).sum(axis=1), (1 / np.arange(1, 3687)).sum())) < 4
        assert abs(standard_errors(lengths.max(axis=1), 2221)) < 4

    def test_large_budgets_find_the_best_boundaries(self):
        """Three plateaus and three bins: the boundaries are their ends."""
        counts = np.repeat([100, 0, 700], 10)
        assert boundaries(counts, 10**9, 5).tolist() == [[0, 10, 20, 30]] * 5

    def test_single_bins_and_single_cells_draw_nothing(self):
        """Up to ten cells there is one bin, and with one cell a bin there are only cells: all is spent on counts."""
        for n, parameters in ((1, {}), (10, {}), (6, {"cells_per_bin": 1})):
            ledger = algorithms.get("SF", **parameters).outcome(np.ones(n), Prefix(n), 1, seed=0).ledger
            assert [charge.kind for charge in ledger.charges[1].regions[0].charges] == ["laplace"]


class TestLargeDomains:
    def test_a_hundred_thousand_cells(self):
        """No table is made: a run ends, has no bias beyond noise in its total, and asks what it asks elsewhere."""
        x = np.zeros(100_000, dtype=np.int64)
        x[::1000] = 1000
        outcome = SF.outcome(x, Prefix(100_000), 1, seed=0)
        assert outcome.estimate.shape == (1, 100_000)
        *choices, counts = outcome.ledger.charges[1].regions[0].charges
        assert {charge.kind for charge in choices} == {"choose"}
        assert {charge.amount for charge in choices} == {Fraction(19, 20) / 20 / 9_999}
        assert counts.kind == "laplace"

    @pytest.mark.parametrize("epsilon", [0.1, 50])
    def test_replayed_on_a_neighbour(self, epsilon):
        """Above the table's limit the same answers give the same output, and no run costs more than epsilon."""
        x = np.zeros(LARGEST_EXACT + 9, dtype=np.int64)
        x[::50] = 40
        more = x.copy()
        more[4_150] += 1
        recording = Recording()
        replay = Replay(recording)
        runs = [
            SF._outcome(counts, Prefix(len(x)), epsilon, 2, seed=0, channel=channel).estimate
            for counts, channel in ((x, recording), (more, replay))
        ]
        replay.finish()
        assert (runs[0] == runs[1]).all()
        loss, rounding = replay.total(2)
        assert (np.abs(loss) <= epsilon + rounding + 1e-12).all()
        assert all(
            call.question.mechanism.largest_loss(call.question.truth, call.other, call.question.level)
            <= float(call.question.loss) * (1 + 1e-9)
            for call in replay.calls()
        )

    def test_boundaries_follow_steps_where_the_budget_is_large(self):
        """Two plateaus of 2^13 cells and two bins: the bound of dyadic bins finds the step."""
        counts = np.repeat([1000, 0], 2**13)
        algorithm = algorithms.get("SF", cells_per_bin=2**13)
        assert boundaries(counts, 10**9, 3, algorithm).tolist() == [[0, 2**13, 2**14]] * 3


class TestTrees:
    @pytest.mark.parametrize("padded", [False, True])
    @pytest.mark.parametrize("edges", [(0, 1), (0, 7), (0, 3, 4, 12), (0, 1, 2, 3, 21)])
    def test_least_squares_is_the_dense_one(self, edges, padded):
        """The estimate of every cell is the pseudo-inverse's, padding being cells like any other."""
        tree = binned_tree(Domain((edges[-1],)), np.array(edges), padded)
        answers = np.random.default_rng(len(edges)).normal(size=(2, tree.nodes - 1))
        leaves = np.linalg.pinv(reference_tree.leaf_matrix(tree)) @ answers.T
        assert np.allclose(TreeLeastSquares(tree).solve(answers), (reference_tree.spread(tree) @ leaves).T, atol=1e-12)

    @pytest.mark.parametrize("length", [2, 3, 8, 13])
    def test_padded_tree_has_the_closed_form(self, length):
        """Equal weights on a complete tree: z = (a y + (a - 1) sum z) / (2 a - 1), then halves of the excess."""
        tree = binned_tree(Domain((length,)), np.array([0, length]), padded=True)
        height = (length - 1).bit_length() + 1
        answers = np.random.default_rng(length).normal(size=tree.nodes - 1)
        expected = reference.closed_form(answers * height, height)[:length]
        assert np.allclose(TreeLeastSquares(tree).solve(answers[None])[0], expected, atol=1e-13)

    @pytest.mark.parametrize("padded", [False, True])
    def test_one_record_moves_the_answers_by_one(self, padded):
        """The weights of a bin of height h are 1 / h, so the heaviest path weighs 1, rounded up."""
        tree = binned_tree(Domain((40,)), np.array([0, 3, 4, 23, 40]), padded)
        assert 1 <= TreeLeastSquares(tree).strategy.sensitivity < 1 + 1e-14

    def test_estimates_have_no_bias(self):
        """1,000 trials on 24 cells, each cell within 4.5 standard errors, false alarm 24 * 7e-6."""
        x = np.random.default_rng(5).integers(0, 50, 24)
        estimate = SF.run(x, Prefix(24), 1, trials=1000, side_information="public", seed=0)
        assert np.abs(standard_errors(estimate, x)).max() < 4.5

    def test_bin_means_without_the_trees(self):
        """hierarchy=False spreads each bin's total, exact at a large budget, and so is not consistent."""
        flat = algorithms.get("SF", hierarchy=False)
        x = np.arange(30)
        for row in flat.run(x, Prefix(30), 10**9, trials=5, seed=0):
            assert len(np.unique(row)) <= 3
            assert row.sum() == pytest.approx(x.sum(), abs=1e-3)
        assert not flat.consistent
        assert SF.consistent


class TestPublished:
    def test_inner_nodes_beyond_their_length_have_no_noise(self):
        """In a bin that starts at or after its length every inner node is exact; in the first bin none is."""
        edges = np.array([0, 8, 16])
        tree = binned_tree(Domain((16,)), edges, padded=True)
        bare = _starts_beyond_length(tree, edges)
        inner = np.diff(tree.first_child) > 0
        second = tree.start >= 8
        assert (bare[1:] == (inner & second)[1:]).all()
        assert not bare[0]

    def test_variance_of_the_total(self):
        """On 40 cells at epsilon 1 the authors' total varies by about 72, and by about 113 with noise on all nodes.

        1000 trials: 17 % is three standard errors, and the seed is fixed.
        """
        x = np.full(40, 10)
        for inner_noise, expected in ((False, 72), (True, 113)):
            algorithm = algorithms.get("SF", variant="published", inner_noise=inner_noise)
            totals = algorithm.run(x, Prefix(40), 1, trials=1000, seed=0).sum(axis=1)
            assert totals.var() == pytest.approx(expected, rel=0.17)

    @pytest.mark.parametrize(
        ("n", "scale", "share"), [(256, 10**3, 1), (4096, 10**3, 1), (4096, 10**8, 1), (1024, 10**5, 1), (4096, 100, 2)]
    )
    def test_share_of_the_structure(self, n, scale, share):
        """The authors' formula gives a twentieth in every setting of the paper, a tenth for 100 records."""
        data = SimpleNamespace(domain=Domain((n,)), epsilon=Fraction(1, 10))
        assert PUBLISHED._published_share(data, PUBLISHED._bins(n), 1e4 * scale / n) == Fraction(share, 20)

    def test_not_private_and_says_why(self):
        """The check names the inner nodes, and the ledger is marked."""
        with pytest.raises(CheckFailed, match="inner nodes of its trees are released without noise"):
            check_algorithm(PUBLISHED)
        assert not PUBLISHED.outcome(np.arange(30), Prefix(30), 1, seed=0).ledger.private

    def test_exchangeable_in_the_private_form_only(self):
        """2 F scales with the counts, 2 F + 1 does not."""
        assert SF.exchangeable
        assert not PUBLISHED.exchangeable


class TestRefusals:
    @pytest.mark.parametrize(
        ("parameters", "message"),
        [
            ({"structure_share": 1.0}, "structure_share is 1.0"),
            ({"cells_per_bin": 0}, "cells_per_bin is 0"),
            ({"inner_noise": False}, "not private"),
        ],
    )
    def test_bad_parameters(self, parameters, message):
        """A parameter out of range is quoted; the bug is not to be had in a private form."""
        with pytest.raises(InvalidInput, match=message):
            algorithms.get("SF", **parameters)

    def test_unknown_rule(self):
        """The rules are named."""
        with pytest.raises(UnknownName, match="'mean'"):
            algorithms.get("SF", F_rule="mean")

    def test_one_axis_only(self):
        """Two axes are refused."""
        with pytest.raises(Unsupported, match="1-D"):
            SF.run(np.ones((4, 4)), RandomRange((4, 4), queries=2), 1, seed=0)
