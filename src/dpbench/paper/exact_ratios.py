"""Ratios of errors that need no run: the root of the ratio of two expected squared errors."""

from __future__ import annotations

import json
from collections.abc import Mapping

from dpbench import algorithms
from dpbench.algorithm import Algorithm
from dpbench.errors import AlgorithmFailed, DPBenchError
from dpbench.results import Results
from dpbench.store.setting_key import Group, budget_of
from dpbench.workloads import Workload


def exact_ratios(
    newcomer: Algorithm, study: Results, workloads: Mapping[tuple[str, str], Workload]
) -> dict[str, dict[str, float]]:
    """Error of a newcomer over that of every data-independent rival, by label of the rival and by domain.

    Errors are norms, so the ratio is the root of that of expected squared errors. It is exact for the L2 loss and data
    of any kind; by another loss there is none. ``workloads`` has the workloads of the study by label and domain.
    """
    if newcomer.data_dependent or study.standards.loss != "L2":
        return {}
    groups = list(dict.fromkeys(place.group for place in study.grid.places))
    found: dict[str, dict[str, float]] = {}
    for label in study.grid.labels:
        rival = _built(study, label)
        for group in groups if rival is not None and not rival.data_dependent else ():
            ratio = _ratio(newcomer, rival, group, workloads)  # type: ignore[arg-type]  # there are no groups for None
            if ratio is not None:
                found.setdefault(label, {})[_where(group, groups)] = ratio
    return found


def _built(study: Results, label: str) -> Algorithm | None:
    """The algorithm of the catalogue that a label stands for; None for one that is not in it."""
    setting = study.where(label=label)[0]
    try:
        return algorithms.get(setting.algorithm, variant=setting.variant, **json.loads(setting.parameters))
    except DPBenchError:
        return None


def _ratio(
    one: Algorithm, other: Algorithm, group: Group, workloads: Mapping[tuple[str, str], Workload]
) -> float | None:
    """None where either has no expected error, or does not run on such a domain."""
    domain, budget = group.domain, budget_of(group)
    workload = workloads.get((group.workload, domain))
    if workload is None or not (one.supports(domain) and other.supports(domain)):
        return None
    try:
        expected = [float(each.expected_error(workload, **budget)) for each in (one, other)]
    except DPBenchError:
        return None
    except Exception as error:  # the newcomer is somebody's code
        words = f"{type(error).__name__}: {' '.join(str(error).split())}"
        raise AlgorithmFailed(f"expected_error of {one.name} failed on {domain}: {words}; correct it") from error
    return float((expected[0] / expected[1]) ** 0.5) if min(expected) > 0 else None


def _where(group: Group, groups: list[Group]) -> str:
    """The domain, with the workload and budget where the study has several on it."""
    same = [each for each in groups if each.domain == group.domain]
    words = [group.domain]
    words += [group.workload] if len({each.workload for each in same}) > 1 else []
    words += [group.budget] if len({each.budget for each in same}) > 1 else []
    return ", ".join(words)
