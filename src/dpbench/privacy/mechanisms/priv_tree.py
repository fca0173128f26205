"""PrivTree's decomposition (Zhang, Xiao, Xie: SIGMOD 2016): which regions of a public tree to cut, for one price.

From the root on, a region at depth t with count c is cut where max(h - d, c - t d) plus Laplace noise of scale b is
above the threshold h. Only the cuts come out, never a noisy count.

Proof. Let B bound the number of children, D the change of a count, d = b ln B, and P(s) the probability that a region
of score s is cut. A record is in the regions of one path; all other decisions have the same probability on both
sides. Take the data that have the record. Counts never grow along a path, so the scores c - t d on it fall by at
least d per level. Without the record they are lower by at most D, and never below h - d. So the cuts of the path cost
at most the sum over its regions of

    log P(s) - log P(max(h - d, s - D)) = integral over u in (0, D) of g(s - u) [s - u > h - d],

where g = (log P)' is 1 / b below h and at most exp(-(s - h) / b) / b above it. For each u the numbers s - u are at
least d apart, and those that count are above h - d: one of them may lie in (h - d, h], where g is 1 / b, the next
above h, above h + d, ..., where g is at most 1 / b, 1 / (B b), 1 / (B^2 b), ...: together at most (1 + B / (B - 1)) /
b. Hence the cuts cost at most (D / b) (2 B - 1) / (B - 1), whatever the depth, and b = (D / e) (2 B - 1) / (B - 1)
spends e. The one region of the path that is not cut counts the other way, and costs at most D / b by itself.

A tree may cost nearly e in one direction and a leaf D / b in the other, so log-ratios of two outcomes may differ by
more than e: zCDP charges e^2 / 2.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from dpbench.privacy.budget import noise_scale
from dpbench.privacy.mechanisms.laplace import inexact
from dpbench.privacy.mechanisms.mechanism import Mechanism, claimed
from dpbench.workloads.summed_area import trial_blocks

if TYPE_CHECKING:
    from dpbench.privacy.noise import NoiseSource
    from dpbench.privacy.protocols import NestedCounts, Statistic

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class PrivTree(Mechanism):
    """Cuts of a public tree, ``(nodes,)`` in breadth-first order: True where a region is cut into its children."""

    tree: NestedCounts
    threshold: float = 0.0
    """Count above which a region at the root is rather cut than not."""

    name = "priv tree"

    @cached_property
    def claim(self) -> Fraction:
        """Largest change of a region's count."""
        return claimed(self.tree.sensitivity, f"the sensitivity of {self.label}")

    @property
    def statistic(self) -> Statistic | None:
        """What the tree asks to be shown."""
        return getattr(self.tree, "statistic", None)

    @property
    def label(self) -> str:
        """The name of the tree."""
        return type(self.tree).__name__

    @cached_property
    def fanout(self) -> int:
        """Largest number of children, as the tree says it first."""
        return int(self.tree.fanout)

    @cached_property
    def first_child(self) -> Ints:
        """``(nodes + 1,)``."""
        return np.asarray(self.tree.first_child, dtype=np.int64)

    @cached_property
    def children(self) -> Ints:
        """``(nodes,)``: how many children each region has."""
        return np.diff(self.first_child)

    @cached_property
    def levels(self) -> list[slice]:
        """Nodes of equal depth, root first."""
        spans, first, last = [], 0, 1
        while first < last:
            spans.append(slice(first, last))
            first, last = int(self.first_child[first]), int(self.first_child[last])
        return spans

    def public(self) -> tuple[object, ...]:
        """Claim, fan-out, threshold and the shape of the tree."""
        return self.claim, self.fanout, float(self.threshold), self.first_child.tobytes()

    def truth(self, counts: Any) -> Floats:
        """Counts of all regions, ``(nodes,)``."""
        return np.asarray(self.tree.counts(counts), dtype=np.float64)

    def refusal(self, truth: Floats, trials: int) -> str:
        """No tree, a wrong shape, a child with more than its parent, or counts that are not exact."""
        del trials
        if not np.isfinite(self.threshold):
            return f"has a threshold of {self.threshold}; give a finite number"
        nodes = len(self.children)
        if self.first_child[0] != 1 or self.first_child[-1] != nodes or (self.children < 0).any():
            return "is no tree in breadth-first order; first_child begins with 1 and ends with the number of nodes"
        if self.fanout < 2 or self.children.max() > self.fanout:
            return "has a region with more children than its fan-out, or a fan-out below 2"
        if truth.shape != (nodes,):
            return f"counted with another shape than {(nodes,)}; give one count per region"
        if (truth[1:] > np.repeat(truth, self.children)).any():
            return "has a region with more records than the region around it; children lie inside their parent"
        return inexact(truth, 0, self.claim)

    def level(self, loss: Fraction) -> float:
        """The noise scale, rounded up."""
        fanout = self.fanout
        return noise_scale(self.claim * Fraction(2 * fanout - 1, fanout - 1), loss)

    def noise_words(self, level: float) -> str:
        """The scale."""
        return f"Laplace noise of scale {level:g}"

    @property
    def no_exact_draw(self) -> str:
        """A chance is a power of e times a power of the fan-out, for which there is no coin in exact arithmetic yet."""
        return "its chances are powers of e times powers of the fan-out, for which there is no exact coin"

    def scores(self, counts: Floats, depth: Any, level: float) -> Floats:
        """Biased counts of regions at a depth, less the threshold, in noise scales."""
        decay = level * float(np.log(self.fanout))
        return np.asarray(np.maximum(-decay, counts - self.threshold - depth * decay) / level)

    def draw(self, truth: Floats, level: float, noise: NoiseSource) -> NDArray[np.bool_]:
        """Level by level, ``(trials, nodes)``; a decision is a coin of known chance, tossed where a trial gets."""
        streams = [noise.only(trial) for trial in range(noise.trials)]
        cut = np.zeros((noise.trials, len(truth)), dtype=np.bool_)
        trial = np.arange(noise.trials if self.children[0] else 0)
        region = np.zeros(len(trial), dtype=np.int64)
        for depth in range(len(self.levels) - 1):
            scores = self.scores(truth[region], depth, level)
            chance = np.where(scores > 0, 1 - 0.5 * np.exp(-np.abs(scores)), 0.5 * np.exp(-np.abs(scores)))
            own, sizes = np.unique(trial, return_counts=True)
            tosses = [streams[each].uniform((size,))[0] for each, size in zip(own, sizes, strict=True)]
            above = np.concatenate([*tosses, np.zeros(0)]) < chance
            trial, region = trial[above], region[above]
            cut[trial, region] = True
            many = self.children[region]
            trial = np.repeat(trial, many)
            region = np.repeat(self.first_child[region] - np.cumsum(many) + many, many) + np.arange(many.sum())
            inner = self.children[region] > 0
            trial, region = trial[inner], region[inner]
        return cut

    def log_density(self, outcome: NDArray[np.bool_], truth: Floats, level: float) -> Floats:
        """Sum over the regions that are reached of the log-probability of what was decided."""
        kept_log, cut_log = self._logs(truth, level)
        inner = self.children > 0
        cut_log[~inner] = 0.0  # a cell that is cut is impossible, and found below
        result = np.empty(len(outcome))
        for block in trial_blocks(len(outcome), len(truth)):
            cut = outcome[block]
            reached = np.concatenate([np.ones((len(cut), 1), dtype=np.bool_), np.repeat(cut, self.children, axis=1)], 1)
            possible = ~(cut & ~(reached & inner)).any(axis=1)
            result[block] = np.where(possible, cut @ cut_log + (reached & ~cut) @ kept_log, -np.inf)
        return result

    def _logs(self, truth: Floats, level: float) -> tuple[Floats, Floats]:
        """Log-probabilities that each region stays whole, and that it is cut; a region without children stays whole."""
        depth = np.repeat(np.arange(len(self.levels)), [span.stop - span.start for span in self.levels])
        scores = self.scores(truth, depth, level)
        tail, rest = -np.abs(scores) - np.log(2.0), np.log1p(-0.5 * np.exp(-np.abs(scores)))
        kept, cut = np.where(scores > 0, tail, rest), np.where(scores > 0, rest, tail)
        return np.where(self.children > 0, kept, 0.0), np.where(self.children > 0, cut, -np.inf)

    def largest_loss(self, one: Floats, other: Floats, level: float) -> float:
        """Exact: the best of all decompositions, in both directions, by dynamic programming from the leaves up."""
        (kept, cut), (kept_there, cut_there) = self._logs(one, level), self._logs(other, level)
        losses = []
        for sign in (1.0, -1.0):
            best = sign * (kept - kept_there)
            for above, under in reversed(list(pairwise(self.levels))):
                inner = above.start + np.flatnonzero(self.children[above])
                below = np.add.reduceat(best[under], self.first_child[inner] - under.start)
                best[inner] = np.maximum(best[inner], sign * (cut[inner] - cut_there[inner]) + below)
            losses.append(float(best[0]))
        return max(losses)

    def rounding(self, one: Floats, other: Floats, level: float, outcome: NDArray[Any] | None = None) -> Floats:
        """The score of the root, times the depth, times a few units in the last place."""
        del other, outcome
        return np.asarray((1 + abs(one[0]) / level) * len(self.levels) * 2.0**-48)
