"""Regularised maximum entropy on a dense matrix of boxes: damped Newton on the dual, every cell by itself."""

from __future__ import annotations

import numpy as np


def dual(theta, matrix, targets, penalty):
    """D, its gradient, its negative Hessian, and the shares p of the cells."""
    exponent = theta @ matrix
    top = exponent.max()
    p = np.exp(exponent - top)
    value = theta @ targets - np.log(p.mean()) - top - penalty / 2 * theta @ theta
    p /= p.sum()
    inside = matrix @ p
    hessian = (matrix * p) @ matrix.T - np.outer(inside, inside) + penalty * np.eye(len(theta))
    return value, targets - inside - penalty * theta, hessian, p


def shares(matrix, targets, penalty):
    """The maximiser's p, to rounding."""
    theta = np.zeros(len(targets))
    value, gradient, hessian, p = dual(theta, matrix, targets, penalty)
    for _ in range(500):
        step = np.linalg.solve(hessian, gradient)
        length = 1.0
        while length > 1e-12:
            found = dual(theta + length * step, matrix, targets, penalty)
            if found[0] >= value + 1e-4 * length * step @ gradient - 1e-12 * (1 + abs(value)):
                break
            length /= 2
        theta = theta + length * step
        value, gradient, hessian, p = found
        if np.abs(gradient).max() < 1e-14:
            break
    return p
