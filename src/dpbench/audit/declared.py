"""What an algorithm declares of itself, held to what it does."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpbench.algorithm import Algorithm
from dpbench.audit.properties import EXACT, disagreement, kolmogorov_smirnov, remaining_error
from dpbench.audit.subject import Subject, is_ours, weighted_workload, workload_for
from dpbench.errors import CheckFailed, Unsupported
from dpbench.workloads import Workload

Figures = Mapping[str, Any]

DOMAINS = {1: ("37", "64"), 2: ("6x11",), 3: ("3x4x5",)}
DRAWS = 6
"""Trials in which draws have to agree."""
TRIALS = 300
DEVIATIONS = 6.0
"""Standard errors by which a mean over the trials may be off: 1e-8 per comparison, by the normal approximation."""
LEVEL = 1e-6
"""False-alarm rate of the test of two distributions, per comparison."""


def declares(algorithm: Algorithm, fact: str) -> bool:
    """Whether a class, or one of the catalogue that it is made from, says so itself; a default of the base is no word.

    What a class of the catalogue does not mention it has from the base deliberately. A stranger's class that says
    whether it depends on the data, and no more, leaves open what follows from that.
    """
    for kind in type(algorithm).__mro__:
        if issubclass(kind, Algorithm) and kind is not Algorithm:
            if fact in vars(kind) or is_ours(kind):
                return True
            if fact == "consistent" and "data_dependent" in vars(kind):
                return False
    return False


def check_consistency(subject: Subject) -> Figures:
    """As epsilon grows the answers become exact, or they do not, as declared; ``dpbench properties`` says the same."""
    if subject.notion != "pure":
        return {}  # what is declared is of the algorithm, and measured under pure differential privacy
    algorithm = subject.algorithm
    worst, where = remaining_error(algorithm, subject.budget, enough=EXACT)
    promised = declares(algorithm, "consistent") or (declares(algorithm, "data_dependent") and algorithm.consistent)
    if not promised:
        return {"error at epsilon 1e9": worst}
    if algorithm.consistent and worst > EXACT:
        raise CheckFailed(
            f"{subject.name} declares consistency (consistent = True), but at epsilon 1e9 an answer is still off by "
            f"{worst:.3g} ({where})"
        )
    if not algorithm.consistent and worst <= EXACT:
        raise CheckFailed(
            f"{subject.name} declares a bias that stays (consistent = False), but at epsilon 1e9 all answers are exact"
        )
    return {"error at epsilon 1e9": worst}


def check_exchangeability(subject: Subject) -> Figures:
    """Where declared: four times the counts at a quarter of epsilon give four times the estimate, draw for draw."""
    if (
        not subject.algorithm.exchangeable
        or subject.notion != "pure"
        or not declares(subject.algorithm, "exchangeable")
    ):
        return {}
    where = disagreement(subject.algorithm, subject.budget, DRAWS)
    if where:
        raise CheckFailed(
            f"{subject.name} declares exchangeability, but four times the counts at a quarter of epsilon do not give "
            f"four times the estimate ({where})"
        )
    return {}


def check_expected_error(subject: Subject) -> Figures:
    """Where it states an expected error: the mean over many trials is that, up to chance."""
    found = {}
    for workload in _workloads(subject):
        try:
            stated = subject.algorithm.expected_error(workload, **subject.budget(1))
        except Unsupported:
            return {}
        x = _scattered(workload)
        errors = _errors(subject, workload, x)
        mean, error = float(errors.mean()), float(errors.std()) / np.sqrt(len(errors))
        if abs(mean - stated) > DEVIATIONS * error + 1e-9 * stated:
            raise CheckFailed(
                f"{subject.name} states an expected error of {stated:.4g} per query for {workload.name} on "
                f"{workload.domain} at epsilon 1, but {len(errors)} trials had {mean:.4g} +- {error:.2g}"
                f"{_whose(subject)}"
            )
        found[f"{workload.name} on {workload.domain}"] = [stated, mean]
    return {"expected error, stated and seen": found}


def check_data_independence(subject: Subject) -> Figures:
    """Where declared: on two very different data vectors the errors are the same draws, or of one distribution."""
    if subject.algorithm.data_dependent:
        return {}
    for workload in _workloads(subject):
        empty = np.zeros(workload.domain.shape, dtype=np.int64)
        one, other = (_errors(subject, workload, x) for x in (empty, _scattered(workload)))
        if np.allclose(one, other, rtol=1e-6):
            continue
        fresh = _errors(subject, workload, _scattered(workload), seed=subject.seed + 1)
        p_value = kolmogorov_smirnov(one, fresh)
        if p_value < LEVEL:
            raise CheckFailed(
                f"{subject.name} declares data_dependent = False, but its error for {workload.name} on "
                f"{workload.domain} is {one.mean():.4g} on an empty data vector and {fresh.mean():.4g} on another "
                f"(p = {p_value:.1g})"
            )
    return {}


def _whose(subject: Subject) -> str:
    """From which class the stated error comes, where that is not its own."""
    kinds = type(subject.algorithm).__mro__
    owner = next(kind for kind in kinds if {"measurement", "expected_error"} & vars(kind).keys())
    return "" if owner is kinds[0] else f" (measurement, which states it, is that of {owner.__name__}: override it)"


def _workloads(subject: Subject) -> Iterator[Workload]:
    for domain in subject.domains(DOMAINS):
        yield workload_for(domain)
        yield weighted_workload(domain)


def _scattered(workload: Workload) -> NDArray[np.int64]:
    cells = np.arange(workload.domain.size)
    return np.asarray((cells * 7919 % 1009) * (cells % 3 == 0)).reshape(workload.domain.shape)


def _errors(subject: Subject, workload: Workload, x: NDArray[np.int64], seed: int | None = None) -> NDArray[np.float64]:
    """Squared error per query of each trial."""
    seed = subject.seed if seed is None else seed
    estimate = subject.outcome(x, workload, 1, trials=TRIALS, seed=seed).estimate
    return np.asarray(((workload.answer(estimate) - workload.answer(x)) ** 2).mean(axis=1))
