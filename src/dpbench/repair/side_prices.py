"""What it costs to estimate the scale instead of being given it, and which share of epsilon serves best."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dpbench.domain import Domain
from dpbench.results import Results

TASK = "share-"
"""How the name of a task of a comparison begins; the share follows, or that the scale is public."""
PUBLIC = "public"


@dataclass(frozen=True)
class SidePrice:
    """What buying the scale does to the error of one algorithm at one scale."""

    algorithm: str
    domain: str
    scale: int
    share: float
    public_error: float
    """Mean over datasets, with the scale for free."""
    estimated_error: float
    ratio: float
    """Geometric mean over datasets of estimated over public."""
    uncertainty: float
    """Standard error of the logarithm of the ratio, from the spread of trials."""


def side_prices(results: Results) -> list[SidePrice]:
    """The price at each algorithm, domain, scale and share of a comparison."""
    named = results.rows("algorithm", "domain", "scale", "task", "dataset", "failure")
    measured = results.measured
    of_log = np.where(measured.trials > 1, measured.independent_error**2 / measured.mean**2, 0.0)
    errors = {  # the mean, and the variance of its logarithm
        (algorithm, domain, scale, task.removeprefix(TASK), dataset): each
        for (algorithm, domain, scale, task, dataset, failure), each in zip(
            named, zip(measured.mean.tolist(), of_log.tolist(), strict=True), strict=True
        )
        if not failure
    }
    prices = []
    datasets: dict[tuple[str, str, int, str], list[str]] = {}
    for algorithm, domain, scale, label, dataset in errors:
        datasets.setdefault((algorithm, domain, scale, label), []).append(dataset)
    for (algorithm, domain, scale, label), there in datasets.items():
        if label == PUBLIC:
            continue
        place = (algorithm, domain, scale)
        names = [name for name in there if (*place, PUBLIC, name) in errors]
        free = [errors[*place, PUBLIC, name] for name in names]
        estimated = [errors[*place, label, name] for name in names]
        if names:
            logs = [math.log(b[0] / f[0]) for f, b in zip(free, estimated, strict=True)]
            variance = sum(f[1] + b[1] for f, b in zip(free, estimated, strict=True)) / len(names) ** 2
            prices.append(
                SidePrice(
                    *place,
                    share=float(label),
                    public_error=float(np.mean([f[0] for f in free])),
                    estimated_error=float(np.mean([b[0] for b in estimated])),
                    ratio=math.exp(float(np.mean(logs))),
                    uncertainty=math.sqrt(variance),
                )
            )
    return sorted(prices, key=lambda p: (p.algorithm, Domain.of(p.domain).ndim, p.domain, p.scale, p.share))


@dataclass(frozen=True)
class ShareChoice:
    """Which share is best for an algorithm on a domain, over all scales and shapes: it cannot depend on the scale."""

    algorithm: str
    domain: str
    best: float
    regret: tuple[tuple[float, float], ...]
    """Each share with its geometric mean over scales of the error over that of the best share."""


def best_shares(prices: Sequence[SidePrice]) -> list[ShareChoice]:
    """The share with the least mean logarithm of error at every algorithm and domain with several shares."""
    choices = []
    for algorithm, domain in dict.fromkeys((price.algorithm, price.domain) for price in prices):
        here = [price for price in prices if (price.algorithm, price.domain) == (algorithm, domain)]
        shares = sorted({price.share for price in here})
        if len(shares) > 1:
            means = {
                share: float(np.mean([math.log(price.ratio) for price in here if price.share == share]))
                for share in shares
            }
            best = min(shares, key=lambda share: means[share])
            regret = tuple((share, math.exp(means[share] - means[best])) for share in shares)
            choices.append(ShareChoice(algorithm, domain, best, regret))
    return choices
