"""``dpbench report`` and ``dpbench figures`` from the shell."""

import json
from importlib import import_module

import pytest

from dpbench.cli import main
from dpbench.results import Results
from dpbench.store import Store
from page.study import HOSTILE, rows


@pytest.fixture
def store(tmp_path):
    made = Store(tmp_path / "store", create=True)
    made.append(rows(domains=("256",), datasets=("bimodal", "stairs"), variants=("published",)), "run")
    return str(made.folder)


def test_report_writes_one_page_and_names_it(store, tmp_path, capsys, monkeypatch):
    """One file, without any copy of a histogram at hand; private forms are refused where there are none."""
    monkeypatch.setenv("DPBENCH_DATA", str(tmp_path))
    monkeypatch.setattr("dpbench.gallery.make.examples", lambda **given: ())
    assert main(["report", store, "--out", str(tmp_path / "page"), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert [path.name for path in (tmp_path / "page").iterdir()] == ["index.html"]
    assert told == {"page": str(tmp_path / "page" / "index.html"), "bytes": told["bytes"]}
    assert main(["report", store, "--private", store, "--out", str(tmp_path / "page")]) == 2
    assert "give published results first, private ones second" in capsys.readouterr().err


def test_private_results_stand_beside_the_published_ones(store, tmp_path, monkeypatch):
    """Two stores, one page with both forms."""
    from dpbench.gallery import make

    other = Store(tmp_path / "other", create=True)
    other.append(rows(domains=("256",), datasets=("bimodal", "stairs"), variants=("private",)), "run")
    results = make._side_by_side(Results.open(store), Results.from_store(other))
    assert set(results.columns["variant"]) == {"published", "private"}


MINE = """\
from dataclasses import dataclass
import dpbench as dpb
from dpbench.mathematics.cells import Cells

@dataclass(frozen=True, kw_only=True)
class {name}(dpb.Algorithm):
    "Noisy cells."
    name = "{name}"
    exchangeable = True
    consistent = True
    def estimate(self, data, workload):
        {first}
        return data.laplace(Cells(data.domain), data.epsilon, "cells")
"""


@pytest.mark.slow
def test_an_algorithm_of_ones_own_is_told_like_the_others(tmp_path, monkeypatch):
    """Its card has a ledger and the audit's word; its noisy histograms come first. One that fails is told as that."""
    from dpbench.gallery import gallery_for

    monkeypatch.setenv("DPBENCH_DATA", str(tmp_path))
    (tmp_path / "mine.py").write_text(MINE.format(name="Mine", first=""))
    (tmp_path / "bad.py").write_text(MINE.format(name="Bad", first="raise KeyError('x')"))
    made = gallery_for(added=[f"{tmp_path / 'mine.py'}:Mine", f"{tmp_path / 'bad.py'}:Bad"])
    *others, mine, bad = made.algorithms
    assert all(card.catalogued for card in others)
    assert (mine.catalogued, mine.idea, [line.share for line in mine.ledger]) == (False, "Noisy cells.", [1.0])
    assert mine.audit.startswith("no leak found")
    assert (bad.catalogued, bad.ledger) == (False, ())
    assert bad.audit.startswith("failed")
    for example in made.examples:
        assert example.estimates[0].algorithm == "Mine"
        assert "Bad" not in {each.algorithm for each in example.estimates}


def test_shapes_of_a_study_are_told_of(tmp_path, monkeypatch):
    """A card and an example for each, only for those that the results have."""
    from dpbench.gallery import gallery_for

    monkeypatch.setenv("DPBENCH_DATA", str(tmp_path))
    monkeypatch.setattr(import_module("dpbench.gallery.histograms"), "locate", lambda dataset: None)
    made = gallery_for(names={"ridge", "bimodal", "MEDCOST", "mine.csv"})
    assert [each.name for each in made.datasets if not each.domain] == ["bimodal", "ridge"]
    assert [each.name for each in made.examples] == ["bimodal", "ridge"]


def test_the_study_of_the_package_is_shown_where_none_is_named(tmp_path, capsys, monkeypatch):
    """Without results the page is that of the package's study; private ones alone are refused."""
    monkeypatch.setattr("dpbench.gallery.make.gallery_for", lambda **given: None)
    assert main(["report", "--out", str(tmp_path / "page")]) == 0
    assert "which private algorithm for range queries?" in (tmp_path / "page" / "index.html").read_text()[:3000]
    assert main(["report", "--private", "x.parquet", "--out", str(tmp_path / "page")]) == 2
    assert "name those first" in capsys.readouterr().err


def test_tables_need_no_drawing_library(store, tmp_path, capsys):
    """All tables, named one per line."""
    assert main(["figures", store, "--out", str(tmp_path / "tables"), "--tables-only"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 18


def test_what_is_named_and_what_is_ones_own_is_always_drawn(store, tmp_path, capsys, monkeypatch):
    """By its name in any spelling; a name that the results do not hold is refused."""
    drawn = []
    monkeypatch.setattr("dpbench.page.figures", lambda *_, always, **__: drawn.append(always) or [], raising=False)
    (tmp_path / "mine.py").write_text(MINE.format(name="Mine", first="pass"))
    figures = ["figures", store, "--out", str(tmp_path / "figures")]
    assert main([*figures, "--with", "dawa", "--with", "Hb"]) == 0
    assert drawn == [{"DAWA", "Hb", HOSTILE}]
    for absent, name in (("SF", "SF"), (f"{tmp_path / 'mine.py'}:Mine", "Mine")):
        capsys.readouterr()
        assert main([*figures, "--with", absent]) == 2
        assert f"there is no algorithm in these results named '{name}'" in capsys.readouterr().err


def test_a_page_says_whether_its_advice_is_that_of_the_study(store, tmp_path, monkeypatch):
    """The recommender goes by the study of the package, which a page of other results does not show."""
    import dpbench.gallery.make as make

    shown = []
    monkeypatch.setattr(make, "gallery_for", lambda study, **_: shown.append(study))
    monkeypatch.setattr(make, "yardsticks", lambda _: {})
    monkeypatch.setattr(make, "page", lambda *_, **__: None)
    published, private = make.shipped_file("published"), make.shipped_file("private")
    opened = {each: lambda form=form: Results._from_rows(rows(domains=("256",), variants=(form,))) for form, each in
              (("published", published), ("private", private), ("published", store))}  # fmt: skip
    for path, beside in ((published, private), (store, private), (store, None), (private, None)):
        make.make_page(path, tmp_path, private=beside, opened=lambda path: opened[path]())
    assert shown == [True, False, False, True]


def test_a_folder_that_is_no_store_is_told_in_one_line(tmp_path, capsys):
    """Exit code 2 and one line."""
    assert main(["report", str(tmp_path), "--out", str(tmp_path / "page")]) == 2
    assert capsys.readouterr().err.count("\n") == 1
