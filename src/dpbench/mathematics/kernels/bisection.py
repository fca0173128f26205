"""Deviations of the two parts of every cut of an interval, by a marker that follows the mean over sorted counts.

dev[a, b) = sum of |x_i - mean| = 2 * sum over x_i <= mean of (mean - x_i). With S = q L + r the sum of the L counts,
the integers x_i <= mean are those <= q, so dev = 2 * (q C - T + r C / L), where C and T are the number and the sum of
these: whole numbers up to the last term.
"""

from __future__ import annotations

import numpy as np
from numba import njit


@njit("float64(int64[::1], int64, int64)", cache=True)
def deviation(counts, start, stop):  # type: ignore[no-untyped-def]
    """dev[start, stop) of one interval, from its counts."""
    length = stop - start
    if length == 1:
        return 0.0
    own = counts[start:stop]
    total = 0
    for value in own:
        total += value
    q = total // length
    r = total - q * length
    below = 0
    missing = 0
    for value in own:
        below += value <= q
        missing += max(q - value, 0)
    return 2.0 * (missing + r * below / length)


@njit("void(int64[::1], int64[::1], int64[::1], int64, int64, int64[:,::1], boolean, float64[::1])", cache=True)
def _sweep(counts, ranks, values, start, stop, shelf, backwards, part):  # type: ignore[no-untyped-def]
    """Set part[m - start - 1] to dev[start, m), or ``backwards`` to dev[m, stop), for each cut m inside.

    ``ranks`` counts from 0. Going right, counts join a shelf one by one: ``shelf`` has the number and the sum of those
    that have come, for each of the distinct ``values`` and behind them for each block of 64 values. C and T belong to
    the values before a marker, which follows q; it crosses whole blocks where it can, so a move costs
    O(64 + distinct / 64), and mostly O(1), for the mean moves little. The same going left.
    """
    length = stop - start
    distinct = values.shape[0]
    blocks = (distinct + 63) >> 6
    wide = distinct >= 64  # fewer values have no whole block to cross
    shelf[: distinct + blocks] = 0
    total = 0
    marker = 0
    below = 0
    under = 0
    for step in range(1, length):
        i = stop - step if backwards else start + step - 1
        # one more count joins
        value = counts[i]
        rank = ranks[i]
        shelf[rank, 0] += 1
        shelf[rank, 1] += value
        if wide:
            block = distinct + (rank >> 6)
            shelf[block, 0] += 1
            shelf[block, 1] += value
        total += value
        if rank < marker:
            below += 1
            under += value
        # the mean as q + r / step
        inverse = 1.0 / step
        q = int(total * inverse)  # a division of integers takes several times as long; this may be one off
        r = total - q * step
        if r < 0:
            q -= 1
            r += step
        elif r >= step:
            q += 1
            r -= step
        # the marker follows q, right or left
        while marker < distinct and values[marker] <= q:
            if marker & 63 == 0 and marker + 63 < distinct and values[marker + 63] <= q:
                below += shelf[distinct + (marker >> 6), 0]
                under += shelf[distinct + (marker >> 6), 1]
                marker += 64
            else:
                below += shelf[marker, 0]
                under += shelf[marker, 1]
                marker += 1
        while marker > 0 and values[marker - 1] > q:
            if marker & 63 == 0 and values[marker - 64] > q:
                marker -= 64
                below -= shelf[distinct + (marker >> 6), 0]
                under -= shelf[distinct + (marker >> 6), 1]
            else:
                marker -= 1
                below -= shelf[marker, 0]
                under -= shelf[marker, 1]
        # the deviation of what has joined
        part[length - step - 1 if backwards else step - 1] = 2.0 * (q * below - under + r * below * inverse)


_SHORT = 8  # intervals up to this length are summed up directly


@njit("float64(int64[::1], int64, int64)", cache=True, forceinline=True)
def _short_deviation(counts, start, stop):  # type: ignore[no-untyped-def]
    """The same as :func:`deviation` without a view of the counts, which takes longer than a few of them."""
    length = stop - start
    if length == 1:
        return 0.0
    total = 0
    for i in range(start, stop):
        total += counts[i]
    q = total // length
    r = total - q * length
    below = 0
    missing = 0
    for i in range(start, stop):
        below += counts[i] <= q
        missing += max(q - counts[i], 0)
    return 2.0 * (missing + r * below / length)


@njit("int64[::1](int64[::1], int64[::1])", cache=True)
def starts_of_cells(starts, stops):  # type: ignore[no-untyped-def]
    """Where each interval's cells start among those of all intervals, and where the last one's end."""
    first = np.zeros(starts.shape[0] + 1, dtype=np.int64)
    for g in range(starts.shape[0]):
        first[g + 1] = first[g] + stops[g] - starts[g]
    return first


@njit("boolean(int64[::1], int64)", cache=True)
def _all_are(marks, wanted):  # type: ignore[no-untyped-def]
    others = 0
    for mark in marks:
        others += mark != wanted
    return others == 0


@njit("float64[::1](int64[::1], int64[::1], int64[::1], int64[::1], float64, float64[:,::1], int64[:,::1])", cache=True)
def bisection_scores(counts, order, starts, stops, price, found, ends):  # type: ignore[no-untyped-def]
    """For each of several disjoint intervals, the score of leaving it and that of each cut.

    ``order`` sorts all counts. Returns one value per cell of the intervals, interval by interval: first -dev[a, b),
    then -price - (dev[a, m) + dev[m, b)) for m = a + 1 ... b - 1.

    What is found is kept, in four rows of ``found``, each ``(n + 1,)``, beside the other ends in ``ends``. Sweeps:
    ``found[0, m]`` is dev[ends[0, m], m), ``found[1, m]`` is dev[m, ends[1, m]). The left part of an interval begins
    where the interval does, and the right one ends where it does, so of the two sweeps that each needs one has been
    done. Intervals: ``found[2, m]`` and ``found[3, m]`` are the same of the first interval that ended, or began, at m;
    in a search by bisection these are the two parts of the cut at m.
    """
    n = counts.shape[0]
    ahead, behind, since, until = found[0], found[1], ends[0], ends[1]
    intervals = starts.shape[0]
    owner = np.full(n, -1, dtype=np.int64)
    first = starts_of_cells(starts, stops)
    for g in range(intervals):
        if stops[g] - starts[g] > _SHORT:
            owner[starts[g] : stops[g]] = g
    # ranks within each interval: the counts are met in ascending order and dealt out to their intervals
    ranks = np.zeros(n, dtype=np.int64)
    values = np.empty(first[intervals], dtype=np.int64)
    distinct = np.zeros(intervals, dtype=np.int64)
    for i in order:
        g = owner[i]
        if g >= 0:
            d = distinct[g]
            if d == 0 or values[first[g] + d - 1] != counts[i]:
                values[first[g] + d] = counts[i]
                d += 1
                distinct[g] = d
            ranks[i] = d - 1
    # short intervals directly, long ones by sweeps
    shelf = np.empty((n + n // 64 + 1, 2), dtype=np.int64)
    result = np.empty(first[intervals])
    for g in range(intervals):
        a, b = starts[g], stops[g]
        uncut = ahead[b] if since[b] == a else behind[a] if until[a] == b else deviation(counts, a, b)
        if ends[2, b] < 0:
            ends[2, b] = a
            found[2, b] = uncut
        if ends[3, a] < 0:
            ends[3, a] = b
            found[3, a] = uncut
        result[first[g]] = -price - uncut + price
        if b - a <= _SHORT:
            for cut in range(a + 1, b):
                result[first[g] + cut - a] = -price - (
                    _short_deviation(counts, a, cut) + _short_deviation(counts, cut, b)
                )
            continue
        own = values[first[g] : first[g] + distinct[g]]
        if not _all_are(since[a + 1 : b], a):
            _sweep(counts, ranks, own, a, b, shelf, False, ahead[a + 1 : b])
            since[a + 1 : b] = a
        if not _all_are(until[a + 1 : b], b):
            _sweep(counts, ranks, own, a, b, shelf, True, behind[a + 1 : b])
            until[a + 1 : b] = b
        for cut in range(a + 1, b):
            result[first[g] + cut - a] = -price - (ahead[cut] + behind[cut])
    return result


@njit(
    "Tuple((int64[::1], int64[::1], int64[::1], int64))(int64[::1], int64[::1], int64[::1], int64, int64)",
    cache=True,
)
def parts_of_cuts(starts, stops, chosen, clusters, most):  # type: ignore[no-untyped-def]
    """Cut intervals after ``chosen`` cells (0: not), one after another, until there are ``most`` clusters.

    Returns where each interval that was come to was cut (0: it was not), the starts and the stops of the parts that
    have several cells, in order, and the number of clusters, of which there were ``clusters`` before.
    """
    intervals = starts.shape[0]
    cuts = np.zeros(intervals, dtype=np.int64)
    begin = np.empty(2 * intervals, dtype=np.int64)
    end = np.empty(2 * intervals, dtype=np.int64)
    parts = 0
    done = 0
    while done < intervals:
        if chosen[done] > 0:
            middle = starts[done] + chosen[done]
            cuts[done] = middle
            if middle - starts[done] > 1:
                begin[parts] = starts[done]
                end[parts] = middle
                parts += 1
            if stops[done] - middle > 1:
                begin[parts] = middle
                end[parts] = stops[done]
                parts += 1
            clusters += 1
        done += 1
        if clusters >= most:
            break
    return cuts[:done], begin[:parts], end[:parts], clusters


@njit("float64[::1](int64[::1], int64[::1], int64[::1], int64[::1], float64, float64[:,::1], int64[:,::1])", cache=True)
def trace_scores(counts, starts, stops, cuts, price, found, ends):  # type: ignore[no-untyped-def]
    """Minus the total deviation and the price of the clusters, before the first decision and after each.

    A decision cuts an interval; 0: it does not. ``found`` and ``ends`` as :func:`bisection_scores` has left them.
    """
    result = np.empty(starts.shape[0] + 1)
    whole = deviation(counts, 0, counts.shape[0])
    less = 0.0
    clusters = 1
    result[0] = -(whole + price * clusters)
    for d in range(starts.shape[0]):
        if cuts[d] > 0:
            lowered = 0.0
            for span in range(3):  # the interval, then its parts
                start = cuts[d] if span == 2 else starts[d]
                stop = cuts[d] if span == 1 else stops[d]
                if stop - start == 1:
                    dev = 0.0
                elif ends[2, stop] == start:
                    dev = found[2, stop]
                elif ends[3, start] == stop:
                    dev = found[3, start]
                else:
                    dev = deviation(counts, start, stop)
                lowered = lowered - dev if span else dev
            less += lowered
            clusters += 1
        result[d + 1] = -((whole - less) + price * clusters)
    return result


@njit("int64(float64[::1], float64)", cache=True)
def _pick(logits, uniform):  # type: ignore[no-untyped-def]
    """The candidate of a softmax that a uniform number falls on."""
    best = logits.max()
    total = 0.0
    for logit in logits:
        total += np.exp(logit - best)
    left = uniform * total
    chosen = 0
    for candidate in range(logits.shape[0]):
        weight = np.exp(logits[candidate] - best)
        if weight > 0.0:
            chosen = candidate
            left -= weight
            if left <= 0.0:
                break
    return chosen


@njit(
    "Tuple((int64[::1], int64[::1], int64[::1]))(int64[::1], float64[::1], float64, float64, int64, int64)",
    cache=True,
)
def published_bisection(counts, uniforms, rate, penalty, levels, largest):  # type: ignore[no-untyped-def]
    """The authors' search, on the true counts: starts, stops and cuts (0: none) of its decisions, one uniform each.

    Clusters stand in a list; the first open one is taken, and where none is open the last of the list, although it is
    closed. A cut moves its two halves to the end of the list, closed if they are single cells or on level ``levels``;
    halves beyond that level are open. The search ends when a closed cluster, or the last open one, is not cut, when
    all clusters are cells, or with more than ``largest`` clusters; the decision that ends it is left out unless a cut.
    """
    n = counts.shape[0]
    decisions = uniforms.shape[0]
    starts = np.zeros(decisions, dtype=np.int64)
    stops = np.zeros(decisions, dtype=np.int64)
    cuts = np.zeros(decisions, dtype=np.int64)
    # every cluster ever made, in the order of the list; a cut one stays as a gap
    begin = np.zeros(2 * n + 2, dtype=np.int64)
    end = np.zeros(2 * n + 2, dtype=np.int64)
    level = np.zeros(2 * n + 2, dtype=np.int64)
    is_open = np.zeros(2 * n + 2, dtype=np.bool_)
    end[0] = n
    level[0] = 1
    is_open[0] = True
    made = 1
    clusters = 1
    next_open = 0
    done = 0
    ranks = np.empty(n, dtype=np.int64)
    shelf = np.empty((n + n // 64 + 1, 2), dtype=np.int64)
    behind = np.empty(n)
    while clusters < n and clusters <= largest and done < decisions:
        # take a cluster
        while next_open < made and not is_open[next_open]:
            next_open += 1
        c = next_open if next_open < made else made - 1
        # ranks of its counts, for the sweeps
        own = np.sort(counts[begin[c] : end[c]])
        distinct = 1
        for i in range(1, own.shape[0]):
            if own[i] != own[distinct - 1]:
                own[distinct] = own[i]
                distinct += 1
        ranks[begin[c] : end[c]] = np.searchsorted(own[:distinct], counts[begin[c] : end[c]])
        # choose a cut, or none
        errors = np.empty(end[c] - begin[c])
        errors[0] = deviation(counts, begin[c], end[c]) - penalty
        _sweep(counts, ranks, own[:distinct], begin[c], end[c], shelf, False, errors[1:])
        _sweep(counts, ranks, own[:distinct], begin[c], end[c], shelf, True, behind[: end[c] - begin[c] - 1])
        errors[1:] += behind[: end[c] - begin[c] - 1]
        logits = -rate * (errors + penalty)
        cut = _pick(logits, uniforms[done])
        is_open[c] = False
        starts[done] = begin[c]
        stops[done] = end[c]
        # not cut: go on while another is open; cut: its halves join the list
        if cut == 0:
            remaining = False
            for other_cluster in range(next_open, made):
                if is_open[other_cluster]:
                    remaining = True
                    break
            if not remaining:
                break
        else:
            middle = begin[c] + cut
            cuts[done] = middle
            for half in range(2):
                begin[made] = middle if half else begin[c]
                end[made] = end[c] if half else middle
                level[made] = level[c] + 1
                is_open[made] = end[made] - begin[made] > 1 and level[made] != levels
                made += 1
            clusters += 1
        done += 1
    return starts[:done], stops[:done], cuts[:done]
