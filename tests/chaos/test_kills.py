"""The short version of ``python -m benchmarks.chaos``, which kills a hundred times."""

import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import pytest


@pytest.fixture
def chaos():
    path = Path(__file__).parents[2] / "benchmarks" / "chaos.py"
    spec = spec_from_file_location("benchmarks_chaos", path)
    module = module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def test_kills_lose_nothing_and_double_nothing(chaos, tmp_path):
    """After kill -9 of parent and workers and a resumption, the export is byte-equal to that of a calm run."""
    shaken = chaos.Chaos(tmp_path, seed=3, samples=3)
    shaken.reference()
    shaken.disturb(kills=3, longest=3.0)
    assert shaken.faults == []
    assert shaken.counts["studies finished"] >= 1
