"""A failing case made small: what an author needs to see it happen."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from dpbench.audit.cases import Case
from dpbench.audit.distorted_noise import PLAIN
from dpbench.audit.fresh import TooSlow
from dpbench.audit.subject import workload_for
from dpbench.audit.vectors import shown
from dpbench.audit.worlds import Finding, Runner, force, record, unrecorded
from dpbench.domain import Domain
from dpbench.errors import CheckFailed

Counts = NDArray[np.int64]

ATTEMPTS = 90
"""Smaller cases that are tried."""
FEW_ATTEMPTS = 6
"""The same where each needs many runs before it."""


@dataclass(repr=False)
class Smallest:
    """The smallest batch found in which the last case fails."""

    cases: list[Case]
    finding: Finding
    warm: int = 0
    """Runs before the first of them."""

    @property
    def case(self) -> Case:
        """The case that fails."""
        return self.cases[-1]

    def reproduction(self) -> str:
        """Everything that it takes to see it again, on one line."""
        case = self.case
        if self.finding.kind == "claims":
            return f"{case}{self._history()}"
        if self.finding.kind in ("fails", "noise", "direct", "batch"):
            vectors = f"x = {shown(case.x)}"
        elif case.cell is not None:
            before, after = case.x.reshape(-1)[case.cell], case.y.reshape(-1)[case.cell]
            vectors = f"x = {shown(case.x)} and cell {case.cell} from {before} to {after}"
        else:
            vectors = f"x = {shown(case.x)} and {shown(case.y)}"
        return f"{vectors}, {case}{self._history()}"

    def _history(self) -> str:
        before = len(self.cases) - 1 + self.warm
        return f", after {before} other runs in the same process" if before else ""


def look(runner: Runner, cases: Sequence[Case], kind: str) -> Finding | None:
    """What goes wrong in a batch, in the world that shows it."""
    try:
        recorded = record(runner, cases)
        looked = (unrecorded if kind in ("direct", "claims", "batch") else force)(runner, cases, recorded)
    except (CheckFailed, TooSlow):
        return None
    return looked.finding


def shrink(runner: Runner, cases: Sequence[Case], finding: Finding) -> Smallest:
    """Try smaller batches, then smaller problems, then simpler counts, as long as the same kind of thing is seen."""
    found = Smallest(list(cases[: finding.step + 1]), finding)
    if runner.warm:
        cold = replace(runner, warm=0)
        seen = look(cold, found.cases, finding.kind)
        runner = cold if seen is not None and seen.kind == finding.kind else runner
    found.warm = runner.warm
    left = [FEW_ATTEMPTS if runner.warm else ATTEMPTS]

    def accept(smaller: list[Case]) -> bool:
        if left[0] <= 0:
            return False
        left[0] -= 1
        seen = look(runner, smaller, finding.kind)
        if seen is None or seen.kind != finding.kind or seen.step != len(smaller) - 1:
            return False
        found.cases, found.finding = smaller, seen
        return True

    if not accept([found.case]):
        for number in range(len(found.cases) - 1):
            if number < len(found.cases) - 1:
                accept([*found.cases[:number], *found.cases[number + 1 :]])
    if len(found.cases) == 1:
        _simpler_problem(found, accept)
        if finding.kind == "differs" and found.case.cell is None and not runner.warm:
            _to_neighbours(found, accept, runner)
        _simpler_counts(found, accept)
    return found


def _simpler_problem(found: Smallest, accept: Callable[[list[Case]], bool]) -> None:
    for change in (
        {"noise": PLAIN},
        {"trials": 1},
        {"trials": min(2, found.case.trials)},
        {"delta": 0.0},
        {"epsilon": Fraction(1)},
        {"workload": workload_for(found.case.domain)},
    ):
        smaller = replace(found.case, **change)
        if str(smaller) != str(found.case) and smaller.trials <= found.case.trials:
            accept([smaller])
    for size in (2, 4, 16, 64):
        for smaller in _cut(found.case, size):
            if accept([smaller]):
                return


def _cut(case: Case, size: int) -> Iterator[Case]:
    """The same on a smaller domain: as many cells around the one that differs, on one axis or, for two, as a square."""
    side = max(2, int(np.sqrt(size)))
    shape = (size,) if case.domain.ndim == 1 else (side, side)
    if case.domain.ndim > 2 or any(new >= old for new, old in zip(shape, case.domain.shape, strict=True)):
        return
    differs = np.unravel_index(int(np.argmax(case.x != case.y)), case.domain.shape)
    start = [
        min(max(0, int(at) - new // 2), old - new) for at, new, old in zip(differs, shape, case.domain, strict=True)
    ]
    box = tuple(slice(first, first + new) for first, new in zip(start, shape, strict=True))
    x, y = (np.ascontiguousarray(counts[box]) for counts in (case.x, case.y))
    cell = None if case.cell is None else int(np.argmax((x != y).reshape(-1)))
    yield replace(case, workload=workload_for(Domain(shape)), x=x, y=y, cell=cell)


def _to_neighbours(found: Smallest, accept: Callable[[list[Case]], bool], runner: Runner) -> None:
    """Between two far vectors that differ there are two neighbours that do: bisection by cells, then within one."""
    case = found.case
    x, y = case.x.reshape(-1), case.y.reshape(-1)

    def differs(counts: Counts) -> bool:
        seen = look(runner, [replace(case, y=counts.reshape(case.x.shape))], "differs")
        return seen is not None and seen.kind == "differs"

    def mixed(cells: int, value: int | None = None) -> Counts:
        counts = np.where(np.arange(len(x)) < cells, y, x)
        if value is not None:
            counts[cells] = value
        return counts

    same, other = 0, len(x)
    while other - same > 1:
        middle = (same + other) // 2
        same, other = (same, middle) if differs(mixed(middle)) else (middle, other)
    low, high = int(x[same]), int(y[same])
    while abs(high - low) > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if differs(mixed(same, middle)) else (middle, high)
    one, two = (mixed(same, value).reshape(case.x.shape) for value in (low, high))
    accept([replace(case, x=one, y=two, cell=same)])


def _simpler_counts(found: Smallest, accept: Callable[[list[Case]], bool]) -> None:
    """Empty all cells but the one that differs, then halves and quarters of the others."""
    blocks = 1
    while blocks <= 4:
        for block in range(blocks):
            case, n = found.case, found.case.domain.size
            if case.cell is None:
                return
            emptied = (np.arange(n) * blocks // n == block) & (np.arange(n) != case.cell)
            x, y = (np.where(emptied.reshape(case.x.shape), 0, counts) for counts in (case.x, case.y))
            if not np.array_equal(x, case.x) and accept([replace(case, x=x, y=y)]) and blocks == 1:
                return
        blocks *= 2
