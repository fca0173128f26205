"""The algorithm of a release: named in its spec, or recommended."""

from __future__ import annotations

from dpbench import algorithms
from dpbench.advice.advisor import Advice, recommend
from dpbench.algorithm import Algorithm
from dpbench.errors import DPBenchError, ReleaseRefused
from dpbench.releasable import RELEASED, why_not
from dpbench.tables.spec import Spec

RECOMMENDED = "recommended"


def released_algorithm(name: str) -> Algorithm:
    """An algorithm that can be released, by name."""
    found = algorithms.get(name)
    reason = why_not(found.name) if type(found).__module__.startswith("dpbench.") else why_not("")
    if reason:
        raise ReleaseRefused(f"{found.name} cannot be released: {reason}; these can: {', '.join(RELEASED)}")
    return found


def chosen(spec: Spec) -> tuple[Algorithm, Advice | None]:
    """The algorithm of a spec, and what the study says about its error where the spec guesses the number of records."""
    wanted = str(spec.algorithm)
    if wanted.strip().casefold() == RECOMMENDED:
        if spec.records is None:
            raise spec.wrong("algorithm", 'algorithm = "recommended" needs records = N, about how many rows there are')
        if spec.delta is not None:
            raise spec.wrong(
                "delta", "the recommendation is for pure differential privacy; leave delta out, or name one"
            )
        advice = _advice(spec, exact=True)
        return released_algorithm(advice.algorithm), advice
    algorithm = released_algorithm(wanted)
    if spec.records is None or spec.delta is not None:
        return algorithm, None
    try:
        return algorithm, _advice(spec, among=(algorithm.name,))
    except DPBenchError:  # the study does not know it
        return algorithm, None


def _advice(spec: Spec, **menu: object) -> Advice:
    """Advice at what is paid for each record; the guess of the number of rows is public."""
    assert spec.epsilon is not None and spec.records is not None  # noqa: S101, PT018  # for the type checker
    epsilon = float(spec.epsilon / spec.records_per_person)
    return recommend(spec.domain, epsilon, spec.records, **menu)  # type: ignore[arg-type]
