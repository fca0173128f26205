"""A stranger's claims of sensitivity, recomputed on the domain and the workload that a run uses.

The audit tries many domains, and an algorithm may claim less on another. What it claims where it is measured is looked
at once for each, on made-up counts, before a result is believed.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import Any

import numpy as np

from dpbench.algorithm import Algorithm
from dpbench.errors import CheckFailed
from dpbench.privacy import Recording
from dpbench.privacy.claims import refuted_claim
from dpbench.workloads import Workload


def insist_on_claims(algorithm: Algorithm, workload: Workload, budget: Mapping[str, Any]) -> None:
    """Refuse an algorithm that claims less than one record does; what else goes wrong is for the run to report."""
    rng, channel = np.random.default_rng(0), Recording()
    x = rng.integers(0, 30, workload.domain.shape)
    with suppress(Exception), np.errstate(all="ignore"):
        algorithm._outcome(x, workload, trials=1, seed=0, channel=channel, **budget)
    words = ""
    with suppress(Exception), np.errstate(all="ignore"):
        words = refuted_claim(channel.questions(), rng)
    if words:
        raise CheckFailed(f"{algorithm.name} is not private on {workload.domain}: {words}")
