"""Cases of the randomised replay: a domain, a budget, a workload, trials, noise and two data vectors, all at random.

A case is a function of the seed and its number alone, so that any can be made again.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpbench.algorithm import Algorithm
from dpbench.audit.distorted_noise import DISTORTIONS, PLAIN
from dpbench.audit.subject import budget_like, is_ours, weighted_workload
from dpbench.audit.vectors import Vector, draw_vector, far_from, neighbour
from dpbench.domain import Domain
from dpbench.errors import CheckFailed
from dpbench.workloads import AllRange, Identity, Prefix, RandomRange, RandomSmall, Workload

Counts = NDArray[np.int64]
Rng = np.random.Generator

BATCH = 8
"""Cases that are run one after the other in one process, so that what an algorithm keeps between runs shows."""
MOST_CELLS = 1100
SIDES = (1, 2, 3, 4, 5, 6, 7, 8, 9, 11, 12, 13, 15, 16, 17, 20, 23, 31, 32, 33)
SIZES = (64, 65, 100, 127, 128, 129, 200, 255, 256, 257, 300, 301, 400, 500, 512, 513, 729, 1000, 1023, 1024, 1025)
STUDY_DOMAINS = ((2048,), (4096,), (64, 64), (128, 128))
"""Sizes of the study, on which a stranger's algorithm is tried now and then; one of ours is by ``--domain``."""
STUDY_EVERY, STUDY_FIRST = 12, 7
"""Batches, of which one is of such domains, with two cases."""
LARGEST_DOMAINS = ((70_001,), (300, 257))
"""Beyond the sizes of 16-bit numbers, on which a stranger's algorithm is tried if it is quick on those of the study."""
LARGEST_FIRST = 8
"""The first batch, after one of the study's domains, that is of such a domain."""
STUDY_QUERIES = 2000
EPSILONS = ("0.001", "0.005", "0.01", "0.05", "0.1", "0.5", "1", "2", "5", "10", "15", "20")
DELTA = 1e-6
MANY = 70
"""Trials of some cases; more than any block that they are worked on in."""
ALIKE = 5
"""Batches in a row that are of the same workloads in a thrifty search."""
MANY_CELLS = 300
"""Domains that so many trials are run on have at most so many cells."""
MOST_RANGES = 3000
DRAWS = 400
"""Domains that are drawn until one is supported."""


@dataclass(frozen=True, repr=False)
class Case:
    """One replay: recorded on one data vector, forced on another."""

    number: int
    workload: Workload
    epsilon: Fraction
    notion: str
    delta: float
    """Given beside epsilon where it is not 0; else a budget of zCDP is given as rho."""
    trials: int
    noise: str
    seed: int
    x: Counts
    y: Counts
    cell: int | None
    """The cell in which the two differ by one record; None: they are far apart."""

    @property
    def domain(self) -> Domain:
        """The domain of the workload."""
        return self.workload.domain

    @property
    def budget(self) -> dict[str, Any]:
        """The budget as an algorithm takes it."""
        if self.delta:
            return {"epsilon": self.epsilon, "delta": self.delta}
        return budget_like(self.notion, self.epsilon)

    def __str__(self) -> str:
        budget = ", ".join(f"{name}={float(value):g}" for name, value in self.budget.items())
        noise = "" if self.noise == PLAIN else f", noise {self.noise}"
        return f"{budget}, {self.workload.name} on {self.domain}, trials={self.trials}, seed={self.seed}{noise}"


@dataclass
class Cases:
    """Batches of cases for one algorithm, and what could not be tried of what was drawn."""

    algorithm: Algorithm
    notions: tuple[str, ...]
    seed: int
    domain: Domain | None = None
    """Where given, the only one."""
    thrifty: bool = False
    """For long searches: several batches in a row are of the same workloads, and only the first has many trials."""
    kept_out: int = 0
    """Domains that were drawn and that ``supports()`` refused."""

    def batch(self, number: int) -> list[Case]:
        """The cases of one batch; two in a row share their problem, and sometimes the vector that is forced."""
        rng = np.random.default_rng([self.seed, 15, number])
        cases: list[Case] = []
        large = self._large(rng, number)
        for first in range(number * BATCH, number * BATCH + (2 if large else BATCH), 2):
            problem = self._problem(rng, number, first - number * BATCH, large)
            before: Vector | None = None
            for each in (first, first + 1):
                vector = draw_vector(rng, problem["workload"].domain.size)
                cell: int | None = None
                if each % 4 == 3 and before is not None:
                    y = before.counts
                elif each % 3 == 2:
                    y = far_from(rng, vector)
                else:
                    y, cell = neighbour(rng, vector)
                before = Vector(y, vector.cell)
                shape = problem["workload"].domain.shape
                x, y = vector.counts.reshape(shape), y.reshape(shape)
                cases.append(Case(number=each, x=x, y=y, cell=cell, seed=int(rng.integers(2**31)), **problem))
        return cases

    def is_largest(self, number: int) -> bool:
        """Whether a batch is of the largest domains."""
        return number % STUDY_EVERY == LARGEST_FIRST and not is_ours(type(self.algorithm)) and self.domain is None

    def _large(self, rng: Rng, number: int) -> Domain | None:
        """A domain of the study's size that the algorithm supports, where this batch is to be of one."""
        if is_ours(type(self.algorithm)) or self.domain is not None:
            return None
        if number % STUDY_EVERY != STUDY_FIRST and not self.is_largest(number):
            return None
        domains = [Domain(shape) for shape in (LARGEST_DOMAINS if self.is_largest(number) else STUDY_DOMAINS)]
        supported = [domain for domain in domains if self.algorithm.supports(domain)]
        return supported[int(rng.integers(len(supported)))] if supported else None

    def _problem(self, rng: Rng, number: int, place: int, large: Domain | None) -> dict[str, Any]:
        drawing = np.random.default_rng([self.seed, 16, number // ALIKE, place]) if self.thrifty else rng
        domain = large or self._domain(drawing)
        notion = self.notions[int(rng.integers(len(self.notions)))]
        epsilon = rng.choice(EPSILONS) if rng.random() < 0.5 else f"{10 ** rng.uniform(-3, np.log10(20)):.3g}"
        trials = int(rng.choice((1, 1, 1, 2, 2, 3, 3, 5, MANY, MANY)))
        few = trials == MANY and (domain.size > MANY_CELLS or (self.thrifty and number % ALIKE > 0))
        return {
            "workload": draw_workload(drawing, domain),
            "epsilon": Fraction(str(epsilon)),
            "notion": notion,
            "delta": DELTA if notion == "zCDP" and rng.random() < 0.3 else 0.0,
            "trials": 3 if few else trials,
            "noise": PLAIN if number % 2 == 0 else str(rng.choice(list(DISTORTIONS))),
        }

    def _domain(self, rng: Rng) -> Domain:
        if self.domain is not None:
            return self.domain
        for _ in range(DRAWS):
            domain = draw_domain(rng)
            if self.algorithm.supports(domain):
                return domain
            self.kept_out += 1
        raise CheckFailed(
            f"{self.algorithm.name} supports none of {DRAWS} domains of 1 to {MOST_CELLS} cells on 1, 2 and 3 axes, so "
            f"nothing can be examined; name one with --domain"
        )


def draw_domain(rng: Rng) -> Domain:
    """Of 1 to 1,100 cells, on one axis or two, now and then three; odd sizes and powers of two."""
    axes = int(rng.choice((1, 1, 1, 2, 2, 2, 3)))
    if axes == 1 and rng.random() < 0.4:
        return Domain((int(rng.choice(SIZES)),))
    if axes == 1 and rng.random() < 0.5:
        return Domain((int(10 ** rng.uniform(0, np.log10(MOST_CELLS))),))
    while True:
        domain = Domain(tuple(int(side) for side in rng.choice(SIDES, axes)))
        if domain.size <= MOST_CELLS:
            return domain


def draw_workload(rng: Rng, domain: Domain) -> Workload:
    """Any kind that the domain has, weighted ranges among them."""
    kinds = list(_workloads(rng, domain))
    return kinds[int(rng.integers(len(kinds)))]


def _workloads(rng: Rng, domain: Domain) -> Iterator[Workload]:
    seed, queries = int(rng.integers(4)), int(rng.choice((1, 10, 100, STUDY_QUERIES, 3 * domain.size)))
    if domain.ndim == 1:
        yield Prefix(domain)
        yield Prefix(domain)
    if domain.size <= MOST_RANGES:
        yield Identity(domain)
    if np.prod([side * (side + 1) / 2 for side in domain]) <= MOST_RANGES:
        yield AllRange(domain)
    yield RandomRange(domain, queries=queries, seed=seed)
    yield RandomSmall(domain, queries=queries, seed=seed)
    yield weighted_workload(domain)
