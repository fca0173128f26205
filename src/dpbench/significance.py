"""When two errors count as different: four tests, each a value that is looked up by its name.

To add a test, add a class here and an instance of it to ``TESTS``.

unpaired    Welch's t-test on all trials as if they were independent: the paper's. Welch's form does not assume equal
            variances, which a noisy and a nearly deterministic algorithm do not have.
paired      Algorithms meet the same data vectors with different noise. The differences of the mean errors on each of
            the S common vectors are S independent numbers; a t-test on them, with S - 1 degrees of freedom, asks
            whether the expected errors differ over all data vectors that the generator could draw. It is right
            whatever trials on one vector share, but 5 vectors leave it 4 degrees of freedom.
blocked     The same differences, judged by the noise within each vector alone, with Satterthwaite's degrees of freedom
            (up to 2 S (trials - 1)): do the expected errors differ on average over these very vectors? What the vectors
            themselves add to both algorithms cancels, so that it decides more than the unpaired test where vectors
            differ much, and as much where they do not; it says nothing of other vectors.
percentile  Welch's t-test on Harrell-Davis estimates of the percentile of log errors that the standards name, with
            jackknife variances and, for the 95th, 2 n (1 - 0.95) degrees of freedom each: so few of n trials lie
            around the percentile and show its variance.
            No test without assumptions exists at the paper's level: the 95th percentile lies above all of 50 trials in
            7.7 % of cases. A permutation test asks whether whole distributions are equal, and counting exceedances over
            the other's percentile calls a steady algorithm worse than a volatile one of equal percentile. This one was
            chosen by simulation: over 36 pairs of shapes with equal percentiles (normal, gamma, exponential, uniform,
            bimodal, with a far tail) and 50 trials it is wrong in 3 to 7 % of cases at level 0.05, and at 0.003 in less
            than 0.3 % for equal shapes without a far tail, 0.7 % in the median and 3 % at worst. At other percentiles
            (10 to 99, 25 pairs of shapes) it is wrong in at most 9 % of cases at level 0.05, except where a
            distribution has a gap at the very percentile, such as the median of two far modes: 23 %.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dpbench.errors import InvalidInput
from dpbench.given import known, of_kind
from dpbench.measuring import Measurement, harrell_davis
from dpbench.measuring.distributions import both_tails
from dpbench.measuring.measurements import read_errors, read_percentile

if TYPE_CHECKING:
    from dpbench.results import Results
    from dpbench.standards import Standards

Floats = NDArray[np.float64]
Numbers = NDArray[np.int64]
"""Numbers of settings in some results."""


@dataclass(frozen=True)
class SignificanceTest(ABC):
    """A test of whether the errors of two settings differ."""

    name: ClassVar[str]
    """What plans, standards and the command line call it."""
    words: ClassVar[str]
    """What captions call it."""
    compares: ClassVar[Literal["mean", "percentile"]] = "mean"
    """The measurement that algorithms are ranked by before the best is tested against the others."""
    from_summaries: ClassVar[bool] = False
    """Whether it needs no more than trials, mean and deviation of every setting."""

    def measure_words(self, standards: Standards) -> str:
        """What algorithms are ranked by, in captions."""
        by = "mean" if self.compares == "mean" else f"the {standards.percentile_words} of the"
        return f"{by} {standards.error_words}"

    def score(self, results: Results) -> Floats:
        """What algorithms are ranked by, one number per setting; the lowest is the best."""
        return np.asarray(getattr(results.measured, self.compares))

    def insist_on_trials(self, results: Results) -> None:
        """Refuse results that have no errors of single trials by their loss, where the test needs them."""
        if not (self.from_summaries or results.single_trials):
            raise InvalidInput(
                f"the test {self.name} needs errors of single trials, and of the loss {results.standards.loss} these "
                f"results keep mean, deviation and 95th percentile; use the test unpaired, or a store"
            )

    def estimate(self, results: Results) -> Floats:
        """What the test takes differences of, one number per setting; the score unless a test says otherwise."""
        return self.score(results)

    def p_values(self, results: Results, one: Numbers, other: Numbers) -> Floats:
        """P-values of settings against settings, by number; numbers broadcast, and NaN stands where one is -1."""
        self.insist_on_trials(results)
        one, other = np.broadcast_arrays(one, other)
        valid = (one >= 0) & (other >= 0)
        found = np.full(one.shape, np.nan)
        if valid.any():
            found[valid] = self.of_pairs(results, one[valid], other[valid])
        return found

    @abstractmethod
    def of_pairs(self, results: Results, one: Numbers, other: Numbers) -> Floats:
        """P-values of pairs of settings that exist, ``(pairs,)``."""


@dataclass(frozen=True)
class Unpaired(SignificanceTest):
    """Welch's t-test on all trials, the paper's."""

    name = "unpaired"
    words = "unpaired t-test"
    from_summaries = True

    def of_pairs(self, results: Results, one: Numbers, other: Numbers) -> Floats:
        """From means and deviations alone."""
        measured = results.measured
        variance, freedom = measured.independent_error**2, np.maximum(measured.trials - 1, 1)
        return _welch(measured.mean, variance, freedom, one, other)


@dataclass(frozen=True)
class Paired(SignificanceTest):
    """The t-test on differences of means on common data vectors."""

    name = "paired"
    words = "paired t-test on common data vectors"

    def of_pairs(self, results: Results, one: Numbers, other: Numbers) -> Floats:
        """From the means of data vectors."""
        mean = vector_moments(results.errors)[0]
        return paired_p_values(mean[one], mean[other])


@dataclass(frozen=True)
class Blocked(SignificanceTest):
    """The t-test on the data vectors at hand."""

    name = "blocked"
    words = "t-test on these data vectors"

    def of_pairs(self, results: Results, one: Numbers, other: Numbers) -> Floats:
        """From means and variances of data vectors."""
        moments = vector_moments(results.errors)
        return blocked_p_values(*(part[at] for part in moments for at in (one, other)))


@dataclass(frozen=True)
class Percentile(SignificanceTest):
    """The test of the percentile that the standards of the results name."""

    name = "percentile"
    words = "t-test of percentiles"
    compares = "percentile"

    def estimate(self, results: Results) -> Floats:
        """Smooth estimates of the log percentile, which may order two settings otherwise than the percentile does."""
        self.insist_on_trials(results)
        return results.log_percentiles[0]

    def of_pairs(self, results: Results, one: Numbers, other: Numbers) -> Floats:
        """From smooth estimates and their jackknife variances."""
        return _welch(*results.log_percentiles, one, other)


TESTS = {test.name: test for test in (Unpaired(), Paired(), Blocked(), Percentile())}
"""Every test by its name."""


def find_test(test: str | SignificanceTest) -> SignificanceTest:
    """A test by its name; a test stays what it is."""
    return test if isinstance(test, SignificanceTest) else TESTS[known(test, "test", TESTS)]


def _welch(score: Floats, variance: Floats, freedom: Floats, one: Numbers, other: Numbers) -> Floats:
    """Welch's t-test on pairs of scores, each with its variance and the degrees of freedom of that."""
    pairs = [[each[one], each[other]] for each in (variance, freedom)]
    return t_p_values(score[one] - score[other], *pairs)


def t_p_values(difference: ArrayLike, variances: ArrayLike, freedoms: ArrayLike) -> Floats:
    """Two-sided p-values of a difference whose variance is a sum of estimates, each with its degrees of freedom.

    The estimates stand along the first axis. Without any variation a difference is certain (0), and so is its absence
    (1). NaN stays NaN.
    """
    difference, parts = np.asarray(difference, np.float64), np.asarray(variances, np.float64)
    total = parts.sum(axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        spread = (parts**2 / np.asarray(freedoms)).sum(axis=0)
        values = both_tails(total**2 / spread, difference / np.sqrt(total))
    certain = np.where(difference == 0.0, 1.0, 0.0)
    return np.where(total > 0, values, np.where(np.isnan(total + difference), np.nan, certain))


def unpaired_p_value(one: Measurement, other: Measurement) -> float:
    """Welch's unpaired t-test, from means and deviations alone.

    >>> from dpbench.measuring import measure
    >>> from dpbench.significance import unpaired_p_value
    >>> round(unpaired_p_value(measure([[1.0, 1.1, 0.9]]), measure([[1.2, 1.3, 1.1]])), 3)
    0.07
    """
    for each in (one, other):
        of_kind(each, Measurement, "a measurement", "dpbench.measuring.measure([[1.0, 1.2]])")
    variances = [each.deviation**2 / each.trials for each in (one, other)]
    freedoms = [each.trials - 1 for each in (one, other)]
    return float(t_p_values(one.mean - other.mean, variances, freedoms))


def paired_p_value(one: ArrayLike, other: ArrayLike) -> float:
    """The paired t-test on the means of common data vectors; errors are ``(samples, trials)``."""
    return float(paired_p_values(*_means_and_variances(one, other)[0]))


def blocked_p_value(one: ArrayLike, other: ArrayLike) -> float:
    """The test on the data vectors at hand; errors are ``(samples, trials)``."""
    means, variances, freedoms = _means_and_variances(one, other)
    return float(blocked_p_values(*means, *variances, *freedoms))


def percentile_p_value(one: ArrayLike, other: ArrayLike, percentile: float = 95) -> float:
    """The test for equal percentiles, of errors of any shape."""
    measured = [read_errors(each).reshape(1, -1) for each in (one, other)]
    if not all(each.size for each in measured):
        raise InvalidInput("there are no errors to compare; give those of at least one trial")
    parts = [tail_moments(each, read_percentile(percentile)) for each in measured]
    (first, first_variance, first_freedom), (second, second_variance, second_freedom) = parts
    return float(t_p_values(first - second, [first_variance, second_variance], [first_freedom, second_freedom])[0])


def paired_p_values(one: Floats, other: Floats) -> Floats:
    """Paired tests along the last axis of the means of data vectors; vectors that one lacks are left out."""
    differences = one - other
    number = np.isfinite(differences).sum(axis=-1)
    safe = np.where(number > 1, number, np.nan)
    mean = np.nansum(differences, axis=-1) / safe
    variance = np.nansum((differences - mean[..., None]) ** 2, axis=-1) / (safe - 1) / safe
    return t_p_values(mean, [variance], [safe - 1])


def blocked_p_values(
    one: Floats, other: Floats, one_variance: Floats, other_variance: Floats, one_freedom: Floats, other_freedom: Floats
) -> Floats:
    """Tests on the data vectors at hand, from means, variances of the means and degrees of freedom of each vector."""
    difference = one - other
    common = np.isfinite(difference + one_variance + other_variance)
    number = np.where(common.any(axis=-1), common.sum(axis=-1), np.nan)
    parts = [np.where(common, each, 0.0) / number[..., None] ** 2 for each in (one_variance, other_variance)]
    freedoms = [np.where(common, each, 1.0) for each in (one_freedom, other_freedom)]
    mean = np.where(common, difference, 0.0).sum(axis=-1) / number
    total = sum(part.sum(axis=-1) for part in parts)
    spread = sum((part**2 / freedom).sum(axis=-1) for part, freedom in zip(parts, freedoms, strict=True))
    with np.errstate(divide="ignore", invalid="ignore"):
        return t_p_values(mean, [np.asarray(total)], [np.asarray(total**2 / spread)])


def tail_moments(errors: Floats, percentile: float = 95) -> tuple[Floats, Floats, Floats]:
    """Estimate of the log of a percentile of each row, its variance and its degrees of freedom."""
    return ordered_tail_moments(np.sort(errors, axis=1), percentile)


def ordered_tail_moments(ordered: Floats, percentile: float = 95) -> tuple[Floats, Floats, Floats]:
    """The same of rows in ascending order, NaN behind them."""
    level = percentile / 100
    number = np.isfinite(ordered).sum(axis=1)
    logs = np.log(np.maximum(ordered, np.finfo(np.float64).tiny))
    estimate, variance = harrell_davis(logs, number, level)
    around = np.minimum(2 * number * min(level, 1 - level), number - 1)
    return estimate, variance, np.maximum(around, 1.0)


def vector_moments(errors: Floats) -> tuple[Floats, Floats, Floats]:
    """Means over trials along the last axis, the variances of these means, and their degrees of freedom."""
    there = np.isfinite(errors)
    number = there.sum(axis=-1)
    safe = np.where(number > 0, number, np.nan)
    mean = np.where(there, errors, 0.0).sum(axis=-1) / safe
    squares = np.where(there, (errors - mean[..., None]) ** 2, 0.0).sum(axis=-1)
    several = np.where(number > 1, number, np.nan)
    return mean, squares / (several - 1) / several, several - 1


def _means_and_variances(one: ArrayLike, other: ArrayLike) -> tuple[list[Floats], list[Floats], list[Floats]]:
    arrays = [read_errors(each) for each in (one, other)]
    if any(each.ndim != 2 for each in arrays) or len(arrays[0]) != len(arrays[1]):
        shapes = " and ".join(str(each.shape) for each in arrays)
        raise InvalidInput(
            f"errors of shape {shapes} were given; pairs need (samples, trials) on the same data vectors"
        )
    first, second = (vector_moments(each) for each in arrays)
    return [first[0], second[0]], [first[1], second[1]], [first[2], second[2]]
