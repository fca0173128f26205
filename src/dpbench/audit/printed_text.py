"""Printed text, of which single numbers may differ between two runs on the same counts: a time, say."""

from __future__ import annotations

import re
from collections.abc import Collection

Number = tuple[str, int]
"""A number in a line: the line without its numbers, and its place among them."""

NUMBERS = re.compile(r"([-+]?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?)")


def _taken_apart(text: str) -> list[tuple[str, list[str]]]:
    """Each line without its numbers, and the numbers."""
    lines = [NUMBERS.split(line) for line in text.splitlines()]
    return [("#".join(parts[::2]), parts[1::2]) for parts in lines]


def without(text: str, varying: Collection[Number]) -> str:
    """The text without the numbers that vary."""
    if not varying:
        return text
    lines = _taken_apart(text)
    kept = [
        (form, ["#" if (form, place) in varying else number for place, number in enumerate(numbers)])
        for form, numbers in lines
    ]
    return str(kept)


def varying_numbers(one: str, other: str) -> set[Number]:
    """The numbers in which two texts differ; none where they differ in anything else."""
    first, second = _taken_apart(one), _taken_apart(other)
    if [form for form, _ in first] != [form for form, _ in second]:
        return set()
    return {
        (form, place)
        for (form, numbers), (_, others) in zip(first, second, strict=True)
        for place, (number, its) in enumerate(zip(numbers, others, strict=True))
        if number != its
    }
