"""``dpbench new``: an algorithm to start from, in a file of one's own."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING

from dpbench.cli.arguments import add_verb

if TYPE_CHECKING:
    from dpbench.cli.arguments import Subparsers

_ABOUT = """\
Write a commented algorithm, a class Mine, to a new file. It works as it is: `dpbench check FILE.py:Mine` does not
refute it, and `dpbench compare FILE.py:Mine` sets it against all others. Change it from there. A file
that exists is kept.
"""


def add_parser(subparsers: Subparsers) -> None:
    """Add ``new``."""
    parser = add_verb(subparsers, "new", "a commented algorithm to start from", _ABOUT, "dpbench new mine.py")
    parser.add_argument("file", metavar="FILE.py", help="where to write it")
    parser.set_defaults(run=run_new)


def run_new(chosen: argparse.Namespace) -> int:
    """Write the file, and say what to do with it."""
    from importlib.resources import files
    from pathlib import Path

    from dpbench.errors import InvalidInput

    path = Path(chosen.file)
    if path.suffix != ".py":
        raise InvalidInput(f"{chosen.file!r} is not a Python file; give for example mine.py")
    text = files("dpbench.cli").joinpath("starting_point.py").read_text(encoding="utf-8")
    try:
        with path.open("x", encoding="utf-8") as file:
            file.write(text.replace("THIS_FILE", chosen.file))
    except FileExistsError:
        raise InvalidInput(f"{chosen.file} exists, and is kept; give another name") from None
    sys.stdout.write(f"{chosen.file}: an algorithm named Mine; `dpbench check {chosen.file}:Mine` examines it\n")
    return 0
