"""dpbench check: one table, one line for whatever goes wrong."""

import contextlib
import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from dpbench.cli import main

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
        ("Hangs", 1, "was not examined to the end within 8 s"),
        ("Raises", 1, "FAIL  conformance: Raises fails on 3 at epsilon 1 with ValueError: over two lines"),
        ("Vanishes", 1, "ended its process (exit code 7)"),
        ("Needs", 1, "FAIL  conformance: Needs cannot be built without arguments"),
    ],
)
def test_whatever_an_algorithm_does_is_one_clear_line(plugin, capfd, name, code, line):
    """It is examined in a process of its own, with a time limit; the table stays whole."""
    options = ["--timeout", "8"] if name == "Hangs" else ["--runs", "1000"] if name == "Prints" else []
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


def test_a_plain_function_is_recognised(plugin, capsys):
    """The black box, the scale and determinism; nothing else can be examined."""
    plain, cheats = f"{plugin}:plain", f"{plugin}:cheats"
    assert main(["check", plain, cheats, "--runs", "2000", "--jobs", "0", "--json"]) == 1
    first, second = json.loads(capsys.readouterr().out)["algorithms"]
    assert (first["passed"], second["passed"]) == (True, False)
    assert first["form"] == "plain function"
    assert {layer["name"]: layer["verdict"] for layer in second["layers"]}["black box"] == "fail"


def test_what_was_tried_is_said(capsys):
    """Not "passed": cases, domains, budgets and workloads; a domain of one's own is the only one."""
    assert main(["check", "Uniform", "--domain", "40", "--cases", "16", "--jobs", "0"]) == 0
    text = capsys.readouterr().out
    assert "not refuted" in text
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
    assert [line.split()[:3] for line in told] == [["1/2", "Identity:", "not"], ["2/2", "Uniform:", "not"]]
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
