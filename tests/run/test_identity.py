"""A built-in part is known by its revision, a plug-in by its files."""

import sys

import pytest

import dpbench as dpb
from dpbench import algorithms
from dpbench.errors import InvalidInput
from dpbench.plugins import load_class
from dpbench.run import identity
from dpbench.run.identity import algorithm_version, generator_version, loss_version, plugin_files, workload_version

MINE = """\
import dpbench as dpb
from pieces import noise
import other.deep

class Mine(dpb.Algorithm):
    name = "Mine"

    def estimate(self, data, workload):
        from later import FACTOR
        return FACTOR
"""
FILES = {
    "mine.py": MINE,
    "pieces/__init__.py": "",
    "pieces/noise.py": "from . import helper\nfrom .inner.deepest import X\n",
    "pieces/helper.py": "import math\n",
    "pieces/inner/__init__.py": "",
    "pieces/inner/deepest.py": "X = 1\n",
    "other/deep.py": "",
    "later.py": "FACTOR = 1\n",
    "unused.py": "",
    "pieces/unused.py": "",
    "notes.txt": "",
}
USED = sorted({*FILES} - {"unused.py", "pieces/unused.py", "notes.txt"})


@pytest.fixture
def mine(tmp_path):
    """The folder of a plug-in with what it imports and what it does not."""
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    return tmp_path


def version(folder):
    return algorithm_version(load_class(f"{folder}/mine.py:Mine"))


def test_built_in_parts_have_their_revision():
    """Names in the field's words, so that a store can be read."""
    assert algorithm_version(algorithms.ours()["MWEM*"]) == "MWEM*-r1"
    assert workload_version(dpb.workloads.Prefix) == "Prefix-r1"
    assert loss_version(dpb.loss.LOSSES["relative"]) == "r1"
    assert loss_version(dpb.loss.L2) == ""
    assert generator_version() == "generator-r1"


def test_a_raised_revision_is_another_version(monkeypatch):
    """And nothing else of a built-in class is: a message or a limit may change."""
    kind = algorithms.ours()["Hb"]
    monkeypatch.setattr(kind, "__doc__", "Another text.")
    assert algorithm_version(kind) == "Hb-r1"
    monkeypatch.setattr(kind, "revision", 2)
    assert algorithm_version(kind) == "Hb-r2"


def test_a_users_table_counts_and_a_file_of_the_package_does_not(tmp_path):
    """A trained table of parameters changes results; those that are shipped go with the revision."""
    kind = algorithms.ours()["AHP*"]
    table = tmp_path / "table.json"
    table.write_text("1")
    first = algorithm_version(kind, [str(table)])
    table.write_text("2")
    assert len({"AHP*-r1", first, algorithm_version(kind, [str(table)])}) == 3
    assert kind().files
    assert algorithm_version(kind, kind().files) == "AHP*-r1"


def test_the_files_of_a_plugin_are_those_that_it_imports(mine):
    """Directly or not, relatively or not, in a function too."""
    found = [path for path, _ in plugin_files(load_class(f"{mine}/mine.py:Mine"))]
    assert found == sorted(str((mine / name).resolve()) for name in USED)


@pytest.mark.parametrize("name", sorted(FILES))
def test_an_edit_counts_where_the_file_is_used(name, mine):
    """Another byte in any of them, and in no other."""
    before = version(mine)
    with (mine / name).open("a") as file:
        file.write("\n# another line\n")
    assert (version(mine) != before) == (name in USED)


def test_the_folder_does_not_count_and_the_version_of_the_package_does(mine, monkeypatch):
    """A plug-in may be moved."""
    before = version(mine)
    moved = mine.rename(mine.with_name("elsewhere"))
    assert version(moved) == before
    monkeypatch.setattr(identity, "__version__", "99")
    assert version(moved) != before


def test_an_installed_package_counts_as_a_whole(tmp_path, monkeypatch):
    """Whatever of it was imported by then."""
    folder = tmp_path / "their_package"
    (folder / "inner").mkdir(parents=True)
    (folder / "__init__.py").write_text("")
    (folder / "inner" / "__init__.py").write_text("import dpbench\nclass Theirs(dpbench.Algorithm):\n    name = 'T'\n")
    (folder / "lazy.py").write_text("X = 1\n")
    monkeypatch.syspath_prepend(tmp_path)
    from their_package.inner import Theirs  # type: ignore[import-not-found]

    before = algorithm_version(Theirs)
    (folder / "lazy.py").write_text("X = 2\n")
    assert algorithm_version(Theirs) != before
    for name in [each for each in sys.modules if each.startswith("their_package")]:
        del sys.modules[name]


LEAF = "X = 1\n"
CLASS = "import dpbench as dpb\nclass Mine(dpb.Algorithm):\n    name = 'Mine'\n"
OTHER_WAYS = {
    "a relative name given to a function": {
        "mine.py": f"import importlib\nX = importlib.import_module('.leaf', __package__).X\n{CLASS}",
        "leaf.py": LEAF,
    },
    "an import function": {"mine.py": f"X = __import__('leaf').X\n{CLASS}", "leaf.py": LEAF},
    "everything of a package": {
        "mine.py": f"from pieces import *\n{CLASS}",
        "pieces/__init__.py": "__all__ = ['leaf']\n",
        "pieces/leaf.py": LEAF,
    },
    "a class of a sibling": {"mine.py": "from leaf import Mine\n", "leaf.py": CLASS},
    "dots beyond the root": {
        "mine.py": f"try:\n    from {'.' * 99}leaf import X\nexcept ImportError:\n    from leaf import X\n{CLASS}",
        "leaf.py": LEAF,
    },
}


@pytest.mark.parametrize("files", OTHER_WAYS.values(), ids=OTHER_WAYS)
def test_other_ways_to_import_count_too(files, tmp_path):
    """An edit of what is imported counts, and one of a file that is not imported does not."""
    for name, text in {**files, "unused.py": ""}.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    before = version(tmp_path)
    (tmp_path / "unused.py").write_text("Y = 1\n")
    assert version(tmp_path) == before
    leaf = next(tmp_path.rglob("leaf.py"))
    leaf.write_text(f"{leaf.read_text()}Z = 1\n")
    assert version(tmp_path) != before


def test_two_files_of_one_name_are_told_apart(tmp_path):
    """Contents that change places are a change."""
    names = ("first", "second")
    (tmp_path / "mine.py").write_text(f"from first import leaf\nfrom second import leaf as other\n{CLASS}")
    for name in names:
        (tmp_path / name).mkdir()
        (tmp_path / name / "leaf.py").write_text(f"X = {name!r}\n")
    before = version(tmp_path)
    for name, other in zip(names, reversed(names), strict=True):
        (tmp_path / name / "leaf.py").write_text(f"X = {other!r}\n")
    assert version(tmp_path) != before


@pytest.mark.parametrize("name", ["Mine", "mine"])
def test_code_made_by_another_library_is_known_by_its_own_file_too(name, tmp_path, monkeypatch):
    """A class from a factory and a function in a decorator are defined in the library, and the numbers are not."""
    library, own = tmp_path / "library", tmp_path / "own"
    library.mkdir()
    own.mkdir()
    (library / "wrapping_library.py").write_text(
        "import dpbench as dpb\n"
        "def made(number):\n    class Made(dpb.Algorithm):\n        name = 'Made'\n    return Made\n"
        "def wrapped(function):\n"
        "    def inner(x, workload, epsilon, rng):\n        return function(x)\n    return inner\n"
    )
    monkeypatch.syspath_prepend(library)
    text = "import wrapping_library as w\nMine = w.made(NUMBER)\n@w.wrapped\ndef mine(x):\n    return x * NUMBER\n"

    def known(number):
        (own / "mine.py").write_text(text.replace("NUMBER", number))
        return algorithm_version(load_class(f"{own}/mine.py:{name}"))

    first = known("1")
    assert first == known("1") != known("2")
    with (library / "wrapping_library.py").open("a") as file:
        file.write("# another line\n")
    assert known("1") != first
    sys.modules.pop("wrapping_library")


def test_a_module_that_was_installed_without_a_package_does_not_count_what_lies_beside_it(tmp_path, monkeypatch):
    """Beside it is every other distribution, numpy included."""
    (tmp_path / "lonely_module.py").write_text(f"import numpy\nimport neighbour\n{CLASS}")
    (tmp_path / "neighbour.py").write_text("")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(identity, "get_path", lambda name: str(tmp_path))
    from lonely_module import Mine  # type: ignore[import-not-found]

    assert [path for path, _ in plugin_files(Mine)] == [str(tmp_path.resolve() / "lonely_module.py")]
    for name in ("lonely_module", "neighbour"):
        sys.modules.pop(name)


def test_code_in_no_file_is_refused():
    """A change of it would not show."""
    space = {"__name__": "nowhere", "dpb": dpb}
    exec("class Typed(dpb.Algorithm):\n    name = 'Typed'\n", space)  # noqa: S102  (as an interpreter would)
    with pytest.raises(InvalidInput, match="is in no file"):
        algorithm_version(space["Typed"])
