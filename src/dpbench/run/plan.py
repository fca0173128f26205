"""A plan is data: tasks, narrowed, and what they amount to in units of work."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product
from math import prod
from pathlib import Path
from typing import Any

from dpbench import algorithms
from dpbench.algorithm import Algorithm
from dpbench.domain import Domain
from dpbench.errors import DPBenchError, InvalidDomain, InvalidPlan
from dpbench.loss import LossLike
from dpbench.plugins import find, is_file_reference, is_stranger
from dpbench.run import source_data
from dpbench.run.identity import algorithm_version, generator_version, loss_version, workload_version
from dpbench.run.source_data import SourceData
from dpbench.run.strangers import AlgorithmFacts, Question, ask, installed, known_as, reference_of
from dpbench.run.units import Unit, build_algorithm, describe
from dpbench.store.schema import content_key
from dpbench.store.transfer import FULL
from dpbench.task.parts import AlgorithmPart
from dpbench.task.task import Task
from dpbench.workloads import Workload

Budget = tuple[float, float, float]
"""Epsilon, delta and rho; 0 where it does not apply."""
MOST_UNITS = 10**6
MOST_CELLS = 2**26


@dataclass(frozen=True)
class Skipped:
    """A combination that cannot run, with the reason."""

    algorithm: str
    """The label of the algorithm, with its form and parameters."""
    dataset: str
    domain: str
    reason: str
    reference: str
    """Where the algorithm is found, as :attr:`Unit.reference` says it."""
    fits: bool
    """The dataset fits the domain, so the reason is the algorithm's."""


@dataclass(frozen=True)
class Candidate:
    """An algorithm of a plan, found and built."""

    part: AlgorithmPart
    reference: str
    algorithm: Algorithm | AlgorithmFacts
    """Itself where it is ours, else what is known of it: a stranger's code is never loaded here."""
    source: str
    files: tuple[tuple[str, str], ...] = ()
    """Files that it depends on where it is somebody's own, with a hash of each."""


@dataclass(frozen=True, kw_only=True)
class Plan:
    """Tasks to run."""

    name: str
    """Name of the suite or of the file."""
    tasks: tuple[Task, ...]
    """The tasks, each with its data, algorithms and settings."""
    file: str = ""
    """The file that it was read from."""

    def narrowed(self, **options: Any) -> Plan:
        """The plan with the options of the command line applied; see :func:`narrow`."""
        return narrow(self, **options)

    def candidates(self, task: Task) -> list[Candidate]:
        """The algorithms of a task: those named, or every one in the catalogue."""
        found = [self.candidate(part) for part in _named(task)]
        _refuse_twins([(each.part.label, each.reference) for each in found], "algorithms", "rename one class")
        return found

    def candidate(self, part: AlgorithmPart) -> Candidate:
        """One of the algorithms of the plan; what is wrong with it is raised."""
        if part not in self._candidates:
            self._candidates[part] = _candidate(part, self._strangers.get(_referred(part)))
        return self._candidates[part]

    @cached_property
    def _candidates(self) -> dict[AlgorithmPart, Candidate]:
        """What was found before."""
        return {}

    @cached_property
    def _strangers(self) -> dict[AlgorithmPart, AlgorithmFacts | DPBenchError]:
        """What is known of the strangers among the algorithms of all tasks."""
        parts = dict.fromkeys(_referred(part) for task in self.tasks for part in _named(task))
        theirs = [part for part in parts if is_stranger(part.name)]
        if not theirs:
            return {}
        domains = tuple(dict.fromkeys(str(domain) for task in self.tasks for domain in task.generator.domains))
        return dict(zip(theirs, ask([Question(part, domains) for part in theirs]), strict=True))

    def named(self, written: str) -> tuple[str, str]:
        """The reference of an algorithm of the plan, as units hold it, and the name that it gives itself."""
        if not is_stranger(written):
            return known_as(written), known_as(written)
        reference = reference_of(written)
        facts = (each for part, each in self._strangers.items() if part.name == reference)
        return reference, next(each.name for each in facts if isinstance(each, AlgorithmFacts))

    @cached_property
    def work(self) -> tuple[list[Unit], list[Skipped]]:
        """Every unit of work from the first trial on, and what cannot run."""
        try:
            return self._work()
        except DPBenchError as error:
            if self.file:
                error.args = (f"{self.file}: {error}",)
            raise

    def _work(self) -> tuple[list[Unit], list[Skipped]]:
        units: list[Unit] = []
        skipped: list[Skipped] = []
        for task in self.tasks:
            candidates = self.candidates(task)
            data = [source_data.find(name) for name in task.datasets]
            _refuse_twins([(each.name, each.path) for each in data], "datasets", "rename one file")
            _refuse_too_many(task, len(candidates))
            if task.loss.label in FULL:
                raise InvalidPlan(f"the loss {task.loss.label} has the name of a column of exports; rename it")
            for each, domain in product(data, task.generator.domains):
                reason = _misfit(task, each, domain)
                for chosen in candidates:
                    why = reason or _unsupported(chosen.algorithm, domain) or _unaffordable(chosen.algorithm, task)
                    if why:
                        place = chosen.part.label, each.name, str(domain)
                        skipped.append(Skipped(*place, why, chosen.reference, fits=not reason))
                    else:
                        units += _units(task, each, domain, chosen)
        return units, skipped

    def preparations(self) -> Iterator[tuple[Algorithm, Domain, Workload]]:
        """What depends on workload and domain alone: our algorithms with every workload that they can run on.

        Somebody's own algorithm does this in a worker, where nothing that it does can end the run.
        """
        for task in self.tasks:
            for domain in task.generator.domains:
                for workload in task.build_workloads(domain):
                    for each in self.candidates(task):
                        if isinstance(each.algorithm, Algorithm) and not _unsupported(each.algorithm, domain):
                            yield each.algorithm, domain, workload


def _candidate(part: AlgorithmPart, stranger: AlgorithmFacts | DPBenchError | None) -> Candidate:
    """An algorithm found and built, under the name that it gives itself; a stranger's by what is known of it."""
    if isinstance(stranger, DPBenchError):
        raise stranger
    if stranger is not None:
        named = replace(part, name=stranger.name)
        return Candidate(named, reference_of(part.name), stranger, stranger.source, stranger.files)
    kind = find(part.name)
    named = replace(part, name=kind.name)
    try:
        algorithm = build_algorithm(part.name, named)
        return Candidate(named, kind.name, algorithm, algorithm_version(kind, algorithm.files))
    except DPBenchError:
        raise
    except Exception as error:
        raise InvalidPlan(
            f"{part.name} cannot be made: {describe(error)}; correct its parameters or its code"
        ) from None


def _named(task: Task) -> tuple[AlgorithmPart, ...]:
    """The algorithms of a task, those of the catalogue where it names none."""
    return task.algorithms or tuple(AlgorithmPart(name) for name in _catalogue())


def _catalogue() -> list[str]:
    """Names of the algorithms that need nothing but an epsilon: ours, and those of installed plug-ins."""
    ours = [name for name, kind in algorithms.ours().items() if "pure" in kind.notions]
    return list(algorithms.in_order(dict.fromkeys([*ours, *installed()])))


def _referred(part: AlgorithmPart) -> AlgorithmPart:
    return replace(part, name=reference_of(part.name))


def _refuse_twins(named: list[tuple[str, str]], what: str, advice: str) -> None:
    """Two things of one name would be one thing in a store."""
    seen: dict[str, str] = {}
    for name, place in named:
        if name in seen:
            raise InvalidPlan(f"two {what} of the plan are named {name} ({seen[name]}, {place}); {advice}")
        seen[name] = place


def _refuse_too_many(task: Task, candidates: int) -> None:
    generator = task.generator
    axes = (task.datasets, generator.domains, task.workloads, generator.scales, generator.budgets)
    number = candidates * generator.samples * prod(len(axis) for axis in axes)
    if number > MOST_UNITS:
        raise InvalidPlan(
            f"the task {task.name} has {number} units and a plan can have {MOST_UNITS}; "
            f"ask for fewer samples, or split it into several plans"
        )


def _misfit(task: Task, data: SourceData, domain: Domain) -> str:
    """Why a dataset cannot be put on a domain; empty where it can. A dataset that is not here is an error."""
    if data.ndim != task.dimensions:
        return f"{data.name} has {data.ndim} axes and the task {task.name} has {task.dimensions}"
    if domain.size > MOST_CELLS:
        return f"domain {domain} has {domain.size} cells and at most {MOST_CELLS} fit into memory"
    try:
        data.finest(domain).group_sizes(domain)
    except InvalidDomain as error:
        return str(error)
    return ""


def _unsupported(algorithm: Algorithm | AlgorithmFacts, domain: Domain) -> str:
    if algorithm.supports(domain):
        return ""
    if algorithm.dimensions is None or domain.ndim in algorithm.dimensions:
        return f"{algorithm.name} does not run on {domain}"
    wanted = " or ".join(f"{axes}-D" for axes in algorithm.dimensions)
    return f"{algorithm.name} runs on {wanted} domains; {domain} has {domain.ndim} axes"


def _unaffordable(algorithm: Algorithm | AlgorithmFacts, task: Task) -> str:
    """Why an algorithm has none of the budgets of a task; empty where it has one."""
    if _affordable(algorithm, task.generator.budgets):
        return ""
    return f"{algorithm.name} ({algorithm.variant}) has {', '.join(algorithm.notions)} differential privacy alone"


def _affordable(
    algorithm: Algorithm | AlgorithmFacts, budgets: Iterable[tuple[float, float, float]]
) -> list[tuple[float, float, float]]:
    """The budgets of a plan that are of a notion which an algorithm, in its form, has."""
    both = "zCDP" in algorithm.notions and algorithm.variant == "private"
    return [
        (epsilon, delta, rho)
        for epsilon, delta, rho in budgets
        if (both if delta or rho else "pure" in algorithm.notions)
    ]


def _units(task: Task, data: SourceData, domain: Domain, candidate: Candidate) -> Iterator[Unit]:
    part, generator = replace(candidate.part, side_information=None), task.generator
    declared = bool(candidate.algorithm.side_information)
    source = candidate.part.side_information or (
        "public" if part.variant == "published" else task.repair.side_information
    )
    side_information = source if declared else ""
    share = task.repair.rho_total if side_information == "estimated" else 0.05
    for workload in task.workloads:
        built = workload.build(domain)
        asked = built.key, workload_version(type(built))
        for scale in generator.scales:
            for epsilon, delta, rho in _affordable(candidate.algorithm, generator.budgets):
                for sample in range(generator.samples):
                    budget = (epsilon, delta, rho) if delta or rho else (epsilon,)
                    setting = (task.name, data.name, domain, workload.label, scale, *budget)
                    sources = (*asked, candidate.source, data.source, generator_version())
                    made = (part.label, side_information, share, sample, generator.seed)
                    yield Unit(
                        task=task.name,
                        data=data,
                        domain=str(domain),
                        workload=workload,
                        scale=scale,
                        epsilon=epsilon,
                        delta=delta,
                        rho=rho,
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
                        generator_source=generator_version(),
                        loss=task.loss,
                        loss_source=loss_version(type(task.loss)),
                        files=candidate.files,
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
    delta: Sequence[object] = (),
    rho: Sequence[object] = (),
    samples: int | None = None,
    trials: int | None = None,
    seed: int | None = None,
    loss: LossLike | None = None,
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
        lists = {"scales": scale, "epsilons": epsilon, "deltas": delta, "rhos": rho}
        if rho and not epsilon:
            changes["epsilons"] = []
        changes.update({key: list(value) for key, value in lists.items() if value})
        single = {"samples": samples, "trials": trials, "seed": seed, "side_information": side_information}
        changes.update({key: value for key, value in {**single, "loss": loss}.items() if value is not None})
        changes["algorithms"] = _chosen(task, algorithm, added, variant, side_information)
        tasks.append(task.replace(**changes))
    if not tasks:
        raise InvalidPlan("nothing is left of the plan: no task has both a dataset and a domain; widen the options")
    return replace(plan, tasks=tuple(tasks))


def _chosen(
    task: Task, algorithm: Sequence[str], added: Sequence[str], variant: str | None, side_information: str | None
) -> list[AlgorithmPart]:
    """The algorithms of a task after narrowing and adding, in the wanted form."""
    own = {_known_as(part.name): part for part in task.algorithms}
    listed = [own.get(_known_as(name), AlgorithmPart(name)) for name in algorithm]
    parts = listed or list(task.algorithms) or [AlgorithmPart(name) for name in _catalogue()]
    present = {_known_as(part.name) for part in parts}
    parts += [AlgorithmPart(name) for name in added if _known_as(name) not in present]
    if variant is not None:
        parts = [replace(part, variant=variant) for part in parts]
    if side_information is not None:
        parts = [replace(part, side_information=side_information) for part in parts]
    return list(dict.fromkeys(parts))


def _known_as(name: str) -> str:
    """The catalogue's spelling of a name; a class in a file by its path."""
    return str(Path(name).resolve()) if is_file_reference(name) else known_as(name)
