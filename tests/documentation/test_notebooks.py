"""The notebooks, one for each path of README, run from beginning to end without the paper's histograms."""

import json
from importlib import util
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
NOTEBOOKS = sorted((ROOT / "docs" / "notebooks").glob("*.ipynb"))


@pytest.fixture(scope="module")
def execute():
    """The module beside the notebooks."""
    spec = util.spec_from_file_location("execute_notebooks", ROOT / "docs" / "notebooks" / "execute.py")
    module = util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def read(path):
    return json.loads(path.read_text(encoding="utf-8"))


def test_every_path_of_readme_has_one():
    assert [path.stem for path in NOTEBOOKS] == ["choose", "compare", "publish"]
    readme = (ROOT / "README.md").read_text()
    index = (ROOT / "docs" / "index.md").read_text()
    assert all(f"(docs/notebooks/{path.name})" in readme for path in NOTEBOOKS)
    assert all(f"(notebooks/{path.name})" in index for path in NOTEBOOKS)


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs(execute, path, tmp_path, monkeypatch):
    """Every cell that shows something here shows something in the file: its outputs were kept."""
    monkeypatch.setenv("DPBENCH_DATA", str(tmp_path / "no histograms"))
    kept = read(path)
    again = execute.executed(kept, tmp_path)
    shows = [[output["output_type"] for output in cell.get("outputs", [])] for cell in again["cells"]]
    assert shows == [[output["output_type"] for output in cell.get("outputs", [])] for cell in kept["cells"]]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_is_one_that_jupyter_opens(path):
    """Version 4.5: cells with an identifier of their own, code cells with outputs and a count."""
    notebook = read(path)
    assert (notebook["nbformat"], notebook["nbformat_minor"]) == (4, 5)
    names = [cell["id"] for cell in notebook["cells"]]
    assert len(set(names)) == len(names)
    for cell in notebook["cells"]:
        wanted = {"cell_type", "id", "metadata", "source"}
        assert cell.keys() == wanted | ({"execution_count", "outputs"} if cell["cell_type"] == "code" else set())


def test_a_wrong_cell_fails(execute, tmp_path):
    with pytest.raises(ZeroDivisionError):
        execute.executed({"cells": [{"cell_type": "code", "source": ["1 / 0"]}]}, tmp_path)
    assert Path.cwd() != tmp_path
