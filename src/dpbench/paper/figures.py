"""The paper's figures: errors beside the values of the authors' own plots, and what their code says of differences."""

from __future__ import annotations

from math import log10
from typing import Any

import numpy as np

from dpbench.paper.error_panel import Panel
from dpbench.paper.reported import Point, authors_code, plotted, points
from dpbench.paper.study import Part
from dpbench.paper.verdict import Answer, Claim, Undecided

NEAR, FAR = 0.10, 0.20
SHARED_NOISE = 0.15
"""The authors shared a few noise vectors between all settings: where error is noise alone, plots are off by this."""


def figure_1(part: Part) -> Answer:
    """Mean error over datasets of 11 algorithms at 3 scales, in 1-D and 2-D: 66 rows."""
    wanted = [point for name in ("1a", "1b") for point in points(name)]
    rows, missing = _rows(part, wanted)
    if missing:
        return _incomplete(rows, missing)
    near = sum(abs(row["difference"]) <= row["tolerance"] for row in rows)
    far = sum(abs(row["difference"]) <= max(row["tolerance"], FAR) for row in rows)
    holds = near >= 50 and far >= 60
    within = f"{NEAR:.2f} ({SHARED_NOISE:.2f} where the error is noise alone)"
    words = f"{near} of {len(rows)} rows within {within}, {far} within {FAR:.2f} of log10 error"
    exceptions = [row for row in rows if abs(row["difference"]) > row["tolerance"]]
    return Answer(words, holds, _exceptions(exceptions), {"within 0.10": near, "within 0.20": far}, rows)


def figure_2(part: Part, figure: str) -> Answer:
    """Mean error on every dataset at one scale."""
    rows, missing = _rows(part, points(figure))
    if missing:
        return _incomplete(rows, missing)
    near = sum(abs(row["difference"]) <= FAR for row in rows)
    words = f"{near} of {len(rows)} points within {FAR:.2f} of log10 error"
    exceptions = [row for row in rows if abs(row["difference"]) > FAR]
    return Answer(words, near >= 0.8 * len(rows), _exceptions(exceptions), {"within 0.20": near}, rows)


def _rows(part: Part, wanted: tuple[Point, ...] | list[Point]) -> tuple[list[dict[str, Any]], list[str]]:
    rows, missing = [], []
    for point in wanted:
        try:
            rows.append(_row(part.panel(point.dimensions, point.domain), point))
        except Undecided as reason:
            missing.append(str(reason))
    return rows, missing


def _row(panel: Panel, point: Point) -> dict[str, Any]:
    named = (point.algorithm, point.dataset, point.scale)
    error = panel.mean(*named) if point.dataset else panel.average(point.algorithm, point.scale)
    ours = log10(error)
    difference = ours - point.log10_error
    tolerance = SHARED_NOISE if _noise_alone(point) else NEAR
    outside = abs(difference) > (FAR if point.dataset else tolerance)
    return {
        "figure": point.figure,
        "scale": point.scale,
        "dataset": point.dataset or "mean",
        "algorithm": point.algorithm,
        "plot": point.log10_error,
        "ours": round(ours, 3),
        "difference": round(difference, 3),
        "tolerance": tolerance,
        "authors' code": _side(panel, point, difference) if outside else "",
    }


def _noise_alone(point: Point) -> bool:
    """Identity, and UGrid where the plot shows it at Identity's error: its grid is single cells."""
    identity = plotted(point.figure).get(("Identity", point.dataset, point.scale))
    value = 10**point.log10_error
    return point.algorithm in {"Identity", "UGrid"} and identity is not None and abs(value / identity - 1) < 0.01


def _side(panel: Panel, point: Point, difference: float) -> str:
    """Whether the authors' released code is nearer to our error or to the plot, on the datasets that it was run on."""
    names = [point.dataset] if point.dataset else panel.wanted
    code = authors_code()
    keys = [(point.algorithm, panel.domain, name, point.scale) for name in names]
    found = [code[key] for key in keys if key in code]
    if not found:
        return "was not run there"
    ours = np.mean([panel.mean(each.algorithm, each.dataset, each.scale) for each in found])
    offset = float(log10(ours / np.mean([each.mean for each in found])))
    nearer = "sides with us" if abs(offset) < abs(difference - offset) else "sides with the plot"
    return f"{nearer} ({-offset:+.2f} from ours on {len(found)} dataset{'s' * (len(found) > 1)})"


def _exceptions(rows: list[dict[str, Any]]) -> str:
    with_us = sum(row["authors' code"].startswith("sides with us") for row in rows)
    with_plot = sum(row["authors' code"].startswith("sides with the plot") for row in rows)
    if not rows:
        return ""
    return f"{len(rows)} outside: the authors' released code sides with us in {with_us}, with the plot in {with_plot}"


def _incomplete(rows: list[dict[str, Any]], missing: list[str]) -> Answer:
    words = f"{len(rows)} of {len(rows) + len(missing)} values were measured"
    return Answer(words, None, missing[0], {"missing": len(missing)}, rows)


def claims() -> list[Claim]:
    """Figures 1a with 1b, 2a and 2b."""
    found = [
        Claim("figure 1", "mean error over datasets", "Figures 1a and 1b", "66 values of log10 error", figure_1),
    ]
    for figure, where in (("2a", "1-D, 4096, scale 10^3"), ("2b", "2-D, 128x128, scale 10^4")):
        found.append(
            Claim(
                "figure 2",
                f"error on every dataset, {where}",
                f"Figure {figure}",
                f"{len(points(figure))} values of log10 error",
                lambda part, figure=figure: figure_2(part, figure),  # type: ignore[misc]
            )
        )
    return found
