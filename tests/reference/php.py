"""PHP, slowly: deviations from their definition, clusters in a list, one decision at a time."""

from __future__ import annotations

from collections import deque
from fractions import Fraction

import numpy as np


def deviation(counts, start, stop):
    """Sum of |x_i - mean| over [start, stop), as an exact fraction."""
    part = [Fraction(int(count)) for count in counts[start:stop]]
    mean = sum(part) / len(part)
    return sum(abs(count - mean) for count in part)


def split_scores(counts, start, stop, price):
    """Score of leaving [start, stop), then of every cut."""
    cuts = [
        -deviation(counts, start, cut) - deviation(counts, cut, stop) - Fraction(price)
        for cut in range(start + 1, stop)
    ]
    return [-deviation(counts, start, stop), *cuts]


def search(counts, price, depths, largest):
    """The best candidate of every cluster, first come first served: decisions (start, stop, cut or 0)."""
    n = len(counts)
    queue, clusters, decisions = deque([(0, n, 0)]), 1, []
    while queue and clusters < n and clusters <= largest:
        start, stop, depth = queue.popleft()
        if stop - start == 1 or depth == depths:
            continue
        scores = split_scores(counts, start, stop, price)
        best = scores.index(max(scores))
        decisions.append((start, stop, start + best if best else 0))
        if best:
            clusters += 1
            queue += [(start, start + best, depth + 1), (start + best, stop, depth + 1)]
    return decisions


def clusterings(n, decisions):
    """The clusterings before the first decision and after each, as lists of (start, stop)."""
    now = [(0, n)]
    trace = [list(now)]
    for start, stop, cut in decisions:
        if cut:
            now.remove((start, stop))
            now += [(start, cut), (cut, stop)]
        trace.append(sorted(now))
    return trace


def published_search(counts, uniforms, rate, price, levels, largest):
    """The authors' search on their list of clusters: decisions, with the one that ends it left out unless a cut."""
    n = len(counts)
    clusters, decisions, draws = [{"span": (0, n), "level": 1, "ready": False}], [], iter(uniforms)
    while len(clusters) < n and len(clusters) <= largest:
        waiting = [cluster for cluster in clusters if not cluster["ready"]]
        chosen = waiting[0] if waiting else clusters[-1]
        start, stop = chosen["span"]
        logits = rate * np.array([float(score) for score in split_scores(counts, start, stop, price)])
        weights = np.exp(logits - logits.max())
        left = next(draws) * weights.sum()
        pick = int(np.searchsorted(np.cumsum(weights), left))
        chosen["ready"] = True
        if pick == 0:
            if all(cluster["ready"] for cluster in clusters):
                break
            decisions.append((start, stop, 0))
            continue
        clusters.remove(chosen)
        for span in ((start, start + pick), (start + pick, stop)):
            level = chosen["level"] + 1
            clusters.append({"span": span, "level": level, "ready": span[1] - span[0] == 1 or level == levels})
        decisions.append((start, stop, start + pick))
    return decisions
