"""Findings 1, 2, 3 and 5: what scale and shape do to error, and which algorithm is the best where."""

from __future__ import annotations

from functools import partial

import numpy as np

from dpbench.paper.error_panel import Panel
from dpbench.paper.reported import INDEPENDENT, dependent, numbers
from dpbench.paper.study import Part
from dpbench.paper.verdict import Answer, Claim, close

SMALLEST = 10**3
LARGE = {1: 10**7, 2: 10**8}
"""Scales of the last panels of Figures 1a and 1b."""
RATIO_WITHIN = 0.10
"""A ratio of errors counts as reproduced within so much of its log10, as a row of Figure 1 does."""
ALMOST_ALL = 0.75


def advantage(panel: Panel, scale: int) -> tuple[float, str]:
    """Mean error over datasets of the best data-independent algorithm over that of the best data-dependent one."""
    fixed = min(panel.average(name, scale) for name in INDEPENDENT)
    means = {name: panel.average(name, scale) for name in dependent(panel.dimensions)}
    best = min(means, key=means.__getitem__)
    return fixed / means[best], best


def data_dependence_helps(part: Part) -> Answer:
    """Finding 1: at the smallest scale the best data-dependent algorithm beats the best data-independent one."""
    found = {f"{d}-D": advantage(part.panel(d), SMALLEST) for d in (1, 2)}
    words = ", ".join(f"{where} {factor:.2f} ({name})" for where, (factor, name) in found.items())
    return Answer(words, all(factor > 1 for factor, _ in found.values()), quantities=found)


def advantage_is(part: Part, dimensions: int, scale: int, theirs: float) -> Answer:
    """A factor by which data-dependence helps."""
    factor, name = advantage(part.panel(dimensions), scale)
    holds, by = close(factor, theirs, RATIO_WITHIN)
    return Answer(f"{factor:.2f} ({name})", holds, by, {"factor": factor, "algorithm": name})


def beat_hb_somewhere(part: Part) -> Answer:
    """How many data-dependent algorithms beat Hb on at least one dataset, and by how much at best."""
    never, most, number = [], 0.0, 0
    for dimensions in (1, 2):
        panel, scale = part.panel(dimensions), numbers()["table3"][str(dimensions)]["scales"][0]
        for name in dependent(dimensions):
            gain = float((panel.each("Hb", scale) / panel.each(name, scale)).max())
            number, most = number + 1, max(most, gain)
            never += [f"{name} {dimensions}-D"] if gain <= 1 else []
    words = f"{number - len(never)} of {number} beat Hb somewhere, at best {most:.1f} times"
    return Answer(words, len(never) <= (1 - ALMOST_ALL) * number, f"never: {', '.join(never)}" if never else "",
                  {"never": never, "largest factor": most})  # fmt: skip


def data_dependence_hurts(part: Part) -> Answer:
    """Finding 2: at large scales almost all data-dependent algorithms lose to Hb on average over datasets."""
    lost, number = [], 0
    for dimensions, scale in LARGE.items():
        panel = part.panel(dimensions)
        hb = panel.average("Hb", scale)
        names = [name for name in dependent(dimensions) if name != "QuadTree"]
        number += len(names)
        lost += [f"{name} {dimensions}-D" for name in names if panel.average(name, scale) > hb]
    return Answer(f"{len(lost)} of {number} lose to Hb", len(lost) >= ALMOST_ALL * number, quantities={"lose": lost})


def who_beats_hb(part: Part, dimensions: int, low: int, high: int) -> Answer:
    """On which datasets a data-dependent algorithm has a lower mean error than Hb at a large scale.

    QuadTree is left out: its leaves are single cells at this domain, so it is data-independent, as the paper says.
    """
    panel, scale = part.panel(dimensions), LARGE[dimensions]
    names = [name for name in dependent(dimensions) if name != "QuadTree"]
    better = {name: panel.each(name, scale) < panel.each("Hb", scale) for name in names}
    who = {name: int(each.sum()) for name, each in better.items() if each.any()}
    number = int(np.any(list(better.values()), axis=0).sum())
    allowed = {"DAWA", "AHP*", "AHP"}
    others = sorted(set(who) - allowed)
    names = [f"{name} on {count}" for name, count in who.items()]
    words = f"{', '.join(names) or 'none'}; {number} datasets of {len(panel.wanted)}"
    wrong = [f"also {', '.join(others)}"] if others else []
    wrong += [] if low <= number <= high else [f"{number} datasets, not {low} to {high}"]
    return Answer(words, not wrong, "; ".join(wrong), {"algorithms": who, "datasets": number})


def spread(panel: Panel, algorithm: str, scale: int) -> float:
    """Highest over lowest error over datasets."""
    each = panel.each(algorithm, scale)
    return float(each.max() / each.min())


def spreads(panel: Panel) -> dict[str, float]:
    """Geometric mean over the scales of Figure 1 of each data-dependent algorithm's spread, the least first."""
    scales = numbers()["table3"][str(panel.dimensions)]["scales"]
    found = {
        name: float(np.exp(np.mean([np.log(spread(panel, name, scale)) for scale in scales])))
        for name in dependent(panel.dimensions)
    }
    return dict(sorted(found.items(), key=lambda each: each[1]))


def shape_matters(part: Part) -> Answer:
    """Finding 3: most data-dependent algorithms vary by shape, and no one of them is the best on all shapes."""
    found = {dimensions: spreads(part.panel(dimensions)) for dimensions in (1, 2)}
    ratios = {f"{name} {dimensions}-D": value for dimensions, each in found.items() for name, value in each.items()}
    vary = [name for name, ratio in ratios.items() if ratio >= 2]
    best = set(winners(part.panel(1), SMALLEST))
    words = f"{len(vary)} of {len(ratios)} vary by 2 or more; {len(best)} different best algorithms at 10^3 in 1-D"
    return Answer(words, len(vary) > len(ratios) / 2 and len(best) > 1, quantities=ratios)


def winners(panel: Panel, scale: int) -> list[str]:
    """The algorithm with the least mean error on each dataset."""
    table = panel.table(scale)
    return [list(table)[int(number)] for number in np.argmin(list(table.values()), axis=0)]


def efpa_spread(part: Part, theirs: float) -> Answer:
    """Highest over lowest error of EFPA at the smallest scale."""
    ratio = spread(part.panel(1), "EFPA", SMALLEST)
    holds, by = close(ratio, theirs, RATIO_WITHIN)
    return Answer(f"{ratio:.1f}", holds, by, {"ratio": ratio})


def least_variation(part: Part) -> Answer:
    """SF and DAWA vary least over shapes in 1-D."""
    found = spreads(part.panel(1))
    words = ", ".join(f"{name} {ratio:.1f}" for name, ratio in found.items())
    return Answer(words, set(list(found)[:2]) == {"SF", "DAWA"}, f"least: {', '.join(list(found)[:2])}", found)


def dawa_varies_in_2d(part: Part) -> Answer:
    """DAWA varies much over shapes in 2-D: more than in 1-D, and more than half of the others."""
    line, plane = spreads(part.panel(1))["DAWA"], spreads(part.panel(2))
    middle = float(np.median(list(plane.values())))
    words = f"{plane['DAWA']:.1f} in 2-D (median {middle:.1f}), {line:.1f} in 1-D"
    return Answer(words, plane["DAWA"] > max(line, middle), quantities={"1-D": line, "2-D": plane})


def different_winners(part: Part) -> Answer:
    """How many algorithms are the best on some dataset at 10^3 in 1-D."""
    best = winners(part.panel(1), SMALLEST)
    counts = {name: best.count(name) for name in dict.fromkeys(best)}
    words = f"{len(counts)}: " + ", ".join(f"{name} {number}" for name, number in counts.items())
    return Answer(words, len(counts) == 4, f"{len(counts)} instead of 4" if len(counts) != 4 else "", counts)


def easy_and_hard(part: Part) -> Answer:
    """EFPA is good on BIDS-ALL and bad on TRACE, MWEM the reverse."""
    panel = part.panel(1)
    ratio = {name: panel.mean(name, "TRACE", SMALLEST) / panel.mean(name, "BIDS-ALL", SMALLEST)
             for name in ("EFPA", "MWEM")}  # fmt: skip
    words = ", ".join(f"{name}: TRACE {value:.2f} times BIDS-ALL" for name, value in ratio.items())
    return Answer(words, ratio["EFPA"] > 1 > ratio["MWEM"], quantities=ratio)


def agrid_where_dawa_fails(part: Part) -> Answer:
    """Where DAWA is worse than Hb at 10^4 in 2-D, AGrid is better than both."""
    panel = part.panel(2)
    dawa, agrid, hb = (panel.each(name, 10**4) for name in ("DAWA", "AGrid", "Hb"))
    bad = dawa > hb
    good = bad & (agrid < np.minimum(dawa, hb))
    words = f"AGrid beats both on {int(good.sum())} of the {int(bad.sum())} datasets where DAWA loses to Hb"
    return Answer(words, None if not bad.any() else bool(good.sum() >= ALMOST_ALL * bad.sum()), quantities={})


def no_winner(part: Part) -> Answer:
    """Finding 5: no algorithm is competitive everywhere; only data-dependent ones at small scales, Hb at large."""
    everywhere: list[str] = []
    small: list[str] = []
    for dimensions in (1, 2):
        panel = part.panel(dimensions)
        says = numbers()["table3"][str(dimensions)]["scales"]
        counts = [panel.counts(panel.competitive(scale)) for scale in says]
        everywhere += [n for n in counts[0] if all(count[n] == len(panel.wanted) for count in counts)]
        small += [name for name in INDEPENDENT if counts[0][name]]
    words = f"competitive everywhere: {', '.join(everywhere) or 'none'}; data-independent at the small scale: "
    return Answer(words + (", ".join(small) or "none"), not everywhere and not small)


def competitive_somewhere(part: Part, dimensions: int) -> Answer:
    """Which algorithms are competitive on some dataset at some scale of Table 3."""
    panel, says = part.panel(dimensions), numbers()["table3"][str(dimensions)]
    counts = [panel.counts(panel.competitive(scale)) for scale in says["scales"]]
    ours = {name for count in counts for name, number in count.items() if number}
    theirs = set(says) - {"scales"}
    wrong = [f"also {name}" for name in sorted(ours - theirs)] + [f"not {name}" for name in sorted(theirs - ours)]
    return Answer(f"{len(ours)}: {', '.join(sorted(ours))}", not wrong, ", ".join(wrong), {"algorithms": sorted(ours)})


def claims() -> list[Claim]:
    """Findings 1, 2, 3 and 5, each with its numbers."""
    text = "text, impact of input properties"
    head = partial(Claim, headline=True)
    return [
        head("finding 1", "data-dependence helps at small scales", "Finding 1", "yes, in 1-D and 2-D",
             data_dependence_helps),
        Claim("finding 1", "best data-dependent over best data-independent, 1-D, 10^3", text, "2.47",
              partial(advantage_is, dimensions=1, scale=SMALLEST, theirs=2.47)),
        Claim("finding 1", "best data-dependent over best data-independent, 2-D, smallest scale", text, "3.10",
              partial(advantage_is, dimensions=2, scale=SMALLEST, theirs=3.10)),
        Claim("finding 1", "at small scales almost every data-dependent algorithm beats Hb somewhere", text,
              "almost all, sometimes by 10 times", beat_hb_somewhere),
        head("finding 2", "data-dependence hurts at large scales", "Finding 2", "almost all lose to Hb",
             data_dependence_hurts),
        Claim("finding 2", "algorithms that beat Hb at 10^7 in 1-D", text, "DAWA and AHP*, on a couple of datasets",
              partial(who_beats_hb, dimensions=1, low=1, high=4)),
        Claim("finding 2", "algorithms that beat Hb at 10^8 in 2-D", text, "DAWA and AHP*, on about half of 9",
              partial(who_beats_hb, dimensions=2, low=3, high=6)),
        head("finding 3", "error varies with shape, differently for each algorithm", "Finding 3", "yes", shape_matters),
        Claim("finding 3", "EFPA's highest over lowest error at 10^3", text, "24.88",
              partial(efpa_spread, theirs=24.88)),
        Claim("finding 3", "algorithms that vary least in 1-D", text, "SF and DAWA", least_variation),
        Claim("finding 3", "DAWA varies much in 2-D", text, "yes", dawa_varies_in_2d),
        Claim("finding 3", "algorithms that are the best on some dataset, 1-D, 10^3", "Figure 2a", "4",
              different_winners),
        Claim("finding 3", "EFPA: BIDS-ALL easy, TRACE hard; MWEM: the reverse", text, "yes", easy_and_hard),
        Claim("finding 3", "AGrid does well in 2-D where DAWA does badly", text, "yes", agrid_where_dawa_fails),
        head("finding 5", "no algorithm wins everywhere", "Finding 5", "none; small scales: data-dependent ones only",
             no_winner),
        Claim("finding 5", "algorithms competitive somewhere, 1-D", text, "8 of Table 3",
              partial(competitive_somewhere, dimensions=1)),
        Claim("finding 5", "algorithms competitive somewhere, 2-D", text, "5 of Table 3",
              partial(competitive_somewhere, dimensions=2)),
    ]  # fmt: skip
