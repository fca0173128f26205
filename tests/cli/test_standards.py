"""The options that say how errors are read, on every verb that reads results."""

import json
from dataclasses import replace

import pytest

from dpbench.cli import build_parser, main
from dpbench.results import Results
from dpbench.store import Store
from page.study import rows

VERBS = {
    "interpret": ["interpret", "x"],
    "figures": ["figures", "x", "--out", "y"],
    "report": ["report", "x", "--out", "y"],
    "principles": ["principles", "x"],
    "compare": ["compare", "m.py:M"],
}
OPTIONS = ["--loss", "L1", "--percentile", "90", "--alpha", "0.1", "--baseline", "Hb", "--baseline", "DAWA"]


@pytest.fixture
def store(tmp_path):
    made = Store(tmp_path / "store", create=True)
    made.append(rows(domains=("256",), datasets=("bimodal", "stairs"), variants=("private",)), "run")
    return str(made.folder)


@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_that_reads_results_has_the_options(verb):
    """The same five, with the same meaning."""
    chosen = build_parser().parse_args([*VERBS[verb], *OPTIONS, "--test", "paired"])
    assert (chosen.loss, chosen.percentile, chosen.alpha, chosen.test) == ("L1", 90.0, 0.1, "paired")
    assert chosen.baseline == ["Hb", "DAWA"]


@pytest.mark.parametrize(
    ("option", "value", "told"),
    [
        ("--percentile", "200", "give a number between 0 and 100"),
        ("--alpha", "0", "give a number between 0 and 1"),
        ("--baseline", "Nobody", "there is no algorithm in these results named 'Nobody'"),
        ("--test", "best", "there is no test named 'best'; known: unpaired, paired, blocked, percentile"),
        ("--loss", "log", "these results have errors of single trials by the loss L2"),
    ],
)
def test_a_bad_value_is_one_line(option, value, told, store, tmp_path, capsys, monkeypatch):
    """Exit code 2, whatever the verb; a loss that is not there is told with those that are."""
    monkeypatch.setenv("DPBENCH_DATA", str(tmp_path))
    out = ["--out", str(tmp_path / "out")]
    for command in (["interpret", store], ["figures", store, *out], ["report", store, *out], ["principles", store]):
        assert main([*command, option, value]) == 2
        shown = capsys.readouterr()
        assert shown.out == ""
        assert shown.err.count("\n") == 1
        assert told in shown.err


def test_rows_carry_the_standards_that_they_were_made_by(store, capsys):
    """Loss, percentile, level and test beside the numbers; paired is a test like the others."""
    command = ["interpret", store, "--json", "--percentile", "90", "--alpha", "0.1", "--baseline", "Hb"]
    assert main([*command, "--paired"]) == 0
    paired = capsys.readouterr().out
    assert main([*command, "--test", "paired"]) == 0
    assert capsys.readouterr().out == paired
    told = {what: found[0] for what, found in json.loads(paired).items()}
    assert (told["errors"]["loss"], told["errors"]["percentile_level"]) == ("L2", 90)
    assert (told["competitive"]["alpha"], told["competitive"]["test"], told["competitive"]["compared"]) == (
        0.1,
        "paired",
        5,
    )
    assert told["competitive"]["level"] == pytest.approx(0.1 / 4)
    assert (told["risk"]["test"], told["risk"]["percentile_level"]) == ("percentile", 90)
    assert (told["baselines"]["baseline"], told["baselines"]["alpha"], told["baselines"]["test"]) == (
        "Hb",
        0.1,
        "paired",
    )
    assert (told["regret"]["loss"], told["people"]["percentile_level"]) == ("L2", 90)


def test_tables_say_by_what_they_were_made(store, capsys):
    """Percentile, test, level and number of algorithms in the text."""
    assert main(["interpret", store, "--percentile", "90", "--alpha", "0.1", "--baseline", "Hb"]) == 0
    shown = capsys.readouterr().out
    for words in (
        "sd of one trial, 90th percentile",
        " p90 ",
        "competitive by the 90th percentile of the scaled L2 error",
        "among 5 algorithms; unpaired t-test, level 0.1/4",
        "mean scaled L2 error over that of Hb",
        "~ not significant at 0.1",
        "bad run: 90th percentile",
    ):
        assert words in shown
    assert "95th" not in shown
    assert main(["interpret", store, "--what", "baselines", "--algorithm", "DAWA"]) == 0
    assert "none of these is in the results" in capsys.readouterr().out


def test_figures_and_page_are_by_the_options(store, tmp_path, capsys, monkeypatch):
    """Captions of tables and the data of the page; values of the authors are L2 errors and fit no other loss."""
    monkeypatch.setenv("DPBENCH_DATA", str(tmp_path))
    monkeypatch.setattr("dpbench.gallery.make.gallery_for", lambda **given: None)
    opened = Results.open(store)
    both = replace(opened, losses={"L1": 2 * opened.errors})
    monkeypatch.setattr(Results, "open", classmethod(lambda *_, **__: both))
    options = ["--loss", "L1", "--alpha", "0.2", "--baseline", "DAWA"]
    assert main(["figures", store, "--tables-only", "--out", str(tmp_path / "f"), *options]) == 0
    assert "caled L1 error" in (tmp_path / "f" / "table-competitive.tex").read_text()
    assert "level 0.2/4" in (tmp_path / "f" / "table-competitive.md").read_text()
    assert "over that of DAWA" in (tmp_path / "f" / "table-baselines.csv").read_text()
    assert main(["report", store, "--out", str(tmp_path / "p"), *options]) == 0
    assert '"standards":{"measure":"mean","percentile":"95th percentile","alpha":0.2,"baselines":["DAWA"]' in (
        tmp_path / "p" / "index.html"
    ).read_text(encoding="utf-8")
    assert main(["principles", store, *options]) == 1
    assert "beats DAWA in" in capsys.readouterr().out
    assert main(["figures", store, "--out", str(tmp_path / "f"), "--authors", "a.csv", *options]) == 2
    assert "--authors are L2 errors and these are L1 errors" in capsys.readouterr().err
