"""A class with a name is a loss everywhere: in Python, in a plan, on the command line, in stores and results."""

import json
import shutil
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pytest

import dpbench as dpb
from chaos.small import plan_file, study
from dpbench.cli import main
from dpbench.results import Results
from dpbench.run.identity import loss_version
from dpbench.sibling_modules import load_file
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
    assert run(path, "--loss", "at-least")["units_run"] == 24
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
    assert row["mean_error"] == pytest.approx(mean)


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


LOSS = """\
from dpbench.loss import Loss
import numpy as np


class Own(Loss):
    name = "{name}"

    def errors(self, answers):
        return {code}
"""


@pytest.fixture
def written(tmp_path):
    """A loss in a file, loaded whenever it is written; gone from the register when the test is over."""

    def write(code, name="worst"):
        path = tmp_path / f"{name}.py"
        path.write_text(LOSS.format(code=code, name=name))
        return load_file(path).Own

    yield write
    for name in ("worst", "unused"):
        dpb.loss.LOSSES.pop(name, None)


LARGEST, MEAN = "np.abs(answers.error).max(axis=1)", "np.abs(answers.error).mean(axis=1)"


class TestVersions:
    """A loss of somebody's own is what its code says, not what it is named."""

    def test_other_code_is_another_identity(self, written):
        """The same label and another file."""
        one = loss_version(written(LARGEST))
        assert loss_version(written(LARGEST)) == one
        assert loss_version(written(MEAN)) != one

    def test_a_loss_that_nobody_asks_for_changes_nothing(self, written):
        """Neither the identity of the other losses nor the name or the key of any result."""

        def identities():
            units = [unit for loss in ("L1", "relative", "worst") for unit in study(loss=loss).work[0]]
            return [(unit.key, unit.loss_name) for unit in units]

        written(LARGEST)
        before = identities()
        written(MEAN, name="unused")
        assert "unused" in dpb.loss.LOSSES
        assert identities() == before

    def test_the_losses_of_every_row_have_no_version_of_their_own(self):
        """Their code is that which makes errors; stores and the shipped study know them by their labels alone."""
        assert {unit.loss_name for loss in ("L2", "L1", "Linf") for unit in study(loss=loss).work[0]} == {
            "L2",
            "L1",
            "Linf",
        }

    def test_changed_code_runs_again_and_the_first_comes_back(self, written, run, tmp_path, capsys):
        """Edit, rerun, edit back: never the errors of one under the code of the other, and nothing is run twice."""
        path = plan_file(tmp_path)

        def errors(code):
            written(code)
            done = run(path, "--loss", "worst")
            exported = [row["worst"] for row in trial_rows(Store("s"))]
            np.testing.assert_array_equal(np.sort(Results.open("s").errors, axis=None), np.sort(exported))
            return done["units_run"], done["losses_changed"], exported

        ran, changed, largest = errors(LARGEST)
        assert (ran, changed) == (24, [])
        ran, changed, mean = errors(MEAN)
        assert (ran, changed) == (24, ["worst"])
        assert all(np.less(mean, largest))
        assert errors(MEAN) == (0, [], mean)
        assert errors(LARGEST) == (0, ["worst"], largest)

    def test_a_store_from_before_losses_had_versions_is_read(self, run, tmp_path):
        """Its bare label is the loss; asked for again, it is run by the code that is there."""
        path = plan_file(tmp_path)
        run(path, "--loss", "relative")
        store = Store("s")
        bare = [replace(row, other_losses={"relative": row.other_losses["relative"]}) for row in store.rows()]
        shutil.rmtree("s/shards")
        Path("s/manifest.jsonl").unlink()  # such stores have none
        for record in Path("s/runs").glob("*.json"):
            record.write_text(json.dumps({**json.loads(record.read_text()), "losses": {}}))
        Store("s", create=True).append(bare, "before")
        assert np.isfinite(Results.open("s", loss="relative").errors).all()
        assert run(path, "--loss", "relative")["units_run"] == 24
