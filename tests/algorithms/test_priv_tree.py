"""PrivTree: leaves of a decomposition, counted and spread. The decomposition: tests/privacy/mechanisms."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from dpbench import algorithms
from dpbench.domain import Domain
from dpbench.errors import InvalidInput
from dpbench.mathematics.box_tree import BoxTree
from dpbench.privacy import Recording
from dpbench.workloads import Identity

PRIV_TREE = algorithms.get("PrivTree")


@pytest.mark.parametrize("shape", [(2,), (13,), (64,), (5, 12), (1, 7), (4, 6, 3)], ids=str)
def test_the_estimate_is_the_leaves_noisy_counts_spread_evenly(shape):
    """Cell by cell from what was recorded: the leaf around it, its answer, its size."""
    counts = np.random.default_rng(5).integers(0, 40, shape)
    recording = Recording()
    found = PRIV_TREE._outcome(counts, Identity(shape), 1.0, trials=3, seed=4, channel=recording).estimate
    (_, cuts), (_, answers) = recording.exchanges
    tree = BoxTree(Domain(shape))
    for trial in range(3):
        wanted = np.full(shape, np.nan)
        for answer, leaf in zip(answers[trial], tree.leaves(cuts[trial]), strict=False):
            box = tuple(slice(*sides) for sides in zip(tree.lower[leaf], tree.upper[leaf], strict=True))
            wanted[box] = answer / wanted[box].size
        np.testing.assert_allclose(found[trial], wanted)


@pytest.mark.parametrize("shape", [(1,), (9,), (6, 5)], ids=str)
def test_a_large_budget_finds_every_record(shape):
    counts = np.random.default_rng(1).integers(0, 5, shape)
    found = PRIV_TREE.run(counts, Identity(shape), 1e5, trials=4, seed=0)
    np.testing.assert_allclose(found, np.broadcast_to(counts, found.shape), atol=1e-2)


def test_dense_regions_get_small_leaves():
    """A spike among empty cells: its leaf is a single cell, and most of the domain is in few leaves."""
    counts = np.zeros((64, 64), dtype=int)
    counts[40, 9] = 100_000
    recording = Recording()
    PRIV_TREE._outcome(counts, Identity((64, 64)), 0.1, trials=5, seed=0, channel=recording)
    (_, cuts), _ = recording.exchanges
    tree = BoxTree(Domain((64, 64)))
    for cut in cuts:
        leaves = tree.leaves(cut)
        sides = (tree.upper - tree.lower)[leaves]
        inside = ((tree.lower[leaves] <= (40, 9)) & (tree.upper[leaves] > (40, 9))).all(axis=1)
        assert sides[inside].tolist() == [[1, 1]]
        assert len(leaves) < 400


def test_half_of_the_budget_is_for_cuts_unless_there_is_nothing_to_cut():
    charges = PRIV_TREE.explain(8, Identity(8), 0.5).ledger.charges
    assert [charge.amount for charge in charges] == [Fraction(1, 4), Fraction(1, 4)]
    (alone,) = PRIV_TREE.explain(1, Identity(1), 0.5).ledger.charges
    assert alone.amount == Fraction(1, 2)


@pytest.mark.parametrize(("name", "value"), [("share", 0), ("share", 1.0), ("threshold", float("nan"))])
def test_bad_parameters(name, value):
    with pytest.raises(InvalidInput, match=name):
        algorithms.get("PrivTree", **{name: value})


def test_a_threshold_knows_the_unit_of_a_record():
    assert PRIV_TREE.exchangeable
    assert not algorithms.get("PrivTree", threshold=3).exchangeable
