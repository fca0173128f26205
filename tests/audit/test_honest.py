"""Unusual and honest: nothing is refuted, and what is refused is refused with words that help."""

import numpy as np
import pytest

from audit.few import some_of
from audit.honest import HONEST, AtLeast32, LooksAtTheClock, NoisyMaxByHand, Warns
from dpbench.audit import audit, check_algorithm
from dpbench.audit.plain_functions import _scale_leak
from dpbench.domain import Domain
from dpbench.errors import CheckFailed


@pytest.mark.parametrize("algorithm", some_of(HONEST, 4), ids=lambda algorithm: algorithm.name)
def test_an_honest_algorithm_is_not_accused(algorithm):
    """Every layer, with few random cases."""
    check_algorithm(algorithm, cases=24)


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
