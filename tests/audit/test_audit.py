"""The audit as a whole: mutants are flagged, private forms pass, forms that are not private are found out."""

import json

import pytest

from audit.mutants import (
    BROKEN_FUNCTIONS,
    MUTANTS,
    ONLY_BLACK_BOX,
    GridByTrueScale,
    NoiseReused,
    laplace_mechanism,
)
from dpbench import algorithms
from dpbench.algorithms.u_grid import UGrid
from dpbench.audit import audit, audit_function
from dpbench.audit.report import LAYERS

MEASURED = {"sensitivity", "replay", "black box"}
QUICK = ("Identity", "EFPA")
WITHIN_ITS_CHARGES = {"SF"}
"""With a public scale: it only divides a score, which then moves by less than is paid for."""
NOT_PRIVATE = [name for name, kind in algorithms.catalogue().items() if not kind(variant="published").is_private]
USE_SCALE = [name for name, kind in algorithms.catalogue().items() if "scale" in kind.side_information]


def flagging(report):
    return {layer.name for layer in report.failures}


@pytest.mark.parametrize(
    "mutant", [each for each in MUTANTS if each.name not in ONLY_BLACK_BOX], ids=lambda mutant: mutant.name
)
def test_every_mutant_is_flagged_by_a_layer_that_is_meant_for_it(mutant):
    """Conformance alone is no merit: a layer that measures privacy flags each, or the ledger does."""
    report = audit(mutant)
    assert flagging(report) & (MEASURED | {"ledger"})
    assert all(layer.cause and "\n" not in layer.cause for layer in report.failures)


def test_noise_that_is_used_twice_shows_in_the_black_box_alone():
    """No answer is wrong, no charge is missing: only outputs tell."""
    assert flagging(audit(NoiseReused, black_box=6000)) == {"black box"}


def test_a_switch_at_any_total_is_found_and_named():
    """Bisection ends at the two neighbouring totals between which the grid changes."""
    cause = audit(GridByTrueScale).layer("replay").cause
    assert "where the total goes from 48610 to 48611" in cause


@pytest.mark.parametrize("function", BROKEN_FUNCTIONS, ids=lambda function: function.__name__)
def test_broken_plain_functions_are_flagged(function):
    """Code that knows nothing of this package can be audited too."""
    assert flagging(audit_function(function, runs=6000))


def test_a_plain_laplace_mechanism_passes():
    """The same mechanism as Identity, written by somebody else."""
    report = audit_function(laplace_mechanism, runs=6000)
    assert report.passed
    assert report.layer("replay").verdict == "not run"


@pytest.mark.parametrize("name", NOT_PRIVATE)
def test_published_forms_are_flagged_by_measurement_with_their_marks_switched_off(name):
    """A divergence, a call over its charge or a refuted epsilon, and not what the form says of itself."""
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
def test_private_forms_pass_with_at_least_3000_replays(name):
    """Every layer but the black box passes, and the report is plain data."""
    report = audit(algorithms.get(name))
    assert report.passed
    assert report.layer("replay").figures["replays"] >= 3000
    assert [layer.name for layer in report.layers] == list(LAYERS)
    assert json.loads(json.dumps(report.as_json()))["passed"] is True


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
