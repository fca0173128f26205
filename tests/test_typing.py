"""What a type checker finds in a user's code: nothing in code that is right, every misspelt name of ours."""

import subprocess
import sys

import pytest

pytest.importorskip("mypy", reason="mypy is not installed (extra: dev)")

RIGHT = '''\
"""Twenty lines as a user writes them."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

import dpbench as dpb
from dpbench.mathematics.cells import Cells
from dpbench.privacy import PrivateData


@dataclass(frozen=True, kw_only=True)
class Mine(dpb.Algorithm):
    name = "Mine"

    def estimate(self, data: PrivateData, workload: dpb.workloads.Workload) -> NDArray[np.float64]:
        return data.laplace(Cells(data.domain), data.epsilon, "cells")


shape = dpb.datasets.shapes.get("power-law", 4096)
x = dpb.generate(shape, scale=100_000, domain=1024, seed=0)
workload = dpb.workloads.Prefix(1024)
hb = dpb.algorithms.get("Hb")
estimate = hb.run(x, workload, epsilon=0.1, trials=50, seed=0)
errors: NDArray[np.float64] = dpb.loss.scaled_error(workload, x, estimate)
outcome = hb.outcome(x, workload, epsilon=0.1)
print(errors.mean(), outcome.ledger, outcome.intervals(workload, level=0.9).shape)
print(hb.explain(domain=1024, workload=workload, epsilon=0.1), float(dpb.limit(workload, epsilon=0.1)))
advice = dpb.recommend("128x128", epsilon=0.5, records=300_000)
print(advice.algorithm, advice.low, advice.high)
print(dpb.recommend("64", epsilon=1.0, records=10_000))
print(dpb.algorithms.get("EFPA", variant="published").is_private)
results = dpb.run_plan("demo", "store", algorithms=["Hb"], jobs=0)
print(results.where(algorithm="Hb").measured.mean, results.to_arrow().num_rows)
try:
    dpb.testing.check_algorithm(Mine())
except dpb.errors.CheckFailed as failure:
    print(failure)
'''
"""Annotated as ``--strict`` wants it; every name of ``dpb`` that README and the tutorial use."""

TYPOS = {
    "dpb.generate(": "dpb.genrate(",
    "dpb.workloads.Prefix": "dpb.workloads.Prefx",
    'dpb.algorithms.get("EFPA"': 'dpb.algorithms.gett("EFPA"',
    "dpb.datasets.shapes": "dpb.datasets.shape",
    "dpb.loss.scaled_error": "dpb.loss.scaled_eror",
    "dpb.limit(": "dpb.limits(",
    'dpb.recommend("64"': 'dpb.recomend("64"',
    "dpb.run_plan(": "dpb.run_plans(",
    "dpb.testing.check_algorithm": "dpb.testing.check_algoritm",
    "dpb.errors.CheckFailed": "dpb.errors.ChekFailed",
    "hb.run(": "hb.runn(",
    "trials=50": "trails=50",
    "advice.low": "advice.lower",
}
"""What is misspelt, and how; each on a line of its own."""


def test_a_misspelt_name_is_found(tmp_path):
    """One call of mypy on both files: it takes the longest of all to read the package."""
    wrong = RIGHT
    for good, bad in TYPOS.items():
        assert good in wrong, good
        wrong = wrong.replace(good, bad)
    (tmp_path / "right.py").write_text(RIGHT)
    (tmp_path / "wrong.py").write_text(wrong)
    words = ["--strict", "--no-error-summary", "--hide-error-context", "--config-file", "", "right.py", "wrong.py"]
    done = subprocess.run(
        [sys.executable, "-m", "mypy", *words], capture_output=True, text=True, check=False, cwd=tmp_path
    )
    assert done.returncode == 1, done.stdout + done.stderr
    lines = done.stdout.splitlines()
    assert [line for line in lines if line.startswith("right.py")] == []
    found = {int(line.split(":")[1]) for line in lines if line.startswith("wrong.py")}
    changed = zip(RIGHT.splitlines(), wrong.splitlines(), strict=True)
    assert {number for number, (good, bad) in enumerate(changed, start=1) if good != bad} <= found
