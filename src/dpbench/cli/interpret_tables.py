"""The rows of ``dpbench interpret`` as tables for people."""

from __future__ import annotations

from collections.abc import Callable
from math import isnan
from typing import Any

from dpbench.cli.text_tables import short_scale, write_pivot, write_table
from dpbench.standards import Standards
from dpbench.store.setting_key import BUDGET, budget_words

Row = dict[str, Any]
Rows = list[Row]
Table = Callable[[Rows, Standards], None]


def _groups(rows: Rows) -> dict[str, Rows]:
    """Rows by what one table is about."""
    seeds = {row["seed"] for row in rows}
    groups: dict[str, Rows] = {}
    for row in rows:
        seed = f", seed {row['seed']}" if len(seeds) > 1 else ""
        budget = [row[name] for name in BUDGET]
        groups.setdefault(f"{row['workload']} on {row['domain']}, {budget_words(*budget)}{seed}", []).append(row)
    return groups


def _write_pivots(rows: Rows, what: str, cell: Callable[[Row], str], note: str, by: str = "") -> None:
    """One table for each workload, domain and budget, and for each value of ``by`` in it."""
    for title, group in _groups(rows).items():
        for part in dict.fromkeys(row[by] for row in group) if by else ("",):
            cells = {(row["algorithm"], row["scale"]): cell(row) for row in group if not by or row[by] == part}
            write_pivot(f"{title}: {what}{part}", cells, note)


def _errors(rows: Rows, standards: Standards) -> None:
    kept = " ± its standard error" if any(not isnan(row["standard_error"]) for row in rows) else ""
    note = f"mean over datasets{kept}, sd of one trial, {standards.percentile_words} (p)"
    _write_pivots(rows, standards.error_words, _error, note)


def _error(row: Row) -> str:
    failed = f" ({row['failed']} failed)" if row["failed"] else ""
    known = row["mean"] > 0 and not isnan(row["standard_error"])
    spread = f"{row['mean']:.2e}" + (f" ±{row['standard_error'] / row['mean']:.0%}" if known else "")
    return f"{spread} sd {row['deviation']:.1e} p{row['percentile_level']:g} {row['percentile']:.1e}{failed}"


def _counts(rows: Rows, standards: Standards) -> None:
    """On how many datasets an algorithm is competitive, among which algorithms, by which test, at which level."""
    from dpbench.interpreting import find_test
    from dpbench.interpreting.competitiveness import family_words

    for title, group in _groups(rows).items():
        number: dict[tuple[str, int], int] = {}
        missing: dict[tuple[str, int], int] = {}
        for row in group:
            key = (row["algorithm"], row["scale"])
            number[key] = number.get(key, 0) + row["competitive"]
            missing[key] = missing.get(key, 0) + bool(row["missing"])
        datasets = len({row["dataset"] for row in group})
        shown = {
            key: (str(count) if count else "-") + (f" ({missing[key]} missing)" if 0 < missing[key] < datasets else "")
            for key, count in number.items()
            if missing[key] < datasets
        }
        test = find_test(group[0]["test"])
        family = family_words((row["compared"] for row in group), test.words, standards.alpha)
        winners = {name for (name, _), text in shown.items() if text != "-"}
        write_pivot(
            f"{title}: competitive by {test.measure_words(standards)}",
            {key: text for key, text in shown.items() if key[0] in winners},
            f"datasets of {datasets}; {family}",
        )


def _baselines(rows: Rows, standards: Standards) -> None:
    if not rows:
        write_table("baselines", ["none of these is in the results:", *standards.baselines], [])
    note = (
        f"below 1: beats the baseline; ~ not significant at {standards.alpha:g}; on so many datasets significantly "
        f"better (+) or worse (-)"
    )
    _write_pivots(rows, f"mean {standards.error_words} over that of ", _baseline, note, by="baseline")


def _baseline(row: Row) -> str:
    mark = "" if row["p_value"] < row["alpha"] else "~"
    return f"{row['ratio']:.3g}{mark} (+{row['better']} -{row['worse']})"


def _regret(rows: Rows, standards: Standards) -> None:
    for title, group in _groups(rows).items():
        overall = {row["algorithm"]: row for row in group if "scale" not in row}
        by_scale = {(row["algorithm"], row["scale"]): f"{row['regret']:.2f}" for row in group if "scale" in row}
        scales = sorted({scale for _, scale in by_scale})
        lines = []
        for name, row in overall.items():
            interval = "" if isnan(row["low"]) else f"{row['low']:.2f} to {row['high']:.2f}"
            lacks = f"{row['settings']}" + (f", lacks {row['missing']}" if row["missing"] else "")
            scaled = [by_scale.get((name, scale), "-") for scale in scales]
            lines.append([name, f"{row['regret']:.2f}", interval, *scaled, lacks])
        heads = ["algorithm", "regret", "95 %", *map(short_scale, scales), "settings"]
        note = f"geometric mean of {standards.error_words} over the best; interval by resampling datasets; by scale"
        write_table(f"{title}: regret", heads, lines, note)


def _limits(rows: Rows, standards: Standards) -> None:
    """Errors over the limit, after the limit itself and the best known strategy."""
    from dpbench.measuring.yardstick import CONVERSION, limit_words

    if not rows:
        write_table(f"no limit is known by the loss {standards.loss}, or for these workloads", [""], [])
    for title, group in _groups(rows).items():
        cells = {("limit itself", row["scale"]): f"{row['limit']:.2e}" for row in group}
        best = f"best known: {group[0]['strategy']}"
        cells |= {(best, row["scale"]): f"{row['best'] / row['limit']:.3g}" for row in group}
        cells |= {(row["algorithm"], row["scale"]): f"{row['over_limit']:.3g}" for row in group}
        note = f"{limit_words(group[0]['noise'])}\n{CONVERSION}"
        write_pivot(f"{title}: mean {standards.error_words} over the limit", cells, note)


def _bias(rows: Rows, _: Standards) -> None:
    note = "mean over datasets and the largest; corrected for the number of trials"
    _write_pivots(rows, "share of bias in the squared error", _share, note)


def _share(row: Row) -> str:
    return f"{max(row['share'], 0.0):.0%} (at most {max(row['largest'], 0.0):.0%})"


def _people(rows: Rows, standards: Standards) -> None:
    from dpbench.interpreting import PER_QUERY

    if not rows:
        write_table(f"errors in records are not known by the loss {standards.loss}, or for these workloads", [""], [])
        return
    note = f"{PER_QUERY[standards.loss].words} over queries; bad run: {standards.percentile_words}"
    _write_pivots(rows, "error of a query in records", _in_records, note)


def _in_records(row: Row) -> str:
    return f"{row['records']:,.0f} ({row['percent']:.2g} %), bad run {row['bad_records']:,.0f}"


def _time(rows: Rows, _: Standards) -> None:
    """Seconds by algorithm and domain for each number of axes, the most expensive algorithm first."""
    for axes in dict.fromkeys(row["domain"].count("x") + 1 for row in rows):
        here = [row for row in rows if row["domain"].count("x") + 1 == axes]
        domains = list(dict.fromkeys(row["domain"] for row in here))
        spent: dict[str, dict[str, Row]] = {}
        for row in here:
            spent.setdefault(row["algorithm"], {})[row["domain"]] = row
        total = {name: sum(row["seconds"] for row in by_domain.values()) for name, by_domain in spent.items()}
        lines = [
            [
                name,
                *(f"{spent[name][domain]['seconds']:.1f}" if domain in spent[name] else "-" for domain in domains),
                f"{total[name]:.1f}",
                f"{sum(row['share'] for row in spent[name].values()):.1%}",
                f"{1000 * total[name] / max(1, sum(row['trials'] for row in spent[name].values())):.2f}",
            ]
            for name in sorted(total, key=lambda name: -total[name])
        ]
        heads = ["algorithm", *domains, "all", "share", "ms per trial"]
        note = f"{sum(total.values()) / 60:.1f} minutes of one core; data vectors, answers and losses come on top"
        write_table(f"{axes}-D: seconds of processor time in algorithms", heads, lines, note)


TABLES: dict[str, Table] = {
    "errors": _errors,
    "competitive": _counts,
    "risk": _counts,
    "baselines": _baselines,
    "regret": _regret,
    "limits": _limits,
    "bias": _bias,
    "people": _people,
    "time": _time,
}
