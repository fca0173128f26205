"""The options that say how errors are read, for every verb that reads results."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from os import PathLike

    from dpbench.results import Results

NAMES = ("loss", "percentile", "alpha", "test")
"""Options that are the standard of the same name; baselines are several."""


def add_standards(parser: argparse.ArgumentParser) -> None:
    """Add the options; each one replaces what the plan of the study says."""
    add = parser.add_argument_group("standards, in place of those of the study").add_argument
    add("--loss", metavar="NAME", help="the loss whose errors are read: L2, L1, Linf, relative:floor=0.01, ...")
    add("--percentile", type=float, metavar="P", help="the percentile that stands beside the mean, such as 95")
    add("--alpha", type=float, metavar="A", help="the level at which two errors count as different, such as 0.05")
    add("--baseline", action="append", default=[], metavar="NAME", help="an algorithm to beat; may be repeated")
    add("--test", metavar="NAME", help="the test of which algorithms are competitive: unpaired, paired, ...")


def given_standards(chosen: argparse.Namespace) -> dict[str, Any]:
    """The standards that were asked for, by name."""
    from dpbench.loss import label_of

    given: dict[str, Any] = {name: getattr(chosen, name) for name in NAMES if getattr(chosen, name) is not None}
    if "loss" in given:
        given["loss"] = label_of(given["loss"])
    return given | ({"baselines": tuple(dict.fromkeys(chosen.baseline))} if chosen.baseline else {})


def open_results(path: str | PathLike[str], chosen: argparse.Namespace) -> Results:
    """A store or a summary, by the standards that were asked for, and by its own where nothing was."""
    from dpbench.results import Results

    return read_by_options(Results.open(path, **given_standards(chosen)), chosen)


def read_by_options(results: Results, chosen: argparse.Namespace) -> Results:
    """The results by the standards that were asked for, and by their own where nothing was."""
    from dataclasses import replace

    from dpbench.interpreting import find_test

    given = given_standards(chosen)
    standards = replace(results.standards, **given)
    find_test(standards.test)
    _refuse_absent(results, given.get("baselines", ()))
    return results.read_by(standards)


def say_what_is_kept(results: Results) -> None:
    """One line on stderr where results have three numbers per setting by their loss, and no single trials."""
    from dpbench.results.loss_summaries import summary_words

    if not results.single_trials:
        sys.stderr.write(f"dpbench: {summary_words(results.standards.loss)}\n")


def _refuse_absent(results: Results, baselines: tuple[str, ...]) -> None:
    from dpbench.errors import UnknownName

    if not baselines:
        return
    there = list(dict.fromkeys([*results.columns["algorithm"].tolist(), *results.grid.labels]))
    for name in baselines:
        if name not in there:
            raise UnknownName.among("algorithm in these results", name, there)
