"""Suites: plans by name."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from dpbench.errors import UnknownName
from dpbench.experiment.plan import Plan
from dpbench.task import RANGE_1D, RANGE_2D, Task

DEMO_SCALES = (10**3, 10**5, 10**7)


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
    scales = (10**3, 10**5, 10**7)
    return (
        RANGE_1D.replace(name="quick-1d", domains="1024", scales=scales, samples=3, algorithms=()),
        RANGE_2D.replace(name="quick-2d", domains="64x64", scales=scales, samples=3, algorithms=()),
    )


def _paper_1d() -> tuple[Task, ...]:
    return (RANGE_1D.replace(name="paper-1d", algorithms=()),)


def _paper_2d() -> tuple[Task, ...]:
    return (RANGE_2D.replace(name="paper-2d", algorithms=()),)


SUITES = {
    suite.name: suite
    for suite in (
        Suite("demo", "every algorithm on embedded synthetic shapes, 1-D and 2-D; no file, no network", _demo),
        Suite("quick", "every algorithm on the 27 histograms at one domain and three scales", _quick),
        Suite("paper-1d", "18 histograms, domains 256 to 4096, scales 10^3 to 10^8, Prefix", _paper_1d),
        Suite("paper-2d", "9 histograms, domains 32x32 to 256x256, scales 10^3 to 10^8, 2000 random ranges", _paper_2d),
        Suite("paper", "paper-1d and paper-2d", lambda: _paper_1d() + _paper_2d()),
    )
}


def load_plan(reference: str) -> Plan:
    """A plan from the name of a suite or from a TOML file."""
    if reference in SUITES:
        return Plan(name=reference, tasks=SUITES[reference].make())
    if reference.endswith(".toml"):
        task = Task.from_toml(reference)
        return Plan(name=task.name, tasks=(_anchored(task, Path(reference).parent),))
    raise UnknownName(f"{UnknownName.among('suite', reference, SUITES)}, or give a plan as FILE.toml")


def _anchored(task: Task, folder: Path) -> Task:
    """Files that a plan names are relative to it."""

    def anchor(name: str) -> str:
        is_file = name.endswith((".npy", ".csv")) or ".py:" in name
        return str(folder / name) if is_file and not Path(name).is_absolute() else name

    moved = [replace(part, name=anchor(part.name)) for part in task.algorithms]
    return task.replace(datasets=[anchor(name) for name in task.datasets], algorithms=moved)
