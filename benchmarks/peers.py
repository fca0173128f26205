"""Other libraries on the same vector: ``make bench-peers``, or ``python -m benchmarks.peers`` where they are installed.

One synthetic shape on 1,024 cells, all prefixes, two budgets: the error of each library's histogram and the time of one
run, beside some of ours. Each row says what the library computes and what it takes for granted, since no two of them
promise the same. A package that is missing is one line, and the others are run.
"""

from __future__ import annotations

import random
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from importlib.metadata import version

import numpy as np
from numpy.typing import NDArray

import dpbench as dpb

CELLS, SCALE, SHAPE = 1024, 100_000, "bimodal"
EPSILONS = (0.1, 1.0)
Counts = NDArray[np.int64]
Estimate = NDArray[np.float64]
Run = Callable[[Counts, float, int], Estimate]
"""From counts, epsilon and a seed to an estimate of the counts."""


# --- one small function per peer ------------------------------------------------------------------


def opendp_histogram(x: Counts, epsilon: float, seed: int) -> Estimate:
    """Discrete Laplace noise on every cell; randomness is the operating system's, whatever the seed."""
    import opendp.prelude as odp

    del seed
    odp.enable_features("contrib")
    space = odp.vector_domain(odp.atom_domain(T=int), size=len(x)), odp.l1_distance(T=int)
    noisy = odp.m.make_laplace(*space, scale=1 / epsilon)
    return np.array(noisy(x.tolist()), dtype=np.float64)


def opendp_tree(x: Counts, epsilon: float, seed: int) -> Estimate:
    """Noise on all nodes of a b-ary tree, made consistent by least squares."""
    import opendp.prelude as odp

    del seed
    odp.enable_features("contrib")
    space = odp.vector_domain(odp.atom_domain(T=int), size=len(x)), odp.l1_distance(T=int)
    branching = odp.t.choose_branching_factor(size_guess=len(x))
    tree = odp.t.make_b_ary_tree(*space, leaf_count=len(x), branching_factor=branching)
    noisy = tree >> odp.m.then_laplace(scale=tree.map(1) / epsilon)
    consistent = odp.t.make_consistent_b_ary_tree(branching_factor=branching)
    return np.array(consistent(noisy(x.tolist())), dtype=np.float64)[: len(x)]


def diffprivlib_histogram(x: Counts, epsilon: float, seed: int) -> Estimate:
    """Truncated geometric noise on every cell, from records."""
    from diffprivlib.tools import histogram

    records = np.repeat(np.arange(len(x)), x)
    ends = (-0.5, len(x) - 0.5)
    return np.asarray(histogram(records, epsilon, bins=len(x), range=ends, random_state=seed)[0], dtype=np.float64)


def smartnoise_mwem(x: Counts, epsilon: float, seed: int) -> Estimate:
    """MWEM over random ranges, in ten rounds."""
    from snsynth.mwem import MWEMSynthesizer
    from snsynth.transform.table import NoTransformer

    random.seed(seed)
    np.random.seed(seed)  # noqa: NPY002  (it draws from the global generators)
    records = np.repeat(np.arange(len(x)), x).reshape(-1, 1)
    made = MWEMSynthesizer(epsilon=epsilon, iterations=10, q_count=400, add_ranges=True)
    made.fit(records, transformer=NoTransformer())
    found = np.zeros(len(x))
    first = int(records.min())
    shown = np.ravel(made.synthetic_histograms[0][0])
    found[first : first + len(shown)] = shown
    return found


def ours(x: Counts, epsilon: float, seed: int, *, name: str) -> Estimate:
    """An algorithm of the catalogue."""
    return np.asarray(dpb.algorithms.get(name).run(x, dpb.workloads.Prefix(len(x)), epsilon, seed=seed)[0])


# --- the table ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Peer:
    """What is compared, and what has to be known to compare it."""

    name: str
    package: str
    run: Run
    caveat: str
    trials: int = 20


PEERS = (
    Peer(
        "OpenDP histogram",
        "opendp",
        opendp_histogram,
        "exact integer noise; neighbours differ by one record added or removed; cells are given",
    ),
    Peer(
        "OpenDP b-ary tree",
        "opendp",
        opendp_tree,
        "the same, on every node of a tree whose branching it chooses for all ranges; estimates may be negative",
    ),
    Peer(
        "diffprivlib histogram",
        "diffprivlib",
        diffprivlib_histogram,
        "counts below 0 become 0, which is biased on prefixes; neighbours by one record; reads records, not counts",
    ),
    Peer(
        "SmartNoise MWEM",
        "smartnoise-synth",
        smartnoise_mwem,
        "takes the number of records and the first and last cell with one as public; floating-point Laplace noise; 10 "
        "rounds on 400 random ranges (left to itself it takes 50)",
        trials=2,
    ),
    *(
        Peer(f"dpbench {name}", "dpbench-range", partial(ours, name=name), caveat)
        for name, caveat in {
            "Identity": "floating-point Laplace noise; neighbours by one record; cells are given",
            "Hb": "the same, on a tree made for all ranges",
            "HDMM": "the same, by a strategy made for prefixes",
            "MWEM": "estimates the number of records with part of the budget; the workload's own queries",
            "DAWA": "the number of records is not needed",
        }.items()
    ),
)


def measured(peer: Peer, x: Counts, epsilon: float) -> tuple[float, float, float]:
    """Mean scaled L2 error on all prefixes, its standard error, and seconds of processor time per run."""
    workload = dpb.workloads.Prefix(len(x))
    peer.run(x, epsilon, 0)  # whatever is loaded or compiled at first is not counted
    begin = time.process_time()
    estimates = np.stack([peer.run(x, epsilon, seed) for seed in range(1, peer.trials + 1)])
    seconds = (time.process_time() - begin) / peer.trials
    errors = dpb.loss.scaled_error(workload, x, estimates)
    return float(errors.mean()), float(errors.std(ddof=1) / np.sqrt(len(errors))), seconds


def main() -> int:
    """Print one table."""
    warnings.simplefilter("ignore")
    x = dpb.generate(dpb.datasets.shapes.get(SHAPE, CELLS), SCALE, seed=0)
    print(f"{SHAPE} on {CELLS} cells, {SCALE:,} records, all prefixes: mean scaled L2 error, milliseconds per run\n")
    heads = [f"{'error':>10} {'+-':>8} {'ms':>8}   " for _ in EPSILONS]
    print(f"{'':24}" + "".join(f"{f'epsilon {epsilon:g}':^31}" for epsilon in EPSILONS))
    print(f"{'':24}" + "".join(heads))
    caveats, missing = [], {}
    for peer in PEERS:
        try:
            cells = [measured(peer, x, epsilon) for epsilon in EPSILONS]
        except ImportError as error:
            missing.setdefault(peer.package, str(error).splitlines()[0])
            continue
        line = "".join(f"{mean:10.3e} {error:8.1e} {1e3 * seconds:8.1f}   " for mean, error, seconds in cells)
        print(f"{peer.name:24}{line}", flush=True)
        number = dpb.__version__ if peer.package == "dpbench-range" else version(peer.package)
        caveats.append(f"{peer.name} ({peer.package} {number}, {peer.trials} runs): {peer.caveat}")
    print("\n" + "\n".join(caveats))
    for package, why in missing.items():
        print(f"not compared: {package} cannot be imported ({why}); pip install {package}, or see `make bench-peers`")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
