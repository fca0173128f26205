"""Results as the numbers behind the page: one row per setting, names once, interpretations ready made."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpbench.domain import Domain
from dpbench.interpreting import PER_QUERY, competitive_sets, find_test, regret
from dpbench.measuring.yardstick import Yardstick
from dpbench.page.cards import Example, Gallery, Posterior
from dpbench.page.packing import Block
from dpbench.page.palette import colour_of
from dpbench.results import Results
from dpbench.results.display import short_labels
from dpbench.results.loss_summaries import LEVEL, SUMMARISED
from dpbench.standards import Standards
from dpbench.store.files import known
from dpbench.store.setting_key import BUDGET, Group, budget_order, budget_words

FORMS = ("published", "private")
TABLE = ("task", "workload", "domain", "budget", "seed")
"""What stays the same within one table, the budget in words; see :attr:`Place.group`."""
NAMED = ("form", *TABLE, "dataset", "scale", "algorithm")
"""Columns that the page stores as numbers of names."""


@dataclass(frozen=True)
class FormResults:
    """Results of one form."""

    form: str
    results: Results
    names: NDArray[Any]
    """What each setting's algorithm is called on the page."""

    @cached_property
    def budgets(self) -> NDArray[Any]:
        """The budget of each setting in words; budgets of different notions never look alike."""
        written = list(self.results.rows(*BUDGET))
        words = {each: budget_words(*each) for each in set(written)}
        return np.array([words[each] for each in written], dtype=object)

    @cached_property
    def short(self) -> dict[str, str]:
        """What a label is called on the page."""
        return dict(zip(self.results.labels.tolist(), self.names.tolist(), strict=True))


def by_form(results: Results) -> list[FormResults]:
    """Published and private forms apart: an algorithm competes with those of its own form."""
    found = []
    for form in FORMS:
        kept = np.flatnonzero(results.columns["variant"] == form)
        if len(kept):
            part = results.take(kept)
            found.append(FormResults(form, part, short_labels(part)))
    return found


def page_data(
    results: Results,
    gallery: Gallery,
    title: str,
    comparison: Mapping[str, Any] | None = None,
    yardsticks: Mapping[Group, Yardstick] | None = None,
) -> dict[str, Any]:
    """Everything that the page shows, ready for JSON; ``comparison`` is that of a newcomer, with its rivals."""
    parts = by_form(results)
    block, pictures = Block(), Block()
    names = _names(parts)
    columns = {
        name: block.add(np.concatenate([_numbers(part, name, names[name]) for part in parts]), "u2") for name in NAMED
    }
    columns |= _packed(block, [_facts(part) for part in parts])
    return {
        "title": title,
        "standards": _standards(results.standards),
        "losses": [*_losses(parts, names, block), *_summarised(parts, results, block)],
        "comparison": comparison,
        "table": TABLE,
        "yardsticks": _yardsticks(yardsticks or {}, names),
        "names": names,
        "columns": columns,
        "dimensions": [Domain.of(each).ndim for each in names["domain"]],
        "sizes": [Domain.of(each).size for each in names["domain"]],
        "algorithmOf": _owners(parts, names["algorithm"]),
        "colours": _colours(names["algorithm"], gallery),
        "privacy": [_privacy(part) for part in parts],
        "origin": results.metadata.get("origin", {}),
        "cards": [asdict(card) for card in gallery.algorithms],
        "datasets": [asdict(card) for card in gallery.datasets],
        "examples": [_example(each, pictures) for each in gallery.examples],
        "advice": gallery.advice,
        "packed": block.text(),
        "pictures": pictures.text(),
    }


def _names(parts: list[FormResults]) -> dict[str, list[Any]]:
    names: dict[str, list[Any]] = {"form": [part.form for part in parts]}
    for name in (*TABLE, "dataset", "scale"):
        if name != "budget":
            values = {value for part in parts for value in part.results.columns[name].tolist()}
            names[name] = sorted(values, key=_domain_order if name == "domain" else None)
    written = {place for part in parts for place in part.results.rows(*BUDGET)}
    names["budget"] = [budget_words(*each) for each in sorted(written, key=budget_order)]
    names["algorithm"] = sorted({name for part in parts for name in part.names.tolist()}, key=str.casefold)
    return names


def _domain_order(domain: str) -> tuple[int, int]:
    return Domain.of(domain).ndim, Domain.of(domain).size


def _numbers(part: FormResults, name: str, names: list[Any]) -> NDArray[np.int64]:
    own = {"algorithm": part.names, "budget": part.budgets}
    place = {value: number for number, value in enumerate(names)}
    if name == "form":
        return np.full(len(part.results), place[part.form])
    values = own[name] if name in own else part.results.columns[name]
    return np.array([place[value] for value in values.tolist()])


def _packed(block: Block, parts: list[dict[str, NDArray[np.float64]]], kind: str = "f4") -> dict[str, list[Any]]:
    """Columns of all parts, one after the other, in the block."""
    return {name: block.add(np.concatenate([each[name] for each in parts]), kind) for name in parts[0]}


def _facts(part: FormResults) -> dict[str, NDArray[np.float64]]:
    """What is known of every setting whatever the loss."""
    columns, trials = part.results.columns, part.results.measured.trials
    there = _there(part.results)
    return {
        "bias": there * columns["squared_bias"],
        "variance": there * columns["variance"],
        "trials": trials.astype(np.float64),
        "seconds": columns["seconds"] / np.maximum(trials, 1),
        "failed": columns["failed"].astype(np.float64),
        "queries": columns["queries"].astype(np.float64),
    }


def _there(results: Results) -> NDArray[np.float64]:
    """1, or NaN where a unit failed, so that no algorithm is shown by the easy half of its runs."""
    return np.where(results.whole, 1.0, np.nan)


def _standards(standards: Standards) -> dict[str, Any]:
    """How the results are read, with the words of captions."""
    tests = {measure: find_test(name) for measure, name in _tests(standards).items()}
    return {
        "measure": find_test(standards.test).compares,
        "percentile": standards.percentile_words,
        "alpha": standards.alpha,
        "baselines": list(standards.baselines),
        "tests": {measure: {"name": test.name, "words": test.words} for measure, test in tests.items()},
    }


def _tests(standards: Standards) -> dict[str, str]:
    """The test of each measure that the page can show: that of the standards, and one for the other measure."""
    tests = {"mean": "unpaired", "percentile": "percentile"}
    return tests | {find_test(standards.test).compares: standards.test}


def _losses(parts: list[FormResults], names: dict[str, list[Any]], block: Block) -> list[dict[str, Any]]:
    """The loss of the standards, then every other with errors of single trials: measures, competitive sets, regret."""
    first = parts[0].results
    found = []
    for label in (first.standards.loss, *first.losses):
        read = [
            replace(part, results=part.results.read_by(replace(part.results.standards, loss=label))) for part in parts
        ]
        columns = _packed(block, [_measured(part.results) for part in read])
        columns |= _packed(block, [{"member": _members(part.results)} for part in read], "u1")
        lines = [line for part in read for line in _regret(part, names)]
        found.append(_loss(label) | {"columns": columns, "regret": lines})
    return found


def _summarised(parts: list[FormResults], results: Results, block: Block) -> list[dict[str, Any]]:
    """Losses of which only means, deviations and 95th percentiles were kept: neither competitive sets nor regret."""
    found = []
    for label, prefix in SUMMARISED.items():
        known = np.isfinite(results.columns[f"{prefix}_mean"]).any()
        if known and label not in (results.standards.loss, *results.losses):
            ends = {"mean": "mean"} | ({"percentile": "p95"} if results.standards.percentile == LEVEL else {})
            numbers = [
                {name: _there(part.results) * part.results.columns[f"{prefix}_{end}"] for name, end in ends.items()}
                for part in parts
            ]
            found.append(_loss(label) | {"columns": _packed(block, numbers), "regret": None})
    return found


def _loss(label: str) -> dict[str, Any]:
    per_query = PER_QUERY.get(label)
    words = Standards(loss=label)
    return {
        "label": label,
        "words": words.loss_words,
        "error": words.error_words,
        "perQuery": per_query and asdict(per_query),
    }


def _measured(results: Results) -> dict[str, NDArray[np.float64]]:
    """Measures of every setting by the loss of the standards."""
    measured = results.measured
    numbers = {
        "mean": measured.mean,
        "percentile": measured.percentile,
        "deviation": measured.deviation,
    }
    if results.single_trials:
        numbers |= {
            "low": measured.percentile_low,
            "high": measured.percentile_high,
            "error": measured.standard_error,
        }
    return {name: _there(results) * values for name, values in numbers.items()}


def _members(results: Results) -> NDArray[np.float64]:
    """Bits: 1 competitive by mean, 2 lowest mean, 4 competitive by percentile, 8 lowest percentile.

    Where single trials were not kept, nothing is known by percentile and those bits are 0.
    """
    bits = np.zeros(len(results), dtype=np.int64)
    tests = tuple(_tests(results.standards).values())
    for shift, test in zip((0, 2), tests if results.single_trials else tests[:1], strict=False):
        sets = competitive_sets(results, test)
        rows, columns = np.nonzero(sets.members)
        bits[sets.grid.index[rows, columns]] |= 1 << shift
        known = np.flatnonzero(sets.best >= 0)
        bits[sets.grid.index[known, sets.best[known]]] |= 2 << shift
    return bits.astype(np.float64)


def _owners(parts: list[FormResults], names: list[str]) -> list[str]:
    owner = {
        name: algorithm
        for part in parts
        for name, algorithm in zip(part.names.tolist(), part.results.columns["algorithm"].tolist(), strict=True)
    }
    return [owner[name] for name in names]


def _colours(names: list[str], gallery: Gallery) -> dict[str, tuple[str, str]]:
    """Return the colour of everything that is named on the page, on a light and on a dark ground."""
    shown = {estimate.algorithm for example in gallery.examples for estimate in example.estimates}
    return {name: colour_of(name) for name in sorted({*names, *(card.name for card in gallery.algorithms), *shown})}


def _regret(part: FormResults, names: dict[str, list[Any]]) -> list[list[Any]]:
    """Form, table, scale (-1: all), algorithm; then regret, interval, settings and missing ones."""
    lines = []
    for by in (Group._fields, (*Group._fields, "scale")):
        for each in regret(part.results, by):
            where = dict(each.where)
            places = _table(where, names)
            scale = names["scale"].index(where["scale"]) if "scale" in where else -1
            who = names["algorithm"].index(part.short[each.algorithm])
            values = [known(round(value, 4)) for value in (each.regret, each.low, each.high)]
            lines.append([names["form"].index(part.form), *places, scale, who, *values, each.settings, each.missing])
    return lines


def _table(where: Mapping[str, Any], names: dict[str, list[Any]]) -> list[int]:
    """The numbers of a table's names."""
    named = {**where, "budget": budget_words(*(where[name] for name in BUDGET))}
    return [names[name].index(named[name]) for name in TABLE]


def _yardsticks(yardsticks: Mapping[Group, Yardstick], names: dict[str, list[Any]]) -> list[dict[str, Any]]:
    """The limit and the best known strategy of every table: expected squared errors per query."""
    return [asdict(each) | {"at": _table(group._asdict(), names)} for group, each in yardsticks.items()]


def _privacy(part: FormResults) -> dict[str, list[int]]:
    """For each algorithm: settings, those whose ledger adds up, those that revealed nothing."""
    found: dict[str, list[int]] = {}
    columns = part.results.columns
    kept = (part.names, columns["accounted"].astype(bool), columns["private"].astype(bool))
    for (name, accounted, private), times in Counter(zip(*(each.tolist() for each in kept), strict=True)).items():
        numbers = found.setdefault(name, [0, 0, 0])
        for place, true in enumerate((True, accounted, private)):
            numbers[place] += true * times
    return found


def _example(example: Example, block: Block) -> dict[str, Any]:
    return {
        "name": example.name,
        "about": example.about,
        "shape": list(example.counts.shape),
        "scale": int(example.counts.sum()),
        "counts": block.add(example.counts, "f8"),
        "estimates": [
            {
                "algorithm": each.algorithm,
                "epsilon": each.epsilon,
                "counts": block.add(each.counts, "f4"),
                "posterior": each.posterior and _posterior(each.posterior, block),
            }
            for each in example.estimates
        ],
    }


def _posterior(posterior: Posterior, block: Block) -> dict[str, Any]:
    most = int(posterior.draws.max(initial=0))
    return {
        "draws": block.add(posterior.draws, "u2" if most < 2**16 else "f8"),
        "many": len(posterior.draws),
        "level": posterior.level,
        "kappa": posterior.kappa,
        "floor": posterior.floor,
    }
