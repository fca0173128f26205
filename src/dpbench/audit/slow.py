"""What took too long: a batch that does not end is not compared, so that a run which hangs would pass unseen."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dpbench.audit.cases import Case
from dpbench.audit.distorted_noise import distorted
from dpbench.audit.fresh import TooSlow, fresh, processor_seconds
from dpbench.audit.vectors import shown
from dpbench.audit.worlds import SECONDS, Runner
from dpbench.errors import CheckFailed

LIMIT = SECONDS / 2
"""Seconds of the processor that one run may take by itself; a few times as many on the clock."""


@dataclass(frozen=True)
class Attempt:
    """One run in a process of its own, and what it took."""

    ended: bool
    processor: float
    clock: float
    failure: str = ""

    def __str__(self) -> str:
        after = f"{self.processor:.2g} s of the processor, {self.clock:.2g} s on the clock"
        failed = f", and failed: {self.failure[:120]}" if self.failure else ""
        return f"ended after {after}{failed}" if self.ended else f"had not ended after {after}"


def slow_words(runner: Runner, batch: Sequence[Case]) -> str:
    """The case on the fewest cells that takes long by itself, and how long the same takes on empty counts."""
    for case in sorted(batch, key=lambda each: each.domain.size):
        for counts in (case.x, case.y):
            if not attempted(runner, case, counts).ended:
                again, empty = (attempted(runner, case, each) for each in (counts, np.zeros_like(counts)))
                seen = f"a run on {case.domain} {again} (on empty counts it {empty})"
                return f"{seen}; seen with x = {shown(counts)}, largest {counts.max()}, {case}"
    cells = max(case.domain.size for case in batch)
    return f"{len(batch)} runs on up to {cells} cells, though none of them takes {LIMIT:g} s by itself"


def attempted(runner: Runner, case: Case, counts: NDArray[np.int64]) -> Attempt:
    """One run as a user has it, whatever it raises."""

    def work() -> None:
        runner.run(case, counts, noise=distorted(case.seed, case.trials, case.noise))

    processor, clock, ended, failure = processor_seconds(), time.monotonic(), True, ""
    try:
        fresh(work, LIMIT, silent=True)
    except TooSlow:
        ended = False
    except CheckFailed as error:
        failure = str(error)
    return Attempt(ended, processor_seconds() - processor, time.monotonic() - clock, failure)
