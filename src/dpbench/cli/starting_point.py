"""An algorithm to start from.

Change it, then:

    dpbench check THIS_FILE:Mine          is it an algorithm, and is it private?
    dpbench compare THIS_FILE:Mine        against every other, without running those again

It measures two things, the cells and blocks of eight cells, and lets each block correct its cells. It works on any
number of axes: a block is eight cells that follow one another where the histogram is laid out as one line.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

import dpbench as dpb
from dpbench.mathematics.cells import Cells
from dpbench.privacy import PrivateData


@dataclass(frozen=True)
class Blocks:
    """A strategy: what is asked of the counts. It sees them, and the handle adds the noise."""

    cells: int
    width: int
    sensitivity = 1
    """By how much the answers change in sum if one record comes or goes: it is in one block."""

    @property
    def shape(self) -> tuple[int, ...]:
        """One answer per block."""
        return (-(-self.cells // self.width),)

    def answer(self, counts: NDArray[np.int64]) -> NDArray[np.int64]:
        """The true answers, which nobody but the handle sees."""
        return np.add.reduceat(counts.ravel(), np.arange(0, self.cells, self.width))


@dataclass(frozen=True, kw_only=True)
class Mine(dpb.Algorithm):
    """Noisy cells, corrected by noisy blocks."""

    name = "Mine"
    data_dependent = False
    """Its error is the same for all counts; the default, True, is always safe to say."""

    width: int = 8
    """A parameter: ``dpb.algorithms`` and plans can set it, `dpbench tune` can train it."""

    def estimate(self, data: PrivateData, workload: dpb.workloads.Workload) -> NDArray[np.float64]:
        """Counts for every trial, ``(trials, *domain)``. ``data`` never shows the true ones; it answers questions."""
        del workload  # the ranges that will be asked for; it treats all alike
        half = data.epsilon / 2
        cells = data.laplace(Cells(data.domain), half, "cells").reshape(data.trials, -1)
        blocks = data.laplace(Blocks(data.domain.size, self.width), half, "blocks")
        # A block's own answer has the noise of one cell; the sum of its cells has that of all of them. The best mean of
        # the two gives the block's answer the weight of n cells to one, and the cells share the difference equally.
        begins = np.arange(0, data.domain.size, self.width)
        lengths = np.diff(np.append(begins, data.domain.size))
        missing = (blocks - np.add.reduceat(cells, begins, axis=1)) / (lengths + 1)
        corrected = cells + np.repeat(missing, lengths, axis=1)
        return np.asarray(corrected.reshape(data.trials, *data.domain.shape))
