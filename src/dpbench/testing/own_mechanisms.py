"""Mechanisms that an algorithm brings along: each is held to what it says of itself, by draws.

Replay and sensitivity believe a mechanism's density. For ours that is settled by tests; for anybody else's it is
settled here.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import numpy as np

from dpbench.errors import CheckFailed, DPBenchError
from dpbench.privacy import Recording
from dpbench.privacy.transcript import Question
from dpbench.testing.mechanism_laws import DRAWS, FALSE_ALARM, check_mechanism
from dpbench.testing.replay import ReplaySetting
from dpbench.testing.sensitivity import truth_on
from dpbench.testing.subject import Subject, in_words, workload_for

DOMAINS = {1: ("4", "16"), 2: ("2x2", "4x4"), 3: ("1x2x2", "4x2x2")}
EXAMPLES = 2
"""Questions of each mechanism and reason, but for a number at its end."""
APART = 2.0
"""Loss between two truths at which a density that is wrong shows best."""
FARTHEST = 2**12
"""Records that are added to a cell at most to get there."""


def check_own_mechanisms(subject: Subject) -> Mapping[str, Any]:
    """Draws of every mechanism of its own fit the density; false alarms 1e-6 per mechanism.

    Of a mechanism that draws half the noise that its density states, 100 of 100 were found in a measurement of one
    number, and 98 of 100 of one that draws 0.9 of it (tests/testing/test_own_mechanisms.py).
    """
    questions = _questions(subject)
    times = Counter(asked.mechanism.name for asked in questions)
    rng = np.random.default_rng([subject.seed, 78])
    for asked in questions:
        _examine(subject, asked, rng, FALSE_ALARM / (2 * times[asked.mechanism.name]))
    return {"mechanisms": list(times), "draws": DRAWS, "false-alarm rate": FALSE_ALARM}


def _examine(subject: Subject, asked: Question, rng: np.random.Generator, alarm: float) -> None:
    """On two neighbours, and on two data vectors that are further apart."""
    shape, mechanism = asked.domain.shape, asked.mechanism
    x, cell = rng.integers(0, 12, asked.domain.size), int(rng.integers(asked.domain.size))
    try:
        for more in (1, _far(asked, x, cell)):
            y = np.where(np.arange(x.size) == cell, x + more, x)
            check_mechanism(
                mechanism,
                asked.loss,
                x.reshape(shape),
                y.reshape(shape),
                neighbours=more == 1,
                false_alarm=alarm,
                seed=int(rng.integers(2**31)),
            )
    except CheckFailed as failure:
        raise CheckFailed(f"{subject.name}, '{asked.why}' on {asked.domain}: {failure}") from None
    except (Exception, SystemExit) as error:
        raise CheckFailed(
            f"{subject.name}, '{asked.why}' on {asked.domain}: '{mechanism.name}' fails with {in_words(error)}"
        ) from error


def _far(asked: Question, x: Any, cell: int) -> int:
    """How many records more tell two truths apart well, though not beyond doubt."""
    mechanism, level, more = asked.mechanism, asked.level, 2
    near = truth_on(asked, x.reshape(asked.domain.shape).copy())
    while more < FARTHEST:
        y = np.where(np.arange(x.size) == cell, x + more, x).reshape(asked.domain.shape)
        far = truth_on(asked, y)
        lost = mechanism.largest_loss(near, far, level) if mechanism.pure else mechanism.divergence(near, far, level)
        if lost >= APART:
            break
        more *= 2
    return more


def _questions(subject: Subject) -> list[Question]:
    """What is asked of mechanisms that are not of this package, on small domains; a few of each name and reason."""
    kept: dict[tuple[str, str], list[Question]] = {}
    for number, domain in enumerate(subject.domains(DOMAINS)):
        recording = Recording()
        setting = ReplaySetting(
            subject.algorithm, workload_for(domain), Fraction(1), 1, subject.side_information, subject.notion
        )
        x = (np.arange(domain.size) * 7 % 11).reshape(domain.shape)
        try:
            ledger = setting.run(x, seed=subject.seed + number, channel=recording).ledger
        except DPBenchError as error:
            raise CheckFailed(f"{subject.name} fails on {domain} at epsilon 1: {error}") from None
        own = ledger.own_mechanisms
        for asked in recording.questions():
            if asked.mechanism.name in own:
                of_its_kind = kept.setdefault((asked.mechanism.name, asked.why.rstrip("0123456789")), [])
                if len(of_its_kind) < EXAMPLES:
                    of_its_kind.append(asked)
    return [asked for several in kept.values() for asked in several]
