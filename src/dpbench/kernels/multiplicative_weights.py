"""Multiplicative weights on atoms: sets of cells that the same measured boxes cover.

Every update multiplies all cells of an atom alike, so masses of atoms are all that has to be kept. The same holds
again for a block of consecutive queries: its updates see only its faces, the sets of atoms that the same queries of the
block cover. So a block is run on the masses of its few faces, and the atoms follow once a block.
"""

from __future__ import annotations

import numpy as np
from numba import njit

BLOCK = 16
"""Queries in a block; a face's signature has one bit for each, so at most 63."""
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


@njit(
    "void(int64[::1], int64[:,::1], int64[:,::1], int64, int32[:,::1], int64[:,::1], float64[:,::1], int64[::1], "
    "int32[:,:,::1], int64[:,:,::1], int64[:,::1])",
    cache=True,
)
def cut(  # type: ignore[no-untyped-def]
    shape, lower, upper, query, label, size, mass, atoms, face, signature, faces
):
    """Cut the atoms of each trial by its box number ``query``, ``lower`` to ``upper`` ``(trials, axes)``.

    ``label`` ``(trials, cells)`` is the atom of each cell; ``size`` and ``mass`` ``(trials, atoms)`` are of atoms;
    ``face`` ``(trials, blocks, atoms)`` is the face of each atom in each block, ``signature`` ``(trials, blocks,
    faces)`` the queries of the block that cover a face, bit by bit. ``atoms`` and ``faces`` are how many there are.
    """
    trials = label.shape[0]
    capacity = size.shape[1]
    axes = shape.shape[0]
    block = query // BLOCK
    bit = np.int64(1) << (query % BLOCK)
    corner = np.empty(axes, dtype=np.int64)
    inside = np.empty(capacity, dtype=np.int64)
    target = np.empty(capacity, dtype=np.int64)
    covered = np.empty(capacity, dtype=np.int64)
    whole = np.empty(capacity, dtype=np.int64)
    for t in range(trials):
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

        many = faces[t, block]
        for f in range(many):
            covered[f] = 0
            whole[f] = 0
        for a in range(after):
            f = face[t, block, a]
            whole[f] += 1
            if inside[a] > 0:
                covered[f] += 1
        for f in range(many):
            target[f] = f
            if covered[f] == whole[f]:
                signature[t, block, f] |= bit
            elif covered[f] > 0:
                target[f] = faces[t, block]
                signature[t, block, faces[t, block]] = signature[t, block, f] | bit
                faces[t, block] += 1
        if faces[t, block] > many:
            for a in range(after):
                if inside[a] > 0:
                    face[t, block, a] = target[face[t, block, a]]


@njit(
    "void(float64[::1], int64[::1], float64[::1], float64[::1], float64)", cache=True, fastmath={"reassoc", "contract"}
)
def update(mass, signature, weights, answers, total):  # type: ignore[no-untyped-def]
    """For each query in turn: inside it x *= exp(w (m - w x_in) / (2 N)), then everywhere x *= N / sum(x).

    ``mass`` of faces is changed; bit q of a face's ``signature`` says that query q covers it. Sums may be
    added up in any order (fastmath), nothing is assumed of NaN or infinity.
    """
    for q in range(weights.shape[0]):
        bit = np.int64(1) << q
        inside = 0.0
        outside = 0.0
        for f in range(mass.shape[0]):
            if signature[f] & bit:
                inside += mass[f]
            else:
                outside += mass[f]
        exponent = weights[q] * (answers[q] - weights[q] * inside) / (2.0 * total)
        factor = np.exp(min(max(exponent, -STEEPEST), STEEPEST))
        without = total / (outside + factor * inside)
        within = factor * without
        for f in range(mass.shape[0]):
            mass[f] *= within if signature[f] & bit else without


@njit(
    "void(float64[:,::1], int64[::1], int32[:,:,::1], int64[:,:,::1], int64[:,::1], float64[:,::1], float64[:,::1], "
    "float64[::1], int64, int64)",
    cache=True,
)
def replay(  # type: ignore[no-untyped-def]
    mass, atoms, face, signature, faces, weights, answers, totals, queries, replays
):
    """Update with every one of the first ``queries`` queries in turn, ``replays`` times over; ``mass`` is changed.

    ``weights`` and ``answers`` are ``(trials, rounds)``. A trial whose total is not positive is left alone.
    """
    trials, capacity = mass.shape
    before = np.empty(capacity)
    after = np.empty(capacity)
    for t in range(trials):
        if not totals[t] > 0.0:
            continue
        x = mass[t, : atoms[t]]
        for _ in range(replays):
            for first in range(0, queries, BLOCK):
                block = first // BLOCK
                last = min(first + BLOCK, queries)
                many = faces[t, block]
                where = face[t, block]
                for f in range(many):
                    before[f] = 0.0
                for a in range(x.shape[0]):
                    before[where[a]] += x[a]
                for f in range(many):
                    after[f] = before[f]
                update(
                    after[:many], signature[t, block, :many], weights[t, first:last], answers[t, first:last], totals[t]
                )
                for f in range(many):
                    # a mass that has sunk to 0 stays there
                    after[f] = after[f] / before[f] if before[f] > 0.0 else 0.0
                for a in range(x.shape[0]):
                    x[a] *= after[where[a]]


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
