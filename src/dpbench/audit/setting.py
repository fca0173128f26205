"""One algorithm with all that a run needs but the counts, for the layers that look at its questions."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpbench.algorithm import Algorithm, Outcome, SideInformation
from dpbench.audit.subject import budget_like
from dpbench.workloads import Workload


@dataclass(frozen=True)
class RecordedSetting:
    """One algorithm, as its questions are recorded."""

    algorithm: Algorithm
    workload: Workload
    epsilon: Fraction
    trials: int
    side_information: SideInformation | None
    notion: str = "pure"

    def run(self, x: NDArray[np.int64], **how: Any) -> Outcome:
        """Run on x."""
        budget = budget_like(self.notion, self.epsilon)
        return self.algorithm._outcome(
            x, self.workload, trials=self.trials, side_information=self.side_information, **budget, **how
        )
