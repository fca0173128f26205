"""Greedy weights for a hierarchy, bottom up (GreedyH of Li, Hay, Miklau, PVLDB 2014).

For a node with children c, in the notation of the algorithm's page: K is the variance and t the workload's image of the
node's own sub-strategy, k = sum K_c, tau = sum t_c, mu = |tau|^2, mu1 = sum |t_c|^2, E0 = sum E_c and gamma discounts
by depth. theta in 1, 0.99, ..., 0.01 minimises

    theta^-2 [E0 - ((mu - mu1) gamma + mu1) (1 - theta)^2 gamma / (theta^2 + (1 - theta)^2 gamma k)].
"""

from __future__ import annotations

import numpy as np
from numba import njit


@njit("Tuple((float64, float64))(float64, float64, float64, float64, float64, int64)", cache=True)
def best_share(error, mu, mu1, k, gamma, steps):  # type: ignore[no-untyped-def]
    """theta, the share of weight that goes to the children, and the error that it leaves."""
    benefit = (mu - mu1) * gamma + mu1
    best = np.inf
    theta = 1.0
    for i in range(steps):
        rest = (steps - i) ** 2
        own = i * i * gamma
        value = (error - benefit * own / (rest + own * k)) / rest
        if value < best:
            best = value
            theta = 1.0 - i / steps
    return theta, best * steps * steps


@njit("float64[::1](int64[::1], int64[::1], int64[::1], int64[::1], int64, int64, boolean)", cache=True)
def prefix_shares(start, stop, first_child, depth, branching, steps, gram):  # type: ignore[no-untyped-def]
    """Theta of every node for the Prefix workload on ``stop[0]`` cells, without any matrix.

    With u the node's r-vector and U its running sum, a prefix query sees U inside the node and k beyond it.
    As a Gram matrix, G_ij = n - max(i, j): a constant before the node, linear beyond it.
    """
    nodes = start.shape[0]
    n = stop[0]
    r = np.empty(n)
    variance = np.ones(nodes)
    error = np.empty(nodes)
    norm = np.empty(nodes)
    theta = np.ones(nodes)
    for v in range(nodes - 1, -1, -1):
        lo = start[v]
        hi = stop[v]
        if first_child[v] == first_child[v + 1]:
            for i in range(lo, hi):
                r[i] = 1.0 / (hi - lo)
        k = 0.0
        moment = 0.0
        for i in range(lo, hi):
            k += r[i]
            moment += (n - i) * r[i]
        inside = 0.0
        running = 0.0
        seen = 0.0
        for i in range(lo, hi):
            running += r[i]
            seen += (n - i) * r[i]
            value = (n - i) * running + (moment - seen) if gram else running
            inside += value * value
        a = float(n - hi)
        if gram:
            mu = lo * moment * moment + inside + k * k * a * (a + 1.0) * (2.0 * a + 1.0) / 6.0
        else:
            mu = a * k * k + inside
        if first_child[v] == first_child[v + 1]:
            error[v] = mu
            norm[v] = mu
            continue
        total = 0.0
        mu1 = 0.0
        for c in range(first_child[v], first_child[v + 1]):
            total += error[c]
            mu1 += norm[c]
        theta[v], error[v] = best_share(total, mu, mu1, k, branching ** (-0.5 * depth[v]), steps)
        f = 1.0 / (theta[v] ** 2 + k * (1.0 - theta[v]) ** 2)
        variance[v] = f * k
        norm[v] = f * f * mu
        for i in range(lo, hi):
            r[i] *= f
    return theta


@njit(
    "Tuple((int64, int64))(float64[:,::1], int64[::1], int64[::1], int64[::1], int64, int64, int64, int64, "
    "float64[:,::1], float64[:,::1], float64[::1])",
    cache=True,
)
def listed_shares(  # type: ignore[no-untyped-def]
    rows, post_order, first_child, depth, branching, steps, cursor, height, images, state, theta
):
    """Take the next leaves, ``rows`` ``(leaves, queries)``, through the recursion; resumable.

    Nodes come in post-order, so a node's children are on top of the stack ``images`` ``(depth, queries)``;
    ``state`` holds K, E and |t|^2 of each node. Returns the next node and the height of the stack.
    """
    queries = rows.shape[1]
    taken = 0
    while cursor < post_order.shape[0]:
        v = post_order[cursor]
        first = first_child[v]
        last = first_child[v + 1]
        if first == last:
            if taken == rows.shape[0]:
                break
            squares = 0.0
            for q in range(queries):
                value = rows[taken, q]
                images[height, q] = value
                squares += value * value
            state[v, 0] = 1.0
            state[v, 1] = squares
            state[v, 2] = squares
            taken += 1
            height += 1
        else:
            bottom = height - (last - first)
            k = 0.0
            total = 0.0
            mu1 = 0.0
            for c in range(first, last):
                k += state[c, 0]
                total += state[c, 1]
                mu1 += state[c, 2]
            for level in range(bottom + 1, height):
                for q in range(queries):
                    images[bottom, q] += images[level, q]
            mu = 0.0
            for q in range(queries):
                mu += images[bottom, q] * images[bottom, q]
            theta[v], state[v, 1] = best_share(total, mu, mu1, k, branching ** (-0.5 * depth[v]), steps)
            f = 1.0 / (theta[v] ** 2 + k * (1.0 - theta[v]) ** 2)
            state[v, 0] = f * k
            state[v, 2] = f * f * mu
            for q in range(queries):
                images[bottom, q] *= f
            height = bottom + 1
        cursor += 1
    return cursor, height
