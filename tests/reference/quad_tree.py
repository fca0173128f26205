"""The authors' two passes over a quadtree, node by node, as a dense linear map."""

from __future__ import annotations

import numpy as np

from reference.tree import children, leaves, spread


def raw_precision_map(tree):
    """``(leaves, nodes)``: the estimate of each leaf from the weighted answers of all nodes."""
    nodes = len(tree.start)
    z = np.zeros((nodes, nodes))
    for node in reversed(range(nodes)):
        below = children(tree, node)
        own = np.zeros(nodes)
        own[node] = 1 / tree.weight[node]
        if not below:
            z[node] = own
            continue
        mine, theirs = len(below) * tree.weight[node] ** 2, tree.weight[below[0]] ** 2
        z[node] = (mine * own + theirs * z[below].sum(axis=0)) / (mine + theirs)
    estimate = np.zeros((nodes, nodes))
    estimate[0] = z[0]
    for node in range(nodes):
        below = children(tree, node)
        for child in below:
            estimate[child] = z[child] + (estimate[node] - z[below].sum(axis=0)) / len(below)
    return estimate[leaves(tree)]


def mean_variance(tree, queries):
    """Mean over the rows of ``queries`` of their variance, answers of variance 1."""
    image = queries @ spread(tree) @ raw_precision_map(tree)
    return (image**2).sum() / len(queries)
