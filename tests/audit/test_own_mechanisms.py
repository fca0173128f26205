"""Mechanisms that an algorithm brings along: honest ones pass, and each way to be dishonest is found and named."""

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import pytest

import dpbench as dpb
from dpbench.audit.layers import _own_mechanisms, audit, check_algorithm
from dpbench.audit.mechanism_laws import check_mechanism
from dpbench.audit.own_mechanisms import check_own_mechanisms
from dpbench.audit.replay_layer import check_replay
from dpbench.audit.sensitivity import check_sensitivity
from dpbench.audit.subject import Subject
from dpbench.cli.catalogue import _privacy
from dpbench.errors import CheckFailed
from dpbench.gallery.algorithm_facts import card_of


@dataclass(frozen=True, eq=False)
class NoisyCells(dpb.Mechanism):
    """Laplace noise on every cell, by somebody who does not know ours. Its truth is an object of its own kind."""

    name = "noisy cells"
    claim = Fraction(1)

    def truth(self, counts):
        return {"cells": counts.reshape(-1).astype(float)}

    def level(self, loss):
        return float(1 / loss) * (1 + 1e-15)

    def draw(self, truth, level, noise):
        return noise.laplace(truth["cells"], level, truth["cells"].shape)

    def log_density(self, outcome, truth, level):
        return (-np.abs(outcome - truth["cells"]) / level - np.log(2 * level)).sum(axis=1)

    def largest_loss(self, one, other, level):
        return float(np.abs(one["cells"] - other["cells"]).sum()) / level

    def rounding(self, one, other, level, outcome=None):
        size = np.abs(one["cells"]) + np.abs(other["cells"]) + (0 if outcome is None else np.abs(outcome))
        return size.sum(axis=-1) / level * 2.0**-48


class HalfTheNoise(NoisyCells):
    """Honest about it: density and loss are those of what is drawn."""

    def level(self, loss):
        return super().level(2 * loss)


class DensityOfMoreNoise(NoisyCells):
    def draw(self, truth, level, noise):
        return super().draw(truth, level / 2, noise)


class TrueZerosKept(NoisyCells):
    """Reads the truth twice: for the noisy answer, and again to see which cells are empty."""

    def draw(self, truth, level, noise):
        return np.where(truth["cells"] == 0, 0.0, super().draw(truth, level, noise))


class SignKept(NoisyCells):
    """Reads the truth twice: noise always lifts what is even."""

    def draw(self, truth, level, noise):
        noisy = super().draw(truth, level, noise)
        odd = truth["cells"] % 2 == 1
        return np.where(odd, noisy, truth["cells"] + np.abs(noisy - truth["cells"]))


class LossLiesLow(HalfTheNoise):
    def largest_loss(self, one, other, level):
        return super().largest_loss(one, other, level) / 2


class PublicLeaks(NoisyCells):
    def truth(self, counts):
        object.__setattr__(self, "seen", int(counts.sum()))
        return super().truth(counts)

    def public(self):
        return self.claim, getattr(self, "seen", 0)


class AllIsRounding(HalfTheNoise):
    def rounding(self, one, other, level, outcome=None):
        return np.asarray(np.inf)


class NoNumber(LossLiesLow):
    def log_density(self, outcome, truth, level):
        return super().log_density(outcome, truth, level) * np.nan


class RatioApart(LossLiesLow):
    """A log-ratio that is kind to itself, beside a density that is right."""

    def log_ratio(self, outcome, one, other, level):
        return super().log_ratio(outcome, one, other, level) / 2


class Raises(NoisyCells):
    def log_density(self, outcome, truth, level):
        raise ZeroDivisionError("over two\nlines")


class OwnRandomness(NoisyCells):
    """A stream for the batch in place of one per trial."""

    def draw(self, truth, level, noise):
        draws = np.random.default_rng(noise.trials).laplace(size=(noise.trials, len(truth["cells"])))
        return truth["cells"] + level * draws


@dataclass(frozen=True, eq=False)
class FirstCellOrNot(dpb.Mechanism):
    """Whether the first cell is odd, told truly with probability exp(e) / (1 + exp(e)): the worst that e allows."""

    name = "randomised response"
    claim = Fraction(1)

    def truth(self, counts):
        return int(counts.reshape(-1)[0] % 2)

    def level(self, loss):
        return float(loss) * (1 - 1e-15)

    def draw(self, truth, level, noise):
        truly = noise.uniform(()) < 1 / (1 + np.exp(-level))
        return np.where(truly, truth, 1 - truth)

    def log_density(self, outcome, truth, level):
        return -np.log1p(np.exp(np.where(outcome == truth, -level, level)))

    def largest_loss(self, one, other, level):
        return level if one != other else 0.0


class LiesMoreOften(FirstCellOrNot):
    """Told truly more often than the density says."""

    def draw(self, truth, level, noise):
        return super().draw(truth, 1.1 * level, noise)


class ImpossibleOutcome(FirstCellOrNot):
    def draw(self, truth, level, noise):
        return super().draw(truth, level, noise) + (noise.uniform(()) < 0.001)

    def log_density(self, outcome, truth, level):
        return np.where(outcome > 1, -np.inf, super().log_density(outcome, truth, level))


class CheapInZCDP(FirstCellOrNot):
    """An eighth is for selections whose log-ratios differ by no more than e; these differ by 2 e."""

    rho_of_loss = Fraction(1, 8)


def asking(mechanism_kind, notion="pure"):
    """An algorithm that spends everything on a mechanism, and what it gets spread over the cells."""

    @dataclass(frozen=True, kw_only=True)
    class Asks(dpb.Algorithm):
        name = "Asks"
        dimensions = (1,)
        notions = ("pure", "zCDP")
        consistent = mechanism_kind().name == "noisy cells"

        def estimate(self, data, workload):
            outcome = data.ask(mechanism_kind(), data.budget, "all").reshape(data.trials, -1)
            return np.zeros((data.trials, data.domain.size)) + outcome

    return Subject(Asks(), notion=notion)


@pytest.mark.parametrize("kind", [NoisyCells, FirstCellOrNot])
@pytest.mark.parametrize("notion", ["pure", "zCDP"])
def test_an_honest_mechanism_passes(kind, notion):
    """Its draws fit its density, no neighbour moves it by more than it claims, and its truth may be any object."""
    figures = check_own_mechanisms(asking(kind, notion))
    assert figures["mechanisms"] == [kind.name]
    assert check_sensitivity(asking(kind, notion))["largest change"] == pytest.approx(1, abs=1e-9)


@pytest.mark.parametrize(
    ("kind", "cause"),
    [
        (HalfTheNoise, "one record makes a loss of 2"),
        (DensityOfMoreNoise, "does not draw from its density"),
        (TrueZerosKept, "does not draw from its density"),
        (SignKept, "does not draw from its density"),
        (LossLiesLow, "there is an outcome that loses 2"),
        (PublicLeaks, r"public\(\) of 'noisy cells' follows the counts"),
        (AllIsRounding, "puts inf down to rounding"),
        (NoNumber, "one number per trial"),
        (RatioApart, "not the difference of its log-densities"),
        (Raises, "fails with ZeroDivisionError: over two lines"),
        (OwnRandomness, "for a trial alone than in a batch"),
        (LiesMoreOften, "does not draw from its density"),
        (ImpossibleOutcome, "probability 0 by its own density"),
    ],
    ids=lambda each: each.__name__ if isinstance(each, type) else "",
)
def test_a_dishonest_mechanism_is_found_and_the_cause_is_named(kind, cause):
    """In one line, with the question and the domain."""
    with pytest.raises(CheckFailed, match=cause) as failure:
        check_own_mechanisms(asking(kind))
    assert "\n" not in str(failure.value)
    assert "'all' on" in str(failure.value)


def test_a_price_in_zcdp_that_is_too_low_is_found():
    """The mean loss is a divergence of order 1: above an eighth of e squared, within a half of it."""
    with pytest.raises(CheckFailed, match="but outcomes lose"):
        check_own_mechanisms(asking(CheapInZCDP, "zCDP"))


@pytest.mark.parametrize(
    ("kind", "check"),
    [
        (HalfTheNoise, check_sensitivity),
        (LossLiesLow, check_replay),
        (PublicLeaks, check_replay),
        (NoNumber, check_replay),
    ],
)
def test_other_layers_see_what_is_theirs(kind, check):
    """A claim that does not hold, an answer that costs more than its charge, a question that follows the counts."""
    with pytest.raises(CheckFailed, match="Asks is not private"):
        check(asking(kind))


def test_what_a_mechanism_raises_is_a_failed_check():
    """An audit ends with a verdict, and check_algorithm with CheckFailed, whatever a stranger's code raises."""
    with pytest.raises(CheckFailed, match="fails"):
        check_algorithm(asking(Raises).algorithm)
    report = audit(asking(Raises).algorithm)
    assert {"replay", "mechanisms"} <= {layer.name for layer in report.failures}
    assert report.notes == ()


def test_an_algorithm_without_one_has_nothing_to_examine():
    """The layer says so, and is no failure."""
    layer = _own_mechanisms(Subject(dpb.algorithms.get("Uniform")))
    assert (layer.name, layer.verdict) == ("mechanisms", "not run")


def test_the_catalogue_and_the_card_say_how_it_is_private():
    """By a mechanism of its own; of ours they say nothing."""
    words = "private by a mechanism of its own: log-density given, replayed"
    own, ours = type(asking(NoisyCells).algorithm), type(dpb.algorithms.get("Identity"))
    assert (_privacy(own), _privacy(ours)) == (words, "")
    assert words in card_of(own, catalogued=False).properties
    assert words not in card_of(ours).properties


@pytest.mark.slow
@pytest.mark.parametrize(("factor", "least"), [(0.5, 100), (0.9, 98)])
def test_power(factor, least):
    """Of a hundred examinations of one noisy number whose noise is too small by a factor, so many fail."""

    class Off(NoisyCells):
        def draw(self, truth, level, noise):
            return super().draw(truth, factor * level, noise)

    assert failures(Off(), 100, 2.5e-7) >= least


@pytest.mark.slow
def test_false_alarms():
    """At a rate of a fifth, no more than a fifth of 300 examinations fail (plus 4 deviations)."""
    assert failures(NoisyCells(), 300, 0.2) <= 60 + 4 * np.sqrt(300 * 0.2 * 0.8)


def failures(mechanism, many, false_alarm):
    failed = 0
    for seed in range(many):
        try:
            for records in (1, 2):
                counts = np.array([3])
                check_mechanism(
                    mechanism,
                    Fraction(1),
                    counts,
                    counts + records,
                    neighbours=records == 1,
                    seed=seed,
                    false_alarm=false_alarm,
                )
        except CheckFailed:
            failed += 1
    return failed
