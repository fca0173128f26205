"""Noisy histograms that a page left are those that would be made, and are made again where anything differs."""

import numpy as np
import pytest

from dpbench import algorithms
from dpbench.algorithms.identity import Identity
from dpbench.gallery.noisy_histograms import NoisyHistograms
from dpbench.workloads import Prefix

COUNTS = np.arange(16, dtype=np.int64)
EPSILONS = (0.1, 1.0)


@pytest.fixture(autouse=True)
def _empty(tmp_path, monkeypatch):
    monkeypatch.setenv("DPBENCH_CACHE", str(tmp_path))


def made(counts=COUNTS, seed=0, algorithm=None):
    """What one page shows of one histogram."""
    noisy = NoisyHistograms()
    found = noisy.of(algorithm or algorithms.get("Identity"), counts, Prefix(16), EPSILONS, seed)
    noisy.keep()
    return found


def test_the_second_page_runs_nothing_and_shows_the_same(monkeypatch):
    """Unless counts or seed differ: then the algorithm is run."""
    first = made()
    expected = [algorithms.get("Identity").run(COUNTS, Prefix(16), each, seed=0)[0] for each in EPSILONS]
    assert np.array_equal(first, np.array(expected, dtype=np.float32))
    runs = []
    run = Identity.run
    monkeypatch.setattr(Identity, "run", lambda self, *given, **more: runs.append(1) or run(self, *given, **more))
    assert np.array_equal(made(), first)
    assert runs == []
    assert not np.array_equal(made(seed=1), first)
    assert not np.array_equal(made(counts=COUNTS + 1), first)
    assert len(runs) == 4


def test_somebodys_own_algorithm_is_run_every_time(tmp_path):
    """Nothing of it is kept."""

    class Mine(Identity):
        name = "Mine"

    assert made(algorithm=Mine()).shape == (2, 16)
    assert list(tmp_path.iterdir()) == []
