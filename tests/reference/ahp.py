"""AHP's greedy rule as it is written, in exact arithmetic, with opt(j) over every l."""

from __future__ import annotations

from fractions import Fraction


def clusters(values, price):
    """Lists of positions of ascending ``values``, one a cluster."""
    v = [Fraction(float(value)) for value in values]
    t = Fraction(float(price))
    n = len(v)

    def mean(i, j):
        return sum(v[i : j + 1]) / (j - i + 1)

    def cost(i, j):
        centre = mean(i, j)
        return sum((value - centre) ** 2 for value in v[i : j + 1]) + t / (j - i + 1)

    def opt(j):
        return min((v[j] - mean(j, last)) ** 2 + t / (last - j + 1) ** 2 for last in range(j, n))

    result, start, before = [], 0, cost(0, 0)
    for j in range(1, n):
        now = cost(start, j)
        if now >= before + opt(j):
            result.append(list(range(start, j)))
            start, before = j, cost(j, j)
        else:
            before = now
    return [*result, list(range(start, n))]
