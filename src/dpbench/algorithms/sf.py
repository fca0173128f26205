"""SF: StructureFirst, bins of small squared error, then a tree over each bin.

Xu, Zhang, Xiao, Yang, Yu, Winslett. Differentially private histogram publication. VLDB Journal 22(6), 2013.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from dpbench.algorithm import Algorithm, by_variant
from dpbench.domain import Domain
from dpbench.errors import InvalidInput, UnknownName
from dpbench.mathematics.bins import binned_tree
from dpbench.mathematics.groups import GroupTotals
from dpbench.mathematics.least_squares import TreeLeastSquares
from dpbench.mathematics.structure import LARGEST_EXACT, BoundaryScore
from dpbench.mathematics.tree import Tree
from dpbench.privacy import PrivateData, evenly, split
from dpbench.workloads import Workload

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
RULES = ("scale", "published")


@lru_cache(maxsize=16)
def _solver(domain: Domain, edges: tuple[int, ...], padded: bool) -> TreeLeastSquares:
    """The trees over the bins, kept between calls: short domains have few ways to be cut, or one."""
    return TreeLeastSquares(binned_tree(domain, np.array(edges), padded))


def _solver_for(domain: Domain, edges: Ints, padded: bool) -> TreeLeastSquares:
    """The trees over the bins; those of large domains fill the memory and are hardly ever met again."""
    if domain.size > LARGEST_EXACT:
        return TreeLeastSquares(binned_tree(domain, edges, padded))
    return _solver(domain, tuple(edges.tolist()), padded)


@dataclass(frozen=True, kw_only=True)
class SF(Algorithm):
    """A tenth as many bins as cells, their boundaries drawn for small squared error; each bin measured as a tree.

    Boundaries are drawn from right to left: each place is scored by the squared error of the last bin and of the best
    bins to its left. Then every bin gets a binary tree of counts, made consistent by least squares (the publication's
    Section 6.2; without it, ``hierarchy=False``, the bin's mean). With trees the estimate has no bias, and the
    structure matters through the lengths of the bins alone.

    Counts above F are cut off while boundaries are drawn. F is the number of records (``F_rule="scale"``), which
    no count exceeds; the authors' code takes 10,000 times the mean count ("published"), which is larger up to 10,000
    cells. Either way the scores of the boundaries hardly differ at the budgets of the paper, so they are drawn almost
    evenly: half of what is left each time, until only single cells are left to cut off. From there on no place is left
    to choose, nothing is asked, and the budget of these draws goes to the counts: whether it comes to that is decided
    by boundaries that are already drawn. Trees are ragged, not padded with empty cells.

    The least errors of all bins are a table of cells times bins. Above 8,192 cells a bound on the least error of dyadic
    bins, which needs no table, takes their place in the scores (``mathematics/structure.py``).

    The authors' code (``variant="published"``) divides the structure's budget by one draw too many; finds the
    structure's share by minimising a formula beyond its pole, which gives 5 % practically always; pads the trees; and
    leaves the noise off inner nodes whose first cell is at or beyond the length of their bin
    (``inner_noise=False``).

    Privacy
    -------
    The scale is side information, estimated before. A share of epsilon is divided evenly among the bins - 1 boundaries,
    one selection each. The score is the squared error over 2 F, where one record moves the squared error of counts cut
    off at F by at most 2 F (see ``mathematics.structure``): sensitivity 1, not monotone. Draws that are not needed cost
    nothing. All that is left measures the trees: the bins are disjoint, and the h nodes above a cell are weighted by
    1 / h, so one record moves the answers by 1. Least squares is post-processing.
    """

    name = "SF"
    paper = "Xu, Zhang, Xiao, Yang, Yu, Winslett: Differentially private histogram publication, VLDB Journal 2013"
    dimensions = (1,)
    hierarchical = True
    partitioning = True
    side_information = ("scale",)
    not_private = "inner nodes of its trees are released without noise, and it uses the true scale"

    hierarchy: bool = True
    """Measure a tree over each bin, instead of its total alone."""
    F_rule: Literal["scale", "published"] = by_variant(private="scale", published="published")
    """Where counts are cut off: at the scale, or at 10,000 times the mean count."""
    structure_share: float | None = by_variant(private=0.05, published=None)
    """Share of epsilon for the structure; None: by the authors' formula, from the scale (published form only)."""
    cells_per_bin: int = 10
    """Cells for each bin, on average."""
    inner_noise: bool = by_variant(private=True, published=False)
    """Noise on all inner nodes; the authors' code leaves some without (published form only)."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.F_rule not in RULES:
            raise UnknownName.among("F_rule", self.F_rule, RULES)
        if self.structure_share is not None and not 0 < self.structure_share < 1:
            raise InvalidInput(f"structure_share is {self.structure_share!r}; give a number between 0 and 1")
        if self.cells_per_bin < 1:
            raise InvalidInput(f"cells_per_bin is {self.cells_per_bin!r}; give a whole number of at least 1")
        if self.variant == "private" and not self.inner_noise:
            raise InvalidInput("inner_noise is False; without noise it is not private, so give variant='published' too")

    @property
    def consistent(self) -> bool:
        """With trees the estimate has no bias; bin means do."""
        return self.hierarchy

    @property
    def exchangeable(self) -> bool:
        """The authors' bound 2 F + 1 does not scale with the counts; 2 F does."""
        return self.variant == "private"

    def _bins(self, n: int) -> int:
        """Number of bins on n cells."""
        return -(-n // self.cells_per_bin)

    def estimate_once(self, data: PrivateData, workload: Workload) -> Floats:
        """Draw boundaries, then measure inside the bins."""
        del workload
        # select: the boundaries of the bins
        edges = self._boundaries(data)
        # measure and estimate: totals spread evenly, or a tree over every bin
        if not self.hierarchy:
            lengths = np.diff(edges)
            labels = np.repeat(np.arange(len(lengths)), lengths)
            totals = data.laplace(GroupTotals(labels, len(lengths)), data.epsilon, "totals of the bins")
            return np.asarray((totals / lengths)[labels])
        tree = _solver_for(data.domain, edges, self.variant == "published")
        answers = data.laplace(tree.strategy, data.epsilon, "trees over the bins, each weighted by its height")
        if self.variant == "published":
            self._take_noise_off(answers, data, tree, edges)
        return np.asarray(tree.solve(answers[None])[0])

    def _boundaries(self, data: PrivateData) -> Ints:
        """Edges of the bins, drawn from right to left, ``(bins + 1,)``."""
        n = data.domain.size
        bins = self._bins(n)
        edges = np.arange(bins + 1)
        edges[-1] = n
        if bins in (1, n):
            return edges
        published = self.variant == "published"
        # how far one record moves a score, and the share of the budget
        ceiling = float(data.scale) * (1e4 / n if self.F_rule == "published" else 1.0)
        reach = 2 * ceiling + 1 if published else 2 * ceiling or 1.0  # a public scale of 0 leaves nothing to move
        share = self._published_share(data, bins, ceiling) if self.structure_share is None else self.structure_share
        budget = split(data.epsilon, share)[0]
        spend = evenly(budget, bins if published else bins - 1)
        # boundaries from right to left, each left of the one before
        drawn, right = 0, n
        for k in range(bins - 1, 0, -1):
            if right == k + 1:
                break  # every boundary that is left has one place
            score = BoundaryScore(bins, k, right, ceiling, reach)
            right = k + int(data.choose(score, spend, f"boundary {k}"))
            edges[k] = right
            drawn += 1
        if published:
            data.forfeit(budget - drawn * spend, "one draw too many, and boundaries with one place left")
        return edges

    @staticmethod
    def _published_share(data: PrivateData, bins: int, ceiling: float) -> Fraction:
        """The share in 1/20 ... 19/20 that the authors' formula for the error is least at."""
        n, epsilon, reach = data.domain.size, float(data.epsilon), 2 * ceiling + 1

        def error(twentieths: int) -> float:
            structure = epsilon * twentieths / 20
            draws = 8 * (bins - 1) * reach
            pole = draws - structure * n * ceiling**2
            return draws * (bins - 1) * reach / (structure * pole) + 2 * bins / (epsilon - structure) ** 2

        return Fraction(min(range(1, 20), key=error), 20)

    def _take_noise_off(self, answers: Floats, data: PrivateData, solver: TreeLeastSquares, edges: Ints) -> None:
        """What the authors' code does not perturb: nodes over padding, rightly, and some inner nodes, wrongly."""
        tree = solver.tree
        answers[tree.real_cells[1:] == 0] = 0.0
        if not self.inner_noise:
            truth = solver.strategy.answer(data.reveal("inner nodes without noise"))
            bare = _starts_beyond_length(tree, edges)[1:]
            answers[bare] = truth[bare]


def _starts_beyond_length(tree: Tree, edges: Ints) -> NDArray[np.bool_]:
    """Inner nodes whose first cell, counted from the start of the line, is not below the length of their bin."""
    first, last = tree.levels[1]
    places = tree.start[first:last]
    bin_of = np.searchsorted(places, tree.start, side="right") - 1
    first_cell = edges[bin_of] + tree.start - places[bin_of]
    inner = np.diff(tree.first_child) > 0
    return np.asarray(inner & (first_cell >= np.diff(edges)[bin_of]))
