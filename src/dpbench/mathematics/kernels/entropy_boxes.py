"""Maximum entropy given noisy totals of boxes (``entropy_ascent.py`` has the problem).

The sides of all boxes cut each axis; p is uniform inside a cell of the grid that they span. ``table`` holds p of all
that is before each corner of the grid, row by row; between corners it is bilinear. Two boxes meet in a box, so the
Hessian comes from the same table. ``boxes`` are in cells of the domain and ``spans`` in cells of the grid, both
``(answers, 4)``: first row, end row, first column, end column. A line is a domain of one row.

The Cholesky factor of the Hessian gets one more row per round, from p as it is then; it is made anew where it leads
slowly. Any factor leads upwards, since it is positive definite.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from dpbench.mathematics.kernels.entropy_ascent import ATTEMPTS, LONGEST, RISE, ROUNDING, largest
from dpbench.mathematics.kernels.exponentials import exponentials

KNOWN, ROWS, COLUMNS = 0, 1, 2
"""Places in ``sizes`` of a trial: answers so far, rows and columns of the grid."""
SLOW = 0.5
"""A step that leaves more than this of the gradient calls for a new factor of the Hessian."""


@njit("int64(int64[::1], int64, int64)", cache=True, error_model="numpy")
def add_cut(cuts, pieces, at):  # type: ignore[no-untyped-def]
    """One more cut of an axis unless it is there; how many pieces there are then."""
    k = pieces
    while cuts[k] > at:
        k -= 1
    if cuts[k] == at:
        return pieces
    for i in range(pieces, k, -1):
        cuts[i + 1] = cuts[i]
    cuts[k + 1] = at
    return pieces + 1


@njit("void(int64[::1], int64, int64[::1], float64[::1])", cache=True, error_model="numpy")
def place_all(cuts, pieces, place, part):  # type: ignore[no-untyped-def]
    """For every coordinate, the end included, the piece that it is in, and how far into it."""
    for k in range(pieces):
        inverse = 1.0 / (cuts[k + 1] - cuts[k])
        for v in range(cuts[k], cuts[k + 1]):
            place[v] = k
            part[v] = (v - cuts[k]) * inverse
    place[cuts[pieces]] = pieces - 1
    part[cuts[pieces]] = 1.0


@njit(
    "float64(float64[::1], int64, int64[::1], float64[::1], int64[::1], float64[::1], int64, int64)",
    cache=True,
    error_model="numpy",
    inline="always",
)
def corner(table, wide, place0, part0, place1, part1, row, column):  # type: ignore[no-untyped-def]
    """P of all cells of the domain before a row and a column."""
    k = place0[row] * wide + place1[column]
    upper = table[k] + part1[column] * (table[k + 1] - table[k])
    lower = table[k + wide] + part1[column] * (table[k + wide + 1] - table[k + wide])
    return upper + part0[row] * (lower - upper)


@njit(
    "float64(float64[::1], int64, int64[::1], float64[::1], int64[::1], float64[::1], int64, int64, int64, int64)",
    cache=True,
    error_model="numpy",
)
def box_share(table, wide, place0, part0, place1, part1, top, bottom, left, right):  # type: ignore[no-untyped-def]
    """P of a box of the domain."""
    return (
        corner(table, wide, place0, part0, place1, part1, bottom, right)
        - corner(table, wide, place0, part0, place1, part1, top, right)
        - corner(table, wide, place0, part0, place1, part1, bottom, left)
        + corner(table, wide, place0, part0, place1, part1, top, left)
    )


@njit(
    "float64(int64[::1], int64[::1], int64[::1], int64[:,::1], float64[::1], float64[::1], float64, float64[::1], "
    "float64[::1], float64[::1], float64[::1], float64[::1])",
    cache=True,
    error_model="numpy",
    fastmath={"reassoc", "contract"},
)
def look(  # type: ignore[no-untyped-def]
    sizes, cuts0, cuts1, spans, targets, theta, penalty, density, table, marks, inside, gradient
):
    """D at ``theta``; ``density``, ``table``, p ``inside`` each box and ``gradient`` follow; ``marks``: work space."""
    known, rows, columns = sizes[KNOWN], sizes[ROWS], sizes[COLUMNS]
    wide = columns + 1
    # multipliers at the corners of their boxes, which two running sums spread over the boxes
    for i in range((rows + 1) * wide):
        marks[i] = 0.0
    for j in range(known):
        top, bottom, left, right = spans[j, 0], spans[j, 1], spans[j, 2], spans[j, 3]
        marks[top * wide + left] += theta[j]
        marks[top * wide + right] -= theta[j]
        marks[bottom * wide + left] -= theta[j]
        marks[bottom * wide + right] += theta[j]
    highest = -np.inf
    for r in range(rows):
        running = 0.0
        here, above = r * columns, (r - 1) * columns
        for c in range(columns):
            running += marks[r * wide + c]
            density[here + c] = running
        if r > 0:
            for c in range(columns):
                density[here + c] += density[above + c]
        for c in range(columns):
            highest = max(highest, density[here + c])
    exponentials(density[: rows * columns], highest, 1.0, marks.view(np.int64))
    # the table of what is not yet divided by its sum
    for c in range(wide):
        table[c] = 0.0
    for r in range(rows):
        high = float(cuts0[r + 1] - cuts0[r])
        running = 0.0
        here, above = (r + 1) * wide, r * wide
        table[here] = 0.0
        for c in range(columns):
            running += density[r * columns + c] * (high * (cuts1[c + 1] - cuts1[c]))
            table[here + c + 1] = running
        for c in range(1, wide):
            table[here + c] += table[above + c]
    total = table[rows * wide + columns]
    inverse = 1.0 / total
    for i in range((rows + 1) * wide):
        table[i] *= inverse
    for i in range(rows * columns):
        density[i] *= inverse
    value = -np.log(total / (float(cuts0[rows]) * cuts1[columns])) - highest
    for j in range(known):
        top, bottom, left, right = spans[j, 0], spans[j, 1], spans[j, 2], spans[j, 3]
        inside[j] = (
            table[bottom * wide + right]
            - table[top * wide + right]
            - table[bottom * wide + left]
            + table[top * wide + left]
        )
        gradient[j] = targets[j] - inside[j] - penalty * theta[j]
        value += theta[j] * targets[j] - 0.5 * penalty * theta[j] * theta[j]
    return value


@njit(
    "boolean(float64[:,::1], int64, float64[::1], float64)",
    cache=True,
    error_model="numpy",
    fastmath={"reassoc", "contract"},
)
def border(factor, row, entries, least):  # type: ignore[no-untyped-def]
    """One more row of a Cholesky factor, from the ``entries`` of that row of the matrix.

    A pivot whose square is below ``least`` is raised to that: whether it was not.
    """
    rest = entries[row]
    for i in range(row):
        found = entries[i]
        for k in range(i):
            found -= factor[i, k] * factor[row, k]
        found /= factor[i, i]
        factor[row, i] = found
        rest -= found * found
    factor[row, row] = np.sqrt(max(rest, least))
    return rest >= least


@njit(
    "void(float64[::1], int64, int64[:,::1], float64[::1], int64, float64, float64[:,::1])",
    cache=True,
    error_model="numpy",
)
def factorise(table, wide, spans, inside, known, penalty, factor):  # type: ignore[no-untyped-def]
    """The Cholesky factor of the negative Hessian of D."""
    entries = np.empty(known)
    for i in range(known):
        for j in range(i + 1):
            top, bottom = max(spans[i, 0], spans[j, 0]), min(spans[i, 1], spans[j, 1])
            left, right = max(spans[i, 2], spans[j, 2]), min(spans[i, 3], spans[j, 3])
            both = 0.0
            if top < bottom and left < right:
                both = (
                    table[bottom * wide + right]
                    - table[top * wide + right]
                    - table[bottom * wide + left]
                    + table[top * wide + left]
                )
            entries[j] = both - inside[i] * inside[j]
        entries[i] += penalty
        border(factor, i, entries, 0.5 * penalty)


@njit("void(float64[:,::1], int64, float64[::1])", cache=True, error_model="numpy", fastmath={"reassoc", "contract"})
def solve(factor, known, vector):  # type: ignore[no-untyped-def]
    """In place, the solution of factor factor' x = vector."""
    for i in range(known):
        found = vector[i]
        for k in range(i):
            found -= factor[i, k] * vector[k]
        vector[i] = found / factor[i, i]
    for i in range(known - 1, -1, -1):
        found = vector[i] / factor[i, i]
        vector[i] = found
        for k in range(i):
            vector[k] -= factor[i, k] * found


@njit(
    "boolean(int64[::1], int64[::1], int64[:,::1], float64[::1], int64[::1], float64[::1], int64[::1], float64[::1], "
    "float64[:,::1], float64[::1], float64)",
    cache=True,
    error_model="numpy",
)
def border_with(  # type: ignore[no-untyped-def]
    box, sizes, boxes, table, place0, part0, place1, part1, factor, inside, penalty
):
    """The row of a new box in the factor, by the table as it is: what it shares with the other boxes."""
    known, wide = sizes[KNOWN], sizes[COLUMNS] + 1
    inside[known] = box_share(table, wide, place0, part0, place1, part1, box[0], box[1], box[2], box[3])
    entries = np.empty(known + 1)
    for j in range(known):
        top, bottom = max(box[0], boxes[j, 0]), min(box[1], boxes[j, 1])
        left, right = max(box[2], boxes[j, 2]), min(box[3], boxes[j, 3])
        both = 0.0
        if top < bottom and left < right:
            both = box_share(table, wide, place0, part0, place1, part1, top, bottom, left, right)
        entries[j] = both - inside[known] * inside[j]
    entries[known] = inside[known] * (1.0 - inside[known]) + penalty
    return border(factor, known, entries, 0.5 * penalty)


@njit(
    "boolean(int64[::1], float64, int64[::1], int64[::1], int64[::1], int64[::1], float64[::1], int64[::1], "
    "float64[::1], int64[:,::1], int64[:,::1], float64[::1], float64[::1], float64[::1], float64[:,::1], "
    "float64[::1], float64)",
    cache=True,
    error_model="numpy",
)
def insert(  # type: ignore[no-untyped-def]
    box,
    target,
    sizes,
    cuts0,
    cuts1,
    place0,
    part0,
    place1,
    part1,
    boxes,
    spans,
    targets,
    theta,
    inside,
    factor,
    table,
    penalty,
):
    """One more box: its row of the factor, its sides in the grid; whether the factor is sound.

    All of the domain has the total, whatever the answer. The table stays that of the grid before.
    """
    known = sizes[KNOWN]
    if (box[1] - box[0]) * (box[3] - box[2]) == cuts0[sizes[ROWS]] * cuts1[sizes[COLUMNS]]:
        return True
    sound = border_with(box, sizes, boxes, table, place0, part0, place1, part1, factor, inside, penalty)
    targets[known] = target
    theta[known] = 0.0
    for side in range(4):
        boxes[known, side] = box[side]
    for side in range(2):
        sizes[ROWS] = add_cut(cuts0, sizes[ROWS], box[side])
        sizes[COLUMNS] = add_cut(cuts1, sizes[COLUMNS], box[2 + side])
    place_all(cuts0, sizes[ROWS], place0, part0)
    place_all(cuts1, sizes[COLUMNS], place1, part1)
    sizes[KNOWN] = known + 1
    for j in range(known + 1):
        spans[j, 0] = place0[boxes[j, 0]]
        spans[j, 1] = place0[boxes[j, 1] - 1] + 1
        spans[j, 2] = place1[boxes[j, 2]]
        spans[j, 3] = place1[boxes[j, 3] - 1] + 1
    return sound


@njit(
    "float64(boolean, int64[::1], int64[::1], int64[::1], int64[:,::1], float64[::1], float64[::1], float64[::1], "
    "float64[:,::1], float64[::1], float64[::1], float64[::1], float64, float64, int64)",
    cache=True,
    error_model="numpy",
)
def ascend(  # type: ignore[no-untyped-def]
    sound, sizes, cuts0, cuts1, spans, targets, theta, inside, factor, density, table, marks, penalty, tolerance, steps
):
    """At most ``steps`` steps, until no gradient exceeds ``tolerance``.

    The largest gradient that is left; NaN where something was no number.
    """
    known, wide = sizes[KNOWN], sizes[COLUMNS] + 1
    gradient, step, before = np.empty(known), np.empty(known), np.empty(known)
    value = look(sizes, cuts0, cuts1, spans, targets, theta, penalty, density, table, marks, inside, gradient)
    worst = largest(gradient, known)
    fresh = not sound and worst > tolerance
    if fresh:
        factorise(table, wide, spans, inside, known, penalty, factor)
    for _ in range(steps):
        if worst <= tolerance:
            break
        for j in range(known):
            step[j] = gradient[j]
        solve(factor, known, step)
        slope = 0.0
        for j in range(known):
            before[j] = theta[j]
            slope += step[j] * gradient[j]
        length = min(1.0, LONGEST / max(largest(step, known), 1e-300))
        found = -np.inf
        for _attempt in range(ATTEMPTS):
            for j in range(known):
                theta[j] = before[j] + length * step[j]
            found = look(sizes, cuts0, cuts1, spans, targets, theta, penalty, density, table, marks, inside, gradient)
            if found >= value + RISE * length * slope - ROUNDING * (1.0 + abs(value)):
                break
            length *= 0.25
        else:
            for j in range(known):
                theta[j] = before[j]
            found = look(sizes, cuts0, cuts1, spans, targets, theta, penalty, density, table, marks, inside, gradient)
            length = 0.0
            if fresh:  # nothing is gained with the Hessian of this very place: what is left is rounding
                break
        value = found
        left = largest(gradient, known)
        fresh = left > tolerance and (length < 1.0 or left > SLOW * worst)
        if fresh:
            factorise(table, wide, spans, inside, known, penalty, factor)
        worst = left
    return largest(gradient, known) + 0.0 * value


@njit(
    "void(int64[:,::1], float64[::1], boolean[::1], int64[:,::1], int64[:,::1], int64[:,::1], int64[:,::1], "
    "float64[:,::1], int64[:,::1], float64[:,::1], int64[:,:,::1], int64[:,:,::1], float64[:,::1], float64[:,::1], "
    "float64[:,::1], float64[:,:,::1], float64[:,::1], float64[:,::1], float64[::1], float64[::1], int64, "
    "float64[::1])",
    cache=True,
    error_model="numpy",
)
def learn(  # type: ignore[no-untyped-def]
    new_boxes,
    new_targets,
    active,
    sizes,
    cuts0,
    cuts1,
    place0,
    part0,
    place1,
    part1,
    boxes,
    spans,
    targets,
    theta,
    inside,
    factor,
    density,
    table,
    penalties,
    tolerances,
    steps,
    left,
):
    """One more box for each trial that is active, and an ascent, whose return is in ``left``; trials come first."""
    marks = np.empty(table.shape[1])
    for t in range(active.shape[0]):
        if active[t]:
            sound = insert(
                new_boxes[t],
                new_targets[t],
                sizes[t],
                cuts0[t],
                cuts1[t],
                place0[t],
                part0[t],
                place1[t],
                part1[t],
                boxes[t],
                spans[t],
                targets[t],
                theta[t],
                inside[t],
                factor[t],
                table[t],
                penalties[t],
            )
            left[t] = ascend(
                sound,
                sizes[t],
                cuts0[t],
                cuts1[t],
                spans[t],
                targets[t],
                theta[t],
                inside[t],
                factor[t],
                density[t],
                table[t],
                marks,
                penalties[t],
                tolerances[t],
                steps,
            )


@njit(
    "void(int64[:,::1], float64[:,::1], int64[:,::1], float64[:,::1], int64[:,::1], float64[:,::1], int64[:,::1], "
    "float64[::1], float64[:,::1])",
    cache=True,
    error_model="numpy",
)
def box_counts(sizes, table, place0, part0, place1, part1, boxes, totals, counts):  # type: ignore[no-untyped-def]
    """Counts in boxes of the domain, ``(boxes, 4)``, into ``counts`` ``(trials, boxes)``."""
    for t in range(counts.shape[0]):
        wide = sizes[t, COLUMNS] + 1
        for q in range(boxes.shape[0]):
            counts[t, q] = totals[t] * box_share(
                table[t],
                wide,
                place0[t],
                part0[t],
                place1[t],
                part1[t],
                boxes[q, 0],
                boxes[q, 1],
                boxes[q, 2],
                boxes[q, 3],
            )


@njit(
    "void(int64[:,::1], int64[:,::1], int64[:,::1], float64[:,::1], float64[::1], float64[:,::1])",
    cache=True,
    error_model="numpy",
)
def spread(sizes, cuts0, cuts1, density, totals, cells):  # type: ignore[no-untyped-def]
    """Counts of all cells of the domain, row by row, ``(trials, cells)``."""
    for t in range(cells.shape[0]):
        columns = sizes[t, COLUMNS]
        side = cuts1[t, columns]
        for r in range(sizes[t, ROWS]):
            for row in range(cuts0[t, r], cuts0[t, r + 1]):
                for c in range(columns):
                    each = density[t, r * columns + c] * totals[t]
                    for column in range(cuts1[t, c], cuts1[t, c + 1]):
                        cells[t, row * side + column] = each
