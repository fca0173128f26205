"""UGrid: an even grid whose cells fit the number of records.

Qardaji, Yang, Li. Differentially private grids for geospatial data. ICDE 2013.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite, sqrt
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from dpbench.algorithm import Algorithm
from dpbench.domain import Domain
from dpbench.errors import InvalidInput, UnknownName
from dpbench.mathematics.grid import GridCounts, nearly_equal, steps
from dpbench.privacy import PrivateData
from dpbench.workloads import Workload

Mode = Literal["square", "m_by_m"]


@dataclass(frozen=True, kw_only=True)
class UGrid(Algorithm):
    """Noisy counts of square blocks, spread evenly over their cells; the more records, the smaller the blocks.

    Few blocks hide what is inside them, many add noise. With N records the two errors balance at about N epsilon / c
    blocks. The authors' code cuts both axes every g = floor(sqrt(n1 n2 c / (N epsilon))) cells, and the last block
    of a row or column may be smaller; that is the default. The publication, on a continuous domain, cuts each axis into
    m = sqrt(N epsilon / c) equal parts: ``mode="m_by_m"``.

    The publication takes N to be known. The private form estimates it with a twentieth of epsilon, and uses what is
    left of epsilon in the rule too; ``side_information="public"`` is the paper's setting. The published form is given N
    for free, says so in its ledger, and differs in nothing else.

    Privacy
    -------
    One call spends on the counts of the blocks all of epsilon that the scale has left. Blocks are disjoint, so one
    record moves the answers by 1. The grid depends on the domain, on epsilon and on the scale as it was estimated or
    published.
    """

    name = "UGrid"
    paper = "Qardaji, Yang, Li: Differentially private grids for geospatial data, ICDE 2013"
    notions = ("pure", "zCDP")
    dimensions = (2,)
    partitioning = True
    side_information = ("scale",)
    not_private = "the size of its grid follows the true number of records, which nothing pays for"
    consistent = True

    c: float = 10.0
    """Records times epsilon for each block."""
    mode: Mode = "square"
    """Square blocks of whole cells, as the authors' code has them, or m by m equal parts, as the publication has."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if not (isfinite(self.c) and self.c > 0):
            raise InvalidInput(f"c is {self.c}; give a finite number greater than 0")
        if self.mode not in ("square", "m_by_m"):
            raise UnknownName.among("mode", self.mode, ("square", "m_by_m"))

    def estimate(self, data: PrivateData, workload: Workload) -> NDArray[np.float64]:
        """Noisy blocks, spread; trial by trial where their grids differ."""
        # select: the grid, by the number of records and the budget alone
        grids = [self._sides(data.domain, scale * data.as_epsilon(data.budget)) for scale in data.scale]
        if len(set(grids)) > 1:
            return super().estimate(data, workload)
        # measure and estimate: its blocks, spread evenly
        grid = self._grid(data.domain, grids[0])
        return grid.spread(data.measure(grid, data.budget, "blocks of the grid"))

    def estimate_once(self, data: PrivateData, workload: Workload) -> NDArray[np.float64]:
        """The same for one trial."""
        del workload
        grid = self._grid(data.domain, self._sides(data.domain, float(data.scale) * data.as_epsilon(data.budget)))
        return np.asarray(grid.spread(data.measure(grid, data.budget, "blocks of the grid")[None])[0])

    def _sides(self, domain: Domain, signal: float) -> tuple[int, ...]:
        """The side of a block, or in mode "m_by_m" the number of parts along each axis; signal is N epsilon."""
        blocks = signal / self.c
        if self.mode == "m_by_m":
            parts = round(min(sqrt(blocks), float(max(domain))))
            return tuple(min(max(parts, 1), side) for side in domain)
        longest = max(domain)
        if blocks * longest**2 <= domain.size:
            return (longest,) * domain.ndim
        return (max(1, int(sqrt(domain.size / blocks))),) * domain.ndim

    def _grid(self, domain: Domain, sides: tuple[int, ...]) -> GridCounts:
        cut = nearly_equal if self.mode == "m_by_m" else steps
        return GridCounts(domain, tuple(cut(length, side) for length, side in zip(domain, sides, strict=True)))
