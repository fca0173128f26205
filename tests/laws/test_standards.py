"""Metamorphic laws: change one standard, and every reader of results changes as it must, and nothing else does."""

import base64
import csv
import gzip
import io
import json
from dataclasses import replace

import numpy as np
import pytest

from dpbench.cli import main
from dpbench.page import tables
from dpbench.page.cards import Gallery
from dpbench.page.data import page_data
from dpbench.page.print_tables import Tables
from dpbench.paper.comparison import against
from dpbench.paper.principles import judge
from dpbench.results import Results
from dpbench.standards import Standards
from store.rows import make

NAMES = ("Identity", "Uniform", "Hb", "DAWA", "Mine")
KINDS = {"f4": "<f4", "u1": "u1"}


@pytest.fixture(scope="module")
def study():
    """Algorithms close to each other on data vectors that differ much; by L1 their order is the reverse."""
    rng = np.random.default_rng(11)
    vectors = {(data, sample): rng.uniform(1, 4) for data in "abcd" for sample in range(5)}
    results = Results._from_rows(
        make(
            algorithm=name,
            dataset=data,
            scale=scale,
            sample=sample,
            l2=(vectors[data, sample] * (1 + 0.12 * place) * rng.lognormal(0, 0.35, 10)).tolist(),
            squared_bias=2.0,
            variance=1.0,
        )
        for place, name in enumerate(NAMES)
        for data in "abcd"
        for scale in (100, 1000)
        for sample in range(5)
    )
    columns = {**results.columns, "queries": np.full(len(results), 64)}
    return replace(results, columns=columns, losses={"L1": 1 / results.errors})


def interpreted(results, monkeypatch, capsys, *options):
    """What ``dpbench interpret --json`` says of results."""
    monkeypatch.setattr(Results, "open", classmethod(lambda *_, **__: results))
    assert main(["interpret", "anything", "--json", *options]) == 0
    return json.loads(capsys.readouterr().out)


def members(rows):
    """Places and algorithms that are competitive."""
    return {(row["dataset"], row["scale"], row["algorithm"]) for row in rows if row["competitive"]}


def compared(results):
    """Mine against the others."""
    return against(results.where(algorithm=list(NAMES[:-1])), results.where(algorithm="Mine"))


def tabled(results, kind):
    """The cells of one kind of table by row and column, and its LaTeX."""
    found = tuple(each for each in tables(results).tables if each.name == kind)
    made = Tables(found)
    cells = {
        (row["caption"], row["row"], row["column"]): (float(row["value"]), row["bold"])
        for row in csv.DictReader(io.StringIO(made.csv()))
    }
    return cells, made.latex()


def paged(results):
    """The page's data, and a function that reads a column of its first loss."""
    data = page_data(results, Gallery(), "t")
    block = gzip.decompress(base64.b64decode(data["packed"]))

    def column(name, loss=0):
        kind, start, number = data["losses"][loss]["columns"][name]
        return np.frombuffer(block, KINDS[kind], number, start)

    return data, column


def by(results, **changes):
    """The same results by other standards."""
    return results.read_by(replace(results.standards, **changes))


def test_a_larger_alpha_can_only_shrink_competitive_sets(study, monkeypatch, capsys):
    """In interpret, compare, tables and page alike; and more differences are significant."""
    loose = by(study, alpha=0.5)
    strict, wide = (interpreted(study, monkeypatch, capsys, *options) for options in ((), ("--alpha", "0.5")))
    for what in ("competitive", "risk"):
        assert members(wide[what]) < members(strict[what])
        assert {row["alpha"] for row in wide[what]} == {0.5}
    assert sum(row["better"] + row["worse"] for row in wide["baselines"]) > sum(
        row["better"] + row["worse"] for row in strict["baselines"]
    )
    before, after = compared(study), compared(loose)
    assert after.competitive < before.competitive
    assert sum(after.different.values()) > sum(before.different.values())
    assert all(after.different[name] >= number for name, number in before.different.items())
    assert "level 0.5/4" in after.sentence
    wins = [sum(value for value, _ in tabled(each, "competitive")[0].values()) for each in (study, loose)]
    assert wins[1] < wins[0]
    assert "level 0.5/4" in tabled(loose, "competitive")[1]
    bits = [paged(each)[1]("member") for each in (study, loose)]
    for bit in (1, 4):
        own = [(each & bit) > 0 for each in bits]
        assert (own[1] <= own[0]).all()
        assert own[1].sum() < own[0].sum()
    assert paged(loose)[0]["standards"]["alpha"] == 0.5


def test_another_baseline_takes_the_place_of_the_others(study, monkeypatch, capsys):
    """Ratios are to the baselines of the standards, in every reader."""
    other = by(study, baselines=("Hb",))
    rows = interpreted(study, monkeypatch, capsys, "--what", "baselines", "--baseline", "Hb")["baselines"]
    assert {row["baseline"] for row in rows} == {"Hb"}
    means = {name: study.where(algorithm=name, scale=100).measured.mean.mean() for name in NAMES}
    ratio = next(row["ratio"] for row in rows if (row["algorithm"], row["scale"]) == ("Mine", 100))
    assert ratio == pytest.approx(means["Mine"] / means["Hb"])
    comparison = compared(other)
    assert dict(comparison.rows[0].over) == pytest.approx({"Hb": ratio})
    assert "fails to beat the baseline Hb in 2 of 2 (domain, scale) pairs" in comparison.sentence
    assert "(Identity, Uniform)" in compared(study).sentence
    cells, latex = tabled(other, "baselines")
    assert "over that of Hb; bold" in latex
    assert "over that of Identity" not in latex
    assert [value for (_, row, column), (value, _) in cells.items() if (row, column) == ("Mine", "100")] == [ratio]
    assert paged(other)[0]["standards"]["baselines"] == ["Hb"]
    evidence = {each.number: each.evidence for each in judge(other)}
    assert "beats Hb in" in evidence[10]


def test_a_lower_percentile_is_lower(study, monkeypatch, capsys):
    """The median is below the 95th percentile, the mean stays; sets by percentile are by the one that is named."""
    median = by(study, percentile=50)
    high, low = (interpreted(study, monkeypatch, capsys, *options) for options in ((), ("--percentile", "50")))
    for what, name, same in (("errors", "percentile", "mean"), ("people", "bad_records", "records")):
        assert len(low[what]) == len(high[what]) > 0
        for before, after in zip(high[what], low[what], strict=True):
            assert after[name] < before[name]
            assert after[same] == before[same]
            assert (before["percentile_level"], after["percentile_level"]) == (95, 50)
    assert low["competitive"] == [row | {"percentile_level": 50} for row in high["competitive"]]
    for before, after in zip(high["risk"], low["risk"], strict=True):
        assert after["score"] < before["score"]
    assert members(low["risk"]) != members(high["risk"])
    for name in ("percentile", "low", "high"):
        assert (paged(median)[1](name) <= paged(study)[1](name)).all()
    assert (paged(median)[1]("percentile") < paged(study)[1]("percentile")).all()
    assert (paged(median)[1]("mean") == paged(study)[1]("mean")).all()
    assert (paged(median)[1]("member") & 3).tolist() == (paged(study)[1]("member") & 3).tolist()
    assert (paged(median)[1]("member") & 12).tolist() != (paged(study)[1]("member") & 12).tolist()
    assert paged(median)[0]["standards"]["percentile"] == "50th percentile"
    (before, _), (after, latex) = (tabled(each, "risk") for each in (study, median))
    assert "by the 50th percentile of the scaled L2 error" in latex
    assert sorted(before.values()) != sorted(after.values())
    tail, middle = (compared(by(study, percentile=each, test="percentile")) for each in (95, 50))
    assert "by the 50th percentile of the scaled L2 error" in middle.sentence
    assert middle.different != tail.different
    tail, middle = (compared(by(study, percentile=each)) for each in (95, 50))
    assert all(middle.rivals[name].percentile_ratio != rival.percentile_ratio for name, rival in tail.rivals.items())


def test_pairs_see_what_the_unpaired_test_does_not(study, monkeypatch, capsys):
    """Data vectors differ much, so that the blocked test separates more, wherever significance is shown."""
    blocked = by(study, test="blocked")
    plain, pairs = (interpreted(study, monkeypatch, capsys, *options) for options in ((), ("--test", "blocked")))
    assert members(pairs["competitive"]) < members(plain["competitive"])
    assert {row["test"] for row in pairs["competitive"]} == {"blocked"}
    assert pairs["risk"] == plain["risk"]  # by the percentile, whatever the test of means is
    assert pairs["errors"] == plain["errors"]
    assert sum(row["worse"] for row in pairs["baselines"]) > sum(row["worse"] for row in plain["baselines"])
    before, after = compared(study), compared(blocked)
    assert after.competitive < before.competitive
    assert sum(each.worse for each in after.rivals.values()) > sum(each.worse for each in before.rivals.values())
    assert "t-test on these data vectors" in after.sentence
    bold = [sum(int(mark) for _, mark in tabled(each, "datasets")[0].values()) for each in (study, blocked)]
    assert bold[1] < bold[0]
    assert "t-test on these data vectors" in tabled(blocked, "datasets")[1]
    assert (paged(blocked)[1]("member") & 1).sum() < (paged(study)[1]("member") & 1).sum()
    assert paged(blocked)[0]["standards"]["tests"]["mean"]["name"] == "blocked"


def test_another_loss_gives_the_numbers_of_its_errors(study, monkeypatch, capsys):
    """Every reader says of the L1 errors among others what it says of them alone, under their name."""
    among, alone = by(study, loss="L1"), Results(study.columns, study.losses["L1"], standards=Standards(loss="L1"))
    told = interpreted(study, monkeypatch, capsys, "--loss", "L1")
    assert told == interpreted(alone, monkeypatch, capsys)
    assert {row["loss"] for row in told["errors"]} == {"L1"}
    expected = study.losses["L1"][study.labels == "Mine"].mean(axis=(1, 2))
    scores = [row["score"] for row in told["competitive"] if row["algorithm"] == "Mine"]
    assert sorted(scores) == pytest.approx(sorted(expected))
    plain = interpreted(study, monkeypatch, capsys)
    best = [[row["algorithm"] for row in each["competitive"] if row["best"]] for each in (told, plain)]
    assert not any(one == other for one, other in zip(*best, strict=True))
    assert compared(among) == compared(alone)
    assert compared(among).sentence != compared(study).sentence
    assert "mean scaled L1 error" in compared(among).sentence
    for kind in ("errors", "competitive", "risk", "baselines", "regret", "datasets"):
        cells, latex = tabled(among, kind)
        assert (cells, latex) == tabled(alone, kind)
        assert "caled L1 error" in latex
        assert "caled L2 error" in tabled(study, kind)[1]
    (data, column), (_, other) = paged(among), paged(alone)
    assert [loss["label"] for loss in data["losses"]] == ["L1", "L2", "Linf"]
    for name in ("mean", "percentile", "deviation", "member"):
        assert column(name).tolist() == other(name).tolist()
        assert column(name, 1).tolist() == paged(study)[1](name).tolist()


def test_errors_are_measured_once_for_each_reading(study, monkeypatch, capsys):
    """All tables of interpret need one measurement of the errors, however many functions read it."""
    from dpbench.results import results as module

    calls = []
    measured = module.measure_all
    monkeypatch.setattr(module, "measure_all", lambda *given: calls.append(1) or measured(*given))
    interpreted(replace(study), monkeypatch, capsys)
    assert len(calls) == 1


PLAN = """
base = "RANGE_1D"
name = "small"
datasets = ["bimodal", "uniform"]
algorithms = ["Identity", "Hb", "Uniform"]
domains = [32]
scales = [1000]
samples = 2
trials = 4
loss = {loss}
percentile = 75
alpha = 0.3
baselines = ["Hb"]
test = "blocked"
"""
MINE = """
from dataclasses import dataclass
from dpbench.algorithms.identity import Identity

@dataclass(frozen=True, kw_only=True)
class Mine(Identity):
    name = "Mine"
"""


@pytest.mark.parametrize("loss", ['"L1"', '{name = "relative", floor = 0.01}'])
def test_the_standards_of_a_plan_reach_every_reader(loss, tmp_path, capsys, monkeypatch):
    """Without any option: run, interpret, compare, tables and page read a store as its plan says, and name it."""
    monkeypatch.setattr("dpbench.gallery.make.gallery_for", lambda **given: None)
    (tmp_path / "plan.toml").write_text(PLAN.format(loss=loss))
    (tmp_path / "mine.py").write_text(MINE)
    store = str(tmp_path / "store")
    assert main(["run", str(tmp_path / "plan.toml"), "--store", store, "--jobs", "0", "--quiet", "--json"]) == 0
    label = json.loads(capsys.readouterr().out)["loss"]
    error = {"L1": "scaled L1 error", "relative:floor=0.01": "relative:floor=0.01 error"}[label]
    assert main(["run", str(tmp_path / "plan.toml"), "--store", store, "--jobs", "0", "--quiet"]) == 0
    printed = capsys.readouterr().out
    assert f"{error}, mean and 75th percentile, over 2 datasets" in printed
    assert "among 3 algorithms; t-test on these data vectors, level 0.3/2" in printed
    assert "below each baseline (Hb) by mean: " in printed
    assert main(["interpret", store, "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert {row["loss"] for row in told["errors"]} == {label}
    assert {(row["test"], row["alpha"]) for row in told["competitive"]} == {("blocked", 0.3)}
    assert {row["percentile_level"] for row in told["risk"]} == {75}
    assert {row["baseline"] for row in told["baselines"]} == {"Hb"}
    own = ["--store", str(tmp_path / "own"), "--jobs", "0", "--quiet", "--json"]
    assert main(["compare", f"{tmp_path / 'mine.py'}:Mine", "--study", store, *own]) == 0
    compared = json.loads(capsys.readouterr().out)
    assert compared["standards"]["loss"] == label
    assert f"by mean {error} (among 4 algorithms; t-test on these data vectors, level 0.3/3)" in compared["sentence"]
    assert {tuple(row["over"]) for row in compared["rows"]} == {("Hb",)}
    assert main(["figures", store, "--tables-only", "--out", str(tmp_path / "tables")]) == 0
    caption = error[0].upper() + error[1:]
    assert f"{caption} (deviation of a trial)" in (tmp_path / "tables" / "table-errors.csv").read_text()
    assert main(["report", store, "--out", str(tmp_path / "page")]) == 0
    page = (tmp_path / "page" / "index.html").read_text(encoding="utf-8")
    assert '"percentile":"75th percentile","alpha":0.3,"baselines":["Hb"]' in page
    assert f'"losses":[{{"label":"{label}"' in page


def test_tasks_that_disagree_are_read_together_by_what_is_said(tmp_path, capsys):
    """Two plans in one store, by two losses: refused in one line that names the option, and read with it."""
    store = str(tmp_path / "store")
    for name, loss in (("one", '"L1"'), ("two", '"L2"')):
        text = PLAN.format(loss=loss).replace('name = "small"', f'name = "{name}"')
        (tmp_path / f"{name}.toml").write_text(text)
        assert main(["run", str(tmp_path / f"{name}.toml"), "--store", store, "--jobs", "0", "--quiet"]) == 0
    capsys.readouterr()
    assert main(["interpret", store, "--what", "errors"]) == 2
    shown = capsys.readouterr()
    assert (shown.out, shown.err.count("\n")) == ("", 1)
    assert "--loss" in shown.err
    assert main(["interpret", store, "--what", "errors", "--loss", "L1", "--json"]) == 0
    assert {row["loss"] for row in json.loads(capsys.readouterr().out)["errors"]} == {"L1"}
