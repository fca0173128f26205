"""What the paper reports: its tables and numbers, and the values of its plots, read off the authors' own figures."""

from __future__ import annotations

import csv
import io
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

DOMAINS = {1: "4096", 2: "128x128"}
"""The domains of the figures, by number of dimensions."""
PLOTTED = {
    1: ("Identity", "Hb", "MWEM*", "DAWA", "PHP", "MWEM", "EFPA", "DPCube", "AHP*", "SF", "Uniform"),
    2: ("Identity", "Hb", "AGrid", "MWEM", "MWEM*", "DAWA", "QuadTree", "UGrid", "DPCube", "AHP", "Uniform"),
}
"""The algorithms of Figure 1: the paper draws its conclusions among these."""
INDEPENDENT = ("Identity", "Hb")
"""The data-independent ones among them."""


@dataclass(frozen=True)
class Point:
    """One value of a plot; the dataset is empty where it is the mean over all of them."""

    figure: str
    dimensions: int
    domain: str
    scale: int
    dataset: str
    algorithm: str
    log10_error: float


@dataclass(frozen=True)
class CodeError:
    """The mean error of the authors' released code in one setting, epsilon 0.1, true scale."""

    dimensions: int
    domain: str
    scale: int
    dataset: str
    algorithm: str
    options: str
    """What differs from the code as released, such as truncate=False."""
    mean: float
    standard_error: float


def dependent(dimensions: int) -> tuple[str, ...]:
    """The data-dependent algorithms of Figure 1."""
    return tuple(name for name in PLOTTED[dimensions] if name not in INDEPENDENT)


@cache
def numbers() -> Mapping[str, Any]:
    """The numbers that the paper prints."""
    return tomllib.loads(_text("reported.toml"))


@cache
def points(figure: str) -> tuple[Point, ...]:
    """The values of a plot: 1a, 1b, 2a or 2b."""
    found = (
        Point(each["figure"], int(each["dimensions"]), each["domain"], int(each["scale"]), each["dataset"],
              each["algorithm"], float(each["log10_error"]))
        for each in _rows("plots.csv")
    )  # fmt: skip
    return tuple(point for point in found if point.figure == figure)


@cache
def plotted(figure: str) -> Mapping[tuple[str, str, int], float]:
    """Errors of a plot by algorithm, dataset (empty: mean over datasets) and scale."""
    return {(each.algorithm, each.dataset, each.scale): 10**each.log10_error for each in points(figure)}


@cache
def authors_code(options: str = "") -> Mapping[tuple[str, str, str, int], CodeError]:
    """Errors of the authors' released code by algorithm, domain, dataset and scale."""
    found = (
        CodeError(int(each["dimensions"]), each["domain"], int(each["scale"]), each["dataset"], each["algorithm"],
                  each["options"], float(each["mean"]), float(each["standard_error"]))
        for each in _rows("authors_code.csv")
    )  # fmt: skip
    return {(e.algorithm, e.domain, e.dataset, e.scale): e for e in found if e.options == options}


@cache
def expected_errors() -> tuple[tuple[str, str, str, float], ...]:
    """Expected squared error of a query by domain, workload and data-independent algorithm, epsilon 0.1."""
    rows = _rows("expected_errors.csv")
    return tuple((each["domain"], each["workload"], each["algorithm"], float(each["error"])) for each in rows)


@cache
def measured_properties() -> Mapping[tuple[str, str], tuple[str, str]]:
    """Consistent and exchangeable, yes or no, by algorithm and form, as ``dpbench properties`` measured them."""
    return {
        (each["algorithm"], each["variant"]): (
            "yes" if each["consistent"] == "True" else "no",
            "no" if each["exchangeable"] == "no" else "yes",
        )
        for each in _rows("properties.csv")
    }


def _rows(name: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(_text(name))))


def _text(name: str) -> str:
    return files("dpbench.paper").joinpath("data", name).read_text(encoding="utf-8")
