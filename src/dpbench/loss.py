"""The loss (the paper's L): how far estimated answers are from the true ones, per query and per record."""

from __future__ import annotations

from math import isfinite
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dpbench.errors import InvalidDomain, InvalidInput, UnknownName
from dpbench.workloads.workload import ORDERS, Workload

LOSSES = ORDERS
"""The losses by name: L2 (the paper's), L1 and L-infinity."""


def scaled_error(
    workload: Workload, truth: ArrayLike, estimate: ArrayLike, loss: str = "L2", scale: float | None = None
) -> NDArray[np.float64]:
    """Return the scaled average per-query error ||W x - W xhat|| / (scale * q), one per trial: `(trials,)`.

    ``truth`` are the counts x `(*domain)`; ``estimate`` is `(trials, *domain)`, or `(*domain)` for one
    number. Dividing by the scale makes errors at different scales comparable. The paper divides any loss by
    (scale * q), and so does this, L2 and L-infinity included: an L2 loss of equal errors per query then
    falls like 1 / sqrt(q). ``scale`` is the sum of the truth unless given.
    """
    if loss not in LOSSES:
        raise UnknownName.among("loss", loss, LOSSES)
    counts = _histogram("truth", truth, workload)
    total = float(counts.sum()) if scale is None else _number("scale", scale)
    if not (isfinite(total) and total > 0):
        raise InvalidInput(f"the scale is {total:g} and the error is divided by it; give a positive scale")
    answered = np.asarray(estimate)
    if answered.dtype.kind not in "biuf":
        raise InvalidInput(f"an estimate of type {answered.dtype} was given; give an array of real numbers")
    if answered.shape[-counts.ndim :] != counts.shape or answered.ndim > counts.ndim + 1:
        raise InvalidDomain(
            f"an estimate of shape {answered.shape} does not fit counts of shape {counts.shape}; "
            f"give one estimate, or one per trial along a first axis"
        )
    error = workload.norm(_signed(answered) - _signed(counts), loss)
    queries = workload.queries
    return np.divide(error, total * float(queries or 1))


def population_error(
    workload: Workload, shape: ArrayLike, scale: float, estimate: ArrayLike, loss: str = "L2"
) -> NDArray[np.float64]:
    """Return the scaled error against the population that a sample was drawn from: `(trials,)`.

    The truth is scale * p, with p the histogram ``shape`` normalised to probabilities; sampling error counts
    here, where ``scaled_error`` measures against the sample itself.
    """
    histogram = _histogram("shape", shape, workload).astype(np.float64)
    total = float(histogram.sum())
    if not (isfinite(total) and total > 0 and (histogram >= 0).all()):
        raise InvalidInput(f"a shape with sum {total:g} is not a distribution; give non-negative numbers, not all 0")
    size = _number("scale", scale)
    return scaled_error(workload, size * (histogram / total), estimate, loss, scale=size)


def _histogram(what: str, given: ArrayLike, workload: Workload) -> NDArray[Any]:
    """Check that an array is one real number per cell of the workload's domain."""
    values = np.asarray(given)
    if values.dtype.kind not in "biuf":
        raise InvalidInput(f"the {what} is of type {values.dtype}; give an array of real numbers")
    if values.shape != workload.domain.shape:
        raise InvalidDomain(
            f"a {what} of shape {values.shape} does not fit a workload on domain {workload.domain}; "
            f"give shape {workload.domain.shape}"
        )
    if not np.isfinite(values).all():
        raise InvalidInput(f"the {what} has cells that are not finite numbers; give real numbers")
    return values


def _signed(values: NDArray[Any]) -> NDArray[Any]:
    """Make differences safe: whole numbers as int64, which may be negative, all else as float64."""
    return values.astype(np.float64 if values.dtype.kind == "f" else np.int64, copy=False)


def _number(what: str, given: object) -> float:
    """Read one real number."""
    if isinstance(given, int | float | np.integer | np.floating) and not isinstance(given, bool):
        return float(given)
    raise InvalidInput(f"the {what} is {given!r}; give a positive number")
