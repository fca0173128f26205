"""The page as a file: what stands in it and what cannot."""

import base64
import gzip
import hashlib
import json
import re
from dataclasses import replace

import numpy as np
import pytest

from dpbench.errors import InvalidInput
from dpbench.interpreting import competitive_sets, regret
from dpbench.measuring.yardstick import Yardstick
from dpbench.page.cards import Gallery
from dpbench.page.data import by_form, page_data
from dpbench.page.web_page import page, page_text, policy
from dpbench.results import Results
from dpbench.standards import Standards
from dpbench.store.setting_key import Group, budget_words
from page.study import HOSTILE, gallery, results

KINDS = {"f4": "<f4", "f8": "<f8", "u1": "u1", "u2": "<u2"}


def unpacked(data):
    """The arrays of a page, read as a browser does."""
    block = gzip.decompress(base64.b64decode(data["packed"]))
    return lambda place: np.frombuffer(block, KINDS[place[0]], place[2], place[1])


@pytest.fixture(scope="module")
def study():
    return results()


@pytest.fixture(scope="module")
def text(study):
    return page_text(study, gallery(), HOSTILE)


def test_the_policy_allows_the_one_script_and_style(text):
    """Hashes in the policy are those of what stands in the file; nothing else may run or load."""
    told = re.search(r'Security-Policy" content="([^"]*)"', text)[1]
    assert "unsafe" not in told
    assert told.startswith("default-src 'none'; ")
    script = re.findall(r"<script>(.*?)</script>", text, re.DOTALL)[-1]
    style = re.search(r"<style>(.*?)</style>", text, re.DOTALL)[1]
    assert told == policy(script, style)
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert f"script-src 'sha256-{digest}'" in told


def test_the_page_names_no_address(text):
    """No link, script, style or font of anybody's; the name space of SVG is a name, not an address."""
    assert set(re.findall(r"https?://[^\s\"'<>]+", text)) == {"http://www.w3.org/2000/svg"}
    assert set(re.findall(r"(?:src|href)=\"([^\"]*)\"", text)) == {"data:,", "#main"}


def test_hostile_names_cannot_end_the_data(text):
    """A name with markup or a mark of the template is in the data as text, and nowhere else."""
    assert "<img" not in text
    assert text.count("<script") == 2
    data = json.loads(re.search(r'id="data">(.*?)</script>', text, re.DOTALL)[1])
    assert HOSTILE in data["names"]["algorithm"]
    assert data["title"] == HOSTILE


def test_a_title_that_cannot_be_written_is_shown_with_a_question_mark(study, tmp_path):
    """Half a pair of surrogates, as a name of bytes that are no text has them."""
    written = page(study, tmp_path, title="a\ud800b").read_text(encoding="utf-8")
    assert "<title>a?b</title>" in written


def test_competitive_bits_are_those_of_the_library(study):
    """Bit 1 is membership by mean, bit 2 the lowest mean, 4 and 8 the same by 95th percentile, within each form."""
    data = page_data(study, Gallery(), "t")
    member = unpacked(data)(data["losses"][0]["columns"]["member"])
    start = 0
    for part in by_form(study):
        own = member[start : start + len(part.results)]
        start += len(part.results)
        for test, bit in (("unpaired", 1), ("percentile", 4)):
            sets = competitive_sets(part.results, test)
            expected = np.zeros(len(own), dtype=bool)
            expected[sets.grid.index[sets.members]] = True
            assert ((own & bit) > 0).tolist() == expected.tolist()
            best = sets.grid.index[np.arange(len(sets.best)), sets.best]
            assert sorted(np.flatnonzero(own & (2 * bit))) == sorted(best.tolist())


def test_every_loss_that_was_kept_is_on_the_page(study):
    """That of the standards first; of one that is only summarised the mean, and the percentile where it is the 95th."""
    both = replace(study, losses={"L1": 2 * study.errors})
    data = page_data(both, Gallery(), "t")
    assert [(each["label"], each["regret"] is None) for each in data["losses"]] == [
        ("L2", False),
        ("L1", False),
        ("Linf", True),
    ]
    assert unpacked(data)(data["losses"][1]["columns"]["mean"]) == pytest.approx(
        2 * unpacked(data)(data["losses"][0]["columns"]["mean"])
    )
    assert list(data["losses"][2]["columns"]) == ["mean", "percentile"]
    other = page_data(both.read_by(Standards(percentile=90, loss="L1")), Gallery(), "t")
    assert [each["label"] for each in other["losses"]] == ["L1", "L2", "Linf"]
    assert list(other["losses"][2]["columns"]) == ["mean"]


def test_the_page_opens_on_the_measure_of_the_test(study):
    """A test of percentiles shows percentiles first; means keep the paper's test."""
    told = page_data(study.read_by(Standards(test="percentile", percentile=90)), Gallery(), "t")["standards"]
    assert (told["measure"], told["percentile"]) == ("percentile", "90th percentile")
    assert {measure: test["name"] for measure, test in told["tests"].items()} == {
        "mean": "unpaired",
        "percentile": "percentile",
    }


def test_regret_is_that_of_the_library(study):
    """Every line of regret is one of the library's, with its interval."""
    data = page_data(study, Gallery(), "t")
    (published, _) = by_form(study)
    told = [line for line in data["losses"][0]["regret"] if line[0] == 0 and line[6] == -1]
    expected = regret(published.results, Group._fields)
    assert len(told) == len(expected)
    assert sorted(line[8] for line in told) == pytest.approx(sorted(each.regret for each in expected), abs=1e-4)


def test_yardsticks_are_at_their_tables(study):
    """One per table, found by the numbers of its names."""
    known = {place.group: Yardstick(float(n), "Laplace", 2.0 * n, "HDMM") for n, place in enumerate(study.grid.places)}
    data = page_data(study, Gallery(), "t", yardsticks=known)
    assert len(data["yardsticks"]) == len(known)
    for line, (group, each) in zip(data["yardsticks"], known.items(), strict=True):
        named = {**group._asdict(), "budget": budget_words(group.epsilon, group.delta, group.rho)}
        at = dict(zip(data["table"], line["at"], strict=True))
        assert {name: data["names"][name][at[name]] for name in at} == {name: named[name] for name in at}
        assert (line["limit"], line["best"], line["algorithm"]) == (each.limit, each.best, "HDMM")
    assert page_data(study, Gallery(), "t")["yardsticks"] == []


def test_forms_are_apart_and_labels_lose_their_marks(study):
    """Published and private forms compete among themselves; equal names would keep their marks."""
    parts = by_form(study)
    assert [part.form for part in parts] == ["published", "private"]
    assert "DAWA" in parts[0].names
    assert {label.split(" [")[0] for label in parts[0].results.labels} == set(parts[0].names)


def test_numbers_keep_seven_digits(study):
    """Means on the page are the library's as 32-bit numbers."""
    data = page_data(study, Gallery(), "t")
    shown = unpacked(data)(data["losses"][0]["columns"]["mean"])
    expected = np.concatenate([part.results.measured.mean for part in by_form(study)])
    assert shown == pytest.approx(expected, rel=1e-6)


def test_the_same_results_give_the_same_page(study):
    """No date and no chance in the file."""
    assert page_text(study, Gallery(), "t") == page_text(study, Gallery(), "t")


def test_no_results_are_refused_in_one_line(tmp_path):
    """An empty store has no page."""
    with pytest.raises(InvalidInput, match="no results to show"):
        page(Results._from_rows([]), tmp_path)
