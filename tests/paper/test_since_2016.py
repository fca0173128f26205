"""Claims of our own are decided both ways on errors that are chosen; their numbers are those that were fixed."""

import tomllib
from importlib.resources import files

import numpy as np
import pytest

from dpbench.paper import open_problems as problems
from dpbench.paper import since_2016 as since
from dpbench.paper.all_claims import verdicts
from dpbench.paper.hypotheses import hypotheses, is_ours
from dpbench.paper.study import Part, Study
from dpbench.paper.verdict import HOLDS, REFUTED, UNDECIDED, Undecided
from dpbench.results import Results
from paper.synthetic import rows

NAMES = dict.fromkeys((1, 2), ("Hb", "HbW", "HDMM", "TopDown", "Cascade", "DAWA", "Identity"))
AT = {each.name: each.at for each in hypotheses()}
USUAL = {"Hb": 1.0, "HbW": 0.9, "HDMM": 0.8, "TopDown": 0.5, "Cascade": 0.4, "DAWA": 1.2, "Identity": 2.0}


def private(error=None, **options):
    """A private study in which errors are factors over the scale, or as a function says."""

    def by_name(name, dataset, scale, dimensions):
        factor = USUAL | options.get("factors", {})
        return (0.8 if dimensions == 2 and name != "Hb" else 1.0) * factor[name] / scale

    kept = {key: value for key, value in options.items() if key != "factors"}
    found = rows(error or by_name, variant="private", names=NAMES, noise=0.0, **kept)
    return Study.of(Results._from_rows(found))


@pytest.fixture(scope="module")
def usual():
    return private()


def test_every_hypothesis_is_decided_by_one_function():
    """None is forgotten, none is decided twice."""
    names = [*since.DECIDING, *problems.DECIDING]
    assert sorted(names) == sorted(each.name for each in hypotheses())
    text = files("dpbench.paper").joinpath("data", "hypotheses.toml").read_text()
    assert len(tomllib.loads(text)["hypothesis"]) == len(names)


def test_the_leader_has_the_lowest_regret(usual):
    """Cascade at 0.4, TopDown at 0.5: a regret of 1 and one of 1.25; as good as TopDown it would not be enough."""
    answer = since.lowest_regret(usual, AT["lowest regret"])
    assert answer.holds
    assert "1-D Cascade 1.00, next TopDown 1.25" in answer.ours
    assert since.lowest_regret(private(factors={"Cascade": 0.49}), AT["lowest regret"]).holds is False
    assert since.lowest_regret(private(factors={"Cascade": 0.6}), AT["lowest regret"]).holds is False


def test_hdmm_is_set_beside_expected_errors(usual):
    """A ratio that expected errors do not give is said, though it is below 1."""
    answer = since.hdmm_over_hb(usual, AT["HDMM over Hb"])
    exact = answer.rows[0]["by expected errors"]
    assert answer.rows[0]["measured"] == pytest.approx(0.8)
    assert exact == pytest.approx(0.803, abs=0.001)  # docs: .803 at 4096
    assert answer.holds is False  # 0.64 in the plane where 0.58 is expected
    assert "128x128" in answer.why


def test_weights_gain_more_in_the_plane(usual):
    """0.9 on a line, 0.72 in the plane; the reverse is refuted, and so is a loss."""
    assert since.weights(usual, AT["weights"]).holds
    assert since.weights(private(factors={"HbW": 1.3}), AT["weights"]).holds is False


def test_ingredients_by_scale(usual):
    """Each scale counts, and the smallest has a bar of its own."""
    nonnegative = since.DECIDING["non-negativity"]
    assert nonnegative(usual, AT["non-negativity"]).holds
    assert nonnegative(private(factors={"TopDown": 0.6}), AT["non-negativity"]).holds is False  # 0.67 at the smallest

    def late(name, dataset, scale, dimensions):
        return USUAL[name] * (3 if name == "Cascade" and scale == 10**8 else 1) / scale

    answer = since.DECIDING["posterior"](private(late), AT["posterior"])
    assert answer.holds is False
    assert answer.why == "1-D at 1e+08, 2-D at 1e+08"


def gaussian(factor):
    """The same study with Gaussian noise, whose error is a factor of Cascade's."""
    found = rows(
        lambda n, _d, s, _n: factor * USUAL[n] / s, variant="private", names={1: ("Hb",), 2: ("Hb",)}, noise=0.0
    )
    changed = [row.__class__(**(vars(row) | {"delta": 1e-9})) for row in found]
    return Part("gaussian", Results._from_rows(changed), None)


def test_pure_against_gaussian_noise(usual):
    """Pure at 0.4 (line) and 0.32 (plane): below 0.5; at 128x128 it was expected to lose."""
    at = AT["pure or Gaussian"]
    study = Study(usual.published, usual.private, gaussian(0.5))
    answer = since.pure_or_gaussian(study, at)
    assert [row["pure over Gaussian"] for row in answer.rows] == pytest.approx([0.8, 0.64])
    assert answer.why == "128x128 0.64"
    assert since.pure_or_gaussian(study, at | {"pure": ["4096", "128x128"]}).holds
    with pytest.raises(Undecided, match="Gaussian"):
        since.pure_or_gaussian(usual, at)


def test_who_is_below_the_limit():
    """Bias of a data-dependent algorithm excuses it; a data-independent one below refutes."""
    tiny = private(lambda name, _d, scale, _n: (1e-9 if name == "Cascade" else 100.0) / scale)
    answer = since.beats_the_limit(tiny, AT["limit"])
    assert [row["algorithm"] for row in answer.rows] == ["Cascade"]
    assert answer.holds is False  # its bias is 0 in these rows
    assert (
        since.beats_the_limit(private(lambda _a, _d, scale, _n: 100 / scale), AT["limit"]).ours == "nobody is below it"
    )
    fixed = private(lambda name, _d, scale, _n: (1e-9 if name == "Hb" else 100.0) / scale)
    assert "Hb" in since.beats_the_limit(fixed, AT["limit"]).why


def test_how_far_data_dependence_pays():
    """Cascade pays up to 10^7 on a line; DAWA, of the 19, nowhere."""

    def error(name, dataset, scale, dimensions):
        return USUAL[name] * (5 if name in ("Cascade", "TopDown") and scale == 10**8 and dimensions == 1 else 1) / scale

    answer = since.border(private(error), AT["border of data-dependence"])
    assert answer.ours.startswith("4096: pays up to 1e+07, with the 19 up to no scale; 128x128: pays up to 1e+08")
    assert answer.holds
    assert since.border(private(factors={"Cascade": 3, "TopDown": 3}), AT["border of data-dependence"]).holds is False


def test_one_technique(usual):
    """The share of settings near the best, and the worst of all."""
    at = AT["one technique"]
    assert problems.one_technique(usual, at).holds

    def sometimes(name, dataset, scale, dimensions):
        return USUAL[name] * (4 if name == "Cascade" and dataset in ("ADULT", "ADULT-2D") else 1) / scale

    answer = problems.one_technique(private(sometimes), at)
    assert answer.holds is False
    assert "at most 3.20" in answer.ours  # 1.6 over TopDown's 0.5


def test_ingredients_by_dataset(usual):
    """0.9, 0.56 and 0.8: non-negativity gives most everywhere."""
    at = AT["ingredients"]
    answer = problems.ingredients(usual, at)
    assert answer.holds
    assert len(answer.rows) == 27
    assert problems.ingredients(private(factors={"HbW": 0.55}), at).holds is False


def test_features_that_explain_and_that_do_not():
    """Errors that follow a feature are explained; errors that follow a hash are not."""
    table = {(r["dataset"], r["domain"]): r for r in problems.kept("features.csv", "-")}
    follows = private(lambda n, d, s, dim: np.exp(float(table[d, "4096" if dim == 1 else "128x128"]["peak"])) / s)
    assert problems.features(follows, AT["features"]).holds
    noise = np.random.default_rng(0)
    random = {(d, n): noise.normal() for d, _ in table for n in USUAL}
    answer = problems.features(private(lambda n, d, s, dim: np.exp(random[d, n]) / s), AT["features"])
    assert answer.holds is False


def test_steadiness():
    """All trials are alike, so the least mean has the least percentile."""
    assert problems.steady(private(), AT["steady and accurate"]).holds


def test_verdicts_say_holds_or_refuted(usual):
    """And nothing in the paper's words; what lacks data is undecided with a reason."""
    found = [each for each in verdicts(usual, is_ours) if is_ours(each.group)]
    assert len(found) == len(hypotheses())
    assert {each.verdict for each in found} <= {HOLDS, REFUTED, UNDECIDED}
    assert all(each.why for each in found if each.verdict == UNDECIDED)
