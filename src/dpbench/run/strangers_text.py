"""Text that comes out of somebody's own code: one line, short, without what a terminal would obey, without counts."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection

LONGEST = 300
"""Characters that are kept of a text."""
_NUMBER = re.compile(r"\b(?:u?int|float|complex)\d{1,3}\b|\d[\d.,_]*\d|\d")


def one_line(text: object, longest: int = LONGEST) -> str:
    """A text on one line: printable characters alone, cut; empty where it has none or cannot be read."""
    try:
        plain = str.__str__(text) if isinstance(text, str) else str(text)
    except Exception:
        return ""
    kept = "".join(_shown(letter) for letter in plain[: 8 * longest])
    return " ".join(kept.split())[:longest].strip()


def without_counts(text: str, public: Collection[str] = ()) -> str:
    """A text in which "#" stands for every number that is not public: a number may be a count of somebody's."""
    return _NUMBER.sub(lambda found: found[0] if found[0][0].isalpha() or found[0] in public else "#", text)


def _shown(letter: str) -> str:
    """A letter; a blank for white space, nothing for what steers a terminal, "?" for what cannot be written."""
    if letter.isspace():
        return " "
    kind = unicodedata.category(letter)
    return "?" if kind == "Cs" else "" if kind.startswith("C") else letter
