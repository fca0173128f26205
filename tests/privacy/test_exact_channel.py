"""The exact channel: algorithms run unchanged, on whole numbers."""

from fractions import Fraction

import numpy as np
import pytest

import dpbench as dpb
from dpbench.errors import AlgorithmFailed, Unsupported
from dpbench.mathematics.p_identity import UNIT, AxisStrategy, PIdentity
from dpbench.mathematics.tree import Tree, TreeCounts
from dpbench.privacy import Gaussian, Laplace, Recording
from dpbench.privacy.exact_channel import Exact, NoDraws
from dpbench.privacy.exact_noise import ExactNoise


def weighted_strategies():
    """What weighted algorithms measure, by name, on one axis and on two."""
    found = {}
    for name in ("HbW", "GreedyH", "QuadTree", "TopDown", "HDMM"):
        algorithm = dpb.algorithms.get(name)
        for written in ("16", "4x4"):
            if algorithm.supports(written):
                domain, recording = dpb.Domain.of(written), Recording()
                workload = dpb.workloads.RandomRange(domain, queries=9, seed=0)
                counts = np.arange(16).reshape(domain.shape)
                algorithm._outcome(counts, workload, 1, seed=0, channel=recording)
                asked = [question.mechanism.strategy for question in recording.questions()]
                found[f"{name} {written}"] = next(each for each in asked if hasattr(each, "whole"))
    return found


WEIGHTED = weighted_strategies()


@pytest.mark.parametrize("name", WEIGHTED)
def test_weighted_answers_are_units_times_whole_numbers(name):
    """The two ways to compute an answer agree."""
    strategy = WEIGHTED[name]
    domain = strategy.tree.domain if isinstance(strategy, TreeCounts) else strategy.domain
    counts = np.random.default_rng(1).integers(0, 1000, domain.shape)
    whole = strategy.whole(counts)
    assert whole.dtype == np.int64
    np.testing.assert_allclose(whole * strategy.units, strategy.answer(counts), rtol=1e-14)


@pytest.mark.parametrize("name", WEIGHTED)
def test_a_record_moves_units_times_whole_numbers_by_no_more_than_the_claim(name):
    """Exactly, cell by cell, by L1 and by squared L2: what the proof of the exact draw rests on."""
    strategy = WEIGHTED[name]
    domain = strategy.tree.domain if isinstance(strategy, TreeCounts) else strategy.domain
    counts = np.arange(domain.size).reshape(domain.shape)
    units = [Fraction(unit) for unit in np.broadcast_to(strategy.units, strategy.shape).reshape(-1).tolist()]
    for cell in range(domain.size):
        more = counts.copy()
        more.reshape(-1)[cell] += 1
        moved = (strategy.whole(more) - strategy.whole(counts)).reshape(-1).tolist()
        assert sum(unit * abs(step) for unit, step in zip(units, moved, strict=True)) <= Laplace(strategy).claim
        squares = sum((unit * step) ** 2 for unit, step in zip(units, moved, strict=True))
        assert squares <= Gaussian(strategy).squared_claim


def test_whole_answers_beyond_int64_are_exact():
    """On two axes a unit is 2^-32: 2^40 records need 72 bits."""
    axis = AxisStrategy(2, np.array([[0], [0]]), np.array([[UNIT // 3], [UNIT // 5]]))
    strategy = PIdentity(dpb.Domain.of("2x2"), (np.array([0, 1, 2]),) * 2, (axis, axis))
    small = np.array([[3, 0], [1, 2]])
    large = strategy.whole(small * 2**40)
    assert large.dtype == object
    assert (large == strategy.whole(small).astype(object) * 2**40).all()


@pytest.mark.parametrize(("kind", "loss"), [(Laplace, Fraction(2, 3)), (Gaussian, Fraction(1, 7))])
def test_each_weight_has_noise_of_its_own_scale(kind, loss):
    """A tree with weights 1/4 and 3/4: the noise on a count is that of its share.

    20,000 draws; beyond 5 standard errors less than once in a million.
    """
    cells = 200
    tree = Tree(
        domain=dpb.Domain((cells,)),
        order=np.arange(cells),
        start=np.r_[0, np.arange(cells)],
        stop=np.r_[cells, 1 + np.arange(cells)],
        first_child=np.r_[1, np.full(cells + 1, cells + 1)],
        weight=np.r_[0.25, np.full(cells, 0.75)],
    )
    mechanism, noise = kind(TreeCounts(tree)), ExactNoise(np.random.default_rng(5).bytes)
    counts = np.arange(cells)
    draws = np.stack([mechanism.draw_exactly(mechanism.exact_truth(counts), loss, noise) for _ in range(100)])
    added = draws / TreeCounts(tree).units - TreeCounts(tree).whole(counts)
    np.testing.assert_allclose(added, np.rint(added), atol=1e-9)
    leaf = np.rint(added[:, 1:]).astype(int).reshape(-1)
    if kind is Laplace:
        ratio = np.exp(-float(loss * Fraction(3, 4)))
        expected = 2 * ratio / (1 - ratio) ** 2
    else:
        expected = float(mechanism.squared_claim / (2 * loss * Fraction(9, 16)))
    error = np.sqrt((np.mean(leaf.astype(float) ** 4) - expected**2) / len(leaf))
    assert abs(np.mean(leaf.astype(float) ** 2) - expected) < 5 * error


def test_a_mechanism_without_an_exact_sampler_is_refused_in_its_own_words():
    """Before it is shown any counts."""
    with pytest.raises(Unsupported, match="choose cannot be released: "):
        dpb.algorithms.get("EFPA")._outcome(np.arange(8), dpb.workloads.Prefix(8), 1, noise=NoDraws(), channel=Exact())


def test_no_other_noise_can_be_drawn():
    """A release has a source that refuses; an algorithm that goes past the channel fails."""
    source = NoDraws()
    for verb in ("laplace", "gaussian", "gumbel", "exponential", "uniform"):
        with pytest.raises(AlgorithmFailed, match="outside the exact channel"):
            getattr(source, verb)(np.zeros(3), 1.0, (3,))
    assert source.only(0) is source
    assert len(source.coins()) == 1
