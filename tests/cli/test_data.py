from __future__ import annotations

import argparse
import json

import pytest

from dpbench import datasets
from dpbench.cli import data
from dpbench.errors import DatasetUnavailable, UnknownName


def run(*words):
    parser = argparse.ArgumentParser(prog="dpbench")
    data.add_parser(parser.add_subparsers())
    arguments = parser.parse_args(["data", *map(str, words)])
    return arguments.run(arguments)


@pytest.fixture
def room(monkeypatch, tmp_path):
    """An empty folder that DPBENCH_DATA names, and an empty cache."""
    monkeypatch.setenv("DPBENCH_DATA", str(tmp_path / "room"))
    monkeypatch.setattr("platformdirs.user_cache_path", lambda project: tmp_path / "cache")
    return tmp_path / "room"


def test_path_prints_the_folder(room, capsys):
    """`data path` prints where histograms are looked for."""
    assert run("path") == 0
    assert capsys.readouterr().out == f"{room}\n"


def test_verify_without_files_fails(room, capsys):
    """`data verify` lists every histogram, says what to do and exits with 1 when any is missing."""
    assert run("verify") == 1
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == len(datasets.DATASETS) + 1
    assert "missing" in lines[0]
    assert lines[-1] == f"0 of 28 are good in {room}; run `dpbench data pull`"


def test_verify_as_json(room, capsys):
    """`data verify --json` gives the folder, and name, file and status of each histogram."""
    assert run("verify", "--json", "--folder", room) == 1
    told = json.loads(capsys.readouterr().out)
    assert told["folder"] == str(room)
    assert told["ok"] is False
    assert told["datasets"][0] == {"name": "ADULT", "file": "1D/ADULTFRANK.n4096.npy", "status": "missing"}


def test_verify_with_good_files_succeeds(room, capsys, monkeypatch):
    """`data verify` exits with 0 when every file is good."""
    monkeypatch.setattr(datasets, "verify", lambda names=None, folder=None: [(datasets.get("ADULT"), "ok")])
    assert run("verify") == 0
    assert capsys.readouterr().out.splitlines()[-1] == f"1 of 1 are good in {room}"


def test_pull_passes_its_options_on(room, capsys, monkeypatch):
    """`data pull` hands names, mirror and folder to the library and tells where the files are."""
    calls = []

    def pull(names, mirror, folder, progress):
        calls.append((names, mirror, folder, progress))
        return [room]

    monkeypatch.setattr(datasets, "pull", pull)
    assert run("pull", "ADULT", "--mirror", "stick", "--folder", "here") == 0
    shown = capsys.readouterr().out
    assert "1 of 1 histograms" in shown
    assert "DPBENCH_DATA=here" in shown
    assert run("pull", "--quiet") == 0
    assert capsys.readouterr() == ("", "")
    assert calls == [(["ADULT"], "stick", "here", True), (None, None, None, False)]


def test_pull_from_a_mirror_without_the_file_raises(room, tmp_path):
    """`data pull` leaves errors to the command line's one place for them."""
    (tmp_path / "stick").mkdir()
    with pytest.raises(DatasetUnavailable):
        run("pull", "ADULT", "--mirror", tmp_path / "stick", "--quiet")
    with pytest.raises(UnknownName):
        run("pull", "NO-SUCH-DATA", "--quiet")


@pytest.mark.parametrize("words", [["--help"], ["pull", "--help"], ["verify", "--help"], ["path", "--help"]])
def test_help_has_an_example(words, capsys):
    """Every help text ends with an example."""
    with pytest.raises(SystemExit) as caught:
        run(*words)
    assert caught.value.code == 0
    assert "example:\n  " in capsys.readouterr().out


def test_command_is_required(capsys):
    """`data` alone is an error of usage."""
    with pytest.raises(SystemExit) as caught:
        run()
    assert caught.value.code == 2
    assert "COMMAND" in capsys.readouterr().err
