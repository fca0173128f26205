"""A study whose errors are chosen, so that the right verdicts are known."""

import numpy as np

from dpbench.paper.reported import DOMAINS, PLOTTED
from dpbench.paper.study import Study
from dpbench.results import Results
from dpbench.task.task import RANGE_1D, RANGE_2D
from store.rows import make

TASKS = {1: RANGE_1D, 2: RANGE_2D}
SCALES = tuple(10**power for power in range(3, 9))
WORKLOADS = {1: "Prefix", 2: "RandomRange(queries=2000)"}


def rows(error, *, variant="published", noise=0.02, names=PLOTTED, scales=SCALES, dimensions=(1, 2), datasets=None):
    """A row of 6 trials for each setting, around ``error(algorithm, dataset, scale, dimensions)``."""
    stream = np.random.default_rng(0)
    made = []
    for d in dimensions:
        for dataset in datasets or TASKS[d].datasets:
            for scale in scales:
                for name in names[d]:
                    mean = error(name, dataset, scale, d)
                    l2 = (mean * (1 + noise * stream.normal(size=6))).tolist()
                    place = {"task": f"paper-{d}d", "dataset": dataset, "domain": DOMAINS[d], "workload": WORKLOADS[d]}
                    own = {"scale": scale, "algorithm": name, "variant": variant, "l2": l2}
                    made.append(make(**place, **own, squared_bias=0.0, variance=1.0))
    return made


def study(error, **options):
    """A study in the paper's setting alone."""
    return Study.of(Results._from_rows(rows(error, **options)))


def flat(name, dataset, scale, dimensions):
    """Everybody is as good as everybody else: 1 over the scale."""
    del name, dataset, dimensions
    return 1 / scale
