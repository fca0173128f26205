"""dpbench compare: Identity under another name is Identity."""

from __future__ import annotations

import json
import re

import pytest

from dpbench import algorithms
from dpbench.cli import main
from dpbench.workloads import Prefix

IDENTITY, HB = algorithms.get("Identity"), algorithms.get("Hb")
SAME = """\
from dataclasses import dataclass
from dpbench.algorithms.identity import Identity

@dataclass(frozen=True, kw_only=True)
class Same(Identity):
    name = "Same"
"""


BROKEN = """
@dataclass(frozen=True, kw_only=True)
class Broken(Identity):
    name = "Broken"
    def estimate(self, data, workload):
        if data.domain.size > {limit}:
            raise RuntimeError("too many cells")
        return super().estimate(data, workload)
"""


def plan(tmp_path, domain, samples, algorithms='"Identity", "Hb", "Uniform"'):
    """A small study of synthetic shapes, with the algorithms that matter here."""
    path = tmp_path / "small.toml"
    path.write_text(
        'base = "RANGE_1D"\nname = "small"\ndatasets = ["bimodal", "uniform"]\n'
        f"algorithms = [{algorithms}]\n"
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
    """The sentence names the newcomer and its regret; the second run does nothing but print.

    Identity under another name has exactly its expected error, and that of Hb times a factor that follows from both.
    """
    _, text = compared()
    assert text.startswith("Same is competitive in ")
    assert "| domain | scale |" in text
    assert (
        "| against | settings | better | worse | error ratio | 95 % interval | 95th percentile ratio | exact ratio |"
        in text
    )
    (line,) = [each for each in text.splitlines() if each.startswith("| Identity |")]
    assert line.endswith("| 1 |")
    _, latex = compared("--latex")
    assert latex.count(r"\begin{tabular}") == 2
    factor = (IDENTITY.expected_error(Prefix(128), 0.1) / HB.expected_error(Prefix(128), 0.1)) ** 0.5
    assert json.loads(compared("--json")[1])["rivals"]["Hb"]["exact"] == pytest.approx({"128": factor})


def test_it_is_compared_by_the_standards_that_are_asked_for(compared):
    """Another baseline, percentile, level and test reach the numbers and the sentence."""
    standards = ("--baseline", "Hb", "--percentile", "50", "--alpha", "0.2", "--test", "percentile")
    told = json.loads(compared("--json", *standards)[1])
    assert {tuple(row["over"]) for row in told["rows"]} == {("Hb",)}
    assert (
        "by the 50th percentile of the scaled L2 error (among 4 algorithms; t-test of percentiles, level 0.2/3)"
        in (told["sentence"])
    )
    assert compared("--test", "none")[0] == 2


def test_another_percentile_reaches_the_table(compared):
    """Its ratio stands beside that of the means, which does not change."""
    found = {}
    for percentile in ("95", "50"):
        told = json.loads(compared("--json", "--percentile", percentile)[1])["rivals"]["Hb"]
        found[percentile] = told["percentile_ratio"]
        assert f"| {percentile}th percentile ratio |" in compared("--percentile", percentile)[1]
    assert found["95"] != found["50"]


def test_what_the_study_has_by_this_code_is_not_run(tmp_path, capsys, monkeypatch):
    """An algorithm of the package is taken from there, as it would be run; by other code it is run again."""
    study, own = str(tmp_path / "study"), tmp_path / "own"
    assert main(["run", plan(tmp_path, 64, 2), "--store", study, "--jobs", "0", "--quiet"]) == 0
    capsys.readouterr()
    command = ["compare", "hb", "--study", study, "--store", str(own), "--jobs", "0", "--quiet", "--json"]
    assert main(command) == 0
    kept = capsys.readouterr()
    assert "the study has Hb by this code; nothing is run" in kept.err
    assert not own.exists()
    monkeypatch.setattr("dpbench.run.plan.algorithm_version", lambda *_: "f" * 16)
    assert main(command) == 0
    anew = capsys.readouterr()
    assert "left out, as it was run anew" in anew.err
    assert own.exists()
    assert kept.out == anew.out
    assert "Hb" not in json.loads(kept.out)["rivals"]


@pytest.mark.parametrize("setting", ["private", "published"])
def test_a_shipped_algorithm_is_not_run(setting, tmp_path, capsys, monkeypatch):
    """Even where the paper's histograms are not."""
    monkeypatch.setenv("DPBENCH_DATA", str(tmp_path))
    command = ["compare", "MWEM", "--setting", setting, "--dimensions", "2", "--domain", "32x32"]
    assert main([*command, "--store", str(tmp_path / "own"), "--json"]) == 0
    told = capsys.readouterr()
    assert "nothing is run" in told.err
    assert json.loads(told.out)["settings"] > 10
    assert not (tmp_path / "own").exists()


def test_failures_are_told(tmp_path, capsys):
    """Some: they are named beside the comparison of the rest. All: the cause in one line. Exit code 1 both times."""
    study = str(tmp_path / "study")
    assert main(["run", plan(tmp_path, '64", "128', 2), "--store", study, "--jobs", "0", "--quiet"]) == 0
    for limit, settings in ((64, 4), (1, 0)):
        (tmp_path / f"broken{limit}.py").write_text(SAME + BROKEN.format(limit=limit))
        capsys.readouterr()
        own = ["--store", str(tmp_path / f"own{limit}"), "--jobs", "0", "--quiet", "--json"]
        assert main(["compare", f"{tmp_path / f'broken{limit}.py'}:Broken", "--study", study, *own]) == 1
        shown = capsys.readouterr()
        assert shown.err.count("\n") == 1
        assert f"Broken failed in {8 - settings} of 8 settings" in shown.err
        assert "too many cells" in shown.err
        if settings:
            told = json.loads(shown.out)
            assert (told["settings"], sum(told["failures"].values())) == (4, 4)
        else:
            assert shown.out == ""


def test_parameter_settings_of_one_algorithm_are_rivals_of_their_own(tmp_path, capsys):
    """A study that holds Hb twice has two rivals of that name, told apart by their parameters."""
    (tmp_path / "same.py").write_text(SAME)
    study, own = str(tmp_path / "study"), str(tmp_path / "own")
    algorithms = '"Identity", "Hb", {name = "Hb", root = true}'
    assert main(["run", plan(tmp_path, 64, 2, algorithms), "--store", study, "--jobs", "0", "--quiet"]) == 0
    capsys.readouterr()
    command = ["compare", f"{tmp_path / 'same.py'}:Same", "--study", study, "--store", own, "--jobs", "0", "--quiet"]
    assert main([*command, "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert set(told["rivals"]) == {"Identity", "Hb", "Hb(root=true)"}
    assert told["rivals"]["Hb"]["exact"] != told["rivals"]["Hb(root=true)"]["exact"]


def test_it_is_run_on_every_workload_and_budget_of_the_study(tmp_path, capsys):
    """With parameters, from a file beside the plan, under each notion: as many settings as Identity has there."""
    (tmp_path / "same.py").write_text(SAME)
    (tmp_path / "own.csv").write_text("lower0,upper0\n0,9\n3,5\n")
    path = tmp_path / "several.toml"
    path.write_text(
        'base = "RANGE_1D"\nname = "several"\ndatasets = ["bimodal"]\nalgorithms = ["Identity", "Hb"]\n'
        'workloads = ["Prefix", {name = "RandomRange", queries = 20, seed = 3}, {name = "Ranges", file = "own.csv"}]\n'
        "domains = [64]\nscales = [1000]\nsamples = 2\ntrials = 2\n"
        "epsilons = [0.1, 1.0]\ndeltas = [0, 1e-6]\nrhos = [0.01]\n"
    )
    study, own = str(tmp_path / "study"), str(tmp_path / "own")
    assert main(["run", str(path), "--store", study, "--jobs", "0", "--quiet"]) == 0
    capsys.readouterr()
    command = ["compare", f"{tmp_path / 'same.py'}:Same", "--study", study, "--store", own, "--jobs", "0", "--quiet"]
    assert main([*command, "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["settings"] == 3 * 5
    assert told["rivals"]["Identity"]["settings"] == 3 * 5


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
    """One page with everybody on it, in the setting of the study; the newcomer has a card with the audit's word.

    The ratios are those of the comparison. What the audit says is the concern of tests/cli/test_report.py.
    """
    monkeypatch.setenv("DPBENCH_DATA", str(tmp_path))
    monkeypatch.setattr("dpbench.gallery.added.audit_words", lambda reference: f"no leak found in {reference}")
    code, out = compared("--page", str(tmp_path / "page"))
    path = tmp_path / "page" / "index.html"
    assert (code, out.splitlines()[-1].split()[0]) == (0, str(path))
    told = json.loads(re.search(r'id="data">(.*?)</script>', path.read_text())[1])
    assert told["names"]["algorithm"] == ["Hb", "Identity", "Same", "Uniform"]
    assert told["names"]["form"] == ["private"]
    (card,) = [each for each in told["cards"] if not each["catalogued"]]
    assert (card["name"], card["audit"][:13]) == ("Same", "no leak found")
    plain = json.loads(compared("--page", str(tmp_path / "page"), "--json")[1])
    assert plain["page"] == str(path)
    ratios = {rival["name"]: rival["ratio"] for rival in told["comparison"]["rivals"]}
    assert ratios == {name: rival["ratio"] for name, rival in plain["rivals"].items()}


def test_a_newcomer_in_the_papers_setting_stands_among_published_forms(tmp_path, capsys, monkeypatch):
    """It is run with what the others were given, and the page shows them together."""
    monkeypatch.setenv("DPBENCH_DATA", str(tmp_path))
    monkeypatch.setattr("dpbench.gallery.added.audit_words", lambda reference: "")  # the page before had it
    (tmp_path / "same.py").write_text(SAME)
    study, own = str(tmp_path / "study"), str(tmp_path / "own")
    setting = ["--variant", "published", "--side-information", "public"]
    assert main(["run", plan(tmp_path, 64, 2), "--store", study, "--jobs", "0", "--quiet", *setting]) == 0
    command = ["compare", f"{tmp_path / 'same.py'}:Same", "--study", study, "--store", own, "--jobs", "0", "--quiet"]
    assert main([*command, "--setting", "published", "--page", str(tmp_path / "page")]) == 0
    told = json.loads(re.search(r'id="data">(.*?)</script>', (tmp_path / "page" / "index.html").read_text())[1])
    assert told["names"]["form"] == ["published"]
    assert told["names"]["algorithm"] == ["Hb", "Identity", "Same", "Uniform"]
