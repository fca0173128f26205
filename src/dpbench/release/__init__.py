"""From a confidential table to a published histogram: the only place that opens one next to an algorithm.

The order of steps is the point. The spec is read and the header of the table, which is public. Time and memory are
estimated, the algorithm is rehearsed on an empty table, the error is stated, the folder is made, the charge is written
to the budget file and pushed to the disk; only then are rows read. From there on nothing leaves but what exact noise
has passed through: no count, no tally, no time, no reason of a failure that may follow from a row.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from dpbench.first_use import on_first_use

if TYPE_CHECKING:
    from dpbench.release.publishing import Released, check, publish
    from dpbench.release.verifying import verify

__all__ = ["Released", "check", "publish", "verify"]

if not TYPE_CHECKING:
    __getattr__ = on_first_use(
        __name__,
        {
            "Released": "publishing",
            "check": "publishing",
            "publish": "publishing",
            "verify": "verifying",
        },
    )
