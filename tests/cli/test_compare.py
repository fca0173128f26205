"""dpbench compare: Identity under another name is Identity."""

from __future__ import annotations

import json
import re

import pytest

from dpbench.cli import main

SAME = """\
from dataclasses import dataclass
from dpbench.algorithms.identity import Identity

@dataclass(frozen=True, kw_only=True)
class Same(Identity):
    name = "Same"
"""


def plan(tmp_path, domain, samples):
    """A small study of synthetic shapes, with the algorithms that matter here."""
    path = tmp_path / "small.toml"
    path.write_text(
        'base = "RANGE_1D"\nname = "small"\ndatasets = ["bimodal", "uniform"]\n'
        'algorithms = ["Identity", "Hb", "Uniform"]\n'
        f'[generator]\ndomains = ["{domain}"]\nscales = [1000, 100000]\nsamples = {samples}\n'
    )
    return str(path)


@pytest.fixture
def compared(tmp_path, capsys):
    """The comparison of Identity under another name with a study that was just run."""
    (tmp_path / "same.py").write_text(SAME)
    study = str(tmp_path / "study")
    assert main(["run", plan(tmp_path, 128, 5), "--store", study, "--jobs", "0", "--quiet"]) == 0
    capsys.readouterr()

    def compare(*options):
        store = ["--store", str(tmp_path / "own"), "--jobs", "0", "--quiet"]
        code = main(["compare", f"{tmp_path / 'same.py'}:Same", "--study", study, *store, *options])
        return code, capsys.readouterr().out

    return compare


def test_identity_under_another_name_is_identity(compared):
    """No setting differs significantly, the regret is nearly the same, and so is where it is competitive.

    One choice of seeds in 20 fails by chance: over 25 seeds, 5 of 100 settings had p < 0.05. The log of a ratio of two
    such means deviates by 0.11, the regret over 4 settings by 0.055: 0.17 is three deviations.
    """
    code, out = compared("--json")
    told = json.loads(out)
    assert (code, told["settings"], told["different"]["Identity"]) == (0, 4, 0)
    assert told["regret"] == pytest.approx(told["regrets"]["Identity"], rel=0.17)
    assert told["agreement"]["Identity"] == 1


def test_the_sentence_and_the_tables(compared):
    """The sentence names the newcomer and its regret; the second run does nothing but print."""
    _, text = compared()
    assert text.startswith("Same is competitive in ")
    assert "| domain | scale |" in text
    _, latex = compared("--latex")
    assert r"\begin{tabular}" in latex


def test_a_dataset_that_the_study_lacks_is_refused(compared):
    """One line, exit code 2."""
    code, _ = compared("--dataset", "MEDCOST")
    assert code == 2


@pytest.mark.slow
@pytest.mark.usefixtures("histograms")
def test_identity_under_another_name_on_the_shipped_study(tmp_path, capsys):
    """On all settings: nothing significant, regret within 2 %, competitive alike in 98 % of settings."""
    (tmp_path / "same.py").write_text(SAME)
    assert main(["compare", f"{tmp_path / 'same.py'}:Same", "--store", str(tmp_path / "own"), "--quiet", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["different"]["Identity"] == 0
    assert told["regret"] == pytest.approx(told["regrets"]["Identity"], rel=0.02)
    assert told["agreement"]["Identity"] >= 0.98


def test_a_page_shows_the_newcomer_beside_the_others(compared, tmp_path, monkeypatch):
    """One page with everybody on it, in the setting of the study; the newcomer has a card with the audit's word."""
    monkeypatch.setenv("DPBENCH_DATA", str(tmp_path))
    code, out = compared("--page", str(tmp_path / "page"))
    path = tmp_path / "page" / "index.html"
    assert (code, out.splitlines()[-1].split()[0]) == (0, str(path))
    told = json.loads(re.search(r'id="data">(.*?)</script>', path.read_text())[1])
    assert told["names"]["algorithm"] == ["Hb", "Identity", "Same", "Uniform"]
    assert told["names"]["form"] == ["private"]
    (card,) = [each for each in told["cards"] if not each["catalogued"]]
    assert (card["name"], card["audit"][:6]) == ("Same", "passed")
    assert json.loads(compared("--page", str(tmp_path / "page"), "--json")[1])["page"] == str(path)


def test_a_newcomer_in_the_papers_setting_stands_among_published_forms(tmp_path, capsys, monkeypatch):
    """It is run with what the others were given, and the page shows them together."""
    monkeypatch.setenv("DPBENCH_DATA", str(tmp_path))
    (tmp_path / "same.py").write_text(SAME)
    study, own = str(tmp_path / "study"), str(tmp_path / "own")
    setting = ["--variant", "published", "--side-information", "public"]
    assert main(["run", plan(tmp_path, 64, 2), "--store", study, "--jobs", "0", "--quiet", *setting]) == 0
    command = ["compare", f"{tmp_path / 'same.py'}:Same", "--study", study, "--store", own, "--jobs", "0", "--quiet"]
    assert main([*command, "--setting", "published", "--page", str(tmp_path / "page")]) == 0
    told = json.loads(re.search(r'id="data">(.*?)</script>', (tmp_path / "page" / "index.html").read_text())[1])
    assert told["names"]["form"] == ["published"]
    assert told["names"]["algorithm"] == ["Hb", "Identity", "Same", "Uniform"]
