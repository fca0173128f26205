"""Ratios of errors that need no run: the root of the ratio of two expected squared errors."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from dpbench import algorithms
from dpbench.algorithm import Algorithm
from dpbench.errors import AlgorithmFailed, DPBenchError
from dpbench.plugins import is_stranger
from dpbench.results import Results
from dpbench.run.interviews import Call, answers_of, nonsense
from dpbench.run.strangers import reference_of
from dpbench.run.units import build_algorithm
from dpbench.store.setting_key import Group, budget_of
from dpbench.task.parts import AlgorithmPart
from dpbench.workloads import Workload

SECONDS = 600.0
"""By the clock, that a stranger's algorithm may take for its expected errors."""
Asked = tuple[Workload, dict[str, Any]]
"""A workload and a budget, as an algorithm takes it."""


def exact_ratios(
    newcomer: Callable[[Sequence[Asked]], Sequence[float | None]],
    study: Results,
    workloads: Mapping[tuple[str, str], Workload],
) -> dict[str, dict[str, float]]:
    """Error of a newcomer over that of every data-independent rival, by label of the rival and by domain.

    Errors are norms, so the ratio is the root of that of expected squared errors. It is exact for the L2 loss and data
    of any kind; by another loss there is none. ``newcomer`` gives its expected errors (see :func:`expected_errors`),
    ``workloads`` has the workloads of the study by label and domain.
    """
    if study.standards.loss != "L2":
        return {}
    groups = list(dict.fromkeys(place.group for place in study.grid.places))
    known = [group for group in groups if (group.workload, group.domain) in workloads]
    asked = [(workloads[group.workload, group.domain], budget_of(group)) for group in known]
    errors = newcomer(asked)
    found: dict[str, dict[str, float]] = {}
    for label in study.grid.labels if any(errors) else ():
        rival = _built(study, label)
        theirs = expected_errors(rival, asked) if rival is not None else [None] * len(asked)
        for group, one, other in zip(known, errors, theirs, strict=True):
            if one and other and min(one, other) > 0:
                found.setdefault(label, {})[_where(group, groups)] = float((one / other) ** 0.5)
    return found


def expected_errors(algorithm: Algorithm, asked: Sequence[Asked]) -> list[float | None]:
    """Expected squared errors; None where there is none, or the algorithm does not run on such a domain."""
    return [None if algorithm.data_dependent else _expected(algorithm, *each) for each in asked]


def errors_by_name(reference: str, variant: str, asked: Sequence[Asked]) -> list[float | None]:
    """The same of an algorithm of the catalogue, or of a stranger's in a process of its own."""
    part = AlgorithmPart(reference_of(reference), variant)
    if not is_stranger(reference):
        return _plain(part, asked)[0]["errors"]  # type: ignore[no-any-return]
    (answer,) = answers_of(part.name, [Call(_plain, (part, asked))], SECONDS)
    errors = answer.facts.get("errors")
    if not isinstance(errors, list) or len(errors) != len(asked):
        raise nonsense(part.name)
    return [float(each) if isinstance(each, int | float) else None for each in errors]


def _plain(part: AlgorithmPart, asked: Sequence[Asked]) -> tuple[dict[str, Any], bytes]:
    return {"errors": expected_errors(build_algorithm(part.name, part), asked)}, b""


def _built(study: Results, label: str) -> Algorithm | None:
    """The algorithm of the catalogue that a label stands for; None for one that is not in it."""
    setting = study.where(label=label)[0]
    try:
        return algorithms.get(setting.algorithm, variant=setting.variant, **json.loads(setting.parameters))
    except DPBenchError:
        return None


def _expected(algorithm: Algorithm, workload: Workload, budget: Mapping[str, Any]) -> float | None:
    if not algorithm.supports(workload.domain):
        return None
    try:
        return float(algorithm.expected_error(workload, **budget))
    except DPBenchError:
        return None
    except Exception as error:  # the newcomer is somebody's code
        words = f"{type(error).__name__}: {' '.join(str(error).split())}"
        where = f"expected_error of {algorithm.name} failed on {workload.domain}"
        raise AlgorithmFailed(f"{where}: {words}; correct it") from error


def _where(group: Group, groups: list[Group]) -> str:
    """The domain, with the workload and budget where the study has several on it."""
    same = [each for each in groups if each.domain == group.domain]
    words = [group.domain]
    words += [group.workload] if len({each.workload for each in same}) > 1 else []
    words += [group.budget] if len({each.budget for each in same}) > 1 else []
    return ", ".join(words)
