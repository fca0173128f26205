"""A newcomer against a study: where it is competitive, its regret, and its error beside that of each rival."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dpbench.errors import InvalidInput
from dpbench.interpreting import CompetitiveSets, above_limits, baselines, competitive_sets, find_test, regret
from dpbench.interpreting.errors_table import scales_of
from dpbench.measuring.yardstick import Yardstick
from dpbench.results import Place, Results
from dpbench.results.display import short_labels
from dpbench.standards import Standards
from dpbench.store.setting_key import Group

NAMED = 6
"""Domains and scales that a sentence can name."""
CONFIDENCE = 0.95
UNKNOWN = (float("nan"), float("nan"), "")
"""What is said of an error beside a limit that is not known."""
Exact = Mapping[str, Mapping[str, float]]
"""Ratios that follow from expected errors, by label of the rival and by domain."""


@dataclass(frozen=True)
class ScaleRow:
    """The newcomer at one scale of one table."""

    domain: str
    scale: int
    datasets: int
    competitive: int
    """Datasets on which it is the best or not significantly worse."""
    best: str
    """The rival that is competitive on most datasets, with their number."""
    over: Mapping[str, float]
    """Mean error over datasets, over that of each baseline of the standards that the study has."""
    workload: str
    epsilon: float
    over_limit: float
    """The same over the limit that no unbiased strategy is below; NaN where that is not known."""
    over_best: float
    """The same over the best known strategy."""
    strategy: str
    """Which algorithm that is; empty where it is not known."""


@dataclass(frozen=True)
class Rival:
    """The newcomer beside one other algorithm, on the settings that both have."""

    settings: int
    better: int
    """Settings in which the newcomer is significantly better, Bonferroni over these settings."""
    worse: int
    """Settings in which it is significantly worse."""
    agreement: float
    """Share of settings in which both are competitive or both are not."""
    ratio: float
    """Geometric mean over settings of the newcomer's mean error over the rival's."""
    low: float
    high: float
    """Interval of 95 % over datasets; NaN where there is one dataset."""
    percentile_ratio: float
    """The same geometric mean for the percentile of the standards."""
    exact: Mapping[str, float]
    """For two data-independent algorithms, by domain: the root of the ratio of expected squared errors."""


@dataclass(frozen=True)
class Comparison:
    """What is said of a newcomer."""

    name: str
    settings: int
    """In which it has all its errors; the others are in ``failures``."""
    competitive: int
    agreement: dict[str, float]
    """Share of settings in which another algorithm and the newcomer are both competitive or both not."""
    different: dict[str, int]
    """Settings in which the error differs significantly from another's, in either direction."""
    regret: float
    rank: int
    regrets: dict[str, float]
    """Of the algorithms that have all these settings."""
    rows: tuple[ScaleRow, ...]
    rivals: dict[str, Rival]
    failures: dict[str, int]
    """Settings with failed units, which are not compared, by cause."""
    standards: Standards
    family: str
    """Among how many algorithms it is competitive, by which test, at which level."""

    @property
    def baselines(self) -> tuple[str, ...]:
        """The baselines of the standards that the newcomer was set against."""
        return tuple(dict.fromkeys(name for row in self.rows for name in row.over))

    @property
    def loses(self) -> list[ScaleRow]:
        """Where it does not beat every baseline."""
        return [row for row in self.rows if any(ratio >= 1 for ratio in row.over.values())]

    @property
    def several(self) -> tuple[str, ...]:
        """What rows of one domain differ in beside the scale: workload, epsilon."""
        domains = {row.domain for row in self.rows}
        values = {name: {(row.domain, getattr(row, name)) for row in self.rows} for name in ("workload", "epsilon")}
        return tuple(name for name, found in values.items() if len(found) > len(domains))

    @property
    def sentence(self) -> str:
        """The sentence for a paper."""
        lowest = min(self.regrets, key=self.regrets.__getitem__)
        number = self.settings + sum(self.failures.values())
        failed = f", failed in {number - self.settings} of {number}" if self.failures else ""
        return (
            f"{self.name} is competitive in {self.competitive} of {self.settings} settings by {self.measure} "
            f"({self.family}){failed}, with a regret of {self.regret:.2f}, rank {self.rank} of {len(self.regrets)} "
            f"(lowest: {lowest}, {self.regrets[lowest]:.2f}){self._beside_baselines}."
        )

    @property
    def measure(self) -> str:
        """What the test compares, in words."""
        return find_test(self.standards.test).measure_words(self.standards)

    @property
    def test_words(self) -> str:
        """The test in words."""
        return find_test(self.standards.test).words

    @property
    def _beside_baselines(self) -> str:
        names, lost = self.baselines, self.loses
        if not names:
            return ""
        number = len(self.rows)
        kind = ("tuple" if self.several else "pair") + "s" * (number > 1)
        pairs = f"({', '.join(('domain', *self.several, 'scale'))}) {kind}"
        if not lost:
            all_of = f"all {number}" if number > 1 else "the one"
            return f"; by mean over datasets it beats {_baseline_words(names)} in {all_of} {pairs}"
        where = "" if len(lost) > NAMED else f": {', '.join(_where(row, self.several) for row in lost)}"
        fails = "fails to beat" if len(names) == 1 else "fails to beat at least one of"
        return f"; by mean over datasets it {fails} {_baseline_words(names)} in {len(lost)} of {number} {pairs}{where}"


def against(
    study: Results,
    newcomer: Results,
    exact: Exact | None = None,
    yardsticks: Mapping[Group, Yardstick] | None = None,
) -> Comparison:
    """Set a newcomer's results against those of a study on the same data vectors, by the standards of the study.

    ``exact`` has the ratios of :func:`dpbench.paper.exact_ratios.exact_ratios`, ``yardsticks`` what
    :func:`dpbench.yardsticks.yardsticks` makes of the study.
    """
    if not len(newcomer):
        raise InvalidInput("the newcomer has no results; run it on the settings of the study")
    label = str(newcomer.labels[0])
    failures = [why or "no errors" for why in newcomer.columns["failure"][~newcomer.whole].tolist()]
    own = newcomer.take(newcomer.whole)
    if not len(own):
        raise InvalidInput(f"{label} failed in every setting: {failures[0]}; `dpbench check` examines an algorithm")
    both = rivals_of(study.take(study.labels != label), own).joined(own)
    names = dict(zip(both.labels.tolist(), short_labels(both).tolist(), strict=True))
    sets = competitive_sets(both)
    rivals = _rivals(both, sets, label, exact or {})
    found = {names[each.algorithm]: each.regret for each in regret(both) if not each.missing}
    column = sets.grid.labels.index(label)
    return Comparison(
        name=names[label],
        settings=len(own),
        competitive=int(sets.members[:, column].sum()),
        agreement={names[other]: each.agreement for other, each in rivals.items()},
        different={names[other]: each.better + each.worse for other, each in rivals.items()},
        regret=found[names[label]],
        rank=sorted(found, key=found.__getitem__).index(names[label]) + 1,
        regrets=found,
        rows=_rows(both, sets, label, names, yardsticks or {}),
        rivals={names[other]: each for other, each in rivals.items()},
        failures=dict(Counter(failures)),
        standards=both.standards,
        family=sets.family(),
    )


def rivals_of(study: Results, newcomer: Results) -> Results:
    """The settings of a study at the places of the newcomer."""
    places = {_place(newcomer, number) for number in range(len(newcomer))}
    kept = [number for number in range(len(study)) if _place(study, number) in places]
    found = study.take(np.array(kept, dtype=np.int64))
    if not len(found):
        raise InvalidInput("the study and the newcomer have no setting in common; run it on datasets of the study")
    return found


def _place(results: Results, number: int) -> Place:
    return Place(*(results.columns[name][number] for name in Place._fields))


def _rivals(both: Results, sets: CompetitiveSets, label: str, exact: Exact) -> dict[str, Rival]:
    """Every other algorithm that has a setting in common with the newcomer."""
    grid, own = sets.grid, sets.grid.labels.index(label)
    whole = grid.spread(both.whole) == 1
    means, datasets = grid.spread(both.measured.mean), grid.column("dataset")
    estimate, percentiles = sets.test.estimate(both), both.measured.percentile
    found = {}
    for column, other in enumerate(grid.labels):
        there = np.flatnonzero(whole[:, own] & whole[:, column])
        if column == own or not len(there):
            continue
        one, two = grid.index[there, own], grid.index[there, column]
        significant = sets.test.p_values(both, one, two) < sets.alpha / len(there)
        with np.errstate(divide="ignore", invalid="ignore"):
            ratios = np.log(means[there, own] / means[there, column])
            at_risk = np.log(percentiles[one] / percentiles[two])
        low, ratio, high = ratio_interval(ratios, datasets[there])
        found[other] = Rival(
            settings=len(there),
            better=int((significant & (estimate[one] < estimate[two])).sum()),
            worse=int((significant & (estimate[one] > estimate[two])).sum()),
            agreement=float((sets.members[there, own] == sets.members[there, column]).mean()),
            ratio=ratio,
            low=low,
            high=high,
            percentile_ratio=float(np.exp(at_risk.mean())),
            exact=exact.get(other, {}),
        )
    return found


def ratio_interval(logs: NDArray[np.float64], datasets: NDArray[np.str_]) -> tuple[float, float, float]:
    """Lower end, geometric mean and upper end of ratios, from their logarithms; the interval is over datasets.

    Settings of one dataset are not independent, so the variance of the mean is that of the D means of datasets,
    D / (D - 1) sum_d (w_d (m_d - m))^2 with w_d the share of the settings on dataset d, and t has D - 1 degrees of
    freedom. With one dataset, or with an error of 0, the ends are NaN.
    """
    from scipy.special import stdtrit

    mean = float(logs.mean())
    names, owner = np.unique(datasets, return_inverse=True)
    if len(names) < 2 or not np.isfinite(logs).all():
        return float("nan"), float(np.exp(mean)), float("nan")
    parts = np.bincount(owner, logs - mean) / len(logs)
    error = np.sqrt(len(names) / (len(names) - 1) * (parts**2).sum())
    reach = float(stdtrit(len(names) - 1, (1 + CONFIDENCE) / 2) * error)
    return float(np.exp(mean - reach)), float(np.exp(mean)), float(np.exp(mean + reach))


def _rows(
    both: Results,
    sets: CompetitiveSets,
    label: str,
    names: Mapping[str, str],
    yardsticks: Mapping[Group, Yardstick],
) -> tuple[ScaleRow, ...]:
    above = {
        (each.group, each.scale): (each.over_limit, each.over_best, each.strategy)
        for each in above_limits(both, yardsticks)
        if each.algorithm == label
    }
    over: dict[tuple[Group, int], dict[str, float]] = {}
    for each in baselines(both):
        if each.algorithm == label:
            over.setdefault((each.group, each.scale), {})[names[each.baseline]] = each.ratio
    own = sets.grid.labels.index(label)
    rows = []
    for group, scale, places in scales_of(sets.grid):
        counts = sets.members[places].sum(axis=0)
        there = (sets.grid.index[places] >= 0).any(axis=0)
        others = [column for column in np.flatnonzero(there).tolist() if column != own]
        best = max(others, key=lambda column: int(counts[column]), default=None)
        words = "-" if best is None else f"{names[sets.grid.labels[best]]} {int(counts[best])}"
        ratios = over.get((group, scale), {})
        found = len(places), int(counts[own]), words, ratios
        rows.append(
            ScaleRow(group.domain, scale, *found, group.workload, group.epsilon, *above.get((group, scale), UNKNOWN))
        )
    return tuple(sorted(rows, key=lambda row: (row.domain.count("x"), len(row.domain), row.domain, row.scale)))


def _where(row: ScaleRow, several: tuple[str, ...]) -> str:
    more = "".join(f", {name} {getattr(row, name)}" for name in several)
    return f"{row.domain} at {row.scale:,}{more}"


def _baseline_words(names: tuple[str, ...]) -> str:
    """The two baselines (Identity, Uniform)."""
    if len(names) == 1:
        return f"the baseline {names[0]}"
    number = {2: "two", 3: "three", 4: "four"}.get(len(names), str(len(names)))
    return f"the {number} baselines ({', '.join(names)})"
