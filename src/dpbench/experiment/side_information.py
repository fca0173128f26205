"""R_side: what it costs to buy the scale instead of being told it, and which share of epsilon to buy it with."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from dpbench.datasets import shapes
from dpbench.domain import Domain
from dpbench.errors import InvalidInput
from dpbench.experiment import source_data
from dpbench.experiment.plan import Plan
from dpbench.experiment.unit import Unit
from dpbench.plugins import find
from dpbench.store import Row
from dpbench.task import RANGE_1D, RANGE_2D, Task
from dpbench.task_parts import AlgorithmPart

DECLARERS = ("MWEM", "UGrid", "AGrid", "SF")
"""Those that the paper repairs."""
SCALES = (10**3, 10**4, 10**5, 10**6, 10**7, 10**8)
SHARES = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5)
"""What the sweep of rho_total tries."""
USUAL = 0.05
PUBLIC = "public"


@dataclass(frozen=True)
class SideComparison:
    """Algorithms with the scale for free and with the scale bought, on the same data vectors."""

    references: tuple[str, ...]
    """Names in the catalogue, or FILE.py:Class."""
    datasets: tuple[str, ...]
    domains: tuple[str, ...]
    scales: tuple[int, ...]
    shares: tuple[float, ...]
    samples: int
    trials: int
    seed: int

    @classmethod
    def of(
        cls,
        references: Sequence[str] = (),
        *,
        datasets: Sequence[str] = (),
        domains: Sequence[str] = (),
        scales: Sequence[int] = (),
        shares: Sequence[float] = (),
        samples: int = 3,
        trials: int = 10,
        seed: int = 0,
    ) -> SideComparison:
        """A comparison with everything checked; by default on synthetic shapes, so that nothing is tuned on data."""
        chosen = tuple(references) or DECLARERS
        for reference in chosen:
            kind = find(reference)
            if "scale" not in kind.side_information:
                raise InvalidInput(f"{kind.name} needs no scale, so there is nothing to buy; leave it out")
        for share in shares:
            if not 0 < share < 1:
                raise InvalidInput(f"the share {share:g} is not between 0 and 1; write for example --share 0.05")
        return cls(
            chosen,
            tuple(datasets) or tuple(shapes.names()),
            tuple(domains) or ("1024", "64x64"),
            tuple(scales) or SCALES,
            tuple(dict.fromkeys(shares)) or (USUAL,),
            samples,
            trials,
            seed,
        )

    def plan(self) -> Plan:
        """One task for the free scale and one for each share, on as many axes as there are datasets and domains for."""
        tasks = [task for axes in (1, 2) for task in self._tasks(axes)]
        if not tasks:
            raise InvalidInput("no dataset fits any of the domains; give a dataset and a domain of as many axes")
        return Plan(name="side-information", tasks=tuple(tasks))

    def _tasks(self, axes: int) -> Iterable[Task]:
        domains = [domain for domain in self.domains if Domain.of(domain).ndim == axes]
        datasets = [name for name in self.datasets if source_data.find(name).ndim == axes]
        able = [name for name in self.references if any(find(name)().supports(domain) for domain in domains)]
        if not datasets or not able:
            return
        usual = RANGE_1D if axes == 1 else RANGE_2D
        for label in (PUBLIC, *map(repr, self.shares)):
            source = PUBLIC if label == PUBLIC else "estimated"
            yield usual.replace(
                name=label,
                datasets=datasets,
                domains=domains,
                scales=self.scales,
                algorithms=[AlgorithmPart(name, side_information=source) for name in able],
                samples=self.samples,
                trials=self.trials,
                seed=self.seed,
                **({} if label == PUBLIC else {"rho_total": float(label)}),
            )

    def shared_noise(self, units: Sequence[Unit]) -> list[Unit]:
        """The same draws for every share: differences between shares are less noisy."""
        return [replace(unit, noise_name=f"side information {unit.algorithm.name}") for unit in units]


@dataclass(frozen=True)
class SidePrice:
    """What buying the scale does to the error of one algorithm at one scale."""

    algorithm: str
    domain: str
    scale: int
    share: float
    public_error: float
    """Mean over datasets, with the scale for free."""
    bought_error: float
    ratio: float
    """Geometric mean over datasets of bought over free."""
    uncertainty: float
    """Standard error of the logarithm of the ratio, from the spread of trials."""


def side_prices(rows: Iterable[Row]) -> list[SidePrice]:
    """The price at each algorithm, domain, scale and share in the rows of a comparison."""
    errors: dict[tuple[str, str, int, str, str], list[float]] = {}
    for row in sorted(rows, key=lambda row: row.identity):
        if not row.failure:
            errors.setdefault((row.algorithm, row.domain, row.scale, row.task, row.dataset), []).extend(row.l2)
    prices = []
    for algorithm, domain, scale, label in dict.fromkeys(key[:4] for key in errors):
        if label == PUBLIC:
            continue
        place = (algorithm, domain, scale)
        names = [key[4] for key in errors if key[:4] == (*place, label) and (*place, PUBLIC, key[4]) in errors]
        free = [_summary(errors[*place, PUBLIC, name]) for name in names]
        bought = [_summary(errors[*place, label, name]) for name in names]
        if names:
            logs = [math.log(b[0] / f[0]) for f, b in zip(free, bought, strict=True)]
            variance = sum(f[1] + b[1] for f, b in zip(free, bought, strict=True)) / len(names) ** 2
            prices.append(
                SidePrice(
                    *place,
                    share=float(label),
                    public_error=float(np.mean([f[0] for f in free])),
                    bought_error=float(np.mean([b[0] for b in bought])),
                    ratio=math.exp(float(np.mean(logs))),
                    uncertainty=math.sqrt(variance),
                )
            )
    return sorted(prices, key=lambda p: (p.algorithm, Domain.of(p.domain).ndim, p.domain, p.scale, p.share))


def _summary(errors: Sequence[float]) -> tuple[float, float]:
    """Mean of errors, and the variance of its logarithm."""
    mean = float(np.mean(errors))
    return mean, float(np.var(errors, ddof=1)) / len(errors) / mean**2 if len(errors) > 1 else 0.0


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
