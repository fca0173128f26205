"""Unusual and honest: nothing is refuted, and what is refused is refused with words that help."""

import weakref
from fractions import Fraction

import numpy as np
import pytest

from audit.few import some_of
from audit.honest import HONEST, OWN_DRAWS, AtLeast32, LooksAtTheClock, NoisyMaxByHand, SmallCache, Warns, public_table
from dpbench.audit import audit, check_algorithm
from dpbench.audit.conformance import check_memory
from dpbench.audit.mechanism_laws import check_mechanism
from dpbench.audit.plain_functions import _check_memory, _scale_leak
from dpbench.audit.subject import Subject, built
from dpbench.domain import Domain
from dpbench.errors import CheckFailed


@pytest.mark.parametrize("algorithm", some_of(HONEST, 4), ids=lambda algorithm: algorithm.name)
def test_an_honest_algorithm_is_not_accused(algorithm):
    """Every layer, with few random cases."""
    check_algorithm(algorithm, cases=24)


@pytest.mark.parametrize("loss", [Fraction(1), Fraction(1, 64)], ids=str)
@pytest.mark.parametrize("algorithm", OWN_DRAWS, ids=lambda algorithm: algorithm.name)
def test_an_honest_mechanism_is_not_accused_for_its_tails(algorithm, loss):
    """Rejection, inversion by a public table, public bounds and whole numbers, between neighbours and further apart."""
    counts = np.array([0, 3, 7, 1])
    for seed, records in enumerate((1, 1, 40)):
        more = counts + records * (np.arange(4) == 2)
        mechanism = algorithm.mechanism()
        check_mechanism(mechanism, loss, counts, more, neighbours=records == 1, draws=4000, seed=seed)


def test_a_weak_reference_to_something_gone_is_no_generator():
    """Any package may keep one, and asking it for its class raises."""
    gone = weakref.proxy(set())
    assert type(gone) is weakref.ProxyType
    check_mechanism(OWN_DRAWS[0].mechanism(), Fraction(1), np.array([0, 3]), np.array([1, 3]), draws=500)


def test_public_tables_that_are_kept_and_thrown_away_are_no_memory():
    """The same bits come out of a table that is made again; a count of runs by itself changes nothing."""
    check_memory(Subject(built(SmallCache)))

    def keeps_tables(x, workload, epsilon, rng):
        return x + rng.laplace(scale=1 / epsilon, size=x.shape) + public_table(x.shape, 3)

    _check_memory(keeps_tables, "it")


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("algorithm", HONEST, ids=lambda algorithm: algorithm.name)
def test_an_honest_algorithm_is_not_accused_by_the_whole_audit(algorithm, seed):
    """With the black box."""
    report = audit(algorithm, seed=seed, black_box=6000)
    assert report.passed, [layer.cause for layer in report.failures]


def test_what_supports_keeps_out_is_counted():
    """The words say how much of what was drawn could not be tried."""
    figures = audit(AtLeast32, cases=16).layer("replay").figures
    assert figures["domains kept out by supports()"] > 0
    assert figures["cells"][0] >= 32


def test_noisy_max_by_hand_is_pointed_to_the_verb():
    """The claim is true of one score and not of all that are asked for."""
    with pytest.raises(CheckFailed, match=r"'prefixes' claims a sensitivity of 1, .* use data\.choose"):
        check_algorithm(NoisyMaxByHand)


def test_a_warning_is_no_failure_and_is_said():
    """Replay compares warnings, so one that follows from the counts is found there."""
    report = audit(Warns, cases=16)
    assert report.passed, [layer.cause for layer in report.failures]
    assert any(note.startswith("it warns (") for note in report.notes)


def test_a_clock_is_not_called_a_leak():
    """Two runs on the same counts differ: that is what was seen, and that is what is said."""
    report = audit(LooksAtTheClock, cases=16)
    assert "let rounds end a loop, not a clock" in report.layer("conformance").cause
    assert "cannot be examined" in report.layer("replay").cause
    assert "not private" not in report.layer("replay").cause


def test_a_public_total_is_no_leak_of_the_scale():
    """Sums that differ by rounding are the same; one that follows the number of records is not."""

    def shares(x, workload, epsilon, rng):
        noisy = np.maximum(x + rng.laplace(scale=1 / epsilon, size=x.shape), 0.01)
        return 1000 * noisy / noisy.sum()

    def of_the_records(x, workload, epsilon, rng):
        return shares(x, workload, epsilon, rng) * (1 + x.sum())

    assert _scale_leak(shares, Domain.of("12")) == ""
    assert "changes with the number of records" in _scale_leak(of_the_records, Domain.of("12"))
