"""The axes of a histogram: what a column's cells are, and a rule for every value that a row may have.

The rules are total. A row whose value is missing or outside its bounds is counted in the nearest cell, in a cell of its
own, or not at all; nothing is refused because of its value, since a refusal would answer a question about the data.
So one row is counted in at most one cell, whatever it says, and tables that differ by a row give histograms that differ
by at most one record in one cell.
"""

from __future__ import annotations

import datetime as dt
import re
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from dpbench.errors import InvalidTable, UnknownName, shown
from dpbench.given import whole

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Outside = Literal["clamp", "drop", "cell"]
Missing = Literal["drop", "cell"]

MOST_BINS = 10**7
"""Of one column."""
EPOCH = dt.datetime(1970, 1, 1)  # times without a zone are counted from a time without one
MICROSECOND = dt.timedelta(microseconds=1)
DIRECTIVES = {"Y": 4, "y": 2, "m": 1, "d": 1, "j": 1, "H": 1, "I": 1, "p": 0, "M": 1, "S": 1, "f": 1, "z": 0}
"""Of a format, and the fewest digits of each: those of Python's strptime that mean the same in every language."""
LONGEST_FORMAT = 200


def microseconds(given: dt.date) -> float:
    """Microseconds from 1970 to a day or a moment, in UTC; one without a zone is taken as it stands."""
    if not isinstance(given, dt.datetime):
        return float((given - EPOCH.date()) // MICROSECOND)
    away = given.utcoffset() or dt.timedelta()
    here = dt.datetime(given.year, given.month, given.day, given.hour, given.minute, given.second, given.microsecond)
    return float((here - EPOCH) // MICROSECOND - away // MICROSECOND)


class Axis(ABC):
    """One column and its cells."""

    name: str
    outside: str
    missing: str
    rules: ClassVar[tuple[str, ...]] = ()
    """What may be said of values outside."""

    def _check(self) -> None:
        if not isinstance(self.name, str) or not self.name:
            raise InvalidTable(f"a column is named {shown(self.name)}; give its name as in the table")
        _insist_on_unicode(self, self.name)
        if not isinstance(self.outside, str) or self.outside not in self.rules:
            raise UnknownName.among(f"rule for values outside of column {shown(self.name)}", self.outside, self.rules)
        if not isinstance(self.missing, str) or self.missing not in ("drop", "cell"):
            raise UnknownName.among(
                f"rule for missing values of column {shown(self.name)}", self.missing, ("drop", "cell")
            )

    def wrong(self, fault: str) -> InvalidTable:
        """What is wrong with the column, in one line."""
        return InvalidTable(f"column {shown(self.name)} {fault if isinstance(fault, str) else shown(fault)}")

    @property
    @abstractmethod
    def cells(self) -> int:
        """Cells along the axis, those of their own included."""

    @property
    @abstractmethod
    def proper(self) -> int:
        """Cells without those of their own, which come last."""

    @abstractmethod
    def headings(self) -> list[str]:
        """Columns that say which cell a row of a histogram is."""

    @abstractmethod
    def label(self, cell: int) -> list[Any]:
        """What they say; None in each for missing values."""

    @abstractmethod
    def place(self, given: object) -> tuple[int, int]:
        """The first cell and one past the last of a range that somebody writes as a pair."""

    def _cell(self, cell: object) -> int:
        return whole(cell, f"a cell of column {shown(self.name)}", 0, self.cells - 1, InvalidTable)

    @property
    def missing_cell(self) -> int:
        """The cell of missing values, the last one; -1 where they are dropped."""
        return self.cells - 1 if self.missing == "cell" else -1


def _insist_on_unicode(axis: Axis, given: object) -> None:
    """Refuse half of a pair of surrogates, which no file can hold: a release would find that out after its charge."""
    try:
        str(given).encode()
    except UnicodeEncodeError:
        raise axis.wrong(f"has {shown(given)} in its name or categories, which is no text; correct it") from None


class Bins(Axis):
    """An axis of bins between breaks: each holds its left end, the last one both."""

    rules = ("clamp", "drop")

    @property
    @abstractmethod
    def breaks(self) -> Floats:
        """``(bins + 1,)``, increasing."""

    @property
    def proper(self) -> int:
        """One less than the breaks."""
        return len(self.breaks) - 1

    @property
    def cells(self) -> int:
        """The bins, and one for missing values where there is."""
        return self.proper + (self.missing == "cell")

    @abstractmethod
    def _written(self, point: float) -> Any:
        """A break as people write it."""

    @abstractmethod
    def read(self, given: object) -> float:
        """A value as people write it, as a number."""

    def headings(self) -> list[str]:
        """Both ends of a bin."""
        return [f"{self.name}_low", f"{self.name}_high"]

    def label(self, cell: int) -> list[Any]:
        """Both ends."""
        cell = self._cell(cell)
        if cell == self.missing_cell:
            return [None, None]
        return [self._written(self.breaks[cell]), self._written(self.breaks[cell + 1])]

    def place(self, given: object) -> tuple[int, int]:
        """A pair of breaks: [low, high)."""
        if not isinstance(given, list | tuple) or len(given) != 2:
            raise self.wrong(f"has the range {shown(given)}; give a pair of bin edges")
        ends = np.array([self.read(each) for each in given])
        where = np.searchsorted(self.breaks, ends)
        if (where > self.proper).any() or (self.breaks[where] != ends).any() or where[0] >= where[1]:
            raise self.wrong(f"has the range {shown(given)}; give two edges of its bins, the lower first")
        return int(where[0]), int(where[1])


def _check_breaks(axis: Axis, breaks: Floats) -> Floats:
    if len(breaks) < 2 or not np.isfinite(breaks).all() or not (np.diff(breaks) > 0).all():
        raise axis.wrong("has edges that do not increase, or bins too narrow to tell apart; give fewer, wider bins")
    breaks.flags.writeable = False
    return breaks


def _check_bounds(axis: Axis, low: object, high: object, bins: object, below: bool) -> int:
    many = whole(bins, f"bins of column {shown(axis.name)}", 1, MOST_BINS, InvalidTable)
    if not below:
        raise axis.wrong(f"has the bounds {shown(low)} and {shown(high)}; give low below high")
    return many


@dataclass(frozen=True, eq=False)
class Numbers(Bins):
    """Numbers: ``Numbers("age", 0, 100, bins=20)`` of equal width, or ``Numbers("income", edges=[0, 10, 50])``."""

    name: str
    low: Any = None
    high: Any = None
    bins: Any = None
    edges: Any = None
    outside: str = "clamp"
    missing: str = "drop"

    def __post_init__(self) -> None:
        self._check()
        object.__setattr__(self, "_breaks", self._made())

    def _made(self) -> Floats:
        if self.edges is not None:
            if (self.low, self.high, self.bins) != (None, None, None):
                raise self.wrong("mixes ways to say what its cells are; give low, high and bins, or edges")
            if not isinstance(self.edges, list | tuple | np.ndarray) or not 2 <= len(self.edges) <= MOST_BINS:
                raise self.wrong(f"has edges={shown(self.edges)}; give a list of at least two numbers, increasing")
            return _check_breaks(self, np.array([self.read(edge) for edge in self.edges]))
        if self.low is None or self.high is None or self.bins is None:
            raise self.wrong("needs low, high and bins, or edges, or categories; they never come from the table")
        low, high = self.read(self.low), self.read(self.high)
        bins = _check_bounds(self, self.low, self.high, self.bins, low < high and isfinite(high - low))
        return _check_breaks(self, np.linspace(low, high, bins + 1))

    @property
    def breaks(self) -> Floats:
        """``(bins + 1,)``."""
        made: Floats = self._breaks  # type: ignore[attr-defined]
        return made

    def _written(self, point: float) -> Any:
        """A whole number without a decimal point."""
        return int(point) if float(point).is_integer() and abs(point) < 2**53 else float(point)

    def read(self, given: object) -> float:
        """A finite number."""
        try:
            number = float(given) if not isinstance(given, bool | str | bytes) else float("nan")  # type: ignore[arg-type]
        except (TypeError, ValueError, OverflowError):
            number = float("nan")
        if not isfinite(number):
            raise self.wrong(f"has {shown(given)} where a finite number is wanted; give one")
        return number


@dataclass(frozen=True, eq=False)
class Times(Bins):
    """Days, moments or times of day: ``Times("born", date(1900, 1, 1), date(2020, 1, 1), bins=120)``.

    Bins are of equal length, with edges at whole microseconds; or between ``edges``, for months and the like. The kind
    of the bounds says the kind of the column: a day or a moment without a zone, a moment with one, or a time of day.

    Text is read as ISO 8601 (``2020-01-31``, ``20200131``, ``2020-01-31T08:00:00.5+02:00``, ``08:00``), or by a
    ``format`` such as ``"%d.%m.%Y"``. What does not fit is missing. A moment with an offset is converted to UTC, and
    one without is taken as it stands, whether the bounds have a zone or not.
    """

    name: str
    low: Any = None
    high: Any = None
    bins: Any = None
    edges: Any = None
    outside: str = "clamp"
    missing: str = "drop"

    format: Any = None

    def __post_init__(self) -> None:
        self._check()
        object.__setattr__(self, "_breaks", _check_breaks(self, np.array(self._made(), dtype=np.float64)))
        object.__setattr__(self, "_steps", self._understood())

    def _understood(self) -> Ints:
        """The format as steps: the number of a directive and its fewest digits, or 0 and a byte."""
        if self.format is None:
            return np.empty((0, 2), dtype=np.int64)
        wrong = f"has the format {shown(self.format)}"
        if not isinstance(self.format, str) or not 0 < len(self.format) <= LONGEST_FORMAT:
            raise self.wrong(f'{wrong}; give a text like "%d.%m.%Y"')
        known, pieces = list(DIRECTIVES), re.findall(r"%(.?)|([^%])", self.format, re.DOTALL)
        used = [directive for directive, literal in pieces if not literal and directive != "%"]
        unknown = next((each for each in used if each not in DIRECTIVES), None)
        if unknown is not None:
            listed = ", ".join(f"%{each}" for each in known)
            raise self.wrong(f"{wrong} with {shown('%' + unknown)}; known: {listed}, %%")
        clashes = [pair for pair in ("Yy", "mj", "dj", "HI") if set(pair) <= set(used)]
        if len(set(used)) != len(used) or clashes or ("I" in used) != ("p" in used):
            raise self.wrong(f"{wrong}; say each part once, %I with %p, and %j without %m and %d")
        if self.kind == "time" and (set(used) & set("Yymdjz") or not set(used) & set("HI")):
            raise self.wrong(f"{wrong}, and times of day in its bounds; give one with an hour and without a day")
        if self.kind != "time" and not set(used) & set("Yy"):
            raise self.wrong(f"{wrong}, and days in its bounds; give one with a year, %Y or %y")
        steps: list[tuple[int, int]] = []
        digits = False  # whether what comes next begins with a digit, so that this number has to have all of its own
        for directive, literal in reversed(pieces):
            if literal or directive == "%":
                steps += [(0, byte) for byte in reversed((literal or "%").encode("utf-8", "surrogatepass"))]
                digits = literal.isdecimal()
            else:
                fewest = DIRECTIVES[directive]
                full = {"j": 3}.get(directive, 2) if digits and directive in "mdjHIMS" else fewest
                steps.append((1 + known.index(directive), full))
                digits = fewest > 0
        return np.array(steps[::-1], dtype=np.int64)

    @property
    def steps(self) -> Ints:
        """``(steps, 2)``, of :func:`dpbench.mathematics.kernels.texts.read_moments`; none without a format."""
        made: Ints = self._steps  # type: ignore[attr-defined]
        return made

    def _made(self) -> list[float]:
        if self.edges is not None:
            if (self.low, self.high, self.bins) != (None, None, None):
                raise self.wrong("mixes ways to say what its cells are; give low, high and bins, or edges")
            if not isinstance(self.edges, list | tuple) or not 2 <= len(self.edges) <= MOST_BINS:
                raise self.wrong(f"has edges={shown(self.edges)}; give a list of at least two moments, increasing")
            return [self.read(edge) for edge in self.edges]
        if self._kind(self.low) is None or self._kind(self.low) != self._kind(self.high):
            raise self.wrong(
                f"has the bounds {shown(self.low)} and {shown(self.high)}; give two moments, or two times of day"
            )
        low, high = self.read(self.low), self.read(self.high)
        bins = _check_bounds(self, self.low, self.high, self.bins, low < high)
        first, last = int(low), int(high)
        return [first + (last - first) * number // bins for number in range(bins + 1)]

    @property
    def _first(self) -> Any:
        """The bound or edge whose kind is the column's."""
        return self.low if self.edges is None else self.edges[0]

    @staticmethod
    def _kind(given: object) -> str | None:
        if isinstance(given, dt.time):
            return "time" if given.tzinfo is None else None
        if isinstance(given, dt.datetime):
            return "moment" if given.tzinfo is None else "zoned"
        return "moment" if isinstance(given, dt.date) else None

    @property
    def kind(self) -> str:
        """Whether the bounds are a "moment" (or a day), "zoned" (with a time zone) or a "time" of day."""
        return str(self._kind(self._first))

    @property
    def breaks(self) -> Floats:
        """Microseconds since 1970, or since midnight."""
        made: Floats = self._breaks  # type: ignore[attr-defined]
        return made

    def read(self, given: object) -> float:
        """Microseconds since 1970, or since midnight."""
        if self._kind(given) is None or self._kind(given) != self._kind(self._first):
            raise self.wrong(f"has {shown(given)} where a {self.kind} as in its bounds is wanted; give one")
        if isinstance(given, dt.time):
            given = dt.datetime.combine(EPOCH.date(), given)
        return microseconds(given)  # type: ignore[arg-type]

    def _written(self, point: float) -> str:
        """As ISO 8601: a day where all breaks are midnights."""
        if self.kind == "time":
            at_midnight = int(point) == 86_400_000_000
            return "24:00:00" if at_midnight else (EPOCH + int(point) * MICROSECOND).time().isoformat()
        moment = EPOCH + int(point) * MICROSECOND
        if self.kind == "zoned":
            return f"{moment.isoformat()}Z"
        days = not (self.breaks % 86_400_000_000).any()
        return moment.date().isoformat() if days else moment.isoformat()


def nearest(number: Any) -> float:
    """The nearest float to a number, infinite beyond all."""
    try:
        return float(number)
    except OverflowError:
        return float("inf") if number > 0 else -float("inf")


@dataclass(frozen=True, eq=False)
class Categories(Axis):
    """One cell per listed category; any other value is dropped, or has a cell of its own (``outside="cell"``)."""

    name: str
    categories: Sequence[Any]
    outside: str = "drop"
    missing: str = "drop"

    rules = ("drop", "cell")

    def __post_init__(self) -> None:
        self._check()
        given: object = self.categories
        listed = tuple(given) if isinstance(given, list | tuple | np.ndarray) else ()
        if not listed or len({str(each) for each in listed}) != len(listed):
            raise self.wrong(f"has categories={shown(given)}; list each category once, none of which look alike")
        if not all(isinstance(each, type(listed[0])) for each in listed) or not isinstance(
            listed[0], str | int | float | bool | dt.date
        ):
            raise self.wrong("has categories of several kinds; give texts, or numbers, or days")
        for each in listed:
            _insist_on_unicode(self, each)
        if isinstance(listed[0], int | float) and len({nearest(each) for each in listed}) != len(listed):
            raise self.wrong(
                "has numbers among its categories that are the same as floats; list each once, or make the column text"
            )
        object.__setattr__(self, "categories", listed)

    @property
    def proper(self) -> int:
        """The categories."""
        return len(self.categories)

    @property
    def cells(self) -> int:
        """The categories, then others, then missing ones, where they have cells."""
        return len(self.categories) + (self.outside == "cell") + (self.missing == "cell")

    @property
    def other_cell(self) -> int:
        """The cell of values that are no category; -1 where they are dropped."""
        return len(self.categories) if self.outside == "cell" else -1

    def headings(self) -> list[str]:
        """The category."""
        return [self.name]

    def label(self, cell: int) -> list[Any]:
        """The category; "(other)" for others."""
        cell = self._cell(cell)
        if cell == self.missing_cell:
            return [None]
        return ["(other)" if cell == self.other_cell else str(self.categories[cell])]

    def place(self, given: object) -> tuple[int, int]:
        """A pair of categories, from the first to the last, both included."""
        if not isinstance(given, list | tuple) or len(given) != 2 or any(each not in self.categories for each in given):
            raise self.wrong(f"has the range {shown(given)}; give the first and the last of its categories")
        first, last = (list(self.categories).index(each) for each in given)
        if first > last:
            raise self.wrong(f"has the range {shown(given)}; give the earlier category first")
        return first, last + 1
