"""Exact samplers: their laws, against chances computed independently.

Bytes come from numpy's generator with a fixed seed, so every outcome is reproducible. A law is tested by Pearson's
chi-square over bins of at least 30 expected draws, at a false-alarm rate of 1e-6 per test. For each law the same test,
at the same number of draws, rejects a sampler whose scale or rate is off by 2 percent; its chance to do so is computed
from the noncentral chi-square distribution and is above 0.999999.
"""

from __future__ import annotations

import itertools
from fractions import Fraction
from math import exp, expm1, isqrt, sqrt

import numpy as np
import pytest
from scipy import stats

from dpbench.errors import DPBenchError, InvalidInput
from dpbench.privacy import exact_noise
from dpbench.privacy.exact_noise import LARGEST_SCALE, ExactNoise, _squared
from dpbench.privacy.expansion import exponential

ALARM = 1e-6
DRAWS = 600_000


def seeded(seed):
    return ExactNoise(np.random.default_rng(seed).bytes)


def rejected(observed, chances):
    """Whether counts by bin are further from their chances than happens once in a million."""
    expected = observed.sum() * chances
    assert expected.min() >= 30
    assert chances.sum() == pytest.approx(1, abs=1e-12)
    return stats.chisquare(observed, expected).pvalue < ALARM


def power(chances, other, draws):
    """The chance that ``rejected`` rejects draws from ``other``."""
    distance = draws * ((other - chances) ** 2 / chances).sum()
    bins = len(chances) - 1
    return stats.ncx2.sf(stats.chi2.isf(ALARM, bins), bins, distance)


def laplace_below(edges, scale):
    """P(k < edge): for edge <= 0 the tail e^(1 - edge) / (1 + e), written so that scales of 2^40 lose nothing."""
    edges = np.asarray(edges, dtype=float)
    both = 1 + exp(-1 / scale)
    tail = np.exp(-np.where(edges > 0, edges, 1 - edges) / scale) / both
    return np.where(edges > 0, 1 - tail, tail)


def gaussian_below(edges, variance):
    """P(k < edge), by adding up; beyond a deviation of 1000 by the normal distribution, which is as exact there."""
    edges = np.asarray(edges, dtype=float)
    if variance > 10**6:
        return stats.norm.cdf(edges - 0.5, scale=sqrt(variance))
    k = np.arange(-isqrt(int(1600 * variance)) - 2, isqrt(int(1600 * variance)) + 3)
    weight = np.exp(-(k.astype(float) ** 2) / (2 * float(variance)))
    return np.array([weight[k < edge].sum() for edge in edges]) / weight.sum()


def bins(below, deviation):
    """Edges, at most 24, such that every bin has a chance of at least 1e-3."""
    step = max(1, int(deviation / 4))
    edges = [0]
    for sign in (1, -1):
        edge = sign * step
        while sign * edge < 6 * deviation + 2:
            edges.append(edge)
            edge += sign * step
    edges = sorted(edges)
    kept = []
    for edge in edges:
        if below([edge])[0] - (below([kept[-1]])[0] if kept else 0) > 1e-3:
            kept.append(edge)
    while 1 - below([kept[-1]])[0] < 1e-3:
        kept.pop()
    return np.array(kept)


def by_bin(draws, edges):
    return np.bincount(np.searchsorted(edges, draws, side="right"), minlength=len(edges) + 1)


LAPLACE = [
    *((Fraction(1, 5), 10**6), (Fraction(1, 2), DRAWS), (Fraction(1), DRAWS), (Fraction(37, 3), DRAWS)),
    *((Fraction(1000), DRAWS), (Fraction(2**40), DRAWS)),
]
GAUSSIAN = [
    *((Fraction(1, 10), DRAWS), (Fraction(1, 2), DRAWS), (Fraction(1), DRAWS), (Fraction(22, 7), DRAWS)),
    *((Fraction(12345, 7), DRAWS), (Fraction(2**64), DRAWS // 2), (Fraction(2**80), DRAWS // 2)),
]


@pytest.mark.parametrize(("scale", "draws"), LAPLACE)
def test_discrete_laplace_has_its_law(scale, draws):
    """Binned draws fit the law at scale b; those at 1.02 b do not."""

    def below(edges):
        return laplace_below(edges, float(scale))

    edges = bins(below, float(scale) + 0.3)
    chances = np.diff(np.concatenate([[0], below(edges), [1]]))
    other = np.diff(np.concatenate([[0], laplace_below(edges, 1.02 * float(scale)), [1]]))
    assert power(chances, other, draws) > 0.999999
    assert not rejected(by_bin(seeded(1).discrete_laplace(scale, draws), edges), chances)
    assert rejected(by_bin(seeded(2).discrete_laplace(scale * Fraction(51, 50), draws), edges), chances)


def test_the_digits_beyond_the_last_one_drawn_alone_are_counted(monkeypatch):
    """They are set once in millions of draws; with hardly a digit drawn alone they decide, and the law is the same."""
    monkeypatch.setattr(exact_noise, "RARE", Fraction(1, 2))
    test_discrete_laplace_has_its_law(Fraction(37, 3), DRAWS)


@pytest.mark.parametrize(("variance", "draws"), GAUSSIAN)
def test_discrete_gaussian_has_its_law(variance, draws):
    """Binned draws fit the law at deviation sigma; those at 1.02 sigma do not."""

    def below(edges):
        return gaussian_below(edges, float(variance))

    edges = bins(below, sqrt(variance))
    chances = np.diff(np.concatenate([[0], below(edges), [1]]))
    wider = variance * Fraction(51, 50) ** 2
    other = np.diff(np.concatenate([[0], gaussian_below(edges, float(wider)), [1]]))
    assert power(chances, other, draws) > 0.999999
    assert not rejected(by_bin(seeded(3).discrete_gaussian(variance, draws), edges), chances)
    assert rejected(by_bin(seeded(4).discrete_gaussian(wider, draws), edges), chances)


def test_squares_are_cut_into_whole_numbers_that_fit():
    """The three terms add up to the square, exactly, for distances up to 2^61."""
    distances = [0, 1, 2**31 - 1, 2**31, 2**31 + 1, 3**30, 2**61 - 1, *np.random.default_rng(0).integers(0, 2**61, 50)]
    terms = _squared(np.array(distances), Fraction(1, 7))
    for place, distance in enumerate(map(int, distances)):
        assert sum(int(a[place]) * rate for a, rate in terms) == Fraction(distance**2, 7)


@pytest.mark.parametrize("draw", ["discrete_laplace", "discrete_gaussian"])
def test_tiny_noise_is_nearly_always_zero(draw):
    """At scale 1/1000 and deviation 1/32 anything but 0 has a chance below exp(-500)."""
    assert not getattr(seeded(5), draw)(Fraction(1, 1000), 10_000).any()


def laplace_variance(scale):
    """2 e / (1 - e)^2 with e = exp(-1 / scale)."""
    return 2 * exp(-1 / scale) / expm1(-1 / scale) ** 2


@pytest.mark.parametrize("scale", [0.5, 3.0, 100.0, 2.0**40])
def test_moments_of_discrete_laplace(scale):
    """Mean 0 and its variance, within 5 standard errors (false alarm 6e-7 each); the fourth moment is 6 variance^2."""
    draws = seeded(6).discrete_laplace(scale, DRAWS).astype(float)
    variance = laplace_variance(scale)
    fourth = 6 * variance**2 + variance
    assert abs(draws.mean()) < 5 * sqrt(variance / DRAWS)
    assert abs((draws**2).mean() - variance) < 5 * sqrt((fourth - variance**2) / DRAWS)


@pytest.mark.parametrize("variance", [1.0, 10.0, 10.0**6, 2.0**80])
def test_moments_of_discrete_gaussian(variance):
    """Mean 0 and the variance asked for, within 5 standard errors (false alarm 6e-7 each)."""
    draws = seeded(7).discrete_gaussian(variance, 100_000).astype(float)
    assert abs(draws.mean()) < 5 * sqrt(variance / len(draws))
    assert abs((draws**2).mean() - variance) < 5 * sqrt(2 * variance**2 / len(draws))


@pytest.mark.parametrize("variance", [1.0, 1.5, 2.0, 5.0])
def test_the_variance_of_a_discrete_gaussian_is_its_parameter(variance):
    """To one part in a million from 1 on, by adding up."""
    k = np.arange(-100, 101).astype(float)
    weight = np.exp(-(k**2) / (2 * variance))
    assert variance * (1 - 1e-6) <= (k**2 * weight).sum() / weight.sum() <= variance * (1 + 1e-14)  # rounding


@pytest.mark.parametrize("draw", ["discrete_laplace", "discrete_gaussian"])
def test_draws_are_symmetric_and_independent(draw):
    """As many above 0 as below; no correlation of neighbours or halves; sums of 16 have 16 variances (6e-7 each)."""
    draws = getattr(seeded(8), draw)(25, 16 * 40_000).astype(float)
    positive, negative = (draws > 0).sum(), (draws < 0).sum()
    assert abs(positive - negative) < 5 * sqrt(positive + negative)
    variance = draws.var()
    half = len(draws) // 2
    for first, second in ((draws[1:], draws[:-1]), (draws[:half], draws[half:]), (draws[:half], draws[half:][::-1])):
        assert abs((first * second).mean()) < 5 * variance / sqrt(len(first))
    sums = draws.reshape(-1, 16).sum(axis=1)
    # the variance of a sum's square is 2 (16 v)^2, and for Laplace 16 * 3 v^2 more
    spread = sqrt((2 * 256 + 48) / len(sums)) * variance
    assert abs((sums**2).mean() - 16 * variance) < 5 * spread


@pytest.mark.parametrize(
    "chance", [Fraction(0), Fraction(1, 3), Fraction(1, 10**5), 1 - Fraction(1, 10**5), Fraction(1)]
)
def test_coins_of_rational_chance(chance):
    """The number of heads has a binomial p-value above 1e-6; chances 0 and 1 are certain."""
    heads = int(seeded(9).bernoulli(chance, DRAWS).sum())
    assert stats.binomtest(heads, DRAWS, float(chance)).pvalue > ALARM


@pytest.mark.parametrize("x", [Fraction(0), Fraction(1, 1000), Fraction(1, 2), Fraction(3), Fraction(17, 2)])
def test_coins_of_exponential_chance(x):
    """The number of heads has a binomial p-value above 1e-6; exp(0) is certain."""
    heads = int(seeded(10).bernoulli_exp(x, DRAWS).sum())
    assert stats.binomtest(heads, DRAWS, exp(-x)).pvalue > ALARM


def test_a_coin_that_is_off_by_two_percent_is_rejected():
    """At x = 1/2 the test rejects a chance of exp(-0.51), with a power above 0.999999."""
    draws = 10**6
    assert draws * (exp(-0.5) - exp(-0.51)) > 10 * sqrt(draws / 4)  # 4.9 deviations are rejected, 5 are left
    heads = int(seeded(11).bernoulli_exp(Fraction(51, 100), draws).sum())
    assert stats.binomtest(heads, draws, exp(-0.5)).pvalue < ALARM


def test_every_first_word_decides_as_the_digits_say():
    """Of all 65,536 words each one below the digit is heads and above it tails; the one that is equal asks for more."""
    x = Fraction(7, 5)
    first, second = exponential(x).digit(0), exponential(x).digit(1)
    for last, heads in ((second - 1, True), (second + 1, False)):
        words = [np.arange(2**16, dtype="<u2").tobytes(), np.array([last], dtype="<u2").tobytes()]
        asked = []

        def source(size, words=words, asked=asked):
            asked.append(size)
            return words[len(asked) - 1]

        coins = ExactNoise(source).bernoulli_exp(x, 2**16)
        assert coins[:first].all()
        assert coins[first] == heads
        assert not coins[first + 1 :].any()
        assert asked == [2**17, 2]


SCORES = [Fraction(0), Fraction(1, 2), Fraction(-1, 3), Fraction(7, 3), Fraction(0), Fraction(1, 6)]
RATE = Fraction(4, 5)


def exponential_mechanism(rate):
    weight = np.array([exp(rate * score) for score in SCORES])
    return weight / weight.sum()


def permute_and_flip(rate):
    """By definition: over all orders, the first heads."""
    chance = [exp(rate * (score - max(SCORES))) for score in SCORES]
    result = np.zeros(len(SCORES))
    orders = list(itertools.permutations(range(len(SCORES))))
    for order in orders:
        none_before = 1.0
        for candidate in order:
            result[candidate] += none_before * chance[candidate] / len(orders)
            none_before *= 1 - chance[candidate]
    return result


@pytest.mark.parametrize(
    ("verb", "law"), [("choose_each", exponential_mechanism), ("permute_and_flip_each", permute_and_flip)]
)
def test_selections_have_their_law(verb, law):
    """Winners of half a million groups fit the chances at rate r; those at 1.02 r do not."""
    groups = 500_000
    starts = np.arange(groups + 1) * len(SCORES)
    whole = np.tile([int(6 * score) for score in SCORES], groups)  # in sixths, so that the rate is a sixth
    chances = law(float(RATE))
    assert power(chances, law(1.02 * float(RATE)), groups) > 0.999999
    winners = getattr(seeded(12), verb)(whole, starts, RATE / 6)
    assert not rejected(np.bincount(winners, minlength=len(SCORES)), chances)
    winners = getattr(seeded(13), verb)(whole, starts, RATE / 6 * Fraction(51, 50))
    assert rejected(np.bincount(winners, minlength=len(SCORES)), chances)


def test_one_selection_is_a_group_by_itself():
    """The single verbs are the grouped ones with one group, from the same bytes."""
    for seed in range(20):
        assert seeded(seed).choose(SCORES, RATE) == seeded(seed).choose_each(SCORES, [0, 6], RATE)[0]
        assert (
            seeded(seed).permute_and_flip(SCORES, RATE) == seeded(seed).permute_and_flip_each(SCORES, [0, 6], RATE)[0]
        )


def test_scores_of_any_size_are_exact():
    """2^70 times the scores at 2^-70 times the rate are the same chances: the same bytes choose the same candidate."""
    whole = [int(6 * score) for score in SCORES]
    for seed in range(50):
        plain = seeded(seed).choose(np.array(whole), RATE / 6)
        assert seeded(seed).choose(SCORES, RATE) == plain
        assert seeded(seed).choose([score << 70 for score in whole], RATE / 6 / 2**70) == plain
        assert seeded(seed).choose(np.array(whole, dtype=np.int8), RATE / 6) == plain
        assert seeded(seed).choose(np.array([2**63 + 2 + score for score in whole]), RATE / 6) == plain


@pytest.mark.parametrize("verb", ["choose", "permute_and_flip"])
def test_scores_at_the_ends_of_their_type_are_told_apart(verb):
    """Gaps that overflow their own type are still right: the far worse candidate never wins (chance exp(-200))."""
    for scores in (np.array([-128, 127], dtype=np.int8), np.array([-(2**63), 2**63 - 1]), [-(10**40), Fraction(1, 3)]):
        assert {getattr(seeded(seed), verb)(scores, 1) for seed in range(10)} == {1}


def test_groups_of_different_sizes():
    """Each group has a winner of its own; a group of one has no choice; a clear best wins in the largest."""
    starts = [0, 1, 4, 1004]
    scores = np.zeros(1004, dtype=np.int64)
    scores[777] = 1000
    for seed in range(10):
        for verb in ("choose_each", "permute_and_flip_each"):
            first, second, third = getattr(seeded(seed), verb)(scores, starts, 1)
            assert (first, third) == (0, 773)
            assert 0 <= second < 3


def test_uniform_numbers_are_uniform():
    """Equal scores: every one of 7 candidates wins as often (false alarm 1e-6)."""
    starts = np.arange(50_001) * 7
    winners = seeded(14).choose_each(np.zeros(350_000, dtype=np.int64), starts, 1)
    assert not rejected(np.bincount(winners, minlength=7), np.full(7, 1 / 7))


def test_shapes():
    """A number of draws or a shape; none is none."""
    noise = seeded(15)
    for draw in (noise.discrete_laplace, noise.discrete_gaussian, noise.bernoulli_exp):
        assert draw(2, 5).shape == (5,)
        assert draw(2, (3, 4)).shape == (3, 4)
        assert draw(2, 0).shape == (0,)
    assert noise.discrete_laplace(2, 5).dtype == noise.discrete_gaussian(2, 5).dtype == np.int64


def test_the_same_bytes_give_the_same_draws():
    """A source with a seed is reproducible; the operating system's is not."""
    for draw in ("discrete_laplace", "discrete_gaussian"):
        first, second, other = (getattr(seeded(seed), draw)(2**20, 100) for seed in (1, 1, 2))
        assert (first == second).all()
        assert (first != other).any()
        fresh = [getattr(ExactNoise(), draw)(2**20, 100) for _ in range(2)]
        assert (fresh[0] != fresh[1]).any()


def test_the_largest_scale():
    """Draws at 2^50 fit into int64 and the median of |k| is 2^50 ln 2, within 5 standard errors."""
    draws = seeded(16).discrete_laplace(LARGEST_SCALE, 10_000)
    inside = int((np.abs(draws) < LARGEST_SCALE * np.log(2)).sum())
    assert abs(inside - 5000) < 5 * 50


@pytest.mark.parametrize(
    "ask",
    [
        lambda noise: noise.discrete_laplace(0, 1),
        lambda noise: noise.discrete_laplace(-1, 1),
        lambda noise: noise.discrete_laplace("1", 1),
        lambda noise: noise.discrete_laplace(2**51, 1),
        lambda noise: noise.discrete_laplace(1, -1),
        lambda noise: noise.discrete_gaussian(float("nan"), 1),
        lambda noise: noise.discrete_gaussian(2**101, 1),
        lambda noise: noise.bernoulli(1.5, 1),
        lambda noise: noise.bernoulli(None, 1),
        lambda noise: noise.bernoulli_exp(-1, 1),
        lambda noise: noise.choose([], 1),
        lambda noise: noise.choose([0.5, 1.0], 1),
        lambda noise: noise.choose(np.array([0.5, 1.0]), 1),
        lambda noise: noise.choose([True, False], 1),
        lambda noise: noise.choose(np.zeros((2, 2), dtype=np.int64), 1),
        lambda noise: noise.choose([1, 2], 0),
        lambda noise: noise.choose_each([1, 2], [0, 1], 1),
        lambda noise: noise.choose_each([1, 2], [0, 2, 2], 1),
        lambda noise: noise.permute_and_flip([1, float("-inf")], 1),
        lambda noise: ExactNoise(lambda size: b"").bernoulli(0.5, 1),
    ],
)
def test_what_cannot_be_drawn_is_refused_in_one_line(ask):
    """Scales that are not positive or too large, floats for scores, groups without candidates, a short source."""
    with pytest.raises(InvalidInput) as caught:
        ask(seeded(0))
    assert isinstance(caught.value, DPBenchError)
    assert "\n" not in str(caught.value)
