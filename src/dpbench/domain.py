"""The domain of a data vector: how many cells along each axis.

The only place that reasons about the number of dimensions. Everything else loops over axes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import prod
from typing import TypeVar, Union

import numpy as np
from numpy.typing import NDArray

from dpbench.errors import InvalidDomain

DomainLike = Union["Domain", int, str, Sequence[int]]
_Number = TypeVar("_Number", np.int64, np.float64)


@dataclass(frozen=True)
class Domain:
    """A grid of cells, for example ``Domain((128, 128))``.

    >>> import dpbench as dpb
    >>> dpb.Domain.of("128x64").shape
    (128, 64)
    >>> import numpy as np
    >>> dpb.Domain.of(8).coarsen(np.arange(8), 4)
    array([ 1,  5,  9, 13])
    """

    shape: tuple[int, ...]

    def __post_init__(self) -> None:
        if not self.shape:
            raise InvalidDomain("a domain needs at least one axis; give for example 1024 or '128x128'")
        for side in self.shape:
            if side < 1:
                raise InvalidDomain(f"domain {self} has an axis of {side} cells; every axis needs at least 1")

    @classmethod
    def of(cls, like: DomainLike) -> Domain:
        """Read ``1024``, ``(128, 128)``, ``"128x128"`` or a Domain."""
        if isinstance(like, Domain):
            return like
        if isinstance(like, str):
            if not re.fullmatch(r"\s*\d{1,18}\s*(x\s*\d{1,18}\s*)*", like, re.ASCII):
                raise InvalidDomain(f"cannot read the domain {_shown(like)}; write for example '1024' or '128x128'")
            return cls(tuple(int(side) for side in like.split("x")))
        sides = (like,) if isinstance(like, int | np.integer | bytes) else like
        try:
            whole = tuple(int(side) for side in sides)
            exact = whole == tuple(sides) and not any(isinstance(side, bool) for side in sides)
        except (TypeError, ValueError, OverflowError):
            exact = False
        if not exact:
            raise InvalidDomain(f"cannot read the domain {_shown(like)}; give whole numbers such as 1024 or (128, 128)")
        return cls(whole)

    @property
    def size(self) -> int:
        """Number of cells."""
        return prod(self.shape)

    @property
    def ndim(self) -> int:
        """Number of axes."""
        return len(self.shape)

    def __str__(self) -> str:
        return "x".join(str(side) for side in self.shape)

    def __iter__(self) -> Iterator[int]:
        return iter(self.shape)

    def group_sizes(self, coarse: DomainLike) -> tuple[int, ...]:
        """How many adjacent cells along each axis become one cell of ``coarse``."""
        target = Domain.of(coarse)
        if target.ndim != self.ndim:
            raise InvalidDomain(
                f"domain {self} has {self.ndim} axes and {target} has {target.ndim}; "
                f"coarsening keeps the number of axes (choose attributes with axes=...)"
            )
        for side, wanted in zip(self, target, strict=True):
            if side % wanted:
                raise InvalidDomain(
                    f"domain {self} cannot be coarsened to {target}: {wanted} does not divide {side}; "
                    f"choose divisors of {side}"
                )
        return tuple(side // wanted for side, wanted in zip(self, target, strict=True))

    def coarsen(self, counts: NDArray[_Number], coarse: DomainLike) -> NDArray[_Number]:
        """Add up groups of adjacent cells: counts on this domain to counts on ``coarse``."""
        target = Domain.of(coarse)
        groups = self.group_sizes(target)
        if counts.shape != self.shape:
            raise InvalidDomain(f"counts of shape {counts.shape} are not on domain {self}; give shape {self.shape}")
        split = [part for pair in zip(target, groups, strict=True) for part in pair]
        inner = tuple(range(1, 2 * self.ndim, 2))
        return np.asarray(counts.reshape(split).sum(axis=inner))


def _shown(given: object) -> str:
    """Quote what was given, short and on one line."""
    text = " ".join(repr(given).split())
    return text if len(text) <= 60 else f"{text[:57]}..."
