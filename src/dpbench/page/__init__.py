"""What readers see: tables, figures, one offline page. Reads stores and interpretations, never runs anything."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dpbench.first_use import on_first_use

if TYPE_CHECKING:
    from dpbench.page.notebook import show
    from dpbench.page.print_figures import figures
    from dpbench.page.print_tables import tables
    from dpbench.page.web_page import page

__all__ = ["figures", "page", "show", "tables"]

if not TYPE_CHECKING:  # drawing is heavy, and most users of a table never draw
    __getattr__ = on_first_use(
        __name__,
        {
            "figures": "print_figures",
            "page": "web_page",
            "show": "notebook",
            "tables": "print_tables",
        },
    )
