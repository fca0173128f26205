"""What readers see: tables, figures, one offline page. Reads stores and interpretations, never runs anything."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dpbench.report.figures import figures
    from dpbench.report.notebook import show
    from dpbench.report.page import page
    from dpbench.report.tables import tables

__all__ = ["figures", "page", "show", "tables"]

_HOMES = {"figures": "figures", "page": "page", "show": "notebook", "tables": "tables"}


def __getattr__(name: str) -> Any:
    """Import on first use: drawing is heavy, and most users of a table never draw."""
    if name not in _HOMES:
        raise AttributeError(f"module 'dpbench.report' has no attribute {name!r}")
    from importlib import import_module

    found = getattr(import_module(f"dpbench.report.{_HOMES[name]}"), name)
    globals()[name] = found  # importing the module has put the module itself under this name
    return found
