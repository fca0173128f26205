"""How often Cascade's intervals hold, and the training of their widths.

``python -m benchmarks.coverage --train`` chooses A and C on synthetic shapes alone and writes
``src/dpbench/fitted/error_bars.json``. ``python -m benchmarks.coverage`` then looks at the paper's 27 histograms
(``DPBENCH_DATA``) and writes ``src/dpbench/fitted/coverage.csv``. Draws are kept by release in ``--folder``, so both
can be interrupted; delete that folder after a change of Cascade.
"""

from __future__ import annotations

import argparse
import csv
import json
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import dpbench as dpb
from dpbench import datasets, fitted
from dpbench.algorithm import Outcome
from dpbench.datasets import families, shapes
from dpbench.domain import Domain
from dpbench.mathematics.posterior_bars import DRAWS, Calibration, cut_length
from dpbench.run.seeds import seed_for
from dpbench.workloads import Ranges, Workload

Floats = NDArray[np.float64]

EPSILON = 0.1
LEVELS = (0.5, 0.8, 0.9, 0.95)
MANY = 200
"""Queries of a kind per release."""
SCALES = (10**3, 10**4, 10**5, 10**6, 10**7)
LOOKED_AT = (*SCALES, 10**8)
TRAINED_ON = ("ranges", "prefixes", "corner boxes", "chosen short")
"""Kinds of queries whose coverage is trained."""
SETTINGS = 0.9
"""Part of the synthetic settings in which cautious intervals have their level."""
BINS = 4
"""Groups by cut length in which boxes of the plane should have their level."""


@dataclass(frozen=True)
class Release:
    """One run of Cascade."""

    name: str
    domain: Domain
    scale: int
    synthetic: bool

    @property
    def key(self) -> str:
        """The name of its file."""
        return f"{self.name}-{self.domain}-{self.scale}".replace("/", "_")

    def counts(self) -> NDArray[np.int64]:
        """The table that is released."""
        shape = shapes.get(self.name, self.domain) if self.synthetic else datasets.load(self.name)
        return dpb.generate(shape, scale=self.scale, domain=self.domain, seed=seed_for(0, "coverage", self.key, "data"))


def synthetic() -> Iterator[Release]:
    """The training set: all shapes, and an instance of every family."""
    plan: dict[int, list[tuple[str, Sequence[int]]]] = {
        1: [("1024", SCALES), ("4096", SCALES[::2])],
        2: [("64x64", SCALES), ("128x128", SCALES[::2])],
    }
    for axes, domains in plan.items():
        for domain, scales in domains:
            for name in [*shapes.names(axes), *families.instances(axes, 1)]:
                for scale in scales:
                    yield Release(name, Domain.of(domain), scale, True)


def paper() -> Iterator[Release]:
    """The paper's histograms at the domains of the figures."""
    for task, domain in ((dpb.RANGE_1D, "4096"), (dpb.RANGE_2D, "128x128")):
        for name in task.datasets:
            for scale in LOOKED_AT:
                yield Release(str(name), Domain.of(domain), scale, False)


def kinds_of_queries(domain: Domain, estimate: Floats, rng: np.random.Generator) -> dict[str, Ranges]:
    """Queries of every kind; chosen ones are placed in proportion to the released estimate."""
    sides, axes = np.array(domain.shape), domain.ndim
    flat = np.maximum(estimate.reshape(-1), 0.0)
    chance = flat / flat.sum() if flat.sum() > 0 else np.full(flat.size, 1 / flat.size)

    def boxes(lower: Any, upper: Any) -> Ranges:
        return Ranges(domain, np.asarray(lower), np.asarray(upper))

    def cells(places: NDArray[np.int64]) -> NDArray[np.int64]:
        return np.stack(np.unravel_index(places, domain.shape), axis=1)

    random = dpb.workloads.RandomRange(domain, queries=MANY, seed=int(rng.integers(2**31))).ranges()
    corner = rng.integers(1, sides + 1, size=(MANY, axes))
    chosen = cells(rng.choice(flat.size, size=MANY, p=chance))
    lengths = np.exp(rng.uniform(np.log(2), np.log(np.maximum(sides / 4, 2)), size=(MANY, axes))).astype(np.int64)
    lower = np.clip(chosen - (rng.random((MANY, axes)) * lengths).astype(np.int64), 0, sides - lengths)
    anywhere = cells(rng.integers(flat.size, size=MANY))
    again = cells(rng.choice(flat.size, size=MANY, p=chance))
    return {
        "ranges": random,
        "prefixes" if axes == 1 else "corner boxes": boxes(np.zeros_like(corner), corner),
        "chosen short": boxes(lower, lower + lengths),
        "cells": boxes(anywhere, anywhere + 1),
        "chosen cells": boxes(again, again + 1),
        "total": boxes([[0] * axes], [sides]),
    }


Looked = list[tuple[Release, dict[str, Floats]]]


def look(release: Release, folder: Path) -> dict[str, Floats]:
    """One release: per query the truth, the estimate, cut length, and quantiles of the draws; kept on disk."""
    path = folder / f"{release.key}.npz"
    if path.is_file():
        with np.load(path) as kept:
            return dict(kept)
    x = release.counts()
    workload: Workload = (
        dpb.workloads.Prefix(release.domain)
        if release.domain.ndim == 1
        else dpb.workloads.RandomRange(release.domain, queries=2000, seed=0)
    )
    seed = seed_for(0, "coverage", release.key, "noise")
    outcome = dpb.algorithms.get("Cascade").outcome(x, workload, EPSILON, seed=seed)
    queries = kinds_of_queries(
        release.domain, outcome.estimate[0], np.random.default_rng(seed_for(0, "coverage", release.key, "queries"))
    )
    draws = outcome.draws(DRAWS)[0]
    together = Ranges(
        release.domain,
        *(np.concatenate([getattr(each, end) for each in queries.values()]) for end in ("lower", "upper")),
    )
    marked = outcome.guaranteed(together)[0]
    exact = exact_intervals_of(outcome, together, marked if release.synthetic else np.ones_like(marked))
    ends = np.cumsum([each.queries for each in queries.values()])[:-1]
    result: dict[str, Floats] = {}
    for (kind, ranges), mark, guaranteed in zip(
        queries.items(), np.split(marked, ends), np.split(exact, ends), strict=True
    ):
        answers = ranges.answer(draws)
        points = [0.5, *(each for p in LEVELS for each in ((1 - p) / 2, (1 + p) / 2))]
        result[f"{kind}/quantiles"] = np.quantile(answers, points, axis=0, method="hazen")
        result[f"{kind}/truth"] = ranges.answer(x).astype(np.float64)
        result[f"{kind}/estimate"] = ranges.answer(outcome.estimate[0])
        result[f"{kind}/cut"] = cut_length(ranges, slice(None))
        result[f"{kind}/marked"] = mark
        result[f"{kind}/guaranteed"] = guaranteed
    folder.mkdir(parents=True, exist_ok=True)
    np.savez(path, **result)  # type: ignore[arg-type]
    return result


def exact_intervals_of(outcome: Outcome, ranges: Ranges, wanted: NDArray[np.bool_]) -> Floats:
    """``(q, 2)``: guaranteed intervals of level 0.9 of some of the ranges; the others, which the training needs not,
    are nan."""
    result = np.full((ranges.queries, 2), np.nan)
    if wanted.any():
        some = Ranges(ranges.domain, ranges.lower[wanted], ranges.upper[wanted])
        result[wanted] = outcome.intervals(some, 0.9, guaranteed=True)[0]
    return result


@dataclass(frozen=True)
class Stacked:
    """Model-based queries of many releases, side by side."""

    axes: int
    quantiles: Floats
    """``(1 + 2 levels, queries)``: the median, then both ends of every level."""
    truth: Floats
    estimate: Floats
    cut: Floats
    group: NDArray[np.int64]
    """``(queries,)``: kind of query, and in the plane a quarter of its boxes by cut length over the side."""
    setting: NDArray[np.int64]
    """``(queries,)``: the release."""

    @classmethod
    def of(cls, looked: Looked, axes: int, kinds: Sequence[str] = TRAINED_ON) -> Stacked:
        """Put together what was looked at, without what exact intervals stand in for."""
        parts: dict[str, list[Any]] = defaultdict(list)
        for number, (release, found) in enumerate(looked):
            for kind in [each for each in kinds if f"{each}/truth" in found]:
                some = ~found[f"{kind}/marked"].astype(bool)
                for name in ("truth", "estimate", "cut"):
                    parts[name].append(found[f"{kind}/{name}"][some])
                parts["quantiles"].append(found[f"{kind}/quantiles"][:, some])
                order = np.argsort(np.argsort(parts["cut"][-1] / max(release.domain), kind="stable"), kind="stable")
                bins = order * BINS // max(len(order), 1) if axes == 2 else 0 * order
                parts["group"].append(BINS * kinds.index(kind) + bins)
                parts["setting"].append(np.full(len(order), number))
        return cls(axes, **{name: np.concatenate(each, axis=-1) for name, each in parts.items()})

    def held(self, level: float, a: float, c: float) -> tuple[Floats, Floats]:
        """Which intervals hold the truth, and their widths, under some A and C (``mathematics/posterior_bars.py``)."""
        number = 1 + 2 * LEVELS.index(level)
        middle, low, high = self.quantiles[[0, number, number + 1]]
        kappa = 1 + a if self.axes == 1 else np.sqrt(1 + a + c * self.cut / 16)
        floor = max(np.log(level / (1 - level)) / (2 * EPSILON), 0.0)
        low = np.maximum(np.floor(middle - np.maximum(kappa * (middle - low), floor)), 0.0)
        high = np.ceil(middle + np.maximum(kappa * (high - middle), floor))
        low = np.minimum(np.where(low < (middle - low) / 2, 0.0, low), np.floor(self.estimate))
        high = np.maximum(high, np.ceil(self.estimate))
        return ((low <= self.truth) & (self.truth <= high)).astype(np.float64), high - low

    def misfit(self, form: str, level: float, a: float, c: float) -> float:
        """Calibrated: squares of what all, and each group, miss the level by. Cautious: what the worst tenth misses."""
        holds, _ = self.held(level, a, c)
        if form == "cautious":
            return abs(float(np.quantile(means(holds, self.setting), 1 - SETTINGS)) - level) + 1e-3 * (a + c)
        by_group = means(holds, self.group)
        return float(4 * (by_group.mean() - level) ** 2 + ((by_group - level) ** 2).mean())


def means(values: Floats, which: NDArray[np.int64]) -> Floats:
    """The mean of every group that has members."""
    members = np.bincount(which)
    return np.asarray(np.bincount(which, weights=values)[members > 0] / members[members > 0])


def train(looked: Looked) -> dict[str, Any]:
    """A and C by level: mean coverage p in all groups alike; and coverage p in nine of ten settings."""
    result: dict[str, Any] = {"levels": list(LEVELS), "calibrated": {}, "cautious": {}}
    for axes in (1, 2):
        stacked = Stacked.of([each for each in looked if each[0].domain.ndim == axes], axes)
        steps = np.round(np.arange(-0.1, 0.8, 0.01 if axes == 1 else 0.1), 3).tolist()
        slopes = [0.0] if axes == 1 else np.round(np.arange(0.0, 1.5, 0.05), 3).tolist()
        least = [[-1.0, 0.0]] * len(LEVELS)  # cautious bars are never narrower than calibrated ones
        for form in ("calibrated", "cautious"):
            least = result[form][str(axes)] = [
                list(
                    min(
                        (stacked.misfit(form, level, a, c), a, c)
                        for a in steps
                        for c in slopes
                        if a >= bound[0] and c >= bound[1]
                    )[1:]
                )
                for level, bound in zip(LEVELS, least, strict=True)
            ]
    return result


def table(looked: Iterable[tuple[Release, dict[str, Floats]]], trained: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Rows of the shipped table: coverage of nominal 90 % and width over that of the error's normal law."""
    level = 0.9
    for release, found in looked:
        axes = release.domain.ndim
        for kind in [name.removesuffix("/truth") for name in found if name.endswith("/truth")]:
            truth = found[f"{kind}/truth"]
            row: dict[str, Any] = {
                "dataset": release.name,
                "domain": str(release.domain),
                "scale": release.scale,
                "kind": kind,
                "queries": len(truth),
                "marked": int(found[f"{kind}/marked"].sum()),
            }
            marked = found[f"{kind}/marked"].astype(bool)
            for form in ("calibrated", "cautious"):
                pairs = tuple((a, c) for a, c in trained[form][str(axes)])
                a, c = Calibration(LEVELS, {axes: pairs}).at(axes, level)
                unmarked = {**found, f"{kind}/marked": np.zeros(len(truth))}
                holds, width = Stacked.of([(release, unmarked)], axes, (kind,)).held(level, a, c)
                if marked.any():
                    low, high = found[f"{kind}/guaranteed"][marked].T
                    holds[marked], width[marked] = (low <= truth[marked]) & (truth[marked] <= high), high - low
                row[form] = round(100 * float(holds.mean()), 1)
                row[f"{form} width"] = round(float(np.sqrt((width**2).mean())), 1)
            low, high = found[f"{kind}/guaranteed"].T
            row["guaranteed"] = round(100 * float(((low <= truth) & (truth <= high)).mean()), 1)
            row["guaranteed width"] = round(float(np.sqrt(((high - low) ** 2).mean())), 1)
            off = found[f"{kind}/estimate"] - truth
            row["error"] = round(float(np.sqrt((off**2).mean())), 1)
            yield row


def watched(releases: Iterable[Release]) -> Iterator[Release]:
    """The releases, counted on stderr."""
    everything = list(releases)
    for number, release in enumerate(everything, 1):
        sys.stderr.write(f"\r{number}/{len(everything)} {release.key:60}")
        yield release
    sys.stderr.write("\n")


def summary(rows: Sequence[dict[str, Any]]) -> str:
    """Mean coverage by kind, by scale and by dataset, one line each."""
    lines = []
    for axes in (1, 2):
        mine = [row for row in rows if Domain.of(row["domain"]).ndim == axes]
        for column in ("kind", "scale", "dataset"):
            for value in dict.fromkeys(row[column] for row in mine):
                some = [row for row in mine if row[column] == value]
                if column != "kind":
                    some = [row for row in some if row["kind"] in TRAINED_ON]
                means = "  ".join(
                    f"{form} {np.mean([float(row[form]) for row in some]):5.1f}"
                    for form in ("calibrated", "cautious", "guaranteed")
                )
                lines.append(f"{axes}-D  {column:8} {value!s:14} {means}")
    return "\n".join(lines)


def main(arguments: Sequence[str] | None = None) -> None:
    """Train, or look at the paper's histograms."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--train", action="store_true", help="train on synthetic shapes in place of looking")
    parser.add_argument("--folder", type=Path, default=Path("build/coverage"), help="where draws are kept by release")
    parser.add_argument("--part", default="1/1", help="i/k: make the i-th of k parts of the draws and write nothing")
    options = parser.parse_args(arguments)
    part, parts = map(int, options.part.split("/"))
    if parts > 1:
        for release in watched(list(synthetic() if options.train else paper())[part - 1 :: parts]):
            look(release, options.folder)
        return
    if options.train:
        looked = [(each, look(each, options.folder)) for each in watched(synthetic())]
        found = train(looked)
        fitted.ERROR_BARS.write_text(json.dumps(found, indent=1) + "\n")
        rows = list(table(looked, found))
    else:
        rows = list(table(((each, look(each, options.folder)) for each in watched(paper())), fitted.error_bars()))
        with fitted.COVERAGE.open("w", newline="") as file:
            writer = csv.DictWriter(file, list(rows[0]))
            writer.writeheader()
            writer.writerows(rows)
    print(summary(rows))


if __name__ == "__main__":
    main()
