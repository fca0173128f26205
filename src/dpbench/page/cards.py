"""What the page shows of algorithms and datasets, as plain values that code which may run algorithms fills in."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class LedgerLine:
    """A part of the budget and what it is spent on."""

    kind: str
    why: str
    share: float
    """Of the budget, from 0 to 1."""
    times: int
    """Charges of this kind that were added up."""


@dataclass(frozen=True)
class AlgorithmCard:
    """One algorithm, for a reader."""

    name: str
    idea: str
    about: str
    paper: str
    dimensions: str
    data_dependent: bool
    properties: tuple[str, ...]
    parameters: Mapping[str, str]
    side_information: tuple[str, ...]
    not_private: str
    """Why the published form is not private; empty where it is."""
    ledger_where: str
    ledger: tuple[LedgerLine, ...]
    notions: tuple[str, ...]
    """Notions of privacy that it can be run under, in words."""
    audit: str
    """What the conformance and privacy suite said; empty where it was not asked."""
    not_releasable: str
    """Why its noise cannot be drawn exactly for a release; empty where it can."""
    catalogued: bool = True
    """False: somebody's own algorithm, which the page is about."""


@dataclass(frozen=True)
class DatasetCard:
    """One dataset, for a reader."""

    name: str
    domain: str
    """Empty for a shape, which exists on every domain."""
    scale: int
    percent_zero: float
    about: str
    origin: str
    paper: str
    """What the paper's table states; empty where it does not have it."""


@dataclass(frozen=True, eq=False)
class Posterior:
    """What the page reads the interval of any range off, as Cascade does: see ``mathematics/posterior_bars.py``."""

    draws: NDArray[np.float32]
    """Tables that the noisy answers leave possible, ``(draws, *domain)``."""
    level: float
    """How often intervals are to hold."""
    kappa: float
    """What distances from the median are multiplied by."""
    floor: float
    """The least distance, in records."""


@dataclass(frozen=True, eq=False)
class Estimate:
    """One noisy histogram."""

    algorithm: str
    epsilon: float
    counts: NDArray[np.float64]
    posterior: Posterior | None = None
    """For intervals around its answers, where the page draws them."""


@dataclass(frozen=True, eq=False)
class Example:
    """A public histogram to look at, with noisy ones beside it."""

    name: str
    about: str
    counts: NDArray[np.int64]
    """At most 512 cells, or 64 x 64."""
    estimates: tuple[Estimate, ...] = ()


@dataclass(frozen=True)
class Gallery:
    """All that a page shows beside results."""

    algorithms: tuple[AlgorithmCard, ...] = ()
    datasets: tuple[DatasetCard, ...] = ()
    examples: tuple[Example, ...] = ()
    advice: Mapping[str, Any] | None = None
    """What the recommender in the page goes by, ready for JSON; without it the page has none."""
