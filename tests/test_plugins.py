"""Somebody's own file with something beside it, everywhere that such a file can be named."""

import json
from dataclasses import dataclass
from pathlib import Path

import pytest

from chaos.small import canonical, plan_file, study
from dpbench.algorithms.identity import Identity
from dpbench.audit.properties import measured_properties
from dpbench.audit.subject import SMALL_DOMAINS, Subject
from dpbench.cli import main
from dpbench.errors import InvalidInput, UnknownName
from dpbench.gallery.budget_use import BudgetUse
from dpbench.plugins import load_class, load_class_or_function
from dpbench.run.execution import agenda, execute
from dpbench.run.executors.serial import Serial
from dpbench.store import Store

MINE = '''\
from dataclasses import dataclass
import dpbench as dpb
from dpbench.mathematics.cells import Cells
import helper


@dataclass(frozen=True, kw_only=True)
class Mine(dpb.Algorithm):
    """Noisy cells, times a factor."""

    name = "Mine"
    exchangeable = True
    consistent = True
    free = {"share": (1.0, 2.0)}
    share: float = 1.0

    def supports(self, domain):
        return domain.size <= 2**20

    def estimate(self, data, workload):
        from tools.late import OFFSET

        return data.laplace(Cells(data.domain), data.epsilon, "cells") * helper.FACTOR + OFFSET
'''


def write(folder, factor=1, offset=0):
    """The file with a module and a package beside it; its reference."""
    (folder / "tools").mkdir(parents=True, exist_ok=True)
    (folder / "tools" / "__init__.py").write_text("")
    (folder / "tools" / "late.py").write_text(f"OFFSET = {offset}")
    (folder / "helper.py").write_text(f"FACTOR = {factor}")
    (folder / "mine.py").write_text(MINE)
    return f"{folder / 'mine.py'}:Mine"


@pytest.fixture
def mine(tmp_path, monkeypatch):
    """A file in a folder that is neither the current one nor on the path."""
    monkeypatch.chdir(tmp_path)
    return write(tmp_path / "own")


def estimate(kind):
    import numpy as np

    from dpbench.workloads import Prefix

    return kind().run(np.full(8, 1000), Prefix(8), epsilon=10**6, seed=0).round().max()


def test_each_folder_has_its_own(tmp_path):
    """Two files of one name with a helper each, also when it is imported late; nothing is left on the path."""
    import sys

    path, one, other = list(sys.path), write(tmp_path / "a", 1, 5), write(tmp_path / "b", 2, 7)
    kinds = [load_class(one), load_class(other)]
    assert [estimate(kind) for kind in kinds] == [1005, 2007]
    assert sys.path == path
    assert not {"helper", "tools", "mine"} & set(sys.modules)


def test_an_edit_counts_at_once(tmp_path):
    """Even one that changes neither the size of a file nor the second of its time; no bytecode is left behind."""
    for factor in (1, 2, 3):
        assert estimate(load_class(write(tmp_path, factor))) == 1000 * factor
    assert not list(tmp_path.rglob("__pycache__"))


@pytest.mark.parametrize("text", ["import helper.nothing", "import numpy.nothing", "1 / 0", "raise SystemExit(3)", "("])
def test_a_file_that_cannot_be_imported_is_told_in_one_line(text, tmp_path):
    """Whatever it raises."""
    write(tmp_path)
    (tmp_path / "mine.py").write_text(text)
    with pytest.raises(InvalidInput, match=r"mine.py cannot be imported: \w+") as refused:
        load_class(f"{tmp_path / 'mine.py'}:Mine")
    assert "\n" not in str(refused.value)


def test_names_that_no_module_could_have(tmp_path):
    """A file may be called what its owner likes."""
    for name in ("my-algorithm.py", "version 1.2.py", "__init__.py"):
        write(tmp_path)
        (tmp_path / "mine.py").rename(tmp_path / name)
        assert load_class(f"{tmp_path / name}:Mine").name == "Mine"


def test_what_is_installed_is_not_hidden_by_a_folder(tmp_path):
    """A folder called numpy beside the file is no package; a module called so is one, as it is for a script."""
    (tmp_path / "numpy").mkdir()
    write(tmp_path)
    (tmp_path / "mine.py").write_text("import numpy as np\nf = np.sum\n")
    with pytest.raises(UnknownName, match="Mine"):
        load_class(f"{tmp_path / 'mine.py'}:Mine")
    (tmp_path / "numpy.py").write_text("sum = None\n")
    (tmp_path / "mine.py").write_text("import numpy as np\ndef f(x): return np.sum\n")
    assert load_class_or_function(f"{tmp_path / 'mine.py'}:f")(0) is None


@pytest.mark.parametrize("jobs", ["0", "1"])
def test_run(jobs, mine, tmp_path, capsys):
    """In this process and in a worker."""
    plan = plan_file(tmp_path)
    assert main(["run", plan, "--algorithm", mine, "--store", "s", "--jobs", jobs, "--quiet"]) == 0
    assert {row.failure for row in Store("s").rows()} == {""}


def test_check_report_and_tune(mine, tmp_path, capsys, monkeypatch):
    """Each finds what lies beside the file."""
    monkeypatch.setenv("DPBENCH_DATA", str(tmp_path))
    monkeypatch.setattr("dpbench.gallery.added.audit_words", lambda reference: "")  # see tests/cli/test_report.py
    assert main(["check", mine, "--cases", "16", "--runs", "1000", "--jobs", "1", "--quiet"]) == 0
    assert main(["run", plan_file(tmp_path), "--algorithm", mine, "--store", "s", "--jobs", "0", "--quiet"]) == 0
    assert main(["report", "s", "--with", mine, "--out", "page"]) == 0
    small = ["--domain", "16", "--signal", "2", "2", "--samples", "1", "--trials", "2", "--jobs", "0", "--quiet"]
    assert main(["tune", mine, "--out", "mine.json", *small]) == 0
    assert json.loads(Path("mine.json").read_text())["algorithm"] == "Mine"


def test_a_file_that_changes_while_it_is_run_fails(mine, tmp_path):
    """Its numbers would stand under the version that it was; the others' are as they would be."""
    plan = study([mine, "Identity"])
    units = agenda(plan, None).units
    write(tmp_path / "own", factor=9)
    store = Store("s", create=True)
    outcome = execute(units, store, Serial(), plan=plan)
    assert {row.algorithm for row in outcome.failures} == {"Mine"}
    assert "helper.py, which Mine uses, has changed since the run began" in outcome.failures[0].failure


@pytest.mark.parametrize(
    "ask",
    [
        lambda mine: BudgetUse.of(mine).lines,
        lambda mine: not measured_properties(type(mine)).failure,
        lambda mine: list(Subject(mine).domains(SMALL_DOMAINS)),
    ],
)
def test_supports_is_given_a_domain(ask):
    """Never a text: the algorithm asks it for its size."""

    @dataclass(frozen=True, kw_only=True)
    class Small(Identity):
        name = "Small"

        def supports(self, domain):
            return domain.size <= 2**20

    assert ask(Small())


def test_dask(mine, tmp_path):
    """On workers of a cluster on this machine; an algorithm with a table of its own too."""
    pytest.importorskip("distributed", reason="the extra 'cluster' is not installed")
    from dpbench.run.executors.dask_cluster import run_portion

    plan = study([mine, "MWEM*"], scales=[100], samples=1)
    store = Store("s", create=True)
    execute(plan.work[0], store, Serial(), plan=plan)
    rows = run_portion(plan.work[0])
    assert [row.failure for row in rows] == [""] * 4
    other = Store("t", create=True)
    other.append(rows, "run")
    assert canonical(other) == canonical(store)
