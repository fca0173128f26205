"""Other libraries on the same vector: ``make bench-peers``, or ``python -m benchmarks.peers`` where they are installed.

One synthetic shape on 1,024 cells, all prefixes, two budgets: the error of each library's histogram and the time of one
run, beside some of ours. Each row says what the library computes and what it takes for granted, since no two of them
promise the same. A package that is missing is one line, and the others are run.
"""

from __future__ import annotations

import runpy
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import dpbench as dpb

CELLS, SCALE, SHAPE = 1024, 100_000, "bimodal"
EPSILONS = (0.1, 1.0)
Counts = NDArray[np.int64]
Estimate = NDArray[np.float64]
Run = Callable[[Counts, float, int], Estimate]
"""From counts, epsilon and a seed to an estimate of the counts."""


ADAPTERS = Path(__file__).parent.parent / "docs" / "adapters"

# --- one small function per peer ------------------------------------------------------------------


def adapter(file: str, function: str) -> Run:
    """A function of docs/adapters, loaded when it is first called: its library may be missing."""

    def run(x: Counts, epsilon: float, seed: int) -> Estimate:
        found = loaded(str(ADAPTERS / file))[function]
        return np.asarray(found(x, dpb.workloads.Prefix(len(x)), epsilon, np.random.default_rng(seed)))

    return run


@cache
def loaded(path: str) -> dict[str, Any]:
    """What a file defines."""
    return runpy.run_path(path)


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
        adapter("opendp_histograms.py", "histogram"),
        "exact integer noise; neighbours differ by one record added or removed; cells are given",
    ),
    Peer(
        "OpenDP b-ary tree",
        "opendp",
        adapter("opendp_histograms.py", "tree"),
        "the same, on every node of a tree whose branching it chooses for all ranges; estimates may be negative",
    ),
    Peer(
        "diffprivlib histogram",
        "diffprivlib",
        adapter("diffprivlib_histogram.py", "cells"),
        "counts below 0 become 0, which is biased on prefixes; neighbours by one record; reads records, not counts",
    ),
    Peer(
        "SmartNoise MWEM",
        "smartnoise-synth",
        adapter("smartnoise_mwem.py", "mwem"),
        "takes the number of records and the first and last cell with one as public; floating-point Laplace noise; 10 "
        "rounds on 400 random ranges (left to itself it takes 50)",
        trials=2,
    ),
    Peer(
        "Private-PGM",
        "mbi",
        adapter("private_pgm.py", "marginals"),
        "floating-point Laplace noise of our own on every cell; the library finds the most likely distribution",
        trials=3,
    ),
    *(
        Peer(f"dpbench {name}", "dpbench-range", partial(ours, name=name), caveat)
        for name, caveat in {
            "Identity": "floating-point Laplace noise; neighbours by one record; cells are given",
            "Hb": "the same, on a tree made for all ranges",
            "HDMM": "the same, by a strategy made for prefixes",
            "MWEM": "estimates the number of records with part of the budget; the workload's own queries",
            "DAWA": "the number of records is not needed",
            "Cascade": "the same, and its error depends on the data",
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
