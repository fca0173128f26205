"""What tuning is worth (the paper's findings 6 and 7), from the rows of a store."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from dpbench.domain import Domain
from dpbench.store import Row

Scenario = tuple[str, str, int, str, float]
"""Dataset, domain, scale, workload, epsilon."""
MeanErrors = Mapping[tuple[str, str], Mapping[Scenario, float]]
"""Mean errors by algorithm and parameters, then by place."""


@dataclass(frozen=True)
class TuningSpread:
    """How far apart parameters are on one data shape, of those that are the best in some scenario."""

    algorithm: str
    domain: str
    best: str
    """Parameters with the least error here, as JSON; likewise ``worst``."""
    worst: str
    ratio: float
    """Error with the worst over error with the best."""
    tried: int
    optimal_somewhere: int
    scenarios: int


@dataclass(frozen=True)
class RoundsRatio:
    """The error of MWEM over that of MWEM* at one scale: the paper does not say which average it takes."""

    domain: str
    scale: int
    mean_of_ratios: float
    ratio_of_means: float
    datasets: int


def mean_errors(rows: Iterable[Row]) -> MeanErrors:
    """Mean error of every setting, by algorithm and parameters, then by place."""
    errors: dict[tuple[str, str], dict[Scenario, list[float]]] = {}
    for row in rows:
        if not row.failure:
            place = (row.dataset, row.domain, row.scale, row.workload, row.epsilon)
            errors.setdefault((row.algorithm, row.parameters), {}).setdefault(place, []).extend(row.l2)
    return {who: {place: float(np.mean(each)) for place, each in at.items()} for who, at in errors.items()}


def tuning_spreads(rows: Iterable[Row], dataset: str, scale: int) -> list[TuningSpread]:
    """For each algorithm with several parameters: worst over best error on a dataset at a scale."""
    return spreads_of(mean_errors(rows), dataset, scale)


def spreads_of(means: MeanErrors, dataset: str, scale: int) -> list[TuningSpread]:
    """The same, of mean errors by algorithm and parameters, then by place."""
    spreads = []
    for algorithm in dict.fromkeys(name for name, _ in means):
        tried = {parameters: at for (name, parameters), at in means.items() if name == algorithm}
        for domain in sorted({place[1] for at in tried.values() for place in at}, key=lambda d: Domain.of(d).size):
            everywhere = set.intersection(*({place for place in at if place[1] == domain} for at in tried.values()))
            here = [place for place in everywhere if place[0] == dataset and place[2] == scale]
            if len(tried) < 2 or not here:
                continue
            optimal = {min(sorted(tried), key=lambda each: tried[each][place]) for place in everywhere}
            at_place = {each: tried[each][here[0]] for each in sorted(optimal)}
            best, worst = min(at_place, key=at_place.__getitem__), max(at_place, key=at_place.__getitem__)
            spreads.append(
                TuningSpread(
                    algorithm,
                    domain,
                    best,
                    worst,
                    ratio=at_place[worst] / at_place[best],
                    tried=len(tried),
                    optimal_somewhere=len(optimal),
                    scenarios=len(everywhere),
                )
            )
    return spreads


def rounds_ratios(rows: Iterable[Row], plain: str = "MWEM", trained: str = "MWEM*") -> list[RoundsRatio]:
    """By domain and scale, over the datasets that both ran on with default parameters."""
    return ratios_of(mean_errors(row for row in rows if row.algorithm in {plain, trained}), plain, trained)


def ratios_of(means: MeanErrors, plain: str = "MWEM", trained: str = "MWEM*") -> list[RoundsRatio]:
    """The same, of mean errors by algorithm and parameters, then by place."""
    before, after = means.get((plain, "{}"), {}), means.get((trained, "{}"), {})
    common = [place for place in before if place in after]
    ratios = []
    for domain, scale in sorted({(p[1], p[2]) for p in common}, key=lambda at: (Domain.of(at[0]).ndim, *at)):
        here = [place for place in common if place[1:3] == (domain, scale)]
        one, other = np.array([before[p] for p in here]), np.array([after[p] for p in here])
        ratios.append(
            RoundsRatio(domain, scale, float((one / other).mean()), float(one.mean() / other.mean()), len(here))
        )
    return ratios
