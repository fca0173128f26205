"""GreedyH: a binary hierarchy whose weights fit the workload. The weights themselves: tests/linear/test_greedy.py."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from dpbench import algorithms
from dpbench.algorithms import greedy_h
from dpbench.errors import InvalidInput, UnknownName, Unsupported
from dpbench.mathematics.greedy import greedy_tree
from dpbench.privacy import NoNoise, Recording
from dpbench.workloads import AllRange, Prefix, RandomRange, Ranges
from reference import greedy as dense
from reference import tree as reference

GREEDY_H = algorithms.get("GreedyH")
WORKLOADS = [
    *(Prefix(n) for n in (1, 2, 3, 13, 64)),
    *(RandomRange(n, queries=q, seed=q) for n, q in ((32, 2), (32, 50), (77, 20))),
    *(RandomRange(shape, queries=25) for shape in ((8, 8), (5, 7), (1, 6))),
]


@pytest.fixture
def built(monkeypatch):
    """The workloads for which a strategy is built, from an empty cache."""
    calls = []

    def counted(workload, *parameters):
        calls.append((workload, *parameters))
        return greedy_tree(workload, *parameters)

    greedy_h._solver.cache_clear()
    monkeypatch.setattr(greedy_h, "greedy_tree", counted)
    yield calls
    greedy_h._solver.cache_clear()


def test_a_strategy_is_built_once_for_a_workload(built):
    """Runs on other data, epsilons and seeds, and equal workloads made anew, share it."""
    GREEDY_H.run(np.arange(20), RandomRange(20, 5, seed=1), 0.1, trials=3, seed=0)
    GREEDY_H.run(np.ones(20), RandomRange(20, 5, seed=1), 5.0, seed=2)
    GREEDY_H.expected_error(RandomRange(20, 5, seed=1), 1.0)
    assert len(built) == 1
    GREEDY_H.run(np.ones(20), RandomRange(20, 5, seed=2), 5.0, seed=0)
    algorithms.get("GreedyH", objective="workload").run(np.ones(20), RandomRange(20, 5, seed=1), 5.0, seed=0)
    algorithms.get("GreedyH", branching=3).run(np.ones(20), RandomRange(20, 5, seed=1), 5.0, seed=0)
    algorithms.get("GreedyH", steps=50).run(np.ones(20), RandomRange(20, 5, seed=1), 5.0, seed=0)
    assert len(built) == 5


@pytest.mark.parametrize("workload", WORKLOADS, ids=repr)
def test_one_record_moves_the_answers_by_one(workload):
    """The column norms of the weighted strategy are exactly 1, and the claim exceeds 1 by rounding only."""
    recording = Recording()
    GREEDY_H._outcome(np.zeros(workload.domain.shape, dtype=int), workload, 0.5, channel=recording, seed=0)
    ((question, _),) = recording.exchanges
    tree = greedy_tree(workload, 2, 100, "gram")
    np.testing.assert_allclose(reference.unit_answers(tree).sum(axis=1), 1, rtol=1e-13)
    assert 1 <= question.sensitivity < 1 + 1e-13
    assert question.shape == (len(reference.measured(tree)),)


@pytest.mark.parametrize("objective", ["gram", "workload"])
@pytest.mark.parametrize("workload", WORKLOADS, ids=repr)
def test_the_expected_error_is_the_dense_trace(workload, objective):
    """2 / epsilon^2 trace(W (A^T A)^+ W^T) / q with the weighted rows of the dense recursion."""
    line = greedy_tree(workload, 2, 100, objective).order
    W = np.where(line >= 0, workload.matrix()[:, line], 0.0)
    rows = []
    for (start, stop), weight in dense.strategy(W, 2, 100, objective).items():
        if weight > 0:
            rows.append(np.zeros(len(line)))
            rows[-1][start:stop] = weight
    operator = W @ np.linalg.pinv(np.array(rows))
    expected = 2 / 0.25 * (operator**2).sum() / len(W)
    found = algorithms.get("GreedyH", objective=objective).expected_error(workload, 0.5)
    # 1e-9: a pseudo-inverse over cells of rows whose weights differ by 1e3, against two passes
    assert found == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("workload", WORKLOADS, ids=repr)
def test_without_noise_the_estimate_is_the_average_within_leaves(workload):
    """A run of cells that no query tells apart gets its average, so the workload's answers are exact."""
    x = np.random.default_rng(0).integers(0, 100, size=workload.domain.shape)
    estimate = GREEDY_H._outcome(x, workload, 1, noise=NoNoise(1)).estimate[0]
    tree = greedy_tree(workload, 2, 100, "gram")
    averaged = np.empty(x.size)
    for leaf in tree.leaves:
        cells = [cell for cell in tree.order[tree.start[leaf] : tree.stop[leaf]] if cell >= 0]
        if cells:
            averaged[cells] = x.reshape(-1)[cells].mean()
    # 1e-9: rounding of counts near 100 through weights down to 1e-3
    np.testing.assert_allclose(estimate.reshape(-1), averaged, atol=1e-9)
    np.testing.assert_allclose(workload.answer(estimate), workload.answer(x), atol=1e-8)


@pytest.mark.parametrize("workload", WORKLOADS, ids=repr)
def test_the_noise_does_not_depend_on_the_data(workload):
    """With one seed, estimates on x and on nothing differ by x averaged within leaves."""
    x = np.random.default_rng(1).integers(0, 100, size=workload.domain.shape)
    exact = GREEDY_H._outcome(x, workload, 1, noise=NoNoise(1)).estimate[0]
    difference = GREEDY_H.run(x, workload, 0.5, 4, 3) - GREEDY_H.run(np.zeros_like(x), workload, 0.5, 4, 3)
    np.testing.assert_allclose(difference, np.broadcast_to(exact, difference.shape), atol=1e-9)


def test_prefixes_collapse_nothing():
    """Every cell is a leaf of its own, so the estimate converges to the counts."""
    x = np.random.default_rng(1).integers(0, 100, size=77)
    np.testing.assert_allclose(GREEDY_H.run(x, Prefix(77), 1e9, seed=0)[0], x, atol=1e-6)


@pytest.mark.parametrize("domain", [(9,), (4, 4)])
def test_one_query_over_everything_is_uniform(domain):
    """The whole domain is one leaf: Uniform, draw for draw."""
    workload = Ranges(domain, [[0] * len(domain)], [list(domain)])
    x = np.arange(np.prod(domain)).reshape(domain)
    found = GREEDY_H.run(x, workload, 0.5, 3, 1)
    np.testing.assert_allclose(found, algorithms.get("Uniform").run(x, workload, 0.5, 3, 1), rtol=1e-13)


def test_the_published_prefix_error_at_64():
    """36.45, which the authors' own code reproduced by sampling (36.9 +- 0.7)."""
    assert GREEDY_H.expected_error(Prefix(64), 1) == pytest.approx(36.45, abs=0.005)


@pytest.mark.parametrize("size", [1e-99, 1e100])
@pytest.mark.parametrize("workload", [RandomRange(40, queries=30), RandomRange((60, 60), queries=40)], ids=repr)
def test_weights_of_any_size_have_the_strategy_of_weights_of_one(workload, size):
    """Their fourth powers are no numbers, and nothing is warned of; errors grow by the square of the size."""
    listed = workload.ranges()
    weights = np.linspace(0.5, 1, listed.queries)
    small, large = (Ranges(workload.domain, listed.lower, listed.upper, weights * each) for each in (1.0, size))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        error = GREEDY_H.expected_error(large, 1)
    assert error / size**2 == pytest.approx(GREEDY_H.expected_error(small, 1), rel=1e-9)


def test_a_range_of_next_to_no_weight_is_told_apart_all_the_same():
    """Two ranges whose weights are 200 orders of magnitude apart: both are answered, the small one too."""
    workload = Ranges(8, [0, 3], [8, 5], [1e100, 1e-100])
    x = np.arange(8)
    estimate = GREEDY_H.run(x, workload, 1e9, seed=0)[0]
    np.testing.assert_allclose([estimate.sum(), estimate[3:5].sum()], [28, 7], atol=1e-6)


class TestTruncate:
    def test_it_is_off_unless_asked_for(self):
        """The private form gives real numbers, the published one whole numbers in 2-D."""
        assert not GREEDY_H.truncate
        assert algorithms.get("GreedyH", variant="published").truncate

    def test_two_axes_are_cut_towards_zero(self):
        """The same noise, then truncation of every cell: 4.99 becomes 4 and -4.99 becomes -4."""
        workload = RandomRange((4, 5), queries=10)
        x = np.arange(20).reshape(4, 5)
        plain = GREEDY_H.run(x, workload, 0.5, 3, 1)
        cut = algorithms.get("GreedyH", truncate=True).run(x, workload, 0.5, 3, 1)
        assert (plain < -1).any()
        np.testing.assert_array_equal(cut, np.where(plain < 0, np.ceil(plain), np.floor(plain)))

    def test_one_axis_is_left_alone(self):
        """The authors' 1-D code does not truncate."""
        x = np.arange(20)
        published = algorithms.get("GreedyH", variant="published")
        np.testing.assert_array_equal(published.run(x, Prefix(20), 0.5, 3, 1), GREEDY_H.run(x, Prefix(20), 0.5, 3, 1))
        assert published.expected_error(Prefix(20), 0.5) == GREEDY_H.expected_error(Prefix(20), 0.5)

    def test_its_error_in_two_axes_depends_on_the_data(self):
        """So it is refused without them."""
        with pytest.raises(Unsupported, match="truncate"):
            algorithms.get("GreedyH", truncate=True).expected_error(RandomRange((4, 4), queries=3), 1)


class TestRefusals:
    @pytest.mark.parametrize("bad", [{"branching": 1}, {"steps": 1}])
    def test_numbers_too_small(self, bad):
        """The message quotes them."""
        with pytest.raises(InvalidInput, match="is 1; give a whole number of at least 2"):
            algorithms.get("GreedyH", **bad)

    def test_an_unknown_objective(self):
        """There are two."""
        with pytest.raises(UnknownName, match="did you mean gram"):
            algorithms.get("GreedyH", objective="grams")

    def test_three_axes(self):
        """The Hilbert curve here has two."""
        with pytest.raises(Unsupported, match="1-D or 2-D"):
            GREEDY_H.run(np.ones((2, 2, 2)), AllRange((2, 2, 2)), 1, seed=0)
