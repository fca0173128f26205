"""p-Identity strategies as dense matrices, and what follows from them by pseudo-inverse."""

from __future__ import annotations

from functools import reduce

import numpy as np


def axis_matrix(axis):
    """[diag(c); B] of one axis, ``(side + count, side)``, entry by entry."""
    matrix = np.zeros((axis.side + axis.count, axis.side))
    for cell in range(axis.side):
        matrix[cell, cell] = 1 - axis.units[cell].sum() / 2**16
        for row, units in zip(axis.rows[cell], axis.units[cell], strict=True):
            matrix[axis.side + row, cell] += units / 2**16
    return matrix


def grouping(edges):
    """``(groups, cells)``: which cells a group adds up."""
    cell = np.arange(edges[-1])
    return ((edges[:-1, None] <= cell) & (cell < edges[1:, None])).astype(float)


def matrix(strategy):
    """The whole strategy, ``(answers, cells)``, both in row-major order."""
    axes = [axis_matrix(axis) @ grouping(edges) for axis, edges in zip(strategy.axes, strategy.edges, strict=True)]
    return reduce(np.kron, axes)


def mean_variance(dense, queries):
    """Mean over the rows of ``queries`` of w (A^T A)^+ w^T."""
    inverse = np.linalg.pinv(dense.T @ dense, rcond=1e-13, hermitian=True)
    return float(np.einsum("qi,ij,qj->q", queries, inverse, queries).mean())


def second_moment(workload):
    """E[w w^T] from the list of a workload's queries, or from every range of a distribution."""
    if workload.queries is not None:
        queries = workload.matrix()
        return queries.T @ queries / len(queries)
    (axis,) = workload.axes
    result = np.zeros((axis.side, axis.side))
    for length, chance in enumerate(axis.range_probability, start=1):
        for first in range(axis.side - length + 1):
            result[first : first + length, first : first + length] += chance
    return result
