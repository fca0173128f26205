"""MWEM-D: selected boxes, the boxes of a level beside them, and a non-negative fit."""

from __future__ import annotations

import numpy as np
import pytest

from dpbench import algorithms
from dpbench.errors import InvalidInput, Unsupported
from dpbench.privacy import Laplace, Recording
from dpbench.workloads import Identity, Prefix, RandomRange, Ranges

MWEM_D = algorithms.get("MWEM-D")


def questions(workload, counts, rounds=6, epsilon=0.5):
    """The measurements of one run, the total first, and the estimate."""
    recording = Recording()
    algorithm = algorithms.get("MWEM-D", rounds=rounds)
    found = algorithm._outcome(counts, workload, epsilon, seed=3, channel=recording).estimate
    asked = [question.mechanism for question, _ in recording.exchanges]
    return [each for each in asked if isinstance(each, Laplace)], found


@pytest.mark.parametrize(
    "workload", [Prefix(32), Identity(9), RandomRange((8, 8), 30), RandomRange((7, 12), 30), Prefix(1)], ids=repr
)
def test_no_two_boxes_of_a_round_meet(workload):
    """One record is in one box of a round at most: unit histograms, one per cell."""
    counts = np.random.default_rng(0).integers(0, 9, workload.domain.shape)
    measured, _ = questions(workload, counts)
    assert len(measured) == 1 + min(6, workload.queries)
    for question in measured:
        for cell in np.ndindex(*workload.domain.shape):
            one = np.zeros(workload.domain.shape, dtype=np.int64)
            one[cell] = 1
            assert np.sum(question.strategy.answer(one)) <= 1


def test_each_round_measures_a_finer_level():
    """The boxes beside the selected one: halves, quarters, ..., and cells from the last level on."""
    measured, _ = questions(Prefix(16), np.full(16, 100), rounds=6)
    levels = [question.strategy._level for question in measured[1:]]
    widths = [(level.upper - level.lower).ravel() for level in levels]
    for wanted, found in zip([8, 4, 2, 1, 1, 1], widths, strict=True):
        assert set(found) == {wanted}


def test_without_noise_to_speak_of_the_level_is_recovered():
    """As many rounds as levels, a budget of 10^7: every cell within one record in a thousand."""
    counts = np.random.default_rng(2).integers(0, 50, 64)
    found = algorithms.get("MWEM-D", rounds=12).run(counts, Prefix(64), 1e7, seed=0)[0]
    np.testing.assert_allclose(found, counts, atol=0.05)


def test_it_is_never_negative():
    found = MWEM_D.run(np.zeros((6, 7), dtype=int), RandomRange((6, 7), 40), 0.01, trials=5, seed=0)
    assert (found >= 0).all()


def test_a_distribution_of_queries_is_refused():
    with pytest.raises(Unsupported, match="queries=2000"):
        MWEM_D.run(np.ones((4, 4), dtype=int), RandomRange((4, 4), queries=None), 1, seed=0)


@pytest.mark.parametrize("rounds", [0, -1, 2.5, True])
def test_bad_rounds(rounds):
    with pytest.raises(InvalidInput, match="rounds"):
        algorithms.get("MWEM-D", rounds=rounds)


def test_weights_of_queries_enter_the_selection():
    """A query of weight 1000 on the cell that is wrong is selected before one of weight 1 on a cell as wrong."""
    workload = Ranges(8, [0, 7], [1, 8], [1, 1000])
    counts = np.array([500, 0, 0, 0, 0, 0, 0, 500])
    recording = Recording()
    algorithms.get("MWEM-D", rounds=1)._outcome(counts, workload, 5.0, seed=0, channel=recording)
    assert [int(np.ravel(answer)[0]) for _, answer in recording.exchanges][1] == 1
