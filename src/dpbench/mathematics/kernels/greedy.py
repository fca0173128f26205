"""Greedy weights for a hierarchy, bottom up (GreedyH of Li, Hay, Miklau, PVLDB 2014).

For a node with children c, in the notation of the algorithm's page: K is the variance and t the workload's image of the
node's own sub-strategy, k = sum K_c, tau = sum t_c, mu = |tau|^2, mu1 = sum |t_c|^2, E0 = sum E_c and gamma discounts
by depth. theta in 1, 0.99, ..., 0.01 minimises

    theta^-2 [E0 - ((mu - mu1) gamma + mu1) (1 - theta)^2 gamma / (theta^2 + (1 - theta)^2 gamma k)].

DAWA's buckets differ from trial to trial, so nothing is kept and speed matters.
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
    # with x = 1 - theta, c = gamma k, a gain needs benefit gamma x > error (2 - x) ((1 - x)^2 + c x^2), and the right
    # side is at least error x c / (1 + c): where that is beyond reach, as for most nodes near the leaves, none is tried
    if benefit * (1.0 + gamma * k) < error * k * (1.0 - 1e-9):
        return theta, error / float(steps * steps) * steps * steps
    for i in range(steps):
        rest = (steps - i) ** 2
        own = i * i * gamma
        value = (error - benefit * own / (rest + own * k)) / rest
        if value < best:
            best = value
            theta = 1.0 - i / steps
    return theta, best * steps * steps


@njit(
    "float64(int64, int64[::1], float64, float64, float64, int64, float64[::1], float64[::1], float64[::1])",
    cache=True,
)
def settle(v, first_child, mu, k, gamma, steps, theta, error, norm):  # type: ignore[no-untyped-def]
    """Settle inner node v, theta, error and |t|^2, from its children's. Returns f: t is f times tau, K is f times k."""
    total = 0.0
    mu1 = 0.0
    for c in range(first_child[v], first_child[v + 1]):
        total += error[c]
        mu1 += norm[c]
    theta[v], error[v] = best_share(total, mu, mu1, k, gamma, steps)
    f = 1.0 / (theta[v] ** 2 + k * (1.0 - theta[v]) ** 2)
    norm[v] = f * f * mu
    return f


@njit("float64[::1](int64, int64)", cache=True)
def discounts(branching, deepest):  # type: ignore[no-untyped-def]
    """Gamma of each depth, ``(deepest + 1,)``."""
    gamma = np.empty(deepest + 1)
    for depth in range(deepest + 1):
        gamma[depth] = branching ** (-0.5 * depth)
    return gamma


@njit("float64[::1](int64[::1], int64[::1], int64[::1], int64[::1], int64[::1], int64, int64, boolean)", cache=True)
def prefix_shares(  # type: ignore[no-untyped-def]
    start, stop, first_child, depth, lengths, branching, steps, gram
):
    """Theta of every node over buckets of ``lengths`` cells, for the Prefix workload on their cells.

    A prefix covers a part of one bucket, whose weight is that share. With bucket length L_c and end u_c the reduced
    Gram matrix is G_cd = h_max(c,d) for c != d, h_c = (L_c + 1) / 2 + n - u_c, and
    G_cc = (L_c + 1)(2 L_c + 1) / (6 L_c) + n - u_c. Every node is a bucket or has children: no two columns agree.
    """
    nodes = start.shape[0]
    buckets = lengths.shape[0]
    # the reduced Gram matrix, from the last bucket back
    height = np.empty(buckets)
    diagonal = np.empty(buckets)
    beyond = np.empty(buckets + 1)
    squares = np.zeros(buckets + 1)
    beyond[buckets] = 0.0
    for c in range(buckets - 1, -1, -1):
        size = float(lengths[c])
        height[c] = (size + 1.0) / 2.0 + beyond[c + 1]
        diagonal[c] = (size + 1.0) * (2.0 * size + 1.0) / (6.0 * size) + beyond[c + 1]
        beyond[c] = beyond[c + 1] + size
        squares[c] = squares[c + 1] + height[c] * height[c]
    # nodes from the leaves up; r is what the sub-strategies make of each bucket
    r = np.ones(buckets)
    error = np.empty(nodes)
    norm = np.empty(nodes)
    theta = np.ones(nodes)
    gamma = discounts(branching, depth[nodes - 1])
    for v in range(nodes - 1, -1, -1):
        lo = start[v]
        hi = stop[v]
        # variance k and image of the node's buckets
        k = 0.0
        moment = 0.0
        for i in range(lo, hi):
            k += r[i]
            moment += height[i] * r[i]
        # mu = |tau|^2: queries that end inside the node, and those beyond
        inside = 0.0
        running = 0.0
        seen = 0.0
        for i in range(lo, hi):
            if gram:
                seen += height[i] * r[i]
                value = height[i] * running + diagonal[i] * r[i] + (moment - seen)
                inside += value * value
            else:
                size = float(lengths[i])
                inside += running * running * size + running * r[i] * (size + 1.0)
                inside += r[i] * r[i] * (diagonal[i] - beyond[i + 1])
            running += r[i]
        outside = lo * moment * moment + k * k * squares[hi] if gram else beyond[hi] * k * k
        mu = inside + outside
        # a bucket is measured itself; an inner node weighs itself against its children
        if first_child[v] == first_child[v + 1]:
            error[v] = mu
            norm[v] = mu
            continue
        f = settle(v, first_child, mu, k, gamma[depth[v]], steps, theta, error, norm)
        for i in range(lo, hi):
            r[i] *= f
    return theta


@njit(
    "float64[::1](int64[::1], int64[::1], int64[::1], int64[::1], float64[::1], float64[::1], float64[:,::1], int64, "
    "int64)",
    cache=True,
)
def bundle_shares(  # type: ignore[no-untyped-def]
    start, stop, first_child, depth, leaves, errors, products, branching, steps
):
    """Theta of every node of a tree whose leaves are bundles of unmeasured nodes.

    Node v holds the bundles ``start[v] ... stop[v] - 1``; a bundle has K = ``leaves``, E = ``errors`` and an image t,
    of which only the inner products with the other images are needed, ``products``.
    """
    nodes = start.shape[0]
    r = np.ones(leaves.shape[0])
    variance = np.empty(nodes)
    error = np.empty(nodes)
    norm = np.empty(nodes)
    theta = np.ones(nodes)
    gamma = discounts(branching, depth[nodes - 1])
    for v in range(nodes - 1, -1, -1):
        lo = start[v]
        hi = stop[v]
        if first_child[v] == first_child[v + 1]:
            variance[v] = leaves[lo]
            error[v] = errors[lo]
            norm[v] = products[lo, lo]
            continue
        mu = 0.0
        for i in range(lo, hi):
            row = 0.0
            for j in range(lo, hi):
                row += products[i, j] * r[j]
            mu += r[i] * row
        k = 0.0
        for c in range(first_child[v], first_child[v + 1]):
            k += variance[c]
        f = settle(v, first_child, mu, k, gamma[depth[v]], steps, theta, error, norm)
        variance[v] = f * k
        for i in range(lo, hi):
            r[i] *= f
    return theta
