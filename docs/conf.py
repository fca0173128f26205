"""How Sphinx builds the site: Markdown by hand, and pages that are read off the code before each build.

Sphinx rather than another generator, because docstrings are in its language, and because its search works in a page
that was opened from a file, without internet.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "src")]

import pages  # noqa: E402

from dpbench import __version__  # noqa: E402

project = "DPBench"
author = "The DPBench developers"
copyright = author
version = release = __version__
extensions = ["myst_parser", "sphinx.ext.autodoc"]
myst_enable_extensions = ["deflist"]
myst_heading_anchors = 3
html_theme = "furo"
html_title = f"DPBench {__version__}"
html_show_sourcelink = False
html_copy_source = False
exclude_patterns = ["generated/*.md"]
suppress_warnings: list[str] = []

autodoc_typehints = "none"
autodoc_default_options = {"exclude-members": "__init__"}

os.environ["COLUMNS"] = "90"  # the help of a verb is as wide as the terminal
pages.write_all(HERE)


def setup(app: Any) -> None:
    """Bars in docstrings are absolute values, and stars are stars: neither is markup."""

    def plain(app: Any, what: str, name: str, value: Any, options: Any, lines: list[str]) -> None:
        del app, what, name, value, options
        lines[:] = [pages.plain_text(line) for line in lines]

    app.connect("autodoc-process-docstring", plain)
