"""DPCube's two greedy searches, written so that every cut is tried on every cell."""

from __future__ import annotations

import numpy as np


def deviations(y):
    """Sum of squared deviations from the mean."""
    return ((y - y.mean()) ** 2).sum() if y.size else 0.0


def halves(box, axis, cut):
    """The two boxes on either side of a cut."""
    low, high = box
    left, right = (low, list(high)), (list(low), high)
    left[1][axis], right[0][axis] = cut, cut
    return (tuple(low), tuple(left[1])), (tuple(right[0]), tuple(high))


def cells_of(y, box):
    """The cells of a box."""
    return y[tuple(slice(a, b) for a, b in zip(*box, strict=True))]


def by_variance(y, threshold, small, split):
    """Boxes in the order of a walk, by the rule on the sample variance."""

    def walk(box):
        inside = cells_of(y, box)
        if inside.size == 1 or inside.var(ddof=1) <= (2 * threshold if inside.size <= small else threshold):
            return [box]
        longest = max(inside.shape)
        axes = [axis for axis, side in enumerate(inside.shape) if side == longest]
        others = [tuple(other for other in range(y.ndim) if other != axis) for axis in axes]
        marginal = [inside.sum(axis=other).var() for other in others]
        axis = axes[int(np.argmax(marginal))]
        cuts = range(box[0][axis] + 1, box[1][axis])
        parts = [halves(box, axis, cut) for cut in cuts]
        if split == "sse":
            costs = [sum(deviations(cells_of(y, part)) for part in pair) for pair in parts]
        else:
            counts = np.maximum(y, 0)
            half = cells_of(counts, box).sum() / 2
            costs = [abs(cells_of(counts, pair[0]).sum() - half) for pair in parts]
        left, right = parts[int(np.argmin(costs))]
        return walk(left) + walk(right)

    return walk(((0,) * y.ndim, y.shape))


def by_penalty(y, penalty):
    """Boxes in the order of a walk, by the rule of the authors' code, every cell boundary tried."""

    def walk(box):
        inside = cells_of(y, box)
        longest = max(inside.shape)
        axis = max(axis for axis, side in enumerate(inside.shape) if side == longest)
        cuts = range(box[0][axis] + 1, box[1][axis])
        parts = [halves(box, axis, cut) for cut in cuts]
        costs = [sum(deviations(cells_of(y, part)) for part in pair) + 2 * penalty for pair in parts]
        if not costs or min(costs) >= deviations(inside) + penalty:
            return [box]
        left, right = parts[int(np.argmin(costs))]
        return walk(left) + walk(right)

    return walk(((0,) * y.ndim, y.shape))


def least_squares_of_cells(cells, labels, counts, first, second):
    """Cells from noisy cells (scale 1/first) and noisy box counts (scale 1/second), by dense weighted least squares."""
    n = cells.size
    boxes = np.array([labels.reshape(-1) == box for box in range(len(counts))], dtype=float)
    rows = np.vstack([first * np.eye(n), second * boxes])
    answers = np.concatenate([first * cells.reshape(-1), second * counts])
    return np.linalg.lstsq(rows, answers, rcond=None)[0].reshape(cells.shape)
