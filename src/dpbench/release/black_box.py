"""A release as a black box: the whole numbers that it publishes of two neighbouring tables, many times over.

A hundred thousand releases one by one would take hours, nearly all of it the fixed cost of a run. So a batch of them
runs as the trials of one, with the same steps: the algorithm, the mechanism's own exact draw on as many
copies of its truth, the same samplers on the operating system's randomness, the same post-processing.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpbench.algorithm import Algorithm
from dpbench.audit.black_box import PURE, Promise
from dpbench.audit.layers import black_box_layer
from dpbench.audit.report import LAYERS, AuditReport, Layer
from dpbench.audit.subject import workload_for
from dpbench.domain import Domain
from dpbench.privacy import PureDP
from dpbench.privacy.exact_channel import Exact, NoDraws
from dpbench.privacy.mechanisms import Laplace, Mechanism
from dpbench.release.algorithms import released_algorithm
from dpbench.release.publishing import draw, processed
from dpbench.tables import Numbers, histogram
from dpbench.workloads import Workload

Counts = NDArray[np.int64]

DOMAINS = ("4", "2x2", "12", "12x3")
"""Tried as far as the algorithm supports them: the first and the last of those."""
RUNS = 100_000
BATCH = 5_000
"""Releases that run together."""
MOST_ROWS = 10**6


def audit_release(name: str, *, runs: int = RUNS, seed: int = 0) -> AuditReport:
    """Releases of small tables at epsilon 1 and 4, ``runs`` on each side; the noise is fresh, the events are seeded."""
    started, algorithm = time.perf_counter(), released_algorithm(name)
    supported = [domain for domain in map(Domain.of, DOMAINS) if algorithm.supports(domain)]
    workloads = [workload_for(domain) for domain in dict.fromkeys((supported[0], supported[-1]))]

    def outputs(
        x: Counts, workload: Workload, promise: Promise, many: int, seed: np.random.SeedSequence
    ) -> NDArray[np.float64]:
        del seed  # a release takes none
        counts, notion = _by_a_table(x), PureDP(Fraction(promise[0]))
        sizes = [BATCH] * (many // BATCH) + [many % BATCH] * (many % BATCH > 0)
        return np.concatenate([releases(algorithm, counts, workload, notion, size) for size in sizes])

    found = black_box_layer(algorithm.name, outputs, workloads, runs, seed, PURE)
    nothing = "a release is looked at from outside; leave --released out for this layer"
    layers = tuple(found if name == found.name else Layer(name, "not run", nothing) for name in LAYERS)
    return AuditReport(algorithm.name, "released", None, layers, time.perf_counter() - started)


def releases(
    algorithm: Algorithm, counts: Counts, workload: Workload, notion: PureDP, many: int
) -> NDArray[np.float64]:
    """What so many independent releases publish, ``(many, *domain)``."""
    outcome = draw(algorithm, counts, workload, notion, channel=Together(many), noise=_NoDrawsOfMany(many))
    return processed(outcome).astype(np.float64)


def _by_a_table(x: Counts) -> Counts:
    """The counts as a release has them: rows first, as far as that is no waste."""
    if x.sum() > MOST_ROWS:
        return x
    rows = np.repeat(np.arange(x.size), x.reshape(-1))
    return histogram({"cell": rows}, [Numbers("cell", 0, x.size, bins=x.size)]).counts.reshape(x.shape)


class _NoDrawsOfMany(NoDraws):
    """No noise but exact noise, for many trials."""

    def __init__(self, trials: int) -> None:
        self.trials = trials

    def only(self, trial: int) -> NoDraws:
        """Of one."""
        del trial
        return NoDraws()

    def coins(self) -> tuple[np.random.SeedSequence, ...]:
        """Fresh public randomness for every trial."""
        return tuple(np.random.SeedSequence() for _ in range(self.trials))


class Together(Exact):
    """The channel of many releases: every mechanism draws as in one, for each of them."""

    def __init__(self, many: int) -> None:
        super().__init__()
        self._many = many

    def drawn(self, mechanism: Mechanism, material: Any, loss: Fraction) -> NDArray[Any]:
        """``(many, ...)``: noise on copies of the answers, in one draw; anything else one after the other."""
        if isinstance(mechanism, Laplace):  # or Gaussian
            truth = np.asarray(mechanism.exact_truth(material)).reshape(-1, *mechanism.shape)
            copies = type(mechanism)(_Copies(mechanism.strategy, (self._many, *mechanism.shape)))
            outcome = copies.draw_exactly(np.broadcast_to(truth, copies.shape), loss, self._noise)
            return np.asarray(outcome, dtype=np.float64)
        return np.concatenate([super(Together, self).drawn(mechanism, material, loss) for _ in range(self._many)])

    def only(self, trial: int) -> Exact:
        """The channel of one release."""
        del trial
        return Exact(self._noise)


@dataclass(frozen=True)
class _Copies:
    """A strategy whose answers stand there many times; what it says of one set of them is what its noise is for."""

    one: Any
    shape: tuple[int, ...]

    def __getattr__(self, name: str) -> Any:
        if name == "units":
            return np.broadcast_to(np.asarray(self.one.units, dtype=np.float64), self.shape)
        return getattr(self.one, name)
