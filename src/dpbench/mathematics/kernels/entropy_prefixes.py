"""Maximum entropy given noisy prefixes of a line (``entropy_ascent.py`` has the problem).

Prefixes 0 <= cell < end, sorted by their ends, cut the line into pieces, one more than there are prefixes. Under p
their indicators are a Brownian bridge, whose precision matrix is tridiagonal: a step costs no more than the look at D.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from dpbench.mathematics.kernels.entropy_ascent import ATTEMPTS, LONGEST, RISE, ROUNDING, largest
from dpbench.mathematics.kernels.exponentials import exponentials


@njit(
    "float64(int64[::1], float64[::1], float64[::1], int64, float64, float64[::1], float64[::1], float64[::1])",
    cache=True,
    error_model="numpy",
    fastmath={"reassoc", "contract"},
)
def look(ends, targets, theta, known, penalty, density, mass, gradient):  # type: ignore[no-untyped-def]
    """D at ``theta``; ``density`` and ``mass`` of the ``known + 1`` pieces and ``gradient`` follow."""
    running = 0.0
    top = 0.0
    density[known] = 0.0
    for k in range(known - 1, -1, -1):
        running += theta[k]
        density[k] = running
        top = max(top, running)
    exponentials(density[: known + 1], top, 1.0, mass.view(np.int64))
    total = 0.0
    for k in range(known + 1):
        mass[k] = density[k] * (ends[k + 1] - ends[k])
        total += mass[k]
    inverse = 1.0 / total
    value = -np.log(total / ends[known + 1]) - top
    below = 0.0
    for k in range(known):
        mass[k] *= inverse
        density[k] *= inverse
        below += mass[k]
        gradient[k] = targets[k] - below - penalty * theta[k]
        value += theta[k] * targets[k] - 0.5 * penalty * theta[k] * theta[k]
    mass[known] *= inverse
    density[known] *= inverse
    return value


@njit("void(int64, float64, float64[::1], float64[::1], float64[::1], float64[::1])", cache=True, error_model="numpy")
def newton(known, penalty, mass, gradient, step, pivot):  # type: ignore[no-untyped-def]
    """Newton's step: ``step`` solves (Hessian) step = gradient.

    In the changes f of the pieces' log-densities, step_k = f_k - f_(k+1), the equations are (penalty L + diag(mass)) f
    = differences of the gradient, where L is the Laplacian of a path: no division by a mass, which may be next to 0.
    """
    # forwards
    for k in range(known + 1):
        right = (gradient[k] if k < known else 0.0) - (gradient[k - 1] if k > 0 else 0.0)
        diagonal = mass[k] + penalty * ((1.0 if k > 0 else 0.0) + (1.0 if k < known else 0.0))
        if k > 0:
            ratio = penalty / pivot[k - 1]
            diagonal -= ratio * penalty
            right += ratio * step[k - 1]
        pivot[k] = diagonal
        step[k] = right
    # backwards
    step[known] /= pivot[known]
    for k in range(known - 1, -1, -1):
        step[k] = (step[k] + penalty * step[k + 1]) / pivot[k]
        # differences, now that both neighbours are known
        step[k + 1] = step[k] - step[k + 1]
    for k in range(known):
        step[k] = step[k + 1]


@njit("int64(int64, float64, int64, int64[::1], float64[::1], float64[::1])", cache=True, error_model="numpy")
def insert(end, target, known, ends, targets, theta):  # type: ignore[no-untyped-def]
    """Put one more prefix in its place; how many there are then. All of the line has the total, whatever the answer."""
    if end == ends[known + 1]:
        return known
    ends[known + 2] = ends[known + 1]
    at = known
    while ends[at] > end:
        ends[at + 1] = ends[at]
        targets[at] = targets[at - 1]
        theta[at] = theta[at - 1]
        at -= 1
    ends[at + 1] = end
    targets[at] = target
    theta[at] = 0.0
    return known + 1


@njit(
    "float64(int64[::1], float64[::1], float64[::1], int64, float64[::1], float64, float64, int64)",
    cache=True,
    error_model="numpy",
)
def ascend(ends, targets, theta, known, density, penalty, tolerance, steps):  # type: ignore[no-untyped-def]
    """At most ``steps`` steps, until no gradient exceeds ``tolerance``.

    The largest gradient that is left; NaN where something was no number.
    """
    mass, step, pivot = np.empty(known + 1), np.empty(known + 1), np.empty(known + 1)
    gradient, before = np.empty(known), np.empty(known)
    value = look(ends, targets, theta, known, penalty, density, mass, gradient)
    for _ in range(steps):
        if largest(gradient, known) <= tolerance:
            break
        newton(known, penalty, mass, gradient, step, pivot)
        slope = 0.0
        for k in range(known):
            before[k] = theta[k]
            slope += step[k] * gradient[k]
        length = min(1.0, LONGEST / max(largest(step, known), 1e-300))
        found = -np.inf
        for _attempt in range(ATTEMPTS):
            for k in range(known):
                theta[k] = before[k] + length * step[k]
            found = look(ends, targets, theta, known, penalty, density, mass, gradient)
            if found >= value + RISE * length * slope - ROUNDING * (1.0 + abs(value)):
                break
            length *= 0.25
        else:  # nothing is gained any more: what is left is rounding
            for k in range(known):
                theta[k] = before[k]
            value = look(ends, targets, theta, known, penalty, density, mass, gradient)
            break
        value = found
    return largest(gradient, known) + 0.0 * value


@njit(
    "void(int64[::1], float64[::1], boolean[::1], int64[::1], int64[:,::1], float64[:,::1], float64[:,::1], "
    "float64[:,::1], float64[::1], float64[::1], int64, float64[::1])",
    cache=True,
    error_model="numpy",
)
def learn(  # type: ignore[no-untyped-def]
    new_ends, new_targets, active, known, ends, targets, theta, density, penalties, tolerances, steps, left
):
    """One more prefix for each trial that is active, and an ascent, whose return is in ``left``; trials come first."""
    for t in range(active.shape[0]):
        if active[t]:
            known[t] = insert(new_ends[t], new_targets[t], known[t], ends[t], targets[t], theta[t])
            left[t] = ascend(ends[t], targets[t], theta[t], known[t], density[t], penalties[t], tolerances[t], steps)


@njit("void(int64[::1], int64[:,::1], float64[:,::1], float64[::1], float64[:,::1])", cache=True, error_model="numpy")
def spread(known, ends, density, totals, cells):  # type: ignore[no-untyped-def]
    """Counts of all cells, ``(trials, cells)``."""
    for t in range(cells.shape[0]):
        for k in range(known[t] + 1):
            each = density[t, k] * totals[t]
            for c in range(ends[t, k], ends[t, k + 1]):
                cells[t, c] = each


@njit(
    "void(int64[::1], int64[:,::1], float64[:,::1], float64[::1], float64[::1], float64[:,::1])",
    cache=True,
    error_model="numpy",
)
def running_sums(known, ends, density, totals, places, sums):  # type: ignore[no-untyped-def]
    """Counts of the first 1, 2, ... cells, ``(trials, cells)``; ``places`` are the numbers from 0 on, as floats."""
    for t in range(sums.shape[0]):
        below = 0.0
        for k in range(known[t] + 1):
            each = density[t, k] * totals[t]
            first = ends[t, k]
            for c in range(first, ends[t, k + 1]):
                sums[t, c] = below + each * (places[c + 1] - places[first])
            below += each * (ends[t, k + 1] - first)
