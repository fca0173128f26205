"""The paper's three tables and its regrets."""

from __future__ import annotations

from math import log10
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpbench import algorithms, datasets
from dpbench.algorithm import Algorithm
from dpbench.errors import UnknownName
from dpbench.interpreting import competitive_sets, regret
from dpbench.paper.error_panel import TASKS
from dpbench.paper.reported import PLOTTED, measured_properties, numbers
from dpbench.paper.resampling import TIMES, deviations
from dpbench.paper.study import Part
from dpbench.paper.verdict import Answer, Claim, Undecided, close
from dpbench.repair.starred import Starred
from dpbench.results import Results

REGRET_WITHIN = log10(1.1)
"""A regret counts as reproduced within a tenth of itself."""
_PROPERTIES = ("hierarchical", "partitioning", "dimensions", "side information", "consistent", "exchangeable")


def table_1(part: Part) -> Answer:
    """What the catalogue states of every algorithm, and what was measured of it, in the form that the setting runs."""
    rows: list[dict[str, Any]] = []
    for name, says in numbers()["table1"].items():
        ours = _properties(name, part.setting)
        for what, theirs, own in zip(_PROPERTIES, says, ours, strict=True):
            if not _agree(theirs, own):
                rows.append({"algorithm": name, "property": what, "paper": theirs or "-", "ours": own or "-"})
    cells = len(numbers()["table1"]) * len(_PROPERTIES)
    why = "; ".join(f"{row['algorithm']} {row['property']}: {row['ours']} for {row['paper']}" for row in rows)
    return Answer(f"{cells - len(rows)} of {cells} cells agree", not rows, why, {"cells": cells}, rows)


def in_form(name: str, setting: str) -> Algorithm:
    """An algorithm of the catalogue in the form that a setting runs."""
    try:
        return algorithms.get(name, variant=setting)
    except UnknownName as unknown:
        raise Undecided(str(unknown)) from None


def _properties(name: str, setting: str) -> tuple[Any, ...]:
    algorithm = in_form(name, setting)
    measured = measured_properties()
    # where a form has no row of its own it is the private one
    behaviour = measured.get((name, setting)) or measured.get((name, "private"))
    if behaviour is None:
        raise Undecided(f"the properties of {name} were not measured; dpbench properties measures them")
    estimated = isinstance(algorithm, Starred) and setting == "private"
    return (
        "X" if algorithm.hierarchical else "",
        "X" if algorithm.partitioning else "",
        list(algorithm.dimensions or ()),
        "" if estimated else " ".join(algorithm.side_information),
        *behaviour,
    )


def _agree(theirs: Any, ours: Any) -> bool:
    """A cell that the paper marks as partly so, or so under a condition, agrees with either answer.

    Its stars: QuadTree is inconsistent on domains larger than any of the study, SF consistent with counts in its bins.
    """
    reserved = isinstance(theirs, str) and theirs.endswith(("~", "*"))
    return reserved or bool(ours == theirs)


def table_2(_part: Part) -> Answer:
    """Scale and share of zero cells of the 27 histograms, as printed and as in the files."""
    rows: list[dict[str, Any]] = []
    for name in (*TASKS[1].datasets, *TASKS[2].datasets):
        known = datasets.get(name)
        printed, zero = known.paper_scale, known.paper_percent_zero
        rows.append(
            {
                "dataset": name,
                "scale, paper": printed,
                "scale, file": known.scale,
                "% zero, paper": zero,
                "% zero, file": known.percent_zero,
                "agrees": known.scale == printed and zero is not None and abs(known.percent_zero - zero) < 0.015,
            }
        )
    wrong = [row for row in rows if not row["agrees"]]
    scales = [row["dataset"] for row in rows if row["scale, paper"] != row["scale, file"]]
    why = f"scale of {', '.join(scales)}; zero cells of {', '.join(row['dataset'] for row in wrong)}" if wrong else ""
    return Answer(f"{len(rows) - len(wrong)} of {len(rows)} rows agree in both columns", not wrong, why, {}, rows)


def table_3(part: Part, dimensions: int, scale: int) -> Answer:
    """On how many datasets each algorithm is competitive, by mean error, among the algorithms of Figure 1.

    The paper tests at 0.05 / (n - 1) for the n algorithms being compared, and says before its figures that from there
    on it keeps two data-independent algorithms, Identity and Hb: its Figure 1 shows 11. Among all that we have, GreedyH
    and, in 2-D, AHP* would be competitive on some dataset; the paper's table has neither.
    """
    panel = part.panel(dimensions)
    chosen = panel.part([scale])
    labels = chosen.grid.labels

    def members(results: Results) -> NDArray[np.bool_]:
        return competitive_sets(results).members

    ours, spread = members(chosen).sum(axis=0), deviations(chosen, members)
    says = numbers()["table3"][str(dimensions)]
    column = says["scales"].index(scale)
    rows: list[dict[str, Any]] = []
    for label, count, deviation in zip(labels, ours, spread, strict=True):
        name = panel.names[label]
        theirs = says[name][column] if name in says else 0
        allowed = max(TIMES * deviation, 1.0)
        rows.append(
            {
                "algorithm": name,
                "paper": theirs,
                "ours": int(count),
                "within": round(float(allowed), 1),
                "agrees": bool(abs(count - theirs) <= allowed),
            }
        )
    shown = sorted((row for row in rows if row["ours"]), key=lambda row: -row["ours"])
    wrong = [f"{row['algorithm']} {row['ours']} for {row['paper']}" for row in rows if not row["agrees"]]
    words = ", ".join(f"{row['algorithm']} {row['ours']}" for row in shown)
    quantities = {"datasets": len(panel.wanted), "algorithms": len(labels)}
    return Answer(words, not wrong, ", ".join(wrong), quantities, rows)


def regrets(part: Part, dimensions: int) -> Answer:
    """The lowest regret and the next, over all datasets and the six scales at the domain of the figures."""
    panel = part.panel(dimensions)
    found = regret(panel.part(TASKS[dimensions].generator.scales))
    rows: list[dict[str, Any]] = [
        {"algorithm": panel.names[each.algorithm], "regret": each.regret, "low": each.low, "high": each.high}
        for each in found
    ]
    ours = {row["algorithm"]: row["regret"] for row in rows}
    says = numbers()["regret"][str(dimensions)]
    wrong = []
    if list(ours)[:2] != list(says):
        wrong.append(f"lowest are {', '.join(list(ours)[:2])}")
    for name, theirs in says.items():
        fits, by = close(ours[name], theirs, REGRET_WITHIN)
        wrong += [] if fits else [f"{name} {by}"]
    words = ", ".join(f"{row['algorithm']} {row['regret']:.2f}" for row in rows[:3])
    return Answer(words, not wrong, "; ".join(wrong), {"regret": ours}, rows)


def _says(dimensions: int, scale: int) -> str:
    says = numbers()["table3"][str(dimensions)]
    column = says["scales"].index(scale)
    counts = {name: says[name][column] for name in PLOTTED[dimensions] if name in says and says[name][column]}
    return ", ".join(f"{name} {count}" for name, count in sorted(counts.items(), key=lambda each: -each[1]))


def claims() -> list[Claim]:
    """Tables 1 to 3 and the regrets."""
    found = [
        Claim("table 1", "properties of 18 algorithms", "Table 1", "18 rows of 6 properties", table_1),
        Claim("table 2", "scale and zero cells of 27 datasets", "Table 2", "27 rows", table_2, fixed=True),
    ]
    for dimensions in (1, 2):
        found += [
            Claim(
                "table 3",
                f"{dimensions}-D, scale {scale:.0e}: datasets on which an algorithm is competitive "
                f"among the {len(PLOTTED[dimensions])} of Figure 1, level 0.05/{len(PLOTTED[dimensions]) - 1}",
                "Table 3",
                _says(dimensions, scale),
                lambda part, dimensions=dimensions, scale=scale: table_3(part, dimensions, scale),  # type: ignore[misc]
            )
            for scale in numbers()["table3"][str(dimensions)]["scales"]
        ]
        says = numbers()["regret"][str(dimensions)]
        found.append(
            Claim(
                "finding 5",
                f"regret in {dimensions}-D, lowest and next",
                "text, state of the art",
                ", ".join(f"{name} {value}" for name, value in says.items()),
                lambda part, dimensions=dimensions: regrets(part, dimensions),  # type: ignore[misc]
            )
        )
    return found
