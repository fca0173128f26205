"""How Sphinx builds the site: Markdown by hand, and pages that are read off the code before each build.

Sphinx rather than another generator, because docstrings are in its language, and because its search works in a page
that was opened from a file, without internet.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "src")]

import pages  # noqa: E402

from dpbench import __version__  # noqa: E402

project = "DPBench"
author = "The DPBench developers"
copyright = author
version = release = __version__
extensions = ["myst_parser"]
myst_enable_extensions = ["deflist"]
myst_heading_anchors = 3
html_theme = "furo"
html_title = f"DPBench {__version__}"
html_show_sourcelink = False
html_copy_source = False
exclude_patterns = ["generated/*.md"]
suppress_warnings: list[str] = []

os.environ["COLUMNS"] = "90"  # the help of a verb is as wide as the terminal
pages.write_all(HERE)
