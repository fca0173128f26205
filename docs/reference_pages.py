"""Reference pages that are read off the code: the public names, the keys of a plan, the columns of a store."""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Iterator
from dataclasses import fields
from importlib import import_module
from itertools import pairwise
from types import ModuleType
from typing import Any

import dpbench
from dpbench.results.results import COLUMNS
from dpbench.results.setting import Setting
from dpbench.store.schema import Row
from dpbench.store.transfer import CANONICAL
from dpbench.task.parts import AlgorithmPart
from dpbench.task.task import GROUPS, Task

TITLES = {
    "algorithms": "The catalogue of algorithms",
    "datasets": "Datasets",
    "errors": "Errors",
    "interpreting": "Interpreting results",
    "loss": "Losses",
    "page": "The page",
    "privacy": "The handle, mechanisms, strategies and scores",
    "release": "Releases",
    "results": "Results",
    "tables": "Tables of records",
    "testing": "Testing an algorithm",
    "workloads": "Workloads",
}
"""The public modules, each a section; the names at the top come first."""


def api_page() -> str:
    """Every public name: those of the package itself, then those of each public module."""
    lines = ["Public names", "============", ""]
    lines += ["``import dpbench as dpb``: what is listed here is what programs may rely on.", ""]
    lines += [
        "A call works or raises a :class:`dpbench.errors.DPBenchError` of one line. A call that does not fit the",
        "signature is Python's own ``TypeError``. What authors of algorithms, mechanisms, losses and tests write",
        "(``estimate``, ``draw``, ``errors``) is called by the package, with arguments that it has checked.",
        "",
    ]
    top = [name for name in dpbench.__all__ if not name.startswith("__") and not isinstance(_found(name), ModuleType)]
    shown: dict[int, str] = {}
    lines += _section("dpbench", "Of the package itself", top, shown)
    for name, title in TITLES.items():
        lines += _section(f"dpbench.{name}", title, public_names(import_module(f"dpbench.{name}")), shown)
    return "\n".join(lines)


def public_names(module: ModuleType) -> list[str]:
    """What a module offers: its ``__all__``, or what it defines under a name without an underscore."""
    listed = getattr(module, "__all__", None)
    if listed is not None:
        return [str(name) for name in listed]
    return [
        name
        for name, value in vars(module).items()
        if not name.startswith("_") and getattr(value, "__module__", None) == module.__name__
    ]


def _found(name: str) -> Any:
    return getattr(dpbench, name)


def _section(module: str, title: str, names: list[str], shown: dict[int, str]) -> list[str]:
    """One module; what another section has shown is named and not shown again."""
    lines = [title, "-" * len(title), ""]
    whole = import_module(module)
    for name in names:
        value = getattr(whole, name)
        where = f"{module}.{name}"
        known = shown.setdefault(id(value), where) if callable(value) else where
        if known != where:
            lines += [f"``{where}`` is ``{known}``.", ""]
        elif inspect.isclass(value):
            lines += [f".. autoclass:: {where}", "   :members:", "   :member-order: bysource", ""]
        elif inspect.isroutine(value):
            lines += [f".. autofunction:: {where}", ""]
        elif not isinstance(value, ModuleType):
            lines += [f".. py:data:: {where}", "", f"   {type(value).__name__}", ""]
    return lines


def format_page() -> str:
    """The keys of a plan, and the columns of stores, exports and results."""
    lines = ["Keys and columns", "================", ""]
    lines += ["Keys of a plan", "--------------", ""]
    lines += [
        "A plan is a TOML file of one task, or of several below ``[[tasks]]``. ``base`` names the task that it starts",
        "from (``RANGE_1D``, ``RANGE_2D``). A key of a group may stand on its own or in a table of the group's name.",
        "``dpbench run SUITE --print-toml`` writes a whole plan.",
        "",
    ]
    rows = [(name, "", text) for name, text in documented(Task) if name not in GROUPS]
    rows += [(name, group, text) for group, kind in GROUPS.items() for name, text in documented(kind)]
    lines += _table(("key", "group", "meaning"), rows)
    lines += ["An entry of ``algorithms`` is a name, or a table:", ""]
    lines += _table(("key", "meaning"), documented(AlgorithmPart))
    lines += ["Columns of a store", "------------------", ""]
    lines += ["A store's shards are Parquet files; a row is one algorithm on one data vector with all its trials.", ""]
    lines += _table(("column", "meaning"), documented(Row))
    lines += ["Columns of an export", "--------------------", ""]
    lines += [
        "``dpbench store export STORE --canonical --out FILE.csv`` writes one row per trial with these columns in this",
        "order; a budget that does not apply is empty, never 0.",
        "",
        ", ".join(f"``{name}``" for name in CANONICAL) + ".",
        "",
    ]
    lines += ["Columns of results", "------------------", ""]
    lines += ["Summary files, ``Results.columns`` and ``Results.to_arrow()`` have one row per setting.", ""]
    lines += _table(("column", "meaning"), [(name, text) for name, text in documented(Setting) if name in COLUMNS])
    return "\n".join(lines)


def documented(kind: type) -> list[tuple[str, str]]:
    """The fields of a dataclass with the docstring that follows each; fields in a row share the last one's."""
    texts: dict[str, str] = {}
    for owner in reversed(kind.__mro__[:-1]):
        texts |= dict(_texts(owner))
    return [(each.name, texts.get(each.name, "")) for each in fields(kind)]


def _texts(owner: type) -> Iterator[tuple[str, str]]:
    (tree,) = ast.parse(textwrap.dedent(inspect.getsource(owner))).body
    waiting: list[str] = []
    for statement, after in pairwise([*getattr(tree, "body", []), None]):
        match statement:
            case ast.AnnAssign(target=ast.Name(id=name)):
                waiting.append(name)
        match after:
            case ast.Expr(value=ast.Constant(value=str(text))):
                yield from ((name, " ".join(text.split())) for name in waiting)
                waiting = []


def _table(heads: tuple[str, ...], rows: list[tuple[str, ...]]) -> list[str]:
    lines = [".. list-table::", "   :header-rows: 1", ""]
    for number, row in enumerate([heads, *rows]):
        for place, cell in enumerate(row):
            shown = f"``{cell}``" if number and not place else cell.replace("|", "\\|").replace("*", "\\*")
            lines.append(f"   {'* -' if place == 0 else '  -'} {shown}".rstrip())
    return [*lines, ""]
