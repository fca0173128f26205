"""A class with a name is a loss everywhere: in Python, in a plan, on the command line, in stores and results."""

import json
from dataclasses import dataclass

import numpy as np
import pytest

import dpbench as dpb
from chaos.small import plan_file
from dpbench.cli import main
from dpbench.results import Results
from dpbench.store import Store
from dpbench.store.transfer import trial_rows


@pytest.fixture
def mine():
    """The class, gone from the register when the test is over."""

    @dataclass(frozen=True, kw_only=True)
    class AtLeast(dpb.loss.Loss):
        """Share of the queries whose error is at least so many records."""

        name = "at-least"
        records: float = 1.0

        def errors(self, answers):
            return (np.abs(answers.error) >= self.records).mean(axis=1)

    yield AtLeast
    del dpb.loss.LOSSES["at-least"]


@pytest.fixture
def run(tmp_path, monkeypatch, capsys):
    """Runs a small plan in this process; what it writes as JSON."""
    monkeypatch.chdir(tmp_path)

    def made(plan, *words):
        assert main(["run", plan, "--store", "s", "--jobs", "0", "--quiet", "--json", *words]) == 0
        return json.loads(capsys.readouterr().out)

    return made


def test_it_is_found_in_python(mine):
    """By name, with parameters, as a value; the worked example has errors 3 and 4."""
    error = dpb.loss.scaled_error
    workload = dpb.workloads.Prefix(2)
    for loss in ("at-least:records=3.5", {"name": "at-least", "records": 3.5}, mine(records=3.5)):
        assert error(workload, [4, 6], [7, 7], loss) == 0.5
    assert error(workload, [4, 6], [7, 7], "at-least") == 1.0
    assert dpb.RANGE_1D.replace(loss="at-least").loss == mine()


def test_it_is_run_stored_and_read_back(mine, run, tmp_path):
    """From a plan and from the command line: per trial in the store, in its export, and in results."""
    path = plan_file(tmp_path)
    with open(path, "a") as plan:  # noqa: PTH123
        plan.write('loss = {name = "at-least", records = 20}\n')
    told = run(path)
    assert told["loss"] == "at-least:records=20"
    assert {row["loss"] for row in told["errors"]} == {"at-least:records=20"}
    assert run(path, "--loss", "at-least")["units run"] == 24
    labels = {"at-least", "at-least:records=20"}
    for row in Store("s").rows():
        assert row.other_losses.keys() == labels
        assert max(row.other_losses["at-least"]) <= 1
        assert all(np.less_equal(row.other_losses["at-least:records=20"], row.other_losses["at-least"]))
    assert labels <= trial_rows(Store("s"))[0].keys()
    results = Results.open("s")
    assert results.standards.loss == "at-least"
    assert {"L2", "L1", "Linf", "at-least:records=20"} == set(results.losses)
    mean = results.where(algorithm="Hb", scale=100).measured.mean.mean()
    (row,) = (
        row for row in run(path, "--loss", "at-least")["errors"] if (row["algorithm"], row["scale"]) == ("Hb", 100)
    )
    assert row["mean error"] == pytest.approx(mean)


def test_its_results_are_read_where_it_is_not_defined(run, tmp_path):
    """Errors are numbers; the code that made them is not needed to read them, and is to make more."""

    class Mean(dpb.loss.Loss):
        name = "mean"

        def errors(self, answers):
            return np.abs(answers.error.mean(axis=1))

    path = plan_file(tmp_path)
    run(path, "--loss", "mean")
    del dpb.loss.LOSSES["mean"]
    assert np.isfinite(Results.open("s").errors).all()
    assert Results.open("s").standards.loss == "mean"
    assert main(["run", path, "--loss", "mean", "--store", "s", "--jobs", "0"]) == 2
