"""Examples in docstrings are executed, and print what they say."""

import doctest
from importlib import import_module
from pathlib import Path

import pytest

import dpbench

ROOT = Path(dpbench.__file__).parent
MODULES = sorted(
    ".".join(("dpbench", *path.relative_to(ROOT).with_suffix("").parts)).removesuffix(".__init__")
    for path in ROOT.rglob("*.py")
    if ">>> " in path.read_text(encoding="utf-8")
)
SHOWN = (
    "dpbench.algorithm.Algorithm.run",
    "dpbench.algorithms.get",
    "dpbench.datasets.shapes.get",
    "dpbench.datasets.table.from_table",
    "dpbench.generator.generate",
    "dpbench.loss.Loss",
    "dpbench.loss.scaled_error",
    "dpbench.results.results.Results.where",
    "dpbench.task.task.Task.replace",
    "dpbench.testing",
    "dpbench.workloads.fixed.Prefix",
)
"""What a newcomer meets first: each shows how it is called."""


@pytest.fixture
def losses(monkeypatch):
    """A loss that an example defines is gone when the example is over."""
    monkeypatch.setattr(dpbench.loss, "LOSSES", dict(dpbench.loss.LOSSES))


def examples(name):
    """The examples of a module, by where they stand."""
    return [each for each in doctest.DocTestFinder().find(import_module(name)) if each.examples]


@pytest.mark.usefixtures("losses")
@pytest.mark.parametrize("name", MODULES)
def test_examples_print_what_they_say(name):
    """Line by line, as at a prompt."""
    for example in examples(name):
        assert doctest.DocTestRunner().run(example).failed == 0, example.name


def test_what_a_newcomer_meets_first_has_an_example():
    """In its own docstring."""
    found = {each.name for name in MODULES for each in examples(name)}
    assert [name for name in SHOWN if name not in found] == []
