"""A study: the paper's setting, the end-to-end private one, the Gaussian one, and what goes with them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from importlib.resources import files
from os import PathLike
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from dpbench.errors import InvalidStore
from dpbench.paper.error_panel import Panel
from dpbench.paper.reported import DOMAINS
from dpbench.paper.verdict import Undecided
from dpbench.repair.side_prices import TASK
from dpbench.results import Results
from dpbench.results.csv_file import write_rows
from dpbench.results.loss_summaries import LOSS_SUMMARIES
from dpbench.standards import Standards

Made = TypeVar("Made")

FILES = ("published", "private", "gaussian", "extras")
EXTRAS = ("epsilon", "original", "parameters", "truncation", TASK)
"""Tasks beside the paper's two, by the beginning of their names."""
PAPER_STANDARDS = vars(Standards())
"""The paper's loss, percentile, level, baselines and test, whatever a plan has."""
EXPORTED = ("dataset", "domain", "scale", "epsilon", "algorithm", "variant", "side_information")
"""Columns that say which setting a row of an export is."""
BESIDE = ("parameters", "seed", "algorithm_source", "task", "workload", "variance", "population_error", "seconds")
"""Columns of an export that stand behind the measurements; other losses come after these."""
NOTHING = "no results were given; name a store or a summary file"
COMMANDS = {
    "published": "dpbench run paper --variant published --side-information public",
    "private": "dpbench run paper",
    "gaussian": "dpbench run gaussian",
    TASK: "dpbench repair side --sweep",
}


@dataclass(frozen=True)
class Part:
    """One setting of a study: as the paper ran it, end-to-end private, or private with Gaussian noise."""

    setting: str
    """published, private or gaussian."""
    results: Results | None
    extras: Results | None
    """Results of the small suites; all settings share them."""

    def panel(self, dimensions: int, domain: str = "") -> Panel:
        """The errors at one domain, that of the figures unless another is named."""
        if self.results is None:
            raise Undecided(f"nothing was measured in this setting; {COMMANDS[self.setting]} measures it")
        key = dimensions, domain or DOMAINS[dimensions]
        if key not in self._panels:
            self._panels[key] = Panel.of(self.results, *key)
        return self._panels[key]

    @cached_property
    def _panels(self) -> dict[tuple[int, str], Panel]:
        return {}

    def once(self, name: str, make: Callable[[], Made]) -> Made:
        """What several claims need, made for the first of them."""
        if name not in self._made:
            self._made[name] = make()
        return self._made[name]  # type: ignore[no-any-return]

    @cached_property
    def _made(self) -> dict[str, Any]:
        return {}

    def suite(self, name: str) -> Results:
        """The results of a small suite."""
        if self.extras is not None:
            tasks = self.extras.columns["task"].astype(str)
            found = self.extras.take(np.char.startswith(tasks, name))
            if len(found):
                return found
        raise Undecided(
            f"the suite {name.rstrip('-')} was not run; {COMMANDS.get(name, f'dpbench run {name}')} runs it"
        )


@dataclass(frozen=True)
class Study:
    """The three settings; budgets of pure differential privacy and those with a delta never stand in one part."""

    published: Part
    private: Part
    gaussian: Part

    @classmethod
    def of(cls, results: Results) -> Study:
        """Sort settings into the paper's, private ones, Gaussian ones, and those of the small suites.

        All are read by the paper's standards, whatever the standards of the results are: these parts are set beside
        what the paper says.
        """
        return cls._of_parts([sort_settings(results.read_by(Standards()))])

    @classmethod
    def from_stores(cls, paths: Iterable[str | PathLike[str]]) -> Study:
        """A study from stores or summary files; all of them together, by the paper's standards."""
        return cls._of_parts([sort_settings(Results.open(path, **PAPER_STANDARDS)) for path in paths])

    @classmethod
    def _of_parts(cls, sorted_settings: list[Mapping[str, Results | None]]) -> Study:
        found = _joined_parts(sorted_settings)
        return cls(*(Part(name, found.get(name), found.get("extras")) for name in FILES if name != "extras"))

    @classmethod
    def shipped(cls) -> Study:
        """The study that comes with the package."""
        found = [path for path in map(shipped_file, FILES) if path.is_file()]
        if not found:
            raise InvalidStore("this installation has no study in it; give results with --store DIR")
        return _shipped(tuple(map(str, found)))


@cache
def _shipped(paths: tuple[str, ...]) -> Study:
    return Study.from_stores(paths)


def shipped_file(name: str) -> Path:
    """Where a summary file of the shipped study lies."""
    return Path(str(files("dpbench.paper").joinpath("data", f"{name}.parquet")))


def joined(parts: list[Results]) -> Results:
    """Several results as one, by the standards of the first."""
    if not parts:
        raise InvalidStore(NOTHING)
    whole = parts[0]
    for each in parts[1:]:
        whole = whole.joined(each)
    return whole


def sort_settings(results: Results) -> Mapping[str, Results | None]:
    """Settings by what they are for; nothing where there are none."""
    columns = results.columns
    extra = np.array([each.startswith(EXTRAS) for each in columns["task"].tolist()], dtype=bool)
    extra |= columns["parameters"] != "{}"
    variant, scale = columns["variant"], columns["side_information"]
    pure = (columns["delta"] == 0) & (columns["rho"] == 0)
    private = ~extra & (variant == "private") & ((scale == "") | (scale == "estimated"))
    chosen = {
        "published": ~extra & pure & (variant == "published") & ((scale == "") | (scale == "public")),
        "private": private & pure,
        "gaussian": private & ~pure,
        "extras": extra,
    }
    return {name: _taken(results, kept) for name, kept in chosen.items()}


def _taken(results: Results, kept: NDArray[np.bool_]) -> Results | None:
    """All of them, without a copy, some of them, or nothing."""
    if not kept.any():
        return None
    return results if kept.all() else results.take(kept)


def _joined_parts(sorted_settings: list[Mapping[str, Results | None]]) -> dict[str, Results]:
    """The parts of several stores, each part as one; what none of them has is not there."""
    if not sorted_settings:
        raise InvalidStore(NOTHING)
    held = {name: [part for each in sorted_settings if (part := each[name]) is not None] for name in FILES}
    return {name: joined(parts) for name, parts in held.items() if parts}


def pack(stores: Iterable[str | PathLike[str]], folder: str | PathLike[str]) -> dict[str, int]:
    """Write the summary files of a study from its stores; how many settings each got."""
    parts = _joined_parts([sort_settings(Results.open(store, **PAPER_STANDARDS)) for store in stores])
    Path(folder).mkdir(parents=True, exist_ok=True)
    for name, results in parts.items():
        results.write(Path(folder) / f"{name}.parquet", losses=False)
    return {name: len(results) for name, results in parts.items()}


def export_study(study: Study, path: str | PathLike[str]) -> int:
    """Write one row per setting: what it is, mean, deviation, 95th percentile; the number of rows."""
    parts = {
        "paper": study.published.results,
        "private": study.private.results,
        "gaussian": study.gaussian.results,
        "extra": study.published.extras,
    }
    rows = [row for name, results in parts.items() if results is not None for row in _exported(name, results)]
    write_rows(path, rows)
    return len(rows)


def _exported(setting: str, results: Results) -> list[dict[str, Any]]:
    measured = results.measured
    columns: dict[str, list[Any]] = {"dim": [name.count("x") + 1 for name in results.columns["domain"].tolist()]}
    columns |= {name: results.columns[name].tolist() for name in EXPORTED}
    columns |= {
        "mean": measured.mean.tolist(),
        "sd": measured.deviation.tolist(),
        "p95": measured.percentile.tolist(),
        "trials": measured.trials.tolist(),
        "squared_bias": results.columns["squared_bias"].tolist(),
    }
    columns |= {name: results.columns[name].tolist() for name in BESIDE}
    for name in ("delta", "rho"):  # what does not apply is empty, never 0
        columns[name] = [value or "" for value in results.columns[name].tolist()]
    columns |= {name: results.columns[name].tolist() for name in LOSS_SUMMARIES}
    return [
        {"setting": setting, **dict(zip(columns, each, strict=True))} for each in zip(*columns.values(), strict=True)
    ]
