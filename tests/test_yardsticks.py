"""The limit and the best known strategy of stored results."""

import pytest

from dpbench.data_independent import yardstick
from dpbench.results import Results
from dpbench.workloads import Prefix, RandomRange
from dpbench.yardsticks import yardsticks
from store.rows import make


def of(**changes):
    return yardsticks(Results._from_rows([make(domain="16", **changes)]))


@pytest.mark.parametrize(
    ("changes", "budget"),
    [
        ({"epsilon": 0.1}, {"epsilon": 0.1}),
        ({"epsilon": 0.1, "delta": 1e-6}, {"epsilon": 0.1, "delta": 1e-6}),
        ({"epsilon": 0.0, "rho": 0.01}, {"rho": 0.01}),
    ],
    ids=str,
)
def test_every_budget_has_the_yardstick_of_its_noise(changes, budget):
    """Pure, (epsilon, delta), rho."""
    (found,) = of(**changes).values()
    assert found == yardstick(Prefix(16), **budget)


def test_the_workload_is_read_off_its_label():
    """With its parameters."""
    (found,) = of(workload="RandomRange(queries=7, seed=3)").values()
    assert found == yardstick(RandomRange(16, queries=7, seed=3), 0.1)


@pytest.mark.parametrize("label", ["Ranges(file=mine.csv)", "Mine", "RandomRange(sides=3)", "Prefix(", "()"])
def test_a_workload_that_is_not_known_has_none(label, tmp_path, monkeypatch):
    """A file by that name may hold other ranges today."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.csv").write_text("lower0,upper0\n0,3\n")
    assert of(workload=label) == {}
