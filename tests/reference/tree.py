"""Trees of counts as dense matrices: one row a measured node, one column a leaf; least squares by pseudo-inverse."""

from __future__ import annotations

from itertools import product

import numpy as np

from dpbench.domain import Domain
from dpbench.mathematics.tree import Tree


def positions(tree, node) -> set[int]:
    """Positions of the line that a node holds."""
    return set(range(int(tree.start[node]), int(tree.stop[node])))


def children(tree, node) -> list[int]:
    """Children of a node, in order."""
    return list(range(int(tree.first_child[node]), int(tree.first_child[node + 1])))


def leaves(tree) -> list[int]:
    """Nodes without children."""
    return [node for node in range(len(tree.start)) if not children(tree, node)]


def measured(tree) -> list[int]:
    """Nodes that are asked for."""
    return [node for node in range(len(tree.start)) if tree.weight[node] != 0]


def leaf_matrix(tree):
    """Weighted incidence ``(measured nodes, leaves)``: padded positions are unknowns like any other."""
    return np.array(
        [
            [tree.weight[node] * (positions(tree, leaf) <= positions(tree, node)) for leaf in leaves(tree)]
            for node in measured(tree)
        ]
    )


def spread(tree):
    """``(cells, leaves)``: an even share of the leaf for each of its cells that is in the domain."""
    shares = np.zeros((tree.domain.size, len(leaves(tree))))
    for column, leaf in enumerate(leaves(tree)):
        real = [tree.order[position] for position in positions(tree, leaf) if tree.order[position] >= 0]
        for cell in real:
            shares[cell, column] = 1 / len(real)
    return shares


def least_squares(tree, answers):
    """Cells ``(trials, *domain)`` from answers ``(trials, measured)``."""
    solution = np.linalg.lstsq(leaf_matrix(tree), np.asarray(answers).T, rcond=None)[0]
    return (spread(tree) @ solution).T.reshape(len(answers), *tree.domain.shape)


def covariance(tree):
    """Covariance of the cells ``(cells, cells)`` under answers of variance 1."""
    operator = spread(tree) @ np.linalg.pinv(leaf_matrix(tree))
    return operator @ operator.T


def mean_variance(tree, queries):
    """Mean over the rows of ``queries`` ``(q, cells)`` of their variance: trace(W C W^T) / q."""
    return np.trace(queries @ covariance(tree) @ queries.T) / len(queries)


def unit_answers(tree):
    """Answers of every cell's unit vector ``(cells, measured)``, by looking for the cell in each node."""
    return np.array(
        [
            [
                tree.weight[node] * sum(tree.order[position] == cell for position in positions(tree, node))
                for node in measured(tree)
            ]
            for cell in range(tree.domain.size)
        ]
    )


def box_counts(x, branching, height):
    """Counts of the nodes of a complete tree, breadth first, each by slicing the zero-padded array."""
    side = branching**height
    padded = np.zeros((side,) * x.ndim, dtype=x.dtype)
    padded[tuple(slice(n) for n in x.shape)] = x
    corners, counts = [(0,) * x.ndim], []
    for level in range(height + 1):
        width = branching ** (height - level)
        counts += [padded[tuple(slice(c, c + width) for c in corner)].sum() for corner in corners]
        part = max(width // branching, 1)
        corners = [
            tuple(c + digit * part for c, digit in zip(corner, digits, strict=True))
            for corner in corners
            for digits in product(range(branching), repeat=x.ndim)
        ]
    return np.array(counts)


def random_tree(rng, *, domain=None, padding=None, collapse=0.3, root=None) -> Tree:
    """An uneven tree with random weights, fan-outs of 1 to 4, leaves of several cells and a shuffled line.

    ``padding`` positions are outside the domain; ``collapse`` is the chance of a leaf above single cells;
    ``root`` says whether the root is measured, at random where it is not given.
    """
    domain = Domain.of(domain if domain is not None else int(rng.integers(1, 25)))
    padding = int(rng.integers(0, 6)) if padding is None else padding
    order = np.concatenate([rng.permutation(domain.size), np.full(padding, -1)])
    if padding:
        order = rng.permutation(order)
    return grow(rng, domain, order, collapse, root)


def grow(rng, domain, order, collapse, root=None) -> Tree:
    """A random tree over a given line."""
    level, starts, stops, fanouts = [(0, len(order))], [], [], []
    while level:
        below = []
        for start, stop in level:
            starts.append(start)
            stops.append(stop)
            is_leaf = stop - start == 1 or (len(starts) > 1 and rng.random() < collapse)
            parts = 0 if is_leaf else int(rng.integers(1, min(4, stop - start) + 1))
            if parts == 1 and rng.random() < 0.7:
                parts = 2
            cuts = [] if not parts else sorted(rng.choice(np.arange(start + 1, stop), parts - 1, replace=False))
            fanouts.append(parts)
            if parts:
                below += list(zip([start, *cuts], [*cuts, stop], strict=True))
        level = below
    weight = rng.uniform(0.3, 3.0, len(starts))
    if len(starts) > 1 and (rng.random() < 0.5 if root is None else not root):
        weight[0] = 0.0
    return Tree(
        domain=domain,
        order=np.asarray(order, dtype=np.int64),
        start=np.array(starts, dtype=np.int64),
        stop=np.array(stops, dtype=np.int64),
        first_child=1 + np.concatenate([[0], np.cumsum(fanouts)]).astype(np.int64),
        weight=weight,
    )
