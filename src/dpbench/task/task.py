"""A task (the paper's T) names the nine parts of a benchmark: {T, W, D, M, L, G, R, E_M, E_I}.

A task is data. It holds names and numbers, no algorithm and no dataset; whoever runs it looks the names up.
``RANGE_1D`` and ``RANGE_2D`` are the paper's two tasks; any part of them can be replaced.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from os import PathLike
from typing import Any, Never

from dpbench.domain import Domain, DomainLike
from dpbench.errors import DPBenchError, InvalidTask, UnknownName, shown
from dpbench.loss import L2, Loss
from dpbench.standards import Standards
from dpbench.task.file import read_task
from dpbench.task.parts import (
    AlgorithmPart,
    Generator,
    Interpreting,
    InvalidPart,
    Measuring,
    Repair,
    WorkloadPart,
    algorithm_parts,
    listed,
    loss_part,
    names,
    text,
    whole,
)
from dpbench.workloads import Workload


@dataclass(frozen=True, kw_only=True)
class Task:
    """The nine parts of a benchmark, as plain values."""

    name: str = "task"
    """What the task is called in stores and reports."""

    dimensions: int
    """T: how many dimensions the range queries have."""

    workloads: tuple[WorkloadPart, ...]
    """W: the workloads, by name and parameters; ``build_workloads`` makes them for a domain."""

    datasets: tuple[str, ...] = ()
    """D: the names of the datasets whose shapes are drawn from."""

    algorithms: tuple[AlgorithmPart, ...] = ()
    """M: the algorithms, by name and form; none named means every one in the catalogue that fits."""

    loss: Loss = field(default_factory=L2)
    """L: the loss; may be given by name, or as a mapping of its name and parameters."""

    generator: Generator
    """G: domains, scales, epsilons and samples."""

    repair: Repair = field(default_factory=Repair)
    """R: side information."""

    measuring: Measuring = field(default_factory=Measuring)
    """E_M: trials and percentile."""

    interpreting: Interpreting = field(default_factory=Interpreting)
    """E_I: baselines and the test that separates algorithms."""

    def __post_init__(self) -> None:
        checked = {
            "name": text("name", self.name),
            "dimensions": whole("dimensions", self.dimensions),
            "workloads": tuple(
                _workload(part, index) for index, part in enumerate(listed("workloads", self.workloads))
            ),
            "datasets": names("datasets", self.datasets),
            "algorithms": algorithm_parts(self.algorithms),
            "loss": loss_part(self.loss),
        }
        for key, value in checked.items():
            object.__setattr__(self, key, value)
        for key, kind in GROUPS.items():
            if not isinstance(getattr(self, key), kind):
                raise InvalidPart(
                    f"{key} is {shown(getattr(self, key))}; give a {kind.__name__}, "
                    f"or build the task with Task.from_dict",
                    key,
                )
        self._check_domains()
        self._check_workloads()

    @property
    def standards(self) -> Standards:
        """L, E_M and E_I together: how the results of the task are read."""
        return Standards(
            loss=self.loss.label,
            percentile=self.measuring.percentile,
            alpha=self.interpreting.alpha,
            baselines=self.interpreting.baselines,
            test=self.interpreting.test,
        )

    @classmethod
    def from_dict(cls, parts: Mapping[str, Any]) -> Task:
        """Make a task from plain values, starting from ``base`` ("RANGE_1D", "RANGE_2D") where one is given.

        A setting of G, R, E_M or E_I stands in its group (``{"measuring": {"trials": 20}}``) or, since no two
        groups share a name, on its own (``{"trials": 20}``).

        >>> import dpbench as dpb
        >>> task = dpb.Task.from_dict({"base": "RANGE_2D", "domains": ["32x32"], "trials": 20})
        >>> task.measuring.trials
        20
        """
        if not isinstance(parts, Mapping):
            raise InvalidTask(f"a task cannot be made from {shown(parts)}; give a mapping of parts")
        rest = dict(parts)
        base = rest.pop("base", None)
        if "base" in parts and (not isinstance(base, str) or base not in TASKS):
            raise InvalidPart(str(UnknownName.among("task", base, TASKS)), "base")
        return _assemble(rest, None if base is None else TASKS[base])

    @classmethod
    def from_toml(cls, path: str | PathLike[str]) -> Task:
        """Read a task file; a mistake is refused with the file and the line.

        The name is the file's unless the file gives one, and a workload's ``file`` is relative to it.
        """
        return read_task(path, cls.from_dict)

    def replace(self, **parts: Any) -> Task:
        """Return the same task with some parts replaced: ``RANGE_1D.replace(scales=[1000], loss="L1")``.

        >>> import dpbench as dpb
        >>> task = dpb.RANGE_1D.replace(scales=[1000], loss="L1")
        >>> task.generator.scales, task.loss.label
        ((1000,), 'L1')
        """
        return _assemble(parts, self)

    def build_workloads(self, domain: DomainLike) -> tuple[Workload, ...]:
        """Make every workload of the task on one domain.

        >>> import dpbench as dpb
        >>> [each.queries for each in dpb.RANGE_1D.build_workloads(256)]
        [256]
        """
        grid = Domain.of(domain)
        if grid.ndim != self.dimensions:
            raise InvalidTask(
                f"task {self.name} has {self.dimensions} dimensions and domain {grid} has {grid.ndim}; "
                f"give a domain with {self.dimensions}"
            )
        return tuple(part.build(grid) for part in self.workloads)

    def to_dict(self) -> dict[str, Any]:
        """Return every part as plain values, as ``from_dict`` takes them."""
        plain: dict[str, Any] = {key: getattr(self, key) for key in ("name", "dimensions", "datasets")}
        plain["loss"] = self.loss.label
        plain["algorithms"] = tuple(part.to_plain() for part in self.algorithms)
        for key in GROUPS:
            group = getattr(self, key)
            plain[key] = {part.name: getattr(group, part.name) for part in fields(group)}
        plain["generator"]["domains"] = tuple(str(domain) for domain in self.generator.domains)
        plain["workloads"] = tuple(part.to_dict() for part in self.workloads)
        return plain

    @property
    def to_toml(self) -> Never:
        """Gone since 0.2: a plan is written by the command."""
        raise AttributeError("Task.to_toml is `dpbench run SUITE --print-toml` since 0.2")

    def _check_domains(self) -> None:
        for domain in self.generator.domains:
            if domain.ndim != self.dimensions:
                raise InvalidPart(
                    f"domain {domain} has {domain.ndim} axes in a task of {self.dimensions} dimensions; "
                    f"give domains with {self.dimensions}, or change dimensions",
                    "domains",
                )

    def _check_workloads(self) -> None:
        if not self.workloads:
            raise InvalidPart("workloads is an empty list; give at least one, such as 'Prefix'", "workloads")
        for index, part in enumerate(self.workloads):
            if part in self.workloads[:index]:
                raise InvalidPart(f"workload {part.name} is given twice; remove one", "workloads", index)
            for domain in self.generator.domains:
                try:
                    built = part.build(domain)
                except DPBenchError as error:
                    raise InvalidPart(str(error), "workloads", index) from None
                if built.queries is None:
                    raise InvalidPart(
                        f"workload {part.name} has no list of queries; give for example queries=2000",
                        "workloads",
                        index,
                    )


GROUPS: dict[str, type[Generator | Repair | Measuring | Interpreting]] = {
    "generator": Generator,
    "repair": Repair,
    "measuring": Measuring,
    "interpreting": Interpreting,
}
"""The parts of a task that are groups of settings."""

SETTINGS = {setting.name: key for key, kind in GROUPS.items() for setting in fields(kind)}
"""Which group each setting belongs to."""

REQUIRED = ("dimensions", "workloads", "domains")
"""What a task that starts from no other must say."""


def _workload(given: Any, index: int) -> WorkloadPart:
    try:
        return WorkloadPart.of(given)
    except InvalidTask as error:
        raise InvalidPart(str(error), "workloads", index) from None


def _assemble(parts: Mapping[str, Any], base: Task | None) -> Task:
    """Put parts, in their groups or on their own, over a base."""
    plain: dict[str, Any] = {} if base is None else {part.name: getattr(base, part.name) for part in fields(Task)}
    groups: dict[str, dict[str, Any]] = {key: {} for key in GROUPS}
    for key, value in parts.items():
        if key in SETTINGS:
            _put(groups[SETTINGS[key]], key, value, SETTINGS[key])
        elif key not in GROUPS:
            if key not in Task.__dataclass_fields__:
                known = (*Task.__dataclass_fields__, *SETTINGS, "base")
                raise InvalidPart(str(UnknownName.among("part of a task", key, known)), str(key))
            plain[key] = value
        elif isinstance(value, GROUPS[key]):
            plain[key] = value
        elif isinstance(value, Mapping):
            for setting, chosen in value.items():
                _put(groups[key], setting, chosen, key)
        else:
            raise InvalidPart(f"{key} is {shown(value)}; give its settings by name", key)
    missing = [key for key in REQUIRED if key not in plain and key not in groups["generator"]]
    if missing and not (missing == ["domains"] and "generator" in plain):
        raise InvalidPart(f"the task does not say its {', '.join(missing)}; add them, or a base")
    for key, kind in GROUPS.items():
        settings = {} if key not in plain else {s.name: getattr(plain[key], s.name) for s in fields(kind)}
        plain[key] = kind(**{**settings, **groups[key]})
    return Task(**plain)


def _put(group: dict[str, Any], setting: str, value: Any, key: str) -> None:
    """Add a setting to its group, once."""
    if SETTINGS.get(setting) != key:
        known = [name for name, owner in SETTINGS.items() if owner == key]
        raise InvalidPart(str(UnknownName.among(f"{key} setting", setting, known)), key, str(setting))
    if setting in group:
        raise InvalidPart(f"{setting} is given twice, on its own and under {key}; remove one", setting)
    group[setting] = value


def _words(listed: str) -> tuple[str, ...]:
    return tuple(listed.split())


def _named(listed: str) -> tuple[AlgorithmPart, ...]:
    return tuple(AlgorithmPart(name) for name in listed.split())


RANGE_1D = Task(
    name="RANGE_1D",
    dimensions=1,
    workloads=(WorkloadPart("Prefix"),),
    datasets=_words(
        "ADULT HEPPH INCOME MEDCOST TRACE PATENT SEARCH BIDS-FJ BIDS-FM BIDS-ALL MD-SAL MD-SAL-FA "
        "LC-REQ-F1 LC-REQ-F2 LC-REQ-ALL LC-DTIR-F1 LC-DTIR-F2 LC-DTIR-ALL"
    ),
    algorithms=_named("Identity Privelet H Hb GreedyH Uniform MWEM MWEM* AHP AHP* DPCube DAWA PHP EFPA SF"),
    generator=Generator(domains=tuple(Domain((side,)) for side in (256, 512, 1024, 2048, 4096))),
)
"""The paper's 1-D task: prefixes over 18 datasets, the algorithms of its Table 1."""

RANGE_2D = Task(
    name="RANGE_2D",
    dimensions=2,
    workloads=(WorkloadPart("RandomRange", (("queries", 2000),)),),
    datasets=_words("BJ-CABS-S BJ-CABS-E GOWALLA ADULT-2D SF-CABS-S SF-CABS-E MD-SAL-2D LC-2D STROKE"),
    algorithms=_named("Identity Privelet Hb GreedyH Uniform MWEM MWEM* AHP AHP* DPCube DAWA QuadTree UGrid AGrid"),
    generator=Generator(domains=tuple(Domain((side, side)) for side in (32, 64, 128, 256))),
)
"""The paper's 2-D task: 2000 random ranges over 9 datasets, the algorithms of its Table 1."""

TASKS = {task.name: task for task in (RANGE_1D, RANGE_2D)}
"""The tasks that a description can start from with ``base``."""
