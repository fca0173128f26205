"""HDMM: the strategy that a search finds best for the workload, one factor per axis.

McKenna, Miklau, Hay, Machanavajjhala. Optimizing error of high-dimensional statistical queries under differential
privacy. PVLDB 11(10), 2018.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from dpbench import fitted
from dpbench.algorithm import Algorithm
from dpbench.errors import Unsupported
from dpbench.mathematics.moments import counted, grouped_axes, listed_axis, typical
from dpbench.mathematics.noise_bars import Influence
from dpbench.mathematics.p_identity import AxisStrategy, PIdentity
from dpbench.mathematics.p_identity_fit import LONGEST_SEARCH
from dpbench.mathematics.p_identity_known import ITERATIONS, STARTS, axis_strategy, known
from dpbench.mathematics.p_identity_solver import PIdentityLeastSquares
from dpbench.privacy import PrivateData, Strategy
from dpbench.workloads import Workload

SWEEPS = 2
"""How often the axes of a list of boxes are fitted again, each to boxes weighted by their variance along the others."""
QUICK, QUICK_TENTS = 512, 8192
"""Cells of an axis up to which a search takes seconds, and tents alone do."""
LONGEST = 32_768
"""Cells of the longest axis."""


@dataclass(frozen=True, kw_only=True)
class HDMM(Algorithm):
    """Weighted cells and a few wide overlapping rows along every axis, fitted to the workload; then least squares.

    Along an axis every cell is measured with part of its weight, and enters some of p wide rows with the rest
    (p-Identity). A search over all weights begins with tents, which is what its results look like, and minimises the
    expected error of the workload's ranges; plain cells or tents are kept where it finds nothing better. On several
    axes the strategy is the Kronecker product of one per axis. That suits products of ranges; for other lists of boxes
    the axes are fitted in turn, each to the boxes weighted by their variance along the others, and cells that no box
    tells apart are measured as one: still unbiased and private, if not as good as it could be. A list of
    ``RandomRange`` with at least as many boxes as the longest axis has cells is fitted to the distribution that it
    was drawn from.

    The strategies of the paper's workloads and sizes come with the package; others take a second at 256 cells and a
    minute at 4,096, once: they are kept on the disk. Axes above 16,384 cells get tents without a search, axes above
    32,768 are refused. The search stops by iterations, so the same machine always finds the same strategy.

    The publication begins with random rows and takes the best of 25 searches; tents find what those find in less time.
    Its unions of products and its marginals are not here: no workload of ranges needs them.

    Privacy
    -------
    One call spends the whole budget on the weighted cells and rows. All weights are multiples of 2^-16, and those of a
    cell add up to 1 exactly along every axis, so one record moves the answers by 1. The strategy depends on the
    workload alone. Least squares is post-processing.
    """

    name = "HDMM"
    paper = "McKenna, Miklau, Hay, Machanavajjhala: Optimizing error of high-dimensional queries, PVLDB 2018"
    data_dependent = False
    notions = ("pure", "zCDP")
    one_measurement = True
    bounds: ClassVar[Mapping[str, tuple[int, int]]] = {"starts": (1, 1000), "iterations": (0, 10**6)}

    starts: int = STARTS
    """Ladders of tents that the search of an axis of 1,024 cells begins with; shorter axes get more."""
    iterations: int = ITERATIONS
    """Steps of the search; 0: tents alone."""

    def estimate(self, data: PrivateData, workload: Workload) -> NDArray[np.float64]:
        """Noisy weighted cells and rows, then least squares along each axis."""
        solver = self._solver(workload)
        words = filter(None, ["p-Identity rows", self._tents_only(workload)])
        return solver.solve(data.measure(solver.strategy, data.budget, ", ".join(words)))

    def _prepare(self, workload: Workload) -> None:
        """Find the strategy, or search for it."""
        self._solver(workload)

    def influence(self, workload: Workload) -> Influence:
        """By least squares along each axis."""
        return self._solver(workload).influence

    def measurement(self, workload: Workload) -> tuple[Strategy, float]:
        """The weighted cells and rows, and the trace that the search minimises; on a list, the mean over its boxes."""
        solver = self._solver(workload)
        return solver.strategy, solver.mean_variance(workload)

    @property
    def files(self) -> tuple[str, ...]:
        """The strategies that come with the package."""
        return (str(fitted.SHIPPED),)

    def _tents_only(self, workload: Workload) -> str:
        """Words for an axis that is too long for a search; none where there is no such axis."""
        return _tents_only(workload)

    def _at_hand(self, workload: Workload) -> bool:
        """Whether the strategy is there, or found or refused within seconds.

        It is found on axes of up to 512 cells that ranges tell apart; tents, with no iterations, on up to 8,192.
        """
        axes, quick = grouped_axes(workload), QUICK if self.iterations else QUICK_TENTS
        in_turn = len(axes) > 1 and typical(workload).axes is None
        return all(
            not quick < axis.moment.side <= LONGEST
            or (not in_turn and known(axis.moment, self.starts, self.iterations) is not None)
            for axis in axes
        )

    def _solver(self, workload: Workload) -> PIdentityLeastSquares:
        return _solver(workload, self.starts, self.iterations)


@lru_cache(maxsize=32)
def _tents_only(workload: Workload) -> str:
    long = any(axis.moment.side > LONGEST_SEARCH for axis in grouped_axes(workload))
    return f"tents only above {LONGEST_SEARCH} cells" if long else ""


@lru_cache(maxsize=32)
def _solver(workload: Workload, starts: int, iterations: int) -> PIdentityLeastSquares:
    """The strategy for a workload and its solution, kept between calls: they depend on public things alone."""
    axes = grouped_axes(workload)
    for axis in axes:
        if axis.moment.side > LONGEST:
            raise Unsupported(
                f"HDMM fits axes of up to {LONGEST:,} cells; {workload.domain} has one of {axis.moment.side:,}; use HbW"
            )
    edges = tuple(axis.edges for axis in axes)

    def solver(strategies: Iterable[AxisStrategy]) -> PIdentityLeastSquares:
        return PIdentityLeastSquares(PIdentity(workload.domain, edges, tuple(strategies)))

    # one strategy per axis, each for itself
    found = [solver(axis_strategy(axis.moment, starts, iterations) for axis in axes)]
    if typical(workload).axes is None:
        # a list of boxes is no product: the axes in turn, each given the others
        ranges = counted(workload)
        for number in list(range(len(axes))) * (SWEEPS if len(axes) > 1 else 0):
            others = np.delete(found[-1].variances(ranges), number, axis=0)
            moment = listed_axis(ranges, number, ranges.weights**2 * others.prod(axis=0)).moment
            strategies = list(found[-1].strategy.axes)
            strategies[number] = axis_strategy(moment, starts, iterations)
            found.append(solver(strategies))
    # plain cells, and of all these the best
    found.append(solver(AxisStrategy.cells(axis.moment.side) for axis in axes))
    return min(found, key=lambda each: each.mean_variance(workload))
