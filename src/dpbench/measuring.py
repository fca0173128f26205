"""Standards for measuring error (the paper's E_M)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from dpbench.errors import InvalidInput


@dataclass(frozen=True)
class Measurement:
    """What is kept of the errors of many trials in one setting."""

    trials: int
    mean: float
    deviation: float
    """Standard deviation of a single trial's error."""
    percentile: float
    """95th percentile: what a risk-averse user looks at."""

    @property
    def standard_error(self) -> float:
        """Uncertainty of the mean, for independent trials."""
        return float(self.deviation / np.sqrt(self.trials))


def measure(errors: ArrayLike, percentile: float = 95) -> Measurement:
    """Mean, deviation and percentile of errors of any shape."""
    values = np.asarray(errors, dtype=np.float64).reshape(-1)
    if len(values) < 2:
        raise InvalidInput(f"{len(values)} errors were given; variability needs at least 2 trials")
    return Measurement(
        trials=len(values),
        mean=float(values.mean()),
        deviation=float(values.std(ddof=1)),
        percentile=float(np.percentile(values, percentile)),
    )
