"""Time per trial of every algorithm, in units of one n-cell numpy Laplace draw of the same run: ``make bench``.

Machines differ and are noisy; the ratio to a draw measured in the same minute differs much less.
"""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable

import numpy as np

from dpbench import algorithms
from dpbench.datasets import shapes
from dpbench.generator import generate
from dpbench.workloads import Prefix, RandomRange, Workload

TRIALS = 50
CAPS = {
    "4096": {"Privelet": 4, "H": 5, "Hb": 5, "GreedyH": 8},
    "128x128": {"Privelet": 8, "Hb": 8, "GreedyH": 12},
}
STRATEGY_CAPS = {"4096": 2.0, "128x128": 60.0}
MEMORY_CAP = 2000


def best(call: Callable[[], object], repeats: int = 7) -> float:
    """Seconds of the quickest of several calls, after one that warms up."""
    call()
    seconds = []
    for _ in range(repeats):
        start = time.perf_counter()
        call()
        seconds.append(time.perf_counter() - start)
    return min(seconds)


def strategy_cost(written: str) -> tuple[float, float]:
    """Seconds and peak megabytes of building GreedyH's strategy, in a process of its own."""
    code = (
        "import resource, time\n"
        "from dpbench import algorithms, workloads\n"
        "import dpbench.kernels.greedy, dpbench.kernels.tree\n"
        f"domain = {written!r}\n"
        "workload = workloads.RandomRange(domain) if 'x' in domain else workloads.Prefix(domain)\n"
        "from dpbench.algorithms.greedy_h import _solver\n"
        "start = time.perf_counter()\n"
        "_solver(workload, 2, 100, 'gram')._coefficients\n"
        "print(time.perf_counter() - start, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)  # noqa: S603
    seconds, megabytes = done.stdout.split()
    return float(seconds), float(megabytes)


def table(workload: Workload, shape: str) -> bool:
    """Print one table; whether every cap was kept."""
    written, n = str(workload.domain), workload.domain.size
    x = generate(shapes.get(shape, workload.domain), 100_000, seed=0)
    stream = np.random.default_rng(0)
    unit = best(lambda: [stream.laplace(size=n) for _ in range(TRIALS)]) / TRIALS
    print(f"\n{workload.name} on {written}, {TRIALS} trials a call; one unit = {unit * 1e6:.0f} us")
    kept = True
    for name in algorithms.names():
        algorithm = algorithms.get(name)
        if not algorithm.supports(workload.domain):
            continue
        units = best(lambda: algorithm.run(x, workload, 0.1, trials=TRIALS)) / TRIALS / unit  # noqa: B023
        cap = CAPS[written].get(name)
        kept &= cap is None or units <= cap
        print(f"  {name:10} {units:7.2f} units a trial" + (f"   (cap {cap})" if cap else ""))
    seconds, megabytes = strategy_cost(written)
    kept &= seconds <= STRATEGY_CAPS[written] and megabytes <= MEMORY_CAP
    print(
        f"  GreedyH's strategy, once: {seconds:.2f} s (cap {STRATEGY_CAPS[written]:g}), "
        f"process at its peak {megabytes:.0f} MB (cap {MEMORY_CAP})"
    )
    return kept


def main() -> int:
    """Both tables; 1 if a cap was broken."""
    kept = [table(Prefix(4096), "power-law"), table(RandomRange((128, 128)), "clusters")]
    print("\nall caps kept" if all(kept) else "\nA CAP WAS BROKEN")
    return 0 if all(kept) else 1


if __name__ == "__main__":
    sys.exit(main())
