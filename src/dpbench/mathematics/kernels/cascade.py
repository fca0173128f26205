"""The posterior of counts that are split down a graph of boxes, given noisy counts of nested squares.

Arguments come in bundles, the same for all functions here and in ``kernels/draws.py``:

tree     first square inside each square, logarithms of the grid of those and of the square's sides, its cells
answers  up to two per square and their rates; whether the noise is Gaussian
moments  least squares of every square by what is inside, then by everything: means and variances
listed   the answers depth first: where those of a square begin and end; answer, rate, cells
prior    weights by kind of box; how many columns of kinds there are; how the density leans in each square
tables   of the Betas and the normal (``mathematics/cascade.py``)
boxes    of every box the grid, the likelihood, that of even cells, that of all ways to go on (where nothing is
         learned, of two squares without squares inside: the mean of the first), log-scale; and cells, least squares,
         the cap of U
state    of every square the grid, likelihood, log-scale and cap of U, as of its box; on the way down its mass, and of
         what is spread evenly the sum, the mass, and the moments from the grid's low end; then where the boxes of a
         square begin in the last, and mean and variance of every box (nothing where they are not asked for)
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from dpbench.mathematics.kernels.dyadic import alone, depth, grid_around, halves, kind_of, middle_of
from dpbench.mathematics.kernels.halves import UNCOUNTED, cut_down, cut_learning, cut_up, misfit, mix, put

FINER = 4
"""Steps, in one of a grid, of the likelihood of a square without squares inside: Laplace's has an edge."""
DEAD = -60.0
"""Log-likelihood below which an even spread is given up."""
HOPELESS = -12.0
"""Log-likelihood, beside the other axis, below which an axis is not cut along."""
DROPPED = 1e-5
"""Share of a box's mass below which a point of its grid is split as least squares splits it."""
RARE, NEGLIGIBLE = 1e-6, 1e-13
"""Mass of a box below which all its points are, and below which it is spread evenly."""
TINY = 1e-300
UNDERFLOW = 1e-280
"""Likelihoods that are all below this are replaced by those of least squares."""

TREE = "Tuple((int64[::1], int64[:,::1], int64[:,::1], float64[::1]))"
ANSWERS = "Tuple((float64[:,::1], float64[:,::1], boolean))"
MOMENTS = "UniTuple(float64[::1], 4)"
LISTED = "Tuple((int64[::1], int64[::1], float64[::1], float64[::1], float64[::1]))"
PRIOR = "Tuple((float64[:,::1], int64, float64[:,::1]))"
TABLES = "Tuple((float64[:,::1], float64[:,::1], float64[:,::1], float64[:,::1], float64[::1], float64[::1]))"
BOXES = (
    "Tuple((float64[::1], float64[::1], int64[::1], float64[:,::1], float64[:,::1], float64[:,::1], float64[::1], "
    "float64[:,::1]))"
)
STATE = (
    "Tuple((float64[::1], float64[::1], int64[::1], float64[:,::1], float64[::1], float64[::1], float64[:,::1], "
    "float64[:,::1], int64[::1], float64[:,::1]))"
)


@njit(inline="always")
def _half(v, base, u, tree, boxes, leaf, active):  # type: ignore[no-untyped-def]
    """What :func:`cut` reads of a half; the likelihood is on a finer grid where it is a square's own."""
    first_child, log_grid, _, _ = tree
    rows, cols = 1 << log_grid[v, 0], 1 << log_grid[v, 1]
    low, per, points = boxes[0][base + u], boxes[1][base + u], boxes[2][base + u]
    if alone(u, rows, cols, 2 * cols, first_child, v):
        p = u // (2 * cols)
        own = (p - rows) * cols + u - p * 2 * cols - cols
        return leaf[own], low, per * FINER, (points - 1) * FINER + 1, per, active[u], (low, per, points, True)
    return boxes[3][base + u], low, per, points, per, active[u], (low, per, points, False)


@njit(error_model="numpy", **UNCOUNTED)
def _own_likelihoods(v, tree, answers, squares, leaf):  # type: ignore[no-untyped-def]
    """Likelihoods of the squares inside a square that have none inside themselves, the largest of each 1."""
    first_child, log_grid, _, cells = tree
    answer, rate, gaussian = answers
    low, per, points, _, logc, _ = squares
    for own in range(1 << (log_grid[v, 0] + log_grid[v, 1])):
        c = first_child[v] + own
        if first_child[c] >= 0 or cells[c] <= 0.0:
            continue
        step = 1.0 / (per[c] * FINER)
        many = (points[c] - 1) * FINER + 1
        if not gaussian and rate[c, 1] <= 0.0:  # falls by the same factor per step on either side of the answer
            place = min(max((answer[c, 0] - low[c]) / step, 0.0), many - 1.0)
            nearest = min(int(place + 0.5), many - 1)
            least = misfit(low[c] + nearest * step, answer[c], rate[c], gaussian)
            fall = math.exp(-rate[c, 0] * step)
            leaf[own, nearest] = 1.0
            for side in (-1, 1):
                i = nearest + side
                if 0 <= i < many:
                    leaf[own, i] = math.exp(least - misfit(low[c] + i * step, answer[c], rate[c], gaussian))
                    i += side
                while 0 <= i < many:
                    leaf[own, i] = leaf[own, i - side] * fall
                    i += side
        else:
            least = np.inf
            for i in range(many):
                leaf[own, i] = misfit(low[c] + i * step, answer[c], rate[c], gaussian)
                least = min(least, leaf[own, i])
            for i in range(many):
                leaf[own, i] = math.exp(least - leaf[own, i])
        logc[c] = -least


@njit(error_model="numpy", **UNCOUNTED)
def _even(v, p, q, x0, step, g, cells, lc, tree, listed, gaussian, acc):  # type: ignore[no-untyped-def]
    """Log-likelihoods, less lc, of a box whose cells are all alike; False where all are hopeless."""
    first_child, log_grid, _, _ = tree
    start, stop, listed_answer, listed_rate, listed_cells = listed
    rows, cols = 1 << log_grid[v, 0], 1 << log_grid[v, 1]
    p_many = rows >> depth(p)
    q_many = cols >> depth(q)
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


@njit(inline="always")
def _best_log_scale(p, q, rows, cols, wide, base, logc):  # type: ignore[no-untyped-def]
    """The larger of the log-scales of the halves' likelihoods, over the axes that a box can be cut along."""
    best = -np.inf
    for axis in range(2):
        if (p if axis == 0 else q) < (rows if axis == 0 else cols):
            one, two = halves(p, q, wide, axis)
            best = max(best, logc[base + one] + logc[base + two])
    return best


@njit(inline="always")
def _first_by_least_squares(b, one, x, of_boxes):  # type: ignore[no-untyped-def]
    """The first half's count as least squares splits x."""
    share = of_boxes[2, one] / of_boxes[2, b]
    return min(max(of_boxes[1, one] + share * (x - of_boxes[1, b]), 0.0), x)


@njit(error_model="numpy", **UNCOUNTED)
def _sums(v, base, tree, moments, lean, squares, boxes):  # type: ignore[no-untyped-def]
    """Of every box: cells, least squares by what is inside, the cap of U; and the grids of the squares inside."""
    first_child, log_grid, _, cells = tree
    square_low, square_per, square_points, square_beta, square_logc, square_cap = squares
    low, per, points, beta, _, _, logc, of_boxes = boxes
    rows, cols = 1 << log_grid[v, 0], 1 << log_grid[v, 1]
    wide = 2 * cols
    for p in range(rows, 2 * rows):
        for q in range(cols, 2 * cols):
            c = first_child[v] + (p - rows) * cols + (q - cols)
            u = base + p * wide + q
            of_boxes[0, u], of_boxes[1, u], of_boxes[2, u] = cells[c], moments[0][c], moments[1][c]
            of_boxes[3, u] = square_cap[c]
            logc[u] = 0.0
            if cells[c] <= 0.0:
                continue
            low[u], per[u], points[u] = square_low[c], square_per[c], square_points[c]
            logc[u] = square_logc[c]
            if first_child[c] >= 0:
                for i in range(points[u]):
                    beta[u, i] = square_beta[c, i]
    leans = lean[v, 0] != 0.0 or lean[v, 1] != 0.0
    for p in range(2 * rows - 1, 0, -1):
        for q in range(2 * cols - 1, 0, -1):
            if p >= rows and q >= cols:
                continue
            u = base + p * wide + q
            one, two = halves(p, q, wide, 0 if p < rows else 1)
            for row in range(3):
                of_boxes[row, u] = of_boxes[row, base + one] + of_boxes[row, base + two]
            of_boxes[3, u] = -1.0 if leans else 2.0 * min(of_boxes[3, base + one], of_boxes[3, base + two])


@njit(error_model="numpy", **UNCOUNTED)
def _up(v, base, tree, answers, moments, listed, prior, tables, squares, boxes, rough, reach, learn):  # type: ignore[no-untyped-def]
    """Likelihoods of all boxes of a square, from those of the squares inside up to the square itself."""
    first_child, log_grid, logs, _ = tree
    answer, rate, gaussian = answers
    _, _, mean, variance = moments
    weight, columns, lean = prior
    square_low, square_per, square_points, square_beta, square_logc, square_cap = squares
    low, per, points, beta, even, onward, logc, of_boxes = boxes
    box_cells, box_mean, box_variance, cap = of_boxes[0], of_boxes[1], of_boxes[2], of_boxes[3]
    found, _, acc, active, leaf, _, mixed, done, _ = rough
    most = beta.shape[1]
    rows, cols = 1 << log_grid[v, 0], 1 << log_grid[v, 1]
    wide = 2 * cols
    factor = 1.0 if gaussian else 2.0
    whole = base + wide + 1
    _own_likelihoods(v, tree, answers, squares, leaf)
    _sums(v, base, tree, moments, lean, squares, boxes)
    square_cap[v] = cap[whole]
    top = square_low[v] + (square_points[v] - 1) / square_per[v]
    for p in range(2 * rows - 1, 0, -1):  # the smallest first
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
                low[u], per[u], points[u] = grid_around(z, sd, top, most, reach)
            g = points[u]
            step = 1.0 / per[u]
            kind = kind_of(logs[v], p, q, rows, cols, columns)
            cuts = (1 if p < rows else 0) + (1 if q < cols else 0)
            lc = _best_log_scale(p, q, rows, cols, wide, base, logc)
            alive = low[u] <= cap[u] and _even(v, p, q, low[u], step, g, box_cells[u], lc, tree, listed, gaussian, acc)
            for i in range(g):
                x = low[u] + i * step
                even[u, i] = math.exp(min(acc[i], 80.0)) if alive and acc[i] > DEAD and x <= cap[u] else 0.0
                beta[u, i] = weight[kind, 0] * even[u, i]
            for axis in range(2):
                if (p if axis == 0 else q) >= (rows if axis == 0 else cols):
                    continue
                one, two = halves(p, q, wide, axis)
                relative = logc[base + one] + logc[base + two] - lc
                if relative < HOPELESS:
                    continue
                relative = math.exp(relative)
                if not done[kind, axis]:
                    mix(tables[0], weight[kind], 1 + 5 * axis, mixed[kind, axis])
                    done[kind, axis] = True
                cut_up(
                    (low[u], step, g),
                    weight[kind],
                    1 + 5 * axis,
                    weight[kind, 0] / cuts,
                    cap[u],
                    middle_of(v, p, q, axis, logs, lean, box_cells[base + one], box_cells[u]),
                    _half(v, base, one, tree, boxes, leaf, active),
                    _half(v, base, two, tree, boxes, leaf, active),
                    tables,
                    mixed[kind, axis],
                    acc,
                    found,
                    acc,
                )
                for i in range(g):
                    beta[u, i] += relative * found[0, i]
            one, two = halves(p, q, wide, 0 if p < rows else 1)
            if not learn and _pair(one, two, rows, cols, wide, first_child, v):
                part = box_cells[base + one] / box_cells[u]
                for i in range(g):
                    x = low[u] + i * step
                    if beta[u, i] > UNDERFLOW:
                        flat = weight[kind, 0] * even[u, i]
                        onward[u, i] = min((flat * x * part + found[1, i]) / beta[u, i], x)
                    else:
                        onward[u, i] = _first_by_least_squares(u, base + one, x, of_boxes)
            else:
                for i in range(g):
                    onward[u, i] = beta[u, i]
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


@njit(inline="always")
def _pair(one, two, rows, cols, wide, first_child, v):  # type: ignore[no-untyped-def]
    """Whether both halves of a box are squares without squares inside."""
    return alone(one, rows, cols, wide, first_child, v) and alone(two, rows, cols, wide, first_child, v)


@njit(inline="always")
def _add_even(evens, u, mass, off):  # type: ignore[no-untyped-def]
    """Note mass of a box that is spread evenly: the mass, and its first and second moments from the grid's low end."""
    evens[u, 0] += mass
    evens[u, 1] += mass * off
    evens[u, 2] += mass * off * off


@njit(inline="always")
def _pass_even(evens, u, half, part, off):  # type: ignore[no-untyped-def]
    """The same of a half that gets part of the box; ``off``: part of the box's low end less the half's own."""
    mass, first, second = evens[u, 0], part * evens[u, 1], part * part * evens[u, 2]
    evens[half, 0] += mass
    evens[half, 1] += first + off * mass
    evens[half, 2] += second + 2.0 * off * first + off * off * mass


@njit(inline="always")
def _note_moments(noted, b, low, step, g, mass, even):  # type: ignore[no-untyped-def]
    """The posterior mean and variance of a box: of its mass and of what is spread evenly."""
    added, first, second = even[0], even[1], even[2]
    for i in range(g):
        off = i * step
        added += mass[i]
        first += mass[i] * off
        second += mass[i] * off * off
    if added > 0.0:
        noted[0, b] = low + first / added
        noted[1, b] = max(second / added - first / added * (first / added), 0.0)


@njit(error_model="numpy", **UNCOUNTED)
def _down(v, base, tree, answers, prior, tables, squares, results, boxes, rough, learn):  # type: ignore[no-untyped-def]
    """Share the posterior mass of a square among its boxes and the squares inside; to ``learn``, count it by term."""
    first_child, log_grid, logs, _ = tree
    weight, columns, lean = prior
    square_mass, square_even, places, noted, estimate, taken = results
    evens = rough[8]
    low, per, points, _, even, onward, logc, of_boxes = boxes
    box_cells, cap = of_boxes[0], of_boxes[3]
    found, amount, acc, active, leaf, sums, mixed, _, _ = rough
    rows, cols = 1 << log_grid[v, 0], 1 << log_grid[v, 1]
    wide = 2 * cols
    if learn or not _alike_inside(v, tree):
        _own_likelihoods(v, tree, answers, squares, leaf)
    active[: 2 * rows * wide] = 0.0
    spread_evenly, mean_of = sums[0], sums[1]  # of squares without squares inside the mean is enough
    spread_evenly[: 2 * rows * wide] = 0.0
    mean_of[: 2 * rows * wide] = 0.0
    evens[: 2 * rows * wide] = 0.0
    for i in range(points[base + wide + 1]):
        active[wide + 1, i] = square_mass[v, i]
    spread_evenly[wide + 1] = square_even[v, 0]
    for k in range(3):
        evens[wide + 1, k] = square_even[v, 1 + k]
    for p in range(1, 2 * rows):
        for q in range(1, 2 * cols):
            u = p * wide + q
            b = base + u
            if box_cells[b] <= 0.0:
                continue
            g = points[b]
            step = 1.0 / per[b]
            if noted.shape[1] > 0 and not alone(u, rows, cols, wide, first_child, v):
                _note_moments(noted, places[v] + u, low[b], step, g, active[u], evens[u])
            if p >= rows and q >= cols:
                c = first_child[v] + (p - rows) * cols + (q - cols)
                if first_child[c] >= 0:
                    square_even[c, 0] = spread_evenly[u]
                    for k in range(3):
                        square_even[c, 1 + k] = evens[u, k]
                    for i in range(g):
                        square_mass[c, i] = active[u, i]
                else:
                    estimate[c] = spread_evenly[u] + mean_of[u]
                continue
            here = 0.0
            for i in range(g):
                here += active[u, i]
            if here < NEGLIGIBLE:
                for i in range(g):
                    spread_evenly[u] += active[u, i] * (low[b] + i * step)
                    _add_even(evens, u, active[u, i], i * step)
                here = 0.0
            axis = 0 if p < rows else 1
            one, two = halves(p, q, wide, axis)
            if not learn and _pair(one, two, rows, cols, wide, first_child, v):
                for i in range(g if here > 0.0 else 0):
                    mean_of[one] += active[u, i] * onward[b, i]
                    mean_of[two] += active[u, i] * (low[b] + i * step - onward[b, i])
            elif here > 0.0:
                # 1. what is spread evenly, and what is split as least squares would
                kind = kind_of(logs[v], p, q, rows, cols, columns)
                for i in range(g):
                    x = low[b] + i * step
                    amount[i] = 0.0
                    if here > RARE and active[u, i] > DROPPED * here and onward[b, i] > UNDERFLOW:
                        amount[i] = active[u, i] / onward[b, i]
                        flat = amount[i] * weight[kind, 0] * even[b, i]
                        spread_evenly[u] += flat * x
                        _add_even(evens, u, flat, i * step)
                        taken[kind, 0] += flat
                    elif active[u, i] > 0.0:
                        t = _first_by_least_squares(b, base + one, x, of_boxes)
                        for side in range(2):
                            h, y = (one, t) if side == 0 else (two, x - t)
                            if alone(h, rows, cols, wide, first_child, v):
                                mean_of[h] += active[u, i] * y
                            elif box_cells[base + h] > 0.0:
                                put(active[h], low[base + h], per[base + h], points[base + h], y, active[u, i])
                # 2. what goes on to the halves along either axis
                lc = _best_log_scale(p, q, rows, cols, wide, base, logc)
                cuts = (1 if p < rows else 0) + (1 if q < cols else 0)
                for axis in range(2):
                    if (p if axis == 0 else q) >= (rows if axis == 0 else cols):
                        continue
                    one, two = halves(p, q, wide, axis)
                    relative = logc[base + one] + logc[base + two] - lc
                    if relative < HOPELESS:
                        continue
                    relative = math.exp(relative)
                    for i in range(g):
                        acc[i] = amount[i] * relative
                    found[0, 0] = found[0, 1] = 0.0
                    box = (low[b], step, g)
                    to_b = weight[kind, 0] / cuts
                    middle = middle_of(v, p, q, axis, logs, lean, box_cells[base + one], box_cells[b])
                    left = _half(v, base, one, tree, boxes, leaf, active)
                    right = _half(v, base, two, tree, boxes, leaf, active)
                    first, mine, of_kind = 1 + 5 * axis, mixed[kind, axis], weight[kind]
                    if learn:
                        cut_learning(
                            box,
                            of_kind,
                            first,
                            to_b,
                            cap[b],
                            middle,
                            left,
                            right,
                            tables,
                            mine,
                            acc,
                            found,
                            taken[kind],
                        )
                    else:
                        cut_down(
                            box,
                            of_kind,
                            first,
                            to_b,
                            cap[b],
                            middle,
                            left,
                            right,
                            tables,
                            mine,
                            acc,
                            found,
                            taken[kind],
                        )
                    mean_of[one] += found[0, 0]
                    mean_of[two] += found[0, 1]
            if spread_evenly[u] > 0.0:
                one, two = halves(p, q, wide, 0 if p < rows else 1)
                part = box_cells[base + one] / box_cells[b]
                spread_evenly[one] += spread_evenly[u] * part
                spread_evenly[two] += spread_evenly[u] * (1.0 - part)
                _pass_even(evens, u, one, part, part * low[b] - low[base + one])
                _pass_even(evens, u, two, 1.0 - part, (1.0 - part) * low[b] - low[base + two])


@njit(**UNCOUNTED)
def _alike_inside(v, tree):  # type: ignore[no-untyped-def]
    """Whether either all squares inside a square have squares inside, or none: no box has one half of each then."""
    first_child, log_grid, _, cells = tree
    without = with_some = False
    for c in range(first_child[v], first_child[v] + (1 << (log_grid[v, 0] + log_grid[v, 1]))):
        if cells[c] <= 0.0:
            return False
        without |= first_child[c] < 0
        with_some |= first_child[c] >= 0
    return not (without and with_some)


@njit(error_model="numpy", **UNCOUNTED)
def _grids(tree, answers, moments, squares, reach):  # type: ignore[no-untyped-def]
    """The grid of every square, none beyond that of the square around it; and the largest even count of a last one."""
    first_child, log_grid, _, cells = tree
    _, rate, gaussian = answers
    _, _, mean, variance = moments
    low, per, points, beta, _, cap = squares
    factor = 1.0 if gaussian else 2.0
    for v in range(first_child.shape[0]):
        if cells[v] <= 0.0:
            cap[v] = np.inf
            continue
        # until a square has a grid, its cap holds the upper end of the one around it
        low[v], per[v], points[v] = grid_around(mean[v], math.sqrt(factor * variance[v]), cap[v], beta.shape[1], reach)
        cap[v] = np.inf
        if first_child[v] >= 0:
            for c in range(first_child[v], first_child[v] + (1 << (log_grid[v, 0] + log_grid[v, 1]))):
                cap[c] = low[v] + (points[v] - 1) / per[v]
        else:
            precision = 0.0
            for a in range(rate.shape[1]):
                precision += rate[v, a] * rate[v, a]
            cap[v] = 0.25 * factor / precision


@njit(error_model="numpy", **UNCOUNTED)
def _root_mass(low, per, points, beta, mass):  # type: ignore[no-untyped-def]
    """The posterior of the root at its points; returns the integral of its likelihood, in steps, and the mean.

    Its prior is flat, so its posterior is its likelihood: log-linear between points, the mass of a step shared by its
    ends so that the mean stays; the trapezoid rule has too little near 0.
    """
    g = points[0]
    total = 0.0
    for i in range(g - 1):
        here, there = beta[0, i], beta[0, i + 1]
        fall = math.log(max(here, TINY) / max(there, TINY))
        if abs(fall) < 0.01:
            amount = 0.5 * (here + there)
            right = (here + 2.0 * there) / 6.0
        else:
            amount = (here - there) / fall
            right = amount / fall - there / fall
        mass[0, i] += amount - right
        mass[0, i + 1] += right
        total += amount
    root = 0.0
    for i in range(g):
        mass[0, i] /= total
        root += mass[0, i] * (low[0] + i / per[0])
    return total, root


@njit(
    f"UniTuple(float64, 2)({TREE}, {ANSWERS}, {MOMENTS}, {LISTED}, {PRIOR}, {TABLES}, float64, boolean, int64[::1], "
    f"boolean, {BOXES}, float64[::1], float64[:,::1], {STATE}, int64, int64)",
    cache=True,
    error_model="numpy",
)
def posterior(  # type: ignore[no-untyped-def]
    tree, answers, moments, listed, prior, tables, reach, learn, base, kept, boxes, estimate, taken, state, first, last
):
    """One pass up and one down the squares; returns the log-evidence, and the mean of the root.

    ``boxes`` have an entry per box, those of square v from ``base[v]`` on; where they are not ``kept`` all squares
    share one place, and the boxes of a square are worked out again on the way down. Fills ``estimate``, the posterior
    mean of every square without squares inside, and to ``learn`` ``taken``, the mass of every term.

    The way down is over the squares ``first`` to ``last``; the way up is gone where the first is 0. What lies between
    two calls is the ``state``, which may be changed there.
    """
    first_child, log_grid, _, cells = tree
    n = first_child.shape[0]
    most = boxes[3].shape[1]
    largest = 1
    for v in range(n):
        if first_child[v] >= 0 and cells[v] > 0.0:
            largest = max(largest, 1 << (log_grid[v, 0] + log_grid[v, 1]))
    rough = (
        np.zeros((2, most)),
        np.zeros(most),
        np.zeros(most),
        np.zeros((4 * largest, most)),
        np.empty((largest, (most - 1) * FINER + 1)),
        np.empty((2, 4 * largest)),
        np.empty((prior[0].shape[0], 2, 3, tables[0].shape[0])),
        np.zeros((prior[0].shape[0], 2), dtype=np.bool_),
        np.empty((4 * largest, 3)),
    )
    low, per, points, beta, logc, cap, mass, even, places, noted = state
    squares = (low, per, points, beta, logc, cap)
    results = (mass, even, places, noted, estimate, taken)
    total, root = 1.0, 0.0
    if first == 0:
        _grids(tree, answers, moments, squares, reach)
        for v in range(n - 1, -1, -1):
            if first_child[v] >= 0 and cells[v] > 0.0:
                _up(v, base[v], tree, answers, moments, listed, prior, tables, squares, boxes, rough, reach, learn)
        total, root = _root_mass(low, per, points, beta, mass)
    else:  # the mixtures of the way up are needed again
        for kind in range(prior[0].shape[0]):
            for axis in range(2):
                mix(tables[0], prior[0][kind], 1 + 5 * axis, rough[6][kind, axis])
                rough[7][kind, axis] = True
    for v in range(first, last):
        if first_child[v] >= 0 and cells[v] > 0.0:
            if not kept:
                _up(v, base[v], tree, answers, moments, listed, prior, tables, squares, boxes, rough, reach, learn)
            _down(v, base[v], tree, answers, prior, tables, squares, results, boxes, rough, learn)
    return logc[0] + math.log(total / per[0]), root
