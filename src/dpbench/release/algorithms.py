"""The algorithm of a release: named in its spec, or recommended."""

from __future__ import annotations

from contextlib import suppress

from dpbench import algorithms
from dpbench.advice.advisor import Advice, recommend
from dpbench.algorithm import Algorithm
from dpbench.errors import DPBenchError, ReleaseRefused
from dpbench.releasable import RELEASED, why_not
from dpbench.release.statement import MAGNITUDES
from dpbench.tables.spec import Spec

RECOMMENDED = "recommended"
MOST_CELLS = 2**20
"""Beyond them the study is not asked: its domains are far smaller, and at 10^8 cells the answer takes all memory."""


def released_algorithm(name: str) -> Algorithm:
    """An algorithm that can be released, by name."""
    found = algorithms.get(name)
    reason = why_not(found.name) if type(found).__module__.startswith("dpbench.") else why_not("")
    if reason:
        raise ReleaseRefused(f"{found.name} cannot be released: {reason}; these can: {', '.join(RELEASED)}")
    return found


def chosen(spec: Spec) -> tuple[Algorithm, tuple[Advice, ...]]:
    """The algorithm of a spec, and what the study says about its error.

    That is for the number of records that the spec guesses; without a guess, for every order of magnitude that the
    study knows.
    """
    wanted = str(spec.algorithm)
    if wanted.strip().casefold() == RECOMMENDED:
        if spec.records is None:
            raise spec.wrong("algorithm", 'algorithm = "recommended" needs records = N, about how many rows there are')
        if spec.delta is not None:
            raise spec.wrong(
                "delta", "the recommendation is for pure differential privacy; leave delta out, or name one"
            )
        advice = _advice(spec, spec.records, exact=True)
        return released_algorithm(advice.algorithm), (advice,)
    algorithm = released_algorithm(wanted)
    if spec.domain.size > MOST_CELLS:
        return algorithm, ()
    if spec.delta is not None or not algorithm.data_dependent:  # of the latter the statement knows more
        return algorithm, ()
    found = []
    for records in MAGNITUDES if spec.records is None else (spec.records,):
        with suppress(DPBenchError):  # the study does not know it
            found.append(_advice(spec, records, among=(algorithm.name,)))
    return algorithm, tuple(found)


def _advice(spec: Spec, records: int, **menu: object) -> Advice:
    """Advice at what is paid for each record; the guess of the number of rows is public."""
    assert spec.epsilon is not None  # noqa: S101  # for the type checker
    epsilon = float(spec.epsilon / spec.records_per_person)
    return recommend(spec.domain, epsilon, records, **menu)  # type: ignore[arg-type]
