"""``dpbench interpret``: what the results of a study say."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from dpbench.cli.arguments import add_json, add_verb, write_json
from dpbench.cli.standards import add_standards, given_standards, read_by_options, say_what_is_kept

if TYPE_CHECKING:
    from dpbench.cli.arguments import Subparsers
    from dpbench.results import Results

Rows = list[dict[str, Any]]
CHOICES = ("errors", "competitive", "risk", "baselines", "regret", "limits", "bias", "people", "time")

_ABOUT = """\
Say what the results of a study mean. A study is a store, or a summary file of one. Errors are read by the loss, the
percentile, the level, the baselines and the test that the plan of the study names, or that you name here.

  errors       mean error with its standard error, deviation and percentile
  competitive  on how many datasets an algorithm is the best, or not significantly worse
  risk         the same by the percentile, for a user who avoids risk
  baselines    error over that of each baseline
  regret       what it costs to use one algorithm everywhere
  limits       error over the limit that no unbiased strategy is below, with the best known strategy beside it
  bias         which share of the squared error is bias
  people       errors of a query in records and in percent of the data
  time         processor time by algorithm and domain
"""


def add_parser(subparsers: Subparsers) -> None:
    """Add ``interpret``."""
    parser = add_verb(
        subparsers,
        "interpret",
        "what the results of a study say",
        _ABOUT,
        "dpbench interpret dpbench-store/demo --what competitive\n"
        "  dpbench interpret study.parquet --what regret --domain 4096 --json\n"
        "  dpbench interpret results --what risk --percentile 90 --alpha 0.01\n"
        "  dpbench interpret results --csv settings.csv",
    )
    add = parser.add_argument
    add("study", metavar="STORE|SUMMARY.parquet", help="a store, or a summary file")
    add("--what", choices=(*CHOICES, "all"), default="all", help="which tables (all)")
    add_json(parser)
    add("--csv", metavar="FILE", help="write the rows of --what here; with all: one row per setting with all measures")
    add("--summary", metavar="FILE.parquet", help="write the chosen results as a summary file")
    many: dict[str, Any] = {"action": "append", "default": []}
    add("--algorithm", metavar="NAME", help="only this algorithm; may be repeated", **many)
    add("--dataset", metavar="NAME", help="only this dataset; may be repeated", **many)
    add("--domain", metavar="N|NxM", help="only this domain; may be repeated", **many)
    add("--scale", type=float, metavar="N", help="only this scale; may be repeated", **many)
    add("--epsilon", type=float, metavar="E", help="only this epsilon; may be repeated", **many)
    add("--variant", choices=("private", "published"), help="only this form")
    add("--paired", action="store_true", help="the same as --test paired: compare on common data vectors")
    add_standards(parser)
    parser.set_defaults(run=run_interpret)


def run_interpret(chosen: argparse.Namespace) -> int:
    """Print, or write, the tables that were asked for."""
    from dpbench.results import Results, export_csv
    from dpbench.results.csv_file import write_rows

    chosen.test = chosen.test or ("paired" if chosen.paired else None)
    opened = Results.open(chosen.study, **given_standards(chosen))
    results = read_by_options(select(opened, chosen), chosen)
    whats = [what for what in CHOICES if results.single_trials or what != "risk"]
    whats = whats if chosen.what == "all" else [chosen.what]
    if chosen.summary:
        results.write(chosen.summary)
    if chosen.csv:
        if chosen.what == "all":
            export_csv(results, chosen.csv)
        else:
            write_rows(chosen.csv, rows_of(chosen.what, results))
    elif chosen.json:
        rows = {what: _plain(rows_of(what, results)) for what in whats}
        write_json(rows)
    else:
        from dpbench.cli.interpret_tables import TABLES

        for what in whats:
            TABLES[what](rows_of(what, results), results.standards)
    say_what_is_kept(results)
    for failure, number in _failures(results).items():
        sys.stderr.write(f"dpbench: {number} settings with failures are not compared: {failure}\n")
    return 0


def select(results: Results, chosen: argparse.Namespace) -> Results:
    """The results that the options leave; none is an error."""
    from dpbench.errors import InvalidInput

    wanted = {name: getattr(chosen, name) for name in ("algorithm", "dataset", "domain", "scale", "epsilon", "variant")}
    kept = results.where(**{name: value for name, value in wanted.items() if value})
    if not len(kept):
        raise InvalidInput(f"{chosen.study} has no results that fit; `dpbench store info` says what a store holds")
    return kept


def rows_of(what: str, results: Results) -> Rows:
    """The rows of one table, each with the standards that it was made by."""
    make, used = ROWS[what]
    standards = results.standards
    known = {
        "loss": standards.loss,
        "percentile_level": standards.percentile,
        "alpha": standards.alpha,
        "test": standards.test,
    }
    return [{**{name: known[name] for name in used}, **row} for row in make(results)]


def _competitive(results: Results, test: str | None = None) -> Rows:
    from dpbench.interpreting import competitive_sets

    sets = competitive_sets(results, test)
    compared = sets.compared
    rows = []
    for number, place in enumerate(sets.grid.places):
        for column, label in enumerate(sets.grid.labels):
            reason = sets.causes.get((number, column), "")
            rows.append(
                {
                    **place._asdict(),
                    "algorithm": label,
                    "score": float(sets.score[number, column]),
                    "p_value": float(sets.p_values[number, column]),
                    "compared": int(compared[number]),
                    "level": float(sets.levels[number]),
                    "best": column == int(sets.best[number]),
                    "competitive": bool(sets.members[number, column]),
                    "missing": reason,
                    "test": sets.test.name,
                }
            )
    return rows


def _regret(results: Results) -> Rows:
    from dpbench.interpreting import regret
    from dpbench.store.setting_key import Group

    parts = Group._fields
    found = [*regret(results, parts), *regret(results, (*parts, "scale"))]
    return [{**dict(each.where), **{k: v for k, v in asdict(each).items() if k != "where"}} for each in found]


def _dataclasses(name: str) -> Callable[[Results], Rows]:
    def rows(results: Results) -> Rows:
        from dpbench import interpreting

        return [asdict(each) for each in getattr(interpreting, name)(results)]

    return rows


def _baselines(results: Results) -> Rows:
    from dpbench.interpreting import baselines

    return [{**asdict(each), "beats": each.beats} for each in baselines(results)]


def _limits(results: Results) -> Rows:
    from dpbench.interpreting import above_limits
    from dpbench.yardsticks import yardsticks

    found = above_limits(results, yardsticks(results)) if results.standards.loss == "L2" else []
    return [{**asdict(each), "over_limit": each.over_limit, "over_best": each.over_best} for each in found]


ROWS: dict[str, tuple[Callable[[Results], Rows], tuple[str, ...]]] = {
    "errors": (_dataclasses("error_cells"), ("loss", "percentile_level")),
    "competitive": (_competitive, ("loss", "percentile_level", "alpha")),
    "risk": (lambda results: _competitive(results, "percentile"), ("loss", "percentile_level", "alpha")),
    "baselines": (_baselines, ("loss", "alpha", "test")),
    "regret": (_regret, ("loss",)),
    "limits": (_limits, ("loss",)),
    "bias": (_dataclasses("bias_shares"), ()),
    "people": (_dataclasses("in_records"), ("loss", "percentile_level")),
    "time": (_dataclasses("time_spent"), ()),
}
"""How the rows of each table are made, and which standards they are made by."""


def _failures(results: Results) -> dict[str, int]:
    from collections import Counter

    columns = results.columns
    failed = [number for number, count in enumerate(columns["failed"].tolist()) if count]
    return dict(Counter(f"{results.labels[number]}: {columns['failure'][number]}" for number in failed))


def _plain(rows: Rows) -> Rows:
    """Rows as JSON can hold them: what is not known, and a part of a budget that does not apply, is null."""
    from dpbench.store.files import known
    from dpbench.store.setting_key import BUDGET

    return [
        {name: known(value) if value or name not in BUDGET else None for name, value in row.items()} for row in rows
    ]
