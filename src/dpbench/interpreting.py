"""Standards for interpreting error (the paper's E_I)."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from dpbench.errors import InvalidInput
from dpbench.measuring import Measurement


def unpaired_p_value(one: Measurement, other: Measurement) -> float:
    """Two-sided p-value of Welch's unpaired t-test, from means and deviations alone.

    Welch's form does not assume equal variances, which a noisy and a nearly deterministic algorithm do not have; for
    equal numbers of trials its statistic is that of the pooled test.
    """
    from scipy.special import stdtr

    first, second = one.deviation**2 / one.trials, other.deviation**2 / other.trials
    if first + second == 0.0:
        return 1.0 if one.mean == other.mean else 0.0
    statistic = abs(one.mean - other.mean) / np.sqrt(first + second)
    freedom = (first + second) ** 2 / (first**2 / (one.trials - 1) + second**2 / (other.trials - 1))
    return float(2.0 * stdtr(freedom, -statistic))


def competitive(measurements: Mapping[str, Measurement], alpha: float = 0.05) -> set[str]:
    """Names with the lowest mean error in a setting, or not significantly above it.

    Bonferroni: each of the n - 1 comparisons with the best is made at alpha / (n - 1).
    """
    if not measurements:
        raise InvalidInput("no measurements were given; competitive sets need at least one algorithm")
    best = min(measurements, key=lambda name: measurements[name].mean)
    level = alpha / max(len(measurements) - 1, 1)
    return {
        name
        for name, measurement in measurements.items()
        if name == best or unpaired_p_value(measurement, measurements[best]) >= level
    }
