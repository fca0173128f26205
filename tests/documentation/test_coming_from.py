"""Names of 0.1: an old one ends in a message that says the new one, and the new ones are there."""

import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

import dpbench as dpb
from dpbench.privacy import NoNoise, PrivateData

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "coming-from-0.1.md").read_text()


@pytest.mark.parametrize(("old", "new"), dpb._MOVED.items())
def test_a_module_of_before_is_answered_with_its_new_place(old, new):
    """By import, by import of a part of it, and as an attribute of the package."""
    words = f"dpbench.{new}"
    import_module(words)
    for name in (old, f"{old}.something"):
        with pytest.raises(ModuleNotFoundError, match=f"dpbench.{old} is {words} since 0.2"):
            import_module(f"dpbench.{name}")
    with pytest.raises(AttributeError, match=f"since 0.2 it is {words}"):
        getattr(dpb, old)
    assert f"`dpbench.{old}" in PAGE or f"`dpb.{old}`" in PAGE


def test_a_method_of_before_is_answered_with_its_new_name():
    """Of algorithms, of the handle and of tasks; other attributes are missing in Python's words."""
    handle = PrivateData.open([1, 2], 1, NoNoise(1))
    old = ((dpb.algorithms.get("Hb"), "release"), (handle, "buy_scale"), (dpb.RANGE_1D, "to_toml"))
    for owner, name in old:
        with pytest.raises(AttributeError, match=rf"\w+\.{name} is .* since 0.2"):
            getattr(owner, name)
        assert f".{name}(" in PAGE
        assert not hasattr(owner, f"{name}s")


def test_a_module_that_never_was_is_reported_by_python():
    """The messages are about names of 0.1 alone."""
    with pytest.raises(ModuleNotFoundError, match="No module named 'dpbench.nothing'"):
        import_module("dpbench.nothing")


@pytest.mark.parametrize(
    ("line", "whole"),
    [("run demo --alg Hb", "--algorithm"), ("run demo --dom 64", "--domain"), ("paper --stud x", "--study")],
)
def test_an_abbreviated_option_is_answered_with_the_whole_one(line, whole):
    command = [sys.executable, "-m", "dpbench", *line.split()]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert f"did you mean {whole}?" in done.stderr


def test_the_versions_agree():
    """Of the package, the distribution and the citation; the changelog begins with it."""
    assert f'\nversion = "{dpb.__version__}"\n' in (ROOT / "pyproject.toml").read_text()
    assert f"\nversion: {dpb.__version__}\n" in (ROOT / "CITATION.cff").read_text()
    assert f"\n## {dpb.__version__}\n" in (ROOT / "CHANGELOG.md").read_text()
