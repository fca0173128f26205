"""Families of random shapes: what real tables have and smooth formulas lack.

Rough density, heaps on round numbers, zero inflation, sharp edges, ridges along one axis, road-like curves, clusters
over a background. A family has as many instances as are asked for, ``"heaped/0"``, ``"heaped/1"``, ...; each is the
same whenever and wherever it is drawn, up to the last digits of scipy's distribution functions.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from types import MappingProxyType
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from dpbench.domain import Domain

Weights = NDArray[np.float64]


class Draws:
    """Random numbers by inverse distribution functions from raw bits, which numpy promises never to change."""

    def __init__(self, family: str, instance: int) -> None:
        self._bits = np.random.PCG64([crc32(family.encode()), instance])

    def uniform(self, count: int) -> Weights:
        """``(count,)`` in (0, 1)."""
        bits = np.atleast_1d(self._bits.random_raw(count))
        return np.asarray(((bits >> np.uint64(11)).astype(np.float64) + 0.5) * 2.0**-53)

    def between(self, low: float, high: float) -> float:
        """One number, evenly."""
        return float(low + (high - low) * self.uniform(1)[0])

    def decade(self, low: float, high: float) -> float:
        """One number, evenly in its logarithm."""
        return float(10 ** self.between(np.log10(low), np.log10(high)))

    def whole(self, low: int, high: int) -> int:
        """One of low ... high - 1."""
        return int(low + self.between(0, high - low))

    def normal(self, count: int) -> Weights:
        """``(count,)``, standard."""
        from scipy.special import ndtri

        return np.asarray(ndtri(self.uniform(count)))

    def gamma(self, shape: float, count: int) -> Weights:
        """``(count,)``, scale 1."""
        from scipy.special import gammaincinv

        return np.asarray(gammaincinv(shape, self.uniform(count)))

    def beta(self, shape: float, count: int) -> Weights:
        """``(count,)``, symmetric."""
        from scipy.special import betaincinv

        return np.asarray(betaincinv(shape, shape, self.uniform(count)))

    def pareto(self, count: int) -> Weights:
        """``(count,)``, at least 0, with a tail of exponent 1."""
        return np.asarray(1 / self.uniform(count) - 1)


Drawn = Callable[[Domain, Draws], Weights]


@dataclass(frozen=True)
class Family:
    """A random distribution that is defined for every domain with ``ndim`` axes."""

    name: str
    ndim: int
    about: str
    drawn: Drawn
    """Non-negative weights (*domain) of an instance, not all zero."""

    def instance(self, number: int) -> Callable[[Domain], Weights]:
        """The weights of one instance; a figure that misses every cell of a small domain is spread evenly."""
        drawn, name = self.drawn, self.name

        def weights(domain: Domain) -> Weights:
            found = drawn(domain, Draws(name, number))
            return found if found.sum() > 0 else np.ones(domain.shape)

        return weights


def names(ndim: int | None = None) -> list[str]:
    """Name the families, of one number of axes if given."""
    return [family.name for family in FAMILIES.values() if ndim in (None, family.ndim)]


def instances(ndim: int, each: int) -> list[str]:
    """Names of the first instances of every family."""
    return [f"{name}/{number}" for name in names(ndim) for number in range(each)]


# --- one axis ----------------------------------------------------------------------------------------


def _along(cells: int) -> Weights:
    """Middles of the cells of an axis from 0 to 1: (cells,)."""
    return np.asarray((np.arange(cells) + 0.5) / cells)


def _bell(place: Weights, middle: float, spread: float) -> Weights:
    return np.asarray(np.exp(-(((place - middle) / spread) ** 2) / 2))


def _split_down(cells: int, draws: Draws, low: float, high: float) -> Weights:
    """Halves of halves, each with a random share: a cascade down to single cells, ``(cells,)``."""
    weights = np.ones(1)
    while len(weights) < cells:
        share = draws.beta(draws.decade(low, high), len(weights))
        weights = np.stack([weights * share, weights * (1 - share)], axis=1).reshape(-1)
    return weights[:cells]


def _rough(domain: Domain, draws: Draws) -> Weights:
    return _split_down(domain.size, draws, 2, 30)


def _grainy(domain: Domain, draws: Draws) -> Weights:
    hill = _bell(_along(domain.size), draws.between(0.2, 0.8), draws.between(0.1, 0.4))
    return hill * draws.gamma(draws.between(0.5, 5), domain.size)


def _lognormal(domain: Domain, draws: Draws) -> Weights:
    place = _along(domain.size)
    middle, spread = draws.between(0.05, 0.3), draws.between(0.3, 1.1)
    return np.asarray(_bell(np.log(place), np.log(middle), spread) / place)


def _heaped(domain: Domain, draws: Draws) -> Weights:
    """Answers of people: five, ten and a hundred are said more often than their neighbours."""
    weights, number = _lognormal(domain, draws), np.arange(domain.size)
    for step in (5, 10, 100):
        weights[number % step == 0] *= draws.between(2, 12)
    if draws.between(0, 1) < 0.5:
        weights[number % 5 != 0] *= 0.1
    return weights


def _zero_inflated(domain: Domain, draws: Draws) -> Weights:
    weights = np.exp(-draws.decade(4, 80) * _along(domain.size))
    weights[0] += weights.sum() * draws.decade(1, 20)
    return np.asarray(weights)


def _terraces(domain: Domain, draws: Draws) -> Weights:
    cuts = np.sort(draws.uniform(draws.whole(5, 60)))
    heights = draws.gamma(0.5, len(cuts) + 1)
    return np.asarray(heights[np.searchsorted(cuts, _along(domain.size), side="right")])


def _spiked(domain: Domain, draws: Draws) -> Weights:
    hill = _bell(_along(domain.size), draws.between(0.2, 0.8), draws.between(0.1, 0.3))
    many = draws.whole(5, 80)
    spikes = np.zeros(domain.size)
    np.add.at(spikes, (draws.uniform(many) * domain.size).astype(int), draws.pareto(many))
    return np.asarray(hill / hill.sum() + draws.between(0.1, 1) * spikes / spikes.sum())


def _comb(domain: Domain, draws: Draws) -> Weights:
    """Prices: values on a lattice, and little or nothing between."""
    step, rest = (3, 7, 16, 25)[draws.whole(0, 4)], (0.0, 0.02)[draws.whole(0, 2)]
    weights = np.exp(-draws.between(2, 12) * _along(domain.size)) * draws.gamma(0.7, domain.size)
    weights[np.arange(domain.size) % step != 0] *= rest
    return np.asarray(weights)


def _clumps(domain: Domain, draws: Draws) -> Weights:
    place, weights = _along(domain.size), np.zeros(domain.size)
    for height in draws.pareto(draws.whole(3, 15)):
        weights += height * np.exp(-np.abs(place - draws.uniform(1)) / draws.decade(3e-4, 3e-2))
    weights *= draws.uniform(domain.size) < draws.between(0.1, 0.9)
    weights[weights < 1e-5 * weights.max()] = 0
    return weights


def _wave(domain: Domain, draws: Draws) -> Weights:
    turns, phase = draws.whole(2, 30), draws.between(0, 2 * np.pi)
    return np.asarray(
        1 + 0.8 * np.sin(2 * np.pi * turns * _along(domain.size) + phase) + 0.3 * draws.uniform(domain.size)
    )


# --- two axes ----------------------------------------------------------------------------------------


def _places(domain: Domain) -> tuple[Weights, Weights]:
    across, along = np.meshgrid(*(_along(side) for side in domain), indexing="ij")
    return across, along


def _product(domain: Domain, draws: Draws) -> Weights:
    """Two distributions along the axes, and some dependence."""
    kinds = (_lognormal, _heaped, _grainy, _zero_inflated, _terraces, _rough)
    first, second = (kinds[draws.whole(0, len(kinds))](Domain((side,)), draws) for side in domain)
    across, along = _places(domain)
    return np.asarray(np.outer(first, second) * np.exp(8 * draws.between(0, 1) * (across - 0.5) * (along - 0.5)))


def _rows(domain: Domain, draws: Draws) -> Weights:
    """Few values along one axis, each with a hill along the other."""
    turned = draws.between(0, 1) < 0.5
    rows, columns = domain.shape[::-1] if turned else domain.shape
    weights, place = np.zeros((rows, columns)), _along(columns)
    for row in (draws.uniform(draws.whole(4, 33)) * rows).astype(int):
        weights[row] += draws.pareto(1) * _bell(place, draws.between(0, 1), draws.between(0.05, 0.5))
    return weights.T if turned else weights


def _roads(domain: Domain, draws: Draws) -> Weights:
    """Curves that bend slowly and end at the border, some with much more traffic than others."""
    weights = np.zeros(domain.shape)
    for traffic in 0.1 + draws.pareto(draws.whole(4, 20)):
        steps = draws.whole(100, 900)
        heading = 2 * np.pi * draws.uniform(1) + np.cumsum(0.06 * draws.normal(steps))
        across, along = (draws.uniform(1) + np.cumsum(0.004 * turn(heading)) for turn in (np.cos, np.sin))
        inside = np.cumprod((across >= 0) & (across < 1) & (along >= 0) & (along < 1)).astype(bool)
        cells = [(place[inside] * side).astype(int) for place, side in zip((across, along), domain, strict=True)]
        np.add.at(weights, tuple(cells), traffic)
    return weights


def _towns(domain: Domain, draws: Draws) -> Weights:
    """Clusters of many sizes over a thin background, or none."""
    across, along = _places(domain)
    weights = np.zeros(domain.shape)
    for people in 0.05 + draws.pareto(draws.whole(5, 60)):
        spread = draws.decade(0.0025, 0.1)
        weights += (
            people / spread * _bell(across, draws.between(0, 1), spread) * _bell(along, draws.between(0, 1), spread)
        )
    background = (0.0, 0.001, 0.05)[draws.whole(0, 3)] * weights.sum() / domain.size
    return np.asarray(weights + background * (draws.uniform(domain.size).reshape(domain.shape) < 0.3))


def _coast(domain: Domain, draws: Draws) -> Weights:
    """A full part and an empty part, with a jagged border between."""
    across, along = _places(domain)
    border = np.cumsum(draws.normal(64)) * 0.03
    line = np.interp(along[0], _along(64), 0.4 + border - border.mean())
    land = across > line
    grain = draws.gamma(draws.between(0.3, 2), domain.size).reshape(domain.shape)
    return np.asarray(land * grain * np.exp(-draws.between(0, 4) * along))


def _rugged(domain: Domain, draws: Draws) -> Weights:
    """The cascade along both axes in turn."""
    weights = np.ones((1, 1))
    while weights.shape[0] < domain.shape[0] or weights.shape[1] < domain.shape[1]:
        for axis in (0, 1):
            if weights.shape[axis] < domain.shape[axis]:
                share = draws.beta(draws.decade(1.3, 20), weights.size).reshape(weights.shape)
                halves = np.stack([weights * share, weights * (1 - share)], axis=axis + 1)
                weights = halves.reshape([side * (1 + (at == axis)) for at, side in enumerate(weights.shape)])
    return weights[: domain.shape[0], : domain.shape[1]]


def _edges(domain: Domain, draws: Draws) -> Weights:
    """Zeros of either quantity: mass on two edges and in their corner, and little inside."""
    first, second = _lognormal(Domain((domain.shape[0],)), draws), _zero_inflated(Domain((domain.shape[1],)), draws)
    weights = (0.0, 1e-3, 1e-1)[draws.whole(0, 3)] * np.outer(first / first.sum(), second / second.sum())
    weights[:, 0] += first / first.sum()
    weights[0, :] += draws.between(0.1, 2) * second / second.sum()
    weights[0, 0] += draws.between(0.1, 5)
    return np.asarray(weights)


def _band(domain: Domain, draws: Draws) -> Weights:
    """Two quantities that go together, less so where they are large."""
    across, along = _places(domain)
    middle, spread = 0.1 + draws.between(0.3, 0.8) * across, 0.01 + draws.between(0.02, 0.2) * across
    return np.asarray(
        np.exp(-(((along - middle) / spread) ** 2) / 2)
        * _bell(across, draws.between(0.2, 0.7), draws.between(0.1, 0.4))
    )


def _blocks(domain: Domain, draws: Draws) -> Weights:
    """Streets on a lattice, fewer people further out."""
    across, along = _places(domain)
    streets = [np.arange(side) % draws.whole(3, 9) == 0 for side in domain]
    grain = draws.gamma(1.0, domain.size).reshape(domain.shape)
    far = (across - 0.5) ** 2 + (along - 0.5) ** 2
    return np.asarray((streets[0][:, None] | streets[1][None, :]) * grain * np.exp(-draws.between(6, 36) * far))


def _hill(domain: Domain, draws: Draws) -> Weights:
    across, along = _places(domain)
    spread = draws.between(0.1, 0.5)
    hill = _bell(across, draws.between(0, 1), spread) * _bell(along, draws.between(0, 1), spread)
    return np.asarray(hill + draws.between(0, 0.3))


def _daily(domain: Domain, draws: Draws) -> Weights:
    """Hours of a day against a delay: a wave along one axis, a sharp peak with a long tail along the other."""
    across, along = _places(domain)
    traffic = np.maximum(0, np.sin(np.pi * across) + 0.3 * np.sin(12 * across)) + 0.01
    late, width = along - draws.between(0.03, 0.1), draws.between(0.01, 0.05)
    early = np.where(late < 0, np.exp(-((late / width) ** 2) / 2), 0)
    after = np.where(late >= 0, np.exp(-np.maximum(late, 0) / (width * (0.5 + 3 * across))), 0)
    return np.asarray(traffic * (early + after))


_ALL = (
    Family("rough", 1, "a cascade of random halves, every cell occupied", _rough),
    Family("grainy", 1, "a hill times independent noise", _grainy),
    Family("heaped", 1, "a long tail with heaps on multiples of 5, 10 and 100", _heaped),
    Family("zero-inflated", 1, "most records in the first cell, a falling tail", _zero_inflated),
    Family("terraces", 1, "flat steps at random places", _terraces),
    Family("spiked", 1, "a hill and tall single cells", _spiked),
    Family("comb", 1, "values on a lattice", _comb),
    Family("clumps", 1, "sharp peaks with gaps, mostly empty", _clumps),
    Family("wave", 1, "periodic, dense", _wave),
    Family("lognormal", 1, "one smooth peak with a long tail", _lognormal),
    Family("product", 2, "two 1-D shapes along the axes, some dependence", _product),
    Family("rows", 2, "few values along one axis, hills along the other", _rows),
    Family("roads", 2, "curves with traffic", _roads),
    Family("towns", 2, "clusters of many sizes over a background", _towns),
    Family("coast", 2, "a full and an empty part", _coast),
    Family("rugged", 2, "a cascade of random halves along both axes", _rugged),
    Family("edges", 2, "mass on two edges and in a corner", _edges),
    Family("band", 2, "a correlated pair", _band),
    Family("blocks", 2, "streets on a lattice", _blocks),
    Family("hill", 2, "one smooth hill", _hill),
    Family("daily", 2, "a wave against a peak with a long tail", _daily),
)

FAMILIES = MappingProxyType({family.name: family for family in _ALL})
"""All families by name, 1-D first."""
