"""Code put in place of the package's own, and what is done when a process ends."""

import atexit
from pathlib import Path

from dpbench.audit.examinations import Examination, examine
from dpbench.audit.side_effects import farewells, farewells_noted
from dpbench.audit.tampering import code_of_the_package, replaced_since
from dpbench.privacy import noise

HONEST = """
from dataclasses import dataclass
import dpbench as dpb
from dpbench.mathematics.cells import Cells
from dpbench.privacy import noise

{before}

@dataclass(frozen=True, kw_only=True)
class Mine(dpb.Algorithm):
    name = "Mine"

    def estimate(self, data, workload):
        return data.laplace(Cells(data.domain), data.epsilon, "cells")
"""

STARTING = """
import os, time

def start():
    if os.fork() == 0:
        os.setsid()
        with open({!r}, "a") as file:
            print(os.getpid(), file=file)
        time.sleep(300)
        os._exit(0)
"""


def report_of(path, before):
    path.write_text(HONEST.format(before=before))
    return Examination(f"{path}:Mine", cases=8).run()


def test_nothing_is_replaced_by_itself():
    """Loading more of the package and of others adds names and replaces none."""
    before = code_of_the_package()
    import dpbench.release
    import dpbench.run  # noqa: F401

    assert replaced_since(before) == ""


def test_a_method_a_function_and_a_constant_are_noticed(monkeypatch):
    """Whatever the kind of part, its name is said."""
    before = code_of_the_package()
    for owner, name in ((noise.RandomNoise, "laplace"), (noise, "RandomNoise"), (atexit, "register")):
        with monkeypatch.context() as patch:
            patch.setattr(owner, name, lambda *_: None)
            assert (name in replaced_since(before)) == (owner is not atexit)
    assert replaced_since(before) == ""


def test_a_file_that_replaces_the_sampler_when_it_is_loaded_is_refused(tmp_path, monkeypatch):
    """Nothing that the audit believes would be true then."""
    monkeypatch.setattr(noise.RandomNoise, "laplace", noise.RandomNoise.laplace)  # put back afterwards
    report = report_of(tmp_path / "mine.py", "noise.RandomNoise.laplace = lambda self, truth, scale, shape: truth")
    assert not report.passed
    assert "RandomNoise.laplace, which is not its own, when it is loaded" in report.failures[0].cause


def test_a_sampler_that_is_replaced_while_it_runs_is_noticed(tmp_path):
    """Half the noise, by code in place of ours, and left there."""
    text = HONEST.format(before="drawn = noise.RandomNoise.laplace").replace(
        "        return data",
        "        half = lambda self, truth, *rest: truth + (drawn(self, truth, *rest) - truth) / 2\n"
        "        noise.RandomNoise.laplace = half\n        return data",
    )
    (tmp_path / "mine.py").write_text(text)
    replay = Examination(f"{tmp_path / 'mine.py'}:Mine", cases=8).run().layer("replay")
    assert replay.verdict == "fail"
    assert "it changes dpbench.privacy.noise.RandomNoise.laplace, which is not its own while it runs" in replay.cause


def test_what_it_has_started_ends_with_its_examination(tmp_path):
    """A process that waits for minutes, in a session of its own."""
    started = tmp_path / "started"
    text = HONEST.format(before=STARTING.format(str(started)))
    text = text.replace("        return data", "        start()\n        return data")
    (tmp_path / "mine.py").write_text(text)
    reference = f"{tmp_path / 'mine.py'}:Mine"
    list(examine([Examination(reference, cases=8)], jobs=1, timeout=5))
    pids = started.read_text().split()
    assert pids
    assert [pid for pid in pids if Path(f"/proc/{pid}/stat").exists()] == []


def test_an_algorithm_in_the_name_of_the_package_is_refused(tmp_path):
    """What is ours is examined less, so a borrowed module name is worth something; it may be borrowed late, too."""
    early = "def __init_subclass__(kind):\n        kind.__module__ = 'dpbench.algorithms.identity'"
    late = "def __post_init__(self):\n        type(self).__module__ = 'dpbench.algorithms.identity'"
    for borrowed in (early, late):
        text = HONEST.format(before="") + f"    {borrowed}\n\n\nclass Other(Mine):\n    name = 'Other'\n"
        (tmp_path / "mine.py").write_text(text)
        report = Examination(f"{tmp_path / 'mine.py'}:Other", cases=8).run()
        assert "says that it is of the module dpbench.algorithms.identity, which does not have it" in str(report)
        assert not report.passed


def test_what_is_registered_for_the_end_is_remembered_once():
    """In the order in which Python would do it, with its arguments."""
    said = []
    with farewells_noted():
        atexit.register(said.append, 1)
        atexit.register(said.append, 2)
    for function in farewells():
        function()
    assert said == [2, 1]
    assert list(farewells()) == []
    atexit.unregister(said.append)
