"""Mechanisms that an algorithm brings along: each is held to what it says of itself, by draws.

Replay and sensitivity believe a mechanism's density. For ours that is settled by tests; for anybody else's it is
settled here.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpbench.audit.mechanism_laws import DRAWS, FALSE_ALARM, check_mechanism
from dpbench.audit.setting import RecordedSetting
from dpbench.audit.subject import Subject, in_words, workload_for
from dpbench.errors import CheckFailed, DPBenchError
from dpbench.privacy import Recording
from dpbench.privacy.claims import truth_on
from dpbench.privacy.transcript import Question

Counts = NDArray[np.int64]

DOMAINS = {1: ("4", "16", "300"), 2: ("2x2", "4x4", "20x15"), 3: ("1x2x2", "4x2x2")}
SMALL = 16
"""Cells; on larger domains there are fewer draws."""
EXAMPLES = 2
"""Questions of each mechanism and reason, but for a number at its end, on small domains and on larger ones."""
CELLS = 24
"""Cells that are tried for the one that matters."""
APART = 2.0
"""Loss between two truths at which a density that is wrong shows best."""
FARTHEST = 13
"""Powers of two of records, and one more, that are added to a cell to get there."""
CASES = 6
"""Pairs of vectors that a question is examined on."""
LITTLE = Fraction(1, 64)
"""Share of its price that a question is paid where counts are large: there the noise is large too."""
LARGE = 5
"""Power of ten that large counts come up to."""


def check_own_mechanisms(subject: Subject) -> Mapping[str, Any]:
    """Draws of every mechanism of its own fit the density; false alarms 1e-6 per mechanism.

    Of a hundred noisy numbers with half the noise that their density states, or 0.9 of it, a hundred were found; with
    0.95 of it, about one in ten.
    """
    questions = _questions(subject)
    times = Counter(asked.mechanism.name for asked in questions)
    rng = np.random.default_rng([subject.seed, 78])
    for asked in questions:
        _examine(subject, asked, rng, FALSE_ALARM / times[asked.mechanism.name])
    return {"mechanisms": list(times), "draws": DRAWS, "false-alarm rate": FALSE_ALARM}


def _examine(subject: Subject, asked: Question, rng: np.random.Generator, alarm: float) -> None:
    """On a few vectors: between neighbours, and between vectors that are further apart."""
    mechanism = asked.mechanism
    try:
        for question, counts in _occasions(asked, rng):
            cell = _cell_that_matters(question, counts)
            for records in (1, _far(question, counts, cell)):
                check_mechanism(
                    mechanism,
                    question.loss,
                    counts.reshape(asked.domain.shape),
                    _more(counts, cell, records).reshape(asked.domain.shape),
                    neighbours=records == 1,
                    draws=DRAWS * SMALL // max(SMALL, counts.size),
                    false_alarm=alarm / CASES,
                    seed=int(rng.integers(2**31)),
                )
    except CheckFailed as failure:
        raise CheckFailed(f"{subject.name}, '{asked.why}' on {asked.domain}: {failure}") from None
    except (Exception, SystemExit) as error:
        raise CheckFailed(
            f"{subject.name}, '{asked.why}' on {asked.domain}: '{mechanism.name}' fails with {in_words(error)}"
        ) from error


def _occasions(asked: Question, rng: np.random.Generator) -> Iterator[tuple[Question, Counts]]:
    """A question as it was asked, on an empty vector and on scattered counts; for less, on large ones."""
    n = asked.domain.size
    yield asked, np.zeros(n, dtype=np.int64)
    yield asked, rng.integers(0, 12, n) * rng.integers(0, 2, n)
    loss = asked.loss * LITTLE
    yield (
        replace(asked, loss=loss, level=asked.mechanism.level(loss)),
        (10 ** rng.uniform(0, LARGE, n)).astype(np.int64),
    )


def _more(counts: Counts, cell: int, records: int) -> Counts:
    return np.where(np.arange(counts.size) == cell, counts + records, counts)


def _apart(asked: Question, counts: Counts, cell: int, records: int) -> float:
    """What telling so many records more in a cell apart costs."""
    one, other = (
        truth_on(asked, each.reshape(asked.domain.shape)) for each in (counts.copy(), _more(counts, cell, records))
    )
    mechanism = asked.mechanism
    return (mechanism.largest_loss if mechanism.pure else mechanism.divergence)(one, other, asked.level)


def _cell_that_matters(asked: Question, counts: Counts) -> int:
    """The cell in which one record more costs most."""
    cells = np.unique(np.linspace(0, counts.size - 1, CELLS).astype(np.int64))
    return int(cells[np.argmax([_apart(asked, counts, cell, 1) for cell in cells.tolist()])])


def _far(asked: Question, counts: Counts, cell: int) -> int:
    """How many records more tell two truths apart well, though not beyond doubt."""
    tried = [(1 << power) + 1 for power in range(1, FARTHEST)]
    return next((records for records in tried if _apart(asked, counts, cell, records) >= APART), tried[-1])


def _questions(subject: Subject) -> list[Question]:
    """What is asked of mechanisms that are not of this package, on small domains; a few of each name and reason."""
    kept: dict[tuple[str, str, bool], list[Question]] = {}
    for number, domain in enumerate(subject.domains(DOMAINS)):
        recording = Recording()
        setting = RecordedSetting(
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
                kind = asked.mechanism.name, asked.why.rstrip("0123456789"), asked.domain.size > SMALL
                of_its_kind = kept.setdefault(kind, [])
                if len(of_its_kind) < EXAMPLES:
                    of_its_kind.append(asked)
    return [asked for several in kept.values() for asked in several]
