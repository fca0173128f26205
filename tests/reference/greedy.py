"""GreedyH with matrices: the strategy of every node is written out and its covariance is a dense pseudo-inverse."""

from __future__ import annotations

import itertools

import numpy as np


def parts(start, stop, branching) -> list[tuple[int, int]]:
    """Children of an interval: nearly equal, the longer ones last."""
    size = stop - start
    if size <= branching:
        return [(i, i + 1) for i in range(start, stop)]
    rest = size % branching
    step = (size - rest) // branching
    sizes = [step] * (branching - rest) + [step + 1] * rest
    ends = np.cumsum([start, *sizes])
    return [(int(a), int(b)) for a, b in itertools.pairwise(ends)]


def nodes(W, branching) -> list[tuple[int, int, int]]:
    """(start, stop, depth) of every node; one is a leaf where all its columns of W are the same."""
    found, level, depth = [], [(0, W.shape[1])], 0
    while level:
        found += [(start, stop, depth) for start, stop in level]
        level = [part for start, stop in level if not is_leaf(W, start, stop) for part in parts(start, stop, branching)]
        depth += 1
    return found


def is_leaf(W, start, stop) -> bool:
    """One cell, or no query tells its cells apart."""
    return bool((W[:, start:stop] == W[:, start : start + 1]).all())


def strategy(W, branching, steps, objective) -> dict[tuple[int, int], float]:
    """Weight of every interval, for W ``(queries, cells)``; the weights on every path add up to 1."""
    M = W.T @ W if objective == "gram" else W
    rows, weights, _, _ = _node(W, M, 0, W.shape[1], 0, branching, steps)
    np.testing.assert_allclose(np.abs(rows).sum(axis=0), 1, rtol=1e-12)
    return weights


def _node(W, M, start, stop, depth, branching, steps):
    """Rows of the node's own strategy at unit weight, weights by interval, M C 1, and the error it settles for."""
    if is_leaf(W, start, stop):
        rows = np.ones((1, stop - start))
        image = M[:, start:stop] @ covariance(rows).sum(axis=1)
        return rows, {(start, stop): 1.0}, image, float(image @ image)
    below = [_node(W, M, a, b, depth + 1, branching, steps) for a, b in parts(start, stop, branching)]
    children = block_diagonal([rows for rows, _, _, _ in below])
    C0 = covariance(children)
    k = C0.sum()
    tau = M[:, start:stop] @ C0.sum(axis=1)
    mu = tau @ tau
    mu1 = sum(image @ image for _, _, image, _ in below)
    E0 = sum(error for _, _, _, error in below)
    gamma = branching ** (-depth / 2)
    theta = 1 - np.arange(steps) / steps
    benefit = ((mu - mu1) * gamma + mu1) * (1 - theta) ** 2 * gamma / (theta**2 + (1 - theta) ** 2 * gamma * k)
    cost = (E0 - benefit) / theta**2
    best = int(np.argmin(cost))
    share = theta[best]
    rows = np.vstack([np.full((1, stop - start), 1 - share), share * children])
    image = M[:, start:stop] @ covariance(rows).sum(axis=1)
    weights = {(start, stop): 1 - share}
    for _, of_child, _, _ in below:
        weights |= {interval: share * weight for interval, weight in of_child.items()}
    return rows, weights, image, cost[best]


def covariance(rows):
    """(A^T A)^+, through the singular values of A."""
    inverse = np.linalg.pinv(rows)
    return inverse @ inverse.T


def block_diagonal(blocks):
    """Blocks along the diagonal, zeros elsewhere."""
    result = np.zeros((sum(len(block) for block in blocks), sum(block.shape[1] for block in blocks)))
    row = column = 0
    for block in blocks:
        result[row : row + len(block), column : column + block.shape[1]] = block
        row, column = row + len(block), column + block.shape[1]
    return result
