"""Stored results are read by the standards in the plans of their tasks."""

import json

import numpy as np
import pytest

from dpbench.errors import InvalidStore
from dpbench.results import Results
from dpbench.standards import Standards
from dpbench.store import Store
from dpbench.task.task import RANGE_1D
from store.rows import make


@pytest.fixture
def store(tmp_path):
    return Store(tmp_path / "store", create=True)


def recorded(store, run, rows, **tasks):
    """Rows of tasks with a record of how they are read."""
    store.record_run(run, {"tasks": [{"name": name, **parts} for name, parts in tasks.items()]})
    store.append(rows, run)


def test_a_record_says_how_results_are_read(store):
    """The parts of the task that are standards, whatever else the record holds; a former name of a test counts."""
    task = RANGE_1D.replace(loss="Linf", percentile=80, alpha=0.01, baselines=["Hb"], test="unpaired t, Bonferroni")
    plain = json.loads(json.dumps(task.to_dict())) | {"name": "small"}
    plain["interpreting"]["test"] = "unpaired t, Bonferroni"
    plain["repair"]["free_parameters"] = "tables"
    store.record_run("run", {"tasks": [plain]})
    store.append([make(linf=[4.0, 5.0, 6.0])], "run")
    results = Results.from_store(store)
    assert results.standards == task.standards
    assert results.standards == Standards(loss="Linf", percentile=80, alpha=0.01, baselines=("Hb",))
    assert results.errors.tolist() == [[[4.0, 5.0, 6.0]]]


def test_records_that_say_nothing_mean_the_defaults(store):
    """As do rows without any record."""
    recorded(store, "run", [make(), make(task="other")], small={})
    assert Results.from_store(store).standards == Standards()


def test_the_latest_run_of_a_task_counts(store):
    """Names of runs are in order of time."""
    recorded(store, "2026-b", [make()], small={"loss": "L1"})
    recorded(store, "2026-a", [make(sample=1)], small={"loss": "Linf", "measuring": {"percentile": 10}})
    assert Results.from_store(store).standards == Standards(loss="L1")


def test_tasks_that_disagree_are_read_together_only_by_what_is_said(store):
    """One line names the part, its values and the tasks; parts on which they agree are theirs."""
    rows = [make(), make(task="other")]
    agreed = {"percentile": 80}
    recorded(store, "run", rows, small={"loss": "L1", "measuring": agreed}, other={"measuring": agreed})
    with pytest.raises(InvalidStore, match="loss is L1 in the task small and L2 in the task other; say by which") as no:
        Results.from_store(store)
    assert "\n" not in str(no.value)
    assert Results.open(store.folder, loss="L2").standards == Standards(percentile=80)
    apart = Results._readings(store)
    assert [(each.standards.loss, each.columns["task"].tolist()) for each in apart] == [
        ("L2", ["other"]),
        ("L1", ["small"]),
    ]


def test_a_task_without_results_says_nothing(store):
    """A run that was stopped before its first row does not change how others are read."""
    recorded(store, "run", [make()], small={"loss": "L1"}, other={"loss": "Linf"})
    assert Results.from_store(store).standards.loss == "L1"


def test_a_loss_that_was_asked_for_and_not_measured_is_a_gap(store):
    """No trial has an error by it, and nothing is compared; other losses are still there."""
    recorded(store, "run", [make()], small={"loss": "relative"})
    results = Results.from_store(store)
    assert np.isnan(results.errors).all()
    assert results.whole.tolist() == [False]
    assert Results.from_store(store, loss="L2").whole.tolist() == [True]
