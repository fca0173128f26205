"""Suites: plans by name."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path
from typing import Any

from dpbench.errors import DPBenchError, InvalidPlan, UnknownName
from dpbench.plugins import find
from dpbench.run import source_data
from dpbench.run.plan import Plan
from dpbench.task.file import key_line, read_tasks
from dpbench.task.parts import AlgorithmPart
from dpbench.task.task import RANGE_1D, RANGE_2D, Task

DEMO_SCALES = (10**3, 10**5, 10**7)
SIGNALS = (10**2, 10**4, 10**6)
"""Products of epsilon and scale at which exchangeability is put to the test."""
GAUSSIAN_DELTA = 1e-9
"""Below one over the records of the paper's largest scale, 10^8."""


@dataclass(frozen=True)
class Suite:
    """A plan that has a name."""

    name: str
    about: str
    make: Callable[[], tuple[Task, ...]]


def _demo() -> tuple[Task, ...]:
    from dpbench.datasets import shapes

    return tuple(
        task.replace(
            name=name,
            datasets=shapes.names(task.dimensions),
            domains=domain,
            scales=DEMO_SCALES,
            samples=3,
            algorithms=(),
        )
        for task, name, domain in ((RANGE_1D, "demo-1d", "1024"), (RANGE_2D, "demo-2d", "64x64"))
    )


def _quick() -> tuple[Task, ...]:
    return (
        RANGE_1D.replace(name="quick-1d", domains="4096", algorithms=()),
        RANGE_2D.replace(name="quick-2d", domains="128x128", algorithms=()),
    )


def _paper_1d() -> tuple[Task, ...]:
    return (RANGE_1D.replace(name="paper-1d", algorithms=()),)


def _paper_2d() -> tuple[Task, ...]:
    return (RANGE_2D.replace(name="paper-2d", algorithms=()),)


def _gaussian() -> tuple[Task, ...]:
    """The paper's data and epsilon with a delta: the signal, epsilon * scale, is that of ``paper`` in every setting.

    So are the data vectors, and what differs between the two suites is the notion of privacy alone. Another epsilon
    at the same signal changes little: Gaussian noise times epsilon grows by 9 % from epsilon 0.1 to 1.
    """
    return tuple(
        task.replace(name=f"gaussian-{task.dimensions}d", deltas=[GAUSSIAN_DELTA], algorithms=())
        for task in (RANGE_1D, RANGE_2D)
    )


def _parameters() -> tuple[Task, ...]:
    kinds = [find(name) for name in ("AHP", "DAWA", "MWEM")]
    parts = [
        AlgorithmPart(kind.name, "published", parameters=tuple(sorted(zip(kind.free, values, strict=True))))
        for kind in kinds
        for values in product(*kind.free.values())
    ]
    return (RANGE_1D.replace(name="parameters", domains="4096", samples=2, trials=5, algorithms=parts),)


def _epsilon() -> tuple[Task, ...]:
    doubtful = [
        AlgorithmPart("SF"),
        AlgorithmPart("SF", "published"),
        AlgorithmPart("DPCube"),
        AlgorithmPart("DPCube", "published"),
        AlgorithmPart("Identity"),
    ]
    return tuple(
        RANGE_1D.replace(
            name=f"epsilon-{epsilon:g}",
            domains="1024",
            epsilons=[epsilon],
            scales=[round(signal / epsilon) for signal in SIGNALS],
            algorithms=doubtful,
        )
        for epsilon in (0.01, 0.1, 1.0)
    )


def _truncation() -> tuple[Task, ...]:
    parts = [AlgorithmPart("DAWA", "published", parameters=(("truncate", False),))]
    return (RANGE_2D.replace(name="truncation", algorithms=parts),)


def _original() -> tuple[Task, ...]:
    from dpbench import datasets

    parts = [AlgorithmPart(name, "published") for name in ("Identity", "Privelet", "H", "Hb", "GreedyH", "MWEM")]
    return tuple(
        RANGE_1D.replace(
            name=f"original-{name}",
            datasets=[name],
            domains="4096",
            scales=[datasets.get(name).scale],
            epsilons=[0.01, 0.1, 1.0],
            algorithms=parts,
        )
        for name in RANGE_1D.datasets
    )


SUITES = {
    suite.name: suite
    for suite in (
        Suite("demo", "every algorithm on embedded synthetic shapes, 1-D and 2-D; no file, no network", _demo),
        Suite("quick", "every algorithm on the 27 histograms, at the domains of the figures", _quick),
        Suite("paper-1d", "18 histograms, domains 256 to 4096, scales 10^3 to 10^8, Prefix", _paper_1d),
        Suite("paper-2d", "9 histograms, domains 32x32 to 256x256, scales 10^3 to 10^8, 2000 random ranges", _paper_2d),
        Suite("paper", "paper-1d and paper-2d", lambda: _paper_1d() + _paper_2d()),
        Suite("gaussian", "the data and epsilon of paper with delta 1e-9: all that can be run with it", _gaussian),
        Suite("epsilon", "SF and DPCube with one product of epsilon and scale made of different factors", _epsilon),
        Suite("truncation", "2-D DAWA as published, but without its truncation to integers", _truncation),
        Suite("original", "MWEM and matrix mechanisms at the original scales of the 1-D histograms", _original),
        Suite("parameters", "AHP, DAWA and MWEM with every value of their free parameters (finding 6)", _parameters),
    )
}


def load_plan(reference: str) -> Plan:
    """A plan from the name of a suite or from a TOML file."""
    if reference in SUITES:
        return Plan(name=reference, tasks=SUITES[reference].make())
    if reference.endswith(".toml"):
        return _from_file(reference)
    raise UnknownName(f"{UnknownName.among('suite', reference, SUITES)}, or give a plan as FILE.toml")


def _from_file(path: str) -> Plan:
    """A plan of one task or of several, its names looked up while the line of each is known."""
    try:
        tasks = tuple(_anchored(task, Path(path).parent) for task in read_tasks(path, Task.from_dict))
    except DPBenchError:
        raise
    except (RecursionError, MemoryError, ValueError, OverflowError, TypeError) as error:
        raise InvalidPlan(f"{path} cannot be read as a plan ({type(error).__name__}); write it more simply") from None
    plan = Plan(name=tasks[0].name if len(tasks) == 1 else Path(path).stem, tasks=tasks, file=path)
    checks: list[tuple[Callable[[Any], object], tuple[str | int, ...], Any]] = []
    for task in tasks:
        checks += [(source_data.find, ("datasets",), name) for name in task.datasets]
        checks += [(plan.candidate, ("algorithms", index), part) for index, part in enumerate(task.algorithms)]
    for check, place, named in checks:
        try:
            check(named)
        except DPBenchError as error:
            line = key_line(Path(path).read_text(encoding="utf-8-sig"), place)
            where = f"{path}, line {line}" if line else path
            raise InvalidPlan(f"{where}: {error}") from None
    return plan


def _anchored(task: Task, folder: Path) -> Task:
    """Files that a plan names are relative to it."""

    def anchor(name: str) -> str:
        is_file = name.endswith(source_data.FILE_ENDINGS) or ".py:" in name
        return str(folder / name) if is_file and not Path(name).is_absolute() else name

    moved = [replace(part, name=anchor(part.name)) for part in task.algorithms]
    return task.replace(datasets=[anchor(name) for name in task.datasets], algorithms=moved)
