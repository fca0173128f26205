"""Whatever a command has to know of a stranger's algorithm, the stranger's code is loaded in other processes alone."""

import os
import re
import sys
from pathlib import Path

import pytest

import dpbench as dpb
from dpbench.audit.examinations import Examination, examine
from dpbench.cli import main
from dpbench.errors import InvalidInput, InvalidPlan, UnknownName
from dpbench.run.executors.system import memory_share
from dpbench.run.interviews import Call, answers_of
from dpbench.run.strangers import facts_of

MINE = '''
import os
from dataclasses import dataclass
from pathlib import Path

import dpbench as dpb
from dpbench.mathematics.cells import Cells

with Path({seen!r}).open("a") as file:
    print(os.getpid(), file=file)


@dataclass(frozen=True, kw_only=True)
class Mine(dpb.Algorithm):
    """Noisy cells."""

    name = "Mine"
    exchangeable = True
    consistent = True
    data_dependent = False
    side_information = ("scale",)
    free = {{"depth": (1, 2)}}
    depth: int = 1

    def estimate(self, data, workload):
        return data.laplace(Cells(data.domain), data.epsilon, "cells")

    def expected_error(self, workload, epsilon=None, *, delta=None, rho=None):
        return dpb.algorithms.get("Identity").expected_error(workload, epsilon, delta=delta, rho=rho)
'''
PLAN = """
base = "RANGE_1D"
name = "small"
datasets = ["staircase"]
domains = [16]
scales = [100]
samples = 2
trials = 2
algorithms = ["Identity", "Uniform"]
"""


@pytest.fixture
def mine(tmp_path, monkeypatch):
    """An algorithm that writes down which processes load it."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("DPBENCH_DATA", str(tmp_path))
    Path("mine.py").write_text(MINE.format(seen=str(tmp_path / "seen")))
    return "mine.py:Mine"


def loaded_elsewhere():
    """Whether it was loaded, and not in this process."""
    seen = set(map(int, Path("seen").read_text().split()))
    return bool(seen) and os.getpid() not in seen


SMALL = ["--domain", "16", "--samples", "1", "--trials", "2", "--jobs", "0", "--quiet"]


@pytest.mark.parametrize(
    "command",
    [
        ["tune", "mine.py:Mine", "--out", "table.json", "--signal", "2", "2", *SMALL],
        ["repair", "side", "mine.py:Mine", "--dataset", "staircase", "--scale", "100", *SMALL],
        ["properties", "mine.py:Mine"],
    ],
    ids=lambda command: command[0],
)
def test_a_command_loads_a_file_elsewhere(command, mine, capsys):
    """A file could change what the command measures, prints or stores of others."""
    assert main(command) == 0
    assert loaded_elsewhere()


def test_so_do_comparisons_and_pages(mine, capsys, monkeypatch):
    """Expected errors, card and noisy histograms come from other processes, and are there."""
    monkeypatch.setattr("dpbench.gallery.added.audit_words", lambda reference: "")  # see tests/cli/test_report.py
    Path("plan.toml").write_text(PLAN)
    assert main(["run", "plan.toml", "--store", "s", "--jobs", "0", "--quiet"]) == 0
    assert main(["compare", mine, "--study", "s", "--jobs", "0", "--quiet", "--page", "page"]) == 0
    assert loaded_elsewhere()
    assert "exact" in capsys.readouterr().out
    assert "Noisy cells." in Path("page/index.html").read_text()


def test_so_do_plug_ins_of_other_distributions(mine, tmp_path, monkeypatch, capsys):
    """An installed distribution names its algorithm by an entry point; ours are found without loading it."""
    folder = tmp_path / "site"
    (folder / "theirs-1.0.dist-info").mkdir(parents=True)
    (folder / "theirs-1.0.dist-info" / "METADATA").write_text("Metadata-Version: 2.1\nName: theirs\nVersion: 1.0\n")
    (folder / "theirs-1.0.dist-info" / "entry_points.txt").write_text("[dpbench.algorithms]\nMine = theirs_mine:Mine\n")
    (folder / "theirs_mine.py").write_text(Path("mine.py").read_text())
    monkeypatch.syspath_prepend(str(folder))
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(folder), os.environ.get("PYTHONPATH", "")]))
    from dpbench import algorithms
    from dpbench.run import strangers

    algorithms.everything.cache_clear()
    strangers.installed.cache_clear()
    try:
        assert algorithms.get("Hb").name == "Hb"
        assert facts_of("mine", ["16"]).domains == {"16"}
        Path("plan.toml").write_text(PLAN.replace('["Identity", "Uniform"]', '["Identity", "Mine"]'))
        assert main(["run", "plan.toml", "--store", "s", "--jobs", "0", "--quiet"]) == 0
        assert main(["interpret", "s"]) == 0
        assert "Mine" in capsys.readouterr().out
        assert loaded_elsewhere()
        assert "theirs_mine" not in sys.modules
    finally:
        algorithms.everything.cache_clear()
        strangers.installed.cache_clear()


def answer(what):
    """Called in another process."""
    if what == "dies":
        os._exit(3)
    if what == "no JSON":
        return {"a": object()}, b""
    return {"pid": os.getpid()}, b"x" * 8


def test_answers_come_one_after_the_other_from_one_process():
    """With as many bytes as were expected."""
    calls = [Call(answer, ("pid",), 8)] * 2
    one, two = answers_of("mine.py:Mine", calls)
    assert one.facts == two.facts != {"pid": os.getpid()}
    assert one.numbers == b"x" * 8


@pytest.mark.parametrize(
    ("what", "numbers", "words"),
    [("dies", 8, "its process ended"), ("no JSON", 8, "cannot be made: TypeError"), ("pid", 4, "something else than")],
)
def test_what_goes_wrong_there_is_one_line_here(what, numbers, words):
    """And nothing is taken for an answer that is none."""
    with pytest.raises(InvalidPlan, match=words) as refused:
        answers_of("mine.py:Mine", [Call(answer, (what,), numbers)])
    assert "\n" not in str(refused.value)


def test_a_name_that_nobody_has_is_refused_at_once():
    """Without a process."""
    with pytest.raises(UnknownName, match="Hbb"):
        facts_of("Hbb")


LIMITED = """
import resource
raise ValueError(f"may have {resource.getrlimit(resource.RLIMIT_DATA)[0]} bytes")
"""


def test_a_file_that_takes_too_much_memory_while_it_is_loaded_is_refused(mine, capsys):
    """By the memory that the run was given, in one line."""
    Path("mine.py").write_text("import numpy as np\nlarge = np.empty(3 * 2**30 // 8)\n" + Path("mine.py").read_text())
    Path("plan.toml").write_text(PLAN)
    assert main(["run", "plan.toml", "--with", mine, "--memory", "2", "--jobs", "0", "--quiet"]) == 2
    said = capsys.readouterr().err
    assert "mine.py cannot be imported: it needs more memory than it may have" in said
    assert said.count("\n") == 1
    with pytest.raises(InvalidInput, match="needs more memory than it may have"):
        dpb.run_plan("plan.toml", "s", added=[mine], memory=2, jobs=0)


@pytest.mark.skipif(not hasattr(os, "sysconf"), reason="the system does not say how much memory it has")
def test_every_file_is_loaded_within_the_machines_memory(mine):
    """By every verb that asks it, and by a check, where nothing is said of memory."""
    Path("mine.py").write_text(LIMITED)
    words = rf"may have {memory_share(1)} bytes"
    with pytest.raises(InvalidInput, match=words):
        facts_of(mine)
    ((_, refused),) = examine([Examination(mine)], jobs=1, timeout=60)
    assert re.search(words, str(refused))
