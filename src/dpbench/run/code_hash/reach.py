"""What a definition depends on: every definition that its code mentions, and what those mention in turn.

The methods and attributes of a class of ours count where reached code mentions their names, so that a verb of the
handle counts for code that asks it; those of a stranger's class all count. A registry that is read brings along what is
registered in it. What is not sure is taken along.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cached_property
from hashlib import file_digest
from pathlib import Path

from dpbench.run.code_hash.modules import Module
from dpbench.run.code_hash.nodes import Address, Effect, Node, Nodes, hashed
from dpbench.run.code_hash.syntax import ANY

LONGEST = 200
"""Texts that are longer name no file."""


class Reach:
    """Everything that some definitions depend on."""

    def __init__(self, nodes: Nodes, roots: Iterable[Address], words: Iterable[str] = ()) -> None:
        self._nodes = nodes
        self.roots = tuple(dict.fromkeys(roots))
        self.reached: dict[Address, Node] = {}
        self.counted: dict[Address, dict[str, Node]] = {}
        """The members of each class that count."""
        self._words = set(words)
        self._waiting: dict[str, list[Address]] = {}
        self._read: set[Address] = set(self.roots)
        self._loaded: dict[Module, None] = {}
        self._queue: list[Node] = []
        for root in self.roots:
            self._take(root)
        self._settle()

    def _settle(self) -> None:
        """Follow everything until nothing is added."""
        for word in list(self._words):
            self._mention(word)
        done: set[Effect] = set()
        grown = True
        while grown:
            while self._queue:
                self._follow(self._queue.pop())
            pending = [each for module in self._loaded for each in self._nodes.of(module).effects(module)]
            due = [each for each in pending if each not in done and self._is_due(each)]
            done.update(due)
            for effect in due:
                self._take(effect.node)
            grown = bool(self._queue)

    def _take(self, address: Address) -> None:
        if address in self.reached:
            return
        node = self._nodes.of(address[0]).node(address)
        self.reached[address] = node
        self._load(address[0])
        self._queue.append(node)
        if node.members:
            self.counted[address] = {}
            for name in node.members:
                if node.every or self._words & {name, ANY} or (name.startswith("_") and name.endswith("_")):
                    self._count(address, name)
                else:
                    self._waiting.setdefault(name, []).append(address)

    def _count(self, address: Address, name: str) -> None:
        member = self._nodes.of(address[0]).member(address, name)
        self.counted[address][name] = member
        self._queue.append(member)

    def _mention(self, word: str) -> None:
        self._words.add(word)
        for name in list(self._waiting) if word == ANY else [word]:
            for address in self._waiting.pop(name, ()):
                self._count(address, name)

    def _follow(self, node: Node) -> None:
        self._read |= node.read
        for edge in node.edges:
            self._take(edge)
        for word in node.words - self._words:
            self._mention(word)
        for module in node.loads:
            self._load(module)

    def _load(self, module: Module) -> None:
        """Note that a module is imported, and with it what it imports."""
        waiting = [module]
        while waiting:
            each = waiting.pop()
            if each not in self._loaded:
                self._loaded[each] = None
                waiting += self._nodes.of(each).imports(each)

    def _is_due(self, effect: Effect) -> bool:
        """Whether something that importing does matters: a stranger's always, ours if what it changes is read."""
        module = effect.node[0]
        if module.home is not None:
            return True
        return bool(effect.on & self._read) if effect.on else any(reached is module for reached, _ in self.reached)

    # --- what it amounts to -----------------------------------------------------------------------

    @cached_property
    def digest(self) -> str:
        """A hash of everything reached, whatever modules it stands in.

        Every definition gets a colour from its own code, then again and again from its colour and those of what it
        mentions, until no two that were alike come apart: two definitions of one name are not confused.
        """
        colours = {address: node.own for address, node in self.reached.items()}
        inner = {
            (address, name): each.own for address, several in self.counted.items() for name, each in several.items()
        }
        classes = 0
        while len({*colours.values(), *inner.values()}) > classes:
            classes = len({*colours.values(), *inner.values()})
            members = {
                (address, name): hashed(each.own, *(colours[edge] for edge in each.edges))
                for address, several in self.counted.items()
                for name, each in several.items()
            }
            colours = {
                address: hashed(
                    node.own,
                    *(colours[edge] for edge in node.edges),
                    *(inner[address, name] for name in sorted(self.counted.get(address, ()))),
                )
                for address, node in self.reached.items()
            }
            inner = members
        roots = [colours[root] for root in self.roots]
        return hashed(*sorted(roots), "|", *sorted({*colours.values(), *inner.values()}), "|", *self._file_hashes())

    @property
    def files(self) -> set[Path]:
        """The files that are a stranger's own: those of code, and those that the code names."""
        modules = {module.path for module in self._loaded if module.home is not None and module.path.is_file()}
        return modules | {path for _, path in self._named_files()}

    def _file_hashes(self) -> list[str]:
        """Files that a stranger's code names: the text that names each, and the content."""
        return sorted({hashed(text, content_hash(path)) for text, path in self._named_files()})

    def _named_files(self) -> Iterator[tuple[str, Path]]:
        """Texts in a stranger's code that name a file, from the folder that the code is in or one that it names."""
        for folder, texts in self._texts_by_folder().items():
            for place in (folder, *(folder / text for text in texts if (folder / text).is_dir())):
                yield from ((text, place / text) for text in texts if (place / text).is_file())

    def _texts_by_folder(self) -> dict[Path, set[str]]:
        """What could be the name of a file, by the folder of the code that says so."""
        found: dict[Path, set[str]] = {}
        for address, node in self.reached.items():
            for each in (node, *self.counted.get(address, {}).values()):
                # "/table.json" is what an f-string leaves of a path
                texts = {text.lstrip("/") for text in each.strings if len(text) < LONGEST and text.isprintable()} - {""}
                if texts:
                    found.setdefault(address[0].path.parent, set()).update(texts)
        return found


def content_hash(path: str | Path) -> str:
    """Hash of a file."""
    with Path(path).open("rb") as file:
        return file_digest(file, "sha256").hexdigest()
