"""How the likelihood of a box follows from those of its halves, and its mass goes down to them.

Likelihoods of a box's count are kept at the points of a grid, linear between them. All integrals over the share of the
left half run over points that exchanging the halves leaves where they are, so it exchanges the results. Going up and
going down see the same points, because both are ``cut``.
"""

from __future__ import annotations

import math
from typing import Any

from numba import njit

WIDE = 0.75
"""Standard deviation of a split, in steps between points, above which its density is summed up over points."""
LEAST_PAIRS = 2
"""Pairs of steps that [0, x] is divided into at least, where points reach an end of it."""
FAR = -1000
"""The place of a middle that is no point."""
UNCOUNTED: dict[str, Any] = {"_nrt": False}
"""For functions on arrays that others hold: numba would count references to every view of a row, with an atomic
instruction each, and that took a third of the time."""
RELAXED = {"nsz", "arcp", "contract"}
"""What the compiler may do; not exchange terms: of large numbers that nearly cancel the digits would be lost."""


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


@njit(inline="always")
def _three(away, variance):  # type: ignore[no-untyped-def]
    """The weights of three points a step apart, 0 or 1 or more from the middle, that have a variance in steps."""
    return 1.0 - variance if away == 0 else 0.5 * variance if away == 1 else 0.0


@njit(error_model="numpy", **UNCOUNTED)
def mix(density, weight, first, mixed):  # type: ignore[no-untyped-def]
    """Densities of the first, the first two and all three Betas, weighted, for :func:`cut`."""
    for q in range(density.shape[0]):
        mixed[0, q] = weight[first + 1] * density[q, 0]
        mixed[1, q] = mixed[0, q] + weight[first + 2] * density[q, 1]
        mixed[2, q] = mixed[1, q] + weight[first + 3] * density[q, 2]


@njit(error_model="numpy", fastmath=False, **UNCOUNTED)
def _count(low, i, step):  # type: ignore[no-untyped-def]
    """A point of a grid; rounded in the same way wherever it is compiled."""
    return low + i * step


@njit(error_model="numpy", fastmath=False, **UNCOUNTED)
def _points(x, middle, low_l, high_l, low_r, high_r, finest):  # type: ignore[no-untyped-def]
    """Where the points of an integral lie: step, origin, how many steps [0, x] has, the middle, the first and last.

    [0, x] has 0 steps where no point reaches an end. Without relaxed sums: going up and going down must agree.
    """
    lower = max(low_l, x - high_r)
    upper = min(high_l, x - low_r)
    if lower * finest > 1e-7 and (x - upper) * finest > 1e-7:
        origin = middle * x
        j0 = math.ceil((lower - origin) * finest - 1e-9)
        return 1.0 / finest, origin, 0, 0, j0, math.floor((upper - origin) * finest + 1e-9)
    many = 2 * max(math.ceil(0.5 * x * finest - 1e-9), LEAST_PAIRS)
    step = x / many
    j0 = max(math.ceil(lower / step - 1e-9), 0)
    return step, 0.0, many, many // 2 if middle == 0.5 else FAR, j0, min(math.floor(upper / step + 1e-9), many)


def _cut_for(down: bool, learn: bool) -> Any:
    """The kernel :func:`cut` for one direction: what it does not do is left out when it is compiled."""

    @njit(error_model="numpy", fastmath=RELAXED, **UNCOUNTED)
    def cut(box, weight, first, to_b, cap, middle, left_half, right_half, tables, mixed, amount, found, taken):  # type: ignore[no-untyped-def]
        """Every way to cut a box along an axis, for every count x of its grid.

        ``box`` is the lowest x, the step and how many there are. ``weight[first ...]`` are the prior weights: all in
        one half (Z), each of the three Betas, binomial noise (B); to B is added ``to_b`` where x is above ``cap``.
        ``middle`` is the left half's part of the cells. A half has its likelihood, the grid of that, how many points
        per record an integral takes, its mass, and the grid of that. ``tables`` are those of
        ``mathematics/cascade.py``; ``mixed[k]`` is the weighted density of the Betas up to the k-th.

        Points are a step of the finer half's grid apart. Where they reach neither 0 nor x they lie around the middle of
        the split; else they share [0, x] evenly, with half a step at both ends. Betas and B that are narrower than a
        step have three points in the middle, a step apart, with weights that keep their variance.

        Going up: ``found[0]`` is the likelihood of x, and ``found[1]`` that times the mean of the left half. Going
        down: each point gives ``amount[i]`` times its likelihood to both halves, or to the sums ``found[0, :2]`` of
        those whose mean alone is wanted; to learn, ``taken`` is what each term of the prior had of it.
        """
        density, end, _, _, spread, normal = tables
        left, low_l, per_l, points_l, grain_l, mass_l, grid_l = left_half
        right, low_r, per_r, points_r, grain_r, mass_r, grid_r = right_half
        bins = density.shape[0]
        high_l = _count(low_l, points_l - 1, 1.0 / per_l)
        high_r = _count(low_r, points_r - 1, 1.0 / per_r)
        finest = max(grain_l, grain_r)
        spread_1, spread_2 = spread[1], spread[2]
        mean_l, mean_r = grid_l[3], grid_r[3]
        last_l, last_r = points_l - 2, points_r - 2
        w_z, w_0, w_1, w_2 = weight[first], weight[first + 1], weight[first + 2], weight[first + 3]
        skewed = middle != 0.5
        sums = found[0]
        for i in range(box[2]):
            x = _count(box[0], i, box[1])
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
                if learn and 0.0 < middle < 1.0:
                    z *= f / (w_z + w_0 + w_1 + w_2 + w_b)
                    taken[first] += z * w_z
                    taken[first + 1] += z * w_0
                    taken[first + 2] += z * w_1
                    taken[first + 3] += z * w_2
                    moved = w_b - weight[first + 4]
                    taken[first + 4] += z * (w_b - moved)
                    taken[0] += z * moved
                continue
            # 1. where points lie: point j at origin + j * step
            step, origin, many, at_middle, j0, j1 = _points(x, middle, low_l, high_l, low_r, high_r, finest)
            inside = many == 0
            thin = step / x if inside else 1.0 / many
            # 2. which components the points resolve; the others are three points
            wide = 0 if spread_1 <= WIDE * thin else 1 if spread_2 <= WIDE * thin else 2
            var_b = middle * (1.0 - middle) * x / (step * step)
            wide_b = var_b > WIDE * WIDE
            v_1 = v_2 = v_b = 0.0
            c_1 = c_2 = c_b = 0.0
            if wide < 1:
                v_1 = min(spread_1 * spread_1 / (thin * thin), 1.0)
                c_1 = w_1
            if wide < 2:
                v_2 = min(spread_2 * spread_2 / (thin * thin), 1.0)
                c_2 = w_2
            if not wide_b:
                v_b = min(var_b, 1.0)
                c_b = w_b
            beside = 0.5 * (c_1 * v_1 + c_2 * v_2 + c_b * v_b)
            centre = c_1 + c_2 + c_b - 2.0 * beside
            a_b = per_sd = 0.0
            if wide_b:
                sd = math.sqrt(var_b)
                a_b = w_b / sd
                per_sd = normal.shape[0] / (5.0 * sd)
            total = first_sum = 0.0
            of_z = of_0 = of_1 = of_2 = of_b = 0.0
            # 3. both ends
            if not inside:
                q = min(many, end.shape[0] - 1)
                m_0 = w_0 * end[q, 0]
                m_1 = w_1 * end[q, 1] if wide > 0 else 0.0
                m_2 = w_2 * end[q, 2] if wide > 1 else 0.0
                for side in range(2):
                    if (side == 0 and j0 > 0) or (side == 1 and j1 < many):
                        continue
                    t = x if side else 0.0
                    f = at_value(left, low_l, per_l, points_l, t) * at_value(right, low_r, per_r, points_r, x - t)
                    m_b = 0.0
                    if wide_b:
                        q = int(abs(t - middle * x) / step * per_sd)
                        m_b = 0.5 * a_b * normal[q] if q < normal.shape[0] else 0.0
                    m = (0.5 * w_z + m_0 + m_1 + m_2 + m_b) * f
                    if learn:
                        of_z += 0.5 * w_z * f
                        of_0 += m_0 * f
                        of_1 += m_1 * f
                        of_2 += m_2 * f
                        of_b += m_b * f
                    total += m
                    first_sum += m * t
                    if down:
                        _give(mass_l, grid_l, sums, 0, t, z * m)
                        _give(mass_r, grid_r, sums, 1, x - t, z * m)
                j0 = max(j0, 1)
                j1 = min(j1, many - 1)
            # 4. all points between
            place_l = (origin + j0 * step - low_l) * per_l
            place_r = (x - origin - j0 * step - low_r) * per_r
            move_l = step * per_l
            move_r = step * per_r
            per_bin = 2.0 * thin * bins
            half = many // 2
            from_half = (2.0 * middle - 1.0) * bins if inside else 0.0
            from_middle = 2.0 * (origin / x - middle) * bins
            for j in range(j0, j1 + 1):
                at_l = min(max(int(place_l), 0), last_l)
                f_l = place_l - at_l
                at_r = min(max(int(place_r), 0), last_r)
                f_r = place_r - at_r
                f = (left[at_l] + (left[at_l + 1] - left[at_l]) * f_l) * (
                    right[at_r] + (right[at_r + 1] - right[at_r]) * f_r
                )
                place_l += move_l
                place_r -= move_r
                away = abs(j - at_middle)
                t = origin + j * step
                q = min(int(abs(from_half + (j - half) * per_bin)), bins - 1)
                if learn:
                    m_0 = thin * w_0 * density[q, 0]
                    q = min(int(abs(from_middle + j * per_bin)), bins - 1)
                    m_1 = thin * w_1 * density[q, 1] if wide > 0 else c_1 * _three(away, v_1)
                    m_2 = thin * w_2 * density[q, 2] if wide > 1 else c_2 * _three(away, v_2)
                    m_b = c_b * _three(away, v_b)
                else:
                    m_0 = mixed[wide, q]
                    if skewed:
                        m_0 = mixed[0, q]
                        q = min(int(abs(from_middle + j * per_bin)), bins - 1)
                        m_0 += mixed[wide, q] - mixed[0, q]
                    m_0 = thin * m_0 + (centre if away == 0 else beside if away == 1 else 0.0)
                    m_1 = m_2 = m_b = 0.0
                if wide_b:
                    q = int(abs(t - middle * x) / step * per_sd)
                    if q < normal.shape[0]:
                        m_b = a_b * normal[q]
                m = (m_0 + m_1 + m_2 + m_b) * f
                if learn:
                    of_0 += m_0 * f
                    of_1 += m_1 * f
                    of_2 += m_2 * f
                    of_b += m_b * f
                if down:
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
                    total += m
                    first_sum += m * t
            # 5. a middle that is no point
            if at_middle == FAR:
                for side in range(-1, 2):
                    t = middle * x + side * min(step, middle * x, (1.0 - middle) * x)
                    f = at_value(left, low_l, per_l, points_l, t) * at_value(right, low_r, per_r, points_r, x - t)
                    m = f * (beside if side else centre)
                    if learn:
                        of_1 += f * c_1 * _three(abs(side), v_1)
                        of_2 += f * c_2 * _three(abs(side), v_2)
                        of_b += f * c_b * _three(abs(side), v_b)
                    total += m
                    first_sum += m * t
                    if down:
                        _give(mass_l, grid_l, sums, 0, t, z * m)
                        _give(mass_r, grid_r, sums, 1, x - t, z * m)
            if learn:
                taken[first] += z * of_z
                taken[first + 1] += z * of_0
                taken[first + 2] += z * of_1
                taken[first + 3] += z * of_2
                own = weight[first + 4] / w_b if w_b > 0.0 else 1.0  # the rest is U's
                taken[first + 4] += z * of_b * own
                taken[0] += z * of_b * (1.0 - own)
            if not down:
                found[0, i] = total
                found[1, i] = first_sum

    return cut


cut_up = _cut_for(down=False, learn=False)
cut_down = _cut_for(down=True, learn=False)
cut_learning = _cut_for(down=True, learn=True)
