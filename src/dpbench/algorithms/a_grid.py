"""AGrid: a coarse grid whose cells are cut again where they hold many records.

Qardaji, Yang, Li. Differentially private grids for geospatial data. ICDE 2013.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, isfinite, sqrt
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from dpbench.algorithm import Algorithm, by_variant
from dpbench.domain import Domain
from dpbench.errors import InvalidInput, UnknownName
from dpbench.mathematics.grid import BoxCounts, GridCounts, steps
from dpbench.privacy import PrivateData, split
from dpbench.workloads import Workload

Floats = NDArray[np.float64]
Rounding = Literal["floor", "ceil"]
Kappa = Literal["k", "m2"]


@dataclass(frozen=True, kw_only=True)
class AGrid(Algorithm):
    """Two grids: noisy counts of coarse blocks say how finely each is cut, and both counts are combined.

    A block with noisy count v is cut into about v (1 - alpha) epsilon / c2 squares: dense blocks finely, empty ones not
    at all. Each block then has two estimates, its own count and the sum of its squares', which are averaged by their
    precision; what the average exceeds the sum by goes to the squares in equal parts. That is least squares, if
    the k squares are counted as they are (``kappa="k"``). The authors' code takes the m2^2 that were aimed at, which
    costs up to an eighth of the variance of a block: ``variant="published"``.

    The authors' code rounds the numbers of parts down and cuts every g cells, g rounded down too; the publication
    rounds them up (``rounding="ceil"``).

    The publication takes the number of records to be known. The private form estimates it with a twentieth of epsilon;
    ``side_information="public"`` is the paper's setting. The published form is given it for free; its ledger says so.

    Privacy
    -------
    Of what the scale has left of epsilon, one call spends the share alpha on the coarse blocks, a second one the rest
    on the squares. Blocks are disjoint, and so are squares: one record moves the answers of each call by 1. The first
    grid depends on the domain, epsilon and the scale as it was estimated or published, the second also on the noisy
    answers of the first call. The average is post-processing.
    """

    name = "AGrid"
    paper = "Qardaji, Yang, Li: Differentially private grids for geospatial data, ICDE 2013"
    notions = ("pure", "zCDP")
    dimensions = (2,)
    hierarchical = True
    partitioning = True
    side_information = ("scale",)
    not_private = "the size of its grid follows the true number of records, which nothing pays for"
    consistent = True

    alpha: float = 0.5
    """Share of epsilon for the coarse blocks."""
    c: float = 10.0
    """Sixteen times so many records times epsilon for each coarse block, where there are more than the fewest."""
    c2: float = 5.0
    """Records times the squares' share of epsilon for each square."""
    fewest: int = 10
    """Parts that each axis is cut into at least, where it has so many cells."""
    rounding: Rounding = "floor"
    """How numbers of parts are rounded: "floor" (the authors' code) or "ceil" (the publication)."""
    kappa: Kappa = by_variant(private="k", published="m2")
    """What counts as the number of squares in a block when averaging: "k", how many there are, or "m2", the target."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 0 < self.alpha < 1:
            raise InvalidInput(f"alpha is {self.alpha}; give a share between 0 and 1, both excluded")
        for name in ("c", "c2"):
            if not (isfinite(getattr(self, name)) and getattr(self, name) > 0):
                raise InvalidInput(f"{name} is {getattr(self, name)}; give a finite number greater than 0")
        if self.fewest < 1:
            raise InvalidInput(f"fewest is {self.fewest}; give a whole number of at least 1")
        if self.rounding not in ("floor", "ceil"):
            raise UnknownName.among("rounding", self.rounding, ("floor", "ceil"))
        if self.kappa not in ("k", "m2"):
            raise UnknownName.among("kappa", self.kappa, ("k", "m2"))

    def estimate_once(self, data: PrivateData, workload: Workload) -> Floats:
        """Coarse blocks, then squares, then their average."""
        from dpbench.mathematics.kernels.grid import cut_into_squares

        del workload
        coarse_budget, fine_budget = split(data.budget, self.alpha)
        # measure: a coarse grid
        coarse = self._coarse_grid(data.domain, float(data.scale) * data.as_epsilon(data.budget))
        blocks = data.measure(coarse, coarse_budget, "coarse blocks").reshape(-1)
        # select: how finely to cut each block, by its noisy count alone
        lower, upper = coarse.boxes
        target = self._parts(blocks * data.as_epsilon(fine_budget))
        side = np.maximum(np.sqrt(coarse.sizes.reshape(-1) / target**2), 1.0).astype(np.int64)
        fine_lower, fine_upper, many = cut_into_squares(lower, upper, side)
        # measure: the squares inside the blocks
        fine = BoxCounts(data.domain, fine_lower, fine_upper)
        squares = data.measure(fine, fine_budget, "squares inside the blocks")
        # estimate: squares that add up to the average of both counts of a block
        return fine.spread(self._combine(blocks, squares, many, target, data.ledger.notion.precision_power))

    def _coarse_grid(self, domain: Domain, signal: float) -> GridCounts:
        """The first grid, square blocks of whole cells; signal is the number of records times epsilon."""
        quarter = sqrt(signal / self.c) / 4
        parts = max(self.fewest, ceil(quarter) if self.rounding == "ceil" else int(quarter))
        side = max(1, int(sqrt(domain.size / parts**2)))
        return GridCounts(domain, tuple(steps(length, side) for length in domain))

    def _parts(self, signal: Floats) -> Floats:
        """How many parts a block is to be cut into along each axis, given its noisy count times epsilon."""
        root = np.sqrt(np.maximum(signal, 0.0) / self.c2)
        return np.maximum(np.ceil(root) if self.rounding == "ceil" else np.floor(root), 1.0)

    def _combine(
        self, blocks: Floats, squares: Floats, many: NDArray[np.int64], target: Floats, power: int = 2
    ) -> Floats:
        """Squares made to add up to the average of each block's own count and their sum, by their precision."""
        first = np.cumsum(many) - many
        # two counts of every block, its own and the sum of its squares
        total = np.add.reduceat(squares, first)
        kappa = many if self.kappa == "k" else target**2
        own = self.alpha**power * kappa / ((1 - self.alpha) ** power + self.alpha**power * kappa)
        missing = own * (blocks - total)
        return np.asarray(squares + np.repeat(missing / many, many))
