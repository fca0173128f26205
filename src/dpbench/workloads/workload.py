"""What every workload can do, whatever form its ranges have."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from functools import cached_property
from hashlib import sha256
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from dpbench.domain import Domain, DomainLike
from dpbench.errors import InvalidDomain, InvalidInput, InvalidWorkload
from dpbench.given import afford, known, numbers, of_kind
from dpbench.workloads.summed_area import by_row, trial_blocks

if TYPE_CHECKING:
    from dpbench.workloads.axis import AxisRanges
    from dpbench.workloads.ranges import Ranges

ORDERS = ("L2", "L1", "Linf")
"""The norms over the queries of a workload that ``Workload.norm`` knows."""

MATRIX_LIMIT = 10**7
"""How many entries a dense matrix may have; it exists for small tests."""


class Workload(ABC):
    """A set of range queries over a domain: each the weighted sum of the cells in a half-open box.

    A workload of one's own needs only ``ranges()``; the workloads here override what they can do without a
    list. Workloads are values: two are equal when their keys are.
    """

    name: ClassVar[str] = "Workload"
    """The name in tables and plans."""
    revision: ClassVar[int] = 1
    """Raised when a built-in workload answers differently."""

    def __init__(self, domain: DomainLike) -> None:
        self._domain = Domain.of(domain)

    @abstractmethod
    def ranges(self) -> Ranges:
        """Return the same queries as a list of boxes and weights, in the order of ``answer``."""

    @property
    def domain(self) -> Domain:
        """The grid of cells that the ranges are over."""
        return self._domain

    @property
    def queries(self) -> int | None:
        """How many queries there are (the paper's q); None where the workload is a distribution."""
        return self.ranges().queries

    @property
    def axes(self) -> tuple[AxisRanges, ...] | None:
        """One distribution over 1-D ranges per axis, where the workload is exactly their product."""
        return None

    @cached_property
    def key(self) -> str:
        """A sha256 of the kind, the domain and every parameter: different workloads never share one."""
        kind = type(self)
        origin = "" if kind.__module__.startswith("dpbench.") else f"{kind.__module__}."
        digest = sha256(f"{origin}{kind.__qualname__}|{self.domain}".encode())
        for part in self._contents():
            digest.update(b"|%d|" % len(part))
            digest.update(part)
        return digest.hexdigest()

    @cached_property
    def sensitivity(self) -> float:
        """The most that all answers together change, in L1, when one record is added or removed.

        It is the largest, over cells, sum of |weight| over the queries that cover the cell.
        """
        return self.ranges().sensitivity

    def answer(self, estimate: NDArray[Any]) -> NDArray[Any]:
        """Answer every query: `(trials, *domain)` to `(trials, q)`, or `(*domain)` to `(q,)`.

        Integers give exact int64 answers unless a weight differs from 1; all else is float64.

        >>> import dpbench as dpb
        >>> import numpy as np
        >>> dpb.workloads.Prefix(3).answer(np.array([[1, 2, 3], [0, 0, 1]]))
        array([[1, 3, 6],
               [0, 0, 1]])
        """
        values, single = self._batch(estimate)
        afford(len(values) * (self.queries or 0), f"the answers of {len(values)} trials")
        with np.errstate(over="ignore", invalid="ignore"):
            blocks = [self._answer(values[rows]) for rows in trial_blocks(len(values), self.domain.size)]
        answers = _finite(np.concatenate(blocks) if len(blocks) > 1 else blocks[0])
        return answers[0] if single else answers

    def norm(self, difference: NDArray[Any], order: str = "L2") -> NDArray[np.float64]:
        """Take the norm over the queries of W·difference: `(trials, *domain)` to `(trials,)`.

        ``order`` is "L2" (root of the sum of squares), "L1" (sum) or "Linf" (largest absolute answer). One
        vector `(*domain)` gives one number.
        """
        kind = known(order, "norm", ORDERS)
        return self._by_trial(difference, lambda values: self._norm(values, kind))

    def mean_squared(self, difference: NDArray[Any]) -> NDArray[np.float64]:
        """Average the squared answer to W·difference over the queries, by trial: `(trials,)`."""
        return self._by_trial(difference, self._mean_squared)

    def matrix(self) -> NDArray[np.float64]:
        """Make the dense matrix W, `(q, cells)`, for small cases only."""
        queries = self.queries
        if queries is not None and queries * self.domain.size > MATRIX_LIMIT:
            raise InvalidWorkload(
                f"the matrix of {self!r} has {queries} x {self.domain.size} entries and at most "
                f"{MATRIX_LIMIT} are made; use answer(), which needs no matrix"
            )
        listed = self.ranges()
        rows = listed.weights[:, np.newaxis]
        for axis, side in enumerate(self.domain):
            cell = np.arange(side)
            inside = (listed.lower[:, axis, np.newaxis] <= cell) & (cell < listed.upper[:, axis, np.newaxis])
            rows = (rows[:, :, np.newaxis] * inside[:, np.newaxis, :]).reshape(listed.queries, -1)
        return rows

    @staticmethod
    def insist(given: object) -> Workload:
        """What was given where a workload is wanted, if it is one."""
        found: Workload = of_kind(given, Workload, "the workload", "dpb.workloads.Prefix(1024)", InvalidWorkload)
        return found

    @classmethod
    def describe(cls) -> str:
        """One line for a catalogue."""
        return (cls.__doc__ or cls.name).strip().splitlines()[0]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Workload) and self.key == other.key

    def __hash__(self) -> int:
        return hash(self.key)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.domain})"

    def _contents(self) -> tuple[bytes, ...]:
        """Whatever distinguishes this workload from others of its kind and domain."""
        listed = self.ranges()
        return (listed.lower.tobytes(), listed.upper.tobytes(), listed.weights.tobytes())

    def _answer(self, values: NDArray[Any]) -> NDArray[Any]:
        """Answers of a checked batch `(trials, *domain)`: `(trials, q)`."""
        return self.ranges()._answer(values)

    def _norm(self, values: NDArray[Any], order: str) -> NDArray[np.float64]:
        """Norms of a checked batch, in blocks of trials so that the answers never exist all at once."""
        result = np.empty(len(values))
        for rows in trial_blocks(len(values), max(self.queries or 0, self.domain.size)):
            answers = np.abs(self._answer(values[rows]).astype(np.float64, copy=False))
            if order == "L2":
                result[rows] = np.sqrt(np.einsum("tq,tq->t", answers, answers))
            elif order == "L1":
                result[rows] = answers.sum(axis=1)
            else:
                result[rows] = answers.max(axis=1)
        return result

    def _mean_squared(self, values: NDArray[Any]) -> NDArray[np.float64]:
        """Mean squared answers of a checked batch."""
        return np.asarray(self._norm(values, "L2") ** 2 / (self.queries or 1))

    def _by_trial(
        self, difference: NDArray[Any], measure: Callable[[NDArray[Any]], NDArray[np.float64]]
    ) -> NDArray[np.float64]:
        values, single = self._batch(difference)
        with np.errstate(over="ignore", invalid="ignore"):
            result = _finite(measure(values))
        # a numpy scalar for a single vector: it has the methods of an array and prints as a number
        return result[0] if single else result

    def _batch(self, estimate: NDArray[Any]) -> tuple[NDArray[Any], bool]:
        """Check the shape and bring the values to `(trials, *domain)` in int64 or float64."""
        values = numbers(estimate, "estimate")
        single = values.ndim == self.domain.ndim
        if values.shape[-self.domain.ndim :] != self.domain.shape or values.ndim > self.domain.ndim + 1:
            raise InvalidDomain(
                f"an array of shape {values.shape} does not fit a workload on domain {self.domain}; "
                f"give shape {self.domain.shape} or {('trials', *self.domain.shape)}".replace("'", "")
            )
        values = values[np.newaxis] if single else values
        if values.dtype == np.int64 and values.size:
            bound = int(max(values.max(), -values.min())) * self.domain.size
            if bound >= 2**63 and by_row(np.abs(values)).sum(axis=1, dtype=np.float64).max() >= 2**62:
                raise InvalidInput("the answers are beyond 2^62, where whole numbers wrap around; give float64 numbers")
        return values, single


def _finite(answers: NDArray[Any]) -> NDArray[Any]:
    """Refuse sums that no float64 holds."""
    if answers.dtype.kind == "f" and answers.size and not (np.isfinite(answers.max()) and np.isfinite(answers.min())):
        raise InvalidInput("the answers are too large for floats; give smaller numbers or weights")
    return answers
