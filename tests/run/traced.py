"""Every function of the package that a run of each algorithm executes, kernels included, as JSON on stdout.

A script of its own: kernels can be watched only where numba does not compile them.
"""

import json
import os
import sys
from pathlib import Path

os.environ["NUMBA_DISABLE_JIT"] = "1"

import dpbench
from dpbench import algorithms
from dpbench.run.bench import Bench
from dpbench.run.plan import Plan
from dpbench.task.parts import AlgorithmPart
from dpbench.task.task import RANGE_1D, RANGE_2D

ROOT = str(Path(dpbench.__file__).parent)
FEW = RANGE_2D.replace(workloads=[{"name": "RandomRange", "queries": 40}])
PLACES = ((RANGE_1D, ["bimodal", "spikes-10"], "16"), (FEW, ["clusters"], "4x4"))


def units(name):
    """Small settings in both forms, with little and with much signal."""
    for task, datasets, domain in PLACES:
        if algorithms.get(name).supports(domain):
            parts = [AlgorithmPart(name, "private"), AlgorithmPart(name, "published")]
            numbers = {"scales": [10, 10_000], "samples": 1, "trials": 1}
            small = task.replace(name="traced", datasets=datasets, domains=domain, algorithms=parts, **numbers)
            yield from Plan(name="traced", tasks=(small,)).work[0]


def executed(name):
    """Files and qualified names."""
    seen = set()

    def note(frame, event, _):
        if event == "call" and frame.f_code.co_filename.startswith(ROOT):
            seen.add((frame.f_code.co_filename, frame.f_code.co_qualname.split(".<")[0]))

    planned, bench = list(units(name)), Bench()
    sys.setprofile(note)
    rows = [bench.run(unit) for unit in planned]
    sys.setprofile(None)
    failures = [row.failure for row in rows if row.failure]
    if failures:
        raise SystemExit(f"{name}: {failures[0]}")
    return sorted((path[len(ROOT) + 1 :], qualified) for path, qualified in seen)


if __name__ == "__main__":
    print(json.dumps({name: executed(name) for name in algorithms.names()}))
