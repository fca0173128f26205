"""Text that comes out of somebody's own code: one line, short, without what a terminal would obey, without counts."""

from __future__ import annotations

import re
import unicodedata

LONGEST = 300
"""Characters that are kept of a text."""
_NUMBER = re.compile(r"\b(?:u?int|float|complex)\d{1,3}\b|\d[\d.,_]*\d|\d")


_ESCAPES = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]?|\x1b.?")
"""What makes a terminal change colours or move."""


def one_line(text: object, longest: int = LONGEST) -> str:
    """A text on one line: printable characters alone, cut; empty where it has none or cannot be read."""
    try:
        plain = str.__str__(text) if isinstance(text, str) else str(text)
    except Exception:
        return ""
    kept = "".join(_shown(letter) for letter in _ESCAPES.sub("", plain[: 8 * longest]))
    return " ".join(kept.split())[:longest].strip()


def without_counts(text: str) -> str:
    """A text in which "#" stands for every number, for each may be a count of somebody's; names of types stay."""
    return _NUMBER.sub(lambda found: found[0] if found[0][0].isalpha() else "#", text)


def _shown(letter: str) -> str:
    """A letter; a blank for white space, nothing for what steers a terminal, "?" for what cannot be written."""
    if letter.isspace():
        return " "
    kind = unicodedata.category(letter)
    return "?" if kind == "Cs" else "" if kind.startswith("C") else letter
