"""Selection by the inverse distribution: its law, and scores that could trip it."""

from __future__ import annotations

import numpy as np
import pytest

from dpbench.mathematics.kernels.exponentials import exponentials
from dpbench.mathematics.kernels.selection import BLOCK, any_nan, extremes, select

ALMOST_ONE = np.nextafter(1.0, 0.0)


def selected(scores, level, uniform):
    """What every uniform draw leads to."""
    uniform = np.asarray(uniform, dtype=np.float64)
    chosen = np.full(len(uniform), -7)
    select(np.atleast_2d(np.asarray(scores, dtype=np.float64)), level, uniform, chosen)
    return chosen


@pytest.mark.parametrize("candidates", [1, 2, 5, BLOCK, BLOCK + 1, 7 * BLOCK - 1])
@pytest.mark.parametrize("level", [1e-3, 1.0, 20.0])
def test_equally_spaced_draws_meet_every_candidate_as_often_as_it_is_probable(candidates, level):
    """200,000 draws at the middles of equal parts: each count is within 1 of its expectation."""
    rng = np.random.default_rng(candidates)
    scores, many = rng.normal(size=candidates), 200_000
    weight = np.exp(level * (scores - scores.max()))
    seen = np.bincount(selected(scores, level, (np.arange(many) + 0.5) / many), minlength=candidates)
    assert np.abs(seen - many * weight / weight.sum()).max() < 1 + 1e-6


def test_the_last_and_the_first_draw_stay_inside():
    """0 and the largest number below 1, on sums that round in every way."""
    rng = np.random.default_rng(0)
    for _ in range(2000):
        scores = rng.normal(size=rng.integers(1, 3 * BLOCK)) * 10.0 ** rng.integers(-3, 3)
        forbidden = rng.random(len(scores)) < 0.5
        forbidden[rng.integers(len(scores))] = False
        scores[forbidden] = -np.inf
        first, last = selected(scores, 1.0, [0.0, ALMOST_ONE])
        assert 0 <= first <= last < len(scores)
        assert not forbidden[[first, last]].any()


@pytest.mark.parametrize("place", [0, 3, BLOCK, 2 * BLOCK])
def test_the_only_candidate_that_is_allowed(place):
    """Whatever the draw."""
    scores = np.full(2 * BLOCK + 1, -np.inf)
    scores[place] = -1e300
    assert set(selected(scores, 1e-300, [0.0, 0.3, ALMOST_ONE])) == {place}
    assert set(selected(scores, 1e300, [0.0, 0.3, ALMOST_ONE])) == {place}


def test_huge_scores_and_huge_differences():
    """Nothing overflows; ties at the top share, the rest is impossible in double precision."""
    scores = np.array([1e308, -1e308, 1e308, 0.0])
    assert selected(scores, 1.0, [0.0, 0.49, 0.51, ALMOST_ONE]).tolist() == [0, 0, 2, 2]
    assert selected(scores, 1e10, [0.25, 0.75]).tolist() == [0, 2]


def test_ties_share_evenly():
    """Four equal scores, four quarters."""
    assert selected(np.full(4, 7.0), 3.0, [0.0, 0.26, 0.51, 0.76]).tolist() == [0, 1, 2, 3]


def test_each_trial_has_its_own_scores():
    """Or all share one row."""
    scores = np.array([[0.0, -np.inf], [-np.inf, 0.0]])
    assert selected(scores, 1.0, [0.9, 0.1]).tolist() == [0, 1]
    assert selected(scores[0], 1.0, [0.9, 0.1, 0.5]).tolist() == [0, 0, 0]


def test_exponentials_are_exact_to_a_few_units_in_the_last_place():
    """Against numpy's, over all that is not 0; 0 below."""
    values = np.concatenate([-np.linspace(0, 707.9, 100_001), -np.geomspace(1e-18, 1, 1000)])
    found, bits = values.copy(), np.empty(len(values), dtype=np.int64)
    exponentials(found, 0.0, 1.0, bits)
    np.testing.assert_allclose(found, np.exp(values), rtol=1e-15, atol=0)
    below = np.array([-708.1, -1e5, -1e308, -np.inf])
    exponentials(below, 0.0, 1.0, bits[:4])
    assert below.tolist() == [0.0] * 4


def test_extremes_leave_out_what_is_forbidden():
    """Least and largest of the others; NaN is seen wherever it stands."""
    rng = np.random.default_rng(1)
    for size in (1, 2, 7, 100):
        scores = rng.normal(size=size)
        assert extremes(scores) == (scores.min(), scores.max(), 0)
        assert not any_nan(scores)
        with_forbidden = np.append(scores, -np.inf)
        assert extremes(with_forbidden) == (scores.min(), scores.max(), 1)
        scores[rng.integers(size)] = np.nan
        assert any_nan(scores)
