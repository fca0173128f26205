"""What one run costs, asked line by line: ``python -m benchmarks.timing`` answers JSON with JSON.

A process of its own, so that the package under test may be another version of it (``PYTHONPATH``): it keeps to calls
that every version has. A cost is the processor's time of the quickest of a few calls, after one that prepares; calls
alternate with draws, and the unit is the quickest of these. On a machine that others use too, a slow second would
otherwise hit one of the two alone.
"""

from __future__ import annotations

import json
import os
import resource
import sys
import time
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np

EPSILON = 0.1
ROUNDS = 5
"""Times that draws and calls alternate."""
LEAST = 0.1
"""Seconds that the calls of a round take together at least."""
SLOW = 0.5
"""Seconds of one trial beyond which a single trial is timed, once."""


def quickest(call: Callable[[], object]) -> float:
    """Seconds of the processor of the quickest of a round's calls."""
    seconds: list[float] = []
    spent = 0.0
    while spent < LEAST:
        start = time.process_time()
        call()
        seconds.append(time.process_time() - start)
        spent += seconds[-1]
    return min(seconds)


def unit_of(cells: int) -> float:
    """Seconds of one Laplace draw of so many cells by numpy."""
    stream, draws = np.random.default_rng(0), max(1, 2**18 // cells)
    return quickest(lambda: [stream.laplace(size=cells) for _ in range(draws)]) / draws


@lru_cache(maxsize=4)
def workload_of(domain: str) -> Any:
    """Prefixes on a line, random ranges in the plane: the study's own."""
    from dpbench.workloads import Prefix, RandomRange

    return RandomRange(domain) if "x" in domain else Prefix(int(domain))


def cost(algorithm: str, domain: str, counts: str, trials: int) -> dict[str, Any]:
    """Units and seconds per trial after preparation, and peak memory; or why it was refused. ``counts`` is a file."""
    from dpbench import algorithms
    from dpbench.errors import DPBenchError, UnknownName

    try:
        runs, workload = algorithms.get(algorithm), workload_of(domain)
        if not runs.supports(domain):
            return {"refused": "not for so many axes"}
        pure = "pure" in getattr(runs, "notions", ("pure",))
        budget = {"epsilon": EPSILON} if pure else {"rho": EPSILON**2 / 2}
        x = np.load(counts)
        getattr(runs, "_prepare" if hasattr(runs, "_prepare") else "prepare")(
            workload
        )  # the version before has the latter
        runs.run(x, workload, **budget, trials=1, seed=0)
        unit = unit_of(x.size)
        start = time.process_time()
        runs.run(x, workload, **budget, trials=1, seed=0)
        seconds = time.process_time() - start
        if seconds <= SLOW:

            def call() -> object:
                return runs.run(x, workload, **budget, trials=trials, seed=0)

            rounds = [(quickest(call) / trials, unit_of(x.size)) for _ in range(ROUNDS)]
            seconds, unit = (min(each) for each in zip(*rounds, strict=True))
    except UnknownName:
        return {"refused": "not there yet"}
    except (DPBenchError, MemoryError) as refusal:
        return {"refused": str(refusal).splitlines()[0] or "no memory"}
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000
    return {"units": seconds / unit, "seconds": seconds, "megabytes": peak}


def main() -> None:
    """Answer every line until there is none."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what anybody prints is not an answer
    for line in sys.stdin:
        print(json.dumps(cost(**json.loads(line))), file=answers, flush=True)


if __name__ == "__main__":
    main()
