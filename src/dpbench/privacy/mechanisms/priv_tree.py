"""PrivTree's decomposition (Zhang, Xiao, Xie: SIGMOD 2016): which regions of a public tree to cut, for one price.

From the root on, a region at depth t with count c is cut where max(h - d, c - t d) plus Laplace noise of scale b is above
the threshold h. Only the cuts come out, never a noisy count.

Proof. Let B bound the number of children, D the change of a count, d = b ln B, and P(s) the probability that a region of score
s is cut. A record is in the regions of one path; all other decisions have the same probability on both sides. Take the data
that have the record. Counts never grow along a path, so the scores c - t d on it fall by at least d per level. Without the
record they are lower by at most D, and never below h - d. So the cuts of the path cost at most the sum over its regions of

    log P(s) - log P(max(h - d, s - D)) = integral over u in (0, D) of g(s - u) [s - u > h - d],

where g = (log P)' is 1 / b below h and at most exp(-(s - h) / b) / b above it. For each u the numbers s - u are at least d
apart, and those that count are above h - d: one of them may lie in (h - d, h], where g is 1 / b, the next above h, above
h + d, ..., where g is at most 1 / b, 1 / (B b), 1 / (B^2 b), ...: together at most (1 + B / (B - 1)) / b. Hence the cuts cost
at most (D / b) (2 B - 1) / (B - 1), whatever the depth, and b = (D / e) (2 B - 1) / (B - 1) spends e. The one region of the path that
is not cut counts the other way, and costs at most D / b by itself.

A tree may cost nearly e in one direction and a leaf D / b in the other, so log-ratios of two outcomes may differ by more than
e: zCDP charges e^2 / 2.
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

if TYPE_CHECKING:
    from dpbench.privacy.asking import NestedCounts, Statistic
    from dpbench.privacy.noise import NoiseSource

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
        return self.claim, int(self.tree.fanout), float(self.threshold), self.first_child.tobytes()

    def truth(self, counts: Any) -> Floats:
        """Counts of all regions, ``(nodes,)``."""
        return np.asarray(self.tree.counts(counts), dtype=np.float64)

    def refusal(self, truth: Floats, trials: int) -> str:
        """No tree, a wrong shape, a child with more than its parent, or counts that are not exact."""
        del trials
        nodes = len(self.children)
        if self.first_child[0] != 1 or self.first_child[-1] != nodes or (self.children < 0).any():
            return "is no tree in breadth-first order; first_child begins with 1 and ends with the number of nodes"
        if not 2 <= self.tree.fanout or self.children.max() > self.tree.fanout:
            return "has a region with more children than its fan-out, or a fan-out below 2"
        if truth.shape != (nodes,):
            return f"counted with shape {truth.shape}; wanted {(nodes,)}"
        if (truth[1:] > np.repeat(truth, self.children)).any():
            return "has a region with more records than the region around it; children lie inside their parent"
        return inexact(truth, 0, self.claim)

    def level(self, loss: Fraction) -> float:
        """The noise scale, rounded up."""
        fanout = int(self.tree.fanout)
        return noise_scale(self.claim * Fraction(2 * fanout - 1, fanout - 1), loss)

    def noise_words(self, level: float) -> str:
        """The scale."""
        return f"Laplace noise of scale {level:g}"

    def scores(self, truth: Floats, level: float) -> Floats:
        """Biased counts less the threshold, in noise scales, ``(nodes,)``."""
        decay = level * float(np.log(self.tree.fanout))
        depth = np.repeat(np.arange(len(self.levels)), [span.stop - span.start for span in self.levels])
        return np.asarray(np.maximum(-decay, truth - self.threshold - depth * decay) / level)

    def draw(self, truth: Floats, level: float, noise: NoiseSource) -> NDArray[np.bool_]:
        """Level by level; a trial draws noise for the regions that it reaches alone. ``(trials, nodes)``."""
        scores = self.scores(truth, level)
        cut = np.zeros((noise.trials, len(truth)), dtype=np.bool_)
        for trial in range(noise.trials):
            own, reached = noise.only(trial), np.flatnonzero(self.children[:1])
            while len(reached):
                above = own.laplace(scores[reached], 1.0, reached.shape)[0] > 0
                reached = reached[above]
                cut[trial, reached] = True
                many = self.children[reached]
                below = np.repeat(self.first_child[reached] - np.cumsum(many) + many, many) + np.arange(many.sum())
                reached = below[self.children[below] > 0]
        return cut

    def log_density(self, outcome: NDArray[np.bool_], truth: Floats, level: float) -> Floats:
        """Sum over the regions that are reached of the log-probability of what was decided."""
        kept, cut = self._logs(truth, level)
        return np.array([self._log_probability(each, kept, cut) for each in outcome])

    def _log_probability(self, cut: NDArray[np.bool_], kept_log: Floats, cut_log: Floats) -> float:
        reached = np.concatenate([[True], np.repeat(cut, self.children)])
        if (cut & ~reached).any() or cut[self.children == 0].any():
            return -np.inf
        return float(cut_log[cut].sum() + kept_log[reached & ~cut].sum())

    def _logs(self, truth: Floats, level: float) -> tuple[Floats, Floats]:
        """Log-probabilities that each region stays whole, and that it is cut; a region without children stays whole."""
        scores = self.scores(truth, level)
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
