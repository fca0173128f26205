"""What every mechanism must be, whichever it is; ``check_mechanism`` is the part that anybody's can be held to."""

from fractions import Fraction

import numpy as np
import pytest

from dpbench.privacy import ZCDP, NoNoise, PrivateData, RandomNoise, Recording, Replay
from dpbench.testing import check_mechanism
from privacy.mechanisms.questions import CELLS, COUNTS, DISCRETE, MECHANISMS, every_outcome

ORDERS = (1.5, 2, 4, 16, 64)
each_mechanism = pytest.mark.parametrize("mechanism", MECHANISMS.values(), ids=MECHANISMS)
each_discrete = pytest.mark.parametrize("mechanism", DISCRETE.values(), ids=DISCRETE)


def more(counts, cell, records=1):
    return np.where(np.arange(CELLS) == cell, counts + records, counts)


def neighbours(many, seed):
    rng = np.random.default_rng(seed)
    for _ in range(many):
        counts = rng.integers(0, rng.choice([2, 6, 60]), CELLS)
        yield counts, more(counts, int(rng.integers(CELLS)))


@each_mechanism
@pytest.mark.parametrize("records", [1, 4])
def test_draws_and_losses_are_what_the_mechanism_says(mechanism, records):
    """15,000 draws under each of two truths, false alarms 1e-6; log-ratios, losses and price as well."""
    figures = check_mechanism(
        mechanism, Fraction(1), COUNTS, more(COUNTS, 1, records), neighbours=records == 1, draws=15_000, seed=1
    )
    assert figures["tests"] > 15


@each_discrete
def test_probabilities_add_up_to_one(mechanism):
    """Over all outcomes, at several prices, to 1e-12."""
    for loss in (Fraction(1, 10), Fraction(3)):
        for counts, _ in neighbours(5, seed=2):
            logs = mechanism.log_density(every_outcome(mechanism), mechanism.truth(counts), mechanism.level(loss))
            assert np.exp(logs).sum() == pytest.approx(1, abs=1e-12)


@each_discrete
@pytest.mark.parametrize("loss", [Fraction(1, 5), Fraction(2)])
def test_no_outcome_loses_more_than_is_paid(mechanism, loss):
    """Every outcome of 25 pairs of neighbours: |log-ratio| <= largest loss <= what is paid."""
    outcomes, level = every_outcome(mechanism), mechanism.level(loss)
    for counts, neighbour in neighbours(25, seed=3):
        one, other = mechanism.truth(counts), mechanism.truth(neighbour)
        observed = np.abs(mechanism.log_ratio(outcomes, one, other, level)).max()
        largest = mechanism.largest_loss(one, other, level)
        assert observed <= largest + 1e-11
        assert largest <= float(loss) * (1 + 1e-12)
        assert mechanism.largest_loss(other, one, level) == pytest.approx(largest, rel=1e-9)


@each_discrete
@pytest.mark.parametrize("rho", [Fraction(1, 100), Fraction(2)])
def test_no_divergence_is_above_the_charge(mechanism, rho):
    """Renyi divergences, computed from all probabilities, are at most their order times the price in zCDP."""
    loss = ZCDP(rho)._loss(mechanism, rho)
    outcomes, level = every_outcome(mechanism), mechanism.level(loss)
    for counts, neighbour in neighbours(15, seed=4):
        one, other = mechanism.truth(counts), mechanism.truth(neighbour)
        logs, there = (mechanism.log_density(outcomes, truth, level) for truth in (one, other))
        price = mechanism.divergence(one, other, level)
        assert price <= float(rho) * (1 + 1e-12)
        for order in ORDERS:
            terms = order * logs + (1 - order) * there
            divergence = (terms.max() + np.log(np.exp(terms - terms.max()).sum())) / (order - 1)
            assert divergence <= order * price + 1e-10


@each_mechanism
def test_a_transcript_replays(mechanism):
    """The neighbour is told the same, and the loss of each answer is the mechanism's log-ratio, within the charge."""
    budget = 1 if mechanism.pure else ZCDP(Fraction(1))
    recording, told = Recording(), []
    told.append(PrivateData.open(COUNTS, budget, RandomNoise.seeded(0, 30), channel=recording).ask(mechanism, 1))
    replay = Replay(recording)
    other = more(COUNTS, 2)
    told.append(PrivateData.open(other, budget, NoNoise(30), channel=replay).ask(mechanism, 1))
    replay.finish()
    assert np.array_equal(*told)
    level = mechanism.level(Fraction(1))
    wanted = mechanism.log_ratio(told[0], mechanism.truth(COUNTS), mechanism.truth(other), level)
    loss, _ = replay.total(30)
    assert np.array_equal(loss, wanted)
    assert not mechanism.pure or np.abs(loss).max() <= 1 + 1e-9


@each_mechanism
def test_a_trial_is_the_same_alone_and_in_a_batch(mechanism):
    """Whatever a trial draws comes from its own stream, and what is drawn after it as well."""
    budget = 1 if mechanism.pure else ZCDP(Fraction(1))
    half = Fraction(1, 2)
    batch = PrivateData.open(COUNTS, budget, RandomNoise.seeded(7, 4))
    together = [batch.ask(mechanism, half), batch.ask(mechanism, half)]
    alone = PrivateData.open(COUNTS, budget, RandomNoise.seeded(7, 6))
    for trial, data in zip(range(4), alone.each_trial(), strict=False):
        for asked in together:
            assert np.array_equal(asked[trial], data.ask(mechanism, half))
