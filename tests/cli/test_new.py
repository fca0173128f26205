"""An algorithm to start from."""

from pathlib import Path

import numpy as np
import pytest

import dpbench as dpb
from dpbench.cli import main
from dpbench.plugins import load_class


@pytest.fixture
def mine(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(["new", "mine.py"]) == 0
    assert "dpbench check mine.py:Mine" in capsys.readouterr().out
    return "mine.py:Mine"


def test_it_is_not_refuted(mine, capsys):
    """As it comes; its first lines name the file."""
    assert main(["check", mine, "--cases", "16", "--runs", "1000", "--jobs", "1", "--quiet"]) == 0
    assert "nothing found" in capsys.readouterr().out
    assert "dpbench compare mine.py:Mine" in Path("mine.py").read_text()


def test_blocks_help_ranges(mine):
    """On prefixes it has less error than its cells alone, at the same budget."""
    x, workload = np.full(256, 20), dpb.workloads.Prefix(256)
    own = load_class(mine)().run(x, workload, epsilon=1.0, trials=200, seed=0)
    cells = dpb.algorithms.get("Identity").run(x, workload, epsilon=1.0, trials=200, seed=0)
    errors = [dpb.loss.scaled_error(workload, x, each).mean() for each in (own, cells)]
    assert errors[0] < 0.95 * errors[1]
