"""What averaging does to mean and 95th percentile: ``python -m benchmarks.averaging``.

Writes ``paper/data/averaging.csv``. Four runs with a quarter of epsilon each, averaged, beside one run with all of
it, for every algorithm; and one draw of Cascade's posterior, and the mean of 20, beside its estimate. On synthetic
shapes; geometric means over settings of the ratio of means and of 95th percentiles of the root mean square error of a
range.
"""

from __future__ import annotations

import argparse
import csv
import warnings
from typing import Any
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

import dpbench as dpb
from benchmarks.private_selection import DATA
from dpbench import algorithms
from dpbench.advice.advisor import usual
from dpbench.datasets import families, shapes
from dpbench.domain import Domain

SIZES = {1: "256", 2: "32x32"}
SIGNALS = (10.0**2, 10.0**4, 10.0**6)
EPSILON = 0.1
RUNS = 4
TRIALS = 24
INSTANCE = 3


def cases(dimensions: int) -> list[tuple[str, float, NDArray[np.int64]]]:
    """Every second family at three signals: name, signal, counts."""
    domain = Domain.of(SIZES[dimensions])
    return [
        (name, signal, dpb.generate(shapes.get(f"{name}/{INSTANCE}", domain), round(signal / EPSILON), domain, seed=0))
        for name in families.names(dimensions)[::2]
        for signal in SIGNALS
    ]


def rows(dimensions: int, trials: int) -> list[dict[str, Any]]:
    """One row per algorithm, and two of Cascade's draws."""
    domain = Domain.of(SIZES[dimensions])
    workload = usual(domain)
    ratios: dict[tuple[str, str], list[tuple[float, float]]] = {}
    for shape, signal, x in cases(dimensions):

        def errors(estimate: Any, x: Any = x) -> tuple[float, float]:
            found = np.sqrt(workload.mean_squared(estimate - x))
            return float(found.mean()), float(np.quantile(found, 0.95))

        for name in algorithms.names():
            algorithm = algorithms.get(name)
            if not algorithm.supports(domain):
                continue
            seed = crc32(f"averaging {shape} {signal:g} {name}".encode())
            one = errors(algorithm.run(x, workload, EPSILON, trials, seed))
            four = algorithm.run(x, workload, EPSILON / RUNS, RUNS * trials, seed + 1)
            several = errors(four.reshape(RUNS, trials, *domain.shape).mean(axis=0))
            ratios.setdefault((name, "four runs"), []).append((several[0] / one[0], several[1] / one[1]))
            if name == "Cascade":
                outcome = algorithm.outcome(x, workload, EPSILON, trials, seed)
                own, draws = errors(outcome.estimate), outcome.draws(20)
                for what, table in (("one draw", draws[:, 0]), ("mean of 20 draws", draws.mean(axis=1))):
                    drawn = errors(table)
                    ratios.setdefault((name, what), []).append((drawn[0] / own[0], drawn[1] / own[1]))
    return [
        {"dimensions": dimensions, "algorithm": name, "what": what, "settings": len(own)}
        | dict(zip(("mean", "percentile"), (f"{each:.3f}" for each in np.exp(np.log(own).mean(axis=0))), strict=True))
        for (name, what), own in ratios.items()
    ]


def main() -> None:
    """Measure, print, write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--trials", type=int, default=TRIALS)
    chosen = parser.parse_args()
    warnings.simplefilter("ignore")
    found = [row for dimensions in SIZES for row in rows(dimensions, chosen.trials)]
    for row in found:
        print(row)
    with (DATA / "averaging.csv").open("w", newline="", encoding="utf-8") as file:
        table = csv.DictWriter(file, list(found[0]), lineterminator="\n")
        table.writeheader()
        table.writerows(found)


if __name__ == "__main__":
    main()
