"""A piece of code as text that is the same wherever it stands, and the names that it mentions.

Comments, docstrings, layout, annotations and import statements leave no trace in the text. A name that is not local
is a slot in it: whoever knows the module says what the name means there, so that neither aliases nor the places of
definitions count. The text is the same from every version of Python: what is absent is left out, as some versions do.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any, ClassVar

Chain = tuple[str, ...]
"""A global name with the attributes asked of it, as in ("np", "linalg", "solve")."""

ANY = "*"
"""The word of code that may mention any, and the name of a module that may be any."""
OWN = "."
"""The name of the module that the code is in."""
MODULE_NAME = "'"
"""The first word of a chain that is a text: the name of a module of ours, perhaps."""
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_SCOPES = {ast.Lambda, *_COMPREHENSIONS}
_DEFINING = {ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef}
_NAMING = {ast.ExceptHandler: ("name",), ast.MatchAs: ("name",), ast.MatchStar: ("name",), ast.MatchMapping: ("rest",)}
"""Nodes that bind a name which is no node of its own."""
_UNSAID = {"ctx", "kind", "type_comment", "type_params", "type_ignores", "annotation", "returns"}
"""Fields that say nothing about what code does."""
_IMPORTING = {"import_module", "__import__"}
_ASKING = {"getattr", "attrgetter", "methodcaller", "getmembers", "vars", "dir"}
"""Functions by which code can ask for an attribute that it does not mention."""
_EVALUATING = {"eval", "exec", "globals", "locals", "vars", "dir"}
"""Functions by which it can ask for any definition; ``vars`` and ``dir`` if they are given nothing."""


@dataclass(frozen=True)
class Imported:
    """What a name was imported as: ``from ..module import name``, or ``import module`` without a name."""

    level: int
    module: str
    name: str = ""
    top: bool = False
    """Whether the name means the first part of the module's: ``import package.module`` binds the package."""


@dataclass(frozen=True)
class Piece:
    """A statement, or several, with everything that it mentions."""

    text: str
    chains: tuple[Chain, ...]
    """What stands in the slots of the text, in order."""
    written: frozenset[Chain]
    """Those that are only added to, or that belong to a registry to which a function adds what it is given.

    Such a function may look whether a name is taken; that is no use of what is registered.
    """
    words: frozenset[str]
    """Attributes, and texts that could be the names of some."""
    strings: frozenset[str]
    """All texts."""
    imports: Mapping[str, tuple[Imported, ...]]
    """What is imported inside."""
    modules: frozenset[str]
    """Modules that are imported by a text: ``import_module("helper")``."""


def piece_of(statements: Iterable[ast.AST], siblings: Iterable[str] = ()) -> Piece:
    """Statements as a piece; ``siblings`` are the names of the class body that they stand in."""
    writer = _Writer(frozenset(siblings))
    writer.body(list(statements))
    return writer.piece()


def imported_names(node: ast.Import | ast.ImportFrom) -> Iterator[tuple[str, Imported]]:
    """The names that an import binds, "*" for all."""
    for each in node.names:
        if isinstance(node, ast.ImportFrom):
            yield each.asname or each.name, Imported(node.level, node.module or "", each.name)
        else:
            yield each.asname or each.name.split(".")[0], Imported(0, each.name, top=not each.asname)


def chain_of(node: ast.AST) -> Chain:
    """A name with attributes as a chain; empty for anything else."""
    attributes: list[str] = []
    while isinstance(node, ast.Attribute):
        attributes.append(node.attr)
        node = node.value
    return (node.id, *reversed(attributes)) if isinstance(node, ast.Name) else ()


def bound_names(node: ast.AST) -> set[str]:
    """The names that a statement or a scope binds, without those of scopes inside and without imports."""
    found: set[str] = set()
    outside: set[str] = set()
    waiting = _inner(node) if isinstance(node, (*_FUNCTIONS, ast.ClassDef)) else [node]
    while waiting:
        inner = waiting.pop()
        kind = type(inner)
        if kind is ast.Name:
            if not isinstance(inner.ctx, ast.Load):  # type: ignore[attr-defined]
                found.add(inner.id)  # type: ignore[attr-defined]
        elif kind is ast.arg:
            found.add(inner.arg)  # type: ignore[attr-defined]
        elif kind in _DEFINING:
            found.add(inner.name)  # type: ignore[attr-defined]
        elif kind is ast.Global:
            outside.update(inner.names)  # type: ignore[attr-defined]
        elif kind not in _SCOPES:
            for name in _NAMING.get(kind, ()):
                found.update(filter(None, [getattr(inner, name)]))
            waiting += _inner(inner)
    return found - outside


def _inner(node: ast.AST) -> list[ast.AST]:
    """The nodes inside a node, without those that say whether a name is read or bound."""
    found: list[ast.AST] = []
    for name in node._fields:
        value = getattr(node, name, None)
        if isinstance(value, list):
            found += [each for each in value if isinstance(each, ast.AST)]
        elif isinstance(value, ast.AST) and name != "ctx":
            found.append(value)
    return found


class _Writer:
    """Writes syntax trees, and notes what they mention."""

    def __init__(self, siblings: frozenset[str]) -> None:
        self._out: list[str] = []
        self._slots: dict[Chain, int] = {}
        self._read: set[Chain] = set()
        self._words: set[str] = set()
        self._strings: set[str] = set()
        self._imports: dict[str, tuple[Imported, ...]] = {}
        self._modules: set[str] = set()
        self._registries: set[str] = set()
        self._given: list[str] = []
        self._scopes: list[tuple[str, set[str] | frozenset[str]]] = [("class", siblings)] if siblings else []

    def piece(self) -> Piece:
        """What was written so far."""
        return Piece(
            "".join(self._out),
            tuple(self._slots),
            frozenset(chain for chain in self._slots if chain not in self._read or chain[0] in self._registries),
            frozenset(self._words),
            frozenset(self._strings),
            self._imports,
            frozenset(self._modules),
        )

    def write(self, value: object) -> None:
        """Any value of a syntax tree."""
        if isinstance(value, list):
            self._out.append("[")
            for each in value:
                self.write(each)
                self._out.append(",")
            self._out.append("]")
        elif isinstance(value, ast.AST):
            self._special.get(type(value), _Writer._node)(self, value)
        else:
            self._out.append(ascii(value))  # which characters repr() shows depends on the version

    def _node(self, node: ast.AST, unsaid: Iterable[str] = ()) -> None:
        """A node with those of its fields that hold something."""
        self._out.append(f"{type(node).__name__}(")
        for name in node._fields:
            field = getattr(node, name, None)
            if field is None or name in _UNSAID or name in unsaid or field == []:
                continue
            self._out.append(f"{name}=")
            if name in {"body", "orelse", "finalbody"} and isinstance(field, list):
                self.body(field)
            else:
                self.write(field)
        self._out.append(")")

    def body(self, statements: Sequence[ast.AST]) -> None:
        """Statements without text, ``pass`` and ``...``, and without imports, whose names are resolved where used."""
        for each in statements:
            if isinstance(each, ast.Import | ast.ImportFrom):
                for name, imported in imported_names(each):
                    self._imports[name] = (*self._imports.get(name, ()), imported)
        self.write(
            [
                each
                for each in statements
                if not isinstance(each, ast.Import | ast.ImportFrom | ast.Pass) and not is_constant(each)
            ]
        )

    # --- scopes -----------------------------------------------------------------------------------

    def _function(self, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) -> None:
        """Decorators and defaults belong to the scope around, the rest to its own."""
        self._out.append(f"{type(node).__name__}({getattr(node, 'name', '')}")
        self.write(getattr(node, "decorator_list", []))
        self.write([*node.args.defaults, *(each for each in node.args.kw_defaults if each is not None)])
        if any("register" in chain_of(_called(each)) for each in getattr(node, "decorator_list", [])):
            self.write([each.annotation for each in ast.walk(node.args) if isinstance(each, ast.arg)])  # it dispatches
        self._scopes.append(("function", bound_names(node)))
        arguments, given = node.args, len(self._given)
        named = [*arguments.posonlyargs, *arguments.args, arguments.vararg, *arguments.kwonlyargs, arguments.kwarg]
        self._given += [each.arg for each in named if each]
        self._out.append(",".join(each.arg if each else "" for each in named))
        numbers = (arguments.posonlyargs, arguments.args, arguments.defaults, arguments.kwonlyargs)
        required = [default is None for default in arguments.kw_defaults]
        self._out.append(f"|{[len(each) for each in numbers]}{required}")
        self.body(node.body if isinstance(node.body, list) else [node.body])
        self._scopes.pop()
        del self._given[given:]
        self._out.append(")")

    def _comprehension(self, node: ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp) -> None:
        """The first source belongs to the scope around."""
        self.write(node.generators[0].iter)
        targets = [generator.target for generator in node.generators]
        self._scopes.append(("function", {name for target in targets for name in bound_names(target)}))
        self._out.append(type(node).__name__)
        for number, generator in enumerate(node.generators):
            self._node(generator, ("iter",) if number == 0 else ())
        self._node(node, ("generators",))
        self._scopes.pop()

    def _class(self, node: ast.ClassDef) -> None:
        """A class inside a function, or inside another class."""
        self.write([*node.decorator_list, *node.bases, *node.keywords])
        self._scopes.append(("class", bound_names(node)))
        self._out.append(f"ClassDef({node.name}")
        self.body(node.body)
        self._scopes.pop()
        self._out.append(")")

    # --- names ------------------------------------------------------------------------------------

    def _name(self, node: ast.Name) -> None:
        read = isinstance(node.ctx, ast.Load)
        if self._is_local(node.id):
            self._out.append(node.id)
            if self._scopes[-1][0] == "class" and read:
                self._words.add(node.id)  # another member of the same class
        elif read or self._scopes:
            self._chain((node.id,), written=not read)
        else:
            self._out.append(node.id)  # what the statement defines

    def _attribute(self, node: ast.Attribute) -> None:
        chain = chain_of(node)
        if chain and not self._is_local(chain[0]):
            self._chain(chain)
        else:
            self._words.add(node.attr)
            self._node(node)

    def _chain(self, chain: Chain, *, written: bool = False) -> None:
        if not written:
            self._read.add(chain)
        self._out.append(f"<{self._slots.setdefault(chain, len(self._slots))}>")

    def _is_local(self, name: str) -> bool:
        """Whether a name belongs to a scope that is visible here; that of a class is visible in its body alone."""
        inner = len(self._scopes) - 1
        for number, (kind, names) in enumerate(self._scopes):
            if name in names and (kind != "class" or number == inner):
                return True
        return False

    def _subscript(self, node: ast.Subscript) -> None:
        """``TABLE[key] = value`` adds to a table; it does not read it."""
        chain = chain_of(node.value)
        if isinstance(node.ctx, ast.Store) and len(chain) == 1 and not self._is_local(chain[0]):
            self._out.append("Subscript(")
            self._chain(chain, written=True)
            self.write(node.slice)
            self._out.append(")")
        else:
            self._node(node)

    def _assignment(self, node: ast.Assign) -> None:
        """``TABLE[name] = kind`` in a function that was given the kind registers it."""
        if isinstance(node.value, ast.Name) and node.value.id in self._given:
            tables = [chain_of(each.value) for each in node.targets if isinstance(each, ast.Subscript)]
            self._registries.update(chain[0] for chain in tables if len(chain) == 1 and not self._is_local(chain[0]))
        self._node(node)

    def _expression(self, node: ast.Expr) -> None:
        """``TABLE.append(value)`` as a statement adds to a table; it does not read it."""
        call = node.value
        chain = chain_of(call.func) if isinstance(call, ast.Call) else ()
        if isinstance(call, ast.Call) and len(chain) == 2 and not self._is_local(chain[0]):
            self._out.append("Expr(Call(")
            self._chain(chain, written=True)
            self.write([*call.args, *call.keywords])
            self._out.append("))")
        else:
            self._node(node)

    def _call(self, node: ast.Call) -> None:
        """``import_module("helper")`` is an import, and ``getattr(data, name)`` may ask for anything."""
        called = (chain_of(node.func) or ("",))[-1]
        texts = [each.value for each in node.args if isinstance(each, ast.Constant) and isinstance(each.value, str)]
        if called in _IMPORTING:
            self._modules.update(texts[:1] or [ANY])
        elif called in _EVALUATING and not (called in _ASKING and node.args):
            self._words.add(ANY)
            self._modules.add(OWN)
        elif called in _ASKING and not texts:
            self._words.add(ANY)
        self._node(node)

    # --- values -----------------------------------------------------------------------------------

    def _constant(self, node: ast.Constant) -> None:
        value = node.value
        if isinstance(value, str):
            self._strings.add(value)
            if value.isidentifier():
                self._words.add(value)
            elif value.startswith("dpbench."):
                self._chain((MODULE_NAME, value))
                return
        self._out.append(ascii(value))

    def _joined(self, node: ast.JoinedStr) -> None:
        """Texts side by side as one: versions of Python cut them differently."""
        self._out.append("JoinedStr[")
        for is_constant, values in groupby(node.values, lambda each: isinstance(each, ast.Constant)):
            if is_constant:
                text = "".join(str(each.value) for each in values if isinstance(each, ast.Constant))
                self._strings.add(text)
                if text.startswith("dpbench."):
                    self._chain((MODULE_NAME, text.rstrip(".")))
                else:
                    self._out.append(ascii(text) if text else "")
            else:
                for each in values:
                    self.write(each)
        self._out.append("]")

    def _class_pattern(self, node: ast.MatchClass) -> None:
        self._words.update(node.kwd_attrs)
        self._node(node)

    _special: ClassVar[dict[type, Callable[[_Writer, Any], None]]] = {
        **dict.fromkeys(_FUNCTIONS, _function),
        **dict.fromkeys(_COMPREHENSIONS, _comprehension),
        ast.ClassDef: _class,
        ast.Name: _name,
        ast.Attribute: _attribute,
        ast.Subscript: _subscript,
        ast.Assign: _assignment,
        ast.Expr: _expression,
        ast.Call: _call,
        ast.Constant: _constant,
        ast.JoinedStr: _joined,
        ast.MatchClass: _class_pattern,
    }


def is_constant(node: ast.AST) -> bool:
    """An expression that is nothing but a value: a docstring, or ``...``."""
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _called(node: ast.AST) -> ast.AST:
    """What a decorator calls."""
    return node.func if isinstance(node, ast.Call) else node
