"""A plain function runs wherever an algorithm does, and says that nobody looked inside."""

import numpy as np
import pytest

import dpbench as dpb
from dpbench.cli import main
from dpbench.plugins import load_class
from dpbench.store import Store

FUNCTIONS = """
from beside import FACTOR


def noisy(x, workload, epsilon, rng):
    x += 0  # a copy: what it does to it is its own affair
    return x + FACTOR * rng.laplace(scale=1 / epsilon, size=x.shape)


def short(x, workload, epsilon, rng):
    return x[:1]


def whole(x, workload, epsilon, rng):
    p = 1 - 2.718281828 ** -epsilon
    return x + rng.geometric(p, x.shape) - rng.geometric(p, x.shape)


def listed(x, workload, epsilon, rng):
    return (x + rng.laplace(scale=1 / epsilon, size=x.shape)).tolist()
"""
SMALL = ["--algorithm", "Identity", "--dataset", "bimodal", "--domain", "64", "--scale", "1000"]


@pytest.fixture
def functions(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "functions.py").write_text(FUNCTIONS)
    (tmp_path / "beside.py").write_text("FACTOR = 1\n")
    return "functions.py"


def run(reference, store="s"):
    command = ["run", "demo", "--with", reference, *SMALL, "--samples", "1", "--trials", "3", "--jobs", "0", "--quiet"]
    return main([*command, "--store", store])


def test_it_runs_like_an_algorithm(functions):
    """The same noise for the same seed, other noise in every trial, the counts left alone; its ledger says it."""
    noisy = load_class(f"{functions}:noisy")()
    x, workload = np.arange(64), dpb.workloads.Prefix(64)
    outcome = noisy.outcome(x, workload, epsilon=0.5, trials=2, seed=3)
    np.testing.assert_array_equal(outcome.estimate, noisy.run(x, workload, 0.5, 2, 3))
    assert (outcome.estimate[0] != outcome.estimate[1]).all()
    assert "unaudited inside, black box only" in str(outcome.ledger)
    assert outcome.ledger.own_mechanisms == ["plain function"]
    many = noisy.run(x, workload, epsilon=0.5, trials=4000, seed=0) - x
    assert many.var() == pytest.approx(8, rel=0.05)


@pytest.mark.parametrize("name", ["whole", "listed"])
def test_numbers_of_any_kind_are_an_estimate(functions, name):
    """Whole numbers and lists pass the check, so they run too."""
    estimate = load_class(f"{functions}:{name}")().run(np.arange(8), dpb.workloads.Prefix(8), 1.0, 3, 0)
    assert (estimate.dtype, estimate.shape) == (np.float64, (3, 8))


def test_it_is_marked_in_a_run_and_a_comparison(functions, capsys):
    """By its name, which every table and page shows."""
    assert run(f"{functions}:noisy") == 0
    assert "noisy (unaudited)" in capsys.readouterr().out
    assert {row.algorithm for row in Store("s").rows()} == {"Identity", "noisy (unaudited)"}
    assert main(["compare", f"{functions}:noisy", "--study", "s", "--store", "c", "--jobs", "0", "--quiet"]) == 0
    assert capsys.readouterr().out.startswith("noisy (unaudited) is competitive in")


def test_what_lies_beside_it_is_part_of_it(functions, tmp_path):
    """A change of an imported constant makes another version, which runs again."""
    assert run(f"{functions}:noisy") == 0
    (tmp_path / "beside.py").write_text("FACTOR = 50\n")
    assert run(f"{functions}:noisy") == 0
    rows = [row for row in Store("s").rows(every_version=True) if row.algorithm != "Identity"]
    assert len({row.algorithm_source for row in rows}) == 2


def test_what_is_no_estimate_is_a_recorded_failure(functions, capsys):
    """One line."""
    assert run(f"{functions}:short") == 1
    assert "short (unaudited) returned shape (3, 1)" in capsys.readouterr().err
