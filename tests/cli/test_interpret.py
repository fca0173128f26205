import csv
import json

import numpy as np
import pytest

from dpbench.cli import main
from dpbench.store import Store
from store.rows import make


@pytest.fixture
def store(tmp_path):
    """A store of a small study with a stranger's algorithm and a failure."""
    rng = np.random.default_rng(0)
    rows = [
        make(
            algorithm=name,
            dataset=data,
            scale=scale,
            sample=sample,
            trials=5,
            l2=rng.lognormal(mean, 0.1, 5).tolist(),
            squared_bias=2.0,
            variance=1.0,
        )
        for name, mean in (("Identity", 0.0), ("Uniform", 1.0), ("Mine", -1.0))
        for data in "ab"
        for scale in (100, 1000)
        for sample in range(3)
    ]
    rows.append(make(algorithm="Broken", failure="it broke"))
    Store(tmp_path / "store", create=True).append(rows, "run")
    return str(tmp_path / "store")


def test_every_table_is_printed(store, capsys):
    """All of it by default, with the failure on the error stream."""
    assert main(["interpret", store]) == 0
    shown = capsys.readouterr()
    for words in (
        "scaled L2 error",
        "competitive by mean scaled L2 error",
        "95th percentile",
        "over that of Identity",
        "regret",
        "bias",
    ):
        assert words in shown.out
    assert "it broke" in shown.err


def test_tables_are_told_to_machines_too(store, tmp_path, capsys):
    """JSON that parses, one CSV row per setting, or the rows of one table."""
    assert main(["interpret", store, "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert {row["algorithm"] for row in told["competitive"] if row["competitive"]} == {"Mine"}
    assert main(["interpret", store, "--csv", str(tmp_path / "all.csv")]) == 0
    assert len(list(csv.DictReader((tmp_path / "all.csv").read_text().splitlines()))) == 13
    assert main(["interpret", store, "--what", "regret", "--csv", str(tmp_path / "regret.csv")]) == 0
    rows = list(csv.DictReader((tmp_path / "regret.csv").read_text().splitlines()))
    assert float(rows[0]["regret"]) == 1.0


def test_a_summary_says_the_same_as_its_store(store, tmp_path, capsys):
    """The tables of the summary file are those of the store."""
    summary = str(tmp_path / "x.parquet")
    main(["interpret", store, "--summary", summary, "--what", "regret"])
    first = capsys.readouterr().out
    assert main(["interpret", summary, "--what", "regret"]) == 0
    assert capsys.readouterr().out == first


def test_options_narrow_and_choose_the_test(store, capsys):
    """Only what fits is interpreted, by the test that is asked for; nothing left is an error in one line."""
    assert main(["interpret", store, "--what", "competitive", "--scale", "100", "--paired"]) == 0
    shown = capsys.readouterr().out
    assert "; paired t-test on common data vectors, level 0.05/2" in shown
    assert "1e3" not in shown
    assert main(["interpret", store, "--dataset", "nowhere"]) == 2
    assert "no results that fit" in capsys.readouterr().err


def test_principles_of_a_store(store, capsys):
    """Ten verdicts with evidence; a broken one is exit code 1."""
    assert main(["principles", store, "--json"]) == 1
    judged = json.loads(capsys.readouterr().out)
    assert [each["number"] for each in judged] == list(range(1, 11))
    assert main(["principles", store]) == 1
    assert "Domain size diversity" in capsys.readouterr().out


def test_properties_of_one_algorithm(capsys):
    """A table beside the paper's, or JSON."""
    assert main(["properties", "Uniform", "--json"]) == 0
    (found,) = json.loads(capsys.readouterr().out)
    assert (found["consistent"], found["exchangeable"]) == (False, "draw for draw")
    assert main(["properties", "Uniform"]) == 0
    assert "draw for draw" in capsys.readouterr().out
