"""The real Fourier basis written out, and EFPA's scores and noise from their definitions."""

from __future__ import annotations

import numpy as np


def basis(n):
    """``(n, n)``: row i is basis vector i, low frequencies first."""
    t = np.arange(n)
    rows = [np.full(n, 1 / np.sqrt(n))]
    for j in range(1, (n - 1) // 2 + 1):
        rows += [np.sqrt(2 / n) * np.cos(2 * np.pi * j * t / n), -np.sqrt(2 / n) * np.sin(2 * np.pi * j * t / n)]
    if n % 2 == 0:
        rows.append((-1.0) ** t / np.sqrt(n))
    return np.array(rows[:n])


def kept(n):
    """How many coordinates may be kept."""
    return sorted({*range(1, n + 1, 2), n})


def sensitivity(n, k, rule):
    """What one record can do to the first k coordinates, by each of the three rules."""
    if rule == "exact":
        return np.abs(basis(n)[:k]).sum(axis=0).max()
    return k / np.sqrt(n) if rule == "tight" else np.sqrt(k)


def scores(counts, epsilon, rule):
    """Minus the length of the tail, minus the length of the noise, for each number of coordinates kept."""
    n = len(counts)
    f = basis(n) @ counts
    return np.array(
        [-np.linalg.norm(f[k:]) - np.sqrt(2 * k) * sensitivity(n, k, rule) / (epsilon / 2) for k in kept(n)]
    )


def published_scores(counts, epsilon):
    """The authors' scores: coefficients without normalisation."""
    n = len(counts)
    spectrum = np.fft.fft(counts)
    result = []
    for k in kept(n):
        low = [frequency for frequency in range(n) if min(frequency, n - frequency) <= k // 2]
        tail = np.delete(spectrum, low)
        result.append(-np.linalg.norm(tail) - np.sqrt(2) * k / (epsilon / 2))
    return np.array(result)
