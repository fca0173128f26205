"""DPBench: principled evaluation of differentially private algorithms for range queries.

A benchmark is nine things: a task T, workloads W, datasets D, algorithms M, a loss L, a data generator G, repair
functions R, and standards for measuring (E_M) and interpreting (E_I) error. Each has a place in this package.

>>> import dpbench as dpb
>>> x = dpb.generate(dpb.datasets.shapes.get("bimodal", 64), scale=1000, seed=0)
>>> workload = dpb.workloads.Prefix(64)
>>> estimate = dpb.algorithms.get("Hb").run(x, workload, epsilon=0.1, trials=5, seed=0)
>>> dpb.loss.scaled_error(workload, x, estimate).shape
(5,)
>>> float(dpb.limit(workload, epsilon=0.1)) < float(dpb.algorithms.get("Hb").expected_error(workload, epsilon=0.1))
True
"""

from __future__ import annotations

import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dpbench import (
        algorithms,
        datasets,
        errors,
        interpreting,
        loss,
        page,
        privacy,
        release,
        results,
        tables,
        testing,
        workloads,
    )
    from dpbench.advice.advisor import recommend
    from dpbench.algorithm import Algorithm
    from dpbench.domain import Domain
    from dpbench.generator import generate
    from dpbench.limits import limit
    from dpbench.privacy.mechanisms import Mechanism
    from dpbench.run.from_python import run_plan
    from dpbench.task import RANGE_1D, RANGE_2D, Task

__version__ = "0.2.0"

_MODULES = (
    "algorithms",
    "datasets",
    "errors",
    "interpreting",
    "loss",
    "page",
    "privacy",
    "release",
    "results",
    "tables",
    "testing",
    "workloads",
)
_NAMES = {
    "Algorithm": "algorithm",
    "Domain": "domain",
    "Mechanism": "privacy.mechanisms",
    "RANGE_1D": "task",
    "RANGE_2D": "task",
    "Task": "task",
    "generate": "generator",
    "limit": "limits",
    "recommend": "advice.advisor",
    "run_plan": "run.from_python",
}

_MOVED = {
    "experiment": "run",
    "inference": "mathematics",
    "kernels": "mathematics.kernels",
    "linear": "mathematics",
    "postprocess": "mathematics.postprocess",
    "principles": "paper.principles",
    "properties": "audit.properties",
    "report": "page",
    "task_file": "task.file",
    "task_parts": "task.parts",
}
"""Modules of 0.1, and where they are since 0.2."""

__all__ = [
    "RANGE_1D",
    "RANGE_2D",
    "Algorithm",
    "Domain",
    "Mechanism",
    "Task",
    "__version__",
    "algorithms",
    "datasets",
    "errors",
    "generate",
    "interpreting",
    "limit",
    "loss",
    "page",
    "privacy",
    "recommend",
    "release",
    "results",
    "run_plan",
    "tables",
    "testing",
    "workloads",
]


if not TYPE_CHECKING:  # a type checker is to see the names above and no others, so that it finds a typo

    def __getattr__(name: str) -> Any:
        """Import on first use, so that ``import dpbench`` and ``dpbench --help`` are quick."""
        if name in _MODULES:
            return import_module(f"dpbench.{name}")
        if name in _NAMES:
            return getattr(import_module(f"dpbench.{_NAMES[name]}"), name)
        hint = f"; since 0.2 it is dpbench.{_MOVED[name]}" if name in _MOVED else ""
        raise AttributeError(f"module 'dpbench' has no attribute {name!r}{hint}")

    class _Moved:
        """Asked for a module that nobody has found: says where a module of 0.1 is now."""

        @staticmethod
        def find_spec(name: str, path: Any = None, target: Any = None) -> None:
            del path, target
            package, _, module = name.partition(".")
            if package == "dpbench" and module in _MOVED:
                raise ModuleNotFoundError(f"{name} is dpbench.{_MOVED[module]} since 0.2")

    sys.meta_path.append(_Moved)


def __dir__() -> list[str]:
    return sorted(__all__)
