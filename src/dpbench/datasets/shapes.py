"""Synthetic shapes: distributions over a domain that need no file.

They differ in what the paper's datasets differ in: smoothness, skew, sparsity, and how much sits in
one cell. Each is a formula, so it exists on every domain of its number of axes; those with randomness
take it from fixed raw bits, which numpy promises never to change, so a shape is the same everywhere.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import ceil
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from dpbench.datasets.catalogue import fold
from dpbench.datasets.families import FAMILIES
from dpbench.domain import Domain, DomainLike
from dpbench.errors import InvalidDomain, UnknownName
from dpbench.given import whole

__all__ = ["Shape", "find", "get", "is_shape", "names"]

Weights = NDArray[np.float64]

REVISION = 1
"""Raised when a shape changes."""
LONGEST_NUMBER = 6
"""Digits of the number of an instance."""


@dataclass(frozen=True)
class Shape:
    """A distribution that is defined for every domain with ``ndim`` axes."""

    name: str
    ndim: int
    about: str
    weights: Callable[[Domain], Weights]
    """Non-negative weights (*domain), not all zero."""

    def on(self, domain: DomainLike) -> Weights:
        """Probabilities (*domain), float64, that add up to 1."""
        target = Domain.of(domain)
        if target.ndim != self.ndim:
            suited = ", ".join(names(target.ndim))
            raise InvalidDomain(
                f"the shape {self.name} has {self.ndim} axes, the domain {target} has {target.ndim}; "
                + (f"shapes for it: {suited}" if suited else "give a domain with 1 or 2 axes")
            )
        return probabilities(self.weights, target)


def probabilities(weights: Callable[[Domain], Weights], domain: Domain) -> Weights:
    """Weights on a domain that add up to 1."""
    found = weights(domain.afford())
    return np.asarray(found / found.sum())


def get(name: str, domain: DomainLike) -> Weights:
    """Probabilities (*domain) of the named shape; the same on every call.

    >>> import dpbench as dpb
    >>> dpb.datasets.shapes.get("uniform", 4)
    array([0.25, 0.25, 0.25, 0.25])
    """
    return find(name).on(domain)


def find(name: str) -> Shape:
    """Find a shape by name, or one instance of a family ("heaped/0"); case does not count, and '_' is '-'."""
    if not isinstance(name, str):
        raise UnknownName.among("shape", name, SHAPES)
    folded = fold(name)
    family, _, number = folded.partition("/")
    if family in FAMILIES and number.isdecimal() and len(number) <= LONGEST_NUMBER:
        known = FAMILIES[family]
        return Shape(f"{family}/{int(number)}", known.ndim, known.about, known.instance(int(number)))
    if folded not in SHAPES:
        raise UnknownName.among("shape", name, [*SHAPES, *(f"{each}/0" for each in FAMILIES)])
    return SHAPES[folded]


def is_shape(name: str) -> bool:
    """Whether a name is that of a shape or of an instance of a family, as :func:`find` writes it."""
    try:
        return find(name).name == name
    except UnknownName:
        return False


def names(ndim: int | None = None) -> list[str]:
    """Name the shapes, of one number of axes if given.

    >>> import dpbench as dpb
    >>> dpb.datasets.shapes.names()[:3]
    ['uniform', 'normal', 'normal-narrow']
    """
    axes = ndim if ndim is None else whole(ndim, "the number of axes")
    return [shape.name for shape in SHAPES.values() if axes in (None, shape.ndim)]


def _centres(cells: int) -> Weights:
    """Middles of the cells of an axis from 0 to 1: (cells,)."""
    return (np.arange(cells) + 0.5) / cells


def _draws(seed: int, count: int) -> Weights:
    """Uniform numbers in (0, 1), (count,), from raw bits."""
    bits = np.atleast_1d(np.random.PCG64(seed).random_raw(count))
    return np.asarray(((bits >> np.uint64(11)).astype(np.float64) + 0.5) * 2.0**-53)


def _bells(domain: Domain, bells: list[tuple[float, tuple[float, ...], float]]) -> Weights:
    """Mixture of normal densities (weight, centre, sd) at the cells' middles, relative to its largest value.

    Relative, in logarithms: on a domain of few cells every density may be too small for a float.
    """
    axes = np.meshgrid(*(_centres(side) for side in domain), indexing="ij")
    logs = np.full(domain.shape, -np.inf)
    for weight, centre, sd in bells:
        square = sum(((axis - middle) / sd) ** 2 for axis, middle in zip(axes, centre, strict=True))
        logs = np.logaddexp(logs, np.log(weight) - domain.ndim * np.log(sd) - square / 2)
    return np.asarray(np.exp(logs - logs.max()))


def _power(cells: int, exponent: float) -> Weights:
    return np.arange(1, cells + 1, dtype=np.float64) ** -exponent


def _permuted(domain: Domain) -> Weights:
    order = np.argsort(_draws(101, domain.size), kind="stable")
    return _power(domain.size, 1.0)[order].reshape(domain.shape)


def _stairs(domain: Domain) -> Weights:
    heights = np.array([1.0, 4.0, 2.0, 8.0, 3.0, 6.0, 0.5, 5.0])
    return heights[np.arange(domain.size) * len(heights) // domain.size]


def _spikes(share: float) -> Callable[[Domain], Weights]:
    def weights(domain: Domain) -> Weights:
        """Give a share of the cells, at least one, exponential weights; the other cells none."""
        occupied = max(1, ceil(share * domain.size))
        spots = np.argsort(_draws(102, domain.size), kind="stable")[:occupied]
        flat = np.zeros(domain.size)
        flat[spots] = -np.log(_draws(103, occupied))
        return flat.reshape(domain.shape)

    return weights


def _heavy(cells: int) -> Weights:
    tail = np.exp(-8 * _centres(cells))
    tail[0] = 0.0
    heavy = np.asarray(tail * (0.05 / max(tail.sum(), np.finfo(np.float64).tiny)))
    heavy[0] = 0.95
    return heavy


def _heavy_edges(domain: Domain) -> Weights:
    weights = np.zeros(domain.shape)
    weights[:, 0] = _heavy(domain.shape[0])
    weights[0, :] += _heavy(domain.shape[1])
    return weights


def _clusters(domain: Domain) -> Weights:
    towns = 12
    across, along, spread, people = _draws(104, 4 * towns).reshape(4, towns)
    return _bells(
        domain,
        [
            (1 / (rank + 1), (0.1 + 0.8 * across[rank], 0.1 + 0.8 * along[rank]), 0.005 + 0.04 * spread[rank])
            for rank in np.argsort(people)
        ],
    )


def _ridge(domain: Domain) -> Weights:
    across, along = np.meshgrid(*(_centres(side) for side in domain), indexing="ij")
    return np.asarray(np.exp(-(((across - along) * 24) ** 2) / 2 - 3 * along))


def _corner(domain: Domain) -> Weights:
    return np.outer(_power(domain.shape[0], 1.0), _power(domain.shape[1], 1.0))


def _even(domain: Domain) -> Weights:
    return np.ones(domain.shape)


_ALL = (
    Shape("uniform", 1, "every cell alike", _even),
    Shape("normal", 1, "one wide bell in the middle", lambda d: _bells(d, [(1, (1 / 2,), 1 / 8)])),
    Shape("normal-narrow", 1, "one narrow bell at a quarter", lambda d: _bells(d, [(1, (1 / 4,), 1 / 32)])),
    Shape(
        "bimodal",
        1,
        "two bells, 3 to 2",
        lambda d: _bells(d, [(3, (1 / 4,), 1 / 16), (2, (3 / 4,), 1 / 16)]),
    ),
    Shape("power-law", 1, "falls as 1 / rank", lambda d: _power(d.size, 1.0)),
    Shape("power-law-steep", 1, "falls as rank^-1.5", lambda d: _power(d.size, 1.5)),
    Shape("permuted-power-law", 1, "power-law with its cells in random order", _permuted),
    Shape("staircase", 1, "eight flat steps of different heights", _stairs),
    Shape("spikes-50", 1, "half of the cells occupied, at random", _spikes(0.5)),
    Shape("spikes-10", 1, "a tenth of the cells occupied, at random", _spikes(0.1)),
    Shape("spikes-1", 1, "a hundredth of the cells occupied, at random", _spikes(0.01)),
    Shape("heavy-zero", 1, "0.95 in the first cell, the rest in a falling tail", lambda d: _heavy(d.size)),
    Shape("uniform-2d", 2, "every cell alike", _even),
    Shape("normal-2d", 2, "one round bell in the middle", lambda d: _bells(d, [(1, (1 / 2, 1 / 2), 1 / 8)])),
    Shape("clusters", 2, "twelve towns of different size and spread", _clusters),
    Shape("ridge", 2, "a narrow band along the diagonal, thinning out", _ridge),
    Shape("sparse-2d", 2, "a hundredth of the cells occupied, at random", _spikes(0.01)),
    Shape("sparse-2d-10", 2, "a tenth of the cells occupied, at random", _spikes(0.1)),
    Shape("power-law-2d", 2, "falls as 1 / rank along both axes, from a corner", _corner),
    Shape("heavy-zero-2d", 2, "nearly all in one corner cell, the rest along two edges", _heavy_edges),
)

SHAPES = MappingProxyType({shape.name: shape for shape in _ALL})
"""All shapes by name, 1-D first."""
