"""Findings 6 to 10: tuning, variability, bias, and whether simple baselines would have served."""

from __future__ import annotations

from functools import partial

import numpy as np
from numpy.typing import NDArray

from dpbench.interpreting import baselines, bias_shares, competitive_sets
from dpbench.paper.error_panel import TASKS, Panel
from dpbench.paper.findings_inputs import RATIO_WITHIN, SMALLEST, winners
from dpbench.paper.reported import PLOTTED, numbers
from dpbench.paper.resampling import TIMES, deviations
from dpbench.paper.study import Part
from dpbench.paper.tables import in_form
from dpbench.paper.verdict import Answer, Claim, Undecided, close
from dpbench.repair.tuning_findings import MeanErrors, RoundsRatio, Scenario, TuningSpread, ratios_of, spreads_of
from dpbench.results import Results

TUNED = {"DAWA": 2.5, "MWEM": 7.5, "AHP": 7.5}
BIASED = ("MWEM", "MWEM*", "PHP", "Uniform")
RISKY = (("PATENT", 10**3), ("MD-SAL", 10**5), ("TRACE", 10**7))


def mean_errors(results: Results) -> MeanErrors:
    """Mean errors by algorithm and parameters, then by place."""
    who = results.rows("algorithm", "parameters")
    where = results.rows("dataset", "domain", "scale", "workload", "epsilon")
    means = zip(results.whole.tolist(), results.measured.mean.tolist(), strict=True)
    found: dict[tuple[str, str], dict[Scenario, float]] = {}
    for algorithm, place, (whole, mean) in zip(who, where, means, strict=True):
        if whole:
            found.setdefault(algorithm, {})[place] = mean
    return found


def tuning(part: Part) -> Answer:
    """Finding 6: worst over best error on MEDCOST at 10^5 among parameters that are the best in some scenario."""
    ratios = {name: each.ratio for name, each in _tuning(part).items()}
    words = ", ".join(f"{name} {ratio:.1f}" for name, ratio in ratios.items())
    return Answer(words, min(ratios.values()) > 1.5, quantities=ratios)


def tuning_of(part: Part, name: str) -> Answer:
    """The same for one algorithm."""
    found = _tuning(part)[name]
    holds, by = close(found.ratio, TUNED[name], RATIO_WITHIN)
    best, worst = (
        each.strip("{}").replace('"', "").replace(": ", " ") or "defaults" for each in (found.best, found.worst)
    )
    words = f"{found.ratio:.1f}: best with {best}, worst with {worst} of {found.tried} tried"
    return Answer(words, holds, by, {"ratio": found.ratio, "the best somewhere": found.optimal_somewhere})


def _tuning(part: Part) -> dict[str, TuningSpread]:
    found = part.once("tuning", lambda: spreads_of(mean_errors(part.suite("parameters")), "MEDCOST", 10**5))
    here = {each.algorithm: each for each in found if each.domain == "4096"}
    for name in TUNED:
        if name not in here:
            raise Undecided(f"{name} was not run with several parameters on MEDCOST at 10^5 and 4096")
    return {name: here[name] for name in TUNED}


def _ratios(part: Part, plain: str, trained: str) -> dict[int, RoundsRatio]:
    panel = part.panel(1)
    chosen = partial(panel.results.where, algorithm=[plain, trained])
    found = part.once(f"{plain} over {trained}", lambda: ratios_of(mean_errors(chosen()), plain, trained))
    whole = {each.scale: each for each in found if each.datasets == len(panel.wanted)}
    if not whole:
        raise Undecided(
            f"{plain} and {trained} were not measured on all {len(panel.wanted)} datasets at {panel.domain}"
        )
    return whole


def training_helps(part: Part) -> Answer:
    """Finding 7: MWEM with trained rounds is much better at large scales."""
    found = _ratios(part, "MWEM", "MWEM*")
    large = [each.ratio_of_means for scale, each in found.items() if scale >= 10**6]
    words = ", ".join(f"{scale:.0e}: {each.ratio_of_means:.2f}" for scale, each in found.items())
    if not large:
        raise Undecided("MWEM and MWEM* were not measured at 10^6 or above")
    rows = [{"scale": scale, "ratio of means": e.ratio_of_means, "mean of ratios": e.mean_of_ratios}
            for scale, e in found.items()]  # fmt: skip
    return Answer(words, min(large) > 2 and large == sorted(large), rows=rows)


def rounds_ratio(part: Part, scale: int, theirs: float) -> Answer:
    """MWEM over MWEM* at one scale, as ratio of means and as mean of ratios; the nearer one decides."""
    found = _ratios(part, "MWEM", "MWEM*")
    return _either(found, scale, theirs)


def _either(found: dict[int, RoundsRatio], scale: int, theirs: float) -> Answer:
    if scale not in found:
        raise Undecided(f"not measured on all datasets at scale {scale:.0e}")
    both = (found[scale].ratio_of_means, found[scale].mean_of_ratios)
    nearer = min(both, key=lambda each: abs(np.log(each / theirs)))
    holds, by = close(nearer, theirs, RATIO_WITHIN)
    words = f"{both[0]:.2f} (ratio of means), {both[1]:.2f} (mean of ratios)"
    return Answer(words, holds, by, {"ratio of means": both[0], "mean of ratios": both[1]})


def ahp_ratio(part: Part) -> Answer:
    """AHP over AHP* at 10^7."""
    return _either(_ratios(part, "AHP", "AHP*"), 10**7, 1.03)


def _risk(panel: Panel) -> Results:
    return panel.part(TASKS[panel.dimensions].generator.scales)


def best_columns(results: Results) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The column with the least mean, and with the least 95th percentile, of each place."""
    measured, grid = results.measured, results.grid
    best = [np.nanargmin(grid.spread(each), axis=1) for each in (measured.mean, measured.percentile)]
    return best[0], best[1]


def risk_matters(part: Part) -> Answer:
    """Finding 8: the algorithm with the least mean error is not always that with the least 95th percentile."""
    parts = []
    for dimensions in (1, 2):
        mean, tail = best_columns(_risk(part.panel(dimensions)))
        parts.append((int((mean != tail).sum()), len(mean)))
    words = ", ".join(f"{d}-D: another one in {n} of {of}" for d, (n, of) in zip((1, 2), parts, strict=True))
    return Answer(
        words, parts[0][0] > 0 and parts[0][0] < parts[0][1] / 2, quantities={"1-D": parts[0], "2-D": parts[1]}
    )


def dawa_not_for_the_careful(part: Part) -> Answer:
    """Scale and dataset pairs where DAWA has the least mean error and not the least 95th percentile."""
    results = _risk(part.panel(1))
    names = part.panel(1).names
    dawa = next(number for number, label in enumerate(results.grid.labels) if names[label] == "DAWA")

    def careless(each: Results) -> NDArray[np.bool_]:
        mean, tail = best_columns(each)
        return np.asarray(((mean == dawa) & (tail != dawa))[:, None])

    ours, deviation = float(careless(results).sum()), deviations(results, careless)[0]
    allowed = max(TIMES * deviation, 1.0)
    why = "" if abs(ours - 10) <= allowed else f"{ours - 10:+.0f}, another run would differ by {deviation:.1f}"
    return Answer(f"{ours:.0f} pairs", bool(abs(ours - 10) <= allowed), why, {"pairs": ours, "deviation": deviation})


def careful_choice(part: Part, dataset: str, scale: int) -> Answer:
    """Whether an algorithm that is not competitive by mean has the least 95th percentile, and is Uniform or Hb."""
    panel = part.panel(1)
    for name in PLOTTED[1]:
        panel.number(name, dataset, scale)
    chosen = panel.results.where(algorithm=list(PLOTTED[1]), scale=scale, dataset=dataset)
    sets, (_, tail) = competitive_sets(chosen), best_columns(chosen)
    least = panel.names[chosen.grid.labels[int(tail[0])]]
    member = bool(sets.members[0, int(tail[0])])
    competitive = [
        panel.names[label] for label, in_set in zip(sets.grid.labels, sets.members[0], strict=True) if in_set
    ]
    words = f"least 95th percentile: {least}; competitive by mean: {', '.join(competitive)}"
    return Answer(words, not member and least in {"Uniform", "Hb"}, quantities={"least": least})


def shares(part: Part, dimensions: int, scale: int) -> dict[str, float]:
    """Mean share of bias in the squared error at one scale, by algorithm."""
    panel = part.panel(dimensions)
    chosen = panel.part([scale])
    return {panel.names[each.algorithm]: each.share for each in bias_shares(chosen)}


def bias_dominates(part: Part) -> Answer:
    """Finding 9: at the largest scale the error of MWEM, MWEM*, PHP and Uniform is mostly bias."""
    scale = max(part.panel(1).scales)
    if scale < 10**7:
        raise Undecided(f"nothing was measured above scale {scale:.0e}")
    found = shares(part, 1, scale)
    words = ", ".join(f"{name} {100 * found[name]:.0f} %" for name in BIASED) + f" at {scale:.0e}"
    consistent = [name for name in BIASED if in_form(name, part.setting).consistent]
    why = f"stated as consistent: {', '.join(consistent)}" if consistent else ""
    return Answer(words, all(found[name] > 0.5 for name in BIASED) and not consistent, why, found)


def identity_beats(part: Part, dimensions: int, scale: int) -> dict[str, float]:
    """Algorithms that Identity beats on average over datasets, significantly so, with the ratio of errors."""
    panel = part.panel(dimensions)
    found = baselines(panel.part([scale]), ("Identity",))
    level = 0.05 / (len(PLOTTED[dimensions]) - 1)
    return {panel.names[e.algorithm]: e.ratio for e in found
            if e.ratio > 1 and e.p_value < level and panel.names[e.algorithm] != "Uniform"}  # fmt: skip


def ruled_out(part: Part, dimensions: int, scale: int, theirs: tuple[str, ...]) -> Answer:
    """The set of algorithms that Identity rules out."""
    ours = identity_beats(part, dimensions, scale)
    wrong = [f"also {name}" for name in sorted(set(ours) - set(theirs))]
    wrong += [f"not {name}" for name in sorted(set(theirs) - set(ours))]
    words = ", ".join(f"{name} ({ratio:.2g})" for name, ratio in ours.items()) or "none"
    return Answer(words, not wrong, ", ".join(wrong), ours)


def baselines_matter(part: Part) -> Answer:
    """Finding 10: Identity beats many at large scales, and Uniform is the best on some 1-D dataset at 10^3."""
    beaten = {d: identity_beats(part, d, s) for d, s in ((1, 10**7), (2, 10**8))}
    uniform = winners(part.panel(1), SMALLEST).count("Uniform")
    words = ", ".join(f"{d}-D: Identity beats {len(names)}" for d, names in beaten.items())
    holds = all(len(names) >= 3 for names in beaten.values()) and uniform > 0
    return Answer(
        f"{words}; Uniform is the best on {uniform} 1-D datasets at 10^3", holds, quantities={"1-D": beaten[1]}
    )


def claims() -> list[Claim]:
    """Findings 6 to 10, each with its numbers."""
    head = partial(Claim, headline=True)
    found = [
        head("finding 6", "improper tuning skews an evaluation", "Finding 6", "worst over best 2.5 to 7.5", tuning),
        *(Claim("finding 6", f"{name}: worst over best on MEDCOST, 10^5", "text, tuning", f"about {value}",
                partial(tuning_of, name=name)) for name, value in TUNED.items()),
        head("finding 7", "training improves MWEM, most at large scales", "Finding 7", "yes", training_helps),
        *(Claim("finding 7", f"MWEM over MWEM* at {float(scale):.0e}", "table of error ratios", str(value),
                partial(rounds_ratio, scale=int(scale), theirs=value)) for scale, value in numbers()["rounds"].items()),
        Claim("finding 7", "AHP over AHP* at 10^7", "text, tuning", "1.03", ahp_ratio),
        head("finding 8", "risk-averse users choose differently", "Finding 8", "sometimes", risk_matters),
        Claim("finding 8", "DAWA best by mean, not by 95th percentile, 1-D", "text, variability", "10 pairs",
              dawa_not_for_the_careful),
        *(Claim("finding 8", f"{dataset} at {scale:.0e}: the least 95th percentile is not competitive by mean",
                "text, variability", "Uniform or Hb", partial(careful_choice, dataset=dataset, scale=scale))
          for dataset, scale in RISKY),
        head("finding 9", "bias dominates inconsistent algorithms at large scales", "Finding 9",
             "MWEM, MWEM*, PHP, Uniform", bias_dominates),
        head("finding 10", "many do not beat simple baselines", "Finding 10", "Identity at large, Uniform at small",
             baselines_matter),
    ]  # fmt: skip
    for key, theirs in numbers()["identity_beats"].items():
        dimensions, scale = (int(each) for each in key.split())
        found.append(
            Claim("finding 10", f"Identity beats on average, {dimensions}-D, {scale:.0e}", "text, baselines",
                  ", ".join(theirs), partial(ruled_out, dimensions=dimensions, scale=scale, theirs=tuple(theirs)))
        )  # fmt: skip
    return found
