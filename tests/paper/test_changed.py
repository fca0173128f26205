"""What the shipped study still proves: everything but what is listed as changed."""

import json
from dataclasses import replace
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import numpy as np
import pytest

from chaos.small import plan_file
from dpbench import algorithms
from dpbench.cli import main
from dpbench.errors import InvalidStore
from dpbench.paper import Study
from dpbench.paper.changed import Change, change_of, changes, read_changes
from dpbench.paper.rerun import compare_rerun
from dpbench.paper.study import FILES, shipped_file
from dpbench.results import Results
from dpbench.run.code_hash.sources import IDENTITY, algorithm_source
from paper.synthetic import flat, rows

SMALL = {"names": {1: ("Identity", "Hb", "MWEM")}, "dimensions": (1,), "scales": (1000,), "datasets": ("MEDCOST",)}
ENTRY = """
[[changed]]
algorithm = "Hb"
form = "published"
what = "draws"
why = "its root is measured"
"""


def test_what_is_listed_is_read():
    """Entries with four texts each, the file of the package among them."""
    assert read_changes("") == ()
    assert read_changes(ENTRY) == (Change("Hb", "published", "draws", "its root is measured"),)
    for change in changes():
        assert change.algorithm in algorithms.names()
        assert str(change).startswith(f"{change.algorithm} ({change.form}): its ")


def test_nothing_has_changed_since_the_shipped_study():
    """Whoever changes draws runs the rows of that form again before a release; until then, list it and mark this."""
    assert changes() == ()


@pytest.mark.parametrize(
    ("text", "cause"),
    [
        ("[[changed]]\nalgorithm = 'Hb'", "entry 1"),
        (ENTRY.replace("draws", "mood"), "what is one of draws, code, times"),
        (ENTRY.replace("published", "public"), "form is one of private, published"),
        (ENTRY.replace("its root is measured", ""), "entry 1"),
        (f"{ENTRY}more = 1", "entry 1"),
        ("name = 'x'", "'name'"),
        ("[[changed", "not valid TOML"),
    ],
)
def test_anything_else_is_refused(text, cause):
    """In one line."""
    with pytest.raises(InvalidStore, match=cause) as refused:
        read_changes(text)
    assert "\n" not in str(refused.value)


def test_what_is_listed_is_not_compared_and_is_told(tmp_path, monkeypatch, capsys):
    """A listed form is skipped with its reason; the same difference of another form is a failure."""
    before = rows(flat, **SMALL)
    different = [replace(row, l2=[value * 2 for value in row.l2]) for row in before]
    study = Study.of(Results._from_rows(before))
    names = sorted(row.algorithm for row in before)
    listed = read_changes(ENTRY)
    found = compare_rerun(study, Results._from_rows(different), listed)
    assert (found.same, [each.split()[0] for each in found.different]) == (0, [each for each in names if each != "Hb"])
    assert found.skipped == ((listed[0], 1),)
    Results._from_rows([row for row in different if row.algorithm == "Hb"]).write(tmp_path / "again.parquet")
    monkeypatch.setattr("dpbench.paper.Study.shipped", lambda: study)
    monkeypatch.setattr("dpbench.paper.changed.changes", lambda: listed)
    assert main(["paper", "--same", str(tmp_path / "again.parquet")]) == 0
    told = capsys.readouterr().out
    assert "1 settings were not compared: Hb (published): its errors differ, because its root is measured" in told
    monkeypatch.setattr("dpbench.paper.changed.changes", lambda: read_changes(ENTRY.replace("draws", "times")))
    assert main(["paper", "--same", str(tmp_path / "again.parquet")]) == 1


@pytest.mark.parametrize("name", FILES)
def test_the_shipped_rows_are_stamped_with_the_code_that_gives_them(name):
    """Every algorithm and form that is not listed; after a change: python -m benchmarks.restamp."""
    results = Results.read(shipped_file(name))
    if results.metadata["origin"].get("identity") != [IDENTITY]:
        pytest.skip(f"{name}.parquet has stamps of another kind; python -m benchmarks.restamp gives it those of today")
    columns = [results.columns[each].tolist() for each in ("algorithm", "variant", "parameters", "algorithm_source")]
    differing = []
    for algorithm, variant, parameters, stamp in sorted(set(zip(*columns, strict=True))):
        built = algorithms.get(algorithm, variant=variant, **json.loads(parameters))
        if not change_of(algorithm, variant, "draws", "code") and algorithm_source(type(built), built.files) != stamp:
            differing.append((algorithm, variant, parameters))
    assert differing == []


@pytest.fixture
def restamp():
    """``benchmarks/restamp.py``."""
    spec = spec_from_file_location("benchmarks_restamp", Path(__file__).parents[2] / "benchmarks" / "restamp.py")
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_a_study_is_stamped_where_a_slice_of_it_agrees(restamp, tmp_path, monkeypatch, capsys):
    """The stamp and its kind change, and nothing else; a form that gives other errors stops it unless it is listed."""
    monkeypatch.chdir(tmp_path)
    assert main(["run", plan_file(tmp_path), "--store", "s", "--jobs", "0", "--quiet"]) == 0
    whole = Results.open("s")
    old = replace(whole, columns={**whole.columns, "algorithm_source": whole.columns["algorithm_source"] * 0 + "x"})
    Path("study").mkdir()
    errors = whole.errors.copy()
    errors[whole.columns["algorithm"] == "Hb"] *= 2
    replace(old, errors=errors).write("study/part.parquet")
    before = Path("study/part.parquet").read_bytes()
    Path("before.parquet").write_bytes(before)
    command = ["--study", "study", "--settings", "2"]
    capsys.readouterr()
    assert restamp.main(command) == 1
    assert "Hb (private) gives other errors and is not listed" in capsys.readouterr().err
    assert Path("study/part.parquet").read_bytes() == before
    listed = read_changes(ENTRY.replace("published", "private"))
    monkeypatch.setattr(restamp, "change_of", lambda *given: change_of(*given, among=listed))
    assert restamp.main([*command, "--dry-run"]) == 0
    assert Path("study/part.parquet").read_bytes() == before
    assert restamp.main(command) == 0
    stamped = Results.read("study/part.parquet")
    assert stamped.metadata["origin"]["identity"] == [IDENTITY]
    for algorithm, stamp, true in zip(
        stamped.columns["algorithm"],
        stamped.columns["algorithm_source"],
        whole.columns["algorithm_source"],
        strict=True,
    ):
        assert stamp == ("x" if algorithm == "Hb" else true)
    assert np.array_equal(stamped.errors, errors.astype(np.float32))
    for column in set(stamped.columns) - {"algorithm_source"}:
        np.testing.assert_array_equal(stamped.columns[column], Results.read("before.parquet").columns[column])
