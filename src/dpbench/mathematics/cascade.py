"""The posterior mean of a multiplicative cascade: counts that are split down nested boxes, seen through noise.

*Measured squares.* A tree of nested squares (sides of powers of two, cut off where an axis is shorter), each with up
to two noisy counts. Between a square and the squares inside it stand all dyadic boxes of their grid, so a box may be
cut along either axis; every measured square is a node of every such tree, which is why the mixture is exact.

*Prior.* The number of records is flat on [0, inf). A box with x records does one of these:

    U   all cells below are alike, for good                                            .08
    Z   everything goes to one half, even odds                                         .12, along an axis
    a   the first half's share is Beta(a, a), for a = 0.5, 3, 30                       .25 each
    B   binomial: a normal of variance x / 4                                           .05

A box that can be cut both ways takes either axis with even odds. Where x is so large that the sampling noise of even
cells would show, U's weight goes to B. The weights of each kind of box are learned from the answers (EM).

*Slopes.* Splits are independent under the prior, those along a slope are not: each is pulled a little towards even
halves, all in the same direction, and a long edge of a range adds that up. So where the density leans from square to
square (``mathematics/leaning.py``) the middle of B and of the narrow Betas leans with it, and U's weight goes to B; and
where every count stands out from all noise (``mathematics/settled.py``) least squares has the word.

*Answers.* Laplace noise and its discrete twin, the two-sided geometric, have the same likelihood up to a constant;
Gaussian noise has its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpbench.domain import Domain
from dpbench.errors import InvalidInput
from dpbench.mathematics.dense_line import DenseLine
from dpbench.mathematics.leaning import leaning
from dpbench.mathematics.settled import Settled, sample
from dpbench.mathematics.wide_rows import Upper, WideRows

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Known = tuple[Any, Any, Any, Any, Floats]
"""Arguments of ``kernels/cascade.py`` that all passes share."""

SHARPNESS = (0.5, 3.0, 30.0)
"""The a of the Betas, ascending."""
PRIOR = (0.08, 0.12, 0.25, 0.25, 0.25, 0.05)
"""Weights of U, Z, the Betas and B."""
PSEUDO = 1.0
"""Boxes that the prior weights count for when weights are learned."""
LARGEST_WORKSPACE = 2**22
"""Numbers per array of likelihoods above which boxes are worked out twice in place of being kept."""


@dataclass(frozen=True)
class Fineness:
    """How finely likelihoods are kept."""

    points: int = 9
    """Points of a grid at most."""
    reach: float = 3.7
    """Standard deviations of least squares that a grid goes to either side."""
    rounds: int = 3
    """Times that the weights are learned."""
    points_of_rounds: int = 7
    """Points of a grid at most while they are."""
    learned_from: int = 12
    """Squares of a size whose inside they are learned from, about."""


class Squares:
    """A tree of nested squares with noisy counts, grown from the whole domain by cutting squares."""

    def __init__(self, domain: Domain, *, gaussian: bool = False) -> None:
        if domain.ndim > 2:
            raise InvalidInput(f"nested squares are for 1 or 2 axes; the domain {domain} has {domain.ndim}")
        self.domain = domain
        self.gaussian = gaussian
        self.sides = np.array([*domain.shape, 1][:2], dtype=np.int64)
        self.log_domain = np.array([int(side - 1).bit_length() for side in self.sides.tolist()], dtype=np.int64)
        self.corner = np.zeros((1, 2), dtype=np.int64)
        self.logs = self.log_domain[None].copy()
        self.log_grid = np.zeros((1, 2), dtype=np.int64)
        self.first_child = np.full(1, -1, dtype=np.int64)
        self.answer = np.zeros((1, 2))
        self.rate = np.zeros((1, 2))
        self.asked = np.zeros((1, 2), dtype=np.int64)
        """``(squares, 2)``: the round of each answer. A round ends where :meth:`moments` looks at the answers."""
        self.rounds = 0
        self.wide: WideRows | None = None
        """Answers of wide rows over blocks, where there are some."""
        self.dense: DenseLine | None = None
        """All answers, where cells nearly all stand out; then no square has one."""
        self.cells = self._cells_from(self.corner, self.logs)
        """``(squares,)``: cells of the domain in each; 0 in padding."""

    @property
    def count(self) -> int:
        """How many squares there are."""
        return len(self.first_child)

    @property
    def height(self) -> int:
        """The logarithm of the longest side."""
        return int(self.log_domain.max())

    def cut(self, squares: Ints, level: int) -> Ints:
        """Cut squares of one size into squares of side 2^level; the numbers of those, square by square, row by row."""
        parent = self.logs[squares[0]]
        child = np.minimum(level, self.log_domain)
        grid = parent - child
        if (self.first_child[squares] >= 0).any() or (grid < 0).any() or not grid.any():
            raise InvalidInput(f"squares are cut once, into smaller ones; side {2**level} is not")
        rows, columns = (1 << grid).tolist()
        row, column = np.divmod(np.arange(rows * columns), columns)
        inside = np.stack([row << child[0], column << child[1]], axis=1)
        corner = (self.corner[squares][:, None, :] + inside).reshape(-1, 2)
        new = self.count + np.arange(len(corner))
        self.cells = np.concatenate([self.cells, self._cells_from(corner, child)])
        self.first_child[squares] = new[:: rows * columns]
        self.log_grid[squares] = grid
        self.corner = np.concatenate([self.corner, corner])
        self.logs = np.concatenate([self.logs, np.tile(child, (len(corner), 1))])
        self.log_grid = np.concatenate([self.log_grid, np.zeros_like(corner)])
        self.first_child = np.concatenate([self.first_child, np.full(len(corner), -1)])
        self.answer = np.concatenate([self.answer, np.zeros(corner.shape)])
        self.rate = np.concatenate([self.rate, np.zeros(corner.shape)])
        self.asked = np.concatenate([self.asked, np.zeros_like(corner)])
        return new[self.cells[new] > 0]

    def put(self, squares: Ints, answers: Floats, scale: float | Floats) -> None:
        """Record noisy counts of squares, beside those that they may have already; ``scale`` is that of the noise.

        Exact intervals (``exact_bars.py``) rely on this: what is asked depends on earlier answers by :meth:`moments`
        alone, apart from the total; and a square that is not cut is not left so because of its last answer.
        """
        second = (self.rate[squares, 0] > 0).astype(np.int64)
        self.answer[squares, second] = answers
        self.rate[squares, second] = 1.0 / scale
        self.asked[squares, second] = self.rounds

    def labels(self, squares: Ints) -> Ints:
        """``(cells,)``: which of some disjoint squares of one size each cell of the domain is in; -1: none."""
        size = self.logs[squares[0]]
        table = np.full(-(-self.sides // (1 << size)), -1)
        table[tuple((self.corner[squares] >> size).T)] = np.arange(len(squares))
        for axis, (side, log) in enumerate(zip(self.sides.tolist(), size.tolist(), strict=True)):
            if log:
                table = table.repeat(1 << log, axis=axis)
            if table.shape[axis] > side:
                table = table[:side] if axis == 0 else table[:, :side]
        return table.reshape(-1)

    def moments(self) -> tuple[Floats, Floats, Floats, Floats]:
        """Least squares of every square: mean and variance by what is inside, then by everything.

        In units of the squared scale of the noise.
        """
        from dpbench.mathematics.kernels.squares import square_moments

        self.rounds += 1
        return square_moments(  # type: ignore[no-any-return]
            self.first_child, self._children, self.cells.astype(np.float64), self.answer, self.rate
        )

    def spread(self, totals: Floats) -> Floats:
        """Cells ``(*domain)`` from totals ``(squares,)`` of squares without squares inside, each spread evenly."""
        rows = np.zeros(tuple(self.sides.tolist()))
        last = np.flatnonzero((self.first_child < 0) & (self.cells > 0))
        each = totals[last] / self.cells[last]
        flat = rows.reshape(-1)
        for size, mine in self.by_size(last):
            if not size.any():  # cells
                place = self.corner[last[mine]]
                flat[place[:, 0] * self.sides[1] + place[:, 1]] = each[mine]
                continue
            labels = self.labels(last[mine])
            there = np.flatnonzero(labels >= 0)
            flat[there] = each[mine][labels[there]]
        return rows.reshape(self.domain.shape)

    def by_size(self, squares: Ints) -> Iterator[tuple[Ints, Ints]]:
        """The logarithms of the sides, and which of some squares have them, size by size."""
        size = self.logs[squares, 0] * 64 + self.logs[squares, 1]
        for each in np.flatnonzero(np.bincount(size)).tolist():
            yield np.array(divmod(each, 64)), np.flatnonzero(size == each)

    def _cells_from(self, corner: Ints, logs: Ints) -> Ints:
        end = np.minimum(corner + (1 << logs), self.sides)
        extent = np.maximum(end - corner, 0)
        return np.asarray(extent[:, 0] * extent[:, 1])

    @property
    def workspace(self) -> int:
        """How many boxes likelihoods are kept for, in all."""
        return int(4 * self._children.sum())

    @property
    def tree(self) -> tuple[Ints, Ints, Ints, Floats]:
        """As kernels take it."""
        return self.first_child, self.log_grid, self.logs, self.cells.astype(np.float64)

    @property
    def _children(self) -> Ints:
        return np.where(self.first_child >= 0, 1 << (self.log_grid[:, 0] + self.log_grid[:, 1]), 0)


@dataclass(frozen=True, eq=False)
class Posterior:
    """What the answers say of the counts, under weights of the prior."""

    squares: Squares
    weights: Floats
    """``(kinds, terms)``: by kind of box U, then Z, the Betas and B along the first axis, then along the second."""
    totals: Floats
    """``(squares,)``: posterior means of squares without squares inside; 0 elsewhere."""
    total: float
    """Posterior mean of the number of records."""
    evidence: float
    """The logarithm of the answers' density, up to a constant."""
    taken: Floats
    """``(kinds, terms)``: how many boxes took each term, expected."""
    likelihoods: Likelihoods | None = field(default=None, repr=False)
    """Grids and likelihoods of every box, for draws; None where there are too many boxes to keep."""
    upper: Upper | None = field(default=None, repr=False)
    """What wide rows say of the blocks, for draws, where there are such rows."""

    @cached_property
    def mean(self) -> Floats:
        """``(*domain)``."""
        return self.squares.spread(self.totals)


@dataclass(frozen=True, eq=False)
class Likelihoods:
    """The grid of each box and the likelihood, of all answers in it, at its points.

    Box (p, q) of square v is number ``base[v] + 2 * columns * p + q``, with (rows, columns) the squares inside v and
    (p, q) heap indices along the axes: (1, 1) is v, and a box is cut into (2p, q), (2p + 1, q) or (p, 2q), (p, 2q + 1).
    """

    base: Ints
    low: Floats
    per: Floats
    points: Ints
    beta: Floats
    """``(boxes, points)``, the largest of each box 1."""
    even: Floats
    """The same if all cells are alike, over the product of the halves' scales."""
    onward: Floats
    """That of all ways to go on, or the mean of the first of two squares (``kernels/cascade.py``)."""
    log_scale: Floats
    """What beta was divided by."""
    of_boxes: Floats
    """``(4, boxes)``: cells, least squares mean and variance by what is inside, the largest even count."""

    @classmethod
    def of(cls, base: Ints, size: int, points: int) -> Likelihoods:
        """Room for so many boxes."""
        beta, (even, onward) = np.zeros((size, points)), np.empty((2, size, points))
        grids = np.zeros(size), np.ones(size), np.zeros(size, dtype=np.int64)
        return cls(base, *grids, beta, even, onward, np.zeros(size), np.zeros((4, size)))

    @property
    def bundle(self) -> tuple[Any, ...]:
        """As kernels take it."""
        return self.low, self.per, self.points, self.beta, self.even, self.onward, self.log_scale, self.of_boxes


@dataclass(frozen=True, eq=False)
class Descent:
    """Where the way down stands: of every square its grid, and the mass at the points of it."""

    low: Floats
    per: Floats
    points: Ints
    beta: Floats
    log_scale: Floats
    cap: Floats
    mass: Floats
    """``(squares, points)``."""
    even: Floats
    """``(squares, 4)``: of what is spread evenly the sum, the mass, and two moments from the grid's low end."""

    places: Ints
    """``(squares,)``: where the boxes of each begin in ``noted``."""
    noted: Floats
    """``(2, boxes)``: posterior mean and variance of every box but last squares; no boxes where none are asked for."""

    @classmethod
    def of(cls, squares: Squares, points: int, *, note: bool) -> Descent:
        """Room for these squares."""
        many, boxes = squares.count, 4 * squares._children
        beta, mass = np.zeros((2, many, points))
        grids = np.zeros(many), np.ones(many), np.zeros(many, dtype=np.int64)
        noted = np.cumsum(boxes) - boxes, np.zeros((2, int(boxes.sum()) if note else 0))
        return cls(*grids, beta, np.zeros(many), np.full(many, np.inf), mass, np.zeros((many, 4)), *noted)

    @property
    def bundle(self) -> tuple[Any, ...]:
        """As kernels take it."""
        grids = self.low, self.per, self.points, self.beta, self.log_scale, self.cap
        return *grids, self.mass, self.even, self.places, self.noted

    def shift(self, squares: Ints, by: Floats) -> None:
        """Move the mass of some squares; what would leave a grid stays at its end."""
        mass, even = self.mass[squares], self.even[squares]
        points = np.arange(mass.shape[1])
        last = (self.points[squares] - 1)[:, None]
        place = np.clip(points + (by * self.per[squares])[:, None], 0.0, last)
        below = np.minimum(place.astype(np.int64), np.maximum(last - 1, 0))
        moved = np.zeros_like(mass)
        row = np.arange(len(squares))[:, None]
        np.add.at(moved, (row, below), mass * (1.0 - (place - below)))
        np.add.at(moved, (row, np.minimum(below + 1, last)), mass * (place - below))
        self.mass[squares] = moved
        even[:, 0] = np.maximum(even[:, 0] + even[:, 1] * by, 0.0)
        self.even[squares] = even


Between = tuple[int, Callable[[Descent, Floats], None]]
"""The number of a square before which the way down stops, and what is done there, given the totals so far."""


def posterior(squares: Squares, fineness: Fineness | None = None) -> Posterior:
    """Learn the weights from the answers, then the posterior under them; settled squares are left to least squares.

    Where there are wide rows over blocks, they correct the totals of blocks before the way down goes on inside.
    """
    fineness = fineness or Fineness()
    if squares.first_child[0] < 0:
        raise InvalidInput("the whole domain is the only square; cut it before asking for its posterior")
    settled = Settled(squares)
    if squares.wide is not None:
        upper = Upper(squares, squares.wide, settled)
        found = _learned(settled.rest, fineness, known_of(settled.rest), upper.between)
        return replace(found, squares=squares, totals=upper.share_out(found.totals), likelihoods=None)
    found = _learned(settled.rest, fineness, known_of(settled.rest))
    if not settled.any:
        return found
    return replace(found, squares=settled.squares, totals=settled.share_out(found.totals), likelihoods=None)


def posterior_without_slopes(squares: Squares, fineness: Fineness) -> Posterior:
    """The same where no split leans and nothing is left to least squares: what whole tables are drawn from."""
    known = known_of(squares, np.zeros((squares.count, 2)))
    if squares.wide is None:
        return _learned(squares, fineness, known)
    upper = Upper(squares, squares.wide, Settled(squares, nothing=True))
    found = _learned(squares, fineness, known, upper.between)
    return replace(found, totals=upper.share_out(found.totals), upper=upper)


def _learned(squares: Squares, fineness: Fineness, known: Known, between: Between | None = None) -> Posterior:
    weights = start = first_weights(squares)
    some, left = sample(squares, fineness.learned_from)
    of_some = known if some is squares else known_of(some, known[4][left])
    for _ in range(fineness.rounds):
        found = given(some, weights, fineness.points_of_rounds, fineness.reach, of_some, learn=True)
        raw = found.taken + PSEUDO * start
        weights = np.where(start > 0, np.maximum(raw / raw.sum(axis=1, keepdims=True), 1e-9), 0.0)
    return given(squares, weights, fineness.points, fineness.reach, known, between=between)


def first_weights(squares: Squares) -> Floats:
    """The prior weights of every kind of box: its extents, and whether it can be cut along both axes, one or other."""
    terms = len(PRIOR) - 1
    weights = np.zeros((int(np.prod(squares.log_domain + 1)), 3, 1 + 2 * terms))
    weights[..., 0] = PRIOR[0]
    weights[:, 0, 1:] = np.tile(PRIOR[1:], 2) / 2
    weights[:, 1, 1 : 1 + terms] = PRIOR[1:]
    weights[:, 2, 1 + terms :] = PRIOR[1:]
    return weights.reshape(-1, 1 + 2 * terms)


def given(
    squares: Squares,
    weights: Floats,
    points: int,
    reach: float,
    known: Known | None = None,
    largest: int | None = None,
    *,
    learn: bool = False,
    between: Between | None = None,
) -> Posterior:
    """The posterior under given weights, on grids of so many points that reach so many standard deviations.

    To ``learn``, how many boxes took each term is counted; else it is 0. ``between``: done on the way down.
    Likelihoods are kept where they have up to ``largest`` numbers; None: ``LARGEST_WORKSPACE``.
    """
    from dpbench.mathematics.kernels import cascade

    boxes = 4 * squares._children
    kept = int(boxes.sum()) * points <= (LARGEST_WORKSPACE if largest is None else largest)
    base = np.cumsum(boxes) - boxes if kept else np.zeros_like(boxes)
    likelihoods = Likelihoods.of(base, int(boxes.sum() if kept else boxes.max()), points)
    totals, taken = np.zeros(squares.count), np.zeros(weights.shape)
    known = known or known_of(squares)
    descent = Descent.of(squares, points, note=between is not None)

    def go(first: int, last: int) -> tuple[float, float]:
        return cascade.posterior(  # type: ignore[no-any-return]
            *known[:4],
            (weights, int(squares.log_domain[1]) + 1, known[4]),
            tables(),
            reach,
            learn,
            base,
            kept,
            likelihoods.bundle,
            totals,
            taken,
            descent.bundle,
            first,
            last,
        )

    until = squares.count if between is None else between[0]
    evidence, total = go(0, until)
    if between is not None:
        between[1](descent, totals)
        go(until, squares.count)
    return Posterior(squares, weights, totals, total, evidence, taken, likelihoods if kept else None)


def known_of(squares: Squares, lean: Floats | None = None) -> Known:
    """What all passes share: the tree, its answers, least squares, the answers in a line, and how the density leans.

    The last is found by its neighbours where it is not given.
    """
    from dpbench.mathematics.kernels.squares import list_answers

    tree = squares.tree
    listed = list_answers(squares.first_child, squares._children, tree[3], squares.answer, squares.rate)
    moments = squares.moments()
    lean = leaning(squares, moments[2], moments[3]) if lean is None else lean
    return tree, (squares.answer, squares.rate, squares.gaussian), moments, listed, lean


@lru_cache(maxsize=1)
def tables() -> tuple[Floats, ...]:
    """Of each Beta: densities by distance from the middle, masses of an end, three Gauss points; and the normal's."""
    from scipy.special import betainc, roots_jacobi

    a = np.array(SHARPNESS)[:, None]
    bins, longest = 512, 4096
    edges = np.linspace(0.0, 1.0, bins + 1)[None]  # of |2 p - 1|
    above = betainc(a, a, np.minimum((1 + edges) / 2, 1.0))
    density = np.diff(above, axis=1) * 2 * bins
    end = betainc(a, a, 0.5 / np.maximum(np.arange(longest), 1)[None])
    nodes = [roots_jacobi(3, each - 1, each - 1) for each in SHARPNESS]
    spread = 0.5 / np.sqrt(2 * np.array(SHARPNESS) + 1)
    z = (np.arange(640) + 0.5) / 128
    return (
        np.ascontiguousarray(density.T),
        np.ascontiguousarray(end.T),
        np.array([(1 + node) / 2 for node, _ in nodes]),
        np.array([*(weight / weight.sum() for _, weight in nodes), [1 / 6, 2 / 3, 1 / 6]]),
        spread,
        np.exp(-(z**2) / 2) / np.sqrt(2 * np.pi),
    )
