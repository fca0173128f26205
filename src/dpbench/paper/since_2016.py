"""The second block: claims of our own about the ten years since the paper, decided by the private setting."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial
from math import log10

import numpy as np

from dpbench.algorithms import PAPER_ORDER
from dpbench.data_independent import unit_errors
from dpbench.measuring import measure_all
from dpbench.paper.catalogue_errors import CatalogueErrors, Floats, depends_on_data
from dpbench.paper.error_panel import EPSILON
from dpbench.paper.hypotheses import Decide, Numbers, decided
from dpbench.paper.reported import DOMAINS
from dpbench.paper.study import COMMANDS, Study
from dpbench.paper.verdict import Answer, Undecided, Verdict
from dpbench.results import Results
from dpbench.task.parts import WorkloadPart
from dpbench.yardsticks import yardsticks

DIMENSIONS = (1, 2)
LEADER = "Cascade"
DEVIATIONS = 2.0
"""An error is below the limit if it is so by this many standard errors."""


def lowest_regret(study: Study, at: Numbers) -> Answer:
    """Which algorithm has the lowest regret over all domains of a dimension, and by how much."""
    errors = {d: CatalogueErrors.of(study.private, d) for d in DIMENSIONS}
    for each in errors.values():
        each.of_algorithm(LEADER)
    found = {d: each.regrets() for d, each in errors.items()}
    for d, regrets in found.items():
        if len(regrets) < 2:
            raise Undecided(f"fewer than two algorithms have all settings of {d}-D")
    first = {d: list(regrets.items())[:2] for d, regrets in found.items()}
    words = "; ".join(f"{d}-D {a} {own:.2f}, next {b} {next_:.2f}" for d, ((a, own), (b, next_)) in first.items())
    holds = all(a == LEADER and next_ / own >= at["factor"] for (a, own), (_, next_) in first.values())
    names = dict.fromkeys(name for regrets in found.values() for name in regrets)
    rows: list[dict[str, object]] = [
        {"algorithm": name, **{f"{d}-D": found[d].get(name, "") for d in DIMENSIONS}} for name in names
    ]
    return Answer(words, holds, quantities={f"{d}-D": each for d, each in found.items()}, rows=rows)


def by_domain(study: Study, over: str, under: str) -> dict[str, float]:
    """Geometric mean over datasets and scales of one error over another, by domain."""
    found: dict[str, float] = {}
    for d in DIMENSIONS:
        errors = CatalogueErrors.of(study.private, d)
        found |= {each: errors.ratio(over, under, errors.place("domain") == each) for each in errors.domains}
    return found


def by_scale(study: Study, over: str, under: str) -> dict[tuple[int, int], float]:
    """Geometric mean over datasets and domains of one error over another, by dimension and scale."""
    found = {}
    for d in DIMENSIONS:
        errors = CatalogueErrors.of(study.private, d)
        for scale in sorted(set(errors.scales.tolist())):
            found[d, scale] = errors.ratio(over, under, errors.scales == scale)
    return found


def hdmm_over_hb(study: Study, at: Numbers) -> Answer:
    """What HDMM gains over Hb, measured and as expected errors say."""
    measured = by_domain(study, "HDMM", "Hb")
    rows, wrong = [], []
    for domain, ratio in measured.items():
        exact = _exact(study, domain, "HDMM", "Hb")
        rows.append({"domain": domain, "measured": ratio, "by expected errors": exact})
        if ratio >= at["ratio"] or abs(ratio / exact - 1) > at["within"]:
            wrong.append(f"{domain} {ratio:.2f}, expected {exact:.2f}")
    words = ", ".join(f"{domain} {ratio:.2f}" for domain, ratio in measured.items())
    return Answer(words, not wrong, "; ".join(wrong), measured, rows)


def _exact(study: Study, domain: str, over: str, under: str) -> float:
    """The root of a ratio of expected squared errors on the study's workload."""
    errors = CatalogueErrors.of(study.private, domain.count("x") + 1)
    label = str(errors.place("workload")[errors.place("domain") == domain][0])
    units = unit_errors(WorkloadPart.from_label(label).build(domain), "pure")
    return float(np.sqrt(units[over] / units[under]))


def weights(study: Study, at: Numbers) -> Answer:
    """What weights of levels give a tree: HbW over Hb."""
    found = by_domain(study, "HbW", "Hb")
    line, plane = ([r for name, r in found.items() if ("x" in name) == two] for two in (False, True))
    words = ", ".join(f"{domain} {ratio:.2f}" for domain, ratio in found.items())
    more = _geometric(plane) < _geometric(line)
    why = "" if more else "no less in the plane than on a line"
    return Answer(words, max(found.values()) < at["ratio"] and more, why, found)


def ingredient(study: Study, at: Numbers, over: str, under: str) -> Answer:
    """What one ingredient gives, by scale, the domains of a dimension together."""
    found = by_scale(study, over, under)
    rows = [{"dimensions": d, "scale": scale, f"{over} over {under}": ratio} for (d, scale), ratio in found.items()]
    parts = {d: [r for (own, _), r in found.items() if own == d] for d in DIMENSIONS}
    words = "; ".join(f"{d}-D {' '.join(f'{r:.2f}' for r in ratios)}" for d, ratios in parts.items())
    above = [f"{d}-D at {scale:.0e}" for (d, scale), ratio in found.items() if ratio >= at["ratio"]]
    above += [f"{d}-D {r[0]:.2f} at the smallest" for d, r in parts.items() if r[0] > at.get("smallest", np.inf)]
    return Answer(f"by scale from the smallest: {words}", not above, ", ".join(above), rows=rows)


def pure_or_gaussian(study: Study, at: Numbers) -> Answer:
    """The best pure algorithm over the best one with Gaussian noise, where epsilon times records is the same.

    The best is the one with the least geometric mean over datasets and signals of a domain. Errors of both are over the
    number of records, and epsilon times records stands for both by exchangeability.
    """
    results = study.gaussian.results
    if results is None:
        raise Undecided(f"nothing was measured with Gaussian noise; {COMMANDS['gaussian']} measures it")
    rows, wrong = [], []
    for d in DIMENSIONS:
        pure = CatalogueErrors.of(study.private, d)
        for domain in pure.domains:
            both = _common(pure, results, domain)
            if both is None:
                continue
            ours, theirs = (_least(each) for each in both)
            ratio = ours[1] / theirs[1]
            rows.append({"domain": domain, "pure": ours[0], "Gaussian": theirs[0], "pure over Gaussian": ratio})
            if (ratio < at["ratio"]) != (domain in at["pure"]):
                wrong.append(f"{domain} {ratio:.2f}")
    if not rows:
        raise Undecided("no setting was measured with both kinds of noise")
    words = ", ".join(f"{row['domain']} {row['pure over Gaussian']:.2f}" for row in rows)
    return Answer(f"pure over Gaussian: {words}", not wrong, ", ".join(wrong), rows=rows)


def _common(
    pure: CatalogueErrors, gaussian: Results, domain: str
) -> tuple[dict[str, Floats], dict[str, Floats]] | None:
    """Log errors by algorithm on the (dataset, signal) pairs of a domain that both have; only algorithms with all."""
    kept = gaussian.where(domain=domain)
    kept = kept.take(kept.whole & (kept.columns["delta"].astype(float) > 0))
    own: dict[str, dict[tuple[str, int], float]] = {}
    for name, dataset, scale, epsilon, log in zip(
        *(kept.columns[each].tolist() for each in ("algorithm", "dataset", "scale", "epsilon")),
        np.log(kept.measured.mean).tolist(), strict=True,
    ):  # fmt: skip
        own.setdefault(name, {})[dataset, _signal(scale, epsilon)] = log
    here = pure.place("domain") == domain
    places = list(zip(pure.place("dataset")[here].tolist(), pure.scales[here].tolist(), strict=True))
    keys = [(dataset, _signal(scale, EPSILON)) for dataset, scale in places]
    logs = np.log(pure.mean[here])
    laplace = {name: dict(zip(keys, logs[:, column].tolist(), strict=True)) for column, name in enumerate(pure.names)}
    wanted = [key for key in keys if any(key in each for each in own.values())]
    if not wanted:
        return None
    tables = []
    for table in (laplace, own):
        whole = {name: np.array([each.get(key, np.nan) for key in wanted]) for name, each in table.items()}
        tables.append({name: each for name, each in whole.items() if np.isfinite(each).all()})
    return (tables[0], tables[1]) if all(tables) else None


@cache
def _signal(scale: float, epsilon: float) -> int:
    """Epsilon times records, in hundredths of a decade."""
    return round(100 * log10(scale * epsilon))


def _least(errors: Mapping[str, Floats]) -> tuple[str, float]:
    typical = {name: float(np.exp(each.mean())) for name, each in errors.items()}
    best = min(typical, key=typical.__getitem__)
    return best, typical[best]


def beats_the_limit(study: Study, at: Numbers) -> Answer:
    """Which algorithms are below the limit, and how much of their squared error is bias there."""
    shares: dict[str, list[float]] = {}
    for d in DIMENSIONS:
        errors = CatalogueErrors.of(study.private, d)
        results, grid = errors.results, errors.results.grid
        sticks, queries = yardsticks(results), results.columns["queries"]
        squares = measure_all(results.errors**2)
        count = np.maximum(squares.trials, 1)
        spread = np.where(count > 1, squares.deviation, 0.0) * np.sqrt(count - 1) / count
        with np.errstate(invalid="ignore"):
            bias = results.columns["squared_bias"] / (results.columns["squared_bias"] + results.columns["variance"])
        high = grid.spread(squares.mean + DEVIATIONS * spread)
        known = grid.spread(np.where(results.whole, bias, np.nan))
        for row, (place, numbers) in enumerate(zip(grid.places, grid.index, strict=True)):
            stick = sticks.get(place.group)
            if stick is None:
                continue
            limits = {each: stick.scaled_limit(place.scale, each) ** 2 for each in set(queries[numbers].tolist())}
            bounds = np.array([limits[each] for each in queries[numbers].tolist()])
            for column in np.flatnonzero((high[row] < bounds) & np.isfinite(known[row])).tolist():
                shares.setdefault(errors.names[column], []).append(float(known[row, column]))
    rows = [
        {"algorithm": name, "settings below": len(own), "bias in squared error": float(np.mean(own))}
        for name, own in sorted(shares.items(), key=lambda each: -len(each[1]))
    ]
    unbiased = [name for name, own in shares.items() if not depends_on_data(name) or np.mean(own) < at["share"]]
    many = ", ".join(f"{row['algorithm']} {row['settings below']}" for row in rows[:5])
    least = min((row["bias in squared error"] for row in rows), default=float("nan"))  # type: ignore[type-var]
    words = (
        f"{len(rows)} algorithms are below it somewhere ({many}); bias is at least {least:.2f} of their squared error"
    )
    return Answer(words if rows else "nobody is below it", not unbiased, ", ".join(unbiased), rows=rows)


def border(study: Study, at: Numbers) -> Answer:
    """Best data-dependent over best data-independent algorithm by domain and scale, with the 19 and with all.

    The best is the one with the least geometric mean over datasets, at each domain and scale.
    """
    rows = []
    for d in DIMENSIONS:
        errors = CatalogueErrors.of(study.private, d)
        errors.of_algorithm(LEADER)
        for domain in errors.domains:
            for scale in sorted(set(errors.scales.tolist())):
                here = (errors.place("domain") == domain) & (errors.scales == scale)
                old, _ = _advantage(errors, here, PAPER_ORDER)
                new, name = _advantage(errors, here, [])
                rows.append({"domain": domain, "scale": scale, "the 19": old, "now": new, "by": name})
    reach = {}
    for d, domain in DOMAINS.items():
        own = [row for row in rows if row["domain"] == domain]
        if not own:
            raise Undecided(f"nothing was measured at {domain}")
        reach[d] = [_reach(own, key) for key in ("the 19", "now")]
    words = "; ".join(
        f"{DOMAINS[d]}: pays up to {_power(new)}, with the 19 up to {_power(old)}" for d, (old, new) in reach.items()
    )
    short = [DOMAINS[d] for d, (_, new) in reach.items() if new < at[str(d)]]
    return Answer(words, not short, f"not as far: {', '.join(short)}" if short else "", rows=rows)


def _advantage(errors: CatalogueErrors, here: np.ndarray, among: Sequence[str]) -> tuple[float, str]:
    """Least geometric mean of data-dependent algorithms over that of data-independent ones, and which it is."""
    logs = np.ascontiguousarray(np.log(errors.mean[here]).T).mean(axis=1)
    known = {name: each for name, each in zip(errors.names, logs, strict=True) if np.isfinite(each)}
    kinds = [[n for n in errors.kinds(dependent=kind, among=among) if n in known] for kind in (True, False)]
    if not all(kinds):
        raise Undecided("data-dependent and data-independent algorithms were not measured on the same datasets")
    best, fixed = (min(names, key=known.__getitem__) for names in kinds)
    return float(np.exp(known[best] - known[fixed])), best


def _reach(rows: list[dict[str, object]], key: str) -> int:
    """The largest scale up to which data-dependence pays at every scale; 0 if it does not at the smallest."""
    reach = 0
    for row in sorted(rows, key=lambda row: row["scale"]):  # type: ignore[arg-type, return-value]
        if row[key] >= 1:  # type: ignore[operator]
            break
        reach = int(row["scale"])  # type: ignore[call-overload]
    return reach


def _power(scale: int) -> str:
    return f"{scale:.0e}" if scale else "no scale"


def _geometric(ratios: list[float]) -> float:
    return float(np.exp(np.mean(np.log(ratios))))


DECIDING: Mapping[str, Decide] = {
    "lowest regret": lowest_regret,
    "HDMM over Hb": hdmm_over_hb,
    "weights": weights,
    "non-negativity": partial(ingredient, over="TopDown", under="HbW"),
    "posterior": partial(ingredient, over="Cascade", under="TopDown"),
    "pure or Gaussian": pure_or_gaussian,
    "limit": beats_the_limit,
    "border of data-dependence": border,
}


def verdicts(study: Study, wanted: Callable[[str], bool] = lambda _: True) -> list[Verdict]:
    """What is claimed about the ten years since."""
    return decided(study, DECIDING, wanted)
