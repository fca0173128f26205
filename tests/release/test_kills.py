"""A release that dies leaves no charge and no output, or a charge and at most one output."""

import json
import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from dpbench.release import publish
from release.kill_points import POINTS
from release.office import office

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork and kill")


def found(folder):
    """Ids of charges, and the charges of every output that is there under any name, finished or not."""
    charged = [each["id"] for each in tomllib.loads((folder / "people.budget.toml").read_text()).get("charge", [])]
    outputs = [json.loads(path.read_text())["charge"] for path in folder.rglob("certificate.json")]
    histograms = list(folder.rglob("histogram.csv"))
    return charged, outputs, histograms


def test_killed_at_every_step(tmp_path):
    """Each step of one release, killed there."""
    for name in [*POINTS, "never"]:
        folder = tmp_path / name.replace(" ", "-")
        folder.mkdir()
        office(folder)
    script = Path(__file__).with_name("kill_points.py")
    said = subprocess.run(
        [sys.executable, str(script), str(tmp_path)], capture_output=True, text=True, check=True
    ).stdout
    ends = dict(line.split("\t") for line in said.splitlines())
    assert ends == {**dict.fromkeys(POINTS, "killed"), "never": "0"}
    for name in [*POINTS, "never"]:
        folder = tmp_path / name.replace(" ", "-")
        charged, outputs, histograms = found(folder)
        uncharged = ("before the charge", "while the charge is written", "before the charge has its name")
        assert len(charged) == (name not in uncharged), name
        assert len(histograms) <= len(charged), name
        assert set(outputs) <= set(charged), name
        complete = (folder / "out" / "certificate.json").exists()
        assert complete == (name in ("after the folder has its name", "never")), name
        if not complete:
            assert not (folder / "out").exists(), name
        publish(folder / "spec.toml")  # the next release removes what this one left behind
        assert not [*folder.glob(".*.unfinished"), *folder.glob(".*.part")], name


def test_four_at_once_with_budget_for_two(tmp_path):
    """Exactly two are released, one after the other or together, and the other two are refused."""
    spec = office(tmp_path)
    command = [sys.executable, "-m", "dpbench", "release", str(spec)]
    running = [subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) for _ in range(4)]
    ends = [(process.communicate(), process.returncode) for process in running]
    assert sorted(code for _, code in ends) == [0, 0, 1, 1]
    assert all("left; nothing was read" in err for (_, err), code in ends if code)
    charged, outputs, histograms = found(tmp_path)
    assert len(charged) == len(set(charged)) == 2
    assert sorted(outputs) == sorted(charged)
    assert sorted(path.parent.name for path in histograms) == ["out", "out-2"]
