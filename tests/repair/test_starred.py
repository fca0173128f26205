from fractions import Fraction

import numpy as np
import pytest

from dpbench.audit.replay_layer import check_replay
from dpbench.audit.subject import Subject
from dpbench.domain import Domain
from dpbench.errors import InvalidTraining
from dpbench.privacy.transcript import Direct
from dpbench.repair.starred import AHPStar, MWEMStar
from dpbench.workloads import Prefix, RandomRange

STARRED = [MWEMStar, AHPStar]


class ForcedScale(Direct):
    """Answers the question for the scale with a number of its own, whatever the truth is."""

    def __init__(self, scale):
        self.scale = scale

    def answer(self, question, draw):
        outcome = draw()
        return np.full_like(outcome, self.scale) if "scale" in question.why else outcome


def test_nothing_reads_the_true_scale_once_it_is_estimated():
    """With a poisoned purchase MWEM* adds up to the poison, and looks its rounds up there."""
    x, workload = np.arange(64), Prefix(64)
    release = MWEMStar()._outcome(x, workload, 1, trials=2, channel=ForcedScale(123456.0), seed=0)
    np.testing.assert_allclose(release.estimate.sum(axis=1), 123456.0, rtol=1e-9)
    rounds = MWEMStar()._parameters_for(Domain((64,)), 123456.0)["rounds"]
    selections = [charge for charge in release.ledger.charges if charge.kind == "choose"]
    assert len(selections) == min(rounds, 64)


@pytest.mark.parametrize("kind", STARRED)
def test_trials_with_different_parameters_are_each_their_own(kind):
    """Where the noisy scale leads trials to different keys, each trial is as if it were alone."""
    x, workload = np.full(16, 3), RandomRange(16, 20)
    many = kind().run(x, workload, 0.05, trials=12, seed=0)
    few = kind().run(x, workload, 0.05, trials=3, seed=0)
    np.testing.assert_array_equal(many[:3], few)


@pytest.mark.parametrize("kind", STARRED)
def test_published_parameters_are_the_authors(kind):
    """table="published" uses the authors' keys."""
    parameters = kind(table="published")._parameters_for(Domain((4096,)), 1e4)
    assert parameters == ({"rounds": 12} if kind is MWEMStar else {"rho": 0.8, "eta": 0.1})


def test_rounds_under_zcdp_are_those_of_equal_noise():
    """T rounds at rho are as noisy as at epsilon 2 sqrt(T rho) under pure DP, and the table asks for T there."""
    star, domain, rho = MWEMStar(), Domain((256,)), Fraction(1, 400)
    channel = ForcedScale(1e6)
    ledger = star._outcome(np.full(256, 4000), Prefix(256), rho=rho, seed=0, channel=channel).ledger
    rounds = sum(charge.kind == "choose" for charge in ledger.charges)
    assert rounds == star._parameters_for(domain, 2 * (rounds * rho) ** 0.5 * 1e6)["rounds"] == 80
    assert star._parameters_for(domain, 2 * rho**0.5 * 1e6)["rounds"] == 40


@pytest.mark.parametrize("kind", STARRED)
def test_a_ledger_of_zcdp_begins_with_the_scale_and_spends_all(kind):
    """A twentieth of rho for the scale, Gaussian noise on what is measured, and selections at an eighth of e^2."""
    outcome = kind().outcome(np.arange(64), Prefix(64), rho=Fraction(1, 2), seed=0)
    scale, *others = outcome.ledger.charges
    assert (scale.why, scale.amount, scale.kind) == ("scale (side information)", Fraction(1, 40), "gaussian")
    assert {charge.kind for charge in others} == ({"choose", "gaussian"} if kind is MWEMStar else {"gaussian"})
    assert outcome.ledger.spent == Fraction(1, 2)
    assert outcome.ledger.private


@pytest.mark.parametrize("kind", STARRED)
def test_replay_under_zcdp(kind):
    """The same calls and the same output on neighbours, and no call beyond its charge of rho."""
    tried = check_replay(Subject(kind(), replayed=("zCDP",), domain=Domain((12,)), cases=48))
    assert tried["cases"] > 0
    assert tried["notions"] == ["zCDP"]
    assert tried["largest share of epsilon"] <= 1


def test_rounds_never_decrease_with_the_signal():
    """The shipped table is monotone for every trained domain."""
    star = MWEMStar()
    for domain in (Domain((256,)), Domain((4096,)), Domain((128, 128))):
        rounds = [star._parameters_for(domain, 10 ** (step / 4))["rounds"] for step in range(40)]
        assert rounds == sorted(rounds)
        assert 1 <= rounds[0] < rounds[-1] <= 200


@pytest.mark.parametrize("kind", STARRED)
def test_a_bad_table_is_refused_when_it_is_named(kind, tmp_path):
    """A table that cannot be read, or is for another algorithm, is told at once."""
    with pytest.raises(InvalidTraining, match="cannot read"):
        kind(table=str(tmp_path / "none.json"))
    path = tmp_path / "other.json"
    path.write_text('{"dpbench_table": 1, "algorithm": "Other", "rows": [1]}')
    with pytest.raises(InvalidTraining, match="for Other"):
        kind(table=str(path))
