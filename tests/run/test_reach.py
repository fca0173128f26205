"""What somebody's own algorithm depends on: its class, what that uses beside it, and the files that it names."""

import pytest

from dpbench.plugins import load_class
from dpbench.run.code_hash import sources
from dpbench.run.code_hash.modules import OURS, Library
from dpbench.run.code_hash.nodes import Nodes
from dpbench.run.code_hash.reach import Reach
from dpbench.run.code_hash.sources import algorithm_source, definition_source

MINE = '''\
"""Mine."""
from dataclasses import dataclass
import numpy as np
import dpbench as dpb
{head}

@dataclass(frozen=True, kw_only=True)
class Mine(dpb.Algorithm):
    """Mine."""

    name = "Mine"
    width: int = 3

    def estimate(self, data, workload):
        return {result}
'''


@pytest.fixture
def source(tmp_path):
    """The source of Mine with files beside it."""

    def of(files, head="", result="0"):
        (tmp_path / "mine.py").write_text(MINE.format(head=head, result=result))
        for name, text in files.items():
            path = tmp_path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        return algorithm_source(load_class(f"{tmp_path / 'mine.py'}:Mine"))

    return of


REGISTRY = """
TABLE = {}

def register(kind):
    if kind.__name__ in TABLE:
        raise ValueError(TABLE.get(kind.__name__))
    TABLE[kind.__name__] = kind
    return kind
"""
BASE = """
KINDS = {}

class Base:
    def __init_subclass__(cls):
        name = vars(cls).get("name", cls.__name__)
        KINDS[name] = cls if KINDS.get(name) is None else None
        KINDS[name] = cls
"""
DISPATCHED = """
from functools import singledispatch

@singledispatch
def f(x): return 0

@f.register
def _(x: int): return {}
"""

USED = {
    "a constant of a module": ("import helper", "helper.F", {"helper.py": "F = {}"}),
    "a constant by name": ("from helper import F", "F", {"helper.py": "F = {}"}),
    "an alias": ("from helper import F as G", "G", {"helper.py": "F = {}"}),
    "a relative import": ("from .helper import F", "F", {"helper.py": "F = {}"}),
    "an import inside a function": ("", "__import__('helper').F", {"helper.py": "F = {}"}),
    "a late import": ("def late():\n    from helper import F\n    return F\n", "late()", {"helper.py": "F = {}"}),
    "what a module beside imports": (
        "from helper import f",
        "f()",
        {"helper.py": "from inner import G\ndef f(): return G", "inner.py": "G = {}"},
    ),
    "a package beside": ("import tools.deep", "tools.deep.F", {"tools/__init__.py": "", "tools/deep.py": "F = {}"}),
    "a package without a file": ("from tools import deep", "deep.F", {"tools/deep.py": "F = {}"}),
    "a relative import in a package": (
        "from tools import f",
        "f",
        {"tools/__init__.py": "from .deep import f", "tools/deep.py": "from ..root import f", "root.py": "f = {}"},
    ),
    "everything of a module": ("from helper import *", "F", {"helper.py": "F = {}"}),
    "one of two imports": (
        "try:\n    from fast import F\nexcept ImportError:\n    from slow import F",
        "F",
        {"slow.py": "F = {}"},
    ),
    "a table of functions": (
        "from helper import TABLE",
        "TABLE['f']()",
        {"helper.py": "def f(): return {}\nTABLE = {{'f': f}}"},
    ),
    "an entry by a statement": ("import helper", "helper.TABLE", {"helper.py": "TABLE = {{}}\nTABLE['a'] = {}"}),
    "an entry by a method": ("import helper", "helper.TABLE", {"helper.py": "TABLE = []\nTABLE.append({})"}),
    "what a decorator registers": (
        "import kinds\nfrom registry import TABLE",
        "TABLE['f']()",
        {
            "registry.py": REGISTRY.replace("{", "{{").replace("}", "}}"),
            "kinds.py": "import registry\n@registry.register\ndef f(): return {}",
        },
    ),
    "what a base registers": (
        "import kinds\nfrom base import KINDS",
        "KINDS['A'].f",
        {
            "base.py": BASE.replace("{", "{{").replace("}", "}}"),
            "kinds.py": "from base import Base\nclass A(Base):\n    f = {}",
        },
    ),
    "a base class": (
        "from helper import Base\nclass Other(Base): pass",
        "Other().f()",
        {"helper.py": "class Base:\n    def f(self): return {}"},
    ),
    "a method that a base calls by a computed name": (
        "from helper import A",
        "A().call('f')",
        {"helper.py": "class A:\n    def call(self, x): return getattr(self, '_' + x)()\n    def _f(self): return {}"},
    ),
    "a function by a computed name": (
        "from helper import f",
        "f('g')",
        {"helper.py": "def f(x): return globals()[x]()\ndef g(): return {}"},
    ),
    "a keyword of a class": (
        "from helper import A",
        "A.x",
        {"helper.py": "class B:\n    def __init_subclass__(cls, x): cls.x = x\nclass A(B, x={}): pass"},
    ),
    "a decorator": ("from helper import d\n@d\ndef f(): return 1", "f()", {"helper.py": "def d(f): return lambda: {}"}),
    "a default": ("from helper import F\ndef f(x=F): return x", "f()", {"helper.py": "F = {}"}),
    "a dispatched function": (
        "import helper",
        "helper.f(1)",
        {"helper.py": DISPATCHED},
    ),
    "what importing does": ("import helper", "0", {"helper.py": "print({})"}),
    "a file beside": ("TABLE = 'table.txt'", "open(TABLE)", {"table.txt": "{}"}),
    "a file in a folder": ("", "open('data/table.txt')", {"data/table.txt": "{}"}),
    "a file in a folder, in parts": ("from pathlib import Path", "Path('data', 'table.txt')", {"data/table.txt": "{}"}),
    "a file that a module beside names": (
        "import helper",
        "helper.f()",
        {"helper.py": "def f(): return open('t.txt')", "t.txt": "{}"},
    ),
}
"""The head of mine.py, what its method returns, and the files beside it; {} is what changes."""


@pytest.mark.parametrize("what", USED)
def test_what_is_used_counts(what, source):
    """A change beside the file is a change of the algorithm."""
    head, result, files = USED[what]
    found = [source({name: text.format(value) for name, text in files.items()}, head, result) for value in (1, 2, 1)]
    assert found[0] != found[1]
    assert found[0] == found[2]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("", "def unused():\n    return 1"),
        ("", "class Other(dpb.Algorithm):\n    name = 'Other'"),
        ("", "X = 1  # nobody asks"),
        ("", "if __name__ == '__main__':\n    print(1)"),
        ("", "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import nothing"),
        ("import helper", "import helper as other"),
    ],
)
def test_what_is_not_used_does_not_count(before, after, source):
    """Neither in the file itself nor beside it."""
    beside = {"helper.py": "F = 1\ndef unused(): return 1", "other.txt": "1"}
    changed = {"helper.py": "F = 1\ndef unused(): return 2", "other.txt": "2", "more.py": "X = 1"}
    assert source(beside, before) == source(changed, after)


@pytest.mark.parametrize("after", ["Mine.estimate = lambda *_: 1", "setattr(Mine, 'width', 4)", "Mine.width += 1"])
def test_what_is_done_to_the_class_counts(after, source, tmp_path):
    """A statement after the class that changes it."""
    before = source({})
    path = tmp_path / "mine.py"
    path.write_text(f"{path.read_text()}\n\n{after}\n")
    assert algorithm_source(load_class(f"{path}:Mine")) != before


def test_the_folder_does_not_count(source, tmp_path):
    """The same files elsewhere are the same algorithm."""
    files = {"helper.py": "F = 1", "table.txt": "1"}
    before = source(files, "from helper import F", "F, open('table.txt')")
    moved = tmp_path.with_name(f"{tmp_path.name}-moved")
    tmp_path.rename(moved)
    assert algorithm_source(load_class(f"{moved / 'mine.py'}:Mine")) == before


def test_two_definitions_of_one_name_are_not_confused(source):
    """Which of two functions is called counts, even where both are used."""
    files = {"a.py": "def f(): return 1", "b.py": "def f(): return 2"}
    head = "import a, b\ndef one(): return {}.f()\ndef two(): return {}.f()"
    found = {source(files, head.format(*order), "one() - two()") for order in (("a", "b"), ("b", "a"))}
    assert len(found) == 2


def test_a_package_that_is_imported_counts_by_its_own_modules(tmp_path, monkeypatch):
    """An algorithm of a distribution: what it uses of its own package, and not what others installed."""
    package = tmp_path / "theirs"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "inner.py").write_text("x = 1")
    (package / "mine.py").write_text(MINE.format(head="from theirs import inner", result="inner.x"))
    monkeypatch.syspath_prepend(tmp_path)
    import theirs.mine

    before = algorithm_source(theirs.mine.Mine)
    (package / "inner.py").write_text("x = 2")
    assert algorithm_source(theirs.mine.Mine) != before


def test_functions_without_a_name_and_with_values():
    """A lambda is found by its line; a function made by another counts with what it was made with."""
    one, other = (lambda x: x + 1), (lambda x: x + 2)

    def made(value):
        return lambda: value

    assert definition_source(made(1)) != definition_source(made(2))
    assert definition_source(one) == definition_source(other)  # both are this test


class TestOurs:
    """In a package of our own the members of a class count by name, and a registry by being read."""

    @pytest.fixture
    def digest(self, tmp_path):
        def of(files, root="thing.Thing"):
            for name, text in {"__init__.py": "", **files}.items():
                (tmp_path / "dpbench").mkdir(exist_ok=True)
                (tmp_path / "dpbench" / name).write_text(text)
            nodes = Nodes(Library(tmp_path / "dpbench"))
            module, name = root.split(".")
            return Reach(nodes, [(nodes.library.find(f"dpbench.{module}", None), name)]).digest

        return of

    HANDLE = "class Handle:\n    x: int = 1\n    def ask(self): return self._inner\n    def shout(self): return {}\n"
    HANDLE += "    @property\n    def _inner(self): return 1\n    def __len__(self): return 1\n"

    @pytest.mark.parametrize(
        ("asked", "counts"),
        [("ask", False), ("shout", True), ("ask(), getattr(h, 'shout')", True), ("ask(), h.x", False)],
    )
    def test_a_member_counts_where_its_name_is_mentioned(self, asked, counts, digest):
        thing = (
            f"from dpbench.handle import Handle\nclass Thing:\n    def __call__(self): h = Handle(); return h.{asked}()"
        )
        found = {digest({"thing.py": thing, "handle.py": self.HANDLE.format(value)}) for value in (1, 2)}
        assert (len(found) == 2) is counts

    @pytest.mark.parametrize(("reads", "counts"), [("TABLE['other']", True), ("other", False)])
    def test_what_is_registered_counts_where_the_registry_is_read(self, reads, counts, digest):
        """One of a table's entries does not depend on the others by being in it."""
        head = "from dpbench.table import TABLE, register\n"
        kinds = "@register\ndef other(): return 0\n\n@register\ndef more(): return {}\n\n"
        thing = f"class Thing:\n    def __call__(self): return {reads}"
        found = {digest({"table.py": REGISTRY, "thing.py": head + kinds.format(value) + thing}) for value in (1, 2)}
        assert (len(found) == 2) is counts

    def test_a_subclass_does_not_depend_on_its_siblings(self, digest):
        """Though the base keeps a list of all of them."""
        head = "from dpbench.base import Base\nclass Thing(Base):\n    pass\n\nclass More(Base):\n    x = "
        found = {digest({"base.py": BASE, "thing.py": f"{head}{value}"}) for value in (1, 2)}
        assert len(found) == 1

    def test_all_members_count_where_a_base_from_outside_may_call_them(self, digest):
        """A visitor is called by names that nobody mentions."""
        kind = "import ast\nclass Thing(ast.NodeVisitor):\n    def visit_Name(self, node): return {}"
        assert digest({"thing.py": kind.format(1)}) != digest({"thing.py": kind.format(2)})


@pytest.mark.parametrize(("asked", "counts"), [("data.laplace", False), ("getattr(data, f'{self.name}')", True)])
def test_whoever_may_ask_for_anything_depends_on_everything(asked, counts, source, monkeypatch):
    """An attribute by a computed name could be any verb of the handle."""
    before = source({}, result=asked)
    text = (OURS / "privacy" / "data.py").read_text()
    changed = text.replace("    def forfeit(", "    def shout(self):\n        return self\n\n    def forfeit(")
    ours = Library()
    monkeypatch.setattr(
        ours, "read", lambda path: changed.encode() if path.name == "data.py" else Library.read(ours, path)
    )
    monkeypatch.setattr(sources, "_OURS", Nodes(ours))
    assert (source({}, result=asked) != before) is counts
