"""Where the paper's text and the authors' plots come from different runs and disagree: which one ours supports."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from math import log

import numpy as np

from dpbench.paper.findings_inputs import RATIO_WITHIN, SMALLEST, advantage_is, efpa_spread
from dpbench.paper.findings_practice import identity_beats, rounds_ratio, ruled_out
from dpbench.paper.reported import DOMAINS, INDEPENDENT, dependent, numbers, plotted
from dpbench.paper.study import Part
from dpbench.paper.verdict import Answer, Claim, close

Decide = Callable[[Part, float], Answer]


def _value(answer: Answer) -> float:
    """The number that an answer rests on."""
    return float(next(value for value in answer.quantities.values() if isinstance(value, int | float)))


def _with_support(decide: Decide, own: float, other: float, names: tuple[str, str], part: Part) -> Answer:
    """A verdict against one source, and which of the two is nearer to ours."""
    answer = decide(part, own)
    ours = _value(answer)
    nearer = names[0] if abs(log(ours / own)) <= abs(log(ours / other)) else names[1]
    return replace(answer, why="; ".join(filter(None, [answer.why, f"ours is nearer to the {nearer}"])))


def _plot_advantage(dimensions: int, scale: int) -> float:
    values = plotted("1a" if dimensions == 1 else "1b")
    least = [min(values[name, "", scale] for name in names) for names in (INDEPENDENT, dependent(dimensions))]
    return least[0] / least[1]


def _plot_spread() -> float:
    errors = [value for (name, _, _), value in plotted("2a").items() if name == "EFPA"]
    return max(errors) / min(errors)


def _plot_rounds(scale: int) -> float:
    values = plotted("1a")
    return values["MWEM", "", scale] / values["MWEM*", "", scale]


def _ratio_of_means(part: Part, theirs: float, scale: int) -> Answer:
    """The plots give means over datasets, so that only the ratio of means can be set against them."""
    answer = rounds_ratio(part, scale, theirs)
    ratio = float(answer.quantities["ratio of means"])
    holds, by = close(ratio, theirs, RATIO_WITHIN)
    return replace(answer, holds=holds, why=by)


def plot_beaten() -> tuple[str, ...]:
    """Algorithms above Identity at 10^5 in Figure 1a."""
    values = plotted("1a")
    limit = values["Identity", "", 10**5]
    return tuple(name for name in dependent(1) if name != "Uniform" and values[name, "", 10**5] > limit)


def beaten_1d(part: Part, own: tuple[str, ...], other: tuple[str, ...]) -> Answer:
    """Algorithms that Identity beats in 1-D at 10^5, against a list, and which list is nearer."""
    answer = ruled_out(part, 1, 10**5, own)
    ours = set(identity_beats(part, 1, 10**5))
    distance = [len(ours ^ set(each)) for each in (own, other)]
    nearer = "this list is nearer" if distance[0] < distance[1] else "the other list is nearer"
    why = "both lists are equally near" if distance[0] == distance[1] else nearer
    return replace(answer, why="; ".join(filter(None, [answer.why, why])))


def ahp_2d(part: Part, *, wins: bool) -> Answer:
    """AHP against Identity in 2-D at 10^8, mean over datasets."""
    panel = part.panel(2, DOMAINS[2])
    one, other = (panel.average(name, 10**8) for name in ("AHP", "Identity"))
    words = f"AHP {np.log10(one):.2f}, Identity {np.log10(other):.2f}"
    return Answer(words, (one < other) == wins, quantities={"ratio": one / other})


def claims() -> list[Claim]:
    """Two claims for each quantity, one against the text and one against the plots."""
    found = []
    said = numbers()["rounds"]
    quantities: list[tuple[str, float, float, Decide]] = [
        ("EFPA's highest over lowest error at 10^3", 24.88, _plot_spread(), efpa_spread),
        *(
            (
                f"MWEM over MWEM* at {scale:.0e}, ratio of means",
                said[str(scale)],
                _plot_rounds(scale),
                partial(_ratio_of_means, scale=scale),
            )
            for scale in (10**3, 10**5)
        ),
        (
            "best data-dependent over Hb, 1-D, 10^3",
            2.47,
            _plot_advantage(1, SMALLEST),
            lambda part, theirs: advantage_is(part, 1, SMALLEST, theirs),
        ),
    ]
    for claim, text, plot, decide in quantities:
        for source, own, other, names in (
            ("text", text, plot, ("text", "plots")),
            ("plots", plot, text, ("plots", "text")),
        ):
            found.append(
                Claim(
                    "text and plots",
                    claim,
                    source,
                    f"{own:.3g}",
                    partial(_with_support, decide, own, other, names),
                )
            )
    plot_2d = _plot_advantage(2, 10**4)
    lists = tuple(numbers()["identity_beats"]["1 100000"]), plot_beaten()
    return [
        *found,
        Claim("text and plots", "best data-dependent over Hb, 2-D, 10^3", "text", "3.10",
              lambda part: advantage_is(part, 2, SMALLEST, 3.10)),
        Claim("text and plots", "best data-dependent over Hb, 2-D, 10^4 (the smallest plotted)", "plots",
              f"{plot_2d:.2f}", lambda part: advantage_is(part, 2, 10**4, plot_2d)),
        *(Claim("text and plots", "Identity beats on average, 1-D, 10^5", source, ", ".join(own),
                lambda part, own=own, other=other: beaten_1d(part, own, other))  # type: ignore[misc]
          for source, own, other in (("text", *lists), ("plots", *lists[::-1]))),
        Claim("text and plots", "Identity against AHP, 2-D, 10^8", "text", "AHP loses",
              lambda part: ahp_2d(part, wins=False)),
        Claim("text and plots", "Identity against AHP, 2-D, 10^8", "plots", "AHP wins",
              lambda part: ahp_2d(part, wins=True)),
    ]  # fmt: skip
