"""The limit and the best known strategy of stored results."""

import pytest

from dpbench.data_independent import yardstick
from dpbench.errors import InvalidTask
from dpbench.results import Results
from dpbench.run.units import read_label, workload_label
from dpbench.task.parts import WorkloadPart
from dpbench.workloads import Prefix, RandomRange
from dpbench.yardsticks import yardsticks
from store.rows import make


def of(**changes):
    return yardsticks(Results.from_rows([make(domain="16", **changes)]))


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


@pytest.mark.parametrize(
    "given",
    ["Prefix", {"name": "RandomRange", "queries": 5, "seed": 2}, {"name": "Other", "share": 0.5, "kind": "odd"}],
)
def test_labels_are_read_as_they_are_written(given):
    """Numbers as numbers."""
    part = WorkloadPart.of(given)
    assert read_label(workload_label(part)) == part


def test_what_is_no_label_is_refused_in_one_line():
    """It says what to write."""
    with pytest.raises(InvalidTask, match=r"^the workload 'Prefix\(3\)' cannot be read; write a name, or Name\("):
        read_label("Prefix(3)")
