"""Losses of which a summary keeps three numbers per setting in place of the error of every trial."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpbench.errors import InvalidInput
from dpbench.measuring import Measurements, measure_all

Floats = NDArray[np.float64]

SUMMARISED = {"L1": "l1", "Linf": "linf", "relative": "relative"}
"""By label, the beginning of the names of their columns."""
KEPT = {"mean": "mean", "sd": "deviation", "p95": "percentile"}
"""What is kept: the end of a column's name, and the measurement that it holds."""
LEVEL = 95
"""The percentile that is kept."""
LOSS_SUMMARIES = tuple(f"{prefix}_{end}" for prefix in SUMMARISED.values() for end in KEPT)
"""The names of all these columns."""


def summarise(losses: Mapping[str, Floats], ran: NDArray[np.int64]) -> dict[str, Floats]:
    """The columns of every such loss; NaN where it was not measured in each of the ``ran`` trials of a setting."""
    columns: dict[str, Floats] = {}
    for label, prefix in SUMMARISED.items():
        if label in losses:
            measured = measure_all(losses[label], LEVEL)
            known = np.where(measured.trials == ran, 1.0, np.nan)
            columns |= {f"{prefix}_{end}": known * getattr(measured, name) for end, name in KEPT.items()}
        else:
            columns |= {f"{prefix}_{end}": np.full(len(ran), np.nan) for end in KEPT}
    return columns


def summary_words(label: str) -> str:
    """What cannot be said by a loss that was summarised, in one line."""
    return (
        f"of the loss {label} these results keep mean, deviation and {LEVEL}th percentile per setting: no standard "
        f"errors, no intervals, no test of percentiles; their store has the errors of single trials"
    )


def is_summarised(columns: Mapping[str, NDArray[Any]], label: str) -> bool:
    """Whether any setting has all three numbers by a loss; summaries before format 4 lack the deviations."""
    prefix = SUMMARISED.get(label)
    return prefix is not None and all(np.isfinite(columns[f"{prefix}_{end}"]).any() for end in KEPT)


def measured_by_summary(
    columns: Mapping[str, NDArray[Any]], label: str, trials: Floats, percentile: float
) -> Measurements:
    """Measurements by a summarised loss: mean, deviation and percentile; what needs single trials is NaN.

    ``trials`` has the errors by a loss that was kept of every trial, ``(settings, samples, trials)``.
    """
    if percentile != LEVEL:
        raise InvalidInput(
            f"of the loss {label} these results keep the {LEVEL}th percentile and not the {percentile:g}th; "
            f"read them by the {LEVEL}th, or from their store"
        )
    there = np.isfinite(trials)
    mean, deviation, high = (columns[f"{SUMMARISED[label]}_{end}"] for end in KEPT)
    known = np.isfinite(mean)
    unknown = np.full(len(mean), np.nan)
    found = Measurements(
        errors=np.full(trials.shape, np.nan),
        samples=np.where(known, there.any(axis=2).sum(axis=1), 0),
        trials=np.where(known, there.sum(axis=(1, 2)), 0),
        mean=mean,
        level=LEVEL / 100,
    )
    kept = {"deviation": deviation, "percentile": high, "standard_error": unknown, "deviation_error": unknown}
    vars(found).update(kept)  # none is to be made of trials
    return found
