"""Budgets of different notions stand in tables and figures of their own, whatever reads a store."""

import json

import numpy as np
import pytest

from dpbench.cli import main
from dpbench.interpreting import regret
from dpbench.page.cards import Gallery
from dpbench.page.data import page_data
from dpbench.page.print_figures import figures
from dpbench.page.print_tables import tables
from dpbench.page.summary import summary_tables
from dpbench.results import Results
from dpbench.store.setting_key import Group, budget_order

PLAN = """\
base = "RANGE_1D"
name = "notions"
algorithms = ["Identity", "Hb"]
datasets = ["bimodal", "spikes-50"]
domains = ["64"]
scales = [1000]
epsilons = [1.0]
deltas = [0, 1e-6]
rhos = [0.01]
samples = 1
trials = 4
"""
WORDS = ["epsilon 1", "epsilon 1, delta 1e-06", "rho 0.01 (zCDP)"]


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    """Identity and Hb under pure DP, under (epsilon, delta) and under zCDP."""
    folder = tmp_path_factory.mktemp("notions")
    (folder / "plan.toml").write_text(PLAN)
    assert main(["run", str(folder / "plan.toml"), "--store", str(folder / "store"), "--jobs", "0", "--quiet"]) == 0
    return folder / "store"


@pytest.fixture(scope="module")
def results(store):
    return Results.open(store)


def test_the_page_offers_each_budget_and_mixes_none(results):
    """Every setting has the number of its own budget; regret has one line per algorithm and budget."""
    data = page_data(results, Gallery(), "Notions")
    assert data["names"]["budget"] == WORDS
    assert repr(results) == "<Results: 12 settings: 2 algorithms, 2 datasets, 1 domain, 1 scale, 3 budgets>"
    lines = [line for line in data["losses"][0]["regret"] if line[6] == -1]
    assert sorted((line[4], data["names"]["algorithm"][line[7]]) for line in lines) == [
        (budget, name) for budget in range(3) for name in ("Hb", "Identity")
    ]
    alone = {
        (name, each.algorithm): each.regret
        for name, part in zip(WORDS, by_budget(results), strict=True)
        for each in regret(part)
    }
    for line in lines:
        assert line[8] == pytest.approx(alone[WORDS[line[4]], data["names"]["algorithm"][line[7]]], abs=1e-4)


def by_budget(results):
    """The parts of results, one per budget, in the order of the words."""
    columns = results.columns
    written = sorted(set(zip(columns["epsilon"], columns["delta"], columns["rho"], strict=True)), key=budget_order)
    return [
        results.take(np.flatnonzero((columns["epsilon"] == e) & (columns["delta"] == d) & (columns["rho"] == r)))
        for e, d, r in written
    ]


def test_tables_for_print_and_summaries_say_the_budget(results):
    """One per budget, of each kind that is about one table."""
    for kind in ("errors", "competitive", "risk", "baselines", "regret"):
        captions = [each.caption for each in tables(results).tables if each.name == kind]
        assert captions
        for caption in captions:
            assert sum(f"Prefix on 64, {words}, private" in caption for words in WORDS) == 1, caption
        assert all(any(f", {words}, " in caption for caption in captions) for words in WORDS)
    assert sorted(each.title.split(", ", 1)[1] for each in summary_tables(results)) == sorted(WORDS)


def test_interpret_separates_budgets(store, capsys):
    """For readers and as JSON, where what does not apply is null."""
    for what in ("errors", "competitive", "regret", "baselines"):
        assert main(["interpret", str(store), "--what", what]) == 0
        shown = capsys.readouterr().out
        assert all(f"Prefix on 64, {words}" in shown for words in WORDS)
    assert main(["interpret", str(store), "--what", "regret", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)["regret"]
    assert {(row["epsilon"], row["delta"], row["rho"]) for row in rows} == {
        (1.0, None, None),
        (1.0, 1e-6, None),
        (None, None, 0.01),
    }


def test_a_figure_shows_one_budget_and_says_which(results, tmp_path):
    """Pure differential privacy where it is there."""
    figures(results, tmp_path, formats=("svg",))
    for figure in tmp_path.rglob("*.svg"):
        text = figure.read_text()
        assert "zCDP" not in text
        assert "delta" not in text


def test_groups_know_the_whole_budget():
    """Whoever groups by the fields of a table groups by the budget."""
    assert {"epsilon", "delta", "rho"} <= set(Group._fields)
