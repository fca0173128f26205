"""What took too long: a batch that does not end is not compared, so that a run which hangs would pass unseen."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from dpbench.audit.cases import BATCH, Case
from dpbench.audit.distorted_noise import distorted
from dpbench.audit.fresh import TooSlow, fresh, processor_seconds
from dpbench.audit.vectors import shown
from dpbench.audit.worlds import SECONDS, Runner
from dpbench.errors import CheckFailed

LIMIT = SECONDS / BATCH
"""Of a batch that takes too long one case at least takes so long."""
QUICK = 0.1
"""Part of the limit in which a run on empty counts ends, if the counts are what makes another slow."""


def slow_words(runner: Runner, batch: Sequence[Case]) -> str:
    """The case on the fewest cells that takes long by itself, and whether that follows from its counts."""
    for case in sorted(batch, key=lambda each: each.domain.size):
        for counts in (case.x, case.y):
            if _seconds(runner, case, counts) is None:
                empty = _seconds(runner, case, np.zeros_like(counts))
                beside = "not in that time on empty counts either"
                if empty is not None:
                    beside = f"{empty:.2g} s on empty counts"
                    beside += ": how long it takes follows from the counts" if empty < QUICK * LIMIT else ""
                where = f"more than {LIMIT:g} s for one run on {case.domain}"
                return f"{where} ({beside}); seen with x = {shown(counts)}, {case}"
    sizes = [case.domain.size for case in batch]
    return f"more than {SECONDS:g} s for {len(batch)} runs on up to {max(sizes)} cells, though none is slow by itself"


def _seconds(runner: Runner, case: Case, counts: NDArray[np.int64]) -> float | None:
    """Time of the processor that one run takes in a process of its own; None where it does not end within the limit."""

    def work() -> float:
        begun = processor_seconds()
        try:
            runner.run(case, counts, noise=distorted(case.seed, case.trials, case.noise))
        except Exception:
            return processor_seconds() - begun  # it has ended, which is what is asked here
        return processor_seconds() - begun

    try:
        return fresh(work, LIMIT, silent=True)
    except TooSlow:
        return None
    except CheckFailed:
        return 0.0
