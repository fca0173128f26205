"""How the likelihood of a box follows from those of its halves, and its mass goes down to them.

Likelihoods of a box's count are kept at the points of a grid, linear between them. All integrals over the share of the
left half run over points that lie evenly between 0 and the parent's count, with half a step at both ends, so exchanging
the halves exchanges the results. Going up and going down see the same points, because both are :func:`cut`.
"""

from __future__ import annotations

import math

from numba import njit

WIDE, NARROW = 1.5, 0.3
"""Steps of the grid, in standard deviations, above which a split is integrated, and below which it is a point."""
FAINT = 1e-12
"""Likelihood, of 1 at most, that a point is left out below."""
RELAXED = {"nsz", "arcp", "contract", "reassoc"}
"""What the compiler may do with sums; the same every time."""


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


@njit(inline="always")
def _give(mass, grid, sums, side, x, amount):  # type: ignore[no-untyped-def]
    """An amount at x to a half: to its grid, or, where only its mean is wanted, to a sum."""
    low, per, points, only_mean = grid
    if only_mean:
        sums[side] += amount * x
    else:
        put(mass, low, per, points, x, amount)


@njit(error_model="numpy", fastmath=RELAXED)
def cut(  # type: ignore[no-untyped-def]
    box, weight, first, to_b, cap, middle, left_half, right_half, tables, down, amount, found, taken
):
    """Every way to cut a box along an axis, for every count x of its grid.

    ``box`` is the lowest x, the step and how many there are. ``weight[first ...]`` are the prior weights: everything in
    one half (Z), each of the three Betas, binomial noise (B); to B is added ``to_b`` where x is above ``cap``.
    ``middle`` is the left half's part of the cells. A half has its likelihood, the grid of that, how many points per
    record an integral takes, its mass, and the grid of that. ``tables`` are those of ``mathematics/cascade.py``.

    Going up: ``found[0]`` is the likelihood of x, and ``found[1]`` that times the mean of the left half. Going
    ``down``: each point gives ``amount[i]`` times its likelihood to both halves, or to the sums ``found[0, :2]`` of
    those whose mean alone is wanted; ``taken`` is what each term of the prior had of it.
    """
    density, end, node, node_weight, spread, normal = tables
    left, low_l, per_l, points_l, grain_l, mass_l, grid_l = left_half
    right, low_r, per_r, points_r, grain_r, mass_r, grid_r = right_half
    bins = density.shape[0]
    high_l = low_l + (points_l - 1) / per_l
    high_r = low_r + (points_r - 1) / per_r
    finest = max(grain_l, grain_r)
    spread_0, spread_1, spread_2 = spread[0], spread[1], spread[2]
    mean_l, mean_r = grid_l[3], grid_r[3]
    w_z, w_0, w_1, w_2 = weight[first], weight[first + 1], weight[first + 2], weight[first + 3]
    skewed = middle != 0.5
    sums = found[0]
    for i in range(box[2]):
        x = box[0] + i * box[1]
        z = 0.0
        if down:
            z = amount[i]
            if z <= 0.0:
                continue
        else:
            found[0, i] = found[1, i] = 0.0
        w_b = weight[first + 4] + (to_b if x > cap else 0.0)
        if middle <= 0.0 or middle >= 1.0 or x <= 0.0:  # one half has no cells, or both no records
            t = x if middle >= 1.0 else 0.0
            f = w_z + w_0 + w_1 + w_2 + w_b
            if middle > 0.0:
                f *= at_value(left, low_l, per_l, points_l, t)
            if middle < 1.0:
                f *= at_value(right, low_r, per_r, points_r, x - t)
            if not down:
                found[0, i], found[1, i] = f, f * t
                continue
            if middle > 0.0:
                _give(mass_l, grid_l, sums, 0, t, z * f)
            if middle < 1.0:
                _give(mass_r, grid_r, sums, 1, x - t, z * f)
            if 0.0 < middle < 1.0:
                z *= f / (w_z + w_0 + w_1 + w_2 + w_b)
                taken[first] += z * w_z
                taken[first + 1] += z * w_0
                taken[first + 2] += z * w_1
                taken[first + 3] += z * w_2
                moved = w_b - weight[first + 4]
                taken[first + 4] += z * (w_b - moved)
                taken[0] += z * moved
            continue
        of_z = of_0 = of_1 = of_2 = of_b = 0.0
        first_sum = 0.0
        # everything in one half
        if low_l <= 0.0:
            f = 0.5 * w_z * left[0] * at_value(right, low_r, per_r, points_r, x)
            of_z += f
            if down and f > 0.0:
                _give(mass_l, grid_l, sums, 0, 0.0, z * f)
                _give(mass_r, grid_r, sums, 1, x, z * f)
        if low_r <= 0.0:
            f = 0.5 * w_z * right[0] * at_value(left, low_l, per_l, points_l, x)
            of_z += f
            first_sum += f * x
            if down and f > 0.0:
                _give(mass_l, grid_l, sums, 0, x, z * f)
                _give(mass_r, grid_r, sums, 1, 0.0, z * f)
        many = max(math.ceil(x * finest - 1e-9), 1)
        step = x / many
        wide = 0
        if spread_0 * many > WIDE:
            wide = 1 if spread_1 * many <= WIDE else 2 if spread_2 * many <= WIDE else 3
        sd = math.sqrt(middle * (1.0 - middle) * x)
        wide_b = sd > WIDE * step
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
            thin = 1.0 / many
            a_0 = w_0 * thin if wide > 0 else 0.0
            a_1 = w_1 * thin if wide > 1 else 0.0
            a_2 = w_2 * thin if wide > 2 else 0.0
            per_sd = normal.shape[0] / (5.0 * sd)
            a_b = step / sd * w_b if wide_b else 0.0
            if j0 == 0 or j1 == many:
                q = min(many, end.shape[0] - 1)
                e_0 = w_0 * end[q, 0] if wide > 0 else 0.0
                e_1 = w_1 * end[q, 1] if wide > 1 else 0.0
                e_2 = w_2 * end[q, 2] if wide > 2 else 0.0
                for side in range(2):
                    if (side == 0 and j0 > 0) or (side == 1 and j1 < many):
                        continue
                    t = x if side else 0.0
                    f = at_value(left, low_l, per_l, points_l, t) * at_value(right, low_r, per_r, points_r, x - t)
                    if f < FAINT:
                        continue
                    m_b = 0.0
                    if wide_b:
                        q = int(abs(t - middle * x) * per_sd)
                        m_b = 0.5 * f * a_b * normal[q] if q < normal.shape[0] else 0.0
                    of_0 += e_0 * f
                    of_1 += e_1 * f
                    of_2 += e_2 * f
                    of_b += m_b
                    m = (e_0 + e_1 + e_2) * f + m_b
                    first_sum += m * t
                    if down:
                        _give(mass_l, grid_l, sums, 0, t, z * m)
                        _give(mass_r, grid_r, sums, 1, x - t, z * m)
                j0 = max(j0, 1)
                j1 = min(j1, many - 1)
            place_l = (j0 * step - low_l) * per_l
            place_r = (x - j0 * step - low_r) * per_r
            move_l = step * per_l
            move_r = step * per_r
            last_l, last_r = points_l - 2, points_r - 2
            for j in range(j0, j1 + 1):
                at_l = min(int(place_l), last_l)
                f_l = place_l - at_l
                at_r = min(max(int(place_r), 0), last_r)
                f_r = place_r - at_r
                f = (left[at_l] + (left[at_l + 1] - left[at_l]) * f_l) * (
                    right[at_r] + (right[at_r + 1] - right[at_r]) * f_r
                )
                if f > FAINT:
                    t = j * step
                    q = min(int(abs(2 * j - many) * per_bin), bins - 1)
                    m_0 = a_0 * density[q, 0] * f
                    if skewed:
                        q = min(int(abs(2 * j - centre_j) * per_bin), bins - 1)
                    m_1 = a_1 * density[q, 1] * f
                    m_2 = a_2 * density[q, 2] * f
                    m_b = 0.0
                    if wide_b:
                        q = int(abs(t - middle * x) * per_sd)
                        if q < normal.shape[0]:
                            m_b = a_b * f * normal[q]
                    m = m_0 + m_1 + m_2 + m_b
                    if down:
                        of_0 += m_0
                        of_1 += m_1
                        of_2 += m_2
                        of_b += m_b
                        m *= z
                        if mean_l:
                            sums[0] += m * t
                        else:
                            mass_l[at_l] += m * (1.0 - f_l)
                            mass_l[at_l + 1] += m * f_l
                        if mean_r:
                            sums[1] += m * (x - t)
                        else:
                            mass_r[at_r] += m * (1.0 - f_r)
                            mass_r[at_r + 1] += m * f_r
                    else:
                        of_0 += m
                        first_sum += m * t
                place_l += move_l
                place_r -= move_r
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
            of_k = 0.0
            if steps < NARROW:
                of_k = w * f_centre
                centre += of_k
            else:
                for q in range(3):
                    if k == 3:
                        t = middle * x + (q - 1) * 1.7320508075688772 * sd
                    else:
                        t = x * min(max(node[k, q] - 0.5 + middle, 0.0), 1.0)
                    f = w * node_weight[k, q] * at_value(left, low_l, per_l, points_l, t)
                    if f > 0.0:
                        f *= at_value(right, low_r, per_r, points_r, x - t)
                    of_k += f
                    first_sum += f * t
                    if down and f > 0.0:
                        _give(mass_l, grid_l, sums, 0, t, z * f)
                        _give(mass_r, grid_r, sums, 1, x - t, z * f)
            if k == 0:
                of_0 += of_k
            elif k == 1:
                of_1 += of_k
            elif k == 2:
                of_2 += of_k
            else:
                of_b += of_k
        if down:
            if centre > 0.0:
                _give(mass_l, grid_l, sums, 0, middle * x, z * centre)
                _give(mass_r, grid_r, sums, 1, (1.0 - middle) * x, z * centre)
            taken[first] += z * of_z
            taken[first + 1] += z * of_0
            taken[first + 2] += z * of_1
            taken[first + 3] += z * of_2
            own = weight[first + 4] / w_b if w_b > 0.0 else 1.0  # the rest is U's
            taken[first + 4] += z * of_b * own
            taken[0] += z * of_b * (1.0 - own)
        else:
            found[0, i] = of_z + of_0 + of_1 + of_2 + of_b
            found[1, i] = first_sum + centre * middle * x
