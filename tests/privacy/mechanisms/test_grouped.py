"""Selections from many groups at once: the kernel against one group after another."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from dpbench.mathematics.kernels.grouped_selection import largest_of_groups, select_of_groups
from dpbench.privacy import PrivateData, RandomNoise


def one_by_one(scores, draws, starts, level):
    """numpy's argmax within each group of each trial, the best score of the group taken off first."""
    rows, noise = np.broadcast_to(scores, draws.shape), -np.log(np.maximum(draws, np.finfo(np.float64).tiny))
    groups = [slice(*ends) for ends in pairwise(starts)]
    return [
        [int(np.argmax((row[g] - row[g].max()) * level + each[g])) for g in groups]
        for row, each in zip(rows, noise, strict=True)
    ]


@pytest.mark.parametrize("rows", [1, 5])
@pytest.mark.parametrize("seed", range(4))
def test_largest_of_every_group(rows, seed):
    """Groups of any size, ties, forbidden candidates (-inf) and no noise included."""
    stream = np.random.default_rng(seed)
    starts = np.concatenate([[0], np.cumsum(stream.integers(1, 9, 30))])
    scores = stream.integers(-3, 3, (rows, starts[-1])).astype(float)
    forbidden = stream.random(scores.shape) < 0.2
    forbidden[:, starts[:-1]] = False
    scores[forbidden] = -np.inf
    for draws in (stream.exponential(size=(5, starts[-1])), np.zeros((5, starts[-1]))):
        for level in (1e-9, 0.7, 1e9):
            assert largest_of_groups(scores, draws, starts, level).tolist() == one_by_one(scores, draws, starts, level)


class _Score:
    """Scores that nobody may write to, every second of a longer array."""

    sensitivity = 1
    monotone = False
    starts = (0, 2, 5)

    def score(self, counts):
        scores = np.repeat(counts.astype(float), 2)[::2]
        scores.flags.writeable = False
        return scores


def test_scores_of_any_layout():
    """A score may give out an array that is read-only or not contiguous."""
    data = PrivateData.open([0, 10**9, 0, 0, 10**9], 1, RandomNoise.seeded(0, 3))
    assert data.choose_each(_Score(), 1).tolist() == [[1, 2]] * 3


@pytest.mark.parametrize("rows", [1, 4])
def test_one_uniform_draw_selects_from_every_group_by_its_weights(rows):
    """Evenly spaced draws find each candidate as often as its weight says, to one draw; forbidden ones never."""
    stream, many = np.random.default_rng(rows), 4000
    starts = np.concatenate([[0], np.cumsum(stream.integers(1, 9, 12))])
    scores = stream.normal(size=(rows, starts[-1])) * 3
    scores[:, starts[:-1][np.diff(starts) > 1] + 1] = -np.inf
    places = (np.arange(many) + 0.5) / many
    for level in (0.3, 2.0):
        for t in range(rows):
            uniforms = np.repeat(places[:, None], len(starts) - 1, axis=1)
            chosen = select_of_groups(scores[t : t + 1], level, uniforms, starts)
            for g, (first, last) in enumerate(pairwise(starts)):
                weights = np.exp(level * (scores[t, first:last] - scores[t, first:last].max()))
                found = np.bincount(chosen[:, g], minlength=last - first)
                np.testing.assert_allclose(found, many * weights / weights.sum(), atol=1.01)
                assert (found[weights == 0] == 0).all()


def test_every_trial_has_its_own_scores_and_draws():
    """What a batch of trials gets is what each gets alone."""
    stream = np.random.default_rng(9)
    starts, scores, uniforms = np.array([0, 3, 4, 9]), stream.normal(size=(5, 9)), stream.random((5, 3))
    together = select_of_groups(scores, 1.5, uniforms, starts)
    alone = [select_of_groups(scores[[t]], 1.5, uniforms[[t]], starts)[0] for t in range(5)]
    np.testing.assert_array_equal(together, alone)
