"""The inner loop: edit an algorithm, run and compare it again in the same store, go back."""

import json
from pathlib import Path

import pytest

from chaos.small import canonical, plan_file
from dpbench.cli import main
from dpbench.results import Results
from dpbench.store import Store

MINE = '''\
from dataclasses import dataclass
import dpbench as dpb
from dpbench.mathematics.cells import Cells
from helper import FACTOR


@dataclass(frozen=True, kw_only=True)
class Mine(dpb.Algorithm):
    """Noisy cells, times a factor."""

    name = "Mine"

    def estimate(self, data, workload):
        return data.laplace(Cells(data.domain), data.epsilon, "cells") * FACTOR
'''


def edit(factor):
    Path("helper.py").write_text(f"FACTOR = {factor}\n")


@pytest.fixture
def plan(tmp_path, monkeypatch):
    """A small plan, an algorithm and its helper in the current folder."""
    monkeypatch.chdir(tmp_path)
    Path("mine.py").write_text(MINE)
    edit(1)
    return plan_file(tmp_path, algorithms=("Identity", "Uniform"))


def run(plan, *words):
    return main(["run", plan, "--with", "mine.py:Mine", "--store", "s", "--jobs", "0", *words])


def error_of_mine():
    return float(Results.open("s").where(algorithm="Mine").errors.mean())


def test_edit_rerun_and_back(plan, capsys):
    """Each state has its own numbers; going back runs nothing; one line says what happened, and quiet says none."""
    assert run(plan) == 0
    first, exported = error_of_mine(), canonical("s")
    capsys.readouterr()
    edit(50)
    assert run(plan) == 0
    told = capsys.readouterr().err
    (line,) = [line for line in told.splitlines() if line.startswith("Mine changed (version ")]
    assert line.endswith(": its 4 settings run again; earlier results are kept (dpbench store versions s)")
    assert "8 units, 24 trials to run" in told
    assert error_of_mine() > 20 * first
    assert run(plan) == 0
    assert "Mine" not in capsys.readouterr().err
    edit(1)
    assert run(plan) == 0
    told = capsys.readouterr().err
    assert "0 units, 0 trials to run" in told
    assert "again: its 4 settings are there (dpbench store versions s)" in told
    assert error_of_mine() == first
    assert canonical("s") == exported
    edit(50)
    assert run(plan, "--quiet") == 0
    assert capsys.readouterr().err == ""
    assert error_of_mine() > 20 * first


def test_a_dry_run_tells_changes_and_keeps_what_is_shown(plan, capsys):
    """Looking is not asking."""
    run(plan, "--quiet")
    before = canonical("s")
    edit(50)
    capsys.readouterr()
    assert run(plan, "--dry-run") == 0
    assert "Mine changed" in capsys.readouterr().err
    assert canonical("s") == before
    assert run(plan, "--dry-run", "--json") == 0
    (changed,) = json.loads(capsys.readouterr().out)["algorithms_changed"]
    assert (changed["algorithm"], changed["settings"], changed["missing"]) == ("Mine", 4, 4)


def test_compare_goes_on_in_the_same_store(plan, capsys):
    """Edit, compare, edit back."""
    assert main(["run", plan, "--store", "study", "--jobs", "0", "--quiet"]) == 0
    command = ["compare", "mine.py:Mine", "--study", "study", "--store", "own", "--jobs", "0"]
    found = []
    for factor in (1, 50, 1):
        edit(factor)
        capsys.readouterr()
        assert main([*command, "--json"]) == 0
        told = capsys.readouterr()
        found.append((json.loads(told.out)["regret"], told.err))
    assert found[0][0] == found[2][0] < found[1][0]
    assert "Mine changed" in found[1][1]
    assert "again: its 4 settings are there" in found[2][1]


def test_only_what_changed_runs_again(plan, capsys):
    """Settings that the new version already has are not run again; others are told by number."""
    run(plan, "--quiet")
    edit(50)
    assert run(plan, "--quiet", "--scale", "100") == 0
    edit(1)
    run(plan, "--quiet")
    edit(50)
    capsys.readouterr()
    assert run(plan) == 0
    assert "2 of its 4 settings run again" in capsys.readouterr().err


def test_a_narrow_run_of_a_new_version_shows_that_version_alone(plan, capsys):
    """Never the rest of the old one beside it."""
    run(plan, "--quiet")
    edit(50)
    run(plan, "--quiet", "--scale", "100")
    results = Results.open("s")
    assert len(results.where(algorithm="Mine")) == 2
    assert len(results.where(algorithm="Identity")) == 4


def test_versions_are_listed_and_dropped(plan, capsys):
    """A table, JSON, a drop by the first letters; the current one only by its full name."""
    run(plan, "--quiet")
    edit(50)
    run(plan, "--quiet")
    capsys.readouterr()
    assert main(["store", "versions", "s"]) == 0
    table = capsys.readouterr().out
    assert table.count("Mine") == 2
    assert main(["store", "versions", "s", "--json"]) == 0
    found = [each for each in json.loads(capsys.readouterr().out) if each["algorithm"] == "Mine"]
    (current,) = [each["version"] for each in found if each["current"]]
    (earlier,) = [each["version"] for each in found if not each["current"]]
    assert all((each["settings"], each["trials"]) == (4, 24) for each in found)
    assert current[:8] in table
    assert main(["store", "versions", "s", "--drop", current[:8]]) == 2
    assert f"write it in full: {current}" in capsys.readouterr().err
    assert main(["store", "versions", "s", "--drop", "zzzz"]) == 2
    assert "there is no version named 'zzzz'" in capsys.readouterr().err
    assert main(["store", "export", "s", "--out", "old.csv", "--canonical", "--version", earlier[:8]]) == 0
    capsys.readouterr()
    assert main(["store", "versions", "s", "--drop", earlier[:8]]) == 0
    assert capsys.readouterr().out == f"dropped version {earlier[:8]} of Mine: 24 trials of 4 settings\n"
    assert len(Store("s").versions()) == 3
    edit(1)
    assert run(plan) == 0
    assert "8 units, 24 trials to run" in capsys.readouterr().err
    assert main(["store", "export", "s", "--out", "new.csv", "--canonical"]) == 0
    assert Path("new.csv").read_bytes() == Path("old.csv").read_bytes()


def test_a_store_of_a_file_that_is_gone_still_reads(plan, capsys):
    """Exports, tables and versions need no code."""
    run(plan, "--quiet")
    before = canonical("s")
    Path("mine.py").unlink()
    Path("helper.py").unlink()
    assert canonical("s") == before
    assert main(["store", "versions", "s"]) == 0
    assert main(["interpret", "s", "--what", "errors"]) == 0
