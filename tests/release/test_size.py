"""What a release will take, said and insisted on before the charge; and its steps while it takes that."""

import itertools
import tomllib

import pytest

import dpbench as dpb
import dpbench.release.publishing as publishing
from dpbench import progress
from dpbench.cli import main
from dpbench.given import MEMORY
from dpbench.releasable import RELEASED
from dpbench.release import algorithms, check, publish, size
from release.office import office


def charges(folder):
    return tomllib.loads((folder / "people.budget.toml").read_text()).get("charge", [])


def never(*given, **named):
    raise AssertionError("work was begun")


def test_every_algorithm_has_numbers_of_its_own():
    """A new one is measured before it can be released."""
    assert set(size.PER_CELL) == set(RELEASED)


@pytest.mark.parametrize("more", [[], ["--check"]])
def test_a_release_beyond_the_memory_is_refused_before_any_work(more, tmp_path, capsys, monkeypatch):
    """In one line with the estimate; nothing is rehearsed, and nothing charged."""
    monkeypatch.delenv(MEMORY, raising=False)
    monkeypatch.setattr(size, "available", lambda: 3e8)
    for step in ("chosen", "count_rows", "draw", "charge"):
        monkeypatch.setattr(publishing, step, never)
    spec = office(tmp_path, bins=2**21)
    assert main(["release", str(spec), *more]) == 1
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    assert "GB of memory, and 0.3 GB are free; nothing was charged; take fewer bins, or set DPBENCH_MEMORY" in said
    assert not charges(tmp_path)


def test_a_user_says_what_memory_a_release_may_take(tmp_path, monkeypatch):
    """More than is free, or less."""
    large = size.size_of(dpb.Domain.of(2**21), "Hb")
    monkeypatch.setattr(size, "available", lambda: 3e8)
    monkeypatch.setenv(MEMORY, "64")
    size.insist_on_memory(large)
    monkeypatch.setattr(size, "available", lambda: 64e9)
    monkeypatch.setenv(MEMORY, "0.1")
    with pytest.raises(dpb.errors.ReleaseRefused, match="the limit is 0.1 GB.*nothing was charged"):
        size.insist_on_memory(large)
    monkeypatch.delenv(MEMORY)
    size.insist_on_memory(large)


def test_a_small_release_is_never_refused_for_memory(monkeypatch):
    """The estimate is no better than that."""
    monkeypatch.setattr(size, "available", lambda: 1.0)
    size.insist_on_memory(size.size_of(dpb.Domain.of("1024x1024"), "TopDown"))


def test_a_container_has_the_memory_that_it_is_given(tmp_path, monkeypatch):
    """What files take in its memory can be had back."""
    monkeypatch.delenv(MEMORY, raising=False)
    for name, content in [("max", "1000\n"), ("current", "600\n"), ("stat", "anon 1\ninactive_file 50\n")]:
        (tmp_path / f"memory.{name}").write_text(content)
    monkeypatch.setattr(size, "GROUP", tmp_path)
    assert size.available() == 450
    (tmp_path / "memory.max").write_text("max\n")
    assert size.available() != 450


def test_the_study_is_not_asked_about_more_cells_than_it_can_know(monkeypatch):
    """It has none of such domains, and the search for what else is known would take all of the memory."""
    monkeypatch.setattr(algorithms, "recommend", never)
    for name in ("Identity", "AHP"):
        given = {"epsilon": "1/2", "algorithm": name, "records": 1000}
        spec = dpb.tables.read_spec({**given, "columns": {"a": {"low": 0, "high": 1, "bins": 2**20 + 1}}})
        assert algorithms.chosen(spec) == (dpb.algorithms.get(name), ())


STEPS = [
    "choosing the algorithm",
    "rehearsing on an empty table",
    "stating the error",
    "reading the table",
    "drawing noise",
    "making the files",
    "writing the files",
]


@pytest.fixture
def slow(monkeypatch):
    """Hb takes half an hour for 16 cells, by a clock that runs fast."""
    monkeypatch.setitem(size.PER_CELL, "Hb", (1.2e8, 100))
    monkeypatch.setattr(progress.time, "monotonic", itertools.accumulate(range(10**6)).__next__)


def test_a_long_release_names_its_steps(slow, tmp_path, capsys):
    """Its estimate before the charge, then a line for each step; the same for any rows, and none where it is quiet."""
    said = []
    for rows in (0, 1, 5000):
        spec = office(tmp_path, budget="50", rows=rows)
        assert main(["release", str(spec)]) == 0
        said.append(capsys.readouterr().err)
    assert len(set(said)) == 1
    first, *steps = said[0].splitlines()
    assert first.startswith("a release of 16 cells takes about 32 min and 0.3 GB of memory, besides the reading of")
    assert steps == [f"{name} (step {number} of 7)" for number, name in enumerate(STEPS, start=1)]
    for arguments in (["--quiet"], ["--check", "--quiet"]):
        assert main(["release", str(spec), *arguments]) == 0
        assert capsys.readouterr().err == ""
    publish(spec)
    check(spec)
    assert capsys.readouterr().err == ""
    assert main(["release", str(spec), "--check"]) == 0
    assert capsys.readouterr().err.splitlines() == [first, *steps[:3]]


def test_a_short_release_says_nothing_but_its_line(tmp_path, capsys):
    """As most are."""
    assert main(["release", str(office(tmp_path))]) == 0
    assert capsys.readouterr().err == ""
