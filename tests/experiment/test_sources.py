import sys

import pytest

from dpbench import algorithms
from dpbench.experiment import sources
from dpbench.experiment.sources import algorithm_source, generator_source, modules_source
from dpbench.plugins import load_class

CODE = '''
"""A docstring."""
import dpbench as dpb

class Mine(dpb.Algorithm):
    """Another."""
    name = "Mine"
    limit = {limit}
'''


@pytest.fixture
def source(tmp_path):
    """The hash of a plug-in with some text."""

    def of(text):
        (tmp_path / "mine.py").write_text(text)
        return algorithm_source(load_class(f"{tmp_path / 'mine.py'}:Mine"))

    return of


def test_comments_docstrings_and_layout_do_not_count(source):
    """A source is what the code does."""
    assert source(CODE.format(limit=3)) == source(
        CODE.format(limit=3).replace("Another", "The same").replace("limit = 3", "limit  =  3  # three") + "\n\n"
    )


def test_a_changed_constant_is_another_source(source):
    """What the code does is in it."""
    assert source(CODE.format(limit=3)) != source(CODE.format(limit=4))


def test_what_an_algorithm_imports_is_part_of_it(source, tmp_path, monkeypatch):
    """A change in a module of the algorithm's own package changes its source."""
    package = tmp_path / "theirs"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "mine.py").write_text("from theirs import inner\n" + CODE.format(limit=3))
    monkeypatch.syspath_prepend(tmp_path)
    found = []
    for value in (1, 2):
        (package / "inner.py").write_text(f"x = {value}")
        import theirs.mine

        found.append(algorithm_source(theirs.mine.Mine))
    for name in [name for name in sys.modules if name.split(".")[0] == "theirs"]:
        del sys.modules[name]
    assert found[0] != found[1]


def test_algorithms_have_different_sources():
    """Each file of the catalogue counts for itself."""
    kinds = [type(algorithms.get(name)) for name in ("Identity", "Hb", "Uniform", "Privelet")]
    assert len({algorithm_source(kind) for kind in kinds}) == len(kinds)


def test_the_generators_source_does_not_depend_on_how_runs_are_executed():
    """Executors, stores and the command line may change without making results others."""
    assert generator_source() == modules_source(
        ["dpbench.experiment.vectors", "dpbench.experiment.seeds", "dpbench.generator", "dpbench.workloads"]
    )
    assert generator_source() != modules_source(["dpbench.experiment.bench"])


def test_the_hash_knows_nothing_of_the_version_of_python():
    """Fields that some versions of the syntax tree have and others lack leave no trace: this value is for all."""
    code = b"class A:\n    def f(self, x=f'{1:.2f}', *, y=None):\n        'doc'\n        return [*x, y]\n"
    assert sources._read(code)[0].startswith("170aea6579c44940")
