"""Multiplicative weights on atoms: sets of cells that the same measured boxes cover.

Every update multiplies all cells of an atom alike, so masses of atoms are all that has to be kept. The same holds
again for a group of consecutive queries: its updates see only its facets, the sets of atoms that the same queries of
the group cover; and once more for a block of queries within a group and its faces. So a block is run on the masses of
its few faces, the facets follow once per block, and the atoms once per group.
"""

from __future__ import annotations

import numpy as np
from numba import njit

BLOCK = 16
"""Queries in a block; a face's signature has one bit for each, so at most 63."""
GROUP = 3
"""Blocks in a group: measured, 2 and 4 are slower."""
STEEPEST = 50.0
"""Exponents of updates are clipped to plus and minus this."""


@njit("int64(int64[::1], int64[::1], int64[::1], int64[::1])", cache=True)
def next_row(shape, lower, upper, corner):  # type: ignore[no-untyped-def]
    """Move ``corner`` to the next row of a box, in row-major order; flat number of its first cell, -1 at the end."""
    axis = shape.shape[0] - 2
    while axis >= 0:
        corner[axis] += 1
        if corner[axis] < upper[axis]:
            break
        corner[axis] = lower[axis]
        axis -= 1
    if axis < 0:
        return -1
    cell = 0
    for a in range(shape.shape[0]):
        cell = cell * shape[a] + corner[a]
    return cell


@njit("int64(int32[::1], int64[::1], int64, int64, int64[::1])", cache=True)
def refine(kind, inside, atoms, kinds, origin):  # type: ignore[no-untyped-def]
    """Split the kinds of atoms that a box covers in part; how many kinds there are then.

    ``kind`` ``(atoms,)`` is changed. ``inside`` is how many cells of an atom the box covers: all or none. ``origin`` of
    a new kind is the one that it was split from, of an old one itself, or -1 - itself where it is covered whole.
    """
    # how many atoms of each kind the box covers
    covered = np.zeros(kinds, dtype=np.int64)
    whole = np.zeros(kinds, dtype=np.int64)
    for a in range(atoms):
        whole[kind[a]] += 1
        if inside[a] > 0:
            covered[kind[a]] += 1
    # a new kind for the covered part of each that is covered in part
    target = np.empty(kinds, dtype=np.int64)
    after = kinds
    for k in range(kinds):
        origin[k] = -1 - k if covered[k] == whole[k] else k
        target[k] = k
        if 0 < covered[k] < whole[k]:
            origin[after] = k
            target[k] = after
            after += 1
    if after > kinds:
        for a in range(atoms):
            if inside[a] > 0:
                kind[a] = target[kind[a]]
    return after


@njit(
    "void(int64[::1], int64[:,::1], int64[:,::1], int64, int32[:,::1], int64[:,::1], float64[:,::1], int64[::1], "
    "int32[:,:,::1], int64[:,:,::1], int64[:,::1], int32[:,:,::1], int64[:,::1])",
    cache=True,
)
def cut(  # type: ignore[no-untyped-def]
    shape, lower, upper, query, label, size, mass, atoms, face, signature, faces, facet, facets
):
    """Cut the atoms of each trial by its box number ``query``, ``lower`` to ``upper`` ``(trials, axes)``.

    ``label`` ``(trials, cells)`` is the atom of each cell; ``size`` and ``mass`` ``(trials, atoms)`` are of atoms;
    ``face`` ``(trials, blocks, atoms)`` is the face of each atom in each block, ``signature`` ``(trials, blocks,
    faces)`` the queries of the block that cover a face, bit by bit; ``facet`` ``(trials, groups, atoms)`` is the facet
    of each atom in each group. ``atoms``, ``faces`` and ``facets`` are how many there are.
    """
    trials = label.shape[0]
    capacity = size.shape[1]
    axes = shape.shape[0]
    block = query // BLOCK
    group = block // GROUP
    bit = np.int64(1) << (query % BLOCK)
    corner = np.empty(axes, dtype=np.int64)
    inside = np.empty(capacity, dtype=np.int64)
    target = np.empty(capacity, dtype=np.int64)
    origin = np.empty(capacity, dtype=np.int64)
    for t in range(trials):
        # cells of each atom inside the box, row by row
        first = 0
        for a in range(axes):
            corner[a] = lower[t, a]
            first = first * shape[a] + lower[t, a]
        width = upper[t, axes - 1] - lower[t, axes - 1]
        before = atoms[t]
        for a in range(before):
            inside[a] = 0
        row = first
        while row >= 0:
            for c in range(row, row + width):
                inside[label[t, c]] += 1
            row = next_row(shape, lower[t], upper[t], corner)

        # the part inside becomes an atom of its own, with its share of the mass
        after = before
        for a in range(before):
            target[a] = a
            if 0 < inside[a] < size[t, a]:
                each = mass[t, a] / size[t, a]
                target[a] = after
                size[t, after] = inside[a]
                mass[t, after] = each * inside[a]
                size[t, a] -= inside[a]
                mass[t, a] = each * size[t, a]
                for b in range(block + 1):
                    face[t, b, after] = face[t, b, a]
                for g in range(group + 1):
                    facet[t, g, after] = facet[t, g, a]
                inside[after] = inside[a]
                inside[a] = 0
                after += 1
        atoms[t] = after
        if after > before:
            row = first
            while row >= 0:
                for c in range(row, row + width):
                    label[t, c] = target[label[t, c]]
                row = next_row(shape, lower[t], upper[t], corner)

        # facets and faces that the box covers in part are split too; those that it covers learn its bit
        facets[t, group] = refine(facet[t, group], inside, after, facets[t, group], origin)
        many = faces[t, block]
        faces[t, block] = refine(face[t, block], inside, after, many, origin)
        for f in range(many):
            if origin[f] < 0:
                signature[t, block, f] |= bit
        for f in range(many, faces[t, block]):
            signature[t, block, f] = signature[t, block, origin[f]] | bit


@njit(inline="always")
def _inside_and_outside(mass, member):  # type: ignore[no-untyped-def]
    """Mass that a query covers, and mass that it does not; ``member`` is 1 or 0, numbers, so the loop is a vector."""
    inside = 0.0
    outside = 0.0
    for f in range(mass.shape[0]):
        part = member[f] * mass[f]
        inside += part
        outside += mass[f] - part
    return inside, outside


@njit(inline="always")
def _factors(inside, outside, weight, answer, total):  # type: ignore[no-untyped-def]
    """What masses inside and outside are multiplied by: exp(w (m - w x_in) / (2 N)) inside, then N / sum(x)."""
    exponent = weight * (answer - weight * inside) / (2.0 * total)
    factor = np.exp(min(max(exponent, -STEEPEST), STEEPEST))
    without = total / (outside + factor * inside)
    return factor * without, without


@njit(inline="always")
def _multiply(mass, member, within, without):  # type: ignore[no-untyped-def]
    """Multiply masses by one factor inside and another outside."""
    for f in range(mass.shape[0]):
        mass[f] *= member[f] * within + (1.0 - member[f]) * without


@njit(
    "void(float64[::1], float64[::1], float64[:,:,::1], float64[:,::1], float64[:,::1], float64[::1], int64, int64)",
    cache=True,
    fastmath={"reassoc", "contract"},
)
def update(one, two, member, weights, answers, totals, first, last):  # type: ignore[no-untyped-def]
    """For queries in turn: inside one x *= exp(w (m - w x_in) / (2 N)), then everywhere x *= N / sum(x).

    Masses of faces of two trials are changed; ``member`` ``(2, queries, faces)`` is 1 where a query covers a face, else
    0. A query waits for the one before it, a trial does not wait for the other. Sums may be added up in any order
    (fastmath), nothing is assumed of NaN or infinity.
    """
    for q in range(first, last):
        inside, outside = _inside_and_outside(one, member[0, q])
        inside_two, outside_two = _inside_and_outside(two, member[1, q])
        within, without = _factors(inside, outside, weights[0, q], answers[0, q], totals[0])
        within_two, without_two = _factors(inside_two, outside_two, weights[1, q], answers[1, q], totals[1])
        _multiply(one, member[0, q], within, without)
        _multiply(two, member[1, q], within_two, without_two)


@njit("void(float64[::1], int32[::1], float64[::1])", cache=True)
def add_up(mass, kind, sums):  # type: ignore[no-untyped-def]
    """Total mass of each kind, into ``sums``."""
    for k in range(sums.shape[0]):
        sums[k] = 0.0
    for a in range(mass.shape[0]):
        sums[kind[a]] += mass[a]


@njit("void(float64[::1], int32[::1], float64[::1], int32[::1], float64[::1])", cache=True)
def carry(mass, kind, factor, following, sums):  # type: ignore[no-untyped-def]
    """Multiply each mass by the factor of its kind, and add it up by its ``following`` kind, in one pass."""
    for k in range(sums.shape[0]):
        sums[k] = 0.0
    for a in range(mass.shape[0]):
        mass[a] *= factor[kind[a]]
        sums[following[a]] += mass[a]


@njit("void(float64[::1], float64[::1])", cache=True)
def into_factors(after, before):  # type: ignore[no-untyped-def]
    """``after`` becomes after / before; a mass that has sunk to 0 stays there."""
    for k in range(before.shape[0]):
        after[k] = after[k] / before[k] if before[k] > 0.0 else 0.0


@njit(
    "void(float64[:,::1], int64[::1], int32[:,:,::1], int64[:,::1], float64[:,:,::1], float64[:,::1], float64[:,::1], "
    "float64[::1], int64, int64, float64[:,::1], float64[:,::1])",
    cache=True,
)
def run_blocks(  # type: ignore[no-untyped-def]
    mass, many, face, faces, member, weights, answers, totals, low, high, before, after
):
    """Update ``many`` masses of two trials with all queries of blocks ``low`` to ``high``; the last are work space."""
    for p in range(2):
        add_up(mass[p, : many[p]], face[p, low, : many[p]], before[p, : faces[p, low]])
    for b in range(low, high):
        for p in range(2):
            for f in range(faces[p, b]):
                after[p, f] = before[p, f]
        one, two = after[0, : faces[0, b]], after[1, : faces[1, b]]
        update(one, two, member, weights, answers, totals, b * BLOCK, min((b + 1) * BLOCK, member.shape[1]))
        for p in range(2):
            x, kind = mass[p, : many[p]], face[p, b, : many[p]]
            into_factors(after[p, : faces[p, b]], before[p, : faces[p, b]])
            if b + 1 < high:
                carry(x, kind, after[p], face[p, b + 1, : many[p]], before[p, : faces[p, b + 1]])
            else:
                for a in range(x.shape[0]):
                    x[a] *= after[p, kind[a]]


@njit(
    "void(float64[:,::1], int64[::1], int32[:,:,::1], int64[:,:,::1], int64[:,::1], int32[:,:,::1], int64[:,::1], "
    "float64[:,::1], float64[:,::1], float64[::1], int64, int64, int64[::1])",
    cache=True,
)
def replay_pair(  # type: ignore[no-untyped-def]
    mass, atoms, face, signature, faces, facet, facets, weights, answers, totals, queries, replays, pair
):
    """:func:`replay` of two trials side by side, or of one beside a trial of one atom, which nothing moves."""
    capacity = mass.shape[1]
    blocks = (queries + BLOCK - 1) // BLOCK
    groups = (blocks + GROUP - 1) // GROUP
    before, after, whole = np.ones((2, capacity)), np.ones((2, capacity)), np.ones((2, capacity))
    part, x = np.ones((2, capacity)), np.ones((2, capacity))
    many = np.ones(2, dtype=np.int64)
    its_faces, its_facets = np.ones((2, blocks), dtype=np.int64), np.ones((2, groups), dtype=np.int64)
    its_weights, its_answers, its_totals = np.zeros((2, queries)), np.zeros((2, queries)), np.ones(2)
    for p in range(pair.shape[0]):
        t = pair[p]
        many[p] = atoms[t]
        its_faces[p], its_facets[p] = faces[t, :blocks], facets[t, :groups]
        its_weights[p], its_answers[p], its_totals[p] = weights[t, :queries], answers[t, :queries], totals[t]
        x[p, : many[p]] = mass[t, : many[p]]
    # which query covers which face
    member = np.zeros((2, queries, its_faces.max()))
    for p in range(pair.shape[0]):
        for q in range(queries):
            for f in range(its_faces[p, q // BLOCK]):
                member[p, q, f] = (signature[pair[p], q // BLOCK, f] >> (q % BLOCK)) & 1
    # the face of each atom where queries are few, of each facet where they are many
    nested = np.zeros((2, blocks, many.max() if groups == 1 else its_facets.max()), dtype=np.int32)
    for p in range(pair.shape[0]):
        for b in range(blocks):
            for a in range(many[p]):
                nested[p, b, a if groups == 1 else facet[pair[p], b // GROUP, a]] = face[pair[p], b, a]
    for p in range(pair.shape[0]):
        if groups > 1:
            add_up(x[p, : many[p]], facet[pair[p], 0, : many[p]], whole[p, : its_facets[p, 0]])
    for _ in range(replays):
        # few queries: on the atoms themselves
        if groups == 1:
            run_blocks(
                x, many, nested, its_faces, member, its_weights, its_answers, its_totals, 0, blocks, before, after
            )
            continue
        # many: on the facets of a group, then carried over to the atoms and on to the next group
        for g in range(groups):
            low, high = g * GROUP, min((g + 1) * GROUP, blocks)
            for p in range(2):
                for f in range(its_facets[p, g]):
                    part[p, f] = whole[p, f]
            run_blocks(
                part,
                its_facets[:, g].copy(),
                nested,
                its_faces,
                member,
                its_weights,
                its_answers,
                its_totals,
                low,
                high,
                before,
                after,
            )
            following = (g + 1) % groups
            for p in range(pair.shape[0]):
                t, count = pair[p], its_facets[p, g]
                into_factors(part[p, :count], whole[p, :count])
                sums = whole[p, : its_facets[p, following]]
                carry(x[p, : many[p]], facet[t, g, : many[p]], part[p], facet[t, following, : many[p]], sums)
    for p in range(pair.shape[0]):
        mass[pair[p], : many[p]] = x[p, : many[p]]


@njit(
    "void(float64[:,::1], int64[::1], int32[:,:,::1], int64[:,:,::1], int64[:,::1], int32[:,:,::1], int64[:,::1], "
    "float64[:,::1], float64[:,::1], float64[::1], int64, int64)",
    cache=True,
)
def replay(  # type: ignore[no-untyped-def]
    mass, atoms, face, signature, faces, facet, facets, weights, answers, totals, queries, replays
):
    """Update with every one of the first ``queries`` queries in turn, ``replays`` times over; ``mass`` is changed.

    ``weights`` and ``answers`` are ``(trials, rounds)``. A trial whose total is not positive is left alone. Trials go
    in pairs, which keeps the processor busy: each update of a trial waits for the one before.
    """
    running = np.flatnonzero(totals > 0.0)
    for first in range(0, running.shape[0], 2):
        pair = running[first : first + 2]
        replay_pair(
            mass, atoms, face, signature, faces, facet, facets, weights, answers, totals, queries, replays, pair
        )


@njit("void(int32[:,::1], int64[:,::1], float64[:,::1], int64[::1], float64[:,::1])", cache=True)
def spread(label, size, mass, atoms, cells):  # type: ignore[no-untyped-def]
    """Each atom's mass evenly over its cells, into ``cells`` ``(trials, cells)``."""
    trials, n = label.shape
    each = np.empty(mass.shape[1])
    for t in range(trials):
        for a in range(atoms[t]):
            each[a] = mass[t, a] / size[t, a]
        for c in range(n):
            cells[t, c] = each[label[t, c]]
