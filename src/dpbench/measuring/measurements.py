"""What is kept of the errors of many trials, for one setting or for thousands at once.

A study has two stages: data vectors are drawn from a shape, and each is given to an algorithm several times. Trials on
one data vector share it, so that 5 x 10 errors say less of the mean than 50 independent ones would. The standard error
of the mean is therefore that of the means of data vectors, sqrt(S/(S-1) sum_s (w_s (m_s - m))^2) with w_s the share of
the trials on vector s; for equal numbers it is the deviation of the S means over sqrt(S). It is right whatever the
correlation within a vector, and it has S - 1 degrees of freedom: 5 vectors give it within a factor of about 1.6. The
same formula on (error - mean)^2 gives the standard error of the variance, and over 2 deviations that of the deviation.
Where there is one data vector only, trials are all there is, and the errors are those on that vector.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dpbench.errors import InvalidInput, NoSuchSetting, shown
from dpbench.given import real, whole
from dpbench.measuring.quantiles import AT_ONCE, order_interval, quantile

Floats = NDArray[np.float64]

LARGEST = 1e100
"""Errors are at most that."""


@dataclass(frozen=True)
class Measurement:
    """What is kept of the errors of many trials in one setting."""

    samples: int
    """Data vectors."""
    trials: int
    """Trials on all of them together."""
    mean: float
    standard_error: float
    """Of the mean, over draws of data vectors and of noise."""
    deviation: float
    """Standard deviation of a single trial's error."""
    deviation_error: float
    """Standard error of the deviation."""
    percentile: float
    """The percentile asked for, 95 by default: what a risk-averse user looks at."""
    percentile_low: float
    """Lower end of an interval for the percentile; see :func:`order_interval`."""
    percentile_high: float
    """Upper end; at most the largest error seen."""
    percentile_coverage: float
    """How often such an interval holds the percentile: 50 trials do not reach 0.95."""

    @property
    def independent_error(self) -> float:
        """Standard error of the mean if all trials were independent, as the paper's t-test takes them."""
        return float(self.deviation / np.sqrt(self.trials))


@dataclass(frozen=True)
class Measurements:
    """The same for many settings: an array ``(settings,)`` for each; NaN where trials are too few.

    What takes long, and is not always asked for, is made on first use.
    """

    errors: Floats
    """``(settings, samples, trials)``: the errors that were measured, NaN where a trial was not run."""
    samples: NDArray[np.int64]
    trials: NDArray[np.int64]
    mean: Floats
    level: float
    """Which quantile the percentile is."""

    @cached_property
    def deviation(self) -> Floats:  # noqa: D102
        return self._in_parts(_deviation)

    @cached_property
    def ordered(self) -> Floats:
        """``(settings, trials)``: the errors in ascending order, NaN behind them."""
        return np.sort(self.errors.reshape(len(self.errors), self.errors.shape[1] * self.errors.shape[2]), axis=1)

    @cached_property
    def percentile(self) -> Floats:  # noqa: D102
        return quantile(self.ordered, self.trials, self.level)

    @cached_property
    def standard_error(self) -> Floats:  # noqa: D102
        return self._in_parts(lambda part: _two_stage_error(part._centred, part._per_vector))

    @cached_property
    def deviation_error(self) -> Floats:  # noqa: D102
        squares = self._centred**2
        mean_square = squares.sum(axis=(1, 2)) / np.maximum(self.trials, 1)
        around = np.where(np.isfinite(self.errors), squares - mean_square[:, None, None], 0.0)
        with np.errstate(divide="ignore", invalid="ignore"):
            found = _two_stage_error(around, self._per_vector) / (2 * self.deviation)
        return np.where(self.deviation > 0, found, np.where(self.trials > 1, 0.0, np.nan))

    def _in_parts(self, made: Callable[[Measurements], Floats]) -> Floats:
        """A number for every setting, made for as many settings at a time as stay in a processor's cache."""
        many = max(AT_ONCE // max(self.errors.shape[1] * self.errors.shape[2], 1), 1)
        parts = [slice(first, first + many) for first in range(0, max(len(self.errors), 1), many)]
        every = [
            Measurements(self.errors[at], self.samples[at], self.trials[at], self.mean[at], self.level) for at in parts
        ]
        return np.concatenate([made(part) for part in every])

    @property
    def _centred(self) -> Floats:
        """Errors less the mean of their setting; 0 where a trial was not run."""
        centred = self.errors - self.mean[:, None, None]
        if not self._complete:
            centred[~np.isfinite(centred)] = 0.0
        return centred

    @property
    def _complete(self) -> bool:
        """Whether every trial was run."""
        return bool((self.trials == self.errors.shape[1] * self.errors.shape[2]).all())

    @property
    def _per_vector(self) -> NDArray[np.int64]:
        if self._complete:
            return np.full(self.errors.shape[:2], self.errors.shape[2])
        return np.asarray(np.isfinite(self.errors).sum(axis=2))

    @cached_property
    def _interval(self) -> tuple[Floats, Floats, Floats]:
        return order_interval(self.ordered, self.trials, self.level)

    @property
    def percentile_low(self) -> Floats:  # noqa: D102
        return self._interval[0]

    @property
    def percentile_high(self) -> Floats:  # noqa: D102
        return self._interval[1]

    @property
    def percentile_coverage(self) -> Floats:  # noqa: D102
        return self._interval[2]

    @property
    def independent_error(self) -> Floats:
        """Standard error of the mean if all trials were independent, as the paper's t-test takes them."""
        return np.asarray(self.deviation / np.sqrt(np.maximum(self.trials, 1)))

    @property
    def intraclass(self) -> Floats:
        """Share of the variance of an error that lies between data vectors, by the analysis of variance.

        0 where trials on one vector are as different as trials on two; estimates below 0 are possible.
        """
        per_vector = self.trials / np.maximum(self.samples, 1)
        with np.errstate(divide="ignore", invalid="ignore"):
            effect = (self.standard_error / self.independent_error) ** 2
            return np.asarray((effect - 1) / (per_vector - 1))

    def _take(self, numbers: NDArray[np.int64], errors: Floats) -> Measurements:
        """Those of some settings, with their errors; nothing that was made is made again."""
        taken = Measurements(errors, self.samples[numbers], self.trials[numbers], self.mean[numbers], self.level)
        made = ("deviation", "percentile", "standard_error", "deviation_error")
        vars(taken).update({name: vars(self)[name][numbers] for name in made if name in vars(self)})
        return taken

    def __getitem__(self, number: int) -> Measurement:
        whole(number, "the number of a setting", -len(self.mean), len(self.mean) - 1, NoSuchSetting)
        return Measurement(**{each.name: getattr(self, each.name)[number].item() for each in fields(Measurement)})


def read_errors(errors: ArrayLike) -> Floats:
    """Errors as they are compared: NaN where a trial was not run, and none whose square is no finite number."""
    try:
        values = np.array(np.ma.filled(errors, np.nan) if isinstance(errors, np.ma.MaskedArray) else errors, np.float64)
    except Exception:  # no numbers, rows of unequal lengths, or whatever a stranger's __array__ raises
        raise InvalidInput(f"the errors are {shown(errors)}; give an array of real numbers") from None
    if (np.abs(values) > LARGEST).any():
        raise InvalidInput(f"there are errors above {LARGEST:g}, whose squares are no numbers; give smaller ones")
    return values


def read_percentile(given: object) -> float:
    """A percentile between 0 and 100."""
    percentile = real(given, "the percentile", "a number between 0 and 100")
    if not 0 < percentile < 100:
        raise InvalidInput(f"the percentile is {percentile:g}; give a number between 0 and 100")
    return percentile


def measure(errors: ArrayLike, percentile: float = 95) -> Measurement:
    """Measure one setting: errors ``(samples, trials)``, or ``(trials,)`` that are independent of each other."""
    values = read_errors(errors)
    level = read_percentile(percentile)
    number = int(np.isfinite(values).sum())
    if number < 2:
        raise InvalidInput(f"{number} errors were given; variability needs at least 2 trials")
    if values.ndim == 1:
        values = values.reshape(1, -1)
    if values.ndim != 2:
        raise InvalidInput(f"errors of shape {values.shape} were given; give (samples, trials)")
    return measure_all(values[np.newaxis], level)[0]


def measure_all(errors: Floats, percentile: float = 95) -> Measurements:
    """Measure many settings at once: ``(settings, samples, trials)``, NaN where a trial was not run."""
    settings, samples, trials = errors.shape
    total = errors.sum(axis=(1, 2))
    if np.isfinite(total).all():  # every trial was run: there is no gap to look for
        vectors, number = (np.full(settings, each) for each in (samples if trials else 0, samples * trials))
    else:
        there = np.isfinite(errors)
        vectors, number = there.any(axis=2).sum(axis=1), there.sum(axis=(1, 2))
        total = np.where(there, errors, 0.0).sum(axis=(1, 2))
    mean = np.where(number > 0, total / np.maximum(number, 1), np.nan)
    return Measurements(errors, vectors, number, mean, percentile / 100)


def _deviation(measured: Measurements) -> Floats:
    squares, trials = _sum_of_squares(measured._centred), measured.trials
    return np.asarray(np.sqrt(np.where(trials > 1, squares / np.maximum(trials - 1, 1), np.nan)))


def _sum_of_squares(values: Floats) -> Floats:
    """Over the trials of each setting, without an array of all squares."""
    return np.asarray(np.einsum("ijk,ijk->i", values, values))


def _two_stage_error(centred: Floats, per_vector: NDArray[np.int64]) -> Floats:
    """Standard error of the mean of values that sum to 0 and share data vectors; see the module's docstring."""
    number = per_vector.sum(axis=1)
    samples = (per_vector > 0).sum(axis=1)
    safe = np.maximum(number, 1)
    between = ((centred.sum(axis=2) / safe[:, None]) ** 2).sum(axis=1) * samples / np.maximum(samples - 1, 1)
    within = _sum_of_squares(centred) / safe / np.maximum(number - 1, 1)
    chosen = np.where(samples > 1, between, within)
    return np.asarray(np.sqrt(np.where(number > 1, chosen, np.nan)))
