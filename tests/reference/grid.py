"""Partitions of a domain by looking at every cell, and the exact error of counts that are spread over their parts."""

from __future__ import annotations

from itertools import product

import numpy as np


def labels_of(shape, lower, upper):
    """The box of every cell ``(*shape)``; insists that the boxes tile the domain."""
    labels = np.full(shape, -1)
    for number, (low, high) in enumerate(zip(lower, upper, strict=True)):
        box = tuple(slice(a, b) for a, b in zip(low, high, strict=True))
        assert labels[box].size > 0
        assert (labels[box] == -1).all()
        labels[box] = number
    assert (labels >= 0).all()
    return labels


def square_labels(shape, side):
    """Blocks of ``side`` cells along every axis, row by row."""
    labels, found = np.empty(shape, dtype=int), {}
    for cell in product(*map(range, shape)):
        labels[cell] = found.setdefault(tuple(c // side for c in cell), len(found))
    return labels


def block_average(x, labels):
    """Every cell's part, spread evenly."""
    average = np.empty(x.shape)
    for part in np.unique(labels):
        average[labels == part] = x[labels == part].mean()
    return average


def mean_squared_error(x, labels, queries, covariance):
    """Mean over the rows of ``queries`` ``(q, cells)`` of bias^2 + variance.

    Parts are estimated with ``covariance`` ``(parts, parts)`` and without bias, and spread evenly.
    """
    parts = labels.max() + 1
    spread = np.array([(labels.reshape(-1) == part) / (labels == part).sum() for part in range(parts)]).T
    bias = queries @ (block_average(x, labels) - x).reshape(-1)
    image = queries @ spread
    return np.mean(bias**2 + np.einsum("qi,ij,qj->q", image, covariance, image))
