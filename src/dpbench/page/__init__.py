"""What readers see: tables, figures, one offline page. Reads stores and interpretations, never runs anything."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dpbench.page.notebook import show
    from dpbench.page.print_figures import figures
    from dpbench.page.print_tables import tables
    from dpbench.page.web_page import page

__all__ = ["figures", "page", "show", "tables"]

_HOMES = {
    "figures": "dpbench.page.print_figures",
    "page": "dpbench.page.web_page",
    "show": "dpbench.page.notebook",
    "tables": "dpbench.page.print_tables",
}


if not TYPE_CHECKING:  # a typo is to be found before anything runs

    def __getattr__(name: str) -> Any:
        """Import on first use: drawing is heavy, and most users of a table never draw."""
        if name not in _HOMES:
            raise AttributeError(f"module 'dpbench.page' has no attribute {name!r}")
        from importlib import import_module

        return getattr(import_module(_HOMES[name]), name)
