"""The audit as a whole: mutants are flagged, private forms pass, forms that are not private are found out."""

import json
import re

import numpy as np
import pytest

from audit.few import some_of
from audit.leaks import TenthAboveThreeHundred
from audit.mutants import (
    BROKEN_FUNCTIONS,
    MUTANTS,
    GridByTrueScale,
    NoiseReused,
    laplace_mechanism,
)
from dpbench import algorithms
from dpbench.algorithms.u_grid import UGrid
from dpbench.audit import audit, audit_function
from dpbench.audit.replay_layer import check_replay
from dpbench.audit.report import LAYERS
from dpbench.audit.subject import Subject, built
from dpbench.errors import CheckFailed

MEASURED = {"sensitivity", "replay", "black box"}
QUICK = ("Identity", "EFPA")
WITHIN_ITS_CHARGES = {"SF"}
"""With a public scale: it only divides a score, which then moves by less than is paid for."""
NOT_PRIVATE = [name for name, kind in algorithms.catalogue().items() if not kind(variant="published").is_private]
USE_SCALE = [name for name, kind in algorithms.catalogue().items() if "scale" in kind.side_information]


def flagging(report):
    return {layer.name for layer in report.failures}


@pytest.mark.slow
@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_every_mutant_is_flagged_by_the_replay(mutant):
    """Alone, with the cases of the default audit; only what overdraws its budget fails there rather than leaks."""
    with pytest.raises(CheckFailed) as caught:
        check_replay(Subject(built(mutant)))
    assert "\n" not in str(caught.value)


def test_noise_that_is_used_twice_shows_where_streams_are_watched():
    """No answer is wrong and no charge is missing: the source of noise was set back."""
    assert (
        "a stream of noise was not where the last draw had left it" in audit(NoiseReused, cases=8).layer("replay").cause
    )


def test_a_switch_at_any_total_is_found_and_named():
    """Bisection ends at the two neighbours between which the grid changes."""
    assert re.search(r"on a neighbour it asked 'blocks'.* cell \d+ from", audit(GridByTrueScale).layer("replay").cause)


@pytest.mark.parametrize("function", some_of(BROKEN_FUNCTIONS, 2), ids=lambda function: function.__name__)
def test_broken_plain_functions_are_flagged(function):
    """Code that knows nothing of this package can be audited too."""
    assert flagging(audit_function(function, runs=2000))


def test_a_plain_laplace_mechanism_passes():
    """The same mechanism as Identity, written by somebody else."""
    report = audit_function(laplace_mechanism, runs=2000)
    assert report.passed
    assert report.layer("replay").verdict == "not run"


def test_noise_from_elsewhere_is_not_called_a_memory():
    """A function that draws from the operating system keeps nothing; one that does is told so."""
    seen = []

    def from_the_system(x, workload, epsilon, rng):
        return x + np.random.default_rng().laplace(0, 1 / epsilon, x.shape)

    def remembers(x, workload, epsilon, rng):
        seen.append(int(x.sum()))
        return x + rng.laplace(0, 1 / epsilon, x.shape) + len(set(seen))

    def cause(function):
        return audit_function(function, runs=100).layer("conformance").cause

    assert cause(from_the_system) == "from_the_system gives two results for one generator: draw from rng alone"
    assert cause(remembers).endswith("it keeps something between runs")


@pytest.mark.parametrize("name", some_of(NOT_PRIVATE, 4))
def test_published_forms_are_flagged_by_measurement_with_their_marks_switched_off(name):
    """A divergence, a call over its charge or a refuted epsilon, and not what the form says of itself."""
    subject = Subject(algorithms.get(name, variant="published"), ignore_marks=True)
    with pytest.raises(CheckFailed, match="not private"):
        check_replay(subject)


@pytest.mark.slow
@pytest.mark.parametrize("name", NOT_PRIVATE)
def test_with_marks_switched_off_the_ledger_of_a_published_form_is_well(name):
    """Layers that measure flag it, and the ledger does not."""
    report = audit(algorithms.get(name, variant="published"), ignore_marks=True)
    assert flagging(report) & MEASURED
    assert "ledger" not in flagging(report)


@pytest.mark.slow
@pytest.mark.parametrize("name", USE_SCALE)
def test_a_public_scale_is_found_by_measurement(name):
    """The same algorithm passes where it estimates its scale and fails where it is given."""
    report = audit(algorithms.get(name), side_information="public", ignore_marks=True)
    assert ("replay" in flagging(report)) == (name not in WITHIN_ITS_CHARGES)


def test_with_its_marks_a_published_form_fails_in_the_ledger():
    """What a form says of itself is believed unless that is switched off."""
    assert "ledger" in flagging(audit(UGrid(variant="published")))


@pytest.mark.parametrize("name", QUICK)
def test_the_report_says_what_was_tried(name):
    """Cases, domains, budgets and workloads, as plain data and in words."""
    report = audit(algorithms.get(name), cases=40)
    assert report.passed
    figures = report.layer("replay").figures
    assert figures["cases"] + figures["cases with counts too large for exact answers"] == 40
    assert figures["cells"][0] < figures["cells"][1] <= 1100
    assert f"{figures['cases']} random cases replayed (domains: {figures['domains']} of" in report.tried()
    assert [layer.name for layer in report.layers] == list(LAYERS)
    assert json.loads(json.dumps(report.as_json()))["passed"] is True


def test_an_understated_claim_on_a_larger_domain_is_found_there():
    """``domain`` holds replays and claims to it."""
    assert audit(TenthAboveThreeHundred, domain="200", cases=16).passed
    assert flagging(audit(TenthAboveThreeHundred, domain="400", cases=16)) == {"sensitivity", "replay"}


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("name", algorithms.names())
def test_private_forms_pass_at_twenty_seeds(name, seed):
    """Negative controls: ledger, sensitivity and replay raise no false alarm."""
    report = audit(algorithms.get(name), seed=seed)
    assert report.passed, [layer.cause for layer in report.failures]


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("name", algorithms.names())
def test_private_forms_pass_the_black_box_at_two_seeds(name, seed):
    """Negative controls: a hundred thousand runs a side refute nothing; false alarms 0.1 % each."""
    layer = audit(algorithms.get(name), seed=seed, black_box=100_000).layer("black box")
    assert layer.verdict == "pass", layer.cause
