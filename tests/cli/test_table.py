"""dpbench table: a public table counted, and the GROUP BY for a database."""

import json

import numpy as np
import pytest

from dpbench.cli import main

SPEC = '[columns.a]\nlow = 0\nhigh = 4\nbins = 4\nmissing = "cell"\n[columns.b]\ncategories = ["x", "=y"]\n'


@pytest.fixture
def spec(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "t.csv").write_text("a,b\n0,x\n1,=y\n,x\n9,x\n2,z\n")
    (tmp_path / "s.toml").write_text(f'table = "t.csv"\n{SPEC}')
    return "s.toml"


def test_counts_go_to_stdout_and_tallies_to_stderr(spec, capsys):
    """One row per cell, the count last; a category that a spreadsheet would run is made harmless."""
    assert main(["table", spec]) == 0
    said = capsys.readouterr()
    rows = said.out.splitlines()
    assert rows[0] == "a_low,a_high,b,count"
    assert rows[1:5] == ["0,1,x,1", "0,1,'=y,0", "1,2,x,0", "1,2,'=y,1"]
    assert rows[-2:] == [",,x,1", ",,'=y,0"]
    assert said.err == (
        "5 rows, 1 dropped, 5x2 cells\n  a: 1 missing (in a cell of its own), 1 outside (clamped)\n"
        "  b: 0 missing (dropped), 1 outside (dropped)\n"
    )


@pytest.mark.parametrize("ending", ["csv", "parquet", "npy"])
def test_counts_in_a_file(spec, ending, tmp_path, capsys):
    """By its ending."""
    assert main(["table", spec, "--out", f"c.{ending}"]) == 0
    assert capsys.readouterr().out == ""
    if ending == "npy":
        assert np.load(tmp_path / "c.npy").sum() == 4
    assert main(["table", spec, "--out", "c.xls"]) == 2
    assert ".csv, .parquet or .npy" in capsys.readouterr().err


def test_json_has_counts_and_tallies(spec, capsys):
    """For machines."""
    assert main(["table", spec, "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert (facts["rows"], facts["dropped"], facts["missing"]["a"]) == (5, 1, 1)
    assert np.sum(facts["counts"]) == 4


def test_sql_reads_nothing(spec, tmp_path, capsys):
    """Only the spec is needed."""
    (tmp_path / "t.csv").unlink()
    assert main(["table", spec, "--sql", "--from", "people"]) == 0
    assert 'FROM "people"' in capsys.readouterr().out
    assert main(["table", spec, "--sql"]) == 0
    assert 'FROM "t"' in capsys.readouterr().out


def test_counts_of_a_database_in_place_of_a_table(spec, tmp_path, capsys):
    """What the GROUP BY gave."""
    (tmp_path / "c.csv").write_text("a_cell,b_cell,count\n0,1,7\n4,0,2\n")
    (tmp_path / "s.toml").write_text(f'counts = "c.csv"\n{SPEC}')
    assert main(["table", spec, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["counts"] == [[0, 7], [0, 0], [0, 0], [0, 0], [2, 0]]


def test_the_files_of_a_folder_on_a_cluster(tmp_path, capsys):
    """Counts and tallies add up; only they travel."""
    distributed = pytest.importorskip("distributed", reason="distributed is not installed")
    (tmp_path / "many").mkdir()
    for number in range(3):
        (tmp_path / "many" / f"{number}.csv").write_text("a,b\n0,x\n9,x\n,x\n2,z\n")
    (tmp_path / "s.toml").write_text(f'table = "many"\n{SPEC}')
    with distributed.LocalCluster(
        n_workers=1, threads_per_worker=1, processes=False, dashboard_address=":0"
    ) as cluster:
        assert main(["table", str(tmp_path / "s.toml"), "--json", "--dask", cluster.scheduler_address]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert (facts["rows"], facts["dropped"], facts["outside"]["a"]) == (12, 3, 3)
    assert facts["counts"][0] == [3, 0]
