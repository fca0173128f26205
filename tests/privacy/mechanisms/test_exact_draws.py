"""Which mechanisms are drawn in exact arithmetic, and that their exact draws have the law that they state.

Bytes come from numpy's generator with a fixed seed. A law is tested by Pearson's chi-square over outcomes of at least
30 expected draws, the rest in one bin, at a false-alarm rate of 1e-6 per test; the same test rejects draws that were
paid more.
"""

from dataclasses import dataclass
from fractions import Fraction
from math import exp

import numpy as np
import pytest
from scipy import stats

import dpbench as dpb
from dpbench.domain import Domain
from dpbench.errors import AlgorithmFailed, Unsupported
from dpbench.mathematics.cells import Cells
from dpbench.mathematics.grid import BoxCounts, MedianCuts
from dpbench.privacy import Exponential, Gaussian, GroupedExponential, Laplace, PermuteAndFlip, Recording
from dpbench.privacy.exact_noise import ExactNoise
from dpbench.privacy.noise import NoNoise
from privacy.mechanisms.questions import COUNTS, MECHANISMS, every_outcome

ALARM = 1e-6
NONE = {"noisy max", "above threshold", "partition", "priv tree"}
"""Mechanisms without an exact sampler, by name."""
SELECTIONS = {name: each for name, each in MECHANISMS.items() if type(each) in (Exponential, PermuteAndFlip)}


def seeded(seed):
    return ExactNoise(np.random.default_rng(seed).bytes)


def rejected(observed, chances):
    """Whether counts by outcome are further from their chances than happens once in a million."""
    expected = observed.sum() * chances
    rare = expected < 30
    bins = [np.append(each[~rare], each[rare].sum()) for each in (observed, expected)]
    kept = bins[1] > 0
    return stats.chisquare(bins[0][kept], bins[1][kept]).pvalue < ALARM


@pytest.mark.parametrize("mechanism", MECHANISMS.values(), ids=MECHANISMS)
def test_every_mechanism_draws_exactly_or_says_why_not(mechanism):
    """Before it is shown any counts; and what says that it cannot be refuses in the same words."""
    if mechanism.name in NONE:
        assert mechanism.no_exact_draw
        with pytest.raises(Unsupported, match=f"{mechanism.name} cannot be released: {mechanism.no_exact_draw}"):
            mechanism.draw_exactly(mechanism.truth(COUNTS), Fraction(1), seeded(0))
    else:
        assert not mechanism.no_exact_draw
        like = mechanism.draw(mechanism.truth(COUNTS), mechanism.level(Fraction(1)), NoNoise(1))[0]
        drawn = mechanism.draw_exactly(mechanism.truth(COUNTS), Fraction(1), seeded(0))
        assert (drawn.shape, drawn.dtype) == (like.shape, np.dtype(np.int64))


@pytest.mark.parametrize("kind", [Laplace, Gaussian])
def test_noise_on_whole_answers_has_the_exact_law(kind):
    """Chances proportional to exp(-|k| e / D) and exp(-k^2 rho / D^2): 200,000 cells, each moved by its own noise."""
    cells = 200_000
    mechanism, loss = kind(Cells(Domain((cells,)))), Fraction(7, 10)
    truth = np.arange(cells, dtype=float) % 1000
    k = np.arange(-40, 41)
    weight = np.array([exp(-abs(each) * 0.7) if kind is Laplace else exp(-(each**2) * 0.7) for each in k])

    def moved(price, seed):
        noise = (mechanism.draw_exactly(truth, price, seeded(seed)) - truth).astype(int)
        return np.bincount(np.clip(noise, -40, 40) + 40, minlength=81)

    assert not rejected(moved(loss, 1), weight / weight.sum())
    assert rejected(moved(2 * loss, 2), weight / weight.sum())


@pytest.mark.parametrize("mechanism", SELECTIONS.values(), ids=SELECTIONS)
def test_selections_have_the_law_of_their_density(mechanism):
    """800 exact draws against the log-density that replay believes, at the exact rate."""
    truth, loss = mechanism.truth(COUNTS), Fraction(3, 2)
    chances = np.exp(mechanism.log_density(every_outcome(mechanism), truth, mechanism.level(loss)))

    def chosen(price, seed):
        noise = seeded(seed)
        return np.bincount([mechanism.draw_exactly(truth, price, noise) for _ in range(800)], minlength=len(chances))

    assert not rejected(chosen(loss, 3), chances)
    assert rejected(chosen(4 * loss, 4), chances)


@dataclass(frozen=True)
class ManyGroups:
    """The same three scores and a forbidden one in each of many groups, in halves."""

    groups: int
    sensitivity = 1
    monotone = False
    lattice = Fraction(1, 2)

    @property
    def starts(self):
        return 4 * np.arange(self.groups + 1)

    def score(self, counts):
        return np.tile([0.5, -np.inf, 1.5, -3.0], self.groups)


def test_groups_on_a_lattice_of_halves_with_a_forbidden_candidate():
    """60,000 groups are 60,000 draws; nothing forbidden is chosen."""
    mechanism = GroupedExponential(ManyGroups(60_000))
    truth = mechanism.truth(COUNTS)
    weight = np.array([exp(0.5), 0, exp(1.5), exp(-3.0)])
    drawn = np.bincount(mechanism.draw_exactly(truth, Fraction(2), seeded(5)), minlength=4)
    assert drawn[1] == 0
    assert not rejected(drawn, weight / weight.sum())
    assert rejected(
        np.bincount(mechanism.draw_exactly(truth, Fraction(3), seeded(6)), minlength=4), weight / weight.sum()
    )


class ThirdsOfCells(Cells):
    """Says that its answers are whole, and divides them."""

    def answer(self, counts):
        return counts / 3


def test_a_promise_that_is_not_kept_is_noticed_without_a_count():
    """The words name the strategy and its lattice alone."""
    mechanism = Laplace(ThirdsOfCells(Domain((5,))))
    with pytest.raises(AlgorithmFailed, match="ThirdsOfCells is not made of whole multiples of 1 "):
        mechanism.draw_exactly(mechanism.truth(COUNTS), Fraction(1), seeded(0))


def questions_of(name, **budget):
    """What an algorithm asks in one run."""
    algorithm, recording = dpb.algorithms.get(name), Recording()
    workload = dpb.workloads.Prefix(16) if algorithm.supports("16") else dpb.workloads.RandomRange("4x4", queries=9)
    algorithm._outcome(np.arange(16).reshape(workload.domain.shape), workload, seed=0, channel=recording, **budget)
    return recording.questions()


@pytest.mark.parametrize("budget", [{"epsilon": 1}, {"rho": 1}], ids=["pure", "zCDP"])
@pytest.mark.parametrize(
    "name",
    [
        *("Identity", "Privelet", "H", "Hb", "Uniform", "AHP", "AHP*", "DPCube", "UGrid", "AGrid"),
        *("HDMM", "HbW", "GreedyH", "QuadTree", "TopDown", "Cascade"),
    ],
)
def test_algorithms_whose_every_call_is_exact(name, budget):
    """Whole answers, or public units times whole numbers, under both notions."""
    assert {asked.mechanism.no_exact_draw for asked in questions_of(name, **budget)} == {""}


def test_answers_that_may_be_fractions_are_refused_before_anything_is_known():
    """Coefficients of a Fourier transform."""
    assert any("not known to" in asked.mechanism.no_exact_draw for asked in questions_of("EFPA", epsilon=1))


def test_the_median_of_a_box_is_selected_exactly():
    """Scores of cuts are halves: 800 exact draws fit the density."""
    mechanism = Exponential(MedianCuts(BoxCounts(Domain((5,)), np.array([[0]]), np.array([[5]])), 0))
    truth, loss, noise = mechanism.truth(mechanism.statistic.of(COUNTS)), Fraction(1), seeded(7)
    chances = np.exp(mechanism.log_density(np.arange(4), truth, mechanism.level(loss)))
    drawn = [mechanism.draw_exactly(truth, loss, noise) for _ in range(800)]
    assert not rejected(np.bincount(drawn, minlength=4), chances)
