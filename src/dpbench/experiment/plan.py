"""A plan is data: tasks, narrowed, and what they amount to in units of work."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from dpbench import algorithms
from dpbench.algorithm import Algorithm
from dpbench.domain import Domain
from dpbench.errors import DPBenchError, InvalidPlan
from dpbench.experiment import source_data
from dpbench.experiment.source_data import SourceData
from dpbench.experiment.sources import algorithm_source, generator_source
from dpbench.experiment.unit import Unit, build_algorithm, workload_label
from dpbench.plugins import find, is_file_reference
from dpbench.store.schema import content_key
from dpbench.task import Task
from dpbench.task_parts import AlgorithmPart


@dataclass(frozen=True)
class Skipped:
    """A combination that cannot run, with the reason."""

    algorithm: str
    dataset: str
    domain: str
    reason: str


@dataclass(frozen=True)
class Candidate:
    """An algorithm of a plan, found and built."""

    part: AlgorithmPart
    reference: str
    algorithm: Algorithm
    source: str


@dataclass(frozen=True, kw_only=True)
class Plan:
    """Tasks to run."""

    name: str
    """Name of the suite or of the file."""
    tasks: tuple[Task, ...]
    """The tasks, each with its data, algorithms and settings."""

    def narrowed(self, **options: Any) -> Plan:
        """The plan with the options of the command line applied; see :func:`narrow`."""
        return narrow(self, **options)

    def candidates(self, task: Task) -> list[Candidate]:
        """The algorithms of a task: those named, or every one in the catalogue."""
        named = task.algorithms or tuple(AlgorithmPart(name) for name in algorithms.names())
        return [_candidate(part) for part in named]

    def units(self) -> tuple[list[Unit], list[Skipped]]:
        """Every unit of work from the first trial on, and what cannot run."""
        units: list[Unit] = []
        skipped: list[Skipped] = []
        for task in self.tasks:
            candidates = self.candidates(task)
            for name in task.datasets:
                data = source_data.find(name)
                for domain in task.generator.domains:
                    reason = _misfit(task, data, domain)
                    for candidate in candidates:
                        why = reason or _unsupported(candidate.algorithm, domain)
                        if why:
                            skipped.append(Skipped(candidate.part.label, data.name, str(domain), why))
                        else:
                            units += _units(task, data, domain, candidate)
        return units, skipped

    def preparations(self) -> Iterator[tuple[Candidate, Domain, Any]]:
        """What depends on workload and domain alone: every algorithm with every workload that it can run on."""
        for task in self.tasks:
            for domain in task.generator.domains:
                for workload in task.build_workloads(domain):
                    for candidate in self.candidates(task):
                        if not _unsupported(candidate.algorithm, domain):
                            yield candidate, domain, workload


def _candidate(part: AlgorithmPart) -> Candidate:
    kind = find(part.name)
    named = replace(part, name=kind.name)
    reference = part.name if is_file_reference(part.name) else kind.name
    return Candidate(named, reference, build_algorithm(reference, named), algorithm_source(kind))


def _misfit(task: Task, data: SourceData, domain: Domain) -> str:
    """Why a dataset cannot be put on a domain; empty where it can."""
    if data.ndim != task.dimensions:
        return f"{data.name} has {data.ndim} axes and the task {task.name} has {task.dimensions}"
    try:
        histogram = data.shape_on(domain)
        Domain(histogram.shape).group_sizes(domain)
    except DPBenchError as error:
        return str(error)
    return ""


def _unsupported(algorithm: Algorithm, domain: Domain) -> str:
    if algorithm.supports(domain):
        return ""
    wanted = " or ".join(f"{axes}-D" for axes in algorithm.dimensions or ())
    return f"{algorithm.name} runs on {wanted} domains; {domain} has {domain.ndim} axes"


def _units(task: Task, data: SourceData, domain: Domain, candidate: Candidate) -> Iterator[Unit]:
    part, generator = candidate.part, task.generator
    declared = bool(candidate.algorithm.side_information)
    source = part.side_information or ("public" if part.variant == "published" else task.repair.side_information)
    side_information = source if declared else ""
    share = task.repair.rho_total if side_information == "estimated" else 0.05
    for workload in task.workloads:
        for scale in generator.scales:
            for epsilon in generator.epsilons:
                for sample in range(generator.samples):
                    setting = (task.name, data.name, domain, workload_label(workload), scale, epsilon)
                    sources = (candidate.source, data.source, generator_source())
                    made = (part.label, side_information, share, sample, generator.seed)
                    yield Unit(
                        task=task.name,
                        data=data,
                        domain=str(domain),
                        workload=workload,
                        scale=scale,
                        epsilon=epsilon,
                        algorithm=part,
                        reference=candidate.reference,
                        side_information=side_information,
                        rho_total=share,
                        sample=sample,
                        seed=generator.seed,
                        first_trial=0,
                        trials=task.measuring.trials,
                        key=content_key(*setting, *sources, *made),
                        algorithm_source=candidate.source,
                        generator_source=generator_source(),
                    )


def narrow(
    plan: Plan,
    *,
    algorithm: Sequence[str] = (),
    added: Sequence[str] = (),
    dataset: Sequence[str] = (),
    domain: Sequence[str] = (),
    scale: Sequence[object] = (),
    epsilon: Sequence[object] = (),
    samples: int | None = None,
    trials: int | None = None,
    seed: int | None = None,
    variant: str | None = None,
    side_information: str | None = None,
) -> Plan:
    """Restrict or replace parts of every task of a plan.

    Names of algorithms and datasets, and numbers, replace the plan's own; a dataset or a domain goes to the tasks of
    its number of axes, and a task that is left without either is dropped.
    """
    domains = [Domain.of(written) for written in domain]
    found = [(name, source_data.find(name)) for name in dataset]
    tasks = []
    for task in plan.tasks:
        changes: dict[str, Any] = {}
        if domains:
            changes["domains"] = [each for each in domains if each.ndim == task.dimensions]
        if found:
            changes["datasets"] = [name for name, data in found if data.ndim == task.dimensions]
        if any(not chosen for chosen in changes.values()):
            continue
        changes.update({key: list(value) for key, value in (("scales", scale), ("epsilons", epsilon)) if value})
        numbers = {"samples": samples, "trials": trials, "seed": seed, "side_information": side_information}
        changes.update({key: value for key, value in numbers.items() if value is not None})
        changes["algorithms"] = _chosen(task, algorithm, added, variant, side_information)
        tasks.append(task.replace(**changes))
    if not tasks:
        raise InvalidPlan("nothing is left of the plan: no task has both a dataset and a domain; widen the options")
    return replace(plan, tasks=tuple(tasks))


def _chosen(
    task: Task, algorithm: Sequence[str], added: Sequence[str], variant: str | None, side_information: str | None
) -> list[AlgorithmPart]:
    """The algorithms of a task after narrowing and adding, in the wanted form."""
    own = {part.name: part for part in task.algorithms}
    for name in [*algorithm, *added]:
        find(name)
    listed = [own.get(name, AlgorithmPart(name)) for name in algorithm]
    parts = listed or list(task.algorithms) or [AlgorithmPart(name) for name in algorithms.names()]
    parts += [AlgorithmPart(name) for name in added if name not in {part.name for part in parts}]
    if variant is not None:
        parts = [replace(part, variant=variant) for part in parts]
    if side_information is not None:
        parts = [replace(part, side_information=side_information) for part in parts]
    return list(dict.fromkeys(parts))
