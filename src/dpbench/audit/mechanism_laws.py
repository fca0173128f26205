"""Is a mechanism what it says of itself: draws that fit its density, losses within its largest, all within its price.

Everything rests on the density: replay takes log-ratios from it, and they mean nothing where outcomes are drawn from
another law. Two exact tests compare the two. Outcomes that can be counted (whole numbers, booleans) have the
frequencies that the density gives them: a binomial test for each of the most frequent. Any outcomes, under two
truths: an event A happens together with an accepted coin of probability min(1, q / p) under p as often as with one of
min(1, p / q) under q, because both are the integral of min(p, q) over A; Fisher's exact test for each of many events.
Tests share the false-alarm rate evenly.

What a mechanism does once in a million draws is in no sample. So single draws of its noise are forced into their far
tails, and what comes out is held to the density too.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from copy import deepcopy
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpbench.audit.contents import contents
from dpbench.audit.many_trials import ManyTrials, TailNoise
from dpbench.audit.side_effects import other_randomness
from dpbench.errors import CheckFailed, InvalidInput
from dpbench.given import of_kind, whole
from dpbench.privacy import Mechanism, RandomNoise
from dpbench.privacy.budget import exact, written
from dpbench.privacy.counts import as_counts
from dpbench.standards import check_share

Floats = NDArray[np.float64]
Counts = NDArray[np.int64]

DRAWS = 40_000
"""Outcomes drawn under each truth."""
FALSE_ALARM = 1e-6
"""Probability that a mechanism that is what it says fails."""
LEARNING = 4
"""One in so many draws chooses the events; the others test them."""
FREQUENT = 40
"""Outcomes whose frequencies are tested, the most frequent ones."""
FEW = 500
"""Outcomes for which log-ratios are compared with log-densities."""
LITTLE = 16
"""Rare outcomes are drawn with the price divided by this."""
COORDINATES = 8
"""Numbers of an outcome whose distributions are tested."""
QUANTILES = (0.002, 0.01, 0.04, *(np.arange(1, 8) / 8), 0.96, 0.99, 0.998)
"""Where events end."""
LOW_BITS = 3
"""Numbers of an outcome whose low-order bits are tested."""
FINEST = 28
"""Bits after the point that are looked at, of numbers below 2^20: a double has 32 there, and rounding some."""
ATOM = 1e-9
"""Share of the price by which two log-ratios may differ and be the same: those of Laplace noise are mostly equal but
for rounding, and a bound between them would part what is the same."""
TAIL_DRAWS = 400
"""Outcomes under each truth, for each kind of draw that is forced."""
TAIL_CALLS = 3
"""Calls of each method in which a draw is forced: the first ones."""
SAME = 12
"""Times that a number comes out exactly, of so many, before that is no chance: beyond, what is drawn spreads."""
USUAL = 4000
"""Usual draws among which a number that is drawn from a density does not come again and again."""
CLOSE, FARTHEST_LEFT_OUT = 3.0, 1e-9
"""Loss up to which an outcome of one truth has to come out on the other, too; and rarity, relative to the most usual of
these draws, up to which it has to."""
SELDOM = 6.0
"""Logarithm by which a probability may be underestimated from so few outcomes."""
TOLERANCE = 1e-9
ROUNDING = 1e-3
"""Share of its price that a mechanism may put down to rounding."""


def check_mechanism(
    mechanism: Mechanism,
    loss: Fraction,
    counts: Counts,
    other: Counts,
    *,
    neighbours: bool = True,
    draws: int = DRAWS,
    false_alarm: float = FALSE_ALARM,
    seed: int = 0,
) -> Mapping[str, Any]:
    """Examine a mechanism that is paid for ``loss`` (of rho, where it is not pure) on two data vectors.

    Returns what was measured, or raises ``CheckFailed`` with the cause. ``neighbours`` are held to the price; any two
    vectors can be compared, and two that are further apart show more of a density that is wrong.
    """
    of_kind(mechanism, Mechanism, "what is examined", "a mechanism of docs/mechanisms.md")
    loss = exact(loss, "the loss")
    if loss <= 0:
        raise InvalidInput(f"the loss is {written(loss)}; give a number above 0")
    of_kind(neighbours, bool, "neighbours", "True")
    whole(draws, "the number of draws", 2 * LEARNING, 10**7)
    check_share("the rate of false alarms", false_alarm, 1)
    whole(seed, "the seed", 0)
    counts, other = (as_counts(each).copy() for each in (counts, other))
    level = mechanism.level(loss)
    one, shown = _truth(mechanism, counts), mechanism.public()
    there, shown_there = _truth(mechanism, other), mechanism.public()
    if shown != shown_there:
        raise CheckFailed(f"public() of '{mechanism.name}' follows the counts that it was shown; it may not")
    case = _Case(mechanism, loss, level, (one, there), draws, seed)
    figures = _check_price(case, float(loss), neighbours)
    _check_memory(case)
    _check_outcomes(case)
    _check_ratios(case)
    figures["observed"] = _check_largest(case)
    tests = [*_frequencies(case), *_events(case)]
    for cause, probability in tests:
        if probability < false_alarm / (len(tests) + 2):
            raise CheckFailed(
                f"'{mechanism.name}' does not draw from its density: {cause}, which a right one does with probability "
                f"{probability:.2g}"
            )
    _check_divergence(case, false_alarm / (len(tests) + 2))
    figures["tails"] = _check_tails(case)
    return figures | {"draws": draws, "tests": len(tests) + 2, "false-alarm rate": false_alarm}


@dataclass(frozen=True, eq=False, repr=False)
class _Case:
    """A mechanism between two truths, with outcomes drawn under each."""

    mechanism: Mechanism
    loss: Fraction
    level: float
    truths: tuple[Any, Any]
    draws: int
    seed: int

    @property
    def learning(self) -> int:
        """Draws that choose the events."""
        return self.draws // LEARNING

    @cached_property
    def outcomes(self) -> tuple[NDArray[Any], NDArray[Any]]:
        """Drawn under the one truth and under the other, ``(draws, ...)``."""
        one, other = (
            self.mechanism.draw(truth, self.level, ManyTrials([self.seed, number], self.draws))
            for number, truth in enumerate(self.truths)
        )
        return one, other

    @cached_property
    def ratios(self) -> tuple[Floats, Floats]:
        """Log-ratios of one truth over the other, for the outcomes of each."""
        one, other = (self.mechanism.log_ratio(each, *self.truths, self.level) for each in self.outcomes)
        return one, other

    def rounding(self, outcome: NDArray[Any] | None = None) -> Any:
        """What the mechanism puts down to rounding."""
        return self.mechanism.rounding(*self.truths, self.level, outcome)


def _truth(mechanism: Mechanism, counts: Counts) -> Any:
    kept = np.frombuffer(np.asarray(counts, dtype=np.int64).tobytes(), dtype=np.int64).reshape(np.shape(counts))
    statistic = mechanism.statistic
    return mechanism.truth(kept if statistic is None else statistic.of(kept))


def _check_memory(case: _Case) -> None:
    """What a mechanism is after a draw does not follow from the draw: the next question has noise of its own."""
    try:
        several = [deepcopy(case.mechanism) for _ in range(3)]
    except Exception:  # it cannot be copied
        return
    for mechanism, seed in zip(several, (0, 0, 1), strict=True):
        mechanism.draw(case.truths[0], case.level, RandomNoise.seeded(case.seed + seed, 2))
    first, again, other = map(contents, several)
    if first == again != other:
        raise CheckFailed(
            f"'{case.mechanism.name}' keeps something of its draws: prices of two questions add up if their noise is "
            f"independent, which cannot be seen of a mechanism that is another one after it has drawn; keep nothing "
            f"that follows from a draw"
        )


def _check_outcomes(case: _Case) -> None:
    """One per trial, the same alone as in a batch, none that the density rules out."""
    mechanism = case.mechanism
    for truth, outcome in zip(case.truths, case.outcomes, strict=True):
        if not isinstance(outcome, np.ndarray) or len(outcome) != case.draws:
            raise CheckFailed(f"'{mechanism.name}' does not draw one outcome per trial, (trials, ...)")
        density = mechanism.log_density(outcome, truth, case.level)
        if np.shape(density) != (case.draws,) or np.isnan(density).any():
            raise CheckFailed(f"the log-density of '{mechanism.name}' is not one number per trial")
        if (density == -np.inf).any():
            raise CheckFailed(f"'{mechanism.name}' draws outcomes that have probability 0 by its own density")
        three = mechanism.draw(truth, case.level, RandomNoise.seeded(case.seed, 3))
        alone = mechanism.draw(truth, case.level, RandomNoise.seeded(case.seed, 3).only(2))
        if not np.array_equal(three[2:], alone):
            raise CheckFailed(f"'{mechanism.name}' draws another outcome for a trial alone than in a batch")
        noise = RandomNoise.seeded(case.seed + 1, 3)  # another seed, or what it seeds would be as it was
        with other_randomness(each.bit_generator for each in noise._streams) as found:
            mechanism.draw(truth, case.level, noise)
        if found:
            raise CheckFailed(
                f"'{mechanism.name}' {found[0]} while it draws: noise comes from the channel given to draw() and from "
                f"nowhere else"
            )


def _check_ratios(case: _Case) -> None:
    """Log-ratios are the differences of log-densities, whichever truth comes first; some outcomes suffice."""
    mechanism, level = case.mechanism, case.level
    for drawn in case.outcomes:
        outcome = drawn[:FEW]
        density, there = (mechanism.log_density(outcome, truth, level) for truth in case.truths)
        ratio = mechanism.log_ratio(outcome, *case.truths, level)
        back = mechanism.log_ratio(outcome, *case.truths[::-1], level)
        slack = TOLERANCE * (1 + np.abs(density)) + case.rounding(outcome)
        with np.errstate(invalid="ignore"):  # infinity less infinity, where both agree
            same = [(ratio == each) | (np.abs(ratio - each) <= slack) for each in (density - there, -back)]
        if not np.all(same):
            raise CheckFailed(f"the log-ratio of '{mechanism.name}' is not the difference of its log-densities")


def _check_price(case: _Case, paid: float, neighbours: bool) -> dict[str, Any]:
    """Neighbours lose no more than is paid for, and hardly any of it is put down to rounding."""
    mechanism = case.mechanism
    largest = mechanism.largest_loss(*case.truths, case.level)
    divergence = mechanism.divergence(*case.truths, case.level)
    rounding = float(np.max(case.rounding()))
    if not rounding <= ROUNDING * paid:
        raise CheckFailed(
            f"'{mechanism.name}' puts {rounding:.3g} down to rounding, more than a thousandth of its price {paid:g}"
        )
    cost, word = (largest, "a loss") if mechanism.pure else (divergence, "a divergence")
    if neighbours and not cost <= paid * (1 + TOLERANCE) + rounding:
        raise CheckFailed(
            f"'{mechanism.name}' is paid for {paid:.6g} and one record makes {word} of {cost:.6g}: too little noise"
        )
    return {"largest loss": largest, "divergence": divergence, "paid": paid}


def _check_largest(case: _Case) -> float:
    """No outcome at hand loses more than the largest loss; the most that one loses."""
    mechanism = case.mechanism
    largest = mechanism.largest_loss(*case.truths, case.level)
    possible = [each[~np.isnan(each)] for each in _rare(case)]  # NaN: an outcome that this price rules out
    observed = float(np.abs(np.concatenate([*case.ratios, *possible])).max())
    if not observed <= largest * (1 + TOLERANCE) + float(np.max(case.rounding())):
        raise CheckFailed(
            f"largest_loss of '{mechanism.name}' is {largest:.6g}, but there is an outcome that loses {observed:.6g}; "
            f"it is paid {float(case.loss):.6g}, which is to cover every loss between neighbours"
        )
    return observed


def _rare(case: _Case) -> Iterator[Floats]:
    """Log-ratios of outcomes drawn with a small part of the price: far out, where losses are largest."""
    meagre = case.mechanism.level(case.loss / LITTLE)
    for number, truth in enumerate(case.truths):
        outcome = case.mechanism.draw(truth, meagre, ManyTrials([case.seed, 2 + number], case.learning))
        yield case.mechanism.log_ratio(outcome, *case.truths, case.level)


def _frequencies(case: _Case) -> Iterator[tuple[str, float]]:
    """A binomial test for each frequent outcome, and one for all others together."""
    from scipy.special import bdtr, bdtrc

    for truth, outcome in zip(case.truths, case.outcomes, strict=True):
        if outcome.dtype.kind not in "biu":
            continue
        codes = _codes(outcome)
        seen, at, times = np.unique(codes[: case.learning], return_index=True, return_counts=True)
        chosen = np.argsort(-times, kind="stable")[:FREQUENT]
        chances = np.exp(case.mechanism.log_density(outcome[at[chosen]], truth, case.level))
        if chances.sum() > 1 + TOLERANCE:
            raise CheckFailed(
                f"the probabilities of '{case.mechanism.name}' add up to more than 1: {chances.sum():.6g} over "
                f"{len(chosen)} outcomes"
            )
        tested = codes[case.learning :]
        found = [int((tested == seen[place]).sum()) for place in chosen]
        labels = [f"{outcome[at[place]].tolist()}" for place in chosen]
        everything = [*zip(labels, found, chances.tolist(), strict=True)]
        everything.append(("any other", len(tested) - sum(found), max(0.0, 1 - float(chances.sum()))))
        for label, many, chance in everything:
            below = float(bdtr(many, len(tested), min(chance, 1.0)))
            above = float(bdtrc(many - 1, len(tested), min(chance, 1.0))) if many else 1.0
            words = f"outcome {label[:60]} came {many} times of {len(tested)} where {chance * len(tested):.1f} are due"
            yield words, min(1.0, 2 * min(below, above))


def _events(case: _Case) -> Iterator[tuple[str, float]]:
    """Fisher's exact test for each event: as often with an accepted coin under one truth as under the other."""
    from scipy.stats import hypergeom

    learning, tested = slice(None, case.learning), slice(case.learning, None)
    rng = np.random.default_rng([case.seed, 9])
    accepted = []
    for ratio, sign in zip(case.ratios, (-1.0, 1.0), strict=True):
        coin = np.exp(np.minimum(0.0, sign * ratio[tested]))
        accepted.append(rng.random(len(coin)) < coin)
    many, labels, times = len(accepted[0]), list[str](), list[list[int]]()
    for label, numbers in _statistics(case, rng):
        learnt = np.concatenate([each[learning] for each in numbers])
        for words, lowest, highest in _intervals(learnt):
            labels.append(f"{label} {words}")
            times.append(
                [
                    int(((each[tested] >= lowest) & (each[tested] <= highest) & coins).sum())
                    for each, coins in zip(numbers, accepted, strict=True)
                ]
            )
    one, other = np.array(times).T
    below, above = hypergeom.cdf(one, 2 * many, one + other, many), hypergeom.sf(one - 1, 2 * many, one + other, many)
    for label, each, there, chance in zip(labels, one, other, 2 * np.minimum(below, above), strict=True):
        yield f"{label} {each} times under one truth, {there} under another", min(1.0, float(chance))


def _statistics(case: _Case, rng: np.random.Generator) -> Iterator[tuple[str, tuple[Floats, Floats]]]:
    """Numbers that outcomes are reduced to: their log-ratio, some of their own numbers, and low-order bits of these."""
    unit = ATOM * float(case.loss)
    ratio, back = (unit * np.rint(each / unit) for each in case.ratios)
    yield "with coins of equal chance, the log-ratio was", (ratio, back)
    rows = [each.reshape(len(each), -1) for each in case.outcomes]
    width = rows[0].shape[1]
    places = dict.fromkeys([*_moved(case, width), *np.sort(rng.permutation(width)[:COORDINATES]).tolist()])
    for number, place in enumerate(places):
        one, other = (each[:, place].astype(np.float64) for each in rows)
        yield f"with coins of equal chance, number {place} of an outcome was", (one, other)
        if number < LOW_BITS and rows[0].dtype.kind == "f":
            words = f"with coins of equal chance, zeros at the end of number {place} in units of 2^-{FINEST} were"
            yield words, (_zeros_at_the_end(one), _zeros_at_the_end(other))


def _moved(case: _Case, width: int) -> list[int]:
    """The number in which two truths differ most, where they have as many numbers as an outcome."""
    arrays = [each for each in case.truths if isinstance(each, np.ndarray) and each.dtype.kind in "iuf"]
    if [each.size for each in arrays] != [width, width]:
        return []
    return [int(np.abs(arrays[0].astype(np.float64) - arrays[1]).argmax())]


def _zeros_at_the_end(numbers: Floats) -> Floats:
    """How many bits at the end of each number are 0; -1 where it is too large to have such bits."""
    known = np.abs(numbers) < 2.0**20
    whole = np.rint(np.ldexp(np.where(known, numbers, 0.0), FINEST)).astype(np.int64)
    lowest = np.where(whole == 0, 1 << 62, whole & -whole)
    return np.where(known, np.log2(lowest.astype(np.float64)), -1.0)


def _intervals(learnt: Floats) -> Iterator[tuple[str, float, float]]:
    """Up to each of some quantiles, and exactly the most frequent value where it comes again and again."""
    for bound in np.unique(np.quantile(learnt, QUANTILES, method="lower")).tolist():
        yield f"at most {bound:.6g}", -np.inf, bound
    values, times = np.unique(learnt, return_counts=True)
    if times.max() > 1:
        value = float(values[times.argmax()])
        yield f"exactly {value:.6g}", value, value


def _check_divergence(case: _Case, alarm: float) -> None:
    """The mean log-ratio is a divergence of order 1, which no zCDP price is below; both directions.

    By the empirical Bernstein bound (Maurer, Pontil 2009) where losses are bounded, else as of a normal variate.
    """
    mechanism = case.mechanism
    rho = mechanism.divergence(*case.truths, case.level)
    for ratio, sign in zip(case.ratios, (1.0, -1.0), strict=True):
        lost = sign * ratio
        spread, many = float(lost.std()), len(lost)
        reach = 2 * mechanism.largest_loss(*case.truths, case.level) if mechanism.pure else 0.0
        slack = spread * np.sqrt(2 * np.log(2 / alarm) / many) + 7 * reach * np.log(2 / alarm) / (3 * (many - 1))
        if lost.mean() - slack > rho * (1 + TOLERANCE):
            raise CheckFailed(
                f"the divergence of '{mechanism.name}' is {rho:.6g}, but outcomes lose {lost.mean():.6g} on average"
            )


def _check_tails(case: _Case) -> int:
    """Outcomes of rare draws: none loses more than the largest loss, none gives the truth away; how many kinds."""
    counting = TailNoise([case.seed, 4], 1)
    case.mechanism.draw(case.truths[0], case.level, counting)
    kinds = [
        (method, call, upper)
        for method, calls in sorted(counting.called().items())
        for call in range(min(calls, TAIL_CALLS))
        for upper in (True, False)
    ]
    largest = case.mechanism.largest_loss(*case.truths, case.level)
    for number, (method, call, upper) in enumerate(kinds):
        noises = [TailNoise([case.seed, 5, number], TAIL_DRAWS, method, call, upper=upper) for _ in case.truths]
        pair = [case.mechanism.draw(truth, case.level, each) for truth, each in zip(case.truths, noises, strict=True)]
        words = f"where a draw of {method} noise is one of the {'largest' if upper else 'smallest'}, as is rare,"
        for place, (outcome, noise) in enumerate(zip(pair, noises, strict=True)):
            loss = np.abs(case.mechanism.log_ratio(outcome, *case.truths, case.level))
            dear = loss[loss > largest * (1 + TOLERANCE) + case.rounding(outcome)]  # NaN: no outcome at this price
            if dear.size:
                raise CheckFailed(
                    f"largest_loss of '{case.mechanism.name}' is {largest:.6g}, but {words} an outcome loses "
                    f"{dear.max():.6g}"
                )
            if outcome.dtype.kind == "f":
                comparable = (loss <= CLOSE) & (noise.weights > noise.weights.max() * FARTHEST_LEFT_OUT)
                found = _given_away(case, place, outcome[comparable], pair[1 - place])
            else:
                found = _too_frequent(case, place, outcome, noise.weights)
            if found:
                raise CheckFailed(f"'{case.mechanism.name}' does not draw from its density: {words} {found}")
    return len(kinds)


def _given_away(case: _Case, place: int, outcome: Floats, other: Floats) -> str:
    """A number that comes out exactly, time and again, on one truth and never on the other, though its loss is small.

    Where noise is cut off at a public bound, draws that are a little rarer have the same outcome on the other truth. So
    the rarest draws on the one are left out, and those on the other are not.
    """
    if len(outcome) < SAME:
        return ""
    rows, there = (each.reshape(len(each), -1) for each in (outcome, other))
    usual = [each[:USUAL].reshape(min(len(each), USUAL), -1) for each in case.outcomes]
    for at in range(rows.shape[1]):
        values, times = np.unique(rows[:, at], return_counts=True)
        value, many = float(values[times.argmax()]), int(times.max())
        if many < SAME or (there[:, at] == value).any() or any((each[:, at] == value).any() for each in usual):
            continue
        if np.unique(usual[place][:, at], return_counts=True)[1].max() < 3:  # else it has steps anyway
            return f"number {at} is exactly {value:.9g} in {many} of {len(rows)} outcomes, and never on other data"
    return ""


def _too_frequent(case: _Case, place: int, outcome: NDArray[Any], weights: Floats) -> str:
    """An outcome that is more probable by these rare draws alone than the density says."""
    codes = _codes(outcome)
    for code in np.unique(codes):
        its = np.sort(weights[codes == code])
        if len(its) < SAME:
            continue
        with np.errstate(divide="ignore"):  # the weight of a draw may be too small for a number
            least = np.log(len(its) / 2 / len(codes) * its[len(its) // 2]) - SELDOM
        example = outcome[np.flatnonzero(codes == code)[:1]]
        said = float(case.mechanism.log_density(example, case.truths[place], case.level)[0])
        if least > said:
            return (
                f"outcome {str(example[0].tolist())[:60]} has at least probability {np.exp(least):.2g}, which "
                f"its density does not give it ({np.exp(said):.2g})"
            )
    return ""


def _codes(outcome: NDArray[Any]) -> NDArray[np.int64]:
    """A number for each different outcome."""
    rows = np.ascontiguousarray(outcome.reshape(len(outcome), -1))
    return np.unique(rows, axis=0, return_inverse=True)[1].reshape(-1)
