"""The paper beside what was measured: its tables, figures and findings, each with a verdict."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dpbench.first_use import on_first_use

if TYPE_CHECKING:
    from dpbench.paper.all_claims import verdicts
    from dpbench.paper.study import Study, pack
    from dpbench.paper.verdict import Verdict

__all__ = ["Study", "Verdict", "pack", "verdicts"]

if not TYPE_CHECKING:  # a page of the study needs to know where its files lie, and no claim
    __getattr__ = on_first_use(
        __name__,
        {
            "Study": "study",
            "Verdict": "verdict",
            "pack": "study",
            "verdicts": "all_claims",
        },
    )
