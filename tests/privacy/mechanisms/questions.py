"""Small questions of every mechanism, and all the outcomes that each of them can have."""

from dataclasses import dataclass
from itertools import product
from typing import ClassVar

import numpy as np

from dpbench.domain import Domain
from dpbench.mathematics.box_tree import BoxTree
from dpbench.mathematics.cells import Cells
from dpbench.privacy import (
    AboveThreshold,
    Exponential,
    Gaussian,
    GroupedExponential,
    Laplace,
    NoisyMax,
    Partition,
    PermuteAndFlip,
    PrivTree,
)
from dpbench.privacy.mechanisms.grouped import GroupedGumbelMax

CELLS = 5
COUNTS = np.array([3, 4, 2, 5, 3])


@dataclass(frozen=True)
class CellCounts:
    """The count of a cell is its score; a record moves one of them, so they are monotone."""

    monotone: bool = True
    sensitivity: int = 1
    lattice: ClassVar = 1
    starts: ClassVar = np.array([0, 2, 5])

    def score(self, counts):
        return counts.astype(float)


@dataclass(frozen=True)
class Distances:
    """Minus the distance of each cell from 3 records: a record moves it either way."""

    sensitivity: int = 1
    monotone: bool = False
    lattice: ClassVar = 1

    def score(self, counts):
        return -np.abs(counts - 3.0)


@dataclass(frozen=True)
class Sums:
    """Running sums of cells, or of cells with changing signs, and whether they are above a number."""

    monotone: bool = True
    threshold: float = 6.0
    sensitivity: int = 1

    def answers(self, counts):
        return np.cumsum(counts if self.monotone else counts * np.resize([1, -1], len(counts))).astype(float)


@dataclass(frozen=True)
class Deviations:
    """The cost of an interval is how far its cells are from their mean."""

    lengths: tuple[int, ...] = (1, 2, 3)
    sensitivity: int = 2
    penalty: float = 0.3

    def cost(self, counts):
        n = len(counts)
        costs = np.zeros((len(self.lengths), n + 1))
        for k, length in enumerate(self.lengths):
            for end in range(length, n + 1):
                piece = counts[end - length : end]
                costs[k, end] = np.abs(piece - piece.mean()).sum()
        return costs


LINE = Domain((CELLS,))
MECHANISMS = {
    "laplace": Laplace(Cells(LINE)),
    "gaussian": Gaussian(Cells(LINE)),
    "exponential": Exponential(CellCounts()),
    "exponential, not monotone": Exponential(Distances()),
    "grouped": GroupedExponential(CellCounts()),
    "grouped, by Gumbel draws": GroupedGumbelMax(CellCounts()),
    "permute and flip": PermuteAndFlip(CellCounts()),
    "permute and flip, not monotone": PermuteAndFlip(Distances()),
    "noisy max": NoisyMax(CellCounts()),
    "noisy max, not monotone": NoisyMax(Distances()),
    "above threshold": AboveThreshold(Sums()),
    "above threshold, not monotone": AboveThreshold(Sums(monotone=False, threshold=1.0)),
    "partition": Partition(Deviations(), CELLS),
    "priv tree": PrivTree(BoxTree(LINE)),
    "priv tree, above 3": PrivTree(BoxTree(LINE), threshold=3.0),
}
DISCRETE = {name: each for name, each in MECHANISMS.items() if not isinstance(each, Laplace)}


def every_outcome(mechanism):
    """All outcomes on five cells, ``(outcomes, ...)``."""
    if isinstance(mechanism, GroupedExponential):
        return np.array(list(product(range(2), range(3))))
    if isinstance(mechanism, Exponential):
        return np.arange(CELLS)
    if isinstance(mechanism, AboveThreshold):
        return np.arange(CELLS + 1)
    if isinstance(mechanism, Partition):
        cuts = [(True, *inner, True) for inner in product([False, True], repeat=CELLS - 1)]
        return np.array([each for each in cuts if max(np.diff(np.flatnonzero(each))) <= 3])
    return np.array(list(decompositions(mechanism.first_child)))


def decompositions(first_child):
    """Every way to cut a tree from the root down, as booleans per node."""
    nodes = len(first_child) - 1

    def below(node):
        """Sets of cut nodes in the subtree."""
        children = range(first_child[node], first_child[node + 1])
        yield frozenset()
        if children:
            for parts in product(*(list(below(child)) for child in children)):
                yield frozenset({node}).union(*parts)

    for cut in below(0):
        yield [node in cut for node in range(nodes)]
