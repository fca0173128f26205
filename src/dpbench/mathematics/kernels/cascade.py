"""The posterior of counts that are split down a graph of boxes, given noisy counts of nested squares.

Likelihoods of a box's count are kept at the points of a grid, linear between them. All integrals over the share of the
left half run over points that lie evenly between 0 and the parent's count, with half a step at both ends, so exchanging
the halves exchanges the results. Going up and going down see the same points (``cut_points``).
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

WIDE, NARROW = 1.5, 0.3
"""Steps of the grid, in standard deviations, above which a split is integrated, and below which it is a point."""
FINER = 4
"""Steps, in one of a grid, of the likelihood of a square without squares inside: Laplace's has an edge."""
FAINT = 1e-12
"""Likelihood, of 1 at most, that a point is left out below."""
RELAXED = {"nsz", "arcp", "contract", "reassoc"}
"""What the compiler may do with sums; the same every time."""
DEAD = -60.0
"""Log-likelihood below which an even spread is given up."""
DROPPED = 1e-5
"""Share of a box's mass below which a point of its grid is split as least squares splits it."""
RARE, NEGLIGIBLE = 1e-6, 1e-13
"""Mass of a box below which all its points are, and below which it is spread evenly."""
TINY = 1e-300
UNDERFLOW = 1e-280
"""Likelihoods that are all below this are replaced by those of least squares."""


@njit("float64(float64[::1], float64, float64, int64, float64)", cache=True, inline="always")
def at_value(beta, low, per, points, x):  # type: ignore[no-untyped-def]
    """A likelihood between the points of its grid; 0 outside."""
    place = (x - low) * per
    if place < 0.0:
        return beta[0] if place > -1e-9 else 0.0
    i = int(place)
    if i >= points - 1:
        return beta[points - 1] if place < points - 1 + 1e-9 else 0.0
    return beta[i] + (beta[i + 1] - beta[i]) * (place - i)


@njit("void(float64[::1], float64, float64, int64, float64, float64)", cache=True, inline="always")
def put(mass, low, per, points, x, amount):  # type: ignore[no-untyped-def]
    """Share an amount between the two points around x, so that the mean stays."""
    place = (x - low) * per
    i = int(place) if place > 0.0 else 0
    if i >= points - 1:
        mass[points - 1] += amount
    else:
        f = max(place - i, 0.0)
        mass[i] += amount * (1.0 - f)
        mass[i + 1] += amount * f


@njit("float64(float64, float64[::1], float64[::1], boolean)", cache=True, inline="always")
def misfit(x, answer, rate, gaussian):  # type: ignore[no-untyped-def]
    """Minus the log-likelihood of a count, given its one or two answers."""
    total = 0.0
    for a in range(answer.shape[0]):
        away = abs(answer[a] - x) * rate[a]
        total += 0.5 * away * away if gaussian else away
    return total


@njit(error_model="numpy", fastmath=RELAXED)
def cut_points(  # type: ignore[no-untyped-def]
    box, wanted, weight, first, to_b, cap, middle, left_half, right_half, tables, keep, count, at, mass, part, total
):
    """Where the left half's count may be for every count x of a box, and the likelihood of each, prior included.

    ``box`` is the lowest x, the step and how many there are. ``weight[first ...]`` are the prior weights: everything in
    one half (Z), each of the three Betas, binomial noise (B); to B is added ``to_b`` where x is above ``cap``.
    ``middle`` is the left half's part of the cells. Fills ``total`` for every x that is ``wanted``, and if ``keep``
    the points (``count``, ``at``, ``mass``) and what each term has of the total (``part``). A half has its likelihood,
    the grid of that, and how many points per record an integral takes (``grain``).
    """
    density, end, node, node_weight, spread, normal = tables
    left, low_l, per_l, points_l, grain_l = left_half
    right, low_r, per_r, points_r, grain_r = right_half
    bins = density.shape[0]
    high_l = low_l + (points_l - 1) / per_l
    high_r = low_r + (points_r - 1) / per_r
    finest = max(grain_l, grain_r)
    spread_0, spread_1, spread_2 = spread[0], spread[1], spread[2]
    w_z = weight[first]
    for i in range(box[2]):
        total[i] = 0.0
        if not wanted[i]:
            continue
        x = box[0] + i * box[1]
        if middle <= 0.0 or middle >= 1.0:  # one half has no cells
            w_b = weight[first + 4] + (to_b if x > cap else 0.0)
            f = (
                at_value(left, low_l, per_l, points_l, x)
                if middle >= 1.0
                else at_value(right, low_r, per_r, points_r, x)
            )
            total[i] = (w_z + weight[first + 1] + weight[first + 2] + weight[first + 3] + w_b) * f
            if keep:
                count[i] = 1
                at[i, 0] = x if middle >= 1.0 else 0.0
                mass[i, 0] = total[i]
                part[i, :] = 0.0
            continue
        w_b = weight[first + 4] + (to_b if x > cap else 0.0)
        w_0, w_1, w_2 = weight[first + 1], weight[first + 2], weight[first + 3]
        if x <= 0.0:
            f = at_value(left, low_l, per_l, points_l, 0.0) * at_value(right, low_r, per_r, points_r, 0.0)
            total[i] = (w_z + w_0 + w_1 + w_2 + w_b) * f
            if keep:
                count[i] = 1
                at[i, 0] = 0.0
                mass[i, 0] = total[i]
                part[i, 0], part[i, 1], part[i, 2], part[i, 3], part[i, 4] = w_z * f, w_0 * f, w_1 * f, w_2 * f, w_b * f
            continue
        n = 0
        of_z = 0.0
        # everything in one half
        if low_l <= 0.0:
            f = 0.5 * w_z * left[0] * at_value(right, low_r, per_r, points_r, x)
            of_z += f
            if keep and f > 0.0:
                at[i, n] = 0.0
                mass[i, n] = f
                n += 1
        if low_r <= 0.0:
            f = 0.5 * w_z * right[0] * at_value(left, low_l, per_l, points_l, x)
            of_z += f
            if keep and f > 0.0:
                at[i, n] = x
                mass[i, n] = f
                n += 1
        many = max(math.ceil(x * finest - 1e-9), 1)
        step = x / many
        wide = 0
        if spread_0 * many > WIDE:
            wide = 1 if spread_1 * many <= WIDE else 2 if spread_2 * many <= WIDE else 3
        sd = math.sqrt(middle * (1.0 - middle) * x)
        wide_b = sd > WIDE * step
        of_0 = of_1 = of_2 = of_b = 0.0
        # components that the grid resolves: even points, half a step at both ends
        if wide > 0 or wide_b:
            lower = max(low_l, x - high_r)
            upper = min(high_l, x - low_r)
            if wide == 0:
                lower = max(lower, middle * x - 4.5 * sd)
                upper = min(upper, middle * x + 4.5 * sd)
            j0 = max(math.ceil(lower / step - 1e-9), 0)
            j1 = min(math.floor(upper / step + 1e-9), many)
            per_bin = bins / many
            centre_j = 2.0 * middle * many
            place_l = (j0 * step - low_l) * per_l
            place_r = (x - j0 * step - low_r) * per_r
            move_l = step * per_l
            move_r = step * per_r
            thin = 1.0 / many
            a_0 = w_0 * thin if wide > 0 else 0.0
            a_1 = w_1 * thin if wide > 1 else 0.0
            a_2 = w_2 * thin if wide > 2 else 0.0
            per_sd = normal.shape[0] / (5.0 * sd)
            a_b = step / sd * w_b if wide_b else 0.0
            for j in range(j0, j1 + 1):
                q = min(max(int(place_l), 0), points_l - 2)
                f = left[q] + (left[q + 1] - left[q]) * (place_l - q)
                q = min(max(int(place_r), 0), points_r - 2)
                f *= right[q] + (right[q + 1] - right[q]) * (place_r - q)
                place_l += move_l
                place_r -= move_r
                if f < FAINT:
                    continue
                if j in (0, many):
                    q = min(many, end.shape[0] - 1)
                    m_0 = w_0 * end[q, 0] * f if wide > 0 else 0.0
                    m_1 = w_1 * end[q, 1] * f if wide > 1 else 0.0
                    m_2 = w_2 * end[q, 2] * f if wide > 2 else 0.0
                    m_b = 0.5 * f * a_b
                else:
                    q = min(int(abs(2 * j - many) * per_bin), bins - 1)
                    m_0 = a_0 * density[q, 0] * f
                    q = min(int(abs(2 * j - centre_j) * per_bin), bins - 1)
                    m_1 = a_1 * density[q, 1] * f
                    m_2 = a_2 * density[q, 2] * f
                    m_b = a_b * f
                if m_b > 0.0:
                    q = int(abs(j * step - middle * x) * per_sd)
                    m_b *= normal[q] if q < normal.shape[0] else 0.0
                of_0 += m_0
                of_1 += m_1
                of_2 += m_2
                of_b += m_b
                if keep:
                    at[i, n] = j * step
                    mass[i, n] = m_0 + m_1 + m_2 + m_b
                    n += 1
        # components about as narrow as a step: three points each; narrower ones: one point for all
        centre = 0.0
        f_centre = at_value(left, low_l, per_l, points_l, middle * x) * at_value(
            right, low_r, per_r, points_r, (1.0 - middle) * x
        )
        for k in range(wide, 4):
            if k == 3 and wide_b:
                continue
            w = w_b if k == 3 else weight[first + 1 + k]
            steps = sd / step if k == 3 else spread[k] * many
            if w <= 0.0:
                continue
            found = 0.0
            if steps < NARROW:
                found = w * f_centre
                centre += found
            else:
                for q in range(3):
                    if k == 3:
                        t = middle * x + (q - 1) * 1.7320508075688772 * sd
                    else:
                        t = x * min(max(node[k, q] - 0.5 + middle, 0.0), 1.0)
                    f = w * node_weight[k, q] * at_value(left, low_l, per_l, points_l, t)
                    if f > 0.0:
                        f *= at_value(right, low_r, per_r, points_r, x - t)
                    found += f
                    if keep and f > 0.0:
                        at[i, n] = t
                        mass[i, n] = f
                        n += 1
            if k == 0:
                of_0 = found
            elif k == 1:
                of_1 = found
            elif k == 2:
                of_2 = found
            else:
                of_b = found
        total[i] = of_z + of_0 + of_1 + of_2 + of_b
        if keep:
            if centre > 0.0:
                at[i, n] = middle * x
                mass[i, n] = centre
                n += 1
            count[i] = n
            part[i, 0], part[i, 1], part[i, 2], part[i, 3], part[i, 4] = of_z, of_0, of_1, of_2, of_b


@njit(inline="always")
def _grid(z, sd, top, most, reach):  # type: ignore[no-untyped-def]
    """Lowest point, points per record, number of points: ``reach`` standard deviations around z, not below 0."""
    sd = max(sd, 1e-9 * abs(z), 1e-12)
    low = max(z - reach * sd, 0.0)
    high = min(max(z + reach * sd, 4.0 * sd), top)
    if low > high - 4.0 * sd:
        low = max(high - 4.0 * sd, 0.0)
    points = min(max(math.ceil((high - low) / (2.0 * reach * sd) * (most - 1) - 1e-9) + 1, 5), most)
    return low, (points - 1) / max(high - low, 1e-12), points


@njit(inline="always")
def _halves(p, q, wide, axis):  # type: ignore[no-untyped-def]
    """The two boxes that box (p, q) is cut into along an axis."""
    if axis == 0:
        return 2 * p * wide + q, (2 * p + 1) * wide + q
    return p * wide + 2 * q, p * wide + 2 * q + 1


@njit(inline="always")
def _level(p):  # type: ignore[no-untyped-def]
    """How many cuts an index of a heap is below the first."""
    level = 0
    while (p >> (level + 1)) > 0:
        level += 1
    return level


@njit(inline="always")
def _kind(logs, p, q, rows, cols, columns):  # type: ignore[no-untyped-def]
    """The class of a box: its extents, and which axes it can be cut along."""
    cuttable = 0 if p < rows and q < cols else 1 if p < rows else 2
    return ((logs[0] - _level(p)) * columns + logs[1] - _level(q)) * 3 + cuttable


@njit(inline="always")
def _middle(v, p, q, axis, logs, lean, first, both):  # type: ignore[no-untyped-def]
    """The first half's part of a box that is cut along an axis: by cells, and by how the density leans in its square.

    ``lean`` is the change of the density per cell, over the density in the middle of the square, along each axis.
    """
    part = first / both
    if lean[v, axis] == 0.0 or part <= 0.0 or part >= 1.0:
        return part
    own, other = (p, q) if axis == 0 else (q, p)
    extent = math.ldexp(1.0, logs[v, axis] - _level(own))
    place = (own - (1 << _level(own)) + 0.5) * extent - math.ldexp(0.5, logs[v, axis])
    across = math.ldexp(1.0, logs[v, 1 - axis] - _level(other))
    place_across = (other - (1 << _level(other)) + 0.5) * across - math.ldexp(0.5, logs[v, 1 - axis])
    here = 1.0 + lean[v, axis] * place + lean[v, 1 - axis] * place_across
    change = 0.25 * extent * lean[v, axis]
    one, two = first * (here - change), (both - first) * (here + change)
    return one / (one + two)


@njit(inline="always")
def _alone(u, rows, cols, wide, first_child, v):  # type: ignore[no-untyped-def]
    """Whether a box is a square without squares inside."""
    p = u // wide
    q = u - p * wide
    if p < rows or q < cols:
        return False
    return first_child[first_child[v] + (p - rows) * cols + (q - cols)] < 0


@njit(inline="always")
def _half(v, base, u, tree, boxes, leaf):  # type: ignore[no-untyped-def]
    """The likelihood of a box, its grid, and points per record for integrals; finer where it is a square's own."""
    first_child, log_grid = tree
    rows, cols = 1 << log_grid[v, 0], 1 << log_grid[v, 1]
    b = base + u
    if _alone(u, rows, cols, 2 * cols, first_child, v):
        p = u // (2 * cols)
        own = (p - rows) * cols + u - p * 2 * cols - cols
        return leaf[own], boxes[0][b], boxes[1][b] * FINER, (boxes[2][b] - 1) * FINER + 1, boxes[1][b]
    return boxes[3][b], boxes[0][b], boxes[1][b], boxes[2][b], boxes[1][b]


@njit(error_model="numpy")
def _own_likelihoods(v, tree, cells, answers, squares, leaf):  # type: ignore[no-untyped-def]
    """Likelihoods of the squares inside a square that have none inside themselves, the largest of each 1."""
    first_child, log_grid = tree
    answer, rate, gaussian = answers
    low, per, points, _, logc, _ = squares
    for own in range(1 << (log_grid[v, 0] + log_grid[v, 1])):
        c = first_child[v] + own
        if first_child[c] >= 0 or cells[c] <= 0.0:
            continue
        step = 1.0 / (per[c] * FINER)
        many = (points[c] - 1) * FINER + 1
        least = np.inf
        for i in range(many):
            leaf[own, i] = misfit(low[c] + i * step, answer[c], rate[c], gaussian)
            least = min(least, leaf[own, i])
        for i in range(many):
            leaf[own, i] = math.exp(least - leaf[own, i])
        logc[c] = -least


@njit(error_model="numpy")
def _even(v, p, q, x0, step, g, cells, lc, tree, listed, gaussian, acc):  # type: ignore[no-untyped-def]
    """Log-likelihoods, less lc, of a box whose cells are all alike; False where all are hopeless."""
    first_child, log_grid = tree
    start, stop, listed_answer, listed_rate, listed_cells = listed
    rows, cols = 1 << log_grid[v, 0], 1 << log_grid[v, 1]
    p_many = rows >> _level(p)
    q_many = cols >> _level(q)
    for i in range(g):
        acc[i] = -lc
    for row in range(p * p_many - rows, (p + 1) * p_many - rows):
        first = first_child[v] + row * cols + q * q_many - cols
        position = start[first]
        last = stop[first + q_many - 1]
        while position < last:
            until = min(position + 32, last)
            for t in range(position, until):
                w = listed_rate[t]
                y = listed_answer[t] * w
                w *= listed_cells[t] / cells
                if gaussian:
                    for i in range(g):
                        d = y - (x0 + i * step) * w
                        acc[i] -= 0.5 * d * d
                else:
                    for i in range(g):
                        acc[i] -= abs(y - (x0 + i * step) * w)
            position = until
            best = acc[0]
            for i in range(1, g):
                best = max(best, acc[i])
            if best < DEAD:
                return False
    return True


@njit(error_model="numpy")
def _up(v, base, tree, logs, cells, answers, moments, listed, prior, tables, squares, boxes, rough, settings):  # type: ignore[no-untyped-def]
    """Likelihoods of all boxes of a square, from those of the squares inside up to the square itself."""
    first_child, log_grid = tree
    answer, rate, gaussian = answers
    below_mean, below_variance, mean, variance = moments
    weight, columns, lean = prior
    square_low, square_per, square_points, square_beta, square_logc, square_cap = squares
    low, per, points, beta, even, logc, box_cells, box_mean, box_variance, cap = boxes
    count, at, mass, part, total, everything, acc, leaf = rough
    most, reach = settings
    rows, cols = 1 << log_grid[v, 0], 1 << log_grid[v, 1]
    wide = 2 * cols
    factor = 1.0 if gaussian else 2.0
    # 1. the squares inside
    _own_likelihoods(v, tree, cells, answers, squares, leaf)
    for p in range(rows, 2 * rows):
        for q in range(cols, 2 * cols):
            c = first_child[v] + (p - rows) * cols + (q - cols)
            u = base + p * wide + q
            box_cells[u] = cells[c]
            box_mean[u] = below_mean[c]
            box_variance[u] = below_variance[c]
            cap[u] = square_cap[c]
            logc[u] = 0.0
            if cells[c] <= 0.0:
                continue
            low[u], per[u], points[u] = square_low[c], square_per[c], square_points[c]
            logc[u] = square_logc[c]
            if first_child[c] >= 0:
                for i in range(points[u]):
                    beta[u, i] = square_beta[c, i]
    # 2. sums over the squares in each box
    for p in range(2 * rows - 1, 0, -1):
        for q in range(2 * cols - 1, 0, -1):
            if p >= rows and q >= cols:
                continue
            u = base + p * wide + q
            one, two = _halves(p, q, wide, 0 if p < rows else 1)
            box_cells[u] = box_cells[base + one] + box_cells[base + two]
            box_mean[u] = box_mean[base + one] + box_mean[base + two]
            box_variance[u] = box_variance[base + one] + box_variance[base + two]
            cap[u] = 2.0 * min(cap[base + one], cap[base + two])
            if lean[v, 0] != 0.0 or lean[v, 1] != 0.0:
                cap[u] = -1.0
    whole = base + wide + 1
    square_cap[v] = cap[whole]
    top = square_low[v] + (square_points[v] - 1) / square_per[v]
    # 3. boxes, the smallest first
    for p in range(2 * rows - 1, 0, -1):
        for q in range(2 * cols - 1, 0, -1):
            u = base + p * wide + q
            if (p >= rows and q >= cols) or box_cells[u] <= 0.0:
                continue
            share = box_variance[u] / box_variance[whole]
            z = box_mean[u] + share * (mean[v] - box_mean[whole])
            sd = math.sqrt(factor * max(box_variance[u] * (1.0 - share) + share * share * variance[v], 0.0))
            if u == whole:
                low[u], per[u], points[u] = square_low[v], square_per[v], square_points[v]
            else:
                low[u], per[u], points[u] = _grid(z, sd, top, most, reach)
            g = points[u]
            step = 1.0 / per[u]
            kind = _kind(logs[v], p, q, rows, cols, columns)
            cuts = (1 if p < rows else 0) + (1 if q < cols else 0)
            lc = -np.inf
            for axis in range(2):
                if (p if axis == 0 else q) < (rows if axis == 0 else cols):
                    one, two = _halves(p, q, wide, axis)
                    lc = max(lc, logc[base + one] + logc[base + two])
            alive = low[u] <= cap[u] and _even(v, p, q, low[u], step, g, box_cells[u], lc, tree, listed, gaussian, acc)
            for i in range(g):
                x = low[u] + i * step
                even[u, i] = math.exp(min(acc[i], 80.0)) if alive and acc[i] > DEAD and x <= cap[u] else 0.0
                beta[u, i] = weight[kind, 0] * even[u, i]
            for axis in range(2):
                if (p if axis == 0 else q) >= (rows if axis == 0 else cols):
                    continue
                one, two = _halves(p, q, wide, axis)
                one += base
                two += base
                relative = logc[one] + logc[two] - lc
                if relative < -40.0:
                    continue
                relative = math.exp(relative)
                cut_points(
                    (low[u], step, g),
                    everything,
                    weight[kind],
                    1 + 5 * axis,
                    weight[kind, 0] / cuts,
                    cap[u],
                    _middle(v, p, q, axis, logs, lean, box_cells[one], box_cells[u]),
                    _half(v, base, one - base, tree, boxes, leaf),
                    _half(v, base, two - base, tree, boxes, leaf),
                    tables,
                    False,
                    count[0],
                    at[0],
                    mass[0],
                    part[0],
                    total[0],
                )
                for i in range(g):
                    beta[u, i] += relative * total[0, i]
            if u == whole:
                least = np.inf
                for i in range(g):
                    acc[i] = misfit(low[u] + i * step, answer[v], rate[v], gaussian)
                    least = min(least, acc[i])
                for i in range(g):
                    beta[u, i] *= math.exp(least - acc[i])
                lc -= least
            best = 0.0
            for i in range(g):
                best = max(best, beta[u, i])
            if not best > UNDERFLOW:
                best = 1.0
                for i in range(g):
                    d = (low[u] + i * step - min(max(z, low[u]), low[u] + (g - 1) * step)) / max(sd, 1e-12)
                    beta[u, i] = math.exp(-0.5 * min(d * d, 1400.0))
            for i in range(g):
                beta[u, i] /= best
            logc[u] = lc + math.log(best)
    square_logc[v] = logc[whole]
    for i in range(points[whole]):
        square_beta[v, i] = beta[whole, i]


@njit(error_model="numpy")
def _down(  # type: ignore[no-untyped-def]
    v, base, tree, logs, cells, answers, prior, tables, squares, results, boxes, rough
):
    """Share the posterior mass of a square among its boxes and the squares inside; ``taken`` is by term."""
    first_child, log_grid = tree
    weight, columns, lean = prior
    square_mass, square_even, estimate, taken = results
    low, per, points, beta, even, logc, box_cells, box_mean, box_variance, cap = boxes
    count, at, mass, part, total, _, acc, leaf = rough
    rows, cols = 1 << log_grid[v, 0], 1 << log_grid[v, 1]
    wide = 2 * cols
    _own_likelihoods(v, tree, cells, answers, squares, leaf)
    active = np.zeros((2 * rows * wide, beta.shape[1]))
    spread_evenly = np.zeros(2 * rows * wide)
    alone = np.zeros(2 * rows * wide)  # of squares without squares inside the mean is enough
    wanted = np.zeros(beta.shape[1], dtype=np.bool_)
    for i in range(points[base + wide + 1]):
        active[wide + 1, i] = square_mass[v, i]
    spread_evenly[wide + 1] = square_even[v]
    for p in range(1, 2 * rows):
        for q in range(1, 2 * cols):
            u = p * wide + q
            b = base + u
            if box_cells[b] <= 0.0:
                continue
            g = points[b]
            step = 1.0 / per[b]
            if p >= rows and q >= cols:
                c = first_child[v] + (p - rows) * cols + (q - cols)
                if first_child[c] >= 0:
                    square_even[c] = spread_evenly[u]
                    for i in range(g):
                        square_mass[c, i] = active[u, i]
                else:
                    estimate[c] = spread_evenly[u] + alone[u]
                continue
            here = 0.0
            for i in range(g):
                here += active[u, i]
            if here < NEGLIGIBLE:
                for i in range(g):
                    spread_evenly[u] += active[u, i] * (low[b] + i * step)
                here = 0.0
            for i in range(g):
                wanted[i] = here > RARE and active[u, i] > DROPPED * here
                acc[i] = 0.0
            kind = _kind(logs[v], p, q, rows, cols, columns)
            cuts = (1 if p < rows else 0) + (1 if q < cols else 0)
            to_b = weight[kind, 0] / cuts
            # 1. the likelihood of every way to go on
            lc = -np.inf
            for axis in range(2):
                if (p if axis == 0 else q) < (rows if axis == 0 else cols):
                    one, two = _halves(p, q, wide, axis)
                    lc = max(lc, logc[base + one] + logc[base + two])
            for axis in range(2):
                for i in range(g):
                    total[axis, i] = 0.0
                if (p if axis == 0 else q) >= (rows if axis == 0 else cols) or here <= RARE:
                    continue
                one, two = _halves(p, q, wide, axis)
                one += base
                two += base
                relative = logc[one] + logc[two] - lc
                if relative < -40.0:
                    continue
                relative = math.exp(relative)
                cut_points(
                    (low[b], step, g),
                    wanted,
                    weight[kind],
                    1 + 5 * axis,
                    to_b,
                    cap[b],
                    _middle(v, p, q, axis, logs, lean, box_cells[one], box_cells[b]),
                    _half(v, base, one - base, tree, boxes, leaf),
                    _half(v, base, two - base, tree, boxes, leaf),
                    tables,
                    True,
                    count[axis],
                    at[axis],
                    mass[axis],
                    part[axis],
                    total[axis],
                )
                for i in range(g):
                    total[axis, i] *= relative
                    acc[i] += total[axis, i]
            # 2. the mass of every point, shared by likelihood
            for i in range(g):
                amount = active[u, i]
                if amount <= 0.0 or here <= 0.0:
                    continue
                x = low[b] + i * step
                flat = weight[kind, 0] * even[b, i]
                if not (wanted[i] and flat + acc[i] > UNDERFLOW):  # as least squares would split it
                    axis = 0 if p < rows else 1
                    one, two = _halves(p, q, wide, axis)
                    share = box_variance[base + one] / box_variance[b]
                    t = min(max(box_mean[base + one] + share * (x - box_mean[b]), 0.0), x)
                    count[axis, i] = 1
                    at[axis, i, 0] = t
                    mass[axis, i, 0] = 1.0
                    part[axis, i, :] = 0.0
                    total[axis, i] = acc[i] = 1.0
                    total[1 - axis, i] = flat = 0.0
                acc[i] += flat
                spread_evenly[u] += amount * flat / acc[i] * x
                taken[kind, 0] += amount * flat / acc[i]
            for axis in range(2):
                if (p if axis == 0 else q) >= (rows if axis == 0 else cols) or here <= 0.0:
                    continue
                one, two = _halves(p, q, wide, axis)
                of_one = base + one
                of_two = base + two
                one_alone = _alone(one, rows, cols, wide, first_child, v)
                two_alone = _alone(two, rows, cols, wide, first_child, v)
                first = 1 + 5 * axis
                for i in range(g):
                    if active[u, i] <= 0.0 or total[axis, i] <= 0.0:
                        continue
                    x = low[b] + i * step
                    added = 0.0
                    for n in range(count[axis, i]):
                        added += mass[axis, i, n]
                    z = active[u, i] * (total[axis, i] / acc[i]) / added
                    for k in range(5):
                        taken[kind, first + k] += z * part[axis, i, k]
                    if x > cap[b] and part[axis, i, 4] > 0.0:
                        moved = z * part[axis, i, 4] * to_b / (to_b + weight[kind, first + 4])
                        taken[kind, first + 4] -= moved
                        taken[kind, 0] += moved
                    for n in range(count[axis, i]):
                        m = z * mass[axis, i, n]
                        t = at[axis, i, n]
                        if one_alone:
                            alone[one] += m * t
                        elif box_cells[of_one] > 0.0:
                            put(active[one], low[of_one], per[of_one], points[of_one], t, m)
                        if two_alone:
                            alone[two] += m * (x - t)
                        elif box_cells[of_two] > 0.0:
                            put(active[two], low[of_two], per[of_two], points[of_two], x - t, m)
            if spread_evenly[u] > 0.0:
                one, two = _halves(p, q, wide, 0 if p < rows else 1)
                middle = box_cells[base + one] / box_cells[b]
                spread_evenly[one] += spread_evenly[u] * middle
                spread_evenly[two] += spread_evenly[u] * (1.0 - middle)


@njit(
    "UniTuple(float64, 2)(int64[::1], int64[:,::1], int64[:,::1], float64[::1], float64[:,::1], float64[:,::1], "
    "boolean, "
    "float64[::1], float64[::1], float64[::1], float64[::1], "
    "int64[::1], int64[::1], float64[::1], float64[::1], float64[::1], "
    "float64[:,::1], float64[:,::1], int64, "
    "float64[:,::1], float64[:,::1], float64[:,::1], float64[:,::1], float64[::1], "
    "float64[::1], float64, int64[::1], boolean, "
    "float64[::1], float64[::1], int64[::1], float64[:,::1], float64[:,::1], float64[::1], float64[:,::1], "
    "float64[::1], float64[:,::1])",
    cache=True,
    error_model="numpy",
)
def posterior(  # type: ignore[no-untyped-def]
    first_child,
    log_grid,
    logs,
    cells,
    answer,
    rate,
    gaussian,
    below_mean,
    below_variance,
    mean,
    variance,
    start,
    stop,
    listed_answer,
    listed_rate,
    listed_cells,
    lean,
    weight,
    columns,
    density,
    end,
    node,
    node_weight,
    spread,
    normal,
    reach,
    base,
    kept,
    low,
    per,
    points,
    beta,
    even,
    logc,
    of_boxes,
    estimate,
    taken,
):
    """One pass up and one down the squares; returns the log-evidence, and the mean of the root.

    The workspace from ``low`` to ``of_boxes`` has an entry per box, those of square v from ``base[v]`` on; where it is
    not ``kept`` all squares share one place, and the boxes of a square are worked out again on the way down. Fills
    ``estimate``, the posterior mean of every square without squares inside, and ``taken``, the mass of every term.
    """
    n = first_child.shape[0]
    most = beta.shape[1]
    factor = 1.0 if gaussian else 2.0
    square_low = np.zeros(n)
    square_per = np.ones(n)
    square_points = np.zeros(n, dtype=np.int64)
    square_logc = np.zeros(n)
    square_cap = np.full(n, np.inf)
    top = np.full(n, np.inf)
    for v in range(n):
        if cells[v] <= 0.0:
            continue
        square_low[v], square_per[v], square_points[v] = _grid(
            mean[v], math.sqrt(factor * variance[v]), top[v], most, reach
        )
        if first_child[v] >= 0:
            for c in range(first_child[v], first_child[v] + (1 << (log_grid[v, 0] + log_grid[v, 1]))):
                top[c] = square_low[v] + (square_points[v] - 1) / square_per[v]
        else:
            precision = 0.0
            for a in range(rate.shape[1]):
                precision += rate[v, a] * rate[v, a]
            square_cap[v] = 0.25 * factor / precision
    square_beta = np.zeros((n, most))
    square_mass = np.zeros((n, most))
    square_even = np.zeros(n)
    boxes = (low, per, points, beta, even, logc, of_boxes[0], of_boxes[1], of_boxes[2], of_boxes[3])
    room = 2 * most + 40
    largest = 1
    for v in range(n):
        if first_child[v] >= 0:
            largest = max(largest, 1 << (log_grid[v, 0] + log_grid[v, 1]))
    rough = (
        np.zeros((2, most), dtype=np.int64),
        np.empty((2, most, room)),
        np.empty((2, most, room)),
        np.empty((2, most, 5)),
        np.empty((2, most)),
        np.ones(most, dtype=np.bool_),
        np.empty(most),
        np.empty((largest, (most - 1) * FINER + 1)),
    )
    tree = (first_child, log_grid)
    answers = (answer, rate, gaussian)
    moments = (below_mean, below_variance, mean, variance)
    listed = (start, stop, listed_answer, listed_rate, listed_cells)
    prior = (weight, columns, lean)
    tables = (density, end, node, node_weight, spread, normal)
    squares = (square_low, square_per, square_points, square_beta, square_logc, square_cap)
    settings = (most, reach)
    results = (square_mass, square_even, estimate, taken)
    for v in range(n - 1, -1, -1):
        if first_child[v] >= 0 and cells[v] > 0.0:
            _up(v, base[v], tree, logs, cells, answers, moments, listed, prior, tables, squares, boxes, rough, settings)
    # the root's prior is flat, so its posterior is its likelihood: log-linear between points, the mass of a step shared
    # by its ends so that the mean stays; the trapezoid rule has too little near 0
    g = square_points[0]
    total = 0.0
    for i in range(g - 1):
        here, there = square_beta[0, i], square_beta[0, i + 1]
        fall = math.log(max(here, TINY) / max(there, TINY))
        if abs(fall) < 0.01:
            amount = 0.5 * (here + there)
            right = (here + 2.0 * there) / 6.0
        else:
            amount = (here - there) / fall
            right = amount / fall - there / fall
        square_mass[0, i] += amount - right
        square_mass[0, i + 1] += right
        total += amount
    root = 0.0
    for i in range(g):
        square_mass[0, i] /= total
        root += square_mass[0, i] * (square_low[0] + i / square_per[0])
    for v in range(n):
        if first_child[v] >= 0 and cells[v] > 0.0:
            if not kept:
                _up(
                    v,
                    base[v],
                    tree,
                    logs,
                    cells,
                    answers,
                    moments,
                    listed,
                    prior,
                    tables,
                    squares,
                    boxes,
                    rough,
                    settings,
                )
            _down(v, base[v], tree, logs, cells, answers, prior, tables, squares, results, boxes, rough)
    return square_logc[0] + math.log(total / square_per[0]), root
