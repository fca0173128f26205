"""An algorithm under examination, and the small problems that it is examined on."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpbench.algorithm import Algorithm, Outcome, SideInformation
from dpbench.domain import Domain
from dpbench.errors import BudgetExceeded, BudgetNotSpent, CheckFailed, DPBenchError, Unsupported
from dpbench.privacy.budget import exact
from dpbench.workloads import Prefix, RandomRange, Ranges, Workload

REVISION = 2
"""Raised when the audit looks for more, or in another way; documents say which revision made a row."""
SMALL_DOMAINS = {
    1: ("3", "4", "8", "16"),
    2: ("3x1", "2x2", "2x4", "4x4"),
    3: ("3x1x1", "1x2x2", "2x2x2", "4x2x2"),
}
"""Domains of 3, 4, 8 and 16 cells by number of axes: so small that every cell can be tried."""
LARGER = {
    1: ("32", "33", "64", "100", "128", "256", "1000", "1024"),
    2: ("8x8", "7x9", "16x16", "12x23", "32x32"),
    3: ("4x4x4", "8x8x8"),
}
"""Tried in turn where an algorithm supports none of those asked for: some need a number of cells."""
FEW = 2
CASES = 480
"""Cases of the randomised replay in the default audit."""
CPU_SECONDS = 10.0
"""Time of the processor after which it begins no further batch, whatever the number of cases."""


@dataclass(frozen=True)
class Subject:
    """An algorithm under examination."""

    algorithm: Algorithm
    side_information: SideInformation | None = None
    seed: int = 0
    """Seed of everything that is drawn for the examination."""
    ignore_marks: bool = False
    """Judge a form that says itself that it is not private by what is measured alone."""
    notion: str = "pure"
    """The notion of privacy that it is examined under."""
    replayed: tuple[str, ...] = ()
    """The notions that are replayed; all of them where none is given."""
    domain: Domain | None = None
    """Where given, the only domain that replays and claims are tried on."""
    cases: int = CASES
    """Cases of the randomised replay."""
    seconds: float = CPU_SECONDS
    """Time of the processor after which it begins no further batch."""
    warned: list[str] = field(default_factory=list, compare=False)
    """What a stranger's algorithm has warned of so far in this process."""

    @property
    def ours(self) -> bool:
        """Whether it is one of this package."""
        return is_ours(type(self.algorithm))

    @property
    def notions(self) -> tuple[str, ...]:
        """The notions of privacy that it has; a published form has the first alone."""
        return self.algorithm.notions if self.algorithm.variant == "private" else self.algorithm.notions[:1]

    @property
    def name(self) -> str:
        """The algorithm's name."""
        return self.algorithm.name

    def domains(self, by_axes: Mapping[int, tuple[str, ...]]) -> Iterator[Domain]:
        """Those of the given domains that the algorithm supports; where it supports none, a few larger ones."""
        asked = [Domain.of(text) for texts in by_axes.values() for text in texts]
        supported = [domain for domain in asked if self.algorithm.supports(domain)]
        if not supported:
            larger = [Domain.of(text) for texts in LARGER.values() for text in texts]
            supported = [domain for domain in larger if self.algorithm.supports(domain)][:FEW]
        yield from supported or ([self.domain] if self.domain is not None else [])

    def budget(self, epsilon: object) -> dict[str, Any]:
        """The budget whose noise is that of an epsilon, as an algorithm takes it."""
        return budget_like(self.notion, epsilon)

    def outcome(
        self, x: NDArray[np.int64], workload: Workload, epsilon: object, trials: int = 2, seed: int = 0
    ) -> Outcome:
        """Run it, with everything that goes wrong reported as a failed check; a warning is wrong in ours alone."""
        where = f"on {workload.domain} at epsilon {epsilon}"
        try:
            with warnings.catch_warnings(record=True) as raised:
                warnings.simplefilter("error" if self.ours else "default")
                outcome = self.algorithm.outcome(
                    x,
                    workload,
                    trials=trials,
                    seed=seed,
                    side_information=self.side_information,
                    **self.budget(epsilon),
                )
            self.warned.extend(f"{each.category.__name__}: {each.message}" for each in raised or ())
            return outcome
        except BudgetExceeded as error:
            raise CheckFailed(f"{self.name} spends more than epsilon {where}: {error}") from error
        except BudgetNotSpent as error:
            raise CheckFailed(f"{self.name} does not spend epsilon {where}: {error}") from error
        except Unsupported as error:
            raise CheckFailed(
                f"{self.name} refuses to run {where}: {error} (it is for supports() to say on which domains it runs)"
            ) from error
        except DPBenchError as error:
            raise CheckFailed(f"{self.name} fails {where}: {error}") from error
        except (Exception, SystemExit) as error:
            of_axes = workload.domain.ndim > 1 and self.algorithm.dimensions is None
            hint = " (one that runs on a line alone says dimensions = (1,))" if of_axes else ""
            raise CheckFailed(f"{self.name} fails {where} with {in_words(error)}{hint}") from error


def budget_like(notion: str, epsilon: object) -> dict[str, Any]:
    """The budget under a notion whose noise on a count is that of Laplace noise at epsilon: rho is epsilon^2 / 4."""
    return {"epsilon": epsilon} if notion == "pure" else {"rho": exact(epsilon, "epsilon") ** 2 / 4}


def is_ours(kind: type) -> bool:
    """Whether a class is one of this package."""
    return kind.__module__.startswith("dpbench.")


def in_words(error: BaseException) -> str:
    """An exception of somebody else's on one line."""
    words = " ".join(f"{type(error).__name__}: {error}".split())
    if isinstance(error, AssertionError) and "daemonic processes" in words:
        return f"{words} (neither a check nor a run lets it start processes; threads it may start)"
    return words


def built(algorithm: object) -> Algorithm:
    """The algorithm itself, or its class with every parameter at its default."""
    kind = algorithm if isinstance(algorithm, type) else type(algorithm)
    if not issubclass(kind, Algorithm):
        raise CheckFailed(f"{kind.__name__} is not an Algorithm; subclass dpbench.Algorithm")
    if not kind.name:
        raise CheckFailed(f"{kind.__name__} has no name; give the class an attribute name = '...'")
    try:
        default = kind()
    except Exception as error:
        raise CheckFailed(f"{kind.name} cannot be built without arguments: {in_words(error)}") from error
    if is_ours(kind) and getattr(sys.modules.get(kind.__module__), kind.__qualname__, None) is not kind:
        raise CheckFailed(f"{kind.name} says that it is of the module {kind.__module__}, which does not have it")
    return default if algorithm is kind else algorithm  # type: ignore[return-value]  # an instance of kind


def workload_for(domain: Domain) -> Workload:
    """A workload for a small domain: Prefix on one axis, random ranges on several."""
    return Prefix(domain) if domain.ndim == 1 else RandomRange(domain, queries=24, seed=1)


def weighted_workload(domain: Domain) -> Workload:
    """The same ranges with weights from a third to 4, some negative: a selection that overlooks them shows here."""
    ranges = workload_for(domain).ranges()
    weights = np.resize([4.0, -1.0, 1 / 3, 2.5], len(ranges.lower))
    return Ranges(domain, ranges.lower, ranges.upper, weights)
