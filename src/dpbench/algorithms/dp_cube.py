"""DPCube: a kd-tree on noisy cells, then fresh counts of its boxes.

Xiao, Xiong, Fan, Goryczka, Li. DPCube: differentially private histogram release through multidimensional partitioning.
Transactions on Data Privacy 7(3), 2014.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import isfinite
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from dpbench import privacy
from dpbench.algorithm import Algorithm, by_variant
from dpbench.errors import InvalidInput, UnknownName
from dpbench.mathematics.cells import Cells
from dpbench.mathematics.grid import BoxCounts, GridCounts, SummedAreas, boxes_by_penalty, boxes_by_variance, steps
from dpbench.privacy import PrivateData
from dpbench.workloads import Workload

Floats = NDArray[np.float64]
Rule = Literal["variance", "penalty"]
Split = Literal["sse", "median"]
Spread = Literal["uniform", "cells"]


@dataclass(frozen=True, kw_only=True)
class DPCube(Algorithm):
    """Noisy cells show which boxes are even inside; each such box is counted again, and both counts are averaged.

    A box is split along its longest side (of equal ones, where its slices differ most) until the noisy cells in it
    vary no more than noise alone does: until their sample variance is at most ``tolerance`` times that of the noise, or
    twice that in a box of at most ``small`` cells. Then a box of m cells has two estimates of its total, the fresh
    count and the sum of its noisy cells, whose variances are as 1 to m; their average by precision is spread evenly. As
    epsilon grows the threshold falls to 0, and boxes that are not constant are split down to cells. Any number of axes.

    The paper gives ``rho`` and ``small`` and leaves the rest open. The other defaults have the least mean regret over
    the synthetic shapes of ``dpbench.datasets.shapes``, five scales, epsilon 0.1, at 1024 and 4096 cells and at 64 x 64
    and 128 x 128: tolerance 1 among 0.75 ... 3, splits that lower the squared deviations most, even spread.
    (Splits at the median are as good; ``spread="cells"``, least squares without the assumption of evenness, is better
    on large data and worse on small.) None of the paper's datasets was used.

    The authors' code is another algorithm, ``rule="penalty"``: the first phase counts blocks of 11 cells a side, not
    cells; a box is split while that lowers its squared deviations by more than 1 / epsilon_2, along its longest side
    only; the first counts are not averaged in. It cannot look into a block, so a bias stays at any epsilon, and its
    penalty grows with the scale, not with its square, so it is not exchangeable. ``variant="published"`` is that, with
    the noise as the authors draw it.

    Privacy
    -------
    One call spends the share ``rho`` of epsilon on the cells (or blocks), which are disjoint: one record moves the
    answers by 1. The boxes follow from these noisy answers alone. A second call spends the rest on the counts of the
    boxes, which tile the domain: one record moves them by 1. Averaging is post-processing.
    The published form draws both phases on several axes with one seed: the noise of the i-th box is that of the i-th
    block, and what the two phases reveal together is not paid for. It is reproduced by subtracting the true counts
    of the blocks, which the ledger shows. On one axis the published form draws fresh noise and is private.
    """

    name = "DPCube"
    paper = "Xiao, Xiong, Fan, Goryczka, Li: DPCube, Transactions on Data Privacy 2014"
    notions = ("pure", "zCDP")
    hierarchical = True
    partitioning = True
    not_private = "in 2-D both phases draw with one seed, so the noise of the boxes repeats the noise of the blocks"

    rho: float = 0.5
    """Share of epsilon for the first phase."""
    rule: Rule = by_variant(private="variance", published="penalty")
    """When a box is split: by the variance of its noisy cells, or by a penalty on blocks, as in the authors' code."""
    tolerance: float = 1.0
    """Variance that a box may have, in units of the noise's; for the rule "variance"."""
    small: int = 10
    """Cells up to which a box may have twice that (the paper's n_p); for the rule "variance"."""
    split: Split = "sse"
    """Where a box is split: where squared deviations fall most, or at the noisy median; for the rule "variance"."""
    spread: Spread = "uniform"
    """A box evenly over its cells, or its correction over its noisy "cells"; for the rule "variance"."""
    block: int = 11
    """Side of a block; for the rule "penalty"."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 0 < self.rho < 1:
            raise InvalidInput(f"rho is {self.rho}; give a share between 0 and 1, both excluded")
        if not (isfinite(self.tolerance) and self.tolerance >= 0):
            raise InvalidInput(f"tolerance is {self.tolerance}; give a finite number of at least 0")
        if self.small < 0:
            raise InvalidInput(f"small is {self.small}; give a number of cells of at least 0")
        if self.block < 1:
            raise InvalidInput(f"block is {self.block}; give a whole number of at least 1")
        for name, known in (("rule", ("variance", "penalty")), ("split", ("sse", "median"))):
            if getattr(self, name) not in known:
                raise UnknownName.among(name, getattr(self, name), known)
        if self.spread not in ("uniform", "cells"):
            raise UnknownName.among("spread", self.spread, ("uniform", "cells"))

    @property
    def consistent(self) -> bool:
        """Blocks keep their bias; boxes of cells are split until they are constant."""
        return self.rule == "variance"

    @property
    def exchangeable(self) -> bool:
        """The penalty is in records, what it is compared with in squared records."""
        return self.rule == "variance"

    def estimate(self, data: PrivateData, workload: Workload) -> Floats:
        """The first phase for all trials at once, then boxes, the second phase and what follows trial by trial."""
        del workload
        # measure: cells or blocks; select: boxes that look even; measure: these boxes; estimate: both together
        first, second = privacy.split(data.budget, self.rho)
        if self.rule == "variance":
            cells = data.measure(Cells(data.domain), first, "cells, to find even boxes")
            return np.stack([self._by_variance(*each, first) for each in zip(data.each_trial(), cells, strict=True)])
        grid = GridCounts(data.domain, tuple(steps(side, self.block) for side in data.domain))
        blocks = data.measure(grid, first, "blocks, to find even boxes")
        if self.variant == "private" or data.domain.ndim == 1:
            return np.stack([self._by_penalty(*each, grid) for each in zip(data.each_trial(), blocks, strict=True)])
        # the authors' code uses the noise of the blocks again for the boxes
        table = SummedAreas().of(data.reveal("blocks, to use their noise again"))
        noise = (blocks - grid.answer(table)) * float(first / second)
        data.forfeit(second, "boxes, whose noise is that of the blocks")
        estimate = np.empty((data.trials, *data.domain.shape))
        for trial, noisy in enumerate(blocks):
            boxes = BoxCounts(data.domain, *boxes_by_penalty(noisy, grid, 1.0 / float(second)))
            estimate[trial] = boxes.spread(boxes.answer(table) + noise[trial].reshape(-1)[: len(boxes.sizes)])
        return estimate

    def _by_variance(self, data: PrivateData, cells: Floats, first: Fraction) -> Floats:
        """One trial from its noisy cells on."""
        # select: boxes whose noisy cells vary no more than noise does
        threshold = self.tolerance * 2.0 / data.as_epsilon(first) ** 2
        lower, upper = boxes_by_variance(cells, threshold, self.small, 2 * threshold, at_median=self.split == "median")
        boxes = BoxCounts(data.domain, lower, upper)
        # measure: one count per box
        precision = float(data.budget / first) ** data.ledger.notion.precision_power
        counts = data.measure(boxes, data.budget, "boxes that look even")
        # estimate: both counts of a box, weighted by their precision
        sums = np.bincount(boxes.labels, weights=cells.reshape(-1), minlength=len(counts))
        correction = precision / (boxes.sizes * precision + 1.0) * (counts - sums)
        if self.spread == "cells":
            return np.asarray(cells + correction[boxes.labels].reshape(cells.shape))
        return boxes.spread(sums + boxes.sizes * correction)

    def _by_penalty(self, data: PrivateData, blocks: Floats, grid: GridCounts) -> Floats:
        """One trial from its noisy blocks on."""
        boxes = BoxCounts(data.domain, *boxes_by_penalty(blocks, grid, 1.0 / data.as_epsilon(data.budget)))
        return boxes.spread(data.measure(boxes, data.budget, "boxes that look even"))
