"""The statistics of the black box, checked where the truth is known."""

import numpy as np
import pytest

from dpbench import algorithms
from dpbench.audit.black_box import FALSE_ALARM, PURE, neighbours_on, probe, probe_quickly, usual_pairs
from dpbench.audit.events import Event, _lower, _upper, choose_event
from dpbench.audit.events import test_event as count_event
from dpbench.audit.features import features
from dpbench.audit.layers import runs_of
from dpbench.audit.subject import Subject, workload_for
from dpbench.domain import Domain
from dpbench.privacy.conversion import gaussian_sigma


@pytest.mark.parametrize(("happened", "runs"), [(0, 50), (1, 50), (20, 50), (50, 50)])
def test_clopper_pearson_bounds_cover(happened, runs):
    """At the bound itself the count is as improbable as asked for."""
    from scipy.special import bdtr

    low, high = _lower(happened, runs, 0.01), _upper(happened, runs, 0.01)
    if happened > 0:
        assert 1 - bdtr(happened - 1, runs, low) == pytest.approx(0.01)
    if happened < runs:
        assert bdtr(happened, runs, high) == pytest.approx(0.01)
    assert low <= happened / runs <= high


def test_the_best_event_of_a_shift_is_chosen():
    """Between two Laplace variables one apart the ratio is largest beyond both."""
    rng = np.random.default_rng(0)
    near, far = rng.laplace(size=(20_000, 1)), 1 + rng.laplace(size=(20_000, 1))
    event = choose_event("cells", near, far)
    assert event.relation == "below"
    assert event.value < 0.2


def test_a_loss_within_reach_is_refuted_and_a_smaller_one_is_not():
    """The power that is stated is the power there is."""
    rng = np.random.default_rng(1)
    event = Event("f", 0, "at", 1.0)

    def counted(probability):
        return {"f": (rng.random((50_000, 1)) < probability).astype(float)}

    reach = count_event(event, counted(0.1), counted(0.1), 1.0, 1e-5, 0.0).within_reach
    refuted = [
        count_event(event, counted(0.1 * np.exp(reach)), counted(0.1), 1.0, 1e-5, 0.0).refuted for _ in range(40)
    ]
    assert sum(each > 1.0 for each in refuted) >= 34  # 38 expected of 40; fewer than 34 has probability 1e-3 or so
    assert count_event(event, counted(0.1 * np.e), counted(0.1), 1.0, 1e-5, 0.0).refuted < 1.0


def test_low_order_bits_are_left_aside():
    """Features are rounded, so that an exact difference of 1 and one off by rounding are the same."""
    outputs = np.array([[0.1 + 0.2, 0.0], [0.3, 0.0]])
    found = features(outputs, np.zeros(2, dtype=int), np.array([1, 0]))
    assert all((numbers[0] == numbers[1]).all() for numbers in found.values())


@pytest.mark.parametrize("written", ["4", "2x2", "12x3"])
def test_the_two_inputs_are_neighbours(written):
    """One record in one cell; large cells are among the pairs."""
    pairs = usual_pairs(workload_for(Domain.of(written)), 1.0)
    assert [int(np.abs(more - fewer).sum()) for fewer, more in pairs] == [1, 1]
    assert pairs[1][0].min() >= 10**5


def few_records(workload, epsilon):
    return [neighbours_on(workload.domain)]


def laplace_of(factor):
    def outputs(x, workload, promise, runs, seed):
        return x + np.random.default_rng(seed).laplace(scale=factor / promise[0], size=(runs, *x.shape))

    return outputs


def test_the_quick_look_finds_seven_tenths_of_the_noise_and_passes_all_of_it():
    """What every pair shows with few runs says where more are worth while; a look again is at fresh runs."""
    workloads = [workload_for(Domain.of("4"))]
    right = probe_quickly(laplace_of(1.0), workloads, 0, seconds=2.0)
    assert not any(finding.refuted for finding in right)
    assert len(right) > len(PURE) * 2  # some pairs twice
    assert right[-1].runs > right[0].runs
    assert any(finding.refuted for finding in probe_quickly(laplace_of(0.7), workloads, 0, seconds=2.0))


def test_what_is_too_slow_for_a_quick_look_gets_none():
    """Too few runs would show nothing."""
    assert probe_quickly(laplace_of(1.0), [workload_for(Domain.of("4"))], 0, seconds=0.01) == []


def test_identity_shows_most_of_its_epsilon_and_no_more():
    """The Laplace mechanism is tight, so a good test comes close to epsilon; this one has 10,000 runs a side."""
    sampler, workloads = runs_of(Subject(algorithms.get("Identity"))), [workload_for(Domain.of("4"))]
    findings = list(probe(sampler, workloads, 10_000, 0, pairs=few_records))
    assert [finding.setting.epsilon for finding in findings] == [epsilon for epsilon, _ in PURE]
    assert not any(finding.refuted for finding in findings)
    assert findings[0].strongest.refuted > 0.75
    assert findings[0].within_reach < 1.5


@pytest.mark.slow
def test_half_of_the_gaussian_noise_is_refuted_at_a_delta_with_a_power_of_nine_in_ten():
    """At (1, 1e-6) with a million runs on each side, 40 times: 40 of 40 leave a power below 0.9 a chance of 0.015.

    The event is a half-line of the cell that the neighbours differ in, chosen on one half of the runs and tested on the
    other, in both directions. Both are among the tests of a probe, at the level that a probe gives to each.
    """
    fewer, more = neighbours_on(Domain.of("4"))
    families = len(features(np.zeros((2, 4)), fewer, more)) + 1  # and the learned one
    alarm, sigma = FALSE_ALARM / (2 * families), 0.5 * float(gaussian_sigma(1, 1e-6))
    refuted = 0
    for seed in range(40):
        rng = np.random.default_rng([seed, 77])
        halves = [np.split(rng.normal(record, sigma, (10**6, 1)), 2) for record in (0, 1)]
        refuted += any(_half_line_refutes(mine, other, alarm) for mine, other in (halves, halves[::-1]))
    assert refuted == 40


def _half_line_refutes(mine, other, alarm):
    event = choose_event("cell", mine[0], other[0])
    return count_event(event, {"cell": mine[1]}, {"cell": other[1]}, 1.0, alarm, 1e-6).refuted > 1


@pytest.mark.slow
def test_whole_probes_of_gaussian_noise_at_a_delta():
    """A million runs on each side: half the noise is refuted, and all of it is not; false alarms 0.001 per probe."""
    assert all(_refutes(HalfNoiseSampler(0.5), seed) for seed in range(3))
    assert not any(_refutes(HalfNoiseSampler(1.0), seed) for seed in range(3))


def test_a_third_of_the_gaussian_noise_is_refuted_at_a_delta():
    """The same with less noise and fewer runs, for every day."""
    assert _refutes(HalfNoiseSampler(1 / 3), 0, runs=100_000)
    assert not _refutes(HalfNoiseSampler(1.0), 0, runs=100_000)


class HalfNoiseSampler:
    """Runs of Gaussian noise on cells, a share of what (epsilon, delta) asks for."""

    def __init__(self, share):
        self.share = share

    def __call__(self, x, workload, promise, runs, seed):
        sigma = self.share * float(gaussian_sigma(*promise))
        return x + np.random.default_rng(seed).normal(scale=sigma, size=(runs, *x.shape))


def _refutes(sampler, seed, runs=10**6):
    (finding,) = probe(sampler, [workload_for(Domain.of("4"))], runs, seed, ((1.0, 1e-6),), few_records)
    return finding.refuted
