import numpy as np
import pytest

from dpbench import shelf, workloads
from dpbench.algorithms import greedy_h

CODE = ("dpbench.shelf",)


@pytest.fixture
def calls(monkeypatch, tmp_path):
    """Everything is worth keeping; count how often it is made."""
    monkeypatch.setenv("DPBENCH_CACHE", str(tmp_path))
    monkeypatch.setattr(shelf, "WORTH", -1.0)
    made = []

    def build():
        made.append(1)
        return {"a": np.arange(3), "b": np.array(2.5)}

    return made, build, tmp_path


def test_what_took_long_is_made_once(calls):
    """The second time it comes from the disk, with the same values."""
    made, build, _ = calls
    first, second = shelf.keep("thing", "k", CODE, build), shelf.keep("thing", "k", CODE, build)
    assert len(made) == 1
    assert np.array_equal(first["a"], second["a"])
    assert second["b"] == 2.5


def test_another_key_or_other_code_is_another_thing(calls):
    """Neither a key nor a version of the code is mistaken for another."""
    made, build, _ = calls
    shelf.keep("thing", "k", CODE, build)
    shelf.keep("thing", "other", CODE, build)
    shelf.keep("thing", "k", ("dpbench.errors",), build)
    assert len(made) == 3


def test_what_was_quick_is_not_kept(calls, monkeypatch):
    """Below a second the disk is left alone."""
    _, build, folder = calls
    monkeypatch.setattr(shelf, "WORTH", 1.0)
    shelf.keep("thing", "k", CODE, build)
    assert list(folder.iterdir()) == []


def test_a_damaged_file_is_made_again(calls):
    """A truncated file costs time, not correctness."""
    made, build, folder = calls
    shelf.keep("thing", "k", CODE, build)
    path = next(folder.iterdir())
    path.write_bytes(path.read_bytes()[:40])
    assert np.array_equal(shelf.keep("thing", "k", CODE, build)["a"], [0, 1, 2])
    assert len(made) == 2


def test_greedy_strategies_survive_the_disk(calls):
    """A strategy read back gives the same bits."""
    workload = workloads.RandomRange((8, 8), queries=25, seed=3)
    greedy_h._solver.cache_clear()
    fresh = greedy_h._solver(workload, 2, 100, "gram")
    greedy_h._solver.cache_clear()
    kept = greedy_h._solver(workload, 2, 100, "gram")
    answers = np.random.default_rng(0).normal(size=(3, *fresh.strategy.shape))
    assert np.array_equal(fresh.solve(answers), kept.solve(answers))
    greedy_h._solver.cache_clear()
