"""A study: what was measured in the paper's setting, what was measured end-to-end private, and what goes with them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from importlib.resources import files
from os import PathLike
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from dpbench.errors import InvalidStore
from dpbench.paper.error_panel import Panel
from dpbench.paper.reported import DOMAINS
from dpbench.paper.verdict import Undecided
from dpbench.repair.side_prices import TASK
from dpbench.results import Results
from dpbench.results.csv_file import write_rows
from dpbench.standards import Standards

Made = TypeVar("Made")

FILES = ("published", "private", "extras")
EXTRAS = ("epsilon", "original", "parameters", "truncation", TASK)
"""Tasks beside the paper's two, by the beginning of their names."""
PAPER_STANDARDS = vars(Standards())
"""The paper's loss, percentile, level, baselines and test, whatever a plan has."""
EXPORTED = ("dataset", "domain", "scale", "epsilon", "algorithm", "variant", "side_information")
"""Columns that say which setting a row of an export is."""
NOTHING = "no results were given; name a store or a summary file"
COMMANDS = {
    "published": "dpbench run paper --variant published --side-information public",
    "private": "dpbench run paper",
    TASK: "dpbench repair side --sweep",
}


@dataclass(frozen=True)
class Part:
    """One setting of a study: as the paper ran it, or end-to-end private."""

    setting: str
    """published or private."""
    results: Results | None
    extras: Results | None
    """Results of the small suites; both settings share them."""

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
    """Both settings."""

    published: Part
    private: Part

    @classmethod
    def of(cls, results: Results) -> Study:
        """Sort settings into the paper's, private ones, and those of the small suites.

        All are read by the paper's standards, whatever the standards of the results are: these parts are set beside
        what the paper says.
        """
        parts = sort_settings(results.read_by(Standards()))
        extras = parts["extras"]
        return cls(Part("published", parts["published"], extras), Part("private", parts["private"], extras))

    @classmethod
    def from_stores(cls, paths: Iterable[str | PathLike[str]]) -> Study:
        """A study from stores or summary files; all of them together, by the paper's standards."""
        return cls.of(joined([Results.open(path, **PAPER_STANDARDS) for path in paths]))

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
    task = columns["task"].astype(str)
    extra = np.any([np.char.startswith(task, name) for name in EXTRAS], axis=0) | (columns["parameters"] != "{}")
    variant, scale = columns["variant"], columns["side_information"]
    chosen = {
        "published": ~extra & (variant == "published") & np.isin(scale, ["", "public"]),
        "private": ~extra & (variant == "private") & np.isin(scale, ["", "estimated"]),
        "extras": extra,
    }
    return {name: results.take(kept) if kept.any() else None for name, kept in chosen.items()}


def pack(stores: Iterable[str | PathLike[str]], folder: str | PathLike[str]) -> dict[str, int]:
    """Write the summary files of a study from its stores; how many settings each got."""
    parts = [sort_settings(Results.open(store, **PAPER_STANDARDS)) for store in stores]
    if not parts:
        raise InvalidStore(NOTHING)
    Path(folder).mkdir(parents=True, exist_ok=True)
    written = {}
    for name in FILES:
        own = [results for part in parts if (results := part[name]) is not None]
        if own:
            whole = joined(own)
            whole.write(Path(folder) / f"{name}.parquet", losses=False)
            written[name] = len(whole)
    return written


def export_study(study: Study, path: str | PathLike[str]) -> int:
    """Write one row per setting: what it is, mean, deviation, 95th percentile; the number of rows."""
    parts = (("paper", study.published.results), ("private", study.private.results), ("extra", study.published.extras))
    rows = [row for name, results in parts if results is not None for row in _exported(name, results)]
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
        "parameters": results.columns["parameters"].tolist(),
        "seed": results.columns["seed"].tolist(),
        "algorithm_source": results.columns["algorithm_source"].tolist(),
    }
    return [
        {"setting": setting, **dict(zip(columns, each, strict=True))} for each in zip(*columns.values(), strict=True)
    ]
