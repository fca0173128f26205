"""Errors that need no run, for figures and tables to show beside measured ones."""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt

LOSS = "L2"
"""The loss whose errors can be set beside a yardstick."""


@dataclass(frozen=True)
class Yardstick:
    """Expected squared errors per query on a workload: the limit, and that of the best known strategy.

    The benchmark's L2 error is a mean of norms, ||W x - y||_2 / (scale q), and an expected squared error per query is
    the mean of the norm's square over q. So a yardstick is drawn at its root mean square, sqrt(error / q) / scale. By
    Jensen's inequality the mean of the norm is at most that: an unbiased algorithm's mean error may lie below its own
    root mean square (on 4,096 prefixes by 2 % with HDMM, 8 % with Hb, 12 % with Identity).
    """

    limit: float
    """No unbiased strategy with noise of that kind is below."""
    noise: str
    """Laplace or Gaussian."""
    best: float
    """The least error of a data-independent algorithm of the catalogue."""
    algorithm: str
    """Which one that is."""

    def scaled_limit(self, scale: float, queries: int) -> float:
        """The limit as an L2 error of the benchmark, at its root mean square."""
        return _scaled(self.limit, scale, queries)

    def scaled_best(self, scale: float, queries: int) -> float:
        """The best known strategy's error, likewise."""
        return _scaled(self.best, scale, queries)


CONVERSION = (
    "both are root mean squares, sqrt(expected squared error per query / q) / scale; the mean of norms that is "
    "measured is at most the root mean square of the same algorithm (Jensen)"
)
"""How a line on squared errors stands beside a mean of norms."""


def limit_words(noise: str) -> str:
    """What the limit bounds."""
    return (
        f"limit: no unbiased strategy with {noise} noise has a smaller root mean square; biased and data-dependent "
        f"algorithms may, by what structure in the data is worth"
    )


def best_words(algorithm: str) -> str:
    """What the best known strategy is."""
    return f"best known strategy: {algorithm}, the least expected error of a data-independent algorithm"


def _scaled(error: float, scale: float, queries: int) -> float:
    return sqrt(error / queries) / scale
