"""Regularised maximum entropy: the estimate nearest to uniform whose totals of boxes are near noisy answers.

Among all histograms p with a known total, shares of it taken, the one is wanted that minimises

    KL(p || uniform) + sum over answers i of (p(box i) - t_i)^2 / (2 penalty).

Multiplicative weights, replayed with ever smaller steps, end where the penalty is 0; a penalty in proportion to the
noise keeps the estimate from following the noise. The dual problem has one multiplier per answer, is strictly concave,
and is solved by Newton's method (``kernels/entropy_ascent.py``), each round from where the last one ended.

Arithmetic has accidents. A trial that meets something that is no number, or whose last round ends far from the
solution, is done again by multiplicative weights, and is listed in :attr:`MaximumEntropy.replayed`.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from dpbench.given import afford
from dpbench.mathematics.multiplicative_weights import Replays
from dpbench.mathematics.worst_answered import Queries

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]

PENALTY = 0.1
"""Penalty over the standard deviation of an answer, which is a share of the total here."""
STEPS, LAST_STEPS = 5, 10
"""Newton steps of a round and of the last round, at most."""
TOLERANCE, LAST_TOLERANCE = 1.0, 0.1
"""A round ends where every answer is met to within so many standard deviations, the penalty's pull aside."""
FAR = 1.0
"""The last round has failed where an answer is further off than so many."""
LEAST_DEVIATION = 1e-9
"""An answer is never taken to be more exact than this share of the total: double precision is not."""


class MaximumEntropy:
    """Estimates for a batch of trials, on one or two axes, that learn from noisy totals of boxes."""

    def __init__(self, queries: Queries, totals: Floats, rounds: int, deviation: float, replays: int) -> None:
        """Start uniform with ``totals`` ``(trials,)``, ready for ``rounds`` answers of that standard deviation.

        ``replays`` are those of multiplicative weights, should they be needed. No total above 0 gives zeros.
        """
        self._queries, self._rounds, self._replays = queries, rounds, replays
        self._totals = np.maximum(np.asarray(totals, dtype=np.float64), 0.0)
        trials = len(self._totals)
        self._divisor = np.where(self._totals > 0, self._totals, 1.0)
        self._deviation = np.maximum(deviation / self._divisor, LEAST_DEVIATION)
        self._solver: Solver = (Prefixes if queries.prefixes else Boxes)(queries, trials, rounds)
        self._active = self._totals > 0
        self._learned = 0
        self._chosen = np.zeros((trials, rounds), dtype=np.int64)
        self._answers = np.zeros((trials, rounds))
        self._instead: dict[int, Replays] = {}

    @property
    def replayed(self) -> tuple[int, ...]:
        """Numbers of the trials that were done again by multiplicative weights."""
        return tuple(sorted(self._instead))

    def learn(self, chosen: Ints, answers: Floats) -> None:
        """Take in the noisy total of one more box per trial; ``chosen`` of the queries, both ``(trials,)``."""
        self._chosen[:, self._learned], self._answers[:, self._learned] = chosen, answers
        self._learned += 1
        last = self._learned == self._rounds
        left = self._solver.learn(
            chosen,
            answers / self._divisor,
            self._active,
            PENALTY * self._deviation,
            (LAST_TOLERANCE if last else TOLERANCE) * self._deviation,
            LAST_STEPS if last else STEPS,
        )
        failed = ~(left <= FAR * self._deviation) if last else ~np.isfinite(left)
        for trial, replays in self._instead.items():
            replays.learn(chosen[trial : trial + 1], answers[trial : trial + 1])
        for trial in np.flatnonzero(failed & self._active).tolist():
            self._start_again(trial)

    def answers(self) -> Floats:
        """Totals of all queries' boxes by the estimate, ``(trials, q)``."""
        answers = self._solver.answers(self._totals)
        for trial, replays in self._instead.items():
            answers[trial] = replays.answers()[0]
        return answers

    def estimate(self) -> Floats:
        """Estimated counts, ``(trials, *domain)``."""
        estimate = self._solver.estimate(self._totals)
        for trial, replays in self._instead.items():
            estimate[trial] = replays.estimate()[0]
        return estimate

    def _start_again(self, trial: int) -> None:
        """All that a trial has learned once more, by multiplicative weights."""
        replays = Replays(self._queries, self._totals[trial : trial + 1], self._rounds, self._replays)
        for number in range(self._learned):
            replays.learn(self._chosen[[trial], number], self._answers[[trial], number])
        self._instead[trial] = replays
        self._active[trial] = False


class Solver(Protocol):
    """The dual problem of a batch of trials."""

    def __init__(self, queries: Queries, trials: int, rounds: int) -> None: ...

    def learn(
        self, chosen: Ints, targets: Floats, active: Flags, penalties: Floats, tolerances: Floats, steps: int
    ) -> Floats:
        """One more answer, as a share of the total, per active trial; the largest gradients left, ``(trials,)``."""
        ...

    def answers(self, totals: Floats) -> Floats:
        """Totals of all queries' boxes, ``(trials, q)``."""
        ...

    def estimate(self, totals: Floats) -> Floats:
        """Counts, ``(trials, *domain)``."""
        ...


class Prefixes:
    """Prefixes of a line: a step takes as long as there are answers."""

    def __init__(self, queries: Queries, trials: int, rounds: int) -> None:
        cells = queries.boxes.domain.size
        self._upper = np.ascontiguousarray(queries.upper[:, 0])
        self._every = len(self._upper) == cells and bool((self._upper == np.arange(1, cells + 1)).all())
        self._places = np.arange(cells + 1.0)
        self._known = np.zeros(trials, dtype=np.int64)
        self._ends = np.zeros((trials, rounds + 2), dtype=np.int64)
        self._ends[:, 1] = cells
        self._targets, self._theta = np.zeros((trials, rounds)), np.zeros((trials, rounds))
        self._density = np.zeros((trials, rounds + 1))
        self._density[:, 0] = 1.0 / cells

    def learn(
        self, chosen: Ints, targets: Floats, active: Flags, penalties: Floats, tolerances: Floats, steps: int
    ) -> Floats:
        """See :class:`Solver`."""
        from dpbench.mathematics.kernels.entropy_prefixes import learn

        left = np.zeros(len(active))
        ends = self._upper[chosen]
        learn(
            ends, targets, active, self._known, self._ends, self._targets, self._theta, self._density, penalties,
            tolerances, steps, left,
        )  # fmt: skip
        return left

    def answers(self, totals: Floats) -> Floats:
        """See :class:`Solver`."""
        from dpbench.mathematics.kernels.entropy_prefixes import running_sums

        sums = np.empty((len(totals), len(self._places) - 1))
        running_sums(self._known, self._ends, self._density, totals, self._places, sums)
        return sums if self._every else sums[:, self._upper - 1]

    def estimate(self, totals: Floats) -> Floats:
        """See :class:`Solver`."""
        from dpbench.mathematics.kernels.entropy_prefixes import spread

        cells = np.empty((len(totals), len(self._places) - 1))
        spread(self._known, self._ends, self._density, totals, cells)
        return cells


class Boxes:
    """Boxes on one or two axes; a line is a domain of one row."""

    def __init__(self, queries: Queries, trials: int, rounds: int) -> None:
        domain = queries.boxes.domain
        self._domain = domain
        afford(trials * rounds * rounds, f"the equations of {rounds} rounds")
        rows, columns = (1, domain.size) if domain.ndim == 1 else domain.shape
        self._corners = np.empty((len(queries.lower), 4), dtype=np.int64)
        self._corners[:, :2] = 0, 1
        for axis in range(domain.ndim):
            place = 4 - 2 * domain.ndim + 2 * axis
            self._corners[:, place], self._corners[:, place + 1] = queries.lower[:, axis], queries.upper[:, axis]
        # each box adds at most two cuts to an axis
        high, wide = (min(side, 2 * rounds + 1) for side in (rows, columns))
        self._sizes = np.repeat([[0, 1, 1]], trials, axis=0)
        self._cuts = tuple(np.zeros((trials, pieces + 1), dtype=np.int64) for pieces in (high, wide))
        self._place = tuple(np.zeros((trials, side + 1), dtype=np.int64) for side in (rows, columns))
        self._part = tuple(np.tile(np.arange(side + 1) / side, (trials, 1)) for side in (rows, columns))
        for cuts, side in zip(self._cuts, (rows, columns), strict=True):
            cuts[:, 1] = side
        self._boxes, self._spans = (np.zeros((trials, rounds, 4), dtype=np.int64) for _ in range(2))
        self._targets, self._theta, self._inside = (np.zeros((trials, rounds)) for _ in range(3))
        self._factor = np.zeros((trials, rounds, rounds))
        self._density = np.zeros((trials, high * wide))
        self._density[:, 0] = 1.0 / domain.size
        self._table = np.zeros((trials, (high + 1) * (wide + 1)))
        self._table[:, 3] = 1.0

    def learn(
        self, chosen: Ints, targets: Floats, active: Flags, penalties: Floats, tolerances: Floats, steps: int
    ) -> Floats:
        """See :class:`Solver`."""
        from dpbench.mathematics.kernels.entropy_boxes import learn

        left = np.zeros(len(active))
        learn(
            self._corners[chosen], targets, active, self._sizes, self._cuts[0], self._cuts[1], self._place[0],
            self._part[0], self._place[1], self._part[1], self._boxes, self._spans, self._targets, self._theta,
            self._inside, self._factor, self._density, self._table, penalties, tolerances, steps, left,
        )  # fmt: skip
        return left

    def answers(self, totals: Floats) -> Floats:
        """See :class:`Solver`."""
        from dpbench.mathematics.kernels.entropy_boxes import box_counts

        counts = np.empty((len(totals), len(self._corners)))
        (place0, place1), (part0, part1) = self._place, self._part
        box_counts(self._sizes, self._table, place0, part0, place1, part1, self._corners, totals, counts)
        return counts

    def estimate(self, totals: Floats) -> Floats:
        """See :class:`Solver`."""
        from dpbench.mathematics.kernels.entropy_boxes import spread

        cells = np.empty((len(totals), self._domain.size))
        spread(self._sizes, self._cuts[0], self._cuts[1], self._density, totals, cells)
        return cells.reshape(-1, *self._domain.shape)
