"""The reference pages name everything that there is to name."""

import re
from importlib import import_module
from pathlib import Path
from types import ModuleType

import pytest

import dpbench as dpb
from dpbench.results.results import COLUMNS
from dpbench.store.schema import arrow_schema
from dpbench.task.task import SETTINGS

DOCS = Path(__file__).parents[2] / "docs"


@pytest.fixture
def reference(monkeypatch):
    monkeypatch.syspath_prepend(str(DOCS))
    return import_module("reference_pages")  # "reference" is a package of the tests


def test_every_public_name_is_on_the_page(reference):
    """Those of the package, and those of each public module."""
    page = reference.api_page()
    modules = [name for name in dpb.__all__ if isinstance(getattr(dpb, name), ModuleType)]
    assert set(modules) == set(reference.TITLES)
    for name in dpb.__all__:
        if name not in modules and not name.startswith("__"):
            assert f"dpbench.{name}\n" in page
    for module in modules:
        for name in reference.public_names(getattr(dpb, module)):
            if not isinstance(getattr(getattr(dpb, module), name), ModuleType):
                assert f"dpbench.{module}.{name}" in page


def test_every_verb_of_the_handle_is_explained(reference):
    """A verb without a docstring would be missing from the page."""
    verbs = [name for name in vars(dpb.privacy.PrivateData) if not name.startswith("_")]
    assert all(getattr(dpb.privacy.PrivateData, name).__doc__ for name in verbs)


def test_every_key_and_column_is_on_the_page(reference):
    """With its meaning."""
    page = reference.format_page()
    meant = dict(re.findall(r"\* - ``([^`]+)``\n(?:     -\s*\S*\n)??     - *(\S.*)", page))
    for name in (*SETTINGS, *arrow_schema().names, *COLUMNS, "workloads", "datasets", "algorithms", "loss", "name"):
        assert f"``{name}``" in page, name
        assert meant.get(name), f"{name} has no meaning"
