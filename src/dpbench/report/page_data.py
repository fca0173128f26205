"""Results as the numbers behind the page: one row a setting, names once, interpretations ready made."""

from __future__ import annotations

import re
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpbench.domain import Domain
from dpbench.interpreting import competitive_sets, regret
from dpbench.measuring import measure_all
from dpbench.report.cards import Example, Gallery
from dpbench.report.packing import Block
from dpbench.results import Results

FORMS = ("published", "private")
TABLE = ("task", "workload", "domain", "epsilon", "seed")
"""What stays the same within one table; see :attr:`Place.group`."""
NAMED = ("form", *TABLE, "dataset", "scale", "algorithm")
"""Columns that the page stores as numbers of names."""


@dataclass(frozen=True)
class Study:
    """Results of one form."""

    form: str
    results: Results
    names: NDArray[Any]
    """What each setting's algorithm is called on the page."""


def studies(results: Results) -> list[Study]:
    """Published and private forms apart: an algorithm competes with those of its own form."""
    found = []
    for form in FORMS:
        kept = np.flatnonzero(results.columns["variant"] == form)
        if len(kept):
            part = results.take(kept)
            found.append(Study(form, part, short_labels(part)))
    return found


def short_labels(results: Results) -> NDArray[Any]:
    """Labels without the marks of their form; in full where two would be the same."""
    short = {label: re.sub(r" \[[^\]]*\]$", "", label) for label in dict.fromkeys(results.labels.tolist())}
    number: dict[str, int] = {}
    for name in short.values():
        number[name] = number.get(name, 0) + 1
    return np.array([short[each] if number[short[each]] == 1 else each for each in results.labels], dtype=object)


def page_data(results: Results, gallery: Gallery, title: str) -> dict[str, Any]:
    """Everything that the page shows, ready for JSON."""
    parts = studies(results)
    block = Block()
    names = _names(parts)
    columns = {
        name: block.add(np.concatenate([_numbers(part, name, names[name]) for part in parts]), "u2") for name in NAMED
    }
    measured = [_measured(part) for part in parts]
    for name in measured[0]:
        columns[name] = block.add(np.concatenate([each[name] for each in measured]), "f4")
    columns["member"] = block.add(np.concatenate([_members(part) for part in parts]), "u1")
    return {
        "title": title,
        "names": names,
        "columns": columns,
        "dimensions": [Domain.of(each).ndim for each in names["domain"]],
        "sizes": [Domain.of(each).size for each in names["domain"]],
        "algorithmOf": _owners(parts, names["algorithm"]),
        "regret": [line for part in parts for line in _regret(part, names)],
        "privacy": [_privacy(part) for part in parts],
        "origin": results.metadata.get("origin", {}),
        "cards": [asdict(card) for card in gallery.algorithms],
        "datasets": [asdict(card) for card in gallery.datasets],
        "examples": [_example(each, block) for each in gallery.examples],
        "packed": block.text(),
    }


def _names(parts: list[Study]) -> dict[str, list[Any]]:
    names: dict[str, list[Any]] = {"form": [part.form for part in parts]}
    for name in (*TABLE, "dataset", "scale"):
        values = {value for part in parts for value in part.results.columns[name].tolist()}
        names[name] = sorted(values, key=_domain_order if name == "domain" else None)
    names["algorithm"] = sorted({name for part in parts for name in part.names.tolist()}, key=str.casefold)
    return names


def _domain_order(domain: str) -> tuple[int, int]:
    return Domain.of(domain).ndim, Domain.of(domain).size


def _numbers(part: Study, name: str, names: list[Any]) -> NDArray[np.int64]:
    own = {"form": np.array([part.form] * len(part.results), dtype=object), "algorithm": part.names}
    place = {value: number for number, value in enumerate(names)}
    return np.array([place[value] for value in (own.get(name, part.results.columns.get(name))).tolist()])  # type: ignore[union-attr]


def _measured(part: Study) -> dict[str, NDArray[np.float64]]:
    """Numbers of every setting; NaN where a unit failed, so that nobody is shown by the easy half of their runs."""
    measured = measure_all(part.results.errors)
    there = np.where(part.results.whole, 1.0, np.nan)
    numbers = {
        "mean": measured.mean,
        "p95": measured.percentile,
        "p95low": measured.percentile_low,
        "p95high": measured.percentile_high,
        "deviation": measured.deviation,
        "error": measured.standard_error,
        "bias": part.results.columns["squared_bias"],
        "variance": part.results.columns["variance"],
        **{name: part.results.columns[name] for name in ("l1_mean", "l1_p95", "linf_mean", "linf_p95")},
    }
    shown = {name: there * values for name, values in numbers.items()}
    return shown | {
        "trials": measured.trials.astype(np.float64),
        "seconds": part.results.columns["seconds"] / np.maximum(measured.trials, 1),
        "failed": part.results.columns["failed"].astype(np.float64),
        "queries": part.results.columns["queries"].astype(np.float64),
    }


def _members(part: Study) -> NDArray[np.int64]:
    """Bits: 1 competitive by mean, 2 lowest mean, 4 competitive by 95th percentile, 8 lowest percentile."""
    bits = np.zeros(len(part.results), dtype=np.int64)
    for shift, test in ((0, "unpaired"), (2, "percentile")):
        sets = competitive_sets(part.results, test)  # type: ignore[arg-type]
        rows, columns = np.nonzero(sets.members)
        bits[sets.grid.index[rows, columns]] |= 1 << shift
        known = np.flatnonzero(sets.best >= 0)
        bits[sets.grid.index[known, sets.best[known]]] |= 2 << shift
    return bits


def _owners(parts: list[Study], names: list[str]) -> list[str]:
    owner = {
        name: algorithm
        for part in parts
        for name, algorithm in zip(part.names.tolist(), part.results.columns["algorithm"].tolist(), strict=True)
    }
    return [owner[name] for name in names]


def _regret(part: Study, names: dict[str, list[Any]]) -> list[list[Any]]:
    """Form, table, scale (-1: all), algorithm; then regret, interval, settings and missing ones."""
    short = dict(zip(part.results.labels.tolist(), part.names.tolist(), strict=True))
    lines = []
    for by in (TABLE, (*TABLE, "scale")):
        for each in regret(part.results, by):
            where = dict(each.where)
            places = [names[name].index(where[name]) for name in TABLE]
            scale = names["scale"].index(where["scale"]) if "scale" in where else -1
            who = names["algorithm"].index(short[each.algorithm])
            told = [None if value != value else round(value, 4) for value in (each.regret, each.low, each.high)]  # noqa: PLR0124
            lines.append([names["form"].index(part.form), *places, scale, who, *told, each.settings, each.missing])
    return lines


def _privacy(part: Study) -> dict[str, list[int]]:
    """For each algorithm: settings, those whose ledger adds up, those that revealed nothing."""
    told: dict[str, list[int]] = {}
    columns = part.results.columns
    for name, accounted, private in zip(part.names.tolist(), columns["accounted"], columns["private"], strict=True):
        numbers = told.setdefault(name, [0, 0, 0])
        for place, true in enumerate((True, bool(accounted), bool(private))):
            numbers[place] += true
    return told


def _example(example: Example, block: Block) -> dict[str, Any]:
    return {
        "name": example.name,
        "about": example.about,
        "shape": list(example.counts.shape),
        "scale": int(example.counts.sum()),
        "counts": block.add(example.counts, "f8"),
        "estimates": [
            {"algorithm": each.algorithm, "epsilon": each.epsilon, "counts": block.add(each.counts, "f4")}
            for each in example.estimates
        ],
    }
