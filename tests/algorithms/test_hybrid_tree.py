"""HybridTree: boxes cut at private medians, then into quadrants."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from dpbench import algorithms
from dpbench.domain import Domain
from dpbench.errors import InvalidInput
from dpbench.mathematics.grid import BoxCounts, MedianCuts
from dpbench.mathematics.least_squares import TreeLeastSquares
from dpbench.privacy import PrivateData, RandomNoise, Recording
from dpbench.workloads import Identity, RandomRange
from reference import tree as dense
from reference.hybrid_tree import median_probabilities, median_scores
from reference.sampling import standard_errors

HYBRID = algorithms.get("HybridTree")
SHAPES = [(1, 1), (1, 9), (9, 1), (2, 2), (16, 16), (32, 20), (64, 64)]


def counts_on(shape, scale=2000, seed=0):
    """Records crowded towards the first cells."""
    chance = 1.0 / (1 + np.arange(np.prod(shape)))
    return np.random.default_rng(seed).multinomial(scale, chance / chance.sum()).reshape(shape)


def grown(algorithm, x, seed=0):
    """The tree of one trial, and the handle after it has grown."""
    (data,) = PrivateData.open(x, 1, RandomNoise.seeded(seed, 1)).each_trial()
    return algorithm._grow(data), data


def leaf_sizes(tree):
    return (tree.stop - tree.start)[tree.leaves]


class TestTree:
    @pytest.mark.parametrize("shape", SHAPES)
    @pytest.mark.parametrize("seed", range(3))
    def test_the_weights_on_every_path_add_up_to_one(self, shape, seed):
        """Early leaves get what their path has left."""
        tree, _ = grown(HYBRID, counts_on(shape), seed=seed)
        path = tree.weight.copy()
        for node in range(1, tree.nodes):
            path[node] += path[tree.parent[node]]
        np.testing.assert_allclose(path[tree.leaves], 1, rtol=1e-14)
        assert 1 <= TreeLeastSquares(tree).strategy.sensitivity < 1 + 1e-14

    @pytest.mark.parametrize("shape", SHAPES)
    def test_every_node_is_a_box_that_its_children_tile(self, shape):
        """Up to four children, in both halves of both axes, down to single cells or the height."""
        tree, _ = grown(HYBRID, counts_on(shape))
        assert sorted(tree.order) == list(range(np.prod(shape)))
        assert len(tree.levels) <= 9
        rows, columns = np.unravel_index(tree.order, shape)
        for node in range(tree.nodes):
            inside = slice(tree.start[node], tree.stop[node])
            area = (np.ptp(rows[inside]) + 1) * (np.ptp(columns[inside]) + 1)
            assert area == inside.stop - inside.start
            below = dense.children(tree, node)
            assert len(below) in ((0,) if area == 1 or tree.depth[node] == 8 else (2, 3, 4))
            if below:
                assert tree.start[below[0]] == inside.start
                assert tree.stop[below[-1]] == inside.stop
                np.testing.assert_array_equal(tree.start[below[1:]], tree.stop[below[:-1]])

    def test_quadrants_are_cut_at_the_middle(self):
        """Without medians, the larger halves come first: 5 x 3 is cut into 3 + 2 and 2 + 1."""
        tree, _ = grown(algorithms.get("HybridTree", kd_levels=0, height=1), counts_on((5, 3)))
        np.testing.assert_array_equal(leaf_sizes(tree), [6, 3, 4, 2])
        tree, _ = grown(algorithms.get("HybridTree", kd_levels=0, height=8), counts_on((16, 16)))
        np.testing.assert_array_equal(np.diff([first for first, _ in tree.levels]), [1, 4, 16, 64])
        assert (leaf_sizes(tree) == 1).all()

    def test_budgets_grow_with_the_depth(self):
        """By 2^(1/3), and a leaf above the height has the rest of its path."""
        tree, _ = grown(algorithms.get("HybridTree", kd_levels=0, height=4), counts_on((4, 4)))
        growth = 2 ** (np.arange(5) / 3)
        growth /= growth.sum()
        np.testing.assert_allclose(tree.weight[[0, 1, 5]], [growth[0], growth[1], growth[2:].sum()])


class TestMedians:
    PROFILE = np.array([[3, 0, 1, 7, 2], [1, 0, 0, 4, 9], [0, 0, 6, 0, 2]])

    @pytest.mark.parametrize("axis", [0, 1])
    def test_scores(self, axis):
        """Of several boxes at once, each candidate by itself."""
        lower, upper = np.array([[0, 0], [0, 3], [2, 0]]), np.array([[2, 3], [3, 5], [3, 3]])
        if axis == 0:
            lower, upper = lower[:2], upper[:2]
        score = MedianCuts(BoxCounts(Domain((3, 5)), lower, upper), axis)
        wanted = [median_scores(self.PROFILE, box, axis) for box in zip(lower, upper, strict=True)]
        np.testing.assert_array_equal(score.score(score.statistic.of(self.PROFILE)), np.concatenate(wanted))
        np.testing.assert_array_equal(np.diff(score.starts), [len(piece) for piece in wanted])

    @pytest.mark.parametrize(("tight", "rate"), [(True, 0.4), (False, 0.2)])
    def test_frequencies(self, tight, rate):
        """Of 20,000 selections, within chi-square of the exact probabilities.

        The statistic has 3 degrees of freedom; it exceeds 21.1 with probability 1e-4: one choice of seeds in 5000.
        """
        box = ((0, 0), (3, 5))
        boxes = BoxCounts(Domain((3, 5)), np.array([box[0]]), np.array([box[1]]))
        data = PrivateData.open(self.PROFILE, 1, RandomNoise.seeded(5, 20_000))
        chosen = data.choose_each(MedianCuts(boxes, 1, tight), Fraction(2, 5))[:, 0]
        expected = 20_000 * median_probabilities(self.PROFILE, box, 1, rate)
        assert ((np.bincount(chosen, minlength=4) - expected) ** 2 / expected).sum() < 21.1

    def test_one_record_moves_every_score_by_a_half(self):
        """So the claim is tight, and scores of two candidates move apart by 1."""
        boxes = BoxCounts(Domain((3, 5)), np.array([[0, 0]]), np.array([[3, 5]]))
        score = MedianCuts(boxes, 1)
        assert score.sensitivity == Fraction(1, 2)
        before = score.score(score.statistic.of(self.PROFILE))
        for cell in np.ndindex(3, 5):
            more = self.PROFILE.copy()
            more[cell] += 1
            change = score.score(score.statistic.of(more)) - before
            np.testing.assert_array_equal(np.abs(change), 0.5)

    @pytest.mark.parametrize("shape", [(16, 16), (7, 30)])
    def test_a_large_budget_finds_a_median(self, shape):
        """At epsilon 1e9 every cut has the best score of its box."""
        x, recording = counts_on(shape), Recording()
        HYBRID._outcome(x, Identity(shape), 1e9, trials=3, channel=recording, seed=0)
        for trial in range(3):
            for question, outcome in recording.only(trial).exchanges[:-1]:
                starts = np.array(question.mechanism.asker.starts, dtype=int)
                best = np.maximum.reduceat(question.truth, starts[:-1])
                np.testing.assert_array_equal(question.truth[starts[:-1] + outcome[0]], best)

    def test_an_empty_box_is_cut_anywhere(self):
        """All cuts alike: 4000 selections among 7 are even within chi-square of 6 degrees, 27.9 at 1e-4."""
        data = PrivateData.open(np.zeros((2, 8), dtype=int), 1, RandomNoise.seeded(1, 4000))
        boxes = BoxCounts(Domain((2, 8)), np.array([[0, 0]]), np.array([[2, 8]]))
        chosen = np.bincount(data.choose_each(MedianCuts(boxes, 1), 1)[:, 0], minlength=7)
        assert ((chosen - 4000 / 7) ** 2 / (4000 / 7)).sum() < 27.9


class TestBudget:
    def test_where_epsilon_goes(self):
        """Six portions of medians, a twentieth each, then 0.7 on counts."""
        recording = Recording()
        HYBRID._outcome(counts_on((32, 32)), Identity((32, 32)), 1, channel=recording, seed=0)
        questions = [question for question, _ in recording.only(0).exchanges]
        assert [question.kind for question in questions] == ["choose each"] * 6 + ["laplace"]
        assert [question.amount for question in questions] == [Fraction(1, 20)] * 6 + [Fraction(7, 10)]
        assert {question.sensitivity for question in questions[:6]} == {Fraction(1, 2)}

    @pytest.mark.parametrize(("shape", "medians"), [((1, 1), 0), ((1, 2), 1), ((2, 1), 1), ((1, 400), 3)])
    def test_what_cannot_be_cut_is_not_paid_for(self, shape, medians):
        """The portions of axes of one cell go to the counts; a single cell gets noise of 1 / epsilon."""
        recording = Recording()
        HYBRID._outcome(counts_on(shape), Identity(shape), 1, channel=recording, seed=0)
        questions = [question for question, _ in recording.only(0).exchanges]
        assert len(questions) == medians + 1
        assert questions[-1].amount == 1 - Fraction(medians, 20)

    def test_the_order_of_axes_alternates(self):
        """Rows first, then columns; at the next depth columns first."""
        recording = Recording()
        HYBRID._outcome(counts_on((32, 32)), Identity((32, 32)), 1, channel=recording, seed=0)
        axes = [question.why[-1] for question, _ in recording.only(0).exchanges[:-1]]
        assert axes == ["0", "1", "1", "0", "0", "1"]


class TestError:
    @pytest.mark.parametrize("shape", [(1, 9), (5, 3), (8, 8)])
    def test_the_estimate_is_least_squares_on_the_tree(self, shape):
        """Of the recorded answers, solved densely."""
        x, recording = counts_on(shape), Recording()
        estimate = HYBRID._outcome(x, Identity(shape), 1, seed=3, channel=recording).estimate
        tree, _ = grown(HYBRID, x, seed=3)
        question, answers = recording.only(0).exchanges[-1]
        np.testing.assert_allclose(question.truth, dense.unit_answers(tree).T @ x.reshape(-1), rtol=1e-12)
        np.testing.assert_allclose(estimate, dense.least_squares(tree, answers), atol=1e-8)

    def test_it_is_that_of_the_tree(self):
        """Where all cuts are at the middle, the mean of 1000 runs is within 4 standard errors of bias^2 + variance.

        False alarms: one comparison at 6.3e-5.
        """
        x, workload = np.random.default_rng(1).integers(0, 6, size=(6, 7)), RandomRange((6, 7), queries=30)
        hybrid = algorithms.get("HybridTree", height=2, kd_levels=0)
        tree, _ = grown(hybrid, x)
        even = dense.spread(tree) @ dense.spread(tree).T.astype(bool) @ x.reshape(-1)
        bias = workload.matrix() @ (even - x.reshape(-1))
        variance = 2 * dense.mean_variance(tree, workload.matrix())
        error = hybrid.run(x, workload, 1, trials=1000, seed=2) - x
        assert abs(standard_errors(workload.mean_squared(error), (bias**2).mean() + variance)) < 4

    @pytest.mark.parametrize("shape", [(1, 1), (1, 9), (16, 16), (32, 20)])
    def test_it_goes_to_zero_where_leaves_are_cells(self, shape):
        """On sides up to 32 at epsilon 1e6."""
        x = counts_on(shape)
        np.testing.assert_allclose(HYBRID.run(x, Identity(shape), 1e6, trials=2, seed=0), np.stack([x, x]), atol=1e-4)

    def test_a_bias_stays_on_large_domains(self):
        """Data in a corner of 64 x 64: leaves of several cells at height 8, none at height 9."""
        corner = np.zeros((64, 64), dtype=int)
        corner[:6, :6] = np.random.default_rng(0).integers(1, 200, size=(6, 6))
        for height, small in [(8, False), (9, True)]:
            hybrid = algorithms.get("HybridTree", height=height)
            off = np.abs(hybrid.run(corner, Identity((64, 64)), 1e6, trials=3, seed=0) - corner).max()
            assert (off < 1e-4) == small

    def test_scale_and_epsilon_are_exchangeable(self):
        """Eight times the counts with an eighth of the budget give eight times the estimate, bit for bit."""
        x, workload = counts_on((9, 14), 400), Identity((9, 14))
        scaled = HYBRID.run(8 * x, workload, 0.0625, trials=5, seed=4)
        np.testing.assert_array_equal(scaled, 8 * HYBRID.run(x, workload, 0.5, trials=5, seed=4))


def test_the_published_form_is_the_private_one():
    """No authors' code exists to differ."""
    published = algorithms.get("HybridTree", variant="published")
    assert published.is_private
    assert published.parameters == HYBRID.parameters


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"height": -1}, "height is -1; give a whole number from 0 to 31"),
        ({"kd_levels": 9}, "kd_levels is 9; give a whole number from 0 to the height 8"),
        ({"median_share": 1}, "median_share is 1; give a share between 0 and 1"),
    ],
)
def test_bad_parameters_are_quoted(parameters, message):
    """With the range wanted."""
    with pytest.raises(InvalidInput, match=message):
        algorithms.get("HybridTree", **parameters)


@pytest.mark.parametrize(("height", "kd_levels"), [(0, 0), (1, 1), (3, 3)])
def test_extreme_heights(height, kd_levels):
    """A single node, and medians down to the leaves."""
    hybrid = algorithms.get("HybridTree", height=height, kd_levels=kd_levels)
    estimate = hybrid.run(counts_on((6, 5)), Identity((6, 5)), 1, trials=2, seed=0)
    assert np.isfinite(estimate).all()
    if height == 0:
        assert len(np.unique(estimate[0])) == 1
