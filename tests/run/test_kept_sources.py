"""Hashes of our own code that were kept are those that would be made, and end with the files that they are of."""

from pathlib import Path

import numpy as np
import pytest

from dpbench import algorithms, fitted
from dpbench.datasets import shapes
from dpbench.run.code_hash import kept, sources
from dpbench.run.code_hash.sources import algorithm_source, definition_source


@pytest.fixture
def empty(tmp_path, monkeypatch):
    """A machine that has kept nothing; what this process knows is forgotten before and after."""
    monkeypatch.setenv("DPBENCH_CACHE", str(tmp_path / "cache"))
    kept._known.cache_clear()
    yield tmp_path
    kept._known.cache_clear()


def test_what_was_kept_is_what_would_be_made(empty, monkeypatch):
    """The second process makes nothing and says the same."""
    several = [algorithms.get(name).__class__ for name in ("Identity", "Uniform")]
    made = [algorithm_source(kind) for kind in several]
    weights = definition_source(shapes.find("bimodal").weights, shapes.probabilities)
    assert made == [sources._source((kind, *sources.RUNNER), sources._OURS) for kind in several]
    assert len(list((empty / "cache").iterdir())) == 1
    kept._known.cache_clear()
    monkeypatch.setattr(sources, "_source", lambda *_: pytest.fail("it was made again"))
    assert [algorithm_source(kind) for kind in several] == made
    assert definition_source(shapes.find("bimodal").weights, shapes.probabilities) == weights


def test_definitions_and_what_they_hold_have_keys_of_their_own(empty):
    """Two functions of one place with different values, and two shapes, are not confused."""
    found = {name: definition_source(shapes.find(name).weights) for name in ("bimodal", "spikes-10", "spikes-1")}
    assert len(set(found.values())) == 3
    del empty


def test_a_changed_file_ends_what_was_kept(tmp_path):
    """Any file of code below the folder, by its content and by its name."""
    (tmp_path / "inner").mkdir()
    (tmp_path / "inner" / "a.py").write_text("x = 1\n")
    first = kept.package_digest(tmp_path)
    (tmp_path / "inner" / "a.py").write_text("x = 2\n")
    second = kept.package_digest(tmp_path)
    (tmp_path / "inner" / "a.py").rename(tmp_path / "inner" / "b.py")
    assert len({first, second, kept.package_digest(tmp_path)}) == 3


def test_a_strangers_code_is_never_kept(empty):
    """It may change while the package does not."""

    class Mine(algorithms.get("Identity").__class__):
        name = "Mine"

    definition_source(Mine)
    assert not (empty / "cache").exists()


def test_a_damaged_or_unwritable_cache_costs_time_and_nothing_else(empty, monkeypatch):
    """Bytes that are no archive, the archive of another package, and a file in place of the folder."""
    kind = algorithms.get("Identity").__class__
    made = algorithm_source(kind)
    (path,) = (empty / "cache").iterdir()
    for content in (b"no", None):
        kept._known.cache_clear()
        if content is None:
            fitted.keep(path.stem, {"package": np.array("another"), "names": np.array("x"), "sources": np.array("y")})
        else:
            path.write_bytes(content)
        assert algorithm_source(kind) == made
    kept._known.cache_clear()
    Path(empty / "file").write_text("no folder")
    monkeypatch.setenv("DPBENCH_CACHE", str(empty / "file" / "cache"))
    assert algorithm_source(kind) == made
