"""Multiplicative weights: an estimate with a known total that is bent towards noisy answers, one query at a time.

Each answer m to a query with weight w on a box multiplies the cells of the box by exp(w (m - w x_in) / (2 N)), where
x_in is what the estimate has in the box and N the total, to which the estimate is then rescaled. After a
new answer all answers so far are replayed many times.

The estimate starts uniform, so cells that the same boxes cover stay equal for ever. Such a set of cells is an atom; the
replays run on masses of atoms, and only at the end of a round does an estimate over cells exist.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dpbench.domain import Domain
from dpbench.mathematics.worst_answered import Queries

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


class MultiplicativeWeights:
    """Estimates for a batch of trials that learn from noisy answers to boxes; exactly the dense update."""

    def __init__(self, domain: Domain, totals: Floats, rounds: int, replays: int) -> None:
        """Start uniform with ``totals`` ``(trials,)``, ready for ``rounds`` answers; no total above 0 gives zeros."""
        from dpbench.mathematics.kernels.multiplicative_weights import BLOCK, GROUP

        trials = len(totals)
        # each box adds at most two boundaries along each axis
        capacity, in_block = (min(domain.size, (2 * boxes + 1) ** domain.ndim) for boxes in (rounds, BLOCK))
        blocks = -(-rounds // BLOCK)
        groups = -(-blocks // GROUP)
        self._domain = domain
        self._shape = np.array(domain.shape, dtype=np.int64)
        self._replays = replays
        self._learned = 0
        self._totals = np.maximum(np.asarray(totals, dtype=np.float64), 0.0)
        self._weights = np.zeros((trials, rounds))
        self._answers = np.zeros((trials, rounds))
        self._label = np.zeros((trials, domain.size), dtype=np.int32)
        self._atoms = np.ones(trials, dtype=np.int64)
        self._size = np.zeros((trials, capacity), dtype=np.int64)
        self._size[:, 0] = domain.size
        self._mass = np.zeros((trials, capacity))
        self._mass[:, 0] = self._totals
        self._face = np.zeros((trials, blocks, capacity), dtype=np.int32)
        self._signature = np.zeros((trials, blocks, in_block), dtype=np.int64)
        self._faces = np.ones((trials, blocks), dtype=np.int64)
        self._facet = np.zeros((trials, groups, capacity), dtype=np.int32)
        self._facets = np.ones((trials, groups), dtype=np.int64)

    @property
    def atoms(self) -> Ints:
        """Number of atoms of each trial, ``(trials,)``."""
        return self._atoms.copy()

    def learn(self, lower: Ints, upper: Ints, weights: Floats, answers: Floats) -> None:
        """Take in one more answer a trial, and replay all; corners ``(trials, axes)``, the others ``(trials,)``."""
        from dpbench.mathematics.kernels.multiplicative_weights import cut, replay

        number = self._learned
        self._weights[:, number], self._answers[:, number] = weights, answers
        cut(
            self._shape,
            np.ascontiguousarray(lower),
            np.ascontiguousarray(upper),
            number,
            self._label,
            self._size,
            self._mass,
            self._atoms,
            self._face,
            self._signature,
            self._faces,
            self._facet,
            self._facets,
        )
        self._learned = number + 1
        replay(
            self._mass,
            self._atoms,
            self._face,
            self._signature,
            self._faces,
            self._facet,
            self._facets,
            self._weights,
            self._answers,
            self._totals,
            self._learned,
            self._replays,
        )

    def estimate(self) -> Floats:
        """Estimated counts, ``(trials, *domain)``."""
        from dpbench.mathematics.kernels.multiplicative_weights import spread

        cells = np.empty(self._label.shape)
        spread(self._label, self._size, self._mass, self._atoms, cells)
        return cells.reshape(-1, *self._domain.shape)


class Replays:
    """Multiplicative weights over the queries of a workload, as MWEM learns by them."""

    def __init__(self, queries: Queries, totals: Floats, rounds: int, replays: int) -> None:
        self._queries = queries
        self._weights = MultiplicativeWeights(queries.boxes.domain, totals, rounds, replays)
        self._estimate = self._weights.estimate()

    def learn(self, chosen: Ints, totals: Floats) -> None:
        """Take in the noisy total of one more query's box per trial, and replay all; both ``(trials,)``."""
        queries, coefficients = self._queries, self._queries.coefficients[chosen]
        self._weights.learn(queries.lower[chosen], queries.upper[chosen], coefficients, coefficients * totals)
        self._estimate = self._weights.estimate()

    def answers(self) -> Floats:
        """Totals of all queries' boxes by the estimate, ``(trials, q)``."""
        return np.asarray(self._queries.boxes.answer(self._estimate))

    def estimate(self) -> Floats:
        """Estimated counts, ``(trials, *domain)``."""
        return self._estimate
