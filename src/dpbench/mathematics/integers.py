"""Integer logarithms that floating point gets wrong."""

from __future__ import annotations


def ceiling_log(number: int, base: int) -> int:
    """Least h with ``base**h >= number``, by multiplication.

    ``ceil(log(125) / log(5))`` is 4 in floating point; the answer is 3.
    """
    height, power = 0, 1
    while power < number:
        power *= base
        height += 1
    return height
