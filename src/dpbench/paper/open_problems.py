"""The paper's five open problems: hypotheses with numbers fixed beforehand, decided by a study and what goes with it.

Where more than errors of the study is needed, it is measured by a command and kept in ``data``: features of the paper's
histograms and a private selection (``benchmarks.private_selection``), averages of runs (``benchmarks.averaging``) and
parameters trained on synthetic shapes (``benchmarks.trained_parameters``).
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Mapping
from functools import cache
from importlib.resources import files
from typing import Any

import numpy as np

from dpbench.advice import experience
from dpbench.fitted import coverage
from dpbench.paper.catalogue_errors import CatalogueErrors, Floats
from dpbench.paper.error_panel import EPSILON
from dpbench.paper.findings_practice import mean_errors
from dpbench.paper.hypotheses import Decide, Numbers, decided
from dpbench.paper.since_2016 import DIMENSIONS, LEADER
from dpbench.paper.study import Study
from dpbench.paper.verdict import Answer, Undecided, Verdict

STEPS = (("weights", "HbW", "Hb"), ("non-negativity", "TopDown", "HbW"), ("posterior", LEADER, "TopDown"))
"""The ingredients of Cascade, each as an algorithm over the one before it."""
RIDGE = 1.0
"""Of the regression on features that are standardised: 18 datasets are few."""
DEFAULTS: dict[str, dict[str, float]] = {
    "AHP": {"rho": 0.85, "eta": 0.35},
    "DAWA": {"rho": 0.25},
    "MWEM": {"rounds": 10},
}
"""The parameters of the publications."""


@cache
def kept(name: str, command: str) -> tuple[dict[str, str], ...]:
    """The rows of a table that a command has left in ``data``."""
    found = files("dpbench.paper").joinpath("data", name)
    if not found.is_file():
        raise Undecided(f"{name} was not measured; python -m {command} measures it")
    return tuple(csv.DictReader(io.StringIO(found.read_text(encoding="utf-8"))))


# --- 1: understanding data dependence ----------------------------------------------------------------


def one_technique(study: Study, at: Numbers) -> Answer:
    """How far Cascade is from the best of the catalogue, setting by setting."""
    ratios = {}
    for d in DIMENSIONS:
        errors = CatalogueErrors.of(study.private, d)
        ratios[d] = errors.of_algorithm(LEADER) / errors.best
    both = np.concatenate(list(ratios.values()))
    both = both[np.isfinite(both)]
    share, worst = float((both <= at["near"]).mean()), float(both.max())
    rows = [
        {"dimensions": d, "median": float(np.nanmedian(r)), "95th percentile": float(np.nanquantile(r, 0.95))}
        | {"worst": float(np.nanmax(r)), "within": float(np.nanmean(r <= at["near"])), "settings": len(r)}
        for d, r in ratios.items()
    ]
    words = f"within {at['near']} of the best in {100 * share:.0f} % of {len(both)} settings, at most {worst:.2f}"
    return Answer(words, share >= at["share"] and worst <= at["never"], rows=rows)


def features(study: Study, at: Numbers) -> Answer:
    """How much of the variance of log errors over datasets features of the shape predict, families left out."""
    table = {
        (row["dataset"], row["domain"]): row for row in kept("features.csv", "benchmarks.private_selection --features")
    }
    rows = [row for d in DIMENSIONS for row in _explained(CatalogueErrors.of(study.private, d), table, d)]
    line = [row["explained"] for row in rows if row["dimensions"] == 1]
    if not line:
        raise Undecided("no data-dependent algorithm was measured on datasets whose features are known")
    many = sum(each >= at["explained"] for each in line)
    words = f"{many} of {len(line)} data-dependent algorithms on a line have {at['explained']} or more explained"
    return Answer(f"{words}; median {float(np.median(line)):.2f}", many >= at["share"] * len(line), rows=rows)


def _explained(
    errors: CatalogueErrors, table: Mapping[tuple[str, str], Mapping[str, str]], dimensions: int
) -> list[dict[str, Any]]:
    """By algorithm: share of the variance that is predicted, and the feature that log errors go with most, by rank."""
    names = [name for name in next(iter(table.values())) if name not in ("dataset", "domain", "family")]
    algorithms = errors.kinds(dependent=True)
    left, total = np.zeros(len(algorithms)), np.zeros(len(algorithms))
    correlations: list[Floats] = []
    for domain in errors.domains:
        datasets, logs = _by_dataset(errors, domain, algorithms)
        kept_rows = [at for at, dataset in enumerate(datasets) if (dataset, domain) in table]
        own, logs = [table[datasets[at], domain] for at in kept_rows], logs[kept_rows]
        families = np.array([row["family"] for row in own])
        if len(set(families.tolist())) < 3:
            continue
        known = np.array([[float(row[each]) for each in names] for row in own])
        for family in dict.fromkeys(families.tolist()):
            out = families == family
            predicted, middle = _predicted(known[~out], logs[~out], known[out])
            left += ((logs[out] - predicted) ** 2).sum(axis=(0, 1))
            total += ((logs[out] - middle) ** 2).sum(axis=(0, 1))
        correlations.append(_rank_correlations(known, logs))
    if not correlations:
        return []
    mean = np.mean(correlations, axis=0)
    most = np.abs(mean).argmax(axis=0)
    return [
        {"dimensions": dimensions, "algorithm": name, "explained": float(1 - left[at] / total[at])}
        | {"goes with": f"{names[most[at]]} ({mean[most[at], at]:+.2f})"}
        for at, name in enumerate(algorithms)
        if np.isfinite(left[at]) and total[at] > 0
    ]


def _by_dataset(errors: CatalogueErrors, domain: str, algorithms: tuple[str, ...]) -> tuple[list[str], Floats]:
    """Log errors at a domain: ``(datasets, scales, algorithms)``; NaN where something was not measured."""
    here = errors.place("domain") == domain
    datasets, rows = np.unique(errors.place("dataset")[here].astype(str), return_inverse=True)
    scales, columns = np.unique(errors.scales[here], return_inverse=True)
    logs = np.full((len(datasets), len(scales), len(algorithms)), np.nan)
    logs[rows, columns] = np.log(errors.mean[here][:, [errors.names.index(name) for name in algorithms]])
    return datasets.tolist(), logs


def _predicted(known: Floats, logs: Floats, others: Floats) -> tuple[Floats, Floats]:
    """A ridge regression's values for other datasets, and the mean of those that it learned from."""
    middle, spread = known.mean(axis=0), known.std(axis=0) + 1e-9
    scaled, mean = (known - middle) / spread, logs.mean(axis=0)
    weights = np.linalg.solve(scaled.T @ scaled + RIDGE * np.eye(known.shape[1]), scaled.T)
    return np.asarray(mean + np.tensordot((others - middle) / spread @ weights, logs - mean, axes=1)), mean


def _rank_correlations(known: Floats, logs: Floats) -> Floats:
    """Rank correlation of every feature with log errors, mean over scales: ``(features, algorithms)``."""
    ranks = [np.argsort(np.argsort(each, axis=0), axis=0) - (len(each) - 1) / 2 for each in (known, logs)]
    both = np.tensordot(ranks[0].T, ranks[1], axes=1)
    return np.asarray(both.mean(axis=1) / (ranks[0][:, 0] ** 2).sum())


def ingredients(study: Study, at: Numbers) -> Answer:
    """What each ingredient of Cascade gives, by dataset, at weak signal and at all."""
    rows: list[dict[str, Any]] = []
    for d in DIMENSIONS:
        errors = CatalogueErrors.of(study.private, d)
        datasets = errors.place("dataset")
        weak = EPSILON * errors.scales <= at["signal"] * (1 + 1e-9)
        for dataset in sorted(set(datasets.tolist())):
            own = datasets == dataset
            row: dict[str, Any] = {"dataset": dataset, "dimensions": d}
            row |= {f"{name}, weak": errors.ratio(over, under, own & weak) for name, over, under in STEPS}
            row |= {name: errors.ratio(over, under, own) for name, over, under in STEPS}
            rows.append(row)
    names = [name for name, _, _ in STEPS]
    first = [min(names, key=lambda name, row=row: row[f"{name}, weak"]) for row in rows]  # type: ignore[misc]
    share = first.count("non-negativity") / len(rows)
    typical = ", ".join(
        f"{name} {float(np.exp(np.mean([np.log(row[f'{name}, weak']) for row in rows]))):.2f}" for name in names
    )
    words = f"non-negativity gives most on {100 * share:.0f} % of {len(rows)} datasets; at weak signal {typical}"
    return Answer(words, share >= at["share"], quantities={n: first.count(n) for n in names}, rows=rows)


# --- 2: algorithm selection --------------------------------------------------------------------------


def _held(risk: str = "mean") -> dict[int, Mapping[str, Any]]:
    """How good the advice was on families left out of the study."""
    return {d: experience.shipped()["held"][str(d)][risk] for d in DIMENSIONS}


def advice_regret(_study: Study, at: Numbers) -> Answer:
    """The regret of ``dpbench recommend`` on families left out."""
    found = {d: float(each["regret"]) for d, each in _held().items()}
    words = ", ".join(f"{d}-D {regret:.2f}" for d, regret in found.items())
    holds = all(regret <= at[str(d)] for d, regret in found.items())
    return Answer(words, holds, quantities={f"{d}-D": regret for d, regret in found.items()})


def private_selection(_study: Study, at: Numbers) -> Answer:
    """The regret of a selection that looks at the data, beside that of the advice."""
    rows = kept("selection.csv", "benchmarks.private_selection")
    found = {(row["dimensions"], row["rule"]): float(row["regret"]) for row in rows}
    pairs = {d: (found[str(d), "private selection"], found[str(d), "advice"]) for d in DIMENSIONS}
    words = ", ".join(f"{d}-D {own:.2f}, the advice {advice:.2f}" for d, (own, advice) in pairs.items())
    return Answer(words, all(own >= at["factor"] * advice for own, advice in pairs.values()), rows=rows)


# --- 3: error bounds ---------------------------------------------------------------------------------


def interval_coverage(_study: Study, at: Numbers) -> Answer:
    """How often Cascade's intervals of nominal 90 % held."""
    rows = coverage()
    if not rows:
        raise Undecided("no coverage was measured; python -m benchmarks.coverage measures it")
    by: dict[tuple[int, str], list[float]] = {}
    for row in rows:
        by.setdefault((row["domain"].count("x") + 1, row["dataset"]), []).append(float(row["calibrated"]))
    datasets = [{"dimensions": d, "dataset": name, "held": float(np.mean(own))} for (d, name), own in by.items()]
    means = {d: float(np.mean([x for (own, _), each in by.items() if own == d for x in each])) for d in DIMENSIONS}
    lowest = min(datasets, key=lambda row: row["held"])  # type: ignore[arg-type, return-value]
    words = ", ".join(f"{d}-D {mean:.0f} %" for d, mean in means.items())
    words += f"; lowest {lowest['dataset']} {lowest['held']:.0f} %"
    holds = min(means.values()) >= at["mean"] and float(lowest["held"]) >= at["dataset"]  # type: ignore[arg-type]
    return Answer(words, holds, quantities={f"{d}-D": mean for d, mean in means.items()}, rows=datasets)


def bounds_before(_study: Study, at: Numbers) -> Answer:
    """How often the intervals of the advice held on families left out."""
    found = _held()
    words = "; ".join(
        f"{d}-D interval {100 * each['interval']:.0f} %, bad run {100 * each['bad_run']:.0f} %, high over low "
        f"{each['width']:.1f}" for d, each in found.items()
    )  # fmt: skip
    holds = all(e["interval"] >= at["interval"] and e["bad_run"] >= at["bad_run"] for e in found.values())
    return Answer(words, holds, quantities={f"{d}-D": each for d, each in found.items()})


# --- 4: parameter tuning -----------------------------------------------------------------------------


def training(study: Study, at: Numbers) -> Answer:
    """What parameters trained on synthetic shapes gain on the paper's datasets, and what is left to hindsight."""
    trained = {
        (row["algorithm"], int(row["scale"])): json.loads(row["parameters"])
        for row in kept("trained_parameters.csv", "benchmarks.trained_parameters")
    }
    means = mean_errors(study.published.suite("parameters"))
    rows = []
    for name, default in DEFAULTS.items():
        tried = {text: at_place for (own, text), at_place in means.items() if own == name}
        by_values = {tuple(sorted((default | json.loads(text)).items())): each for text, each in tried.items()}
        places = set.intersection(*(set(each) for each in by_values.values())) if by_values else set()
        usual, best, learned = [], [], []
        for place in sorted(places):
            values = trained.get((name, round(place[2] * place[4] / EPSILON)))
            chosen = by_values.get(tuple(sorted((default | values).items()))) if values else None
            if chosen is None:
                continue
            learned.append(np.log(chosen[place]))
            usual.append(np.log(by_values[tuple(sorted(default.items()))][place]))
            best.append(min(np.log(each[place]) for each in by_values.values()))
        if not learned:
            raise Undecided(f"{name} was not measured with the parameters that were trained")
        gap = float(np.mean(np.subtract(usual, best)))
        gain = float(np.mean(np.subtract(usual, learned)))
        rows.append(
            {
                "algorithm": name,
                "default over hindsight": float(np.exp(gap)),
                "default over trained": float(np.exp(gain)),
            }
            | {"trained over hindsight": float(np.exp(gap - gain)), "closed": gain / gap, "settings": len(learned)}
        )
    closed: dict[str, float] = {str(row["algorithm"]): float(row["closed"]) for row in rows}  # type: ignore[arg-type]
    words = ", ".join(
        f"{row['algorithm']} {row['closed']:.2f} of a gap of {row['default over hindsight']:.2f}" for row in rows
    )
    holds = all(closed[n] >= at["closed"] for n in at["more"]) and all(closed[n] < at["closed"] for n in at["less"])
    return Answer(f"closed: {words}", holds, quantities=closed, rows=rows)


# --- 5: expected error against variability -----------------------------------------------------------


def steady(study: Study, at: Numbers) -> Answer:
    """The 95th percentile of the algorithm with the least mean over the least one; and of each over its mean."""
    ratios, spreads = [], []
    for d in DIMENSIONS:
        errors = CatalogueErrors.of(study.private, d)
        chosen = np.nanargmin(errors.mean, axis=1)
        tail = errors.percentile[np.arange(len(chosen)), chosen]
        ratios.append(tail / np.nanmin(errors.percentile, axis=1))
        over = errors.percentile / errors.mean
        spreads += [
            {"dimensions": d, "algorithm": name, "95th percentile over mean": float(np.nanmedian(over[:, column]))}
            | {"most": float(np.nanmax(over[:, column]))}
            for column, name in enumerate(errors.names) if np.isfinite(over[:, column]).any()
        ]  # fmt: skip
    both = np.concatenate(ratios)
    share = float((both <= at["near"]).mean())
    own = [row["95th percentile over mean"] for row in spreads if row["algorithm"] == LEADER]
    words = f"within {at['near']} in {100 * share:.0f} % of {len(both)} settings, at most {float(both.max()):.2f}"
    words += f"; {LEADER}'s 95th percentile is {' and '.join(f'{each:.2f}' for each in own)} of its mean" if own else ""
    return Answer(words, share >= at["share"], rows=spreads)


def averaging(_study: Study, at: Numbers) -> Answer:
    """The average of four runs at a quarter of epsilon beside one run, on synthetic shapes."""
    rows = kept("averaging.csv", "benchmarks.averaging")
    runs = [row for row in rows if row["what"] == "four runs"]
    tails = {(row["algorithm"], row["dimensions"]): float(row["percentile"]) for row in runs}
    helped = [f"{name} {d}-D {tail:.2f}" for (name, d), tail in tails.items() if tail < at["factor"]]
    middle = float(np.median(list(tails.values())))
    words = (
        f"95th percentile of the average over that of one run: {min(tails.values()):.2f} to {max(tails.values()):.2f}"
    )
    return Answer(f"{words}, median {middle:.2f}, {len(tails)} cases", not helped, ", ".join(helped), rows=rows)


def caution(_study: Study, at: Numbers) -> Answer:
    """What choosing by the 95th percentile costs in the mean and buys in the 95th percentile, on families left out."""
    mean, careful = _held("mean"), _held("p95")
    cost = {d: careful[d]["mean"] / mean[d]["mean"] for d in DIMENSIONS}
    gain = {d: careful[d]["percentile"] / mean[d]["percentile"] for d in DIMENSIONS}
    words = ", ".join(f"{d}-D mean {cost[d]:.3f}, 95th percentile {gain[d]:.3f}" for d in DIMENSIONS)
    holds = max(cost.values()) <= at["mean"] and min(gain.values()) >= at["percentile"]
    return Answer(words, holds, quantities={"mean": cost, "95th percentile": gain})


DECIDING: Mapping[str, Decide] = {
    "one technique": one_technique,
    "features": features,
    "ingredients": ingredients,
    "advice": advice_regret,
    "private selection": private_selection,
    "coverage": interval_coverage,
    "bounds before the data": bounds_before,
    "training": training,
    "steady and accurate": steady,
    "averaging": averaging,
    "caution": caution,
}


def verdicts(study: Study, wanted: Callable[[str], bool] = lambda _: True) -> list[Verdict]:
    """A verdict on every hypothesis."""
    return decided(study, DECIDING, wanted)
