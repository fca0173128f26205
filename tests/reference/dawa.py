"""DAWA, slow and obvious: every window by itself, every partition in turn, matrices for the hierarchy."""

from __future__ import annotations

import itertools

import numpy as np

from reference import greedy


def deviation(counts, about) -> float:
    """sum |x_i - m|, m the median or the mean."""
    return float(np.abs(counts - (np.median(counts) if about == "median" else np.mean(counts))).sum())


def window_deviations(line, lengths, about):
    """``(lengths, n + 1)``, entry [k, e] of the window [e - lengths[k], e); 0 where it does not fit."""
    result = np.zeros((len(lengths), len(line) + 1))
    for k, length in enumerate(lengths):
        for end in range(length, len(line) + 1):
            result[k, end] = deviation(line[end - length : end], about)
    return result


def partitions(n, lengths):
    """Every partition of [0, n) into intervals of allowed lengths, as edges."""
    for inner in itertools.product([False, True], repeat=n - 1):
        edges = [0, *(i + 1 for i in range(n - 1) if inner[i]), n]
        if all(b - a in lengths for a, b in itertools.pairwise(edges)):
            yield edges


def total_cost(edges, costs, lengths) -> float:
    """Sum of the costs of a partition's intervals, from the left."""
    total = 0.0
    for a, b in itertools.pairwise(edges):
        total += costs[list(lengths).index(b - a), b]
    return total


def published_edges(line, noise, structure, counting):
    """The authors' partition for given standard noise ``(lengths, n + 1)``, by trying every partition.

    Of equally cheap ones (costs are clamped, so there are) the one whose last bucket is longest, then the last but one.
    """
    n = len(line)
    lengths = [2**k for k in range(n.bit_length())]
    costs = window_deviations(line, lengths, "mean")
    for k, length in enumerate(lengths):
        if length > 1:
            costs[k] = np.maximum(costs[k] + noise[k] * (2 - 1 / length - 1 / n) / structure, 0)
    costs += 1 / counting
    return min(
        partitions(n, lengths), key=lambda edges: (total_cost(edges, costs, lengths), np.diff(edges[::-1]).tolist())
    )


def reduced(W, edges):
    """Mean of the query weights within each bucket, ``(queries, buckets)``."""
    return np.stack([W[:, a:b].mean(axis=1) for a, b in itertools.pairwise(edges)], axis=1)


def estimate(W, edges, answers, objective):
    """Least squares from answers by interval of the line, spread evenly over the cells of each bucket.

    ``W`` is ``(queries, positions)``; ``answers`` maps an interval of positions to its noisy weighted count.
    """
    weights = greedy.strategy(reduced(W, edges), 2, 100, objective)
    rows, noisy = [], []
    for (start, stop), weight in weights.items():
        if weight > 0:
            row = np.zeros(len(edges) - 1)
            row[start:stop] = weight
            rows.append(row)
            noisy.append(answers[int(edges[start]), int(edges[stop])])
    buckets = np.linalg.pinv(np.array(rows)) @ np.array(noisy)
    sizes = np.diff(edges)
    return np.repeat(buckets / sizes, sizes)
