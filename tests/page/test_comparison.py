"""What is printed of a newcomer's comparison, for people, papers, programs and the page."""

import json
from dataclasses import replace

import pytest

from dpbench.measuring.yardstick import Yardstick
from dpbench.page.comparison import comparison_latex, comparison_markdown, comparison_plain, for_page
from dpbench.paper.comparison import against
from dpbench.results import Results
from dpbench.standards import Standards
from paper.test_newcomer import mixed, rows, study

EXACT = {"Hb": {"64": 1.5}, "Identity": {"64": 0.5, "16": 0.25}}


@pytest.fixture(scope="module")
def comparison():
    """Of an algorithm that is data-independent, or so it is said."""
    return against(Results._from_rows(study()), Results._from_rows(rows("A_1", mixed)), EXACT)


def test_markdown_has_directions_and_ratios(comparison):
    """One table by domain and scale, one by rival, the clearest loss first."""
    text = comparison_markdown(comparison)
    rival = comparison.rivals["Hb"]
    assert "| domain | scale | competitive | most competitive other | error / Identity | error / Uniform |" in text
    assert f"| Hb | 6 | 2 | 3 | {rival.ratio:.3g} | {rival.low:.3g} to {rival.high:.3g} | " in text
    assert f"| {rival.percentile_ratio:.3g} | 1.5 |" in text
    assert "| 64: 0.5, 16: 0.25 |" in text
    assert text.index("| Hb | 6") < text.index("| Uniform | 6")
    assert "A\\_1 by domain and scale: datasets on which it is competitive by mean scaled L2 error" in text
    assert "unpaired t-test, level 0.05/3" in text


def test_the_limit_stands_beside_the_baselines():
    """Where it is known; the caption says how a squared error became one."""
    whole, own = Results._from_rows(study()), Results._from_rows(rows("A_1", mixed))
    known = {place.group: Yardstick(1.0, "Laplace", 4.0, "HDMM") for place in whole.grid.places}
    found = against(whole, own, EXACT, known)
    text = comparison_markdown(found)
    assert "| error / Uniform | error / limit | error / best known |" in text
    assert "over the best known strategy (HDMM): both are root mean squares" in text
    for row in found.rows:
        assert row.over_limit == pytest.approx(2 * row.over_best)
        assert f"| {row.over_limit:.3g} | {row.over_best:.3g} |" in text
    assert comparison_plain(found)["rows"][0]["strategy"] == "HDMM"
    assert comparison_plain(against(whole, own, EXACT))["rows"][0]["over_limit"] is None


def test_latex_has_captions_and_balances(comparison):
    """Two tables; scales are powers of ten, and a name is text."""
    text = comparison_latex(comparison)
    assert text.count(r"\begin{table}") == text.count(r"\end{table}") == text.count(r"\caption{A\_1 ") == 2
    assert "{}64 & 100 & " in text
    assert "{}64 & $10^{3}$ & " in text
    assert (
        "against & settings & better & worse & error ratio & 95 \\% interval & 95th percentile ratio & exact ratio"
        in text
    )


def test_json_keeps_its_keys_and_has_no_nan():
    """Ratios to Identity and Uniform under their own keys, null where they are not baselines."""
    one = Results._from_rows(study(datasets="a")).read_by(Standards(baselines=("Hb", "Uniform")))
    plain = comparison_plain(against(one, Results._from_rows(rows("Mine", 1.0, datasets="a"))))
    assert {"name", "settings", "competitive", "agreement", "different", "regret", "rank", "regrets", "rows"} < set(
        plain
    )
    assert {"sentence", "rivals", "failures", "standards", "family"} < set(plain)
    row = plain["rows"][0]
    assert (row["over_identity"], row["over_uniform"]) == (None, row["over"]["Uniform"])
    assert plain["rivals"]["Hb"]["low"] is None
    assert plain["standards"]["baselines"] == ["Hb", "Uniform"]
    json.dumps(plain, allow_nan=False)


def test_the_page_gets_the_same_ratios(comparison):
    """With the words of the caption; the loss is named."""
    told = for_page(comparison)
    assert {rival["name"]: rival["ratio"] for rival in told["rivals"]} == {
        name: rival.ratio for name, rival in comparison.rivals.items()
    }
    assert "mean scaled L2 error" in told["about"]
    other = for_page(replace(comparison, standards=Standards(loss="Linf")))
    assert "mean scaled L-infinity error" in other["about"]
    json.dumps(told, allow_nan=False)
