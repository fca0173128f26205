"""Printed text, of which single numbers may differ between two runs on the same counts: a time, say."""

from __future__ import annotations

import re
from collections.abc import Collection

Number = tuple[str, int]
"""A number in a line: the line without its numbers, and its place among them."""

NUMBERS = re.compile(r"([-+]?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?)")


def without(text: str, varying: Collection[Number]) -> str:
    """The text with # in place of the numbers that vary."""
    if not varying:
        return text
    lines = []
    for parts in map(NUMBERS.split, text.splitlines()):
        form = _form(parts)
        numbers = ["#" if (form, place) in varying else number for place, number in enumerate(parts[1::2])]
        parts[1::2] = numbers
        lines.append("".join(parts))
    return "\n".join(lines)


def varying_numbers(one: str, other: str) -> set[Number]:
    """The numbers in which two texts differ; none where they differ in anything else."""
    first, second = ([NUMBERS.split(line) for line in text.splitlines()] for text in (one, other))
    if list(map(_form, first)) != list(map(_form, second)):
        return set()
    return {
        (_form(mine), place)
        for mine, its in zip(first, second, strict=True)
        for place, pair in enumerate(zip(mine[1::2], its[1::2], strict=True))
        if pair[0] != pair[1]
    }


def _form(parts: list[str]) -> str:
    """A line without its numbers."""
    return "#".join(parts[::2])
