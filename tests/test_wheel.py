"""What is installed is what is here."""

import zipfile
from pathlib import Path

import pytest

wheel = pytest.importorskip("hatchling.builders.wheel", reason="hatchling is not installed (extra: dev)")
ROOT = Path(__file__).parents[1]


def test_the_wheel_holds_every_file_of_the_package(tmp_path):
    """Code, the page's scripts, trained tables, the shipped study, the marker of types; nothing else."""
    (built,) = wheel.WheelBuilder(str(ROOT)).build(directory=str(tmp_path), versions=["standard"])
    inside = {name for name in zipfile.ZipFile(built).namelist() if ".dist-info/" not in name}
    source = ROOT / "src"
    files = {path.relative_to(source).as_posix() for path in (source / "dpbench").rglob("*") if path.is_file()}
    assert inside == {name for name in files if "__pycache__" not in name}
    assert {
        "dpbench/page/browser/main.js",
        "dpbench/repair/trained/mwem.json",
        "dpbench/datasets/catalogue.toml",
        "dpbench/paper/data/published.parquet",
        "dpbench/py.typed",
    } <= inside
