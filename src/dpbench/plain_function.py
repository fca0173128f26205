"""A plain function ``f(x, workload, epsilon, rng)`` among the algorithms: measured like any other, unaudited inside.

It is shown the counts, so nobody can say what it spends on what; its one line in the ledger says that it is unaudited
inside. `dpbench check FILE.py:function` looks at it as a black box. To have it examined, write a class instead.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from types import FunctionType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpbench.algorithm import Algorithm
from dpbench.privacy import PrivateData
from dpbench.privacy.mechanisms import Mechanism
from dpbench.privacy.noise import NoiseSource
from dpbench.workloads import Workload

UNAUDITED = "unaudited inside, black box only"
MARK = " (unaudited)"
"""What the name of such an algorithm ends in, so that it says so wherever it appears."""


@lru_cache(maxsize=64)
def as_algorithm(function: FunctionType) -> type[Algorithm]:
    """The algorithm whose estimate is what a function gives; its code is the function's."""

    @dataclass(frozen=True)
    class Inside(Mechanism):
        """The function as one question: it costs what it says, and nobody knows whether that is true."""

        name = "plain function"
        run: Callable[[NDArray[np.int64]], NDArray[Any]]

        @property
        def claim(self) -> Fraction:
            """One record is one record."""
            return Fraction(1)

        def truth(self, counts: Any) -> Any:
            """The counts."""
            return counts

        def level(self, loss: Fraction) -> float:
            """What it is told to spend."""
            return float(loss)

        def noise_words(self, level: float) -> str:
            """No noise that is known."""
            del level
            return UNAUDITED

        def draw(self, truth: Any, level: float, noise: NoiseSource) -> NDArray[Any]:
            """What the function makes of the counts."""
            del level, noise
            return self.run(truth)

    @dataclass(frozen=True, kw_only=True)
    class Plain(Algorithm):
        """A plain function of the counts, unaudited inside."""

        name = f"{function.__name__}{MARK}"

        @property
        def exchangeable(self) -> bool:
            """Nobody knows."""
            return False

        def estimate(self, data: PrivateData, workload: Workload) -> NDArray[np.float64]:
            """One call for every trial, each with a generator of its own and a copy of the counts."""
            epsilon, generators = float(data.epsilon), data.coins()

            def one(counts: NDArray[np.int64], rng: np.random.Generator) -> NDArray[np.float64]:
                return np.asarray(function(counts, workload, epsilon, rng), dtype=np.float64)

            def run(counts: NDArray[np.int64]) -> NDArray[np.float64]:
                return np.stack([one(counts.copy(), rng) for rng in generators])

            return np.asarray(data.ask(Inside(run), data.epsilon, function.__name__))

    Plain.__module__, Plain.__qualname__ = function.__module__, function.__qualname__
    return Plain
