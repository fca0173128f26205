"""What readers see: tables, figures, one offline page. Reads stores and interpretations, never runs anything."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dpbench.report.notebook import show
    from dpbench.report.print_figures import figures
    from dpbench.report.print_tables import tables
    from dpbench.report.web_page import page

__all__ = ["figures", "page", "show", "tables"]

_HOMES = {"figures": "print_figures", "page": "web_page", "show": "notebook", "tables": "print_tables"}


def __getattr__(name: str) -> Any:
    """Import on first use: drawing is heavy, and most users of a table never draw."""
    if name not in _HOMES:
        raise AttributeError(f"module 'dpbench.report' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f"dpbench.report.{_HOMES[name]}"), name)
