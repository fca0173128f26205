"""How every verb's parser is made: a summary, a description, an example."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    Subparsers = argparse._SubParsersAction[argparse.ArgumentParser]


def add_verb(
    subparsers: Subparsers, name: str, summary: str, description: str, example: str
) -> argparse.ArgumentParser:
    """A parser whose help teaches: what it does, its options, an example."""
    return subparsers.add_parser(
        name,
        help=summary,
        description=description,
        epilog=f"example:\n  {example}\n",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
