"""The paper beside what was measured: its tables, figures and findings, each with a verdict."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dpbench.paper.all_claims import verdicts
    from dpbench.paper.study import Study, pack
    from dpbench.paper.verdict import Verdict

__all__ = ["Study", "Verdict", "pack", "verdicts"]

_HOMES = {
    "Study": "dpbench.paper.study",
    "Verdict": "dpbench.paper.verdict",
    "pack": "dpbench.paper.study",
    "verdicts": "dpbench.paper.all_claims",
}


if not TYPE_CHECKING:  # a typo is to be found before anything runs

    def __getattr__(name: str) -> Any:
        """Import on first use: a page of the study needs to know where its files lie, and no claim."""
        if name not in _HOMES:
            raise AttributeError(f"module 'dpbench.paper' has no attribute {name!r}")
        from importlib import import_module

        return getattr(import_module(_HOMES[name]), name)
