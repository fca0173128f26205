"""Two commands on one store."""

import subprocess
import sys

from chaos.small import canonical, plan_file
from dpbench.store import Store

COMMAND = [sys.executable, "-m", "dpbench.cli", "run", "small.toml", "--jobs", "1", "--quiet", "--store", "s"]


def together(folder, *options):
    """Start one command per option list at once; their exit codes."""
    plan_file(folder)
    begun = [subprocess.Popen([*COMMAND, *more], cwd=folder, stdout=subprocess.DEVNULL) for more in options]
    return [process.wait() for process in begun]


def test_two_runs_at_once_compute_nothing_twice(tmp_path):
    """The second waits, and finds everything done."""
    assert together(tmp_path, [], []) == [0, 0]
    store = Store(tmp_path / "s")
    assert store.table().num_rows == 24
    assert len(store.runs()) == 1
    assert store.verify() == []


def test_parts_of_a_study_join_in_one_store(tmp_path):
    """Two parts at once are the whole, each unit once."""
    assert together(tmp_path, ["--shard", "1/2"], ["--shard", "2/2"]) == [0, 0]
    shared = Store(tmp_path / "s")
    assert shared.table().num_rows == 24
    assert shared.verify() == []
    (tmp_path / "alone").mkdir()
    assert together(tmp_path / "alone", []) == [0]
    assert canonical(shared) == canonical(tmp_path / "alone" / "s")
