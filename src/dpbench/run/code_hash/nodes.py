"""Definitions as nodes: what the code of each says, and which others it mentions.

A class is a node with members, each a node of its own. What importing a module does beyond defining is an effect on
other definitions: a registry gets its entries by decorators, by ``__init_subclass__`` or by statements.
"""

from __future__ import annotations

import ast
import builtins
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from hashlib import sha256

from dpbench.run.code_hash.modules import Library, Meaning, Module
from dpbench.run.code_hash.syntax import ANY, OWN, Piece, bound_names, chain_of

Address = tuple[Module, str]
"""A definition: its module and its name; an empty name is the whole module."""

HARMLESS = {"object", "abc.ABC", "typing.Protocol", "typing.Generic", "typing.NamedTuple"}
"""Bases from outside that call no method by a name of its own."""


@dataclass(eq=False)
class Node:
    """A definition, or a member of a class, as far as its own code goes."""

    own: str
    """Hash of its text, with what its names mean."""
    edges: tuple[Address, ...] = ()
    """What it mentions, in order."""
    read: frozenset[Address] = frozenset()
    """Those of them that it does not only add to."""
    words: frozenset[str] = frozenset()
    """Attributes that it mentions."""
    strings: frozenset[str] = frozenset()
    members: Mapping[str, tuple[ast.stmt, ...]] = field(default_factory=dict)
    """Of a class: the statements that count where their name is mentioned."""
    siblings: frozenset[str] = frozenset()
    """Of a class: the names that its body binds."""
    every: bool = False
    """Of a class: whether all members count."""
    loads: tuple[Module, ...] = ()
    """Modules that it imports when it runs."""


@dataclass(frozen=True)
class Effect:
    """Something that happens when a module is imported, and the definitions that it may change; none: no one's."""

    node: Address
    on: frozenset[Address]


class Nodes:
    """Definitions as nodes, each made once."""

    def __init__(self, library: Library, base: Nodes | None = None) -> None:
        self.library = library
        self._base = base
        self._nodes: dict[Address, Node] = {}
        self._members: dict[tuple[Module, str, str], Node] = {}
        self._effects: dict[Module, tuple[Effect, ...]] = {}
        self._imports: dict[Module, tuple[Module, ...]] = {}

    def of(self, module: Module) -> Nodes:
        """What keeps the nodes of a module: what is ours is kept for good."""
        return self._base if self._base is not None and module.home is None else self

    def node(self, address: Address) -> Node:
        """The node of a definition; "" is the whole module, "#n" its n-th effect, "@n" the lambdas in line n."""
        if address not in self._nodes:
            module, name = address
            if not name:
                edges = tuple((module, each) for each in sorted(module.parts.definitions))
                effects = tuple((module, f"#{number}") for number in range(len(module.parts.effects)))
                self._nodes[address] = Node(hashed("a module"), edges + effects, frozenset(edges))
            elif name.startswith("#"):
                self._nodes[address] = self._made(module, [module.parts.effects[int(name[1:])]], name, "")
            elif name.startswith("@"):
                self._nodes[address] = self._made(module, list(_lambdas(module, int(name[1:]))), name, "")
            else:
                self._nodes[address] = self._definition(module, name)
        return self._nodes[address]

    def _definition(self, module: Module, name: str) -> Node:
        statements = module.parts.definitions[name]
        classes = [each for each in statements if isinstance(each, ast.ClassDef)]
        if not classes:
            return self._made(module, statements, name, name)
        others = [each for each in statements if not isinstance(each, ast.ClassDef)]
        siblings = frozenset(bound for kind in classes for bound in bound_names(kind))
        members: dict[str, list[ast.stmt]] = {}
        fields: list[ast.AST] = []
        for statement in (each for kind in classes for each in kind.body):
            names = _member_names(statement)
            fields += [] if names else [_field(statement)]
            for each in names:
                members.setdefault(each, []).append(statement)
        pieces = [
            module.parts.piece((name, "head"), lambda: [*(each for kind in classes for each in _head(kind)), *others]),
            module.parts.piece((name, "fields"), lambda: fields, siblings),
        ]
        node = self._from(module, name, pieces)
        node.members, node.siblings = {each: tuple(found) for each, found in members.items()}, siblings
        bases = [base for kind in classes for base in kind.bases]
        node.every = module.home is not None or any(self._is_strange(module, base) for base in bases)
        return node

    def member(self, address: Address, name: str) -> Node:
        """The node of a member of a class."""
        key = (*address, name)
        if key not in self._members:
            module, owner = address
            kind = self.node(address)
            piece = module.parts.piece((owner, ".", name), lambda: kind.members[name], kind.siblings)
            self._members[key] = self._from(module, name, [piece])
        return self._members[key]

    def _made(self, module: Module, statements: Iterable[ast.AST], key: str, name: str) -> Node:
        return self._from(module, name, [module.parts.piece(key, lambda: statements)])

    def _from(self, module: Module, name: str, pieces: list[Piece]) -> Node:
        """A node from its pieces: every name in them is looked up."""
        tokens: list[str] = [name]
        edges: dict[Address, None] = {}
        read: set[Address] = set()
        words = {word for piece in pieces for word in piece.words}
        words -= {ANY} if module.home is None else set()  # our own code is watched by tests
        loads: list[Module] = []
        for piece in pieces:
            tokens.append(piece.text)
            for chain in piece.chains:
                meanings = self.library.meanings(module, chain, piece.imports)
                tokens += [".".join((each.token, *each.rest)) if each.module else each.token for each in meanings]
                for each in meanings:
                    words.update(each.rest)
                    if each.module is not None:
                        edges[each.module, each.name] = None
                        if chain not in piece.written or len(each.rest) != len(chain) - 1:
                            read.add((each.module, each.name))
            for imported in (each for several in piece.imports.values() for each in several):
                found = self.library.imported(module, imported)
                loads += [] if found is None else [found]
            edges.update(((found, ""), None) for found in self._by_text(module, piece.modules))
        strings = frozenset() if module.home is None else frozenset().union(*(piece.strings for piece in pieces))
        return Node(hashed(*tokens), tuple(edges), frozenset(read), frozenset(words), strings, loads=tuple(loads))

    def _by_text(self, module: Module, names: Iterable[str]) -> Iterator[Module]:
        """Modules that code imports by a text; all beside it where the text is not known."""
        for name in names:
            if name == OWN:
                yield from [] if module.home is None else [module]
            elif name != ANY:
                found = self.library.find(name.lstrip("."), module.home)
                if found is not None:
                    yield found
            elif module.home is not None:
                for path in sorted(module.home.folder.glob("*.py")):
                    yield self.library.open(path, module.home)

    def _is_strange(self, module: Module, base: ast.expr) -> bool:
        """Whether a base is from outside and may call methods by name."""
        chain = chain_of(base.value if isinstance(base, ast.Subscript) else base)
        meanings = self.library.meanings(module, chain, {}) if chain else [Meaning("?")]
        return any(each.module is None and not _is_harmless(each.token) for each in meanings)

    # --- what importing does ----------------------------------------------------------------------

    def imports(self, module: Module) -> tuple[Module, ...]:
        """The modules that are imported with a module."""
        if module not in self._imports:
            self._imports[module] = tuple(dict.fromkeys(self.library.imports(module)))
        return self._imports[module]

    def effects(self, module: Module) -> tuple[Effect, ...]:
        """What importing a module does beyond defining: statements, and definitions that register themselves."""
        if module not in self._effects:
            found = []
            for number in range(len(module.parts.effects)):
                address = module, f"#{number}"
                found.append(Effect(address, frozenset(self.node(address).edges)))
            for name, statements in module.parts.definitions.items():
                registries = frozenset(table for each in statements for table in self._registries(module, each))
                found += [Effect((module, name), registries)] if registries else []
            self._effects[module] = tuple(found)
        return self._effects[module]

    def _registries(self, module: Module, statement: ast.stmt) -> Iterator[Address]:
        """The tables that a definition enters itself into by its decorators or its bases."""
        for decorator in getattr(statement, "decorator_list", []):
            chain = chain_of(decorator.func if isinstance(decorator, ast.Call) else decorator)
            for meaning in self.library.meanings(module, chain, {}) if chain else []:
                if meaning.module is not None and meaning.rest:
                    yield meaning.module, meaning.name
                elif meaning.module is not None:
                    yield from self._added_to((meaning.module, meaning.name), set())
        if isinstance(statement, ast.ClassDef):
            for base in (*statement.bases, *(keyword.value for keyword in statement.keywords)):
                chain = chain_of(base)
                for meaning in self.library.meanings(module, chain, {}) if chain else []:
                    if meaning.module is not None and meaning.name and not meaning.rest:
                        yield from self._kept_by((meaning.module, meaning.name), set())

    def _added_to(self, address: Address, seen: set[Address]) -> Iterator[Address]:
        """The tables that a function adds to, itself or through others."""
        seen.add(address)
        node = self.of(address[0]).node(address)
        for edge in (each for each in node.edges if each not in seen):
            if edge not in node.read:
                yield edge
            yield from self._added_to(edge, seen)

    def _kept_by(self, address: Address, seen: set[Address]) -> Iterator[Address]:
        """The tables that a class adds others to: by ``__init_subclass__``, its own or a base's, or as a metaclass."""
        seen.add(address)
        nodes = self.of(address[0])
        node = nodes.node(address)
        for name in node.members.keys() & {"__init_subclass__", "__new__", "__init__"}:
            member = nodes.member(address, name)
            yield from (each for each in member.edges if each not in member.read)
        for edge in (each for each in node.edges if each not in seen):
            if self.of(edge[0]).node(edge).members:
                yield from self._kept_by(edge, seen)


def _member_names(statement: ast.stmt) -> set[str]:
    """The names under which a statement of a class body is a member; none for a field of a dataclass and for others."""
    if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return {statement.name}
    if isinstance(statement, ast.Assign) and all(isinstance(target, ast.Name) for target in statement.targets):
        return bound_names(statement)
    if isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
        return {statement.target.id} if _kind(statement.annotation) == "ClassVar" else set()
    return set()


def _field(statement: ast.stmt) -> ast.AST:
    """A field with what its annotation means to a dataclass, and nothing else of it."""
    if not isinstance(statement, ast.AnnAssign):
        return statement
    default = [] if statement.value is None else [statement.value]
    kind = ast.Constant(_kind(statement.annotation))
    return ast.Assign([statement.target], ast.Tuple([kind, *default], ast.Load()))


def _kind(annotation: ast.expr) -> str:
    """ClassVar, InitVar or KW_ONLY, which dataclasses look for; empty for any type."""
    text = annotation.value if isinstance(annotation, ast.Constant) else ast.unparse(annotation)
    found = re.match(r"(?:\w+\.)?(ClassVar|InitVar|KW_ONLY)\b", str(text))
    return found[1] if found else ""


def _head(kind: ast.ClassDef) -> Iterator[ast.AST]:
    """Decorators, bases and keywords of a class as statements that say what each is."""
    named = [("@", each) for each in kind.decorator_list] + [("", each) for each in kind.bases]
    for name, value in [*named, *((each.arg or "**", each.value) for each in kind.keywords)]:
        yield ast.Expr(ast.Tuple([ast.Constant(f"{name}="), value], ast.Load()))


def _lambdas(module: Module, line: int) -> Iterator[ast.AST]:
    """Functions without a name that begin in a line."""
    for statement in dict.fromkeys(each for several in module.parts.definitions.values() for each in several):
        for inner in ast.walk(statement):
            if isinstance(inner, ast.Lambda) and inner.lineno == line:
                yield ast.Expr(inner)


def _is_harmless(token: str) -> bool:
    kind = getattr(builtins, token, None)
    return token in HARMLESS or (isinstance(kind, type) and issubclass(kind, BaseException))


def hashed(*parts: str) -> str:
    """Hash of several texts in order."""
    return sha256("\x1f".join(parts).encode("utf-8", "surrogatepass")).hexdigest()
