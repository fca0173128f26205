"""A stranger's code before and beside a run: when it is loaded, named, or run without workers."""

import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest

from chaos.small import plan_file, study
from chaos.test_hostile import sleepers
from dpbench.errors import InvalidInput
from dpbench.run.execution import execute
from dpbench.run.executors.serial import Serial
from dpbench.store import Store

FORGERS = Path(__file__).with_name("forgers.py")
TEXT = """
from dataclasses import dataclass
import os, subprocess, sys
import dpbench as dpb
from dpbench.mathematics.cells import Cells

{before}

@dataclass(frozen=True, kw_only=True)
class Mine(dpb.Algorithm):
    name = {name}

    def estimate(self, data, workload):
        return data.laplace(Cells(data.domain), data.epsilon, "cells")
"""
SLEEPS = "subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(120)  # dpbench-escaper'])"
PATCHES = "import dpbench.run.data_vectors as d; d.losses = None; dpb.Algorithm.outcome = None"
SMALL = {"datasets": ["bimodal"], "scales": [100], "samples": 1}


def written(folder, before="", name="'Mine'"):
    (folder / "mine.py").write_text(TEXT.format(before=before, name=name))
    return f"{folder / 'mine.py'}:Mine"


@pytest.mark.parametrize(
    ("before", "name", "words"),
    [
        ("os._exit(3)", "'Mine'", "cannot be loaded: its process ended (exit code 3)"),
        ("raise SystemExit(4)", "'Mine'", "cannot be imported: SystemExit: 4"),
        ("raise ValueError('\\x1b[2J' + 'x' * 10**6)", "'Mine'", "cannot be imported: ValueError: xxx"),
        ("", "'\\x1b[31mMine'", "has the name 'Mine', or more of it"),
        ("", "'x' * 61", "has the name 'xxx"),
        ("", "'hb'", "is named hb, as one in the catalogue is"),
        ("", "3", "has the name 'int'"),
    ],
)
def test_a_file_that_cannot_be_used_is_refused_in_one_line(before, name, words, tmp_path):
    """Whatever it does while it is loaded; the process that plans is not the one that loads."""
    with pytest.raises(InvalidInput) as refused:
        study([written(tmp_path, before, name)], **SMALL).work  # noqa: B018
    assert words in str(refused.value)
    assert str(refused.value).isprintable()
    assert len(str(refused.value)) < 800


def test_what_a_file_patches_while_it_is_loaded_changes_nothing_here(tmp_path):
    """Nor is the code loaded at all where the run is planned, measured and stored, without workers too."""
    before = set(sys.modules)
    mine = written(tmp_path, PATCHES + "; d.losses.no")
    with pytest.raises(InvalidInput, match="cannot be imported"):
        study([mine], **SMALL).work  # noqa: B018
    mine = written(tmp_path, SLEEPS)
    plan, store = study([mine, "Identity"], **SMALL), Store(tmp_path / "s", create=True)
    outcome = execute(plan.work[0], store, Serial(timeout=60), plan=plan)
    assert (outcome.finished, outcome.failures) == (2, [])
    assert not [name for name in set(sys.modules) - before if name.startswith("dpbench_plugin_")]
    assert sleepers() == []


def test_a_pipe_ends_with_the_run(tmp_path):
    """``dpbench run | cat``: nothing that a stranger leaves behind keeps the output open."""
    written(tmp_path, SLEEPS)
    plan = plan_file(tmp_path, ["Identity", "mine.py:Mine"], trials=1)
    run = f"{sys.executable} -m dpbench.cli run {plan} --store s --jobs 1 --quiet | cat"
    options = {"cwd": tmp_path, "capture_output": True, "text": True, "timeout": 110, "check": True}
    done = subprocess.run(run, shell=True, **options)  # noqa: S602, PLW1510  (check is among the options)
    assert "Mine" in done.stdout
    assert sleepers() == []


@pytest.mark.skipif(
    importlib.util.find_spec("dpbench.store.manifest") is None, reason="the store does not know its own files yet"
)
def test_a_file_among_the_shards_is_no_result(tmp_path, monkeypatch):
    """A store reads what its manifest lists."""
    monkeypatch.chdir(tmp_path)
    plan, store = study([f"{FORGERS}:WritesStore", "Identity"], **SMALL), Store(tmp_path / "s", create=True)
    execute(plan.work[0], store, Serial(), plan=plan)
    assert {row.algorithm for row in store.rows()} == {"WritesStore", "Identity"}
