"""The table that advice rests on, and how good the advice is: ``python -m benchmarks.advice [--store DIR ...]``.

Without stores, from the private setting of the shipped study; ``--store`` adds results of the same settings. Errors are
condensed to the mean and the 95th percentile over runs of the root mean square error of a range, and the advice is
evaluated on families of datasets that were left out of everything: of the table, of the choice, and of what the
intervals are widened by. The numbers that ``dpbench recommend`` prints about itself are those, and those of
``python -m benchmarks.unseen``. After another study::

    python -m benchmarks.after_release                     if algorithms have changed: two minutes
    python -m benchmarks.advice                            half a minute
    python -m benchmarks.unseen --packages DIR             five minutes
    python -m benchmarks.private_selection                 a minute, with the paper's histograms
    python -m benchmarks.chooser --out docs                the charts of docs/choosing.md
"""

from __future__ import annotations

import argparse
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import astuple
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpbench import advice
from dpbench.advice.advisor import usual
from dpbench.advice.experience import (
    BELIEF,
    CLEARLY,
    FILE,
    RISKS,
    STEPS,
    TRIED,
    Array,
    Ends,
    Experience,
    plain,
    read_after,
    shipped,
)  # fmt: skip
from dpbench.domain import Domain
from dpbench.mathematics.postprocess import apply_steps
from dpbench.paper.study import PAPER_STANDARDS, Study, joined, sort_settings
from dpbench.releasable import STEPS as RELEASE
from dpbench.results import Results

OUT = Path(advice.__file__).parent / FILE
FAMILIES = (r"BIDS", r"LC-2D", r"LC", r"MD-SAL-2D", r"MD-SAL", r"(BJ|SF)-CABS")
"""Datasets whose names begin alike are parts of one table, or near copies."""


def family(dataset: str) -> str:
    """The family of a dataset: its own name where it is alone."""
    return next(
        (found.group() if "CABS" not in dataset else "CABS" for each in FAMILIES if (found := re.match(each, dataset))),
        dataset,
    )


def condensed(results: Results, dimensions: int) -> tuple[Experience, Array]:
    """The private results of one number of dimensions as a table without holes, and the least error at every point.

    Algorithms with holes are left out of the table and count for the least error where they have one.
    """
    columns, measured = results.columns, results.measured
    domains = [Domain.of(name) for name in columns["domain"].tolist()]
    scale, epsilon = columns["scale"].astype(float), columns["epsilon"].astype(float)
    records = scale * np.sqrt(columns["queries"].astype(float)) * epsilon
    pure = columns["delta"].astype(float) == 0
    rows = [
        each for each, domain in enumerate(domains)
        if domain.ndim == dimensions and pure[each] and results.whole[each]
    ]  # fmt: skip
    keys = [
        (domains[row].shape[0], round(float(scale[row] * epsilon[row]), 6), str(columns["dataset"][row]))
        for row in rows
    ]
    axes = [sorted({key[axis] for key in keys}) for axis in range(3)]
    places = [tuple(axes[axis].index(key[axis]) for axis in range(3)) for key in keys]
    tables: dict[str, tuple[Array, Array]] = {}
    for row, place in zip(rows, places, strict=True):
        name = str(columns["algorithm"][row])
        mean, bad = tables.setdefault(name, tuple(np.full([len(axis) for axis in axes], np.nan) for _ in range(2)))
        mean[place] = np.log(measured.mean[row] * records[row])
        bad[place] = np.log(measured.percentile[row] * records[row])
    whole = {name: pair for name, pair in sorted(tables.items()) if np.isfinite(pair[0]).all()}
    least = np.nanmin([pair[0] for pair in tables.values()], axis=0)
    known = Experience(
        sides=tuple(axes[0]),
        signals=tuple(axes[1]),
        datasets=tuple(axes[2]),
        families=tuple(map(family, axes[2])),
        mean={name: pair[0] for name, pair in whole.items()},
        bad={name: pair[1] for name, pair in whole.items()},
        after=read_after(shipped(TRIED)["after"][str(dimensions)]),
    )
    return known, least


def left_out(known: Experience, least: Array, risk: str) -> Iterator[dict[str, Any]]:
    """Advice on every setting of every family that is left out, with the guess of the records off by up to three."""
    moved = {name: (known.moved(known.mean[name]), known.moved(known.bad[name])) for name in known.names}
    for name in dict.fromkeys(known.families):
        own = np.array([each == name for each in known.families])
        others = known.without(name)
        for guess in STEPS:
            ends = {each: Ends.of(*moved[each], own, guess) for each in known.names}
            chosen = choices(
                others, [scores(others, moved[each][risk == "p95"], own, guess) for each in known.names], risk
            )
            for place in np.ndindex(chosen.shape):
                algorithm = known.names[chosen[place]]
                wider = others.widening[algorithm]
                after = np.log(known.released(algorithm, known.signals[place[1]] * BELIEF**guess))
                low = ends[algorithm].low[place] - np.log(wider.low) + after[0]
                high = ends[algorithm].high[place] + np.log(wider.high) + after[1]
                bad = ends[algorithm].bad_run[place] + np.log(wider.bad_run) + after[2]
                error, worse = known.mean[algorithm][place][own], known.bad[algorithm][place][own]
                yield {
                    "family": name,
                    "side": known.sides[place[0]],
                    "signal": known.signals[place[1]],
                    "algorithm": algorithm,
                    "regret": error - least[place][own],
                    "inside": (low <= error) & (error <= high),
                    "bad": worse <= bad,
                    "width": np.repeat(high - low, own.sum()),
                    "error": error,
                    "worse": worse,
                }


def scores(others: Experience, tables: Mapping[int, Array], own: NDArray[np.bool_], guess: int) -> Array:
    """:meth:`Experience.score` at every point of the table at once."""
    return np.asarray(np.mean([others.over_families(tables[guess + step][..., ~own]) for step in STEPS], axis=0))


def choices(others: Experience, by_name: list[Array], risk: str) -> NDArray[np.int64]:
    """:meth:`Experience.choose` at every point of the table at once: numbers of algorithms."""
    all_scores = np.array(by_name)
    leader = int(np.argmin([others.overall(name, risk) for name in others.names]))
    best = all_scores.argmin(axis=0)
    return np.where(all_scores[leader] - all_scores.min(axis=0) > CLEARLY, best, leader)


def summary(cases: Iterable[dict[str, Any]]) -> dict[str, Any]:
    """Regret, coverage and width; every family counts once."""
    by_family: dict[str, list[dict[str, Any]]] = {}
    for case in cases:
        by_family.setdefault(case["family"], []).append(case)

    def over_families(name: str) -> float:
        return float(np.mean([np.concatenate([case[name] for case in own]).mean() for own in by_family.values()]))

    regrets = np.concatenate([case["regret"] for own in by_family.values() for case in own])
    count = {
        name: sum(case["algorithm"] == name for own in by_family.values() for case in own)
        for name in dict.fromkeys(case["algorithm"] for own in by_family.values() for case in own)
    }
    return {
        "families": len(by_family),
        "settings": int(regrets.size),
        "regret": round(float(np.exp(over_families("regret"))), 3),
        "regret_p95": round(float(np.exp(np.quantile(regrets, 0.95))), 2),
        "interval": round(over_families("inside"), 3),
        "bad_run": round(over_families("bad"), 3),
        "width": round(float(np.exp(over_families("width"))), 2),
        "mean": float(f"{np.exp(over_families('error')):.5g}"),
        "percentile": float(f"{np.exp(over_families('worse')):.5g}"),
        "chosen": dict(sorted(count.items(), key=lambda each: -each[1])),
    }


def rounding(dimensions: int, side: int) -> float:
    """What whole numbers add to a range of the study: the root mean square on a full table with a fraction per cell."""
    domain = Domain((side,) * dimensions)
    fractions = np.random.default_rng(0).uniform(size=(4, *domain.shape))
    full = fractions + 1000.0
    return float(np.sqrt(usual(domain).mean_squared(apply_steps(full, RELEASE) - full).mean()))


def made(stores: Iterable[str], *, alone: bool = False) -> dict[str, Any]:
    """The table and what is known of the advice that rests on it; ``alone``: from the stores without the study."""
    parts = [sort_settings(Results.open(store, **PAPER_STANDARDS))["private"] for store in stores]
    results = joined(([] if alone else [Study.shipped().private.results]) + parts)  # type: ignore[operator, arg-type]
    known = {str(dimensions): condensed(results, dimensions) for dimensions in (1, 2)}
    return {
        "experience": {at: plain(each) for at, (each, _) in known.items()},
        "widening": {
            at: {name: [round(end, 4) for end in astuple(wider)] for name, wider in each.widening.items()}
            for at, (each, _) in known.items()
        },
        "rounding": {at: [round(rounding(int(at), side), 3) for side in each.sides] for at, (each, _) in known.items()},
        "held": {
            at: {risk: summary(left_out(each, least, risk)) for risk in RISKS} for at, (each, least) in known.items()
        },
    }


def main() -> None:
    """Write the table; print how good the advice is."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--store", action="append", default=[], metavar="DIR", help="more results of the same settings")
    parser.add_argument("--out", default=str(OUT), metavar="FILE")
    parser.add_argument("--alone", action="store_true", help="only these stores, without the study of the package")
    chosen = parser.parse_args()
    found = made(chosen.store, alone=chosen.alone)
    print(json.dumps(found["held"], indent=1))
    Path(chosen.out).write_text(json.dumps(found, separators=(",", ":")) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
