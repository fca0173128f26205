"""Kernels with their indices checked, once: numba leaves a read beyond an array unseen unless it is asked to look.

What is run with checks is a text per exercise, in a process of its own, since numba decides when it compiles; add one
for kernels that need more than a run of every algorithm. All together compile every kernel anew: some four minutes of
the processor, most of them in the compiler.
"""

import os
import pkgutil
import subprocess
import sys

import pytest

from dpbench.mathematics import kernels

EVERY_ALGORITHM = """
import numpy as np
import dpbench as dpb
for workload in (dpb.workloads.Prefix(64), dpb.workloads.RandomRange((8, 9), 40)):
    x = np.random.default_rng(0).integers(0, 30, workload.domain.shape)
    for name in dpb.algorithms.names():
        for variant in ("private", "published"):
            algorithm = dpb.algorithms.get(name, variant=variant)
            if algorithm.supports(workload.domain):
                assert np.isfinite(algorithm.run(x, workload, 0.5, trials=2, seed=0)).all()
"""
BARS = """
import numpy as np
import dpbench as dpb
from dpbench.privacy import NoisyMax
class Cells:
    sensitivity, monotone = 1, True
    def score(self, counts):
        return counts.astype(float)
rng = np.random.default_rng(0)
for workload in (dpb.workloads.Prefix(40), dpb.workloads.Prefix(150), dpb.workloads.RandomRange((8, 9), 30)):
    x = rng.integers(0, 30, workload.domain.shape)
    for name in ("Hb", "Cascade"):
        outcome = dpb.algorithms.get(name).outcome(x, workload, epsilon=0.5, trials=2, seed=0)
        assert np.isfinite(outcome.intervals(workload, level=0.9)).all()
    assert np.isfinite(outcome.draws(3)).all()
scores = rng.integers(0, 20, 12).astype(float)
scores[3] = scores[4]
assert np.isfinite(NoisyMax(Cells()).log_density(np.arange(12), scores, 0.3)).all()
"""
BINNING = """
import numpy as np
from dpbench.mathematics.kernels.binning import add_bins, add_codes, count_rows
values = np.concatenate([np.linspace(-1.0, 6.0, 29), [np.nan, np.inf, -np.inf]])
for clamp in (False, True):
    for missing in (-1, 4):
        flat, tally = np.zeros(len(values), dtype=np.int64), np.zeros(8, dtype=np.int64)
        add_bins(values, np.arange(5.0), clamp, missing, 5 if missing >= 0 else 4, flat, tally)
        add_codes(np.arange(len(values)) % 4 - 1, 3, flat)
        count_rows(flat, np.zeros(15, dtype=np.int64))
"""
MAXIMUM_ENTROPY = """
import numpy as np
from dpbench.mathematics.maximum_entropy import Boxes, MaximumEntropy, Prefixes
from dpbench.mathematics.worst_answered import queries_of
from dpbench.workloads import Identity, Prefix, RandomRange, Ranges
rng = np.random.default_rng(0)
for workload in (
    Prefix(1), Prefix(2), Prefix(33), Ranges(9, [0, 0, 0], [4, 9, 4]), Identity(7), RandomRange(40, 60),
    RandomRange((4, 8), 50), RandomRange((1, 7), 20), RandomRange((7, 1), 20), RandomRange((3, 3), 40),
):
    queries = queries_of(workload)
    for noise in (0.1, 10.0, 1e6):
        x = rng.integers(0, 60, size=workload.domain.shape)
        answers = np.asarray(workload.answer(x), dtype=np.float64) + noise * rng.laplace(size=(3, workload.queries))
        learner = MaximumEntropy(queries, np.full(3, float(x.sum() + 1)), workload.queries, noise, 5)
        for order in np.argsort(rng.random((3, workload.queries)), axis=1).T:
            learner.learn(order, answers[np.arange(3), order])
            assert np.isfinite(learner.answers()).all()
        assert np.isfinite(learner.estimate()).all()
"""
SELECTION = """
import numpy as np
from dpbench.mathematics.kernels.selection import BLOCK, extremes, select
from dpbench.mathematics.kernels.worst_answered import score
rng = np.random.default_rng(0)
for candidates in (1, 2, BLOCK - 1, BLOCK, BLOCK + 1, 5 * BLOCK, 5 * BLOCK + 3):
    for rows in (1, 7):
        scores = rng.normal(size=(rows, candidates)) * 50
        scores[:, 1::3] = -np.inf
        chosen = np.empty(7, dtype=np.int64)
        for uniform in (np.zeros(7), rng.random(7), np.full(7, np.nextafter(1.0, 0.0))):
            select(scores, 1.0, uniform, chosen)
            assert (chosen >= 0).all() and (chosen < candidates).all()
    extremes(scores[0])
    measured = np.argsort(rng.random((7, candidates)), axis=1)
    score(rng.random(candidates), rng.random((7, candidates)), np.ones(candidates), measured[:, : candidates // 2],
          np.empty((7, candidates)))
"""
EXERCISES = {
    "every algorithm": EVERY_ALGORITHM,
    "error bars": BARS,
    "binning": BINNING,
    "maximum entropy": MAXIMUM_ENTROPY,
    "selection": SELECTION,
}
REACHED = """
import sys
print(*(name for name in sys.modules if name.startswith("dpbench.mathematics.kernels.")))
"""
BEYOND = """
import numpy as np
from numba import njit
print(njit("float64(float64[::1], int64)")(lambda values, at: values[at])(np.ones(3), 3))
"""


def checked(code, folder):
    """Run a text with bounds checks; kernels compiled so are kept apart from the others."""
    environment = {**os.environ, "NUMBA_BOUNDSCHECK": "1", "NUMBA_CACHE_DIR": str(folder)}
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment, check=False)


@pytest.mark.slow
def test_no_kernel_reads_or_writes_beyond_its_arrays(tmp_path):
    """An index out of bounds is an IndexError here, and nothing at all elsewhere; every module of kernels is used.

    The exercises share what is compiled.
    """
    reached = set()
    for exercise, code in EXERCISES.items():
        done = checked(code + REACHED, tmp_path)
        assert done.returncode == 0, f"{exercise}: {done.stderr[-2000:]}"
        reached |= set(done.stdout.split())
    every = {f"{kernels.__name__}.{module.name}" for module in pkgutil.iter_modules(kernels.__path__)}
    assert every - reached == {f"{kernels.__name__}.__main__"}


@pytest.mark.slow
def test_the_checks_find_an_index_that_is_one_too_large(tmp_path):
    """So that the test above can fail."""
    done = checked(BEYOND, tmp_path)
    assert done.returncode != 0
    assert "IndexError" in done.stderr
