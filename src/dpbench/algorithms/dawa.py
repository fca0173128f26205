"""DAWA: buckets of nearly equal counts, then a hierarchy over the buckets whose weights fit the workload.

Li, Hay, Miklau. A data- and workload-aware algorithm for range queries under differential privacy. PVLDB 7(5), 2014.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from math import log, log1p, log2
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from dpbench.algorithm import Algorithm, by_variant
from dpbench.domain import Domain
from dpbench.errors import InvalidInput, UnknownName
from dpbench.mathematics.buckets import Deviations, MedianCost, cells_along, powers_of_two
from dpbench.mathematics.greedy import greedy_tree
from dpbench.mathematics.hilbert import order as curve
from dpbench.mathematics.leaf_images import Objective
from dpbench.mathematics.least_squares import TreeLeastSquares
from dpbench.mathematics.tree import TreeCounts
from dpbench.privacy import PrivateData, split
from dpbench.workloads import Workload

FEW_CELLS = 64
"""Cells up to which the strategy of any partition is kept."""

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True)
class _Nothing:
    """Zeros that claim a sensitivity of 1: the handle's noise, bare, for the published partition."""

    shape: tuple[int, ...]
    sensitivity = 1

    def answer(self, counts: Ints) -> Floats:
        """Zeros."""
        del counts
        return np.zeros(self.shape)


@dataclass(frozen=True, eq=False)
class _PaddedCounts(TreeCounts):
    """The counts of a tree over a square, of data that fill only a corner of it."""

    def answer(self, counts: Ints) -> Floats:
        """Weighted node counts, with empty cells around the data."""
        square = np.zeros(self.tree.domain.shape, dtype=np.int64)
        square[tuple(slice(side) for side in counts.shape)] = counts
        return super().answer(square)


def _solver(
    edges: Ints, workload: Workload, branching: int, steps: int, objective: Objective, padded: bool
) -> TreeLeastSquares:
    """GreedyH over the buckets. On a padded square every position is a cell, as in the authors' code."""
    tree = greedy_tree(workload, branching, steps, objective, edges, padded)
    if padded and workload.domain.ndim == 2:
        square = Domain((round(len(tree.order) ** 0.5),) * 2)
        tree = replace(tree, domain=square, order=curve(square))
    return TreeLeastSquares(tree)


@lru_cache(maxsize=512)
def _kept_solver(
    edges: bytes | None, workload: Workload, branching: int, steps: int, objective: Objective, padded: bool
) -> TreeLeastSquares:
    """The same, kept between calls, for partitions that come again: single cells (None), or any of a few cells."""
    if edges is None:
        buckets = np.arange(len(cells_along(workload.domain, padded)) + 1)
    else:
        buckets = np.frombuffer(edges, dtype=np.int64)
    return _solver(buckets, workload, branching, steps, objective, padded)


@dataclass(frozen=True, kw_only=True)
class DAWA(Algorithm):
    """Cells with nearly equal counts share a bucket; GreedyH's hierarchy measures the buckets' counts.

    A share ``rho`` of epsilon chooses a partition of the line into buckets whose lengths are powers of two. It is good
    if the counts within each bucket are close to each other (in L1) and if there are few buckets, because each carries
    noise. The rest of epsilon pays for a hierarchy over the buckets, weighted for the workload reduced to them, and a
    bucket's estimate is spread evenly over its cells. Two axes are laid along the Hilbert curve.

    The authors' code (``variant="published"``) adds noise to the cost of every bucket but single cells, clamps it at
    0 and takes the cheapest partition. That is not private: a candidate without noise has to beat many noisy ones over
    the same cell, which all move together, and the loss adds up over them (1.7 times its charge at n = 3, 6.1 at
    n = 8). In 2-D it also truncates its output to whole numbers, which about doubles the error.

    The private form draws a partition from the exponential mechanism instead, exactly. Its departures were chosen by
    error on the synthetic shapes, never on a dataset:

    * A bucket's cost is the deviation from its median, not from its mean: a record moves it by 1 at most, not by 2.
    * Very many partitions are nearly as good as the best, and a draw falls among them. So each bucket has a public
      price in nats: on one axis the logarithm of the number of lengths up to ``longest`` of the line.
    * On two axes a bucket starts at a multiple of its length, so it is a square of the plane or half of one; prices are
      those of a random tree in which a node of several cells is cut in two with probability ``split``.
    * The objective of GreedyH is the authors' "gram" on one axis, where it is 3 % better, and on two the intended
      "workload", which is as good and much quicker.
    * Buckets leave out the padding of the Hilbert curve, so that no estimate is lost in it.

    Error relative to the published form (2-D: without its truncation), geometric mean over shapes and scales 10^3 to
    10^8 at epsilon 0.1; buckets at every offset with price c, or aligned; the sampling error is about 0.015:

    =========  ======  ======  ========  ======  ===========  ===========  ==========  ===========  ==========
    domain     c=1.2   c=1.7   c of 1/8  c=2.7   mean, c=1.7  aligned .5   aligned .6  rho .15      rho .35
    =========  ======  ======  ========  ======  ===========  ===========  ==========  ===========  ==========
    4096       1.59    1.29    **1.07**  1.40    1.29         1.14         1.26        1.19         1.14
    64 x 64    1.61    1.48    1.67      2.02    1.74         1.21         1.18        1.37         1.22
    =========  ======  ======  ========  ======  ===========  ===========  ==========  ===========  ==========

    The private form so has 1.07 (n = 256), 1.07 (1024), 1.08 (4096), 1.19 (64 x 64) and 1.22 (128 x 128) times that
    error; in 2-D 0.6 and 0.4 times that of the published form as it is.

    Privacy
    -------
    "partition" spends rho * epsilon: the exponential mechanism over partitions at sensitivity 1, because a record is
    in one bucket of each and moves its distance from the median by at most 1; prices are public. "bucket counts" spends
    the rest on weighted counts of nested groups of buckets at sensitivity 1: the weights on every path from the root
    to a bucket add up to 1. Given the buckets, the hierarchy depends on the workload alone; spreading is
    post-processing.
    """

    name = "DAWA"
    paper = "Li, Hay, Miklau: A data- and workload-aware algorithm for range queries, PVLDB 2014"
    dimensions = (1, 2)
    hierarchical = True
    partitioning = True
    not_private = (
        "its partition step leaves single cells without noise, clamps costs at 0 and uses half of the noise that "
        "its argument needs, so its loss adds up over all buckets that hold a record"
    )
    free: ClassVar[Mapping[str, tuple[float, ...]]] = {"rho": (0.25, 0.1, 0.5, 0.05, 0.7, 0.02, 0.8, 0.9)}
    bounds: ClassVar[Mapping[str, tuple[int, int]]] = {"branching": (2, 2**16), "steps": (2, 10_000)}

    rho: float = 0.25
    """Share of epsilon that chooses the buckets."""
    longest: float = 0.125
    """One axis: part of the line up to which lengths are alike before the data speak; sets the price of a bucket."""
    split: float = 0.55
    """Two axes: probability that a square or half a square is cut in two before the data speak; sets the price."""
    branching: int = 2
    """Children of a node of the hierarchy."""
    steps: int = 100
    """Weights are multiples of one over this number."""
    objective: Literal["gram", "workload", "by axes"] = by_variant(private="by axes", published="gram")
    """What the weights are chosen for: "gram" (the authors' code), "workload", or the first on one axis only."""
    truncate: bool = by_variant(private=False, published=True)
    """Truncate the estimate towards zero on two axes, as the authors' code does."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 0 <= self.rho < 1:
            raise InvalidInput(f"rho is {self.rho}; give a number of at least 0 and below 1")
        if not 0 < self.longest <= 1:
            raise InvalidInput(f"longest is {self.longest}; give a number above 0 and at most 1")
        if not 0 < self.split < 1:
            raise InvalidInput(f"split is {self.split}; give a number above 0 and below 1")
        if self.objective not in ("gram", "workload", "by axes"):
            raise UnknownName.among("objective", self.objective, ("gram", "workload", "by axes"))

    @property
    def consistent(self) -> bool:
        """Truncation to whole numbers leaves a bias that no epsilon removes."""
        return not self.truncate

    @property
    def exchangeable(self) -> bool:
        """Truncation cuts by whole numbers whatever the scale."""
        return not self.truncate

    def estimate(self, data: PrivateData, workload: Workload) -> Floats:
        """Buckets for every trial, then each trial's counts of its own buckets."""
        structure, counting = split(data.epsilon, self.rho)
        published = self.variant == "published"
        cells = len(cells_along(data.domain, padded=published))
        # select: buckets of cells that look even, for every trial
        if structure == 0:
            cuts = np.ones((data.trials, cells + 1), dtype=bool)
        elif published:
            cuts = self._least_cost(data, structure, counting, cells)
        else:
            cuts = data.partition(self._cost(data.domain, structure), structure, "partition")
        # measure and estimate: a weighted hierarchy over each trial's own buckets
        estimate = np.empty((data.trials, *data.domain.shape))
        for trial, one in enumerate(data.each_trial("the hierarchy over each trial's buckets")):
            estimate[trial] = self._counts(one, workload, np.flatnonzero(cuts[trial]), counting)
        return np.trunc(estimate) if self.truncate and data.domain.ndim == 2 else estimate

    def _cost(self, domain: Domain, spend: Fraction) -> MedianCost:
        """What a bucket costs. In nats one record of deviation is worth spend / 2.

        On two axes the tree's probability of a partition is split^(buckets - 1) times (1 - split) for every bucket of
        several cells.
        """
        if domain.ndim == 1:
            return MedianCost(domain.size, penalty=log(max(1.0, 1 + log2(self.longest * domain.size))))
        surcharge = -log1p(-self.split) * float(2 / spend)
        return MedianCost(domain.size, penalty=-log(self.split), surcharge=surcharge, aligned=True)

    def _counts(self, data: PrivateData, workload: Workload, edges: Ints, spend: Fraction) -> Floats:
        """One trial: GreedyH over the buckets, each spread evenly over its cells."""
        objective: Objective = "workload" if data.domain.ndim == 2 else "gram"
        if self.objective != "by axes":
            objective = self.objective
        question = (workload, self.branching, self.steps, objective, self.variant == "published")
        cells = int(edges[-1])
        # the strategy; single cells and short lines recur, so theirs is kept
        if len(edges) == cells + 1:
            solver = _kept_solver(None, *question)
        elif cells <= FEW_CELLS:
            solver = _kept_solver(edges.tobytes(), *question)
        else:
            solver = _solver(edges, *question)
        # measure: weighted counts over the buckets
        strategy = solver.strategy if solver.tree.domain == data.domain else _PaddedCounts(solver.tree)
        answers = data.laplace(strategy, spend, "bucket counts")
        # estimate: least squares, without the padding
        estimate = solver.solve(answers[np.newaxis])[0]
        return np.asarray(estimate[tuple(slice(side) for side in data.domain)])

    def _least_cost(self, data: PrivateData, structure: Fraction, counting: Fraction, cells: int) -> NDArray[np.bool_]:
        """The authors' partition: independent noise on the deviation of every bucket but single cells, clamped at 0."""
        from dpbench.mathematics.kernels.least_cost import least_cost

        lengths = np.array(powers_of_two(cells), dtype=np.int64)
        noise = data.laplace(_Nothing((len(lengths), cells + 1)), structure, "costs of buckets")
        deviations = Deviations("mean", padded=True).of(data.reveal("true deviations of buckets"))
        each = (2 - 1 / lengths - 1 / cells)[:, np.newaxis]
        price = float(1 / counting)
        cuts = np.empty((data.trials, cells + 1), dtype=bool)
        for trial in range(data.trials):
            costs = np.maximum(deviations + each * noise[trial], 0.0) + price
            costs[0] = price
            cuts[trial] = least_cost(costs, lengths)
        return cuts
