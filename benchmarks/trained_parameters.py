"""Parameters trained on synthetic shapes, to be set against hindsight: ``python -m benchmarks.trained_parameters``.

The suite ``parameters`` has AHP, DAWA and MWEM in their published forms with every value of their free parameters, on
the paper's datasets at 4096 cells. Here the same forms and values run on synthetic shapes at the same size; for each
signal the values with the least mean log error are kept in ``paper/data/trained_parameters.csv``. The datasets are
not looked at.
"""

from __future__ import annotations

import argparse
import csv
import json
import warnings
from itertools import product
from typing import Any
from zlib import crc32

import numpy as np

import dpbench as dpb
from benchmarks.private_selection import DATA
from dpbench import algorithms
from dpbench.datasets import families, shapes
from dpbench.workloads import Prefix

CELLS = 4096
EPSILON = 0.1
SCALES = tuple(10**power for power in range(3, 9))
NAMES = ("AHP", "DAWA", "MWEM")
TRIALS = 2
INSTANCE = 5


def trained(name: str, scale: int, trials: int, cells: int) -> dict[str, Any]:
    """The values with the least mean log error over shapes at one scale."""
    workload = Prefix(cells)
    free = algorithms.get(name).free
    tried = [dict(zip(free, values, strict=True)) for values in product(*free.values())]
    logs = np.zeros(len(tried))
    for shape in families.names(1)[::2]:
        x = dpb.generate(shapes.get(f"{shape}/{INSTANCE}", cells), scale, cells, seed=0)
        for at, values in enumerate(tried):
            algorithm = algorithms.get(name, variant="published", **values)
            public = {"side_information": "public"} if algorithm.side_information else {}
            seed = crc32(f"training {name} {shape} {scale} {at}".encode())
            estimate = algorithm.run(x, workload, EPSILON, trials, seed, **public)
            logs[at] += np.log(dpb.loss.scaled_error(workload, x, estimate).mean())
    best = int(logs.argmin())
    return {"algorithm": name, "scale": scale, "parameters": json.dumps(tried[best]), "tried": len(tried)}


def main() -> None:
    """Train, print, write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--trials", type=int, default=TRIALS)
    chosen = parser.parse_args()
    warnings.simplefilter("ignore")
    found = []
    for name, scale in product(NAMES, SCALES):
        found.append(trained(name, scale, chosen.trials, CELLS))
        print(found[-1], flush=True)
    with (DATA / "trained_parameters.csv").open("w", newline="", encoding="utf-8") as file:
        table = csv.DictWriter(file, list(found[0]), lineterminator="\n")
        table.writeheader()
        table.writerows(found)


if __name__ == "__main__":
    main()
