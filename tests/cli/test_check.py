"""dpbench check: one table, one line for whatever goes wrong."""

import contextlib
import json
import os
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

from dpbench.audit import examinations
from dpbench.audit.examinations import Examination, cpu_seconds
from dpbench.audit.report import LAYERS, Layer
from dpbench.cli import main
from dpbench.errors import InvalidInput

PLUGIN = """
import os, time
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import dpbench as dpb
from dpbench.mathematics.cells import Cells


@dataclass(frozen=True, kw_only=True)
class Good(dpb.Algorithm):
    name = "Good"
    data_dependent = False
    dimensions = (1,)

    def estimate(self, data, workload):
        return data.laplace(Cells(data.domain), data.epsilon, "cells")


@dataclass(frozen=True, kw_only=True)
class Prints(Good):
    name = "Prints"

    def estimate(self, data, workload):
        print("a flood")
        os.write(2, b"a flood")
        return super().estimate(data, workload)


@dataclass(frozen=True, kw_only=True)
class Reads(Good):
    name = "Reads"

    def estimate(self, data, workload):
        Path(__file__).with_name("private.csv").read_text()
        return super().estimate(data, workload)


@dataclass(frozen=True, kw_only=True)
class Hangs(Good):
    name = "Hangs"

    def estimate(self, data, workload):
        time.sleep(1000)


@dataclass(frozen=True, kw_only=True)
class Raises(Good):
    name = "Raises"

    def estimate(self, data, workload):
        raise ValueError("over two" + chr(10) + "lines")


@dataclass(frozen=True, kw_only=True)
class Vanishes(Good):
    name = "Vanishes"

    def estimate(self, data, workload):
        os._exit(7)


@dataclass(frozen=True, kw_only=True)
class Needs(Good):
    name = "Needs"
    depth: int


def plain(x, workload, epsilon, rng):
    return x + rng.laplace(scale=1 / epsilon, size=x.shape)


def cheats(x, workload, epsilon, rng):
    return x + rng.laplace(scale=0.4 / epsilon, size=x.shape)
"""


@pytest.fixture
def plugin(tmp_path):
    (tmp_path / "private.csv").write_text("1")
    path = tmp_path / "plugin.py"
    path.write_text(PLUGIN)
    return path


@pytest.mark.parametrize(
    ("name", "code", "line"),
    [
        ("Prints", 0, "note  Prints: it prints"),
        ("Reads", 1, "FAIL  conformance: Reads opens"),
        ("Hangs", 2, "NOT EXAMINED  conformance: "),
        ("Raises", 1, "FAIL  conformance: Raises fails on 3 at epsilon 1 with ValueError: over two lines"),
        ("Vanishes", 1, "ended its process (exit code 7)"),
        ("Needs", 1, "FAIL  conformance: Needs cannot be built without arguments"),
    ],
)
def test_whatever_an_algorithm_does_is_one_clear_line(plugin, capfd, name, code, line):
    """It is examined in a process of its own, with a time limit; the table stays whole."""
    options = ["--timeout", "1"] if name == "Hangs" else ["--runs", "1000"] if name == "Prints" else []
    assert main(["check", f"{plugin}:{name}", "--cases", "16", *options]) == code
    lines = capfd.readouterr().out.splitlines()
    assert lines[0].split() == [
        "algorithm",
        "conformance",
        "ledger",
        "sensitivity",
        "replay",
        "black",
        "box",
        "verdict",
    ]
    assert sum(line in each for each in lines) == 1
    assert len(lines) <= 6
    assert not any("flood" in each for each in lines)


def test_what_was_not_examined_is_no_fault_and_no_pass(plugin, capsys):
    """No layer fails by it, and none passes."""
    options = ["--timeout", "0.5", "--json", "--quiet"]
    assert main(["check", f"{plugin}:Hangs", *options]) == 2
    (report,) = json.loads(capsys.readouterr().out)["algorithms"]
    assert (report["outcome"], report["passed"]) == ("not examined", False)
    assert {layer["verdict"] for layer in report["layers"]} == {"not run"}
    assert "was not examined to the end" in report["layers"][0]["cause"]


@pytest.mark.parametrize(
    ("found", "code"),
    [
        (("well", "well"), 0),
        (("well", "unfinished"), 2),
        (("unfinished", "failed"), 1),
        (("refused", "failed"), 1),
        (("refused", "well"), 2),
        (("well", "partly"), 2),
    ],
)
def test_of_several_a_finding_comes_before_what_was_not_examined(found, code, monkeypatch, capsys):
    """1 if anything was found in any, else 2 if any was not examined, else 0."""

    def reported(examinations, **how):
        for each, what in zip(examinations, found, strict=True):
            report = each.unfinished("it hangs")
            if what == "failed":
                report = each.failed("it leaks")
            if what == "well":
                report = replace(report, layers=tuple(Layer(name, "not run") for name in LAYERS))
            if what == "partly":
                layers = tuple(Layer(name, "not run", "slow", missing=name == "replay") for name in LAYERS)
                report = replace(report, layers=layers)
            yield each, InvalidInput("it cannot be loaded") if what == "refused" else report

    monkeypatch.setattr(examinations, "examine", reported)
    assert main(["check", "Identity", "Uniform", "--quiet"]) == code
    out = capsys.readouterr().out
    assert ("leak or fault found" in out) == ("failed" in found)
    assert ("nothing found" in out) == ("well" in found)


def test_time_is_cpu_time_and_the_clock_is_a_backstop(monkeypatch):
    """Ten seconds on a busy machine are no timeout; a process that waits for ever ends all the same."""
    now = [100.0]
    monkeypatch.setattr(examinations.time, "monotonic", lambda: now[0])
    running = examinations._Running(None, None, Examination("Mine"), timeout=4.0, deadline=120.0, begun=None)
    assert running.late(taken=50.0) == ""  # it is starting
    running.begun = 50.0
    now[0] = 110.0
    assert running.late(taken=53.9) == ""
    assert "within 4 s of CPU time" in running.late(taken=54.0)
    now[0] = 120.0
    assert "of which it took 1 s of CPU time: it waits for something, or the machine is busy" in running.late(51.0)


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="there is no /proc that lists CPU time")
def test_cpu_time_counts_what_a_process_has_started():
    """An examination forks a process for every batch."""
    code = "import os\nif os.fork():\n  os.wait()\nwhile True: pass"
    with subprocess.Popen([sys.executable, "-c", code]) as busy:
        try:
            wait_until(lambda: cpu_seconds({busy.pid})[busy.pid] > 0.3)
            alone = int(Path(f"/proc/{busy.pid}/stat").read_text().rpartition(")")[2].split()[11])
            assert alone / os.sysconf("SC_CLK_TCK") < 0.3
        finally:
            for child in Path(f"/proc/{busy.pid}/task/{busy.pid}/children").read_text().split():
                os.kill(int(child), 9)
            busy.kill()


def test_a_plain_function_is_recognised(plugin, capsys):
    """The black box, the scale and determinism; nothing else can be examined."""
    plain, cheats = f"{plugin}:plain", f"{plugin}:cheats"
    assert main(["check", plain, cheats, "--runs", "2000", "--jobs", "0", "--json"]) == 1
    first, second = json.loads(capsys.readouterr().out)["algorithms"]
    assert (first["passed"], second["passed"]) == (True, False)
    assert first["form"] == "plain function"
    assert {layer["name"]: layer["verdict"] for layer in second["layers"]}["black box"] == "fail"


def test_what_was_tried_is_said(capsys):
    """Cases, domains, budgets and workloads; a domain of one's own is the only one."""
    assert main(["check", "Uniform", "--domain", "40", "--cases", "16", "--jobs", "0"]) == 0
    text = capsys.readouterr().out
    assert "nothing found" in text
    assert "tried Uniform: 16 random cases replayed (domains: 1 of 40 to 40 cells; epsilon" in text


def test_side_information_makes_the_difference(capsys):
    """Bought, the scale is paid for; public, it is not."""
    assert main(["check", "UGrid", "--cases", "16", "--jobs", "0"]) == 0
    assert main(["check", "UGrid", "--jobs", "0", "--side-information", "public"]) == 1
    text = capsys.readouterr().out
    assert "the true scale, known for nothing" in text
    assert "samplers: Laplace off by" in text


@pytest.mark.parametrize(
    ("arguments", "cause"),
    [
        ([], "nothing to check"),
        (["Identity", "--runs", "5"], "--runs is 5"),
        (["Identity", "--seed", "-1"], "--seed is -1"),
        (["Identity", "--timeout", "0"], "--timeout is 0"),
        (["Identity", "--jobs", "-2"], "--jobs is -2"),
        (["Identity", "--cases", "0"], "--cases is 0"),
        (["Identity", "--domain", "no"], "no"),
    ],
)
def test_bad_options_are_one_line(arguments, cause, capsys):
    """What was given and what is wanted, whether the parser or the verb finds it."""
    try:
        code = main(["check", *arguments])
    except SystemExit as ended:
        code = ended.code
    assert code == 2
    error = capsys.readouterr().err
    assert cause in error
    assert error.count("\n") == 1


def test_progress_is_told_of_several_and_can_be_silenced(capsys):
    """One line for each that is done, apart from the table."""
    assert main(["check", "Identity", "Uniform", "--cases", "16", "--jobs", "0"]) == 0
    told = capsys.readouterr().err.splitlines()
    assert [line.split()[:3] for line in told] == [["1/2", "Identity:", "nothing"], ["2/2", "Uniform:", "nothing"]]
    assert main(["check", "Uniform", "--cases", "16", "--jobs", "0", "--quiet"]) == 0
    assert capsys.readouterr().err == ""


def test_runs_ask_for_the_black_box(capsys):
    """A number of runs is not left aside where --black-box is not given."""
    assert main(["check", "Uniform", "--cases", "8", "--runs", "1000", "--jobs", "0", "--json", "--quiet"]) == 0
    layers = {layer["name"]: layer for layer in json.loads(capsys.readouterr().out)["algorithms"][0]["layers"]}
    assert layers["black box"]["verdict"] == "pass"
    assert layers["black box"]["figures"]["runs_a_side"] == 1000


STARTED = 3 * os.sysconf("SC_CLK_TCK")
"""Ticks after which an examination is under way, beyond importing."""


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="there is no /proc to look for processes in")
@pytest.mark.slow
def test_no_examination_outlives_the_command():
    """A command that is killed takes its processes along, whatever they are at."""
    command = [sys.executable, "-m", "dpbench", "check", "MWEM", "--black-box", "--quiet"]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, start_new_session=True) as parent:
        try:
            wait_until(lambda: any(ticks > STARTED for ticks in session(parent.pid, but=parent.pid).values()))
        finally:
            parent.kill()  # else a busy machine would wait for the examination's end
            parent.wait()
    wait_until(lambda: not session(parent.pid), seconds=5)


def session(leader, but=None):
    """Processes of a session that have not ended, and the processor time of each in ticks; all but one."""
    found = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):  # it ended meanwhile
            fields = path.read_text().rpartition(")")[2].split()
            if int(fields[3]) == leader and fields[0] != "Z":
                found[int(path.parent.name)] = int(fields[11])
    found.pop(but, None)
    return found


def wait_until(holds, seconds=300):
    """Until something holds, for so long at most."""
    deadline = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.1)
