from fractions import Fraction

import numpy as np
import pytest

from dpbench import algorithms
from dpbench.algorithm import Algorithm
from dpbench.audit import check_algorithm
from dpbench.audit.conformance import workload_for
from dpbench.domain import Domain
from dpbench.errors import CheckFailed
from dpbench.privacy import PrivateData
from dpbench.privacy.transcript import Direct

DECLARERS = [name for name in algorithms.names() if "scale" in algorithms.get(name).side_information]
DOMAINS = {1: (32,), 2: (32, 32)}


class Poisoned(Direct):
    """Answers the question for the scale with a poison, whatever the truth is, and notes every later question."""

    def __init__(self, poison):
        self.poison, self.asked = poison, []

    def answer(self, question, draw):
        outcome = draw()
        if "scale" in question.why and not self.asked:
            self.asked.append("the scale")
            return np.full_like(outcome, self.poison)
        self.asked.append((question.signature(), question.truth.tobytes()))
        return outcome


def course(algorithm, x, poison):
    """The questions after the purchase, up to and with the first one, and the estimate."""
    channel = Poisoned(poison)
    release = algorithm._outcome(x, workload_for(domain_of(x)), 0.5, trials=2, channel=channel, seed=0)
    return channel.asked[1], release


def domain_of(x):
    return Domain(x.shape)


def shape_for(algorithm):
    return next(shape for axes, shape in DOMAINS.items() if algorithm.supports(shape))


def test_the_paper_s_declarers_are_all_here():
    """MWEM, MWEM*, AHP*, UGrid, AGrid and SF are told the scale, or buy it."""
    assert set(DECLARERS) >= {"MWEM", "MWEM*", "AHP*", "UGrid", "AGrid", "SF"}


@pytest.mark.parametrize("name", DECLARERS)
def test_once_the_scale_is_estimated_nothing_reads_the_true_one(name, monkeypatch):
    """With a poisoned purchase the first question is the same on any data; publishing the truth would be an error."""

    def never(self):
        raise AssertionError("the true scale was read")

    monkeypatch.setattr(PrivateData, "publish_scale", never)
    algorithm = algorithms.get(name)
    shape = shape_for(algorithm)
    few, many = np.ones(shape, dtype=np.int64), np.full(shape, 1000)
    for poison in (30.0, 5e6):
        first, _ = course(algorithm, few, poison)
        assert first[0] == course(algorithm, many, poison)[0][0]


@pytest.mark.parametrize("name", ["MWEM", "MWEM*"])
def test_the_estimate_adds_up_to_the_poison(name):
    """Where the total of the output is the scale, it is the estimated one."""
    _, release = course(algorithms.get(name), np.arange(64), 123456.0)
    np.testing.assert_allclose(release.estimate.sum(axis=1), 123456.0, rtol=1e-9)


@pytest.mark.parametrize("name", ["UGrid", "AGrid", "SF", "MWEM*", "AHP*"])
def test_the_structure_follows_the_poison(name):
    """A grid, a clipping bound, a number of rounds or a split of the budget is that of the estimated scale."""
    algorithm = algorithms.get(name)
    x = np.arange(np.prod(shape_for(algorithm))).reshape(shape_for(algorithm))
    assert course(algorithm, x, 2.0)[0] != course(algorithm, x, 5e7)[0]


@pytest.mark.parametrize("name", DECLARERS)
def test_the_same_algorithm_fails_with_a_public_scale(name):
    """The audit of all private forms passes with an estimated scale (tests/audit); told the truth, each is caught."""
    with pytest.raises(CheckFailed, match="scale"):
        check_algorithm(algorithms.get(name), side_information="public")


def test_a_stranger_s_algorithm_is_repaired_without_a_line_from_its_author():
    """Declaring the scale is enough: it is estimated, charged, and the rest of epsilon is what the author sees."""

    class Flat(Algorithm):
        name = "Flat"
        side_information = ("scale",)

        def estimate_once(self, data, workload):
            share = data.scale / data.domain.size
            data.forfeit(data.epsilon, "nothing else is asked")
            return np.full(data.domain.shape, float(share))

    release = Flat().outcome(np.arange(64), workload_for(domain_of(np.arange(64))), 2, trials=3, seed=1)
    assert [str(charge.amount) for charge in release.ledger.charges[:1]] == ["1/10"]
    assert release.ledger.private


@pytest.mark.parametrize("share", ["1/100", "1/2"])
def test_the_share_is_settable(share):
    """The purchase costs the share that was asked for."""
    algorithm = algorithms.get("UGrid")
    x = np.full((8, 8), 3)
    release = algorithm.outcome(x, workload_for(domain_of(x)), 1, scale_share=Fraction(share), seed=0)
    assert release.ledger.charges[0].amount == Fraction(share)
