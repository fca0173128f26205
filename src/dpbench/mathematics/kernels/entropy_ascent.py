"""Regularised maximum entropy by Newton's method on its dual: what prefixes of a line and boxes have in common.

With multipliers theta of the measured boxes i, and their answers t as shares of the total:

    p = exp(sum of theta_i over the boxes around a cell) / Z,   D(theta) = theta . t - log Z - penalty / 2 |theta|^2.

D is strictly concave. Its gradient is t_i - p(box i) - penalty theta_i, its negative Hessian p(box i and box j) -
p(box i) p(box j) + penalty [i = j]. Cells that the same boxes cover have the same p: it is kept for pieces of the
domain.
"""

from __future__ import annotations

from numba import njit

LONGEST = 32.0
"""A step changes no multiplier by more."""
ATTEMPTS = 8
"""Lengths of a step that are tried, each a quarter of the one before."""
RISE = 1e-4
"""A step is taken where D rises by this much of what its slope promises (Armijo)."""
ROUNDING = 1e-13
"""Less than this of D is rounding."""


@njit("float64(float64[::1], int64)", cache=True, error_model="numpy")
def largest(values, many):  # type: ignore[no-untyped-def]
    """The largest size among the first ``many``; NaN where one is."""
    found = 0.0
    for i in range(many):
        if not abs(values[i]) <= found:
            found = abs(values[i])
    return found
