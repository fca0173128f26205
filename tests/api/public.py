"""The public API, found by looking: every function, constructor, method and property that the reference page lists."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import date
from fractions import Fraction
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

import dpbench as dpb
from api.calls import ERRORS, measured, study
from dpbench import workloads
from dpbench.mathematics.cells import Cells
from dpbench.privacy import PrivateData, RandomNoise

AUTHORS = {
    "Algorithm": {"estimate", "estimate_once", "influence", "measurement", "error_bars"},
    **{f"loss.{each}": {"errors"} for each in ("L1", "L2", "Linf", "Relative")},
}
"""What authors write and the package calls, with arguments that it has checked."""
NOT_CALLED = {
    "privacy.PrivateData": "the package makes handles",
    "interpreting.SignificanceTest": "a base of tests of one's own",
    "loss.Loss": "a base of losses of one's own",
    "tables.Axis": "the base of Numbers, Categories and Times",
    "workloads.Workload": "a base of workloads of one's own",
}
"""Classes that nobody builds."""
LONG = {"page.figures", "run_plan", "testing.audit", "testing.audit_function", "testing.check_algorithm"} | {
    "testing.check_mechanism"
}
"""What takes seconds where it is right; see ``test_public.py``."""


def outcome(name="Identity"):
    """Two trials on four cells."""
    return dpb.algorithms.get(name).outcome([3, 0, 5, 8], workloads.Prefix(4), 1.0, 2, 0)


def handle():
    """What an algorithm is given."""
    return PrivateData.open([3, 0, 5, 8], 1, RandomNoise.seeded(0, 2))


class Asker:
    """A score, a cost and queries at once."""

    sensitivity, monotone, starts, lengths, penalty, threshold = 1, True, np.array([0, 2, 4]), (1, 2), 0.0, 1.0

    def score(self, counts):
        """The counts."""
        return counts.reshape(-1).astype(float)

    def cost(self, counts):
        """Nothing."""
        return np.zeros((2, counts.size + 1))


def _axis(**more):
    return dpb.tables.Numbers("age", 0, 60, bins=3, **more)


def _column(**more):
    return dpb.datasets.Column("age", 0, 60, bins=3, **more)


SPEC = {"dataset": "people", "table": "t.csv", "epsilon": "1", "algorithm": "Hb", "budget": "b.toml", "out": "out"} | {
    "columns": {"age": {"low": 0, "high": 16, "bins": 16}}
}
SOME: dict[str, list[Callable[[], Any]]] = {
    "Algorithm": [lambda name=name: dpb.algorithms.get(name) for name in dpb.algorithms.everything()],
    "Domain": [lambda: dpb.Domain((4,)), lambda: dpb.Domain((4, 2))],
    "Task": [lambda: dpb.RANGE_1D],
    "datasets.Column": [_column, lambda: dpb.datasets.Column("sex", categories=["f"])],
    "datasets.Dataset": [lambda: dpb.datasets.get("ADULT")],
    "datasets.TableHistogram": [lambda: dpb.datasets.from_table({"age": [1, 2]}, [_column()])],
    "datasets.shapes.Shape": [lambda: dpb.datasets.shapes.find("bimodal")],
    "interpreting.AboveLimit": [],
    "interpreting.Baseline": [lambda: dpb.interpreting.baselines(study())[0]],
    "interpreting.BiasShare": [lambda: dpb.interpreting.bias_shares(study())[0]],
    "interpreting.CompetitiveSets": [lambda: dpb.interpreting.competitive_sets(study())],
    "interpreting.Difference": [lambda: dpb.interpreting.differences(study(), study())[0]],
    "interpreting.ErrorCell": [lambda: dpb.interpreting.error_cells(study())[0]],
    "interpreting.InRecords": [lambda: dpb.interpreting.in_records(study())[0]],
    "interpreting.Regret": [lambda: dpb.interpreting.regret(study(), resamples=10)[0]],
    "interpreting.TimeSpent": [lambda: dpb.interpreting.time_spent(study())[0]],
    "loss.Answers": [lambda: dpb.loss.Answers(workloads.Prefix(4), np.arange(4), np.ones((2, 4)), 6.0)],
    "loss.L1": [dpb.loss.L1],
    "loss.L2": [dpb.loss.L2],
    "loss.Linf": [dpb.loss.Linf],
    "loss.Relative": [dpb.loss.Relative],
    "privacy.ZCDP": [lambda: dpb.privacy.ZCDP(1)],
    "privacy.PureDP": [lambda: dpb.privacy.PureDP(1)],
    "privacy.Charge": [lambda: outcome().ledger.charges[0]],
    "privacy.Ledger": [lambda: outcome().ledger, lambda: handle().ledger],
    "privacy.PrivateData": [handle],
    "privacy.Total": [],
    "release.Released": [],
    "results.Grid": [lambda: study().grid],
    "results.Place": [lambda: study().places[0]],
    "results.Results": [study],
    "results.Setting": [lambda: study()[0]],
    "tables.Categories": [lambda: dpb.tables.Categories("sex", ["f", "m"], outside="cell")],
    "tables.Histogram": [lambda: dpb.tables.histogram({"age": [1, 2]}, [_axis()])],
    "tables.Numbers": [lambda: _axis(missing="cell")],
    "tables.Spec": [lambda: dpb.tables.read_spec(SPEC)],
    "tables.Times": [lambda: dpb.tables.Times("born", date(1900, 1, 1), date(2020, 1, 1), bins=12)],
    "testing.AuditReport": [],
    "testing.Layer": [],
    "workloads.AllRange": [lambda: workloads.AllRange(4), lambda: workloads.AllRange("2x2")],
    "workloads.AxisRanges": [lambda: workloads.AxisRanges.every(4)],
    "workloads.Identity": [lambda: workloads.Identity(4)],
    "workloads.Prefix": [lambda: workloads.Prefix(4)],
    "workloads.RandomRange": [lambda: workloads.RandomRange(4, 9), lambda: workloads.RandomRange(4, None)],
    "workloads.RandomSmall": [lambda: workloads.RandomSmall(4, 9)],
    "workloads.Ranges": [lambda: workloads.Ranges(4, [0, 2], [3, 4], [0.5, -2])],
}
"""Some of every public class; of one whose methods and properties are fields alone, perhaps none."""
GIVEN_OUT = {
    "Advice": lambda: dpb.recommend("64x64", 0.5, 1000),
    "Explanation": lambda: dpb.algorithms.get("Hb").explain(4, workloads.Prefix(4), 1),
    "Limit": lambda: dpb.limit(workloads.Prefix(4), 1),
    "Measurement": lambda: measured(ERRORS[0]),
    "Measurements": lambda: study().measured,
    "Outcome": outcome,
    "Outcome of Cascade": lambda: outcome("Cascade"),
    "Outcome of DAWA": lambda: outcome("DAWA"),
    "Standards": lambda: study().standards,
}
"""What public calls return, of classes that are not listed themselves."""

prefixes, boxes = lambda: workloads.Prefix(4), lambda: workloads.AllRange("2x2")
cells = lambda: Cells(dpb.Domain((4,)))  # noqa: E731
RIGHT: dict[str, list[Any]] = {
    "alpha": [0.05, None],
    "among": [(), ["Hb", "DAWA"]],
    "amount": [Fraction(1, 10), 0.1],
    "axes": [lambda: [_axis()], None],
    "base": ["RANGE_1D"],
    "bins": [3],
    "budget": [1, 0.1],
    "by": [(), ["scale"]],
    "categories": [None, ["f", "m"]],
    "cell": [0, 1],
    "cells": [64, "64x64"],
    "charge": [lambda: outcome().ledger.charges[0]],
    "chosen": [[0, 1]],
    "coarse": [2],
    "columns": [lambda: [_column()]],
    "cost": [Asker],
    "counts": [np.arange(4)],
    "delta": [None, 0, 1e-6],
    "difference": [[3, 0, 5, 8], np.ones((2, 4))],
    "domain": [4, (4,), "4", "2x2", dpb.Domain((4,))],
    "edges": [None, [0, 10, 20]],
    "epsilon": [0.1, 1, Fraction(1, 3)],
    "errors": [ERRORS[0]],
    "estimate": [[3, 0, 5, 8], np.ones((2, 4))],
    "exact": [True, False],
    "first": [study],
    "folder": ["no-such-folder"],
    "given": ["L2", {"name": "relative"}],
    "high": [60],
    "length_probability": [[0.25] * 4],
    "level": [0.9],
    "like": [4, "2x2"],
    "longest": [2],
    "loss": ["L2", "relative"],
    "losses": [True],
    "low": [0],
    "lower": [[0, 1]],
    "many": [20],
    "measurements": [lambda: {"A": measured(ERRORS[0]), "B": measured(ERRORS[1])}],
    "mechanism": [lambda: dpb.privacy.Laplace(cells())],
    "method": ["svd"],
    "mirror": ["no-such-folder"],
    "missing": ["drop", "cell"],
    "name": ["bimodal", "ADULT", "Hb", "Prefix", "age", "scale"],
    "names": [None, ["ADULT"]],
    "neighbours": ["add or remove one record"],
    "noise": [lambda: RandomNoise.seeded(0, 2)],
    "notion": ["pure", "zCDP"],
    "one": [ERRORS[0]],
    "order": ["L2", "L1"],
    "other": [ERRORS[1], study],
    "out": ["out"],
    "outside": ["clamp", "drop"],
    "parts": [2, {"base": "RANGE_1D"}],
    "path": ["t.csv", "no-such-file"],
    "percentile": [95],
    "place": [lambda: study().places[0]],
    "postprocess": [(), "integral", ["top-down"]],
    "queries": [5, None],
    "records": [1000],
    "regions": [[(slice(0, 2),)], [[0, 1], [2]]],
    "resamples": [10],
    "results": [study],
    "rho": [None, None, 0.1],
    "risk": ["mean", "p95"],
    "scale": [10, 100.0],
    "score": [Asker],
    "second": [study],
    "seed": [0, 5],
    "shape": [[3, 0, 5, 8]],
    "share": [0.5],
    "side": [4],
    "side_information": [None, "estimated", "public"],
    "spec": [SPEC],
    "spend": [0.1, Fraction(1, 4)],
    "standards": [lambda: study().standards],
    "store": ["store"],
    "strategy": [cells],
    "table": [{"age": [3, 4], "sex": ["f", "m"]}, "t.csv", "people"],
    "test": ["paired"],
    "trials": [1, 2],
    "truth": [[3, 0, 5, 8]],
    "upper": [[2, 3]],
    "values": [[3, 0, 5, 8]],
    "variant": ["private", "published"],
    "versions": [()],
    "weights": [None, [1, 2]],
    "why": ["cells"],
    "workload": [prefixes, boxes],
    "x": [[3, 0, 5, 8], [[1, 2], [3, 4]]],
    "yardsticks": [{}],
}
"""What may be right for an argument of that name; functions among them make it."""


@dataclass(frozen=True)
class Entry:
    """Something to call: ``reached()`` is the function itself, found anew for every call."""

    label: str
    reached: Callable[[], Any]


def reference() -> Any:
    """The module that writes the reference page."""
    return import_module("reference_pages")


def public() -> dict[str, Any]:
    """Every function and class of the reference page by its first name, but no exception and no protocol."""
    found: dict[int, tuple[str, Any]] = {}
    modules = {"": dpb} | {f"{name}.": getattr(dpb, name) for name in reference().TITLES}
    for start, module in [*modules.items(), ("datasets.shapes.", dpb.datasets.shapes)]:
        for name in reference().public_names(module):
            value = getattr(module, name)
            left_out = inspect.isclass(value) and (
                issubclass(value, Exception) or getattr(value, "_is_protocol", False)
            )
            if callable(value) and not left_out and getattr(value, "__module__", "").startswith("dpbench"):
                found.setdefault(id(value), (f"{start}{name}", value))
    return dict(found.values())


def is_mechanism(value: object) -> bool:
    """Mechanisms are built by authors of algorithms; what is in them the handle calls."""
    return inspect.isclass(value) and issubclass(value, dpb.Mechanism)


def entries() -> Iterator[Entry]:
    """All there is to call."""
    for label, value in public().items():
        if label not in NOT_CALLED and label not in LONG:
            yield Entry(label, lambda value=value: value)
    receivers = [(label, make) for label, made in SOME.items() for make in made]
    for label, make in [*receivers, *GIVEN_OUT.items()]:
        kind = type(make())
        for name in [*dir(kind), *(["__getitem__"] if hasattr(kind, "__getitem__") else [])]:
            own = any(name in vars(each) for each in kind.__mro__ if each.__module__.startswith("dpbench"))
            if own and (not name.startswith("_") or name == "__getitem__") and name not in AUTHORS.get(label, ()):
                yield Entry(f"{label}().{name}", lambda make=make, name=name: getattr(make(), name))


def files(folder: Path) -> None:
    """What paths among the values name."""
    folder.joinpath("garbage.bin").write_bytes(np.random.default_rng(0).bytes(3000))
    folder.joinpath("t.csv").write_text("age,sex\n3,f\n4,m\n")
