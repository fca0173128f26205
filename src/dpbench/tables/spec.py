"""The spec file: which columns of which table become a histogram, and how it is released; TOML, checked to the key.

Everything in it is public and fixed before the table is opened. A mistake is reported with its line.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date, time
from fractions import Fraction
from os import PathLike
from pathlib import Path
from typing import Any, overload

from dpbench.domain import Domain
from dpbench.errors import DPBenchError, InvalidSpec, shown
from dpbench.given import as_path, whole
from dpbench.tables.axes import Axis, Categories, Numbers, Times
from dpbench.tables.counting import check_axes

KEYS = (
    "dataset",
    "table",
    "counts",
    "epsilon",
    "delta",
    "algorithm",
    "records_per_person",
    "records",
    "sampler",
    "budget",
    "out",
    "columns",
    "ranges",
)
COLUMN_KEYS = ("low", "high", "bins", "edges", "categories", "outside", "missing", "format")
SAMPLERS = ("dpbench", "opendp")
MOST_PER_PERSON, MOST_RECORDS = 10**6, 10**15
NAME = re.compile(r"[^\x00-\x1f\x7f\ud800-\udfff]{1,200}")
PATH = re.compile(r"[^\x00-\x1f\x7f]{1,4000}")
SHORT_NUMBER = r"[+-]?[0-9_.]{1,60}([eE][+-]?[0-9]{1,3})?(/[0-9]{1,60})?"
"""Longer ones are no budgets or bounds, and would take long to compute with."""
Boxes = dict[str, tuple[tuple[int, int], ...]]


@dataclass(frozen=True)
class Spec:
    """A spec as it was read; what only a release needs may be absent."""

    axes: tuple[Axis, ...]
    dataset: str | None = None
    """The public name that a budget is kept under."""
    table: Path | None = None
    counts: Path | None = None
    """A histogram that a database counted, in place of a table."""
    epsilon: Fraction | None = None
    delta: Fraction | None = None
    algorithm: str | None = None
    records_per_person: int = 1
    records: int | None = None
    """About how many rows there are, known in public; for what is said about the error beforehand."""
    sampler: str = "dpbench"
    """Whose exact noise it is."""
    budget: Path | None = None
    out: Path | None = None
    ranges: Boxes = field(default_factory=dict)
    """By name, the first cell and one past the last along each axis."""
    path: Path | None = None
    text: str = field(default="", repr=False)

    @property
    def domain(self) -> Domain:
        """Cells along each axis."""
        return Domain(tuple(axis.cells for axis in self.axes))

    def wrong(self, key: str, fault: str) -> InvalidSpec:
        """What is wrong with a key of the spec, with its line."""
        named, said = (each if isinstance(each, str) else shown(each) for each in (key, fault))
        return _wrong(self.path, self.text, (), named, said)


def read_spec(given: str | PathLike[str] | Mapping[str, Any]) -> Spec:
    """A spec from a file, whose paths are relative to it, or from a mapping with the same keys."""
    if isinstance(given, Mapping):
        return _Reading(None, "", Path(), dict(given)).spec()
    path = as_path(given, "the spec", InvalidSpec)
    try:
        text = path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise InvalidSpec(f"cannot read the spec {path}: {error.strerror}; check the path") from None
    except UnicodeDecodeError:
        raise InvalidSpec(f"{path} is not a UTF-8 text file; give a spec in TOML") from None
    try:
        values = tomllib.loads(text, parse_float=_decimal)
    except RecursionError:
        raise InvalidSpec(f"{path} is not valid TOML: its brackets are too deep; correct it") from None
    except (tomllib.TOMLDecodeError, ValueError) as error:
        raise InvalidSpec(f"{path} is not valid TOML: {' '.join(str(error).split())}; correct it") from None
    return _Reading(path, text, path.parent, values).spec()


def _decimal(text: str) -> Fraction:
    """A decimal number as it is written: 0.1 is one tenth."""
    found = read_fraction(text)
    if found is None:
        raise ValueError(f"{text[:40]} is no number that can be used")
    return found


def line_of(text: str, tables: tuple[str, ...], key: str) -> int | None:
    """The line, from 1, on which a key of a table stands; the header of a table is its key too."""
    current: tuple[str, ...] = ()
    for number, line in enumerate(text.splitlines(), start=1):
        header = re.match(r"\s*\[\[?\s*([^\[\]]+?)\s*\]\]?\s*(#.*)?$", line)
        if header:
            current = tuple(part.strip().strip("\"'") for part in header[1].split("."))
            if current == (*tables, key) or (
                len(current) > len(tables) + 1 and current[: len(tables) + 1] == (*tables, key)
            ):
                return number
        elif current == tables and re.match(rf"""\s*["']?{re.escape(key)}["']?\s*[=.]""", line):
            return number
    return None


def _wrong(path: Path | None, text: str, tables: tuple[str, ...], key: str, fault: str) -> InvalidSpec:
    line = line_of(text, tables, key)
    where = "" if path is None else f"{path}, line {line}: " if line else f"{path}: "
    return InvalidSpec(f"{where}{fault}")


@dataclass
class _Reading:
    path: Path | None
    text: str
    folder: Path
    values: dict[str, Any]

    def wrong(self, tables: tuple[str, ...], key: str, fault: str) -> InvalidSpec:
        return _wrong(self.path, self.text, tables, key, fault)

    def spec(self) -> Spec:
        self._known((), self.values, KEYS)
        axes = self._axes()
        if ("table" in self.values) and ("counts" in self.values):
            raise self.wrong((), "counts", "a spec names both a table and counts; give one")
        return Spec(
            axes=axes,
            dataset=self._text("dataset"),
            table=self._path("table"),
            counts=self._path("counts"),
            epsilon=self._fraction("epsilon"),
            delta=self._fraction("delta"),
            algorithm=self._text("algorithm"),
            records_per_person=self._whole("records_per_person", MOST_PER_PERSON, 1),
            records=self._whole("records", MOST_RECORDS, None),
            sampler=self._sampler(),
            budget=self._path("budget"),
            out=self._path("out"),
            ranges=self._ranges(axes),
            path=self.path,
            text=self.text,
        )

    def _known(self, tables: tuple[str, ...], values: Mapping[str, Any], keys: tuple[str, ...]) -> None:
        for key in values:
            if key not in keys:
                place = f" of [{'.'.join(tables)}]" if tables else ""
                raise self.wrong(tables, key, f"there is no key {shown(key)}{place}; known: {', '.join(keys)}")

    def _text(self, key: str) -> str | None:
        value = self.values.get(key)
        if value is None:
            return None
        if not isinstance(value, str) or not NAME.fullmatch(value) or not value.strip():
            raise self.wrong((), key, f"{key} is {shown(value)}; give a text on one line, in quotes")
        return value

    def _sampler(self) -> str:
        value = self.values.get("sampler", SAMPLERS[0])
        if value not in SAMPLERS:
            raise self.wrong((), "sampler", f"sampler is {shown(value)}; known: {', '.join(SAMPLERS)}")
        return str(value)

    def _path(self, key: str) -> Path | None:
        value = self.values.get(key)
        if value is None:
            return None
        if isinstance(value, PathLike):
            return Path(value)
        if not isinstance(value, str) or not PATH.fullmatch(value):
            raise self.wrong((), key, f"{key} is {shown(value)}; give a path in quotes, on one line")
        path = as_path(value, key, InvalidSpec)
        if key == "out" and path.name in ("", ".."):
            raise self.wrong((), key, f"out is {shown(value)}; give the name of a new folder")
        return self.folder / path

    def _fraction(self, key: str) -> Fraction | None:
        value = self.values.get(key)
        if value is None:
            return None
        amount = read_fraction(value)
        if amount is None or not amount > 0 or (key == "delta" and amount >= 1):
            wanted = "a number between 0 and 1" if key == "delta" else "a number above 0"
            raise self.wrong((), key, f'{key} is {shown(value)}; give {wanted}, for example "1/2" or 0.5')
        return amount

    @overload
    def _whole(self, key: str, most: int, default: int) -> int: ...
    @overload
    def _whole(self, key: str, most: int, default: None) -> int | None: ...
    def _whole(self, key: str, most: int, default: int | None) -> int | None:
        value = self.values.get(key, default)
        try:
            return None if value is None else whole(value, key, 1, most)
        except DPBenchError as error:
            raise self.wrong((), key, str(error)) from None

    def _axes(self) -> tuple[Axis, ...]:
        columns = self.values.get("columns")
        if not isinstance(columns, Mapping) or not columns:
            raise self.wrong((), "columns", "a spec needs at least one column; write for example [columns.age]")
        axes = []
        for name, values in columns.items():
            if not isinstance(values, Mapping):
                raise self.wrong(("columns",), name, f"column {shown(name)} is {shown(values)}; write [columns.NAME]")
            self._known(("columns", name), values, COLUMN_KEYS)
            written = {key: _as_written(value) for key, value in values.items()}
            tables: tuple[str, ...] = ("columns",)
            where = name
            try:
                axis = make_axis(name, {key: value for key, value in written.items() if key != "format"})
                if "format" in written:
                    tables, where = ("columns", name), "format"
                    axis = make_axis(name, written)
            except DPBenchError as error:
                raise self.wrong(tables, where, str(error)) from None
            axes.append(axis)
        try:
            return check_axes(axes)
        except DPBenchError as error:
            raise self.wrong((), "columns", str(error)) from None

    def _ranges(self, axes: tuple[Axis, ...]) -> Boxes:
        given = self.values.get("ranges", {})
        if not isinstance(given, Mapping):
            raise self.wrong((), "ranges", f"ranges is {shown(given)}; write [ranges.NAME] and a pair per column")
        boxes: Boxes = {}
        for name, sides in given.items():
            if not isinstance(sides, Mapping) or not NAME.fullmatch(name):
                raise self.wrong(("ranges",), name, f"the range {shown(name)} is no table; give a pair per column")
            self._known(("ranges", name), sides, tuple(axis.name for axis in axes))
            try:
                boxes[name] = tuple(
                    axis.place(_as_written(sides[axis.name])) if axis.name in sides else (0, axis.cells)
                    for axis in axes
                )
            except DPBenchError as error:
                raise self.wrong(("ranges",), name, f"the range {shown(name)}: {error}") from None
        return boxes


def _as_written(value: Any) -> Any:
    """Decimal numbers as floats, which bounds and edges are; only budgets are exact."""
    if isinstance(value, list):
        return [_as_written(each) for each in value]
    return float(value) if isinstance(value, Fraction) else value


def make_axis(name: str, values: Mapping[str, Any]) -> Axis:
    """The axis that the keys of a column describe."""
    rules = {key: values[key] for key in ("outside", "missing") if key in values}
    cells = {key: values[key] for key in ("low", "high", "bins", "edges") if key in values}
    edges = values.get("edges")
    first = edges[0] if isinstance(edges, list) and edges else values.get("low")
    times = isinstance(first, date | time) and "categories" not in values
    if "format" in values and not times:
        raise InvalidSpec(
            f"column {shown(name)} has a format, which is for times, and no times as bounds; leave it out"
        )
    if "categories" in values:
        if cells:
            raise InvalidSpec(f"column {shown(name)} mixes ways to say what its cells are; give categories alone")
        return Categories(name, values["categories"], **rules)
    if times:
        if set(cells) not in ({"low", "high", "bins"}, {"edges"}):
            raise InvalidSpec(f"column {shown(name)} needs low, high and bins, or edges alone")
        return Times(name, **cells, **rules, format=values.get("format"))
    return Numbers(name, **cells, **rules)


def read_fraction(value: object) -> Fraction | None:
    """An exact number out of a TOML file: "1/2", "0.5", 0.5 or 1; None where it is none."""
    if isinstance(value, bool) or not isinstance(value, str | int | float | Fraction):
        return None
    if not isinstance(value, Fraction) and not re.fullmatch(SHORT_NUMBER, str(value).strip()):
        return None
    try:
        return Fraction(str(value)) if isinstance(value, float | str) else Fraction(value)
    except (ValueError, ZeroDivisionError, OverflowError):
        return None
