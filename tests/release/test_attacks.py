"""Two attacks on published noise: they succeed on the laboratory's, and fail on a release's."""

import inspect

import numpy as np
import pytest

import dpbench as dpb
from dpbench.privacy.exact_channel import Exact, NoDraws
from dpbench.release import publish
from release.office import counts_of, office

CELLS, FILLED = 4096, 1000


@pytest.fixture(scope="module")
def counts():
    """A thousand cells with records among three thousand without."""
    values = np.zeros(CELLS, dtype=np.int64)
    rng = np.random.default_rng(3)
    values[rng.permutation(CELLS)[:FILLED]] = rng.integers(1, 50, FILLED)
    return values


def proved_empty(noisy):
    """Cells that held nothing: noise alone reaches below 2^-53, and noise on a count of at least 1 never does."""
    return np.flatnonzero(noisy * 2.0**53 != np.rint(noisy * 2.0**53))


def exact_run(name, counts, workload, epsilon):
    algorithm = dpb.algorithms.get(name)
    return algorithm._outcome(counts, workload, epsilon, noise=NoDraws(), channel=Exact()).estimate[0]


def test_low_order_bits_prove_cells_empty_in_the_laboratory(counts):
    """One run at epsilon 1 proves hundreds of cells empty, and is never wrong."""
    noisy = dpb.algorithms.get("Identity").run(counts, dpb.workloads.Prefix(CELLS), 1.0, seed=0)[0]
    found = proved_empty(noisy)
    assert len(found) > 500
    assert not counts[found].any()


def test_low_order_bits_of_a_release_prove_nothing(counts):
    """Every answer is a whole number, whatever the cell holds: before post-processing, and of weighted trees too."""
    workload = dpb.workloads.Prefix(CELLS)
    noisy = exact_run("Identity", counts, workload, 1.0)
    assert (noisy == np.rint(noisy)).all()
    assert not len(proved_empty(noisy))


@pytest.mark.parametrize("name", ["Identity", "H", "Hb", "Privelet"])
def test_a_known_seed_reveals_every_count_in_the_laboratory(name, counts):
    """Run the same seed on nothing, subtract, round."""
    algorithm, workload = dpb.algorithms.get(name), dpb.workloads.Prefix(CELLS)
    published = algorithm.run(counts, workload, 1.0, seed=0)[0]
    noise = algorithm.run(np.zeros(CELLS, dtype=np.int64), workload, 1.0, seed=0)[0]
    np.testing.assert_array_equal(np.rint(published - noise), counts)


@pytest.mark.parametrize("name", ["Identity", "H", "Hb", "Privelet"])
def test_no_seed_takes_the_noise_off_a_release(name, counts):
    """Seeds that people use, and Python's and numpy's own, set before both runs: the counts do not come out."""
    import random

    algorithm, workload = dpb.algorithms.get(name), dpb.workloads.Prefix(CELLS)
    nothing = np.zeros(CELLS, dtype=np.int64)
    for seed in (0, 1, 42, 2026):
        random.seed(seed)
        np.random.seed(seed)  # noqa: NPY002
        published = exact_run(name, counts, workload, 1.0)
        random.seed(seed)
        np.random.seed(seed)  # noqa: NPY002
        for guess in (exact_run(name, nothing, workload, 1.0), algorithm.run(nothing, workload, 1.0, seed=seed)[0]):
            assert (np.rint(published - guess) == counts).mean() < 0.5


def test_a_release_takes_no_seed_and_no_number_of_trials(tmp_path):
    """There is nothing to set; and two releases of one table differ."""
    assert list(inspect.signature(publish).parameters) == ["spec", "table", "dask", "quiet"]
    spec = office(tmp_path, bins=64)
    first, second = (counts_of(publish(spec).folder) for _ in range(2))
    assert (first != second).any()
