"""The loss (the paper's L): how far estimated answers are from the true ones, in one number per trial.

A loss is a value: a class with a ``name``, its parameters as fields. Defining the class registers it, so that
``dpb.loss.get``, a plan's ``loss`` and ``--loss`` find it by name, and the runner stores what it says of every trial.
In words a loss is its name, or its name with parameters: ``relative:floor=0.01``.
"""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import cached_property
from math import isfinite
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dpbench.errors import InvalidDomain, InvalidInput, UnknownName, shown
from dpbench.given import numbers, real
from dpbench.workloads import AllRange, Workload
from dpbench.workloads.summed_area import trial_blocks

Floats = NDArray[np.float64]

LOSSES: dict[str, type[Loss]] = {}
"""The losses by name."""


@dataclass(frozen=True, eq=False)
class Answers:
    """What a loss is shown: the errors of the answers on one data vector."""

    workload: Workload
    counts: NDArray[Any]
    """The true counts ``(*domain)``."""
    error: Floats
    """Estimated minus true answers, ``(trials, q)``."""
    scale: float
    """Number of records."""

    @cached_property
    def truth(self) -> NDArray[Any]:
        """The true answers, ``(q,)``; like the rest made on first use, for most losses do not ask."""
        return self.workload.answer(self.counts)

    @cached_property
    def size(self) -> Floats:
        """|error|, ``(trials, q)``."""
        return np.abs(self.error)

    @cached_property
    def squares(self) -> Floats:
        """Sum over queries of the squared error, ``(trials,)``."""
        return np.asarray(np.einsum("tq,tq->t", self.error, self.error))


@dataclass(frozen=True, kw_only=True)
class Loss(ABC):
    """A loss: the errors of all answers of a trial as one number.

    A loss of one's own is a class with a ``name`` and a method ``errors``; parameters are fields of a keyword-only
    frozen dataclass, each with a default, and hold numbers, truth values or words.

    >>> import dpbench as dpb
    >>> class Worst(dpb.loss.Loss):
    ...     name = "worst"
    ...     def errors(self, answers):
    ...         return answers.size.max(axis=1) / answers.scale
    ...
    >>> dpb.loss.scaled_error(dpb.workloads.Prefix(2), [4, 6], [[7, 7]], loss="worst")
    array([0.4])
    """

    name: ClassVar[str]
    """The name in plans, tables and stores."""
    revision: ClassVar[int] = 1
    """Raised when a built-in loss measures differently."""

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        name = vars(cls).get("name")
        if name is None:  # a family of losses, such as the norms
            return
        known = LOSSES.get(name)
        if not name or any(mark in name for mark in ":,=") or not name.isprintable():
            raise InvalidInput(f"a loss is named {shown(name)}; give a name without ':', ',' and '='")
        if known is not None and (known.__module__, known.__qualname__) != (cls.__module__, cls.__qualname__):
            raise InvalidInput(f"{cls.__qualname__} is named {name}, as {known.__qualname__} is; rename one")
        LOSSES[name] = cls

    @abstractmethod
    def errors(self, answers: Answers) -> Floats:
        """One error per trial, ``(trials,)``, comparable between scales and numbers of queries."""

    def _of(self, workload: Workload, counts: NDArray[Any], difference: NDArray[Any], scale: float) -> Floats:
        """Errors of estimates that differ from the counts by ``difference``, `(trials, *domain)`: `(trials,)`.

        Trials are taken in blocks, so that the answers never exist all at once.
        """
        blocks = trial_blocks(len(difference), max(workload.queries or 0, workload.domain.size))
        answered = (workload.answer(difference[rows]).astype(np.float64, copy=False) for rows in blocks)
        return np.concatenate([self.errors(Answers(workload, counts, error, scale)) for error in answered])

    @property
    def label(self) -> str:
        """The name, with the parameters that differ from their defaults: what :func:`get` reads."""
        given = [(each, getattr(self, each.name)) for each in fields(self)]
        words = [f"{each.name}={_written(value)}" for each, value in given if value != each.default]
        return self.name + (f":{','.join(words)}" if words else "")

    @classmethod
    def describe(cls) -> str:
        """One line for a catalogue."""
        return (cls.__doc__ or cls.name).strip().splitlines()[0]


class _Norm(Loss):
    """A norm over the queries, divided by scale * q, as the paper divides any loss.

    Dividing by the scale makes errors at different scales comparable. L2 and L-infinity are divided by q as well: an
    L2 loss of equal errors per query falls like 1 / sqrt(q).
    """

    @abstractmethod
    def _norm_of(self, answers: Answers) -> Floats:
        """||error||, ``(trials,)``."""

    def errors(self, answers: Answers) -> Floats:
        """||error|| / (scale * q)."""
        return np.divide(self._norm_of(answers), answers.scale * float(answers.error.shape[1]))

    def _of(self, workload: Workload, counts: NDArray[Any], difference: NDArray[Any], scale: float) -> Floats:
        """As for any loss, except that the norms over all ranges have formulas, for there are too many to list."""
        if isinstance(workload, AllRange):
            return np.divide(workload.norm(difference, self.name), scale * float(workload.queries))
        return super()._of(workload, counts, difference, scale)


class L2(_Norm):
    """Root of the sum of squared errors over queries, per query and record: the paper's loss."""

    name = "L2"

    def _norm_of(self, answers: Answers) -> Floats:
        """Root of the sum of squares."""
        return np.sqrt(answers.squares)


class L1(_Norm):
    """Mean absolute error of a query, as a share of the records."""

    name = "L1"

    def _norm_of(self, answers: Answers) -> Floats:
        """Sum of absolute errors."""
        return np.asarray(answers.size.sum(axis=1))


class Linf(_Norm):
    """Largest absolute error of a query, per query and record."""

    name = "Linf"

    def _norm_of(self, answers: Answers) -> Floats:
        """Largest absolute error."""
        return np.asarray(answers.size.max(axis=1))


@dataclass(frozen=True, kw_only=True)
class Relative(Loss):
    """Mean over queries of |error| / max(|true answer|, floor * scale).

    It is free of the scale already, so nothing more is divided by it. The floor keeps queries with few or no records
    from deciding everything; 0.001 of the records is the usual choice for range queries. With a floor of 1 the loss is
    L1, as long as no true answer exceeds the scale.
    """

    name = "relative"

    floor: float = 0.001
    """Share of the records below which a true answer counts as that share."""

    def __post_init__(self) -> None:
        floor, advice = "the floor of the relative loss", "a share of the records, above 0 and at most 1"
        share = real(self.floor, floor, advice)
        if not 0 < share <= 1:
            raise InvalidInput(f"{floor} is {shown(self.floor)}; give {advice}")
        object.__setattr__(self, "floor", share)

    def errors(self, answers: Answers) -> Floats:
        """Relative errors, averaged over queries."""
        least = np.maximum(np.abs(answers.truth), self.floor * answers.scale)
        return np.asarray((answers.size / least).mean(axis=1))


LossLike = Loss | str | Mapping[str, Any]


def get(given: LossLike) -> Loss:
    """Find a loss: ``"L1"``, ``"relative:floor=0.01"``, ``{"name": "relative", "floor": 0.01}``, or a loss itself.

    >>> import dpbench as dpb
    >>> dpb.loss.get("relative:floor=0.01")
    Relative(floor=0.01)
    >>> dpb.loss.get({"name": "relative", "floor": 0.01}).label
    'relative:floor=0.01'
    """
    if isinstance(given, Loss):
        return given
    parts = _read(given) if isinstance(given, str) else given
    name = parts.get("name") if isinstance(parts, Mapping) else given
    if not isinstance(name, str) or name not in LOSSES:
        raise UnknownName.among("loss", name, LOSSES)
    parameters = {key: value for key, value in parts.items() if key != "name"}
    known = [each.name for each in fields(LOSSES[name])]
    for key, value in parameters.items():
        if key not in known:
            raise UnknownName.among(f"parameter of the loss {name}", key, known)
        if not isinstance(value, int | float | str) or (isinstance(value, str) and any(mark in value for mark in ",=")):
            raise InvalidInput(f"the parameter {key} of the loss {name} is {shown(value)}; give a number or a word")
    return LOSSES[name](**parameters)


def _read(text: str) -> dict[str, Any]:
    """The parts of ``name:parameter=value,parameter=value``."""
    name, colon, rest = text.partition(":")
    parts: dict[str, Any] = {"name": name}
    for word in rest.split(",") if colon else ():
        key, equals, value = word.partition("=")
        if not (key and equals and value) or key in parts:
            raise InvalidInput(f"cannot read the loss {shown(text)}; write for example relative:floor=0.01")
        try:
            parts[key] = json.loads(value)
        except ValueError:
            parts[key] = value
    return parts


def _written(value: object) -> str:
    """A parameter as :func:`_read` reads it."""
    return value if isinstance(value, str) else json.dumps(value)


def label_of(given: LossLike) -> str:
    """The label under which results hold a loss; text of a loss that is not defined here is taken as its label.

    Whoever reads stored errors does not need the code that made them.
    """
    try:
        return get(given).label
    except UnknownName:
        if isinstance(given, str):
            return given
        raise


def scaled_error(
    workload: Workload, truth: ArrayLike, estimate: ArrayLike, loss: LossLike = "L2", scale: float | None = None
) -> Floats:
    """Return the error of each trial, `(trials,)`: for L2, ||W x - W xhat||_2 / (scale * q).

    ``truth`` are the counts x `(*domain)`; ``estimate`` is `(trials, *domain)`, or `(*domain)` for one
    number. ``scale`` is the sum of the truth unless given.

    >>> import dpbench as dpb
    >>> workload = dpb.workloads.Prefix(2)
    >>> dpb.loss.scaled_error(workload, [4, 6], [[7, 7], [4, 6]])
    array([0.25, 0.  ])
    >>> dpb.loss.scaled_error(workload, [4, 6], [[7, 7], [4, 6]], loss="L1")
    array([0.35, 0.  ])
    """
    chosen = get(loss)
    counts = _histogram("truth", truth, workload)
    with np.errstate(over="ignore"):
        total = float(counts.sum(dtype=np.float64)) if scale is None else real(scale, "the scale", "a positive number")
    if not (isfinite(total) and total > 0):
        raise InvalidInput(f"the scale is {total:g} and the error is divided by it; give a positive scale")
    answered = numbers(estimate, "estimate")
    if answered.shape[-counts.ndim :] != counts.shape or answered.ndim > counts.ndim + 1:
        raise InvalidDomain(
            f"an estimate of shape {answered.shape} does not fit counts of shape {counts.shape}; "
            f"give one estimate, or one per trial along a first axis"
        )
    with np.errstate(over="ignore", invalid="ignore"):
        difference = answered - counts
        single = difference.ndim == counts.ndim
        errors = chosen._of(workload, counts, difference[np.newaxis] if single else difference, total)
    if not np.isfinite(errors).all():
        raise InvalidInput(f"the loss {chosen.label} of these estimates is no finite number; give smaller numbers")
    # a numpy scalar for a single estimate: it has the methods of an array and prints as a number
    return errors[0] if single else errors


def population_error(
    workload: Workload, shape: ArrayLike, scale: float, estimate: ArrayLike, loss: LossLike = "L2"
) -> Floats:
    """Return the error against the population that a sample was drawn from: `(trials,)`.

    The truth is scale * p, with p the histogram ``shape`` normalised to probabilities; sampling error counts
    here, where ``scaled_error`` measures against the sample itself.

    >>> import dpbench as dpb
    >>> float(dpb.loss.population_error(dpb.workloads.Prefix(2), [1, 1], 10, [4, 6]))
    0.05
    """
    histogram = _histogram("shape", shape, workload).astype(np.float64)
    with np.errstate(over="ignore"):
        total = float(histogram.sum())
    if not (isfinite(total) and total > 0 and (histogram >= 0).all()):
        raise InvalidInput(f"a shape with sum {total:g} is not a distribution; give non-negative numbers, not all 0")
    size = real(scale, "the scale", "a positive number")
    return scaled_error(workload, size * (histogram / total), estimate, loss, scale=size)


def _histogram(what: str, given: ArrayLike, workload: Workload) -> NDArray[Any]:
    """Check that an array is one real number per cell of the workload's domain."""
    values = numbers(given, what)
    domain = Workload.insist(workload).domain
    if values.shape != domain.shape:
        raise InvalidDomain(
            f"a {what} of shape {values.shape} does not fit a workload on domain {domain}; give shape {domain.shape}"
        )
    return values
