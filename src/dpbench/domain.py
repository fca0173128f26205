"""The domain of a data vector: how many cells along each axis.

The only place that reasons about the number of dimensions. Everything else loops over axes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from itertools import islice
from math import prod
from typing import TypeVar, Union

import numpy as np
from numpy.typing import NDArray

from dpbench.errors import InvalidDomain, shown
from dpbench.given import afford, numbers

DomainLike = Union["Domain", int, str, Sequence[int]]
_Number = TypeVar("_Number", np.int64, np.float64)

NUMBERS = (int, float, np.integer, np.floating)
MOST_AXES = 12
"""How many axes there can be; corners of a box are twice as many with every one."""
MOST_CELLS = 2**53
"""How many cells an axis can have; floats count exactly up to there."""
NUMBERS_PER_CELL = 4
"""What work on a domain takes: counts, noise, an estimate, and one array to work with."""


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
        given = self.shape
        object.__setattr__(self, "shape", _sides(given))
        if not self.shape:
            raise InvalidDomain("a domain needs at least one axis; give for example 1024 or '128x128'")
        if len(self.shape) > MOST_AXES:
            raise InvalidDomain(f"a domain of {_how_many(given)} axes was given; give at most {MOST_AXES}")
        for side in self.shape:
            if not 1 <= side <= MOST_CELLS:
                raise InvalidDomain(
                    f"the number of cells along an axis of a domain is {shown(side)}; "
                    f"give at least 1 and at most {MOST_CELLS}"
                )

    @classmethod
    def of(cls, like: DomainLike) -> Domain:
        """Read ``1024``, ``(128, 128)``, ``"128x128"`` or a Domain."""
        if isinstance(like, Domain):
            return like
        if isinstance(like, str):
            if not re.fullmatch(r"\s*\d{1,4000}\s*(x\s*\d{1,4000}\s*)*", like, re.ASCII):
                raise InvalidDomain(f"cannot read the domain {shown(like)}; write for example '1024' or '128x128'")
            return cls(tuple(int(side) for side in like.split("x")))
        single = isinstance(like, int | np.integer) and not isinstance(like, bool)
        return cls((like,) if single else like)  # type: ignore[arg-type]

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

    def afford(self, numbers: int = 0) -> Domain:
        """Itself, unless arrays over all of its cells, and so many numbers more, take too much memory."""
        afford(NUMBERS_PER_CELL * self.size + numbers, f"work on the domain {self}")
        return self

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
        values = numbers(counts, "array of counts")
        if values.shape != self.shape:
            raise InvalidDomain(f"counts of shape {values.shape} are not on domain {self}; give shape {self.shape}")
        split = [part for pair in zip(target, groups, strict=True) for part in pair]
        inner = tuple(range(1, 2 * self.ndim, 2))
        with np.errstate(over="ignore"):
            summed = np.asarray(values.reshape(split).sum(axis=inner))
        if summed.dtype.kind == "f" and not np.isfinite(summed).all():
            raise InvalidDomain("the sums of adjacent cells are too large for floats; give smaller counts")
        return summed


def _sides(given: object) -> tuple[int, ...]:
    """Whole numbers as they are, and floats that are whole numbers."""
    if type(given) is tuple and len(given) <= MOST_AXES and all(type(side) is int for side in given):
        return given  # the usual case
    try:
        sides = tuple(islice(given, MOST_AXES + 1))  # type: ignore[call-overload]
        whole = tuple(int(side) for side in sides if isinstance(side, NUMBERS) and not isinstance(side, bool))
        exact = not isinstance(given, str | bytes | Mapping | Set) and whole == sides
    except Exception:  # no sequence, NaN, or whatever a stranger's iterator raises
        exact = False
    if not exact:
        raise InvalidDomain(f"cannot read the domain {shown(given)}; give whole numbers such as 1024 or (128, 128)")
    return whole


def _how_many(given: object) -> str:
    """Return the length of more axes than there can be, as far as it is known."""
    try:
        return str(len(given))  # type: ignore[arg-type]
    except Exception:  # an iterator, or more than any length can say
        return f"more than {MOST_AXES}"
