"""Draws from the posterior of counts that are split down boxes: whole numbers, sums exact at every box.

From the top down, each box with x records takes one of the prior's terms by how likely it makes the answers at *this*
x, and then the first half's count. Counts lie between the points of the grids: taking the points themselves would add
the square of a step at every box, which does not cancel over a long range. Random numbers follow from a state that
comes in, so the same state gives the same draws.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from dpbench.mathematics.kernels.cascade import ANSWERS, BOXES, TABLES, TREE, UNDERFLOW
from dpbench.mathematics.kernels.dyadic import halves, kind_of
from dpbench.mathematics.kernels.halves import at_value

WIDE, NARROW = 1.5, 0.3
"""Steps of an integral, in standard deviations, above which a split is integrated, and below which it is a point."""
GRAIN = 2.0
"""Points of an integral per step of a grid."""
CANDIDATES = 6
"""Draws from a term narrower than the grid, one of which is taken by its likelihood."""
FEW = 64
"""Records that are distributed one by one; the share of more is a rounded normal."""
OUTSIDE = -745.0
"""The logarithm of a likelihood beyond its grid."""


@njit("float64(uint64[::1])", cache=True, inline="always")
def uniform(state):  # type: ignore[no-untyped-def]
    """The next number of [0, 1) that follows from a state (splitmix64)."""
    state[0] += np.uint64(0x9E3779B97F4A7C15)
    z = state[0]
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    z = z ^ (z >> np.uint64(31))
    return float(z >> np.uint64(11)) * 2.0**-53


@njit("float64(uint64[::1])", cache=True)
def normal_draw(state):  # type: ignore[no-untyped-def]
    """The next standard normal number."""
    return math.sqrt(-2.0 * math.log(1.0 - uniform(state))) * math.cos(2.0 * math.pi * uniform(state))


@njit("int64(int64, float64, uint64[::1])", cache=True)
def binomial_draw(x, p, state):  # type: ignore[no-untyped-def]
    """How many of x records go to a part that each enters with chance p."""
    if p <= 0.0 or p >= 1.0:
        return x if p >= 1.0 else 0
    if x < FEW:
        found = 0
        for _ in range(x):
            if uniform(state) < p:
                found += 1
        return found
    t = x * p + math.sqrt(x * p * (1.0 - p)) * normal_draw(state)
    return int(min(max(round(t), 0.0), float(x)))


@njit("float64(float64[:,::1], int64, uint64[::1])", cache=True)
def beta_draw(quantile, k, state):  # type: ignore[no-untyped-def]
    """A share from the k-th Beta, by its tabulated quantiles."""
    place = uniform(state) * (quantile.shape[1] - 1)
    i = int(place)
    return quantile[k, i] + (quantile[k, i + 1] - quantile[k, i]) * (place - i)


@njit(inline="always")
def _log_half(half, log_beta, gaussian, x):  # type: ignore[no-untyped-def]
    """The log-likelihood of a half's count: exact where it is a square without squares inside, else from its grid.

    ``half`` is :func:`_half`, all numbers: arrays in it would be counted as used and unused at every call, which took
    more time than all else.
    """
    alone, first, first_rate, second, second_rate, low, per, points, b, logc = half
    if alone:
        one, two = abs(first - x) * first_rate, abs(second - x) * second_rate
        return -(0.5 * (one * one + two * two) if gaussian else one + two) - logc
    place = (x - low) * per
    if place < -1e-9 or place > points - 1 + 1e-9:
        return OUTSIDE
    i = min(max(int(place), 0), points - 2)
    return log_beta[b, i] + (log_beta[b, i + 1] - log_beta[b, i]) * (place - i)


@njit(error_model="numpy")
def _terms(x, weight, first, w_b, middle, left, right, log_beta, gaussian, tables, part, mass, span):  # type: ignore[no-untyped-def]
    """The likelihood of every term that cuts a box along an axis, at x records.

    Fills ``part``: everything in the second half, in the first, the terms that the grid resolves together, then each of
    the three Betas and B where it is narrower. ``mass[: span[0]]`` are the cells that the resolved ones are kept in,
    from number span[1] of span[2] on.
    """
    density, end, node, node_weight, spread, _ = tables
    for k in range(7):
        part[k] = 0.0
    w_z = weight[first]
    span[0] = 0
    if middle <= 0.0 or middle >= 1.0:  # one half has no cells
        w = w_z + weight[first + 1] + weight[first + 2] + weight[first + 3] + w_b
        if middle >= 1.0:
            part[1] = w * math.exp(_log_half(left, log_beta, gaussian, float(x)))
        else:
            part[0] = w * math.exp(_log_half(right, log_beta, gaussian, float(x)))
        return part[0] + part[1]
    low_l, per_l, points_l = left[5], left[6], left[7]
    low_r, per_r, points_r = right[5], right[6], right[7]
    high_l = low_l + (points_l - 1) / per_l
    high_r = low_r + (points_r - 1) / per_r
    if low_l <= 0.0:
        part[0] = (
            0.5
            * w_z
            * math.exp(_log_half(left, log_beta, gaussian, 0.0) + _log_half(right, log_beta, gaussian, float(x)))
        )
    if low_r <= 0.0:
        part[1] = (
            0.5
            * w_z
            * math.exp(_log_half(right, log_beta, gaussian, 0.0) + _log_half(left, log_beta, gaussian, float(x)))
        )
    many = max(math.ceil(x * max(per_l, per_r) * GRAIN - 1e-9), 1)
    step = x / many
    wide = 0
    if spread[0] * many > WIDE:
        wide = 1 if spread[1] * many <= WIDE else 2 if spread[2] * many <= WIDE else 3
    sd = math.sqrt(middle * (1.0 - middle) * x)
    wide_b = sd > WIDE * step
    # terms that the grid resolves: cells of one step, half a step at both ends
    if wide > 0 or wide_b:
        lower = max(low_l, x - high_r)
        upper = min(high_l, x - low_r)
        if wide == 0:
            lower = max(lower, middle * x - 5.0 * sd)
            upper = min(upper, middle * x + 5.0 * sd)
        j0 = max(math.ceil(lower / step - 1e-9), 0)
        j1 = min(math.floor(upper / step + 1e-9), many)
        bins = density.shape[0]
        n = 0
        for j in range(j0, min(j1 + 1, j0 + mass.shape[0])):
            t = j * step
            f = math.exp(_log_half(left, log_beta, gaussian, t) + _log_half(right, log_beta, gaussian, x - t))
            m = 0.0
            if j in (0, many):
                q = min(many, end.shape[0] - 1)
                for k in range(wide):
                    m += weight[first + 1 + k] * end[q, k]
            else:
                q = min(int(abs(2 * j - many) * bins / many), bins - 1)
                for k in range(wide):
                    m += weight[first + 1 + k] * density[q, k] / many
            if wide_b:
                z = (t - middle * x) / sd
                m += w_b * 0.3989422804014327 * math.exp(-0.5 * z * z) * step / sd * (0.5 if j in (0, many) else 1.0)
            mass[n] = f * m
            part[2] += mass[n]
            n += 1
        span[0], span[1], span[2] = n, j0, many
    # narrower ones: three points, or the middle alone, as on the way up
    f_centre = math.exp(
        _log_half(left, log_beta, gaussian, middle * x) + _log_half(right, log_beta, gaussian, (1.0 - middle) * x)
    )
    for k in range(wide, 4):
        w = w_b if k == 3 else weight[first + 1 + k]
        if w <= 0.0 or (k == 3 and wide_b):
            continue
        steps = sd / step if k == 3 else spread[k] * many
        if steps < NARROW:
            part[3 + k] = w * f_centre
            continue
        for q in range(3):
            if k == 3:
                t = min(max(middle * x + (q - 1) * 1.7320508075688772 * sd, 0.0), float(x))
            else:
                t = x * min(max(node[k, q] - 0.5 + middle, 0.0), 1.0)
            f = math.exp(_log_half(left, log_beta, gaussian, t) + _log_half(right, log_beta, gaussian, x - t))
            part[3 + k] += w * node_weight[k, q] * f
    total = 0.0
    for k in range(7):
        total += part[k]
    return total


@njit(error_model="numpy")
def _take(x, middle, left, right, log_beta, gaussian, quantile, part, total, mass, span, state):  # type: ignore[no-untyped-def]
    """The first half's count, by the likelihoods of :func:`_terms`."""
    pick = uniform(state) * total
    k = 0
    while k < 6 and pick >= part[k]:
        pick -= part[k]
        k += 1
    while k > 0 and part[k] <= 0.0:  # rounding went past the last
        k -= 1
    if k < 2:
        return np.int64(0) if k == 0 else x
    if k == 2:
        # a cell, and a place in it by the slope around it. A cell's mass is its middle's, with an eighth of a
        # second difference in three: (f[-1] + 22 f + f[+1]) / 24
        n, j0, many = span[0], span[1], span[2]
        step = x / many
        added = 0.0
        for i in range(n):
            added += (mass[max(i - 1, 0)] + 22.0 * mass[i] + mass[min(i + 1, n - 1)]) / 24.0
        pick = uniform(state) * added
        i = 0
        while i < n - 1:
            m = (mass[max(i - 1, 0)] + 22.0 * mass[i] + mass[min(i + 1, n - 1)]) / 24.0
            if pick < m:
                break
            pick -= m
            i += 1
        slope = 0.0
        if 0 < i < n - 1 and mass[i - 1] > 0.0 and mass[i + 1] > 0.0 and 0 < j0 + i < many:
            slope = min(max(0.5 * math.log(mass[i + 1] / mass[i - 1]), -30.0), 30.0)
        u = uniform(state)
        place = (u if abs(slope) < 1e-4 else math.log1p(u * math.expm1(slope)) / slope) - 0.5
        if j0 + i == 0:
            place = abs(place)
        elif j0 + i == many:
            place = -abs(place)
        t = (j0 + i + place) * step
    else:
        t = middle * x
        best = np.zeros(CANDIDATES)
        at = np.zeros(CANDIDATES)
        added = 0.0
        for c in range(CANDIDATES):
            if k == 6:
                at[c] = float(binomial_draw(x, middle, state))
            else:
                at[c] = x * min(max(beta_draw(quantile, k - 3, state) - 0.5 + middle, 0.0), 1.0)
            best[c] = math.exp(
                _log_half(left, log_beta, gaussian, at[c]) + _log_half(right, log_beta, gaussian, x - at[c])
            )
            added += best[c]
        if added > UNDERFLOW:
            pick = uniform(state) * added
            c = 0
            while c < CANDIDATES - 1 and pick >= best[c]:
                pick -= best[c]
                c += 1
            t = at[c]
    return np.int64(min(max(round(t), 0.0), float(x)))


@njit(error_model="numpy")
def _root_draw(log_beta, low, per, points, state):  # type: ignore[no-untyped-def]
    """The number of records: a step by its mass, log-linear inside."""
    added = 0.0
    for i in range(points - 1):
        added += _step_mass(log_beta[i], log_beta[i + 1])
    pick = uniform(state) * added
    i = 0
    while i < points - 2:
        m = _step_mass(log_beta[i], log_beta[i + 1])
        if pick < m:
            break
        pick -= m
        i += 1
    slope = log_beta[i + 1] - log_beta[i]
    u = uniform(state)
    place = u if abs(slope) < 1e-4 else math.log1p(u * math.expm1(min(slope, 700.0))) / slope
    return np.int64(max(round(low + (i + place) / per), 0.0))


@njit(inline="always")
def _step_mass(one, two):  # type: ignore[no-untyped-def]
    fall = one - two
    if abs(fall) < 1e-6:
        return math.exp(one)
    return (math.exp(one) - math.exp(two)) / fall


@njit(error_model="numpy")
def _below(corner, logs, sides, x, even, weight, columns, quantile, stack, state, out):  # type: ignore[no-untyped-def]
    """Share the records of a square without squares inside among its cells: nothing was asked there, so by the prior.

    ``stack`` holds boxes that wait: corner, logarithms of the extents, records, whether all cells are alike.
    """
    stack[0, 0], stack[0, 1], stack[0, 2], stack[0, 3] = corner[0], corner[1], logs[0], logs[1]
    stack[0, 4], stack[0, 5] = x, 1 if even else 0
    waiting = 1
    while waiting:
        waiting -= 1
        row, column, log_rows, log_cols = stack[waiting, 0], stack[waiting, 1], stack[waiting, 2], stack[waiting, 3]
        x, even = stack[waiting, 4], stack[waiting, 5]
        rows = min(row + (1 << log_rows), sides[0]) - row
        cols = min(column + (1 << log_cols), sides[1]) - column
        if x <= 0 or rows <= 0 or cols <= 0:
            continue
        if log_rows == 0 and log_cols == 0:
            out[row, column] = x
            continue
        kind = (log_rows * columns + log_cols) * 3 + (0 if log_rows > 0 and log_cols > 0 else 1 if log_rows > 0 else 2)
        axis = 0 if log_rows > 0 else 1
        k = 0
        if even == 0:
            pick = uniform(state)
            while k < 10 and pick >= weight[kind, k]:
                pick -= weight[kind, k]
                k += 1
            if k > 0:
                axis = (k - 1) // 5
            else:
                even = 1
        half = (1 << log_rows) // 2 if axis == 0 else (1 << log_cols) // 2
        extent = rows if axis == 0 else cols
        middle = min(half, extent) / extent
        term = (k - 1) % 5
        if middle >= 1.0:
            t = x
        elif even == 1 or term == 4:
            t = binomial_draw(x, middle, state)
        elif term == 0:
            t = x if uniform(state) < 0.5 else np.int64(0)
        else:
            share = min(max(beta_draw(quantile, term - 1, state) - 0.5 + middle, 0.0), 1.0)
            t = np.int64(min(max(round(x * share), 0.0), float(x)))
        log_rows -= 1 if axis == 0 else 0
        log_cols -= 1 if axis == 1 else 0
        for second in range(2):
            stack[waiting, 0] = row + (half if second and axis == 0 else 0)
            stack[waiting, 1] = column + (half if second and axis == 1 else 0)
            stack[waiting, 2], stack[waiting, 3] = log_rows, log_cols
            stack[waiting, 4] = x - t if second else t
            stack[waiting, 5] = even
            waiting += 1


@njit(inline="always")
def _half(v, b, rows, cols, places, grids):  # type: ignore[no-untyped-def]
    """What :func:`_log_half` reads of a box: whether it is a square without squares inside, answers, and its grid."""
    first_child, base, answer, rate = places
    low, per, points, logc = grids
    p = (b - base[v]) // (2 * cols)
    q = (b - base[v]) - p * 2 * cols
    c = np.int64(0)
    if p >= rows and q >= cols:
        c = first_child[v] + (p - rows) * cols + (q - cols)
    alone = c > 0 and first_child[c] < 0
    return alone, answer[c, 0], rate[c, 0], answer[c, 1], rate[c, 1], low[b], per[b], points[b], b, logc[b]


@njit(
    f"void({TREE}, int64[:,::1], int64[::1], {ANSWERS}, float64[:,::1], int64, {TABLES}, float64[:,::1], int64[::1], "
    f"{BOXES}, uint64[:,::1], int64[:,:,::1], int64[:,::1], boolean[:,::1], int64, int64)",
    cache=True,
    error_model="numpy",
)
def draw(  # type: ignore[no-untyped-def]
    tree,
    corner,
    sides,
    answers,
    weight,
    columns,
    tables,
    quantile,
    base,
    boxes,
    states,
    out,
    count_of,
    is_alike,
    begin,
    until,
):
    """A table of counts ``(rows, columns)`` for every state, added up from the posterior of all boxes.

    ``count_of`` and ``is_alike`` are of squares, a row per state, or one row for all that has no use afterwards. The
    way down is over squares ``begin`` to ``until``; where it does not begin at the root, counts are those that come in.
    """
    first_child, log_grid, logs, _ = tree
    answer, rate, gaussian = answers
    low, per, points, log_beta, even, _, logc, of_boxes = boxes
    box_cells, box_mean, box_variance, cap = of_boxes[0], of_boxes[1], of_boxes[2], of_boxes[3]
    places = (first_child, base, answer, rate)
    grids = (low, per, points, logc)
    factor = 1.0 if gaussian else 2.0
    part = np.zeros((2, 7))
    mass = np.zeros((2, int(GRAIN) * log_beta.shape[1] + 4))
    span = np.zeros((2, 3), dtype=np.int64)
    total = np.zeros(2)
    stack = np.zeros((256, 6), dtype=np.int64)
    root = base[0] + 2 * (1 << log_grid[0, 1]) + 1
    for s in range(out.shape[0]):
        state = states[s]
        counts = count_of[min(s, len(count_of) - 1)]
        alike = is_alike[min(s, len(count_of) - 1)]
        if begin == 0:
            counts[:] = 0
            counts[0] = _root_draw(log_beta[root], low[root], per[root], points[root], state)
            alike[0] = False
        for v in range(begin, until):
            if counts[v] <= 0:
                continue
            if first_child[v] < 0:
                if logs[v, 0] == 0 and logs[v, 1] == 0:
                    out[s, corner[v, 0], corner[v, 1]] = counts[v]
                else:
                    _below(
                        corner[v], logs[v], sides, counts[v], alike[v], weight, columns, quantile, stack, state, out[s]
                    )
                continue
            rows, cols = 1 << log_grid[v, 0], 1 << log_grid[v, 1]
            wide = 2 * cols
            stack[0, 0], stack[0, 1], stack[0, 2], stack[0, 3] = 1, 1, counts[v], 1 if alike[v] else 0
            waiting = 1
            while waiting:
                waiting -= 1
                p, q, x, flat = stack[waiting, 0], stack[waiting, 1], stack[waiting, 2], stack[waiting, 3]
                if x <= 0:
                    continue
                if p >= rows and q >= cols:
                    c = first_child[v] + (p - rows) * cols + (q - cols)
                    counts[c] = x
                    alike[c] = flat == 1
                    continue
                b = base[v] + p * wide + q
                axis = 0 if p < rows else 1
                if flat == 0:
                    # how likely every way to go on is
                    kind = kind_of(logs[v], p, q, rows, cols, columns)
                    cuts = (1 if p < rows else 0) + (1 if q < cols else 0)
                    w_u = weight[kind, 0]
                    to_b = w_u / cuts if x > cap[b] else 0.0
                    level = w_u * at_value(even[b], low[b], per[b], points[b], float(x)) if x <= cap[b] else 0.0
                    best = -np.inf
                    for a in range(2):
                        total[a] = 0.0
                        if (p if a == 0 else q) < (rows if a == 0 else cols):
                            one, two = halves(p, q, wide, a)
                            best = max(best, logc[base[v] + one] + logc[base[v] + two])
                    for a in range(2):
                        if (p if a == 0 else q) >= (rows if a == 0 else cols):
                            continue
                        one, two = halves(p, q, wide, a)
                        one += base[v]
                        two += base[v]
                        relative = logc[one] + logc[two] - best
                        if relative < -40.0:
                            continue
                        total[a] = math.exp(relative) * _terms(
                            x,
                            weight[kind],
                            1 + 5 * a,
                            weight[kind, 5 + 5 * a] + to_b,
                            box_cells[one] / box_cells[b],
                            _half(v, one, rows, cols, places, grids),
                            _half(v, two, rows, cols, places, grids),
                            log_beta,
                            gaussian,
                            tables,
                            part[a],
                            mass[a],
                            span[a],
                        )
                    everything = level + total[0] + total[1]
                    if not everything > UNDERFLOW:  # as least squares would split it
                        one, two = halves(p, q, wide, axis)
                        one += base[v]
                        share = box_variance[one] / box_variance[b]
                        t = box_mean[one] + share * (x - box_mean[b])
                        t += math.sqrt(factor * max(box_variance[one] * (1.0 - share), 0.0)) * normal_draw(state)
                        first = np.int64(min(max(round(t), 0.0), float(x)))
                    else:
                        pick = uniform(state) * everything
                        if pick < level:
                            flat = 1
                        else:
                            axis = 0 if pick < level + total[0] and total[0] > 0.0 else 1
                            if total[axis] <= 0.0:
                                axis = 1 - axis
                            one, two = halves(p, q, wide, axis)
                            one += base[v]
                            two += base[v]
                            added = 0.0
                            for k in range(7):
                                added += part[axis, k]
                            first = _take(
                                x,
                                box_cells[one] / box_cells[b],
                                _half(v, one, rows, cols, places, grids),
                                _half(v, two, rows, cols, places, grids),
                                log_beta,
                                gaussian,
                                quantile,
                                part[axis],
                                added,
                                mass[axis],
                                span[axis],
                                state,
                            )
                if flat == 1:
                    one, two = halves(p, q, wide, axis)
                    first = binomial_draw(x, box_cells[base[v] + one] / box_cells[b], state)
                for second in range(2):
                    stack[waiting, 0] = 2 * p + second if axis == 0 else p
                    stack[waiting, 1] = 2 * q + second if axis == 1 else q
                    stack[waiting, 2] = x - first if second else first
                    stack[waiting, 3] = flat
                    waiting += 1
