"""A stranger's code before and beside a run: when it is loaded, named, or run without workers."""

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from chaos.small import plan_file, study
from chaos.test_hostile import sleepers
from dpbench.errors import InvalidInput, InvalidStore
from dpbench.run import interviews
from dpbench.run.execution import execute
from dpbench.run.executors.processes import Processes
from dpbench.run.executors.serial import Serial
from dpbench.store import Store, manifest

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
PATCHES = "import dpbench.run.data_vectors as d; d.losses = None; dpb.Algorithm._outcome = None"
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


HIDES = f"""
import signal, time
{SLEEPS[:-1]}, start_new_session=True, env={{}})
os.kill(os.getppid(), signal.SIGKILL)
time.sleep(60)
"""


def test_a_daemon_that_a_file_starts_while_it_is_loaded_is_ended(tmp_path, monkeypatch):
    """Without an environment, in a session of its own, and with the process above it killed."""
    monkeypatch.setattr(interviews, "KILLED", 1)
    with pytest.raises(InvalidInput, match=r"its process ended \(signal SIGKILL\)"):
        study([written(tmp_path, HIDES)], **SMALL).work  # noqa: B018
    assert sleepers() == []


LOCKS = """
    def estimate(self, data, workload):
        import fcntl, time
        from pathlib import Path
        with open({manifest!r}) as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            Path({held!r}).touch()
            time.sleep(600)
"""


class UntilHeld(Processes):
    """Keeps rows until a file is there."""

    held: Path

    def rows(self, portions):
        kept = []
        for row in super().rows(portions):
            kept.append(row)
            if self.held.exists():
                yield from kept
                kept = []


def test_a_plug_in_that_locks_the_manifest_ends_the_run_and_loses_nothing(tmp_path, monkeypatch):
    """Whatever time a unit may take: the rows that came back are stored once the plug-in has ended."""
    monkeypatch.setattr(manifest, "WAIT", 0.5)
    store, held = Store(tmp_path / "s", create=True), tmp_path / "held"
    before, _, _ = TEXT.format(before="", name="'Mine'").partition("    def estimate")
    locks = LOCKS.format(manifest=str(store.folder / manifest.NAME), held=str(held))
    (tmp_path / "mine.py").write_text(before + locks)
    plan = study([f"{tmp_path / 'mine.py'}:Mine", "Identity"], **SMALL)
    executor = UntilHeld(2)
    executor.held = held
    with pytest.raises(InvalidStore, match=r"manifest.jsonl has been locked for 0.5 s by process \d+ "):
        execute(plan.work[0], store, executor, plan=plan)
    assert [row.algorithm for row in store.rows()] == ["Identity"]
    assert store.verify() == []


def test_a_pipe_ends_with_the_run(tmp_path):
    """``dpbench run | cat``: nothing that a stranger leaves behind keeps the output open."""
    written(tmp_path, SLEEPS)
    plan = plan_file(tmp_path, ["Identity", "mine.py:Mine"], trials=1)
    run = f"{sys.executable} -m dpbench.cli run {plan} --store s --jobs 1 --quiet | cat"
    options = {"cwd": tmp_path, "capture_output": True, "text": True, "timeout": 110, "check": True}
    done = subprocess.run(run, shell=True, **options)  # noqa: S602, PLW1510  (check is among the options)
    assert "Mine" in done.stdout
    assert sleepers() == []


HOSTILE = """
import dpbench.cli.arguments, dpbench.gallery.make, dpbench.repair.side_prices, dpbench.run.tuning
open(os.environ["LOADERS"], "a").write(f"{os.getpid()}\\n")
print("printed at import")
sys.stderr.write("printed at import\\n")
dpbench.run.tuning.best_rows = dpbench.repair.side_prices.side_prices = dpbench.gallery.make.page = None
dpbench.cli.arguments.write_json = sys.stdout = None
"""
FEW = "--samples 1 --trials 2 --jobs 0 --quiet"
VERBS = {
    "tune": f"tune mine.py:Mine --grid seed=1,2 --domain 16 --signal 3 3 {FEW} --out out.json",
    "repair": f"repair side mine.py:Mine --dataset bimodal --domain 16 --scale 100 {FEW} --json",
    "properties": "properties mine.py:Mine --json",
    "report": "report results --with mine.py:Mine --out page --json",
}
"""Every verb that is given a file beside ``run``, ``compare`` and ``check``."""
NEEDY = "side_information = ('scale',); seed: int = 0\n    dimensions = (1,)"


def results(folder):
    plan = study(["Identity"], **SMALL)
    execute(plan.work[0], Store(folder, create=True), Serial(), plan=plan)


def called(line, folder):
    """A command in a process of its own: its number, exit code, output and errors; it says where to note loaders."""
    command = [sys.executable, "-m", "dpbench", *line.split()]
    noted = {**os.environ, "LOADERS": str(folder / "loaders")}
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    process = subprocess.Popen(command, cwd=folder, env=noted, **pipes)
    out, err = process.communicate(timeout=300)
    return process.pid, process.returncode, out, err


@pytest.mark.parametrize("verb", [*list(VERBS)[:3], pytest.param("report", marks=pytest.mark.slow)])
def test_no_verb_loads_a_file_where_it_plans_and_reports(verb, tmp_path):
    """What a file prints, patches or ends is its own process: the command says what it says of a good file."""
    if verb == "report":
        results(tmp_path / "results")
    said = []
    for before in ("", HOSTILE):
        (tmp_path / "mine.py").write_text(TEXT.format(before=before, name=f"'Mine'; {NEEDY}"))
        store = f" --store store-{len(said)}" if verb in ("tune", "repair") else ""
        number, code, out, err = called(VERBS[verb] + store, tmp_path)
        assert (err, code) == ("", 0)
        said.append(out)
    if verb == "report":  # the page names the version of the file, so it may differ by some bytes
        assert [set(json.loads(each)) for each in said] == [{"page", "bytes"}] * 2
    else:
        assert said[0] == said[1]
    loaders = set(map(int, (tmp_path / "loaders").read_text().split()))
    assert loaders
    assert number not in loaders
    assert sleepers() == []


@pytest.mark.parametrize("verb", VERBS)
def test_a_file_that_ends_its_process_ends_no_verb(verb, tmp_path):
    """One line, and the exit code of something that cannot be used."""
    if verb == "report":
        results(tmp_path / "results")
    (tmp_path / "mine.py").write_text(TEXT.format(before="os._exit(0)", name="'Mine'"))
    _, code, out, err = called(VERBS[verb], tmp_path)
    assert (code, out) == (2, "")
    assert "cannot be loaded: its process ended (exit code 0)" in err
    assert err.count("\n") == 1


@pytest.mark.skipif(
    importlib.util.find_spec("dpbench.store.manifest") is None, reason="the store does not know its own files yet"
)
def test_a_file_among_the_shards_is_no_result(tmp_path, monkeypatch):
    """A store reads what its manifest lists."""
    monkeypatch.chdir(tmp_path)
    plan, store = study([f"{FORGERS}:WritesStore", "Identity"], **SMALL), Store(tmp_path / "s", create=True)
    execute(plan.work[0], store, Serial(), plan=plan)
    assert {row.algorithm for row in store.rows()} == {"WritesStore", "Identity"}
