"""The prior of Cascade as a program that draws from it, and the posterior by weighing many draws."""

from __future__ import annotations

import numpy as np

from dpbench.mathematics.cascade import PRIOR, SHARPNESS


def draws(shape, many, largest, rng, cap):
    """Draws ``(many, *shape)`` from the prior: shape (n,) or (n, m), powers of two, each box cut until cells are left.

    ``cap`` is the largest count of an even pair of cells; that of a box grows with its cells.
    """
    x = rng.uniform(0, largest, many)
    shape = (*shape, 1)[:2]
    result = np.empty((many, *shape))

    def share(rows, columns, box, which):
        cells = (box[1] - box[0]) * (box[3] - box[2])
        if len(which) == 0:
            return
        if cells == 1:
            result[which, box[0], box[2]] = rows
            return
        axes = [axis for axis, side in enumerate((box[1] - box[0], box[3] - box[2])) if side > 1]
        term = rng.choice(len(PRIOR), size=len(which), p=PRIOR)
        term = np.where((term == 0) & (rows > cap * cells / 2), len(PRIOR) - 1, term)
        even = term == 0
        result[which[even], box[0] : box[1], box[2] : box[3]] = (rows[even] / cells)[:, None, None]
        axis = rng.choice(axes, size=len(which))
        part = np.where(rng.random(len(which)) < 0.5, 0.0, 1.0)
        for k, a in enumerate(SHARPNESS):
            part = np.where(term == 2 + k, rng.beta(a, a, len(which)), part)
        normal = 0.5 + rng.normal(size=len(which)) / 2 / np.sqrt(np.where(rows > 0, rows, np.inf))  # below 0: void
        part = np.where(term == len(PRIOR) - 1, normal, part)
        for one in axes:
            mine = ~even & (axis == one)
            middle = (box[2 * one] + box[2 * one + 1]) // 2
            first, second = list(box), list(box)
            first[2 * one + 1] = second[2 * one] = middle
            share(rows[mine] * part[mine], None, tuple(first), which[mine])
            share(rows[mine] * (1 - part[mine]), None, tuple(second), which[mine])

    share(x, None, (0, shape[0], 0, shape[1]), np.arange(many))
    return result


def weighed(cells, answers, gaussian):
    """Posterior mean of every cell and its standard error; ``answers`` are (box as slices, answer, scale).

    A normal split may put a half below zero; such draws have weight 0, as in the grids.
    """
    log = np.where((cells < 0).any(axis=(1, 2)), -np.inf, 0.0)
    for box, answer, scale in answers:
        away = np.abs(cells[(slice(None), *box)].sum(axis=(1, 2)) - answer) / scale
        log -= away**2 / 2 if gaussian else away
    weight = np.exp(log - log.max())
    weight /= weight.sum()
    mean = np.einsum("t,tij->ij", weight, cells)
    error = np.sqrt(np.einsum("t,tij->ij", weight**2, (cells - mean) ** 2))
    return mean, error
