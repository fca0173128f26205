"""All that advice is made from, as plain values: a page does in a browser what :mod:`dpbench.advice.advisor` does."""

from __future__ import annotations

from math import isfinite, sqrt
from typing import Any

from dpbench import algorithms
from dpbench.advice import advisor, experience
from dpbench.data_independent import expected_errors
from dpbench.domain import Domain
from dpbench.releasable import RELEASED


def carried() -> dict[str, Any]:
    """Plain values for JSON: the study, condensed, what was tried besides, and errors that depend on no data.

    The sizes are those of the study: for others, errors that depend on no data would have to be worked out.
    """
    study, tried = experience.shipped(), experience.shipped(experience.TRIED)
    menu = set(algorithms.ours())
    return {
        "experience": {at: _of_the_menu(known, menu) for at, known in study["experience"].items()},
        **{name: study[name] for name in ("widening", "rounding", "held")},
        "after": tried["after"],
        "unseen": tried.get("unseen", {}),
        "fixed": {
            str(size): _fixed(size, menu) for at in study["experience"] for size in experience.sizes_with_runs(int(at))
        },
        "released": list(RELEASED),
        "words": {"whatever": advisor.WHATEVER, "next": advisor.NEXT},
        "factors": {
            "belief": experience.BELIEF,
            "clearly": experience.CLEARLY,
            "nearly": advisor.NEARLY,
            "longest": advisor.LONGEST_TO_SHORTEST,
        },
    }


def _of_the_menu(known: dict[str, Any], menu: set[str]) -> dict[str, Any]:
    return known | {
        part: {name: values for name, values in known[part].items() if name in menu} for part in ("mean", "bad")
    }


def _fixed(size: Domain, menu: set[str]) -> list[dict[str, Any]]:
    """The algorithms whose error depends on no data, the best first, at epsilon 1, with a bad run where one is kept."""
    known = [row for row in expected_errors(advisor.usual(size), 1) if row.algorithm in menu and isfinite(row.error)]
    runs = (experience.runs_at_epsilon_1(size, row.algorithm) for row in known)
    return [
        {"algorithm": row.algorithm, "error": sqrt(row.error), "bad_run": run and run["bad_run"]}
        for row, run in zip(known, runs, strict=True)
    ]
