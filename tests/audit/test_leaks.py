"""The leaks of both files: each is found, in one line that says what was seen and how to see it again."""

import gc
from fractions import Fraction

import numpy as np
import pytest

from audit.few import some_of
from audit.later_leaks import (
    AFTERWARDS,
    BY_DRAWS,
    BY_ITS_GENERATOR,
    BY_ITS_TAILS,
    BY_MEMORY,
    BY_REPLAY,
    BY_THE_BLACK_BOX,
    LATER,
    LATER_FUNCTIONS,
    NOT_FOUND,
    DrawsUsedTwice,
    ErrorBars,
    ManyCells,
    large_totals_elsewhere,
    noise_of_the_call_before,
    redrawn,
    total_in_thousands,
)
from audit.leaks import BEYOND, CLOSED, LEAKS, LEAKY_FUNCTIONS, CacheByDomain, NearTheLimit, ParityOfTheTotal
from dpbench.audit import audit, audit_function, black_box, check_algorithm
from dpbench.audit.conformance import check_memory
from dpbench.audit.mechanism_laws import check_mechanism
from dpbench.audit.own_mechanisms import check_own_mechanisms
from dpbench.audit.plain_functions import _check_memory, _runs_of
from dpbench.audit.replay_layer import check_replay
from dpbench.audit.subject import Subject, built, workload_for
from dpbench.audit.suspects import _at_borders, suspicious_pairs
from dpbench.domain import Domain
from dpbench.errors import CheckFailed
from dpbench.workloads import Prefix


@pytest.mark.parametrize("leak", [*some_of(LEAKS, 6), *some_of(BY_REPLAY, 2)], ids=lambda leak: leak.__name__)
def test_the_randomised_replay_finds_it(leak):
    """By the cases of the default audit, with a reproduction."""
    with pytest.raises(CheckFailed, match="seen with") as caught:
        check_replay(Subject(built(leak)))
    assert "\n" not in str(caught.value)
    assert "epsilon=" in str(caught.value) or "rho=" in str(caught.value)


@pytest.mark.parametrize("leak", AFTERWARDS, ids=lambda leak: leak.__name__)
def test_an_output_that_changes_after_it_was_returned_is_found(leak):
    """Threads that outlive their runs are given time to show what they do."""
    with pytest.raises(CheckFailed, match="changes its output after it has returned it"):
        check_replay(Subject(built(leak)))


@pytest.mark.parametrize("leak", some_of(BY_DRAWS, 1), ids=lambda leak: leak.__name__)
def test_draws_that_do_not_fit_their_density_are_found_where_that_is(leak):
    """On large counts, on large domains and for a small budget too."""
    with pytest.raises(CheckFailed, match="does not draw from its density"):
        check_own_mechanisms(Subject(built(leak)))


def test_draws_that_are_used_twice_are_found():
    """Each question by itself has the right law; what the mechanism is after a draw gives it away."""
    with pytest.raises(CheckFailed, match="keeps something of its draws"):
        check_own_mechanisms(Subject(built(DrawsUsedTwice)))


@pytest.mark.parametrize("leak", BY_MEMORY, ids=lambda leak: leak.__name__)
def test_what_follows_from_earlier_runs_is_found(leak):
    """On the same domain and on others; nothing of it follows from the counts, so no replay sees it."""
    with pytest.raises(CheckFailed, match="gives another output for one seed on .* than in a fresh process"):
        check_memory(Subject(built(leak)))


def few_draws(leak, counts=(0, 3, 7, 1)):
    """Examine the mechanism of an algorithm by few draws, between two neighbours."""
    counts = np.array(counts)
    check_mechanism(leak.mechanism(), Fraction(1), counts, counts + (np.arange(counts.size) == 1), draws=2000)


@pytest.mark.parametrize("leak", BY_ITS_GENERATOR, ids=lambda leak: leak.__name__)
def test_noise_that_does_not_come_from_the_channel_is_found(leak):
    """A generator that is made, copied or seeded again, numpy's and Python's own, and a clock."""
    with pytest.raises(CheckFailed, match="while it draws: noise comes from the channel given to draw"):
        few_draws(leak)


def test_a_generator_that_is_frozen_is_found():
    """Frozen objects are not listed by the collector; a plug-in can freeze its own."""
    (leak,) = (each for each in BY_ITS_GENERATOR if each.__name__ == "AsksBySeedsOfOneKept")
    gc.freeze()
    with pytest.raises(CheckFailed, match="while it draws: noise comes from the channel given to draw"):
        few_draws(leak)


@pytest.mark.parametrize("leak", BY_ITS_TAILS, ids=lambda leak: leak.__name__)
def test_what_rare_draws_do_is_found(leak):
    """Once in ten million draws and less; no sample has it."""
    with pytest.raises(CheckFailed, match="where a draw of .* is one of the (largest|smallest), as is rare,"):
        few_draws(leak)


def test_a_function_that_keeps_its_noise_from_the_fiftieth_call_on_is_found():
    """Each output by itself is as it ought to be, so the black box sees nothing."""
    with pytest.raises(CheckFailed, match="keeps something between runs"):
        _check_memory(noise_of_the_call_before, "it")


@pytest.mark.parametrize(
    ("function", "steps"),
    [(total_in_thousands, lambda x: round(x.sum() / 1000)), (large_totals_elsewhere, lambda x: x.sum() < 1000)],
    ids=["rounded", "from 1000 on"],
)
def test_both_sides_of_borders_are_considered(function, steps):
    """The search for pairs ends at the border, and fresh runs on that pair then tell."""
    pairs = suspicious_pairs(_runs_of(function), workload_for(Domain.of("4")), 1.0, 0, 3)
    assert any(steps(x) != steps(y) for x, y in pairs)


@pytest.mark.parametrize("n", [1, 4, 36])
def test_a_border_is_between_neighbours(n):
    """One record more, in a cell and as a total."""
    pairs = [*_at_borders(n)]
    assert all((y - x).sum() == 1 and np.count_nonzero(y - x) == 1 and x.min() >= 0 for x, y in pairs)
    for border in (1, 2, 256, 500, 1000, 5000):
        assert any(border in y and border - 1 in x for x, y in pairs)
        assert any(y.sum() == border for _, y in pairs)


@pytest.mark.parametrize("leak", BY_THE_BLACK_BOX, ids=lambda leak: leak.__name__)
def test_the_quick_black_box_finds_what_is_below_the_handle(leak, monkeypatch):
    """Unasked, where nothing else was found; with as many runs on a busy machine as on a quiet one."""
    monkeypatch.setattr(black_box, "SECONDS", 60.0)
    report = audit(leak, cases=40)
    assert [layer.name for layer in report.failures] == ["black box"]
    assert "is refuted" in report.layer("black box").cause


def test_a_claim_that_is_wrong_on_many_cells_alone_is_found():
    """One record more in every cell at once tries all of them, and the cell that does it is found by halves."""
    with pytest.raises(
        CheckFailed, match=r"on 70001: 'totals of blocks' claims .* one record moved what it asks by 2;"
    ):
        check_replay(Subject(built(ManyCells)))


def test_error_bars_are_looked_at():
    """They leave a run too."""
    with pytest.raises(CheckFailed, match="gave other error bars"):
        check_replay(Subject(built(ErrorBars), cases=40))


@pytest.mark.slow
def test_a_loss_that_is_half_as_large_again_is_found_in_a_plain_function():
    """In the time that there is, by looking again where most was seen."""
    assert not audit_function(redrawn).passed


@pytest.mark.slow
@pytest.mark.parametrize("leak", [*LEAKS, *LATER], ids=lambda leak: leak.__name__)
def test_the_default_check_finds_it(leak):
    """Whatever layer comes first."""
    with pytest.raises(CheckFailed):
        check_algorithm(leak)


@pytest.mark.parametrize(
    "function", [*some_of(LEAKY_FUNCTIONS, 1), *some_of(LATER_FUNCTIONS, 2)], ids=lambda function: function.__name__
)
def test_leaky_plain_functions_are_found(function):
    """The search finds the counts on which the black box shows it; false alarms 0.001 per function."""
    report = audit_function(function, runs=2000)
    assert not report.passed
    assert "seen with x = " in report.layer("black box").cause


@pytest.mark.slow
@pytest.mark.parametrize("leak", [*BEYOND, *NOT_FOUND], ids=lambda leak: leak.__name__)
def test_what_is_beyond_the_audit_stays_unseen(leak):
    """Said here so that nobody believes otherwise: time is not looked at, nor a run that does not happen."""
    check_algorithm(leak)


def test_a_failing_case_is_made_small():
    """One cell differs and the others are empty, one trial, noise as it ought to be."""
    cause = audit(ParityOfTheTotal, cases=8).layer("replay").cause
    assert "trials=1" in cause
    assert "epsilon=1" in cause
    assert "noise" not in cause.partition("seen with")[2]


def test_far_vectors_lead_to_the_neighbours_between_which_it_switches():
    """Bisection ends at the record that makes the difference."""
    with pytest.raises(CheckFailed, match=r"on a neighbour .* cell \d+ from \d+ to \d+"):
        check_replay(Subject(built(NearTheLimit)))


def test_what_is_kept_between_runs_is_found_although_the_audit_has_run_before():
    """Every batch starts from the same state, so no earlier run of the audit fills a cache for both sides."""
    for _ in range(2):
        with pytest.raises(CheckFailed, match="not private"):
            check_replay(Subject(built(CacheByDomain), cases=40))


@pytest.mark.parametrize("leak", CLOSED, ids=lambda leak: leak.__name__)
def test_what_leaks_no_more_leaves_plain_numbers(leak):
    """An array with attributes of its own is an array without them outside."""
    outcome = leak().outcome(np.arange(8), Prefix(8), epsilon=1, seed=0)
    assert type(outcome.estimate) is np.ndarray
    assert not hasattr(outcome.estimate, "true")
