"""The GROUP BY that counts a spec's histogram inside a database.

Bins are a binary search written as nested CASE expressions, with the very edges that the reader of files uses: the two
agree row for row, and nothing but comparisons is asked of the database. A row that is dropped has a NULL cell
and is left out. NaN is not NULL: databases order it above all numbers, so turn it into NULL first where it stands for a
missing value. A text is compared as it is written, where the reader of files takes ``1.0`` for the category 1; and a
``format`` is for that reader alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dpbench.errors import InvalidTable
from dpbench.given import of_kind
from dpbench.tables.axes import Axis, Categories, Numbers, Times
from dpbench.tables.counting import check_axes


def group_by(axes: Sequence[Axis], table: str) -> str:
    """One statement: the number of a cell along each axis, and ``count``; cells without rows are absent."""
    axes = check_axes(axes)
    of_kind(table, str, "the name of a table", "'people'", InvalidTable)
    for axis in axes:
        if isinstance(axis, Times) and axis.format is not None:
            raise axis.wrong(
                "has a format, and a database reads its dates by itself; cast the column to one of times in "
                "a view, and leave format out"
            )
    cells = [f"  {_cell(axis)} AS {quoted(f'{axis.name}_cell')}" for axis in axes]
    names = ", ".join(quoted(f"{axis.name}_cell") for axis in axes)
    kept = " AND ".join(f"{quoted(f'{axis.name}_cell')} IS NOT NULL" for axis in axes)
    inner = ",\n".join(cells)
    return (
        f"SELECT {names}, COUNT(*) AS {quoted('count')}\n"
        f"FROM (\nSELECT\n{inner}\nFROM {quoted(table)}\n) AS cells\n"
        f"WHERE {kept}\nGROUP BY {names}\nORDER BY {names};\n"
    )


def quoted(name: str) -> str:
    """A name as SQL writes it."""
    return '"' + name.replace('"', '""') + '"'


def _cell(axis: Axis) -> str:
    column = quoted(axis.name)
    missing = str(axis.missing_cell) if axis.missing == "cell" else "NULL"
    if isinstance(axis, Categories):
        other = str(axis.other_cell) if axis.outside == "cell" else "NULL"
        listed = " ".join(f"WHEN {column} = {_literal(each)} THEN {code}" for code, each in enumerate(axis.categories))
        return f"CASE WHEN {column} IS NULL THEN {missing} {listed} ELSE {other} END"
    if not isinstance(axis, Numbers | Times):
        raise TypeError(type(axis).__name__)
    edges = [_edge(axis, point) for point in axis.breaks.tolist()]
    below = above = ""
    if axis.outside == "drop":
        below = f"WHEN {column} < {edges[0]} THEN NULL "
        above = f"WHEN {column} > {edges[-1]} THEN NULL "
    return (
        f"CASE WHEN {column} IS NULL THEN {missing} {below}{above}ELSE {_search(column, edges, 0, len(edges) - 1)} END"
    )


def _search(column: str, edges: list[str], first: int, last: int) -> str:
    """The bin between two edges, halved until one is left."""
    if last - first == 1:
        return str(first)
    middle = (first + last) // 2
    left, right = _search(column, edges, first, middle), _search(column, edges, middle, last)
    return f"CASE WHEN {column} < {edges[middle]} THEN {left} ELSE {right} END"


def _edge(axis: Numbers | Times, point: float) -> str:
    written: Any = axis._written(point)
    if isinstance(axis, Numbers):
        return repr(written)
    kind = {"time": "TIME", "zoned": "TIMESTAMP WITH TIME ZONE", "moment": "TIMESTAMP"}[axis.kind]
    return f"{kind} '{written}'"


def _literal(value: Any) -> str:
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, int | float):
        return repr(value)
    return "'" + str(value).replace("'", "''") + "'"
