"""TopDown: a hierarchy weighted by workload and signal, made non-negative from the top.

After Abowd et al. The 2020 Census disclosure avoidance system TopDown algorithm. Harvard Data Science Review, 2022.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from dpbench.algorithm import Algorithm
from dpbench.domain import Domain
from dpbench.mathematics.block_tree import block_tree
from dpbench.mathematics.least_squares import TreeLeastSquares
from dpbench.mathematics.level_shares import block_sides, level_shares
from dpbench.mathematics.top_down import top_down
from dpbench.mathematics.tree import Tree
from dpbench.privacy import PrivateData, Total, split
from dpbench.workloads import Workload

TOTAL = Fraction(3, 100)
"""Share of the budget for the number of records."""


@lru_cache(maxsize=8)
def _tree(domain: Domain) -> Tree:
    """The blocks, every level with weight 1, kept between calls."""
    sides = block_sides(domain)
    return block_tree(domain, sides, (1.0,) * (len(sides) + 1))


@dataclass(frozen=True, kw_only=True)
class TopDown(Algorithm):
    """Noisy counts of nested blocks, least squares, and then a non-negative share for each half, from the top down.

    A few percent of the budget go to the number of records; with it the levels get shares that suit the workload and
    the signal (``mathematics/level_shares.py``). Least squares makes the answers consistent. Then the total is cut at
    zero, and each pair of halves becomes the nearest non-negative pair that adds up to what their parent has. Where
    all counts are large nothing is cut, and the estimate is least squares.

    Departures: the Census Bureau fits several tables at once with a solver and keeps exact totals; here there is one
    table, no invariant, and the projections are pairs with a closed form.

    Privacy
    -------
    One call spends 3 % of the budget on the total, a second one the rest on the counts of all levels, each
    weighted. A record is in one block of each level; the weights of the levels add up to 1 (under zCDP, their
    squares), so one record moves the answers by 1. Weights depend on the workload and the noisy total alone. Least
    squares and what follows is post-processing.
    """

    name = "TopDown"
    paper = "after Abowd et al.: The 2020 Census disclosure avoidance system TopDown algorithm, HDSR 2022"
    notions = ("pure", "zCDP")
    hierarchical = True
    consistent = True

    def estimate_once(self, data: PrivateData, workload: Workload) -> NDArray[np.float64]:
        """Measure the total, then the blocks; combine; share out."""
        if data.domain.size == 1:
            return np.maximum(data.measure(Total(), data.budget, "the only cell"), 0.0).reshape(data.domain.shape)
        signal_per_record = data.as_epsilon(data.budget)
        for_total, rest = split(data.budget, TOTAL)
        total = data.measure(Total(), for_total, "total")
        shares = level_shares(workload, block_sides(data.domain), float(total) * signal_per_record)
        # 1. weights whose noise is that of the shares: precision is a power of the budget
        power = data.ledger.notion.precision_power / 2
        weights = np.array([float(for_total / rest), *map(float, shares)]) ** power
        tree = _tree(data.domain)
        solver = TreeLeastSquares(replace(tree, weight=weights[tree.depth]))
        asked = TreeLeastSquares(replace(tree, weight=np.where(tree.depth == 0, 0.0, solver.tree.weight)))
        # 2. measure
        blocks = data.measure(asked.strategy, rest, "blocks, levels weighted for workload and signal")
        # 3. combine, the total as the root's answer
        answers = np.concatenate([[weights[0] * float(total)], blocks])
        return np.asarray(top_down(solver.solve(answers[None]))[0])

    def _prepare(self, workload: Workload) -> None:
        """Weigh the levels."""
        if workload.domain.size > 1:
            level_shares(workload, block_sides(workload.domain), 1.0)
