"""The functions of docs/adapters, each where its library is installed: estimates of the right shape and size."""

import runpy
from pathlib import Path

import numpy as np
import pytest

import dpbench as dpb

ADAPTERS = Path(__file__).parents[2] / "docs" / "adapters"
CASES = {
    ("opendp_histograms.py", "histogram"): "opendp",
    ("opendp_histograms.py", "tree"): "opendp",
    ("diffprivlib_histogram.py", "cells"): "diffprivlib",
    ("smartnoise_mwem.py", "mwem"): "snsynth",
    ("private_pgm.py", "marginals"): "mbi",
}


def test_every_adapter_is_tested():
    """And shown on its page."""
    page = (ADAPTERS.parent / "other-libraries.md").read_text(encoding="utf-8")
    assert {path.name for path in ADAPTERS.glob("*.py")} == {file for file, _ in CASES}
    assert all(f"adapters/{file}" in page for file, _ in CASES)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("case", "library"), CASES.items(), ids=[f"{file}:{name}" for file, name in CASES])
def test_an_adapter_estimates_the_counts(case, library):
    """At a large epsilon every library is within a fifth of the records on every prefix."""
    pytest.importorskip(library)
    file, name = case
    x = dpb.generate(dpb.datasets.shapes.get("bimodal", 32), scale=2000, seed=0)
    estimate = runpy.run_path(str(ADAPTERS / file))[name](x, dpb.workloads.Prefix(32), 4.0, np.random.default_rng(0))
    assert np.shape(estimate) == (32,)
    assert np.abs(np.cumsum(estimate) - np.cumsum(x)).max() < 400
