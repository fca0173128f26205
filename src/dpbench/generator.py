"""The data generator (the paper's G): a data vector of any scale and domain with a given shape."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from zlib import crc32

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dpbench.domain import Domain, DomainLike
from dpbench.errors import InvalidDomain, InvalidInput, shown
from dpbench.given import LARGEST_SEED, numbers, real, whole

LARGEST_SCALE = 2**53
"""Up to here float64 holds every whole number, so that estimates of counts can be exact."""

Seed = int | np.random.SeedSequence | np.random.Generator


def generate(
    shape: ArrayLike,
    scale: float,
    domain: DomainLike | None = None,
    seed: Seed = 0,
    axes: int | Sequence[int] | None = None,
) -> NDArray[np.int64]:
    """Draw ``scale`` records from a shape: int64 counts `(*domain)` that add up to exactly ``scale``.

    ``shape`` is any histogram; ``axes`` keeps some of its attributes, in the order given, and sums out the
    others; adjacent cells are then merged down to ``domain``, and one multinomial draw from the normalised
    result gives the counts. Scale and domain vary this way while the shape stays what it was. A seed that is
    a whole number gives the same counts every time.

    >>> import dpbench as dpb
    >>> shape = dpb.datasets.shapes.get("bimodal", 64)
    >>> dpb.generate(shape, scale=1000, domain=8, seed=0)
    array([ 12, 286, 301,  12,   4, 185, 194,   6])
    """
    probability = _merged(_histogram(shape), axes, domain)
    size = _scale(scale)
    counts = np.zeros(probability.size, dtype=np.int64)
    flat = probability.ravel()
    # numpy draws cell after cell and leaves the rest to the last one, so rounding gathers there. The
    # likeliest cell comes last, where rounding is negligible; cells of probability 0 take no part and stay 0.
    order = np.argsort(flat, kind="stable")[np.count_nonzero(flat == 0) :]
    counts[order] = _random(seed).multinomial(size, flat[order])
    return counts.reshape(probability.shape)


def _histogram(shape: ArrayLike) -> NDArray[np.float64]:
    """Read a shape as finite non-negative float64, its largest cell 1."""
    values = numbers(shape, "shape", advice="a histogram, an array of non-negative numbers")
    if values.ndim == 0 or values.size == 0:
        raise InvalidInput(
            f"nothing can be drawn from an array of shape {values.shape}; "
            f"give a histogram, an array of non-negative numbers"
        )
    real = values.astype(np.float64)
    if (real < 0).any():
        cell = tuple(int(index) for index in np.argwhere(real < 0)[0])
        raise InvalidInput(f"the shape is negative at cell {cell}; give a histogram of non-negative numbers")
    if not real.any():
        raise InvalidInput("every cell of the shape is 0; at least one cell needs a positive number")
    return np.asarray(real / real.max())


def _merged(
    histogram: NDArray[np.float64], axes: int | Sequence[int] | None, domain: DomainLike | None
) -> NDArray[np.float64]:
    """Keep the chosen axes, merge cells down to the domain and normalise to probabilities."""
    if axes is not None:
        kept = _axes(axes, histogram.ndim)
        histogram = histogram.sum(axis=tuple(axis for axis in range(histogram.ndim) if axis not in kept))
        # the axes that are left stand in ascending order: bring them into the order asked for
        histogram = histogram.transpose(np.argsort(np.argsort(kept)))
    if domain is not None:
        full: Domain = Domain(histogram.shape)
        histogram = full.coarsen(histogram, domain)
    return np.asarray(histogram / histogram.sum())


def _axes(axes: int | Sequence[int], ndim: int) -> tuple[int, ...]:
    """Read a choice of attributes."""
    chosen: tuple[Any, ...]
    chosen = (axes,) if isinstance(axes, int | np.integer) else ()
    if isinstance(axes, list | tuple | np.ndarray) and getattr(axes, "ndim", 1) == 1:
        chosen = tuple(axes[: ndim + 1])  # one too many is as bad as a million
    whole = all(isinstance(axis, int | np.integer) and not isinstance(axis, bool) for axis in chosen)
    if not chosen or not whole or len(set(chosen)) < len(chosen) or min(chosen) < 0 or max(chosen) >= ndim:
        raise InvalidDomain(
            f"axes={shown(axes)} does not choose attributes of a shape with {ndim}; "
            f"give different numbers from 0 to {ndim - 1}"
        )
    return tuple(int(axis) for axis in chosen)


def _scale(scale: object) -> int:
    """Read a number of records."""
    advice = "a whole number of records from 0 to 2**53"
    number = real(scale, "the scale", advice)
    if not 0 <= number <= LARGEST_SCALE or number != int(number) or int(number) != scale:
        raise InvalidInput(f"the scale is {shown(scale)}; give {advice}")
    return int(number)


def _random(seed: Seed) -> np.random.Generator:
    """Turn a seed into a generator; a whole number is tied to this module.

    Otherwise data and noise drawn with the same number would come from the same stream.
    """
    if isinstance(seed, np.random.Generator):
        return seed
    if isinstance(seed, np.random.SeedSequence):
        return np.random.default_rng(seed)
    wanted = "a whole number >= 0, a SeedSequence or a Generator"
    number = whole(seed, "the seed", 0, LARGEST_SEED, advice=wanted)
    return np.random.default_rng(np.random.SeedSequence(number, spawn_key=(crc32(b"generator"),)))
