"""A release as a black box: the whole numbers that it publishes of two neighbouring tables, many times over."""

from __future__ import annotations

import time
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from dpbench.algorithm import Algorithm
from dpbench.audit.black_box import PURE, Promise
from dpbench.audit.layers import black_box_layer
from dpbench.audit.report import LAYERS, AuditReport, Layer
from dpbench.audit.subject import workload_for
from dpbench.domain import Domain
from dpbench.privacy import PureDP
from dpbench.release.algorithms import released_algorithm
from dpbench.release.publishing import draw, released_counts
from dpbench.tables import Numbers, histogram
from dpbench.workloads import Workload

Counts = NDArray[np.int64]

DOMAINS = ("4", "2x2", "12", "12x3")
"""Tried as far as the algorithm supports them: the first and the last of those."""
RUNS = 100_000
MOST_ROWS = 10**6


def audit_release(name: str, *, runs: int = RUNS, seed: int = 0) -> AuditReport:
    """Releases of small tables at epsilon 1 and 4, ``runs`` on each side; the noise is fresh, the events are seeded."""
    started, algorithm = time.perf_counter(), released_algorithm(name)
    supported = [Domain.of(each) for each in DOMAINS if algorithm.supports(each)]
    workloads = [workload_for(domain) for domain in dict.fromkeys((supported[0], supported[-1]))]

    def outputs(
        x: Counts, workload: Workload, promise: Promise, many: int, seed: np.random.SeedSequence
    ) -> NDArray[np.float64]:
        del seed  # a release takes none
        counts, notion = _by_a_table(x), PureDP(Fraction(promise[0]))
        return np.stack([_one(algorithm, counts, workload, notion) for _ in range(many)])

    found = black_box_layer(algorithm.name, outputs, workloads, runs, seed, PURE)
    nothing = "a release is looked at from outside; leave --released out for this layer"
    layers = tuple(found if name == found.name else Layer(name, "not run", nothing) for name in LAYERS)
    return AuditReport(algorithm.name, "released", None, layers, time.perf_counter() - started)


def _by_a_table(x: Counts) -> Counts:
    """The counts as a release has them: rows first, as far as that is no waste."""
    if x.sum() > MOST_ROWS:
        return x
    rows = np.repeat(np.arange(x.size), x.reshape(-1))
    return histogram({"cell": rows}, [Numbers("cell", 0, x.size, bins=x.size)]).counts.reshape(x.shape)


def _one(algorithm: Algorithm, counts: Counts, workload: Workload, notion: PureDP) -> NDArray[np.float64]:
    return released_counts(draw(algorithm, counts, workload, notion)).astype(np.float64)
