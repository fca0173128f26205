"""Where to cut boxes of cells: scores of cuts, and greedy splits of a whole domain.

A box is ``lower <= coordinate < upper``. A summed-area table is flattened and has ``side + 1`` entries along each axis.
"""

from __future__ import annotations

import numpy as np
from numba import njit


@njit("int64[::1](int64[:,::1], int64[:,::1], int64)", cache=True)
def starts_of_cuts(lower, upper, axis):  # type: ignore[no-untyped-def]
    """Where each box's inner boundaries along an axis start among those of all, and where the last one's end."""
    starts = np.zeros(lower.shape[0] + 1, dtype=np.int64)
    for b in range(lower.shape[0]):
        starts[b + 1] = starts[b] + upper[b, axis] - lower[b, axis] - 1
    return starts


@njit("float64[::1](int64[::1], int64[::1], int64[:,::1], int64[:,::1], int64, int64)", cache=True)
def median_scores(table, strides, lower, upper, axis, candidates):  # type: ignore[no-untyped-def]
    """-|records below the cut - records / 2| for every inner boundary of every box along an axis, box by box."""
    boxes, axes = lower.shape
    scores = np.empty(candidates)
    sums = np.empty(candidates + 2, dtype=np.int64)
    place = 0
    for b in range(boxes):
        length = upper[b, axis] - lower[b, axis]
        sums[: length + 1] = 0
        # running sums, from the corners of the box along the other axes
        for corner in range(1 << (axes - 1)):
            offset = lower[b, axis] * strides[axis]
            sign = np.int64(1)
            bit = 0
            for other in range(axes):
                if other != axis:
                    if corner >> bit & 1:
                        offset += lower[b, other] * strides[other]
                        sign = -sign
                    else:
                        offset += upper[b, other] * strides[other]
                    bit += 1
            for k in range(1, length + 1):
                sums[k] += sign * (table[offset + k * strides[axis]] - table[offset])
        # the score of every boundary
        for k in range(1, length):
            scores[place] = -abs(2 * sums[k] - sums[length]) / 2.0
            place += 1
    return scores


@njit("void(float64[::1], int64[::1], int64[::1], int64[::1], int64, float64[::1])", cache=True)
def profile(table, strides, lower, upper, axis, sums):  # type: ignore[no-untyped-def]
    """Running sums of one box along an axis: ``sums[k]`` adds up its first k slices, k = 0 ... length."""
    axes = strides.shape[0]
    length = upper[axis] - lower[axis]
    sums[: length + 1] = 0.0
    for corner in range(1 << (axes - 1)):
        offset = lower[axis] * strides[axis]
        sign = 1.0
        bit = 0
        for other in range(axes):
            if other != axis:
                if corner >> bit & 1:
                    offset += lower[other] * strides[other]
                    sign = -sign
                else:
                    offset += upper[other] * strides[other]
                bit += 1
        first = table[offset]
        for k in range(1, length + 1):
            sums[k] += sign * (table[offset + k * strides[axis]] - first)


@njit("float64(float64[::1], int64[::1], int64[::1], int64[::1])", cache=True)
def _box_sum(table, strides, lower, upper):  # type: ignore[no-untyped-def]
    """Sum of one box from its 2^axes corners."""
    axes = strides.shape[0]
    total = 0.0
    for corner in range(1 << axes):
        offset = np.int64(0)
        sign = 1.0
        for axis in range(axes):
            if corner >> axis & 1:
                offset += lower[axis] * strides[axis]
                sign = -sign
            else:
                offset += upper[axis] * strides[axis]
        total += sign * table[offset]
    return total


@njit("float64(float64[::1], int64[::1], int64[::1], int64[::1])", cache=True)
def _squares_about_mean(values, sides, lower, upper):  # type: ignore[no-untyped-def]
    """Sum over a box of (y - mean)^2, cell by cell in two passes: for where the tables' rounding would decide."""
    axes = sides.shape[0]
    last = axes - 1
    cells = np.int64(1)
    for axis in range(axes):
        cells *= upper[axis] - lower[axis]
    at = np.empty(axes, dtype=np.int64)
    mean = 0.0
    squares = 0.0
    for second in range(2):
        at[:] = lower
        total = 0.0
        while at[0] < upper[0]:
            row = np.int64(0)
            for axis in range(axes):
                row = row * sides[axis] + (at[axis] if axis < last else lower[axis])
            for cell in range(row, row + upper[last] - lower[last]):
                if second:
                    total += (values[cell] - mean) ** 2
                else:
                    total += values[cell]
            at[last] = upper[last]
            for axis in range(last, 0, -1):
                if at[axis] == upper[axis]:
                    at[axis] = lower[axis]
                    at[axis - 1] += 1
        if second:
            squares = total
        else:
            mean = total / cells
    return squares


@njit("int64(float64[::1], int64[::1])", cache=True)
def best_cut(sums, edges):  # type: ignore[no-untyped-def]
    """The k that minimises SSE(first k slices) + SSE(the rest), the first one where several do.

    With S_k the running sums and V_k the running volumes it maximises (S_k V - S V_k)^2 / (V_k (V - V_k)), which is the
    fall of the SSE times V. ``edges`` has the running lengths, to which volumes are proportional.
    """
    length = edges.shape[0] - 1
    volume = float(edges[length] - edges[0])
    density = sums[length] / volume
    best = -1.0
    place = 1
    for k in range(1, length):
        part = float(edges[k] - edges[0])
        excess = sums[k] - density * part
        gain = excess * excess / (part * (volume - part))
        if gain > best:
            best = gain
            place = k
    return place


@njit("int64(float64[::1], int64)", cache=True)
def median_cut(sums, length):  # type: ignore[no-untyped-def]
    """The k from 1 to length - 1 at which the running sum is nearest to half, the first one where several are."""
    half = sums[length] / 2
    best = np.inf
    place = 1
    for k in range(1, length):
        if abs(sums[k] - half) < best:
            best = abs(sums[k] - half)
            place = k
    return place


@njit(
    "Tuple((int64[:,::1], int64[:,::1]))(float64[::1], float64[::1], float64[::1], float64[::1], int64[::1], "
    "int64[::1], float64, int64, float64, boolean)",
    cache=True,
)
def split_by_variance(  # type: ignore[no-untyped-def]
    values, mass, squares, guide, sides, strides, threshold, small, small_threshold, at_median
):
    """Split the domain until the sample variance inside each box is at most ``threshold``; the boxes, depth first.

    A box of at most ``small`` cells may have ``small_threshold``. The longest axis is cut, of several the one whose
    slices differ most: where the SSE falls most, or where ``guide`` is halved. ``values`` are the cells, about their
    mean; ``mass``, ``squares`` and ``guide`` the tables of them, of their squares and of what is halved.
    """
    axes = sides.shape[0]
    cells = values.shape[0]
    lower = np.empty((cells, axes), dtype=np.int64)
    upper = np.empty((cells, axes), dtype=np.int64)
    low_stack = np.zeros((cells + 1, axes), dtype=np.int64)
    high_stack = np.empty((cells + 1, axes), dtype=np.int64)
    high_stack[0] = sides
    sums = np.empty(sides.max() + 1)
    edges = np.arange(sides.max() + 1)
    # an entry of a table is off by at most this part of what was added up on the way
    slip = 2.0**axes * sides.sum() * 2.0**-52
    energy = squares.max()
    waiting = 1
    boxes = 0
    while waiting:
        waiting -= 1
        # take a box that waits
        low = low_stack[waiting].copy()
        high = high_stack[waiting].copy()
        size = np.int64(1)
        longest = np.int64(0)
        for axis in range(axes):
            size *= high[axis] - low[axis]
            longest = max(longest, high[axis] - low[axis])
        # stop: what its cells vary by is allowed; by the tables, or exactly where their rounding would decide
        leaf = size == 1
        if not leaf:
            allowed = (small_threshold if size <= small else threshold) * (size - 1)
            total = _box_sum(mass, strides, low, high)
            inside = _box_sum(squares, strides, low, high)
            spread = inside - total * total / size
            if abs(spread - allowed) <= slip * (energy + 2.0 * np.sqrt(max(inside, 0.0) / size * cells * energy)):
                spread = _squares_about_mean(values, sides, low, high)
            leaf = spread <= allowed
        if leaf:
            lower[boxes] = low
            upper[boxes] = high
            boxes += 1
            continue
        # choose an axis: the longest, of several the one along which slices differ most
        chosen = -1
        most = -1.0
        tied = 0
        for axis in range(axes):
            if high[axis] - low[axis] == longest:
                chosen = axis
                tied += 1
        if tied > 1:
            for axis in range(axes):
                if high[axis] - low[axis] == longest:
                    profile(mass, strides, low, high, axis, sums)
                    mean = sums[longest] / longest
                    differ = 0.0
                    for k in range(longest):
                        differ += (sums[k + 1] - sums[k] - mean) ** 2
                    if differ > most:
                        most = differ
                        chosen = axis
        # choose a cut along it
        if at_median:
            profile(guide, strides, low, high, chosen, sums)
            cut = low[chosen] + median_cut(sums, longest)
        else:
            profile(mass, strides, low, high, chosen, sums)
            cut = low[chosen] + best_cut(sums, edges[: longest + 1])
        # both parts wait, the first one on top
        low_stack[waiting] = low
        low_stack[waiting, chosen] = cut
        high_stack[waiting] = high
        low_stack[waiting + 1] = low
        high_stack[waiting + 1] = high
        high_stack[waiting + 1, chosen] = cut
        waiting += 2
    return lower[:boxes].copy(), upper[:boxes].copy()


@njit(
    "Tuple((int64[:,::1], int64[:,::1]))(float64[::1], int64[:,::1], int64[::1], int64[::1], int64, float64)",
    cache=True,
)
def split_by_penalty(mass, edges, sides, strides, blocks, penalty):  # type: ignore[no-untyped-def]
    """Split a grid of blocks as long as the SSE falls by more than ``penalty``; the boxes in blocks, depth first.

    Only the longest axis of a box is tried, of several the last. ``edges[a, i]`` is where block i begins on axis a;
    ``mass`` is the table of the blocks' sums, spread evenly inside each.
    """
    axes = sides.shape[0]
    lower = np.empty((blocks, axes), dtype=np.int64)
    upper = np.empty((blocks, axes), dtype=np.int64)
    low_stack = np.zeros((blocks + 1, axes), dtype=np.int64)
    high_stack = np.empty((blocks + 1, axes), dtype=np.int64)
    high_stack[0] = sides
    sums = np.empty(sides.max() + 1)
    waiting = 1
    boxes = 0
    while waiting:
        waiting -= 1
        low = low_stack[waiting].copy()
        high = high_stack[waiting].copy()
        # choose the longest axis
        chosen = 0
        longest = np.int64(0)
        volume = 1.0
        for axis in range(axes):
            length = edges[axis, high[axis]] - edges[axis, low[axis]]
            volume *= length
            if length >= longest:
                longest = length
                chosen = axis
        # choose the best cut along it, or none where it does not pay
        steps = high[chosen] - low[chosen]
        cut = 0
        if steps > 1:
            profile(mass, strides, low, high, chosen, sums)
            along = edges[chosen, low[chosen] : high[chosen] + 1]
            cut = best_cut(sums, along)
            share = float(along[cut] - along[0]) / longest
            excess = sums[cut] - share * sums[steps]
            if not excess * excess / (volume * share * (1.0 - share)) > penalty:
                cut = 0
        if cut == 0:
            lower[boxes] = low
            upper[boxes] = high
            boxes += 1
            continue
        # both parts wait, the first one on top
        cut += low[chosen]
        low_stack[waiting] = low
        low_stack[waiting, chosen] = cut
        high_stack[waiting] = high
        low_stack[waiting + 1] = low
        high_stack[waiting + 1] = high
        high_stack[waiting + 1, chosen] = cut
        waiting += 2
    return lower[:boxes].copy(), upper[:boxes].copy()
