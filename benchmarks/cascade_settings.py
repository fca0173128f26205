"""The settings of ``benchmarks.cascade``: random shapes, data built to hurt, workloads, epsilons; all synthetic."""

from collections import defaultdict
from itertools import product

import numpy as np

import dpbench as dpb
from dpbench.datasets import families
from dpbench.domain import Domain
from dpbench.run.seeds import seed_for

BUDGETS = ((0.01, 10**5), (0.1, 10**3), (0.1, 10**4), (1.0, 10**5), (0.1, 10**7), (10.0, 10**6))
"""Epsilon and scale: signals from 100 to 10^7, epsilons from 0.01 to 10."""
LINE, PLANE = ("256", "1000", "4096", "16384"), ("32x32", "64x64", "128x128", "64x256", "100x60", "256x256")
FEW_QUERIES = 10**6
"""All ranges are asked where they are fewer than this."""
FRESH = 100
"""Number of the first instance that samples take: what was looked at while choosing constants is below."""


def alternating(domain):
    """A checkerboard."""
    return np.indices(domain.shape).sum(axis=0) % 2 * 1.0


def diagonal(domain):
    """All mass on the diagonal; on a line, every seventh cell."""
    weights = np.zeros(domain.shape)
    if domain.ndim == 1:
        weights[::7] = 1
    else:
        at = np.arange(max(domain))
        weights[tuple((at * side // max(domain)) for side in domain)] = 1
    return weights


def straddling(domain):
    """Pairs of tall cells on either side of the boundaries of blocks of 16 and 128."""
    weights = np.full(domain.shape, 1e-3)
    line = np.ones(1)
    for side in domain:
        along = np.zeros(side)
        for step in (16, 128):
            for at in range(step, side, step):
                along[at - 1 : at + 1] += step
        line = np.multiply.outer(line, along + 1e-3)
    return weights + line[0]


def thirds(domain):
    """Blocks of three, five and eleven cells, full and empty in turn."""
    weights = np.ones(domain.shape)
    for axis, side in enumerate(domain):
        edges = np.cumsum(np.resize([3, 5, 11, 7], side))
        full = np.searchsorted(edges, np.arange(side), side="right") % 2
        weights = weights * full.reshape([-1 if at == axis else 1 for at in range(domain.ndim)])
    return weights


ATTACKS = {
    "even": lambda domain: np.ones(domain.shape),
    "checkerboard": alternating,
    "diagonal": diagonal,
    "straddling": straddling,
    "thirds": thirds,
}


def counts_of(shape, domain, scale):
    """Counts by a family's instance, or by an attack; 'one-each' has one record per cell."""
    if shape == "one-each":
        return np.ones(domain.shape, dtype=np.int64)
    seed = seed_for(0, "data", shape, str(domain), scale)
    if shape in ATTACKS:
        weights = ATTACKS[shape](domain).reshape(-1)
        return np.random.default_rng(seed).multinomial(scale, weights / weights.sum()).reshape(domain.shape)
    return dpb.generate(dpb.datasets.shapes.get(shape, domain), scale=scale, domain=domain, seed=seed)


def grid_of(ndim, shapes):
    """Shapes with every domain, workload and budget; not all ranges where they are too many."""
    domains = LINE if ndim == 1 else PLANE
    workloads = ("Prefix", "RandomRange", "RandomSmall", "Identity", "AllRange")[ndim - 1 :]
    for setting in product(shapes, domains, workloads, BUDGETS):
        if setting[2] != "AllRange" or dpb.workloads.AllRange(Domain.of(setting[1])).queries <= FEW_QUERIES:
            yield setting


def sample_of(ndim, each):
    """Settings drawn by seed alone: of every workload, domain and budget so many, of different families.

    Each has an instance of its family that nothing was chosen on.
    """
    strata = defaultdict(list)
    for setting in grid_of(ndim, families.names(ndim)):
        strata[setting[1:]].append(setting)
    for settings in strata.values():
        for shape, *rest in sorted(settings, key=shuffled)[:each]:
            number = int(seed_for(0, "instance", shape, *rest).generate_state(1)[0]) % 900
            yield (f"{shape}/{FRESH + number}", *rest)


def shuffled(setting):
    """A place in an order that has something of everything early."""
    return str(seed_for(0, "order", *setting).generate_state(1))


def settings_of(part, instances):
    """Every (shape, domain, workload, (epsilon, scale)) of a part."""
    if part in ("line", "plane"):
        ndim = 1 if part == "line" else 2
        yield from grid_of(ndim, families.instances(ndim, instances))
    elif part in ("sample-line", "sample-plane"):
        yield from sample_of(1 if part == "sample-line" else 2, instances)
    elif part == "attack":
        for domain, workloads in (
            ("256", ("Prefix", "RandomSmall", "Identity", "AllRange")),
            ("4096", ("Prefix",)),
            ("16384", ("Prefix",)),
            ("32x32", ("RandomRange", "RandomSmall", "Identity")),
            ("64x64", ("RandomRange",)),
            ("256x256", ("RandomRange",)),
        ):
            yield from product(ATTACKS, (domain,), workloads, BUDGETS)
            yield from product(("one-each",), (domain,), workloads, ((0.01, 0), (0.1, 0), (1.0, 0), (10.0, 0)))
    else:
        budgets = ((0.1, 10**5), (1.0, 10**8))
        for domain, shapes, workload in (
            ("1048576", ("rough/0", "clumps/0"), "Prefix"),
            ("1024x1024", ("hill/0", "towns/0"), "RandomRange"),
        ):
            yield from product(shapes, (domain,), (workload,), budgets)
