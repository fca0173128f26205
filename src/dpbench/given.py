"""What a user gives, read in one way everywhere: plain arrays, whole and real numbers, values of a kind.

Whatever is given is either read exactly or refused in one line. Memory is estimated before it is asked for, and what
would take more than ``DPBENCH_MEMORY`` gigabytes (4 unless set) is refused.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Sized
from fractions import Fraction
from math import inf, isfinite, lcm
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpbench.errors import DPBenchError, InvalidInput, NotEnoughMemory, UnknownName, shown

MEMORY = "DPBENCH_MEMORY"
"""Environment variable with the most gigabytes that one call may take."""
GIGABYTES = 4.0
"""The limit where it is not set."""
LARGEST_SEED = 2**128
"""Seeds are at most that."""
LONGEST_PATH = 800
"""Characters of a path."""
LONGEST_NAME = 255
"""Bytes of a file name."""
ALWAYS = 2**20
"""Numbers that are never too many."""
LARGEST_WHOLE = 2**62
"""Whole numbers in arrays are below it, either way, so that the difference of two is exact in int64."""

DIGITS = 4000
"""Digits above or below the line of a stored fraction; Python reads no more than 4,300."""
LARGEST_DENOMINATOR = 2 ** (8 * DIGITS)
"""The denominators of stored fractions that are added have a common multiple below it."""
_FRACTION = re.compile(rf"[0-9]{{1,{DIGITS}}}(/[0-9]{{1,{DIGITS}}})?")

Refusal = Callable[[str], DPBenchError]


def numbers(
    given: object,
    what: str,
    refusal: Refusal = InvalidInput,
    kinds: str = "biuf",
    advice: str = "an array of real numbers",
) -> NDArray[Any]:
    """An array of finite real numbers, int64 or float64, and of no subclass; truth values, where wanted, are 0 and 1.

    Masked cells have no value and are refused, as are whole numbers of 2^62 and more.
    """
    if isinstance(given, np.ma.MaskedArray):
        if np.ma.is_masked(given):
            raise refusal(f"the {what} has masked cells; fill them, for example with .filled(0)")
        given = given.data
    if isinstance(given, Sized) and not isinstance(given, np.ndarray):
        afford(_length(given), f"the {what}")
    try:
        values = np.asarray(given)
        if type(values) is not np.ndarray:
            values = np.array(values, subok=False)
    except Exception:  # rows of unequal lengths, or whatever code a stranger's __array__ runs
        values = np.empty((), dtype=object)
    if values.dtype.kind not in kinds and values.size:
        raise refusal(f"the {what} has dtype {values.dtype}; give {advice}")
    afford(values.size, f"the {what}")
    if not values.size:  # an empty list has no type of its own
        return np.zeros(values.shape, dtype=np.float64 if values.dtype.kind == "f" else np.int64)
    low, high = (0, 1) if values.dtype.kind == "b" else (values.min(), values.max())
    if values.dtype.kind == "f":
        most = np.finfo(np.float64).max
        if not (-most <= low and high <= most):  # NaN and infinities fail, and so does a long double beyond float64
            raise refusal(f"the {what} holds NaN or infinity and has to be finite; give {advice}")
        return values.astype(np.float64, copy=False)
    if not -LARGEST_WHOLE < int(low) <= int(high) < LARGEST_WHOLE:
        raise refusal(f"the {what} has whole numbers of 2^62 or more, where sums wrap around; give them as float64")
    return values.astype(np.int64, copy=False)


def _length(given: Sized) -> int:
    try:
        return len(given)
    except OverflowError:  # range(2**70)
        return 2**63
    except Exception:  # a 0-dimensional array of another library
        return 0


def whole(
    given: object, what: str, least: int = 1, most: int = 2**53, refusal: Refusal = InvalidInput, advice: str = ""
) -> int:
    """A whole number in a range, as a plain int; truth values are none."""
    if isinstance(given, int | np.integer) and not isinstance(given, bool) and least <= int(given) <= most:
        return int(given)
    wanted = f"of at least {least}" + (f" and at most {most}" if most != 2**53 else "")
    raise refusal(f"{what} is {shown(given)}; give {advice or f'a whole number {wanted}'}")


def real(given: object, what: str, advice: str = "a finite number") -> float:
    """A finite real number, as a plain float; truth values are none."""
    if isinstance(given, int | float | np.integer | np.floating) and not isinstance(given, bool):
        try:
            number = float(given)
        except OverflowError:  # a whole number beyond all floats
            number = inf
        if isfinite(number):
            return number
    raise InvalidInput(f"{what} is {shown(given)}; give {advice}")


def stored_fraction(written: object) -> Fraction:
    """The amount that a ledger or a certificate writes, such as ``"1/20"``; ``ValueError`` for anything else.

    Powers of ten are refused, since ``Fraction("1e-999999999")`` has a billion digits.
    """
    try:
        if isinstance(written, str) and _FRACTION.fullmatch(written):
            return Fraction(written)
    except ZeroDivisionError:
        pass
    raise ValueError(f"{shown(written)} is no fraction")


def stored_sum(amounts: Iterable[Fraction]) -> Fraction:
    """The sum of stored fractions; ``ValueError`` where it would have so many digits that adding takes for ever."""
    listed, common = list(amounts), 1
    for each in listed:
        common = common if common % each.denominator == 0 else lcm(common, each.denominator)
        if common > LARGEST_DENOMINATOR:
            raise ValueError("the sum has too many digits")
    return Fraction(sum(each.numerator * (common // each.denominator) for each in listed), common)


def of_kind(given: Any, kind: type[Any], what: str, example: str, refusal: Refusal = InvalidInput) -> Any:
    """What was given, if it is of a kind."""
    if not isinstance(given, kind):
        raise refusal(f"{what} is {shown(given)}; give a {kind.__name__}, for example {example}")
    return given


def known(given: object, kind: str, names: Iterable[str]) -> str:
    """A name that a catalogue holds."""
    listed = tuple(names)
    if not isinstance(given, str) or given not in listed:
        raise UnknownName.among(kind, given, listed)
    return given


def texts(given: object, what: str) -> tuple[str, ...]:
    """One text, or several in a list."""
    listed = (given,) if isinstance(given, str) else given
    if not isinstance(listed, list | tuple | set | frozenset) or not all(isinstance(each, str) for each in listed):
        raise InvalidInput(f"{what} is {shown(given)}; give a list of names")
    return tuple(listed)


def as_path(given: object, what: str, refusal: Refusal = InvalidInput) -> Path:
    """A path on this machine; ``~`` is the home folder."""
    try:
        path = Path(given).expanduser()  # type: ignore[arg-type]
        longest = max((len(os.fsencode(part)) for part in path.parts), default=0)
    except Exception:  # not a path, no such home, a character that no file name has, or a stranger's __fspath__
        path, longest = None, 0
    if path is None or "\0" in str(path) or len(str(path)) > LONGEST_PATH or longest > LONGEST_NAME:
        raise refusal(f"{what} is {shown(given)}; give a path")
    return path


def afford(count: int, what: str) -> None:
    """Refuse what would take more memory than the limit; ``count`` is a number of 8-byte numbers."""
    if count < ALWAYS:
        return
    limit = _gigabytes()
    if count * 8 > limit * 1e9:
        raise NotEnoughMemory(
            f"{what} would take about {_size(count * 8)} of memory and the limit is {limit:g} GB; ask for less, or set "
            f"{MEMORY} to the gigabytes that it may take"
        )


def _gigabytes() -> float:
    text = os.environ.get(MEMORY, "").strip()
    try:
        limit = float(text) if text else GIGABYTES
    except ValueError:
        limit = 0.0
    if not 0 < limit < inf:
        raise InvalidInput(f"{MEMORY} is {shown(text)}; give a number of gigabytes, for example 16")
    return limit


def _size(size: int) -> str:
    """A number of bytes in words."""
    for unit in ("GB", "TB", "PB"):
        size //= 1000 if unit != "GB" else 10**9
        if size < 1000:
            return f"{max(size, 1)} {unit}"
    return "more than 1000 PB"
