"""What the black box looks at in an output: numbers that a leak is likely to show in, by family.

Everything is rounded to seven digits after the point. The low-order bits of double-precision noise tell neighbours
apart (``privacy.noise`` says so, and without the rounding the black box refutes Identity by them); a release
has to round too, and what is examined here is everything above that.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Counts = NDArray[np.int64]

DIGITS = 7
UNRELATED = 2.0
"""In place of a sine where one of two coefficients is 0 and has no phase."""


def features(outputs: Floats, x: Counts, neighbour: Counts) -> Mapping[str, Floats]:
    """Families of numbers for each run, ``(runs, numbers)``, from outputs ``(runs, *domain)``."""
    flat = np.round(outputs.reshape(len(outputs), -1), DIGITS)
    near, far = (np.asarray(counts, dtype=np.float64).reshape(-1) for counts in (x, neighbour))
    to_near, to_far = np.abs(flat - near), np.abs(flat - far)
    found = {
        "cells": flat,
        "total": flat.sum(axis=1, keepdims=True),
        "distance to the inputs": _distances(to_near, to_far),
        "exact repeats and zeros": _repeats(flat, to_near, to_far),
        "phases": _phases(flat, near, far),
        "partition boundaries": _boundaries(flat),
        "sizes": _sizes(flat),
    }
    return {family: np.round(numbers, DIGITS) for family, numbers in found.items()}


def _distances(to_near: Floats, to_far: Floats) -> Floats:
    """How much nearer one input is than the other in L1 and in the cell that differs, and how near each is."""
    columns = [(to_near - to_far).sum(axis=1)]
    for distance in (to_near, to_far):
        columns += [distance.sum(axis=1), distance.max(axis=1), distance.min(axis=1)]
    return np.column_stack(columns)


def _repeats(flat: Floats, to_near: Floats, to_far: Floats) -> Floats:
    """Zeros by cell and in all; cells that repeat another, that are whole, that equal the input's to rounding."""
    zeros = flat == 0
    ordered = np.sort(flat, axis=1)
    repeats = (np.diff(ordered, axis=1) == 0).sum(axis=1)
    rounding = 2 * 10.0**-DIGITS
    columns = [zeros.sum(axis=1), repeats, (flat == np.rint(flat)).sum(axis=1)]
    columns += [(distance <= rounding).sum(axis=1) for distance in (to_near, to_far)]
    return np.column_stack([zeros, *columns]).astype(np.float64)


def _phases(flat: Floats, near: Floats, far: Floats) -> Floats:
    """Angles of the Fourier coefficients, and the sine of the angle between each and the input's."""
    spectrum = np.fft.rfft(flat, axis=1)[:, 1:]
    columns = [np.angle(spectrum)]
    for counts in (near, far):
        own = np.fft.rfft(counts)[1:]
        size = np.abs(spectrum) * np.abs(own)
        related = size > 1e-3
        sine = np.full(size.shape, UNRELATED)
        np.divide(np.abs((spectrum * own.conj()).imag), size, out=sine, where=related)
        columns += [np.where(sine < 1e-5, 0.0, sine)]
    return np.concatenate(columns, axis=1) if spectrum.shape[1] else np.zeros((len(flat), 1))


def _boundaries(flat: Floats) -> Floats:
    """Where two cells in a row differ, and how often."""
    differ = flat[:, 1:] != flat[:, :-1]
    return np.column_stack([differ, differ.sum(axis=1)]).astype(np.float64)


def _sizes(flat: Floats) -> Floats:
    """Largest, smallest, length, number of negative cells."""
    return np.column_stack(
        [flat.max(axis=1), flat.min(axis=1), np.sqrt((flat**2).sum(axis=1)), (flat < 0).sum(axis=1)]
    ).astype(np.float64)
