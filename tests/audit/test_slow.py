"""What takes too long to be compared is said, with the case that does."""

from __future__ import annotations

import re
import time
from dataclasses import dataclass

import numpy as np
import pytest

import dpbench as dpb
from dpbench.audit import replay_layer, slow, worlds
from dpbench.audit.cases import Cases
from dpbench.audit.layers import audit
from dpbench.audit.slow import attempted, slow_words
from dpbench.audit.worlds import Runner
from dpbench.mathematics.cells import Cells


@dataclass(frozen=True, kw_only=True)
class Noisy(dpb.Algorithm):
    """Noisy cells, after a while that its answers may decide upon."""

    name = "Noisy"
    dimensions = (1,)
    exchangeable = True

    def takes_long(self, noisy):
        return False

    def estimate(self, data, workload):
        noisy = data.laplace(Cells(data.domain), data.epsilon, "cells")
        end = time.process_time() + 1.2 * self.takes_long(noisy)
        while time.process_time() < end:
            pass
        return noisy


@dataclass(frozen=True, kw_only=True)
class HangsOnMany(Noisy):
    """It takes long where an answer is large."""

    name = "HangsOnMany"

    def takes_long(self, noisy):
        return np.max(noisy) > 10**9


@dataclass(frozen=True, kw_only=True)
class SlowAnyway(Noisy):
    """It takes long on more than 40 cells, whatever the counts."""

    name = "SlowAnyway"

    def takes_long(self, noisy):
        return noisy.shape[-1] > 40


@dataclass(frozen=True, kw_only=True)
class Waits(Noisy):
    """It takes long where an answer is large, and computes nothing meanwhile."""

    name = "Waits"

    def estimate(self, data, workload):
        noisy = super().estimate(data, workload)
        time.sleep(60 * bool(np.max(noisy) > 10**9))
        return noisy


@pytest.fixture
def impatient(monkeypatch):
    """A tenth of the usual time for a batch."""
    for module in (worlds, replay_layer):
        monkeypatch.setattr(module, "SECONDS", 1.0)
    monkeypatch.setattr(slow, "LIMIT", 0.5)


def slow_batch(algorithm, long):
    """The first batch in which some case takes long."""
    cases = Cases(algorithm, ("pure",), 0)
    return next(batch for batch in map(cases.batch, range(100)) if any(map(long, batch)))


@pytest.mark.parametrize("algorithm", [HangsOnMany(), Waits()])
def test_a_run_that_hangs_on_some_counts_is_told_with_them(impatient, algorithm):
    """The case is named, and that the same ends on empty counts."""
    batch = slow_batch(algorithm, lambda case: case.x.max() > 2 * 10**9)
    words = slow_words(Runner(algorithm), batch)
    assert re.match(r"a run on \S+ had not ended after \S+ s of the processor, \S+ s on the clock \(on empty", words)
    assert "(on empty counts it ended after " in words
    assert int(re.search(r"seen with x = .*, largest (\d+), ", words)[1]) > 10**9


def test_a_run_that_is_slow_whatever_the_counts(impatient):
    """On the fewest cells on which it is slow, and no sooner on empty counts."""
    algorithm = SlowAnyway()
    batch = slow_batch(algorithm, lambda case: case.domain.size > 40)
    cells = min(case.domain.size for case in batch if case.domain.size > 40)
    words = slow_words(Runner(algorithm), batch)
    assert words.startswith(f"a run on {cells} had not ended after ")
    assert "(on empty counts it had not ended after " in words


def test_a_batch_that_is_slow_as_a_whole_alone(impatient):
    """No case of it is accused."""
    words = slow_words(Runner(Noisy()), slow_batch(Noisy(), lambda case: True))
    assert re.fullmatch(r"8 runs on up to \d+ cells, though none of them takes 0.5 s by itself", words)


def test_a_run_that_fails_has_ended(impatient):
    """What it raises is said beside."""
    (case, *_) = Cases(Noisy(), ("pure",), 0).batch(0)
    attempt = attempted(Runner(Noisy()), case, np.full(case.domain.shape, -1))
    assert attempt.ended
    assert re.match(r"ended after .* and failed: \w+", str(attempt))


def test_the_audit_notes_what_hangs(impatient):
    """It has not been compared, and the report says so; it is no failure."""
    report = audit(HangsOnMany(), cases=64, black_box=0)
    (note,) = [each for each in report.notes if each.startswith("too slow to be compared: ")]
    assert " had not ended after " in note
    assert report.layer("replay").figures["batches that took too long"] > 0
    assert "of the batches left out, as they took too long" in report.tried()
    assert not [each for each in audit(Noisy(), cases=64, black_box=0).notes if "too slow" in each]
