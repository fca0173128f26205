"""Losses that a summary keeps as mean, deviation and 95th percentile: what can be read of them, and what cannot."""

from dataclasses import replace

import numpy as np
import pytest

from dpbench.cli import main
from dpbench.errors import InvalidInput, UnknownName
from dpbench.interpreting import baselines, competitive_sets, error_cells, regret
from dpbench.page.cards import Gallery
from dpbench.page.data import page_data
from dpbench.results import Results
from dpbench.results.loss_summaries import summarise
from dpbench.standards import Standards
from store.rows import make

RELATIVE = Standards(loss="relative")


def rows(**more):
    """Three algorithms on two datasets, two data vectors each, with relative errors that differ."""
    stream = np.random.default_rng(4)
    return [
        make(
            algorithm=name,
            dataset=dataset,
            sample=sample,
            other_losses={"relative": (level * stream.gamma(9.0, 1 / 9, size=3)).tolist()},
            **more,
        )
        for name, level in (("Identity", 1.0), ("Uniform", 0.3), ("Hb", 0.31))
        for dataset in ("a", "b")
        for sample in (0, 1)
    ]


@pytest.fixture
def packed(tmp_path):
    """A summary without the single trials of other losses, as a study is packed."""
    Results._from_rows(rows()).write(tmp_path / "packed.parquet", losses=False)
    return tmp_path / "packed.parquet"


def test_a_packed_loss_gives_means_tests_and_regret_as_its_store_does(packed):
    """Mean, deviation and 95th percentile to four digits; the unpaired test, baselines and regret follow from them."""
    whole, summary = Results._from_rows(rows()).read_by(RELATIVE), Results.open(packed, loss="relative")
    assert (whole.single_trials, summary.single_trials) == (True, False)
    assert summary.losses.keys() == {"L2"}
    for name in ("mean", "deviation", "percentile"):
        np.testing.assert_allclose(getattr(summary.measured, name), getattr(whole.measured, name), rtol=2**-13)
    assert np.array_equal(summary.trials, whole.trials)
    assert summary.whole.all()
    sets, expected = competitive_sets(summary), competitive_sets(whole)
    assert np.array_equal(sets.members, expected.members)
    assert 0 < sets.members.sum() < sets.members.size
    np.testing.assert_allclose(sets.p_values, expected.p_values, rtol=0.01)
    assert [each.regret for each in regret(summary)] == pytest.approx([each.regret for each in regret(whole)], rel=1e-3)
    ratios = [[each.ratio for each in baselines(results)] for results in (summary, whole)]
    assert ratios[0] == pytest.approx(ratios[1], rel=1e-3)
    assert np.isnan([each.standard_error for each in error_cells(summary)]).all()


def test_what_needs_single_trials_is_refused_in_one_line(packed):
    """Other tests and other percentiles say what is kept."""
    summary = Results.open(packed, loss="relative")
    for test in ("paired", "blocked", "percentile"):
        with pytest.raises(InvalidInput, match=f"the test {test} needs errors of single trials"):
            competitive_sets(summary, test)
    with pytest.raises(InvalidInput, match="keep the 95th percentile and not the 90th"):
        _ = Results.open(packed, loss="relative", percentile=90).measured


def test_single_trials_and_summaries_join_as_summaries(packed):
    """A newcomer with single trials beside a packed study, either one first; one without the loss is refused."""
    summary = Results.open(packed, loss="relative")
    mine = Results._from_rows([replace(row, algorithm="Mine") for row in rows()[:2]]).read_by(RELATIVE)
    for both in (summary.joined(mine), mine.joined(summary)):
        assert not both.single_trials
        assert len(both) == 7
        own = both.where(algorithm="Mine")
        np.testing.assert_allclose(own.measured.mean, mine.measured.mean)
        assert own.trials.tolist() == mine.trials.tolist() == [6]
    with pytest.raises(UnknownName, match="not by 'relative', nor its mean"):
        summary.joined(Results._from_rows([make(algorithm="Bare")]))


def test_a_loss_that_only_some_trials_have_is_not_summarised():
    """A mean over the trials that happen to have it would stand for all."""
    first, *others = rows()
    found = Results._from_rows([replace(first, other_losses={}), *others])
    assert np.isnan(found.columns["relative_mean"]).sum() == 1
    assert np.isfinite(found.columns["l1_mean"]).all()
    assert replace(found, losses={}).read_by(RELATIVE).whole.sum() == len(found) - 1
    assert np.isnan(summarise({}, np.array([3]))["relative_sd"]).all()


def test_a_summary_by_a_summarised_loss_is_read_by_it_again(packed, tmp_path):
    """And by L2, of which it has every trial."""
    Results.open(packed, loss="relative").write(tmp_path / "again.parquet", losses=False)
    again = Results.open(tmp_path / "again.parquet")
    assert (again.standards.loss, again.single_trials) == ("relative", False)
    assert again.whole.all()
    assert again.read_by(Standards()).single_trials


def test_the_page_tests_a_packed_loss_by_its_mean_alone(packed):
    """It opens on the loss that was asked for; no intervals, no bits of percentiles; L2 has both."""
    data = page_data(Results.open(packed, loss="relative"), Gallery(), "packed")
    losses = {each["label"]: each for each in data["losses"]}
    assert list(losses) == ["relative", "L2", "L1", "Linf"]
    assert losses["relative"]["regret"]
    assert losses["relative"]["columns"].keys() == {"mean", "percentile", "deviation", "member"}
    assert losses["L2"]["columns"].keys() >= {"low", "high", "error"}
    assert losses["L1"]["regret"] is None


def test_budgets_of_different_notions_share_no_table():
    """The same algorithms with and without a delta: two tables of the page, each place with its own best."""
    gaussian = [replace(row, l2=[value / 10 for value in row.l2]) for row in rows(delta=1e-9)]
    both = Results._from_rows([*rows(), *gaussian])
    data = page_data(both, Gallery(), "both")
    assert data["names"]["budget"] == ["epsilon 0.1", "epsilon 0.1, delta 1e-09"]
    tables = {tuple(line[:6]) for line in data["losses"][0]["regret"]}
    assert len(tables) == 2
    sets = competitive_sets(both)
    assert {place.delta for place in sets.grid.places} == {0.0, 1e-9}
    assert (sets.best >= 0).all()


def test_the_command_line_says_what_a_packed_loss_cannot(packed, tmp_path, capsys):
    """One line on stderr beside the tables, which leave out what single trials decide; alone that is refused."""
    assert main(["interpret", str(packed), "--loss", "relative"]) == 0
    said = capsys.readouterr()
    assert said.err.count("\n") == 1
    assert "of the loss relative these results keep mean, deviation and 95th percentile" in said.err
    assert "relative error" in said.out
    assert "nan" not in said.out
    assert main(["interpret", str(packed), "--loss", "relative", "--what", "risk"]) == 2
    assert capsys.readouterr().err.count("\n") == 1
    assert main(["figures", str(packed), "--loss", "relative", "--tables-only", "--out", str(tmp_path / "f")]) == 0
    assert not (tmp_path / "f" / "table-risk.md").exists()
    assert (tmp_path / "f" / "table-competitive.md").exists()
