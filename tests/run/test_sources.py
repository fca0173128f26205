"""A result depends on the definitions that it uses, and on nothing else."""

import ast
import json
import random
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from dpbench import algorithms, workloads
from dpbench.datasets import shapes
from dpbench.mathematics.p_identity_fit import fit_axis
from dpbench.mathematics.p_identity_known import SEARCH
from dpbench.run.code_hash import sources
from dpbench.run.code_hash.modules import OURS, Library
from dpbench.run.code_hash.nodes import Nodes
from dpbench.run.code_hash.reach import Reach
from dpbench.run.code_hash.sources import RUNNER, algorithm_source, definition_source, generator_source
from dpbench.run.data_vectors import draw_vector, drift_of, losses, shape_on

NAMES = algorithms.names()
RUNNERS_OWN = {
    "__init__.py": ("_Moved.find_spec",),  # says where a module of 0.1 is now
    "algorithm.py": {"Algorithm._refuse_unknown"},
    "algorithms/__init__.py": {"get", "ours_by_name"},
    "given.py": {"known"},
    "sibling_modules.py": None,
    "datasets/catalogue.py": {"fold"},
    "datasets/shapes.py": {"find", "get", "is_shape", "Shape.on", "<lambda>"},
    "mathematics/kernel_cache.py": None,
    "run/bench.py": None,
    "run/ledgers.py": None,
    "run/source_data.py": None,
    "run/units.py": None,
    "store/loss_versions.py": None,
    "store/setting_key.py": None,
    "plugins.py": None,
    "task/parts.py": None,
    "workloads/catalogue.py": {"build"},
}
"""What a run executes and no number depends on: finding things by name, keeping, timing and writing them down.

What is found is in the key of a result by name and content. A lambda is the formula of a shape, a dataset.
"""


class Edited(Library):
    """The package with some files changed."""

    def __init__(self, changes):
        super().__init__()
        assert [path for path in changes if not (self.ours / path).is_file()] == []
        self._changes = changes

    def read(self, path):
        change = self._changes.get(path.relative_to(self.ours).as_posix())
        return super().read(path) if change is None else change(super().read(path).decode()).encode()


@pytest.fixture
def edited(monkeypatch):
    """Sources as they would be with some files of the package changed: path to a function of the text."""

    def with_changes(changes):
        monkeypatch.setattr(sources, "_OURS", Nodes(Edited(changes)))

    return with_changes


def every_source():
    """The identity of everything: algorithms, their workloads, the generator, shapes."""
    found = {name: algorithm_source(algorithms.catalogue()[name]) for name in NAMES}
    for kind in (workloads.Prefix, workloads.RandomRange):
        found[kind] = definition_source(kind, *algorithms.catalogue().values(), *RUNNER, drift_of, losses)
    found["generator"] = generator_source.__wrapped__()
    return found | {
        name: definition_source(shape.weights, shapes.probabilities) for name, shape in shapes.SHAPES.items()
    }


def appended(more):
    return lambda text: f"{text}\n\n{more}\n"


def replaced(old, new):
    def change(text):
        assert old in text
        return text.replace(old, new)

    return change


UNUSED = {
    "a new workload": {
        "workloads/fixed.py": appended("class Halves(Workload):\n    name = 'Halves'\n    def ranges(self): return 1"),
        "workloads/catalogue.py": replaced("(Prefix, RandomRange,", "(Prefix, Halves, RandomRange,"),
        "workloads/__init__.py": replaced("import Identity, Prefix", "import Halves, Identity, Prefix"),
    },
    "an unused verb of the handle": {
        "privacy/data.py": replaced("    def forfeit(", "    def shout(self):\n        return self\n\n    def forfeit(")
    },
    "an unused method of all workloads": {
        "workloads/workload.py": replaced("    def norm(", "    def shout(self):\n        return self\n\n    def norm(")
    },
    "a new loss": {"loss.py": appended("class Relative:\n    def errors(self, answers):\n        return answers")},
    "a constant in the generator": {"generator.py": appended("SMALLEST_SCALE = 1")},
    "a new algorithm": {"algorithms/identity.py": appended("class Other(Identity):\n    name = 'Other'")},
    "a new shape": {"datasets/shapes.py": replaced("_ALL = (", "_ALL = (Shape('none', 1, '', _even),")},
    "the command line": {"cli/run.py": appended("X = 1"), "cli/store.py": appended("X = 1")},
    "stores and readings": {"store/store.py": appended("X = 1"), "results/reading.py": appended("X = 1")},
    "how units are run": {"run/bench.py": appended("X = 1"), "run/execution.py": appended("X = 1")},
    "an expected error": {"algorithms/hb.py": replaced("def measurement(self,", "def measurement(self, *more,")},
    "where an algorithm was published": {"algorithms/hb.py": replaced("VLDB", "PVLDB")},
    "docstrings": {"privacy/budget.py": replaced('"""One of ``parts``', '"""Any of ``parts``')},
    "annotations": {"privacy/noise.py": replaced("(seed: object) -> np.random.SeedSequence", "(seed: int) -> object")},
    "comments and layout": {"mathematics/cells.py": replaced("return counts", "# all\n        return (\n  counts)")},
    "aliases": {
        "mathematics/tree.py": lambda text: re.sub(
            r"\bnp\b", "numpy", text.replace("import numpy as np", "import numpy")
        )
    },
}
"""Changes that concern no number."""


@pytest.mark.parametrize("what", UNUSED)
def test_what_a_result_does_not_use_does_not_count(what, edited):
    """Every identity stays as it is."""
    before = every_source()
    edited(UNUSED[what])
    assert every_source() == before


@pytest.mark.parametrize(
    ("changes", "who"),
    [
        (
            {"mathematics/cells.py": replaced("sensitivity = 1", "sensitivity = 2")},
            {"Identity", "Privelet", "AHP", "AHP*", "DPCube"},
        ),
        ({"mathematics/kernels/haar.py": replaced("0.5", "0.25")}, {"Privelet"}),
        ({"mathematics/hilbert.py": appended("X = 1")}, set()),
        ({"repair/published.py": replaced("MWEM_ROUNDS", "MWEM_ROUNDS_")}, {"MWEM*"}),
        ({"privacy/data.py": replaced("def parts(", "def parts(self, *_):\n        pass\n\n    def old_parts(")}, None),
        ({"run/seeds.py": replaced("sha256", "sha512")}, set(NAMES)),
        ({"privacy/noise.py": replaced("PCG64DXSM", "PCG64")}, set(NAMES)),
    ],
)
def test_a_change_concerns_those_who_use_what_changed(changes, who, edited):
    """The algorithms that a change makes others, and no other ones; with None, some and not all."""
    before = every_source()
    edited(changes)
    after = every_source()
    changed = {name for name in NAMES if before[name] != after[name]}
    assert changed == who if who is not None else 0 < len(changed) < len(NAMES)


def test_algorithms_generator_and_shapes_have_different_sources():
    """Each counts for itself; shapes that are the same formula on a line and in the plane are one."""
    found = every_source()
    assert len({found[name] for name in NAMES}) == len(NAMES)
    assert found["spikes-10"] == found["sparse-2d-10"]
    assert len({found[name] for name in ("spikes-1", "spikes-10", "normal", "bimodal", "ridge")}) == 5
    assert found["generator"] not in {found[name] for name in NAMES}


def test_a_definition_may_move(tmp_path, monkeypatch):
    """Packages are renamed and definitions change files: every identity stays."""
    before = every_source()
    copy = tmp_path / "dpbench"
    shutil.copytree(OURS, copy, ignore=shutil.ignore_patterns("__pycache__", "*.parquet"))
    (copy / "mathematics" / "kernels").rename(copy / "mathematics" / "loops")
    (copy / "mathematics").rename(copy / "algebra")
    noise = (copy / "privacy" / "noise.py").read_text()
    (copy / "privacy" / "streams.py").write_text(noise)
    (copy / "privacy" / "noise.py").write_text("from dpbench.privacy.streams import *\n")
    for path in copy.rglob("*.py"):
        text = path.read_text().replace("dpbench.mathematics.kernels", "dpbench.mathematics.loops")
        path.write_text(text.replace("dpbench.mathematics", "dpbench.algebra"))
    monkeypatch.setattr(sources, "_OURS", Nodes(Library(copy)))
    assert every_source() == before


def test_a_file_of_an_algorithm_counts(tmp_path):
    """What an algorithm says it reads is part of it."""
    kind, table = algorithms.catalogue()["Identity"], tmp_path / "table.json"
    found = []
    for text in ("1", "2"):
        table.write_text(text)
        found.append(algorithm_source(kind, [str(table)]))
    assert len({*found, algorithm_source(kind)}) == 3


def test_strategies_on_the_disk_are_known_by_all_the_code_that_searches():
    """HDMM may not import what hashes code; the modules that it names are those of every definition that is reached."""
    nodes = Nodes(Library(base=sources._OURS.library), sources._OURS)
    addresses, words, _ = sources._roots([fit_axis], nodes)
    mathematics = OURS / "mathematics"
    found = {module.path.relative_to(OURS) for module, _ in Reach(nodes, addresses, words).reached}
    named = {(mathematics / f"{name.replace('.', '/')}.py").relative_to(OURS) for name in SEARCH}
    assert {path for path in found if path.parts[0] == "mathematics"} <= named


def test_nothing_is_imported_to_find_out_what_code_depends_on():
    """Compiled kernels take seconds to load."""
    code = (
        "import sys; from dpbench import algorithms; from dpbench.run.code_hash.sources import algorithm_source\n"
        "found = [algorithm_source(kind) for kind in algorithms.catalogue().values()]\n"
        "print('numba' in sys.modules, len(set(found)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == f"False {len(NAMES)}\n"


@pytest.fixture(scope="module")
def executed():
    """Whatever of the package a run of each algorithm executes, without what is the runner's own."""
    script = Path(__file__).with_name("traced.py")
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, check=True)
    return {
        name: [(path, qualified) for path, qualified in found if not _is_the_runners(path, qualified)]
        for name, found in json.loads(done.stdout).items()
    }


def test_every_function_that_is_executed_is_reached(executed):
    """Algorithms, kernels, mechanisms, workloads, losses, generator: in both forms, with little and much signal."""
    assert min(len(found) for found in executed.values()) > 60
    for name, found in executed.items():
        reached = _reached(sources._OURS, name)
        assert [each for each in found if each not in reached] == []


def test_a_change_of_what_is_executed_changes_the_hash(executed):
    """Functions drawn at random from all that are executed, each with a statement more."""
    pairs = sorted((path, qualified, name) for name, found in executed.items() for path, qualified in found)
    for path, qualified, name in random.Random(1).sample(pairs, 40):
        _check_mutant(path, qualified, name, definition_source(*_roots(name)))


@pytest.mark.slow
def test_a_change_of_anything_that_is_executed_changes_the_hash(executed):
    """All of them, for every algorithm."""
    for name, found in executed.items():
        before = definition_source(*_roots(name))
        for path, qualified in found:
            _check_mutant(path, qualified, name, before)


def _is_the_runners(path, qualified):
    known = RUNNERS_OWN.get(path, ())
    return qualified == "<module>" or known is None or qualified in known


def _roots(name):
    """Everything that the results of an algorithm depend on here."""
    drawn = [shapes.SHAPES[each].weights for each in ("bimodal", "spikes-10", "clusters")]
    measured = (losses, drift_of, shape_on, draw_vector, shapes.probabilities, *drawn)
    return algorithms.catalogue()[name], *RUNNER, workloads.Prefix, workloads.RandomRange, *measured


def _reached(ours, name):
    addresses, words, _ = sources._roots(_roots(name), Nodes(Library(base=ours.library), ours))
    reach = Reach(Nodes(Library(base=ours.library), ours), addresses, words)
    found = {(module.path.relative_to(OURS).as_posix(), owner) for module, owner in reach.reached}
    members = [
        (module.path.relative_to(OURS).as_posix(), f"{owner}.{member}")
        for (module, owner), several in reach.counted.items()
        for member in several
    ]
    return found | set(members)


def _check_mutant(path, qualified, name, before):
    ours = Nodes(Edited({path: lambda text: _mutated(text, qualified)}))
    after = sources._source(_roots(name), ours)
    assert after != before, f"{name} does not depend on {qualified} in {path}"


def _mutated(text, qualified):
    """The text with one more statement at the beginning of a function."""
    tree = ast.parse(text)
    found = tree
    for part in qualified.split("."):
        found = next(each for each in reversed(found.body) if getattr(each, "name", "") == part)
    found.body.insert(0, ast.parse("assert True").body[0])
    return ast.unparse(tree)
