"""Exchangeability and consistency, measured rather than assumed, for our algorithms and for anybody's."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass, fields
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpbench import algorithms
from dpbench.algorithm import Algorithm, Variant
from dpbench.audit.subject import SMALL_DOMAINS, Subject, budget_like
from dpbench.domain import Domain
from dpbench.errors import DPBenchError
from dpbench.loss import scaled_error
from dpbench.plugins import find, is_stranger
from dpbench.run.interviews import Call, answers_of, nonsense
from dpbench.run.strangers import reference_of
from dpbench.store.files import known
from dpbench.strangers_text import one_line
from dpbench.workloads import Identity, Prefix, RandomRange, Workload

Counts = NDArray[np.int64]
Budget = Callable[[object], Mapping[str, Any]]
"""From an epsilon to the budget of equal noise under a notion, as an algorithm takes it."""

DOMAINS = ("16", "256", "8x8", "16x16")
"""Large enough for structure. QuadTree's bias, the paper's no*, needs more than 1024 cells on a side and is unseen."""
TRIALS = 400
"""Trials on each side of the test of distributions."""
LEVEL = 0.001
"""Level of the test of distributions, divided by the number of comparisons."""
SECONDS = 600.0
"""By the clock, that a stranger's algorithm may take to be measured."""
EXACT = 1e-3
"""Largest error of an answer, in records, that counts as none at epsilon 10^9."""


@dataclass(frozen=True)
class MeasuredProperties:
    """What was measured of one algorithm in one form."""

    algorithm: str
    variant: str
    consistent: bool
    """Whether every answer was exact at epsilon 10^9: on all shapes, domains and workloads tried."""
    remaining: float
    """Largest error of an answer at epsilon 10^9, in records."""
    remaining_where: str
    """Where that was."""
    exchangeable: str
    """``draw for draw``, ``in distribution`` (no difference found) or ``no``."""
    p_value: float
    """Smallest p-value of the test of distributions, over all comparisons; 1 where draws agree."""
    differs_where: str
    """Where the smallest p-value was; empty where draws agree."""
    failure: str = ""
    """Why it could not be measured; empty where all is well."""
    notion: str = "pure"
    """The notion of privacy that it was measured under."""


def measured_properties(
    kind: type[Algorithm], variant: Variant = "private", notion: str = "", **parameters: Any
) -> MeasuredProperties:
    """Measure both properties of an algorithm in one form, under one notion of privacy or the first that it has.

    Under zCDP an epsilon stands for the rho of equal noise, epsilon^2 / 4.

    Consistency: no answer may be off at epsilon 10^9, on shapes that defeat some algorithm each. It can be refuted by
    this, and not proven. Exchangeability: four times the counts at a quarter of epsilon, with the same noise, have to
    give four times the estimate. Where they do not, errors with fresh noise are compared by the test of Kolmogorov and
    Smirnov at 0.001 over the number of comparisons; no difference among 400 trials means a small difference at most.
    """
    algorithm = kind(variant=variant, **parameters)
    budget = partial(budget_like, notion or kind.notions[0])
    named = {"algorithm": kind.name, "variant": variant, "notion": notion or kind.notions[0]}
    try:
        remaining, where = remaining_error(algorithm, budget)
        exchangeable, p_value, differs = _exchangeable(algorithm, budget)
    except DPBenchError as error:
        return MeasuredProperties(**named, consistent=False, remaining=np.nan, remaining_where="", exchangeable="no",
            p_value=np.nan, differs_where="", failure=str(error))  # fmt: skip
    return MeasuredProperties(
        **named,
        consistent=remaining <= EXACT,
        remaining=remaining,
        remaining_where=where,
        exchangeable=exchangeable,
        p_value=p_value,
        differs_where=differs,
    )


def measured_by_name(reference: str, variant: Variant = "private", notion: str = "") -> MeasuredProperties:
    """The same of an algorithm of the catalogue, or of a stranger's in a process of its own."""
    if not is_stranger(reference):
        return measured_properties(find(reference), variant, notion)
    where = reference_of(reference)
    (answer,) = answers_of(where, [Call(_plain, (where, variant, notion))], SECONDS)
    return _read(where, answer.facts)


def _plain(reference: str, variant: Variant, notion: str) -> tuple[dict[str, Any], bytes]:
    return as_row(measured_properties(find(reference), variant, notion)), b""


def _read(reference: str, facts: Mapping[str, Any]) -> MeasuredProperties:
    """Measured properties from plain values, which may come from anywhere."""
    values = dict[str, Any]()
    for field in fields(MeasuredProperties):
        value = facts.get(field.name)
        if field.type == "float":
            values[field.name] = float(value) if isinstance(value, int | float) else np.nan
        elif field.type == "bool":
            values[field.name] = value is True
        elif isinstance(value, str):
            values[field.name] = one_line(value)
        else:
            raise nonsense(reference)
    return MeasuredProperties(**values)


def measured_catalogue() -> list[MeasuredProperties]:
    """Both forms of every pure algorithm of the catalogue; the published one only where it differs."""
    found = []
    for kind in algorithms.catalogue().values():
        found.append(measured_properties(kind))
        if kind.not_private or kind.defaults() != kind.defaults("published") or kind.side_information:
            found.append(measured_properties(kind, "published"))
    return found


def shapes(domain: Domain) -> Iterator[tuple[str, Counts]]:
    """Counts of different shapes, those of the paper's counterexamples among them."""
    cell = np.arange(domain.size)
    plain = {
        "i": cell + 1,
        "2^(n-i)": 2 ** np.maximum(16 - cell, 0),
        "quadratic residues": (7 * cell**2) % 31,
        "spike": np.where(cell == domain.size // 3, 1000, 0),
        "few records": cell % 4 == 0,
        "steps": 100 * (cell * 4 // domain.size) + 3,
    }
    for name, counts in plain.items():
        yield name, counts.astype(np.int64).reshape(domain.shape)


def _domains(algorithm: Algorithm) -> list[Domain]:
    fitting = [domain for domain in map(Domain.of, DOMAINS) if algorithm.supports(domain)]
    return fitting or list(Subject(algorithm).domains(SMALL_DOMAINS))[:2]


def _workload(domain: Domain) -> Workload:
    return Prefix(domain) if domain.ndim == 1 else RandomRange(domain, queries=60, seed=1)


def remaining_error(algorithm: Algorithm, budget: Budget, enough: float = np.inf) -> tuple[float, str]:
    """The largest error of an answer at epsilon 10^9, or the first above ``enough``, and where it was."""
    worst, where = -1.0, ""
    for domain in _domains(algorithm):
        for workload in (_workload(domain), Identity(domain)):
            for name, x in shapes(domain):
                estimate = algorithm.outcome(x, workload, trials=3, seed=0, **budget(10**9)).estimate
                error = float(np.abs(workload.answer(estimate) - workload.answer(x)).max())
                if error > worst:
                    worst, where = error, f"{workload.name} on {domain}, {name}"
                if worst > enough:
                    return worst, where
    return worst, where


def _exchangeable(algorithm: Algorithm, budget: Budget) -> tuple[str, float, str]:
    """How the property holds, the smallest p-value and where it was."""
    cases = [(domain, name, x) for domain in _domains(algorithm) for name, x in shapes(domain)]
    if not disagreement(algorithm, budget):
        return "draw for draw", 1.0, ""
    tests = [
        (_distributions(algorithm, domain, x, at, budget), f"{name} on {domain}")
        for at, (domain, name, x) in enumerate(cases)
    ]
    p_value, where = min(tests)
    return ("no" if p_value < LEVEL / len(cases) else "in distribution"), p_value, where


def disagreement(algorithm: Algorithm, budget: Budget, trials: int = 40) -> str:
    """Where the same draws at four times the counts and a quarter of epsilon give something else; empty: nowhere."""
    cases = ((domain, name, x) for domain in _domains(algorithm) for name, x in shapes(domain))
    return next(
        (f"{name} on {domain}" for domain, name, x in cases if not _draws_agree(algorithm, domain, x, budget, trials)),
        "",
    )


def _draws_agree(algorithm: Algorithm, domain: Domain, x: Counts, budget: Budget, trials: int) -> bool:
    workload = _workload(domain)
    small = algorithm.outcome(x, workload, trials=trials, seed=0, **budget(Fraction(2, 5))).estimate
    large = algorithm.outcome(4 * x, workload, trials=trials, seed=0, **budget(Fraction(1, 10))).estimate
    return bool(np.allclose(large, 4 * small, rtol=1e-9, atol=1e-9))


def _distributions(algorithm: Algorithm, domain: Domain, x: Counts, seed: int, budget: Budget) -> float:
    """The p-value of equal errors at 16 times the counts and a sixteenth of epsilon, each with its own noise."""
    workload = _workload(domain)
    small = algorithm.outcome(x, workload, trials=TRIALS, seed=2 * seed, **budget(Fraction(8, 5))).estimate
    large = algorithm.outcome(16 * x, workload, trials=TRIALS, seed=2 * seed + 1, **budget(Fraction(1, 10))).estimate
    return kolmogorov_smirnov(scaled_error(workload, x, small), scaled_error(workload, 16 * x, large))


def kolmogorov_smirnov(one: NDArray[np.float64], other: NDArray[np.float64]) -> float:
    """The asymptotic p-value of equal distributions."""
    from scipy.special import kolmogorov

    values = np.concatenate([one, other])
    below = [np.searchsorted(np.sort(each), values, side="right") / len(each) for each in (one, other)]
    distance = float(np.abs(below[0] - below[1]).max())
    return float(kolmogorov(distance * np.sqrt(len(one) * len(other) / (len(one) + len(other)))))


def as_row(measured: MeasuredProperties) -> dict[str, Any]:
    """Measured properties as plain values, unknown numbers as None."""
    return dict(known(asdict(measured)))
