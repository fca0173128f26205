"""Transcripts: the outcomes that an algorithm saw, recorded on one data vector and replayed on a neighbour.

Record every noisy answer and every selection of a run on x, then run again on a neighbour x' with the
same answers forced. If the algorithm met the counts only through the handle, it makes the same calls and
returns the same output, bit for bit. And because both probabilities of each answer are known, the privacy
loss log p_x(o) - log p_x'(o) is computed without sampling error: summed over calls it may not exceed
epsilon, and no single call may exceed what it was charged.

A transcript holds true answers, so it is itself private: it exists only inside an audit.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from dpbench.errors import ReplayDiverged
from dpbench.privacy.budget import written

if TYPE_CHECKING:
    from dpbench.domain import Domain
    from dpbench.privacy.mechanisms import Mechanism

Floats = NDArray[np.float64]


@dataclass(frozen=True, repr=False)
class Question:
    """One call to the handle, as the handle sees it before anything is drawn."""

    mechanism: Mechanism
    why: str
    """The caller's reason."""
    amount: Fraction
    """What the call is charged."""
    loss: Fraction
    """What that pays for: the mechanism's pure loss, or its rho where it has none."""
    level: float
    """Noise scale, standard deviation or nats per unit of score, as the mechanism derives it."""
    truth: Any
    """What the mechanism computed from the counts; private."""
    domain: Domain
    """The domain of the counts that it was put to: a region's, where it was asked of one."""

    @property
    def kind(self) -> str:
        """Name of the mechanism."""
        return self.mechanism.name

    @property
    def sensitivity(self) -> Fraction:
        """The claim of the mechanism."""
        return self.mechanism.claim

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of the truth; empty where it is no array."""
        return tuple(getattr(self.truth, "shape", ()))

    def signature(self) -> tuple[object, ...]:
        """What must be the same on a neighbour."""
        return self.kind, self.why, self.amount, self.level, self.shape, *self.mechanism.public()

    def __str__(self) -> str:
        return f"'{self.why}' ({self.kind}, {written(self.amount)} of the budget, shape {self.shape})"


Seeds = tuple[np.random.SeedSequence, ...]
Draw = Callable[[], NDArray[Any]]


class Channel(Protocol):
    """Answers questions: by drawing, by drawing and recording, or from a recording."""

    def answer(self, question: Question, draw: Draw) -> NDArray[Any]:
        """The outcome, ``(trials, *shape)`` or for a selection ``(trials,)``."""
        ...

    def coins(self, seeds: Callable[[], Seeds]) -> Seeds:
        """Seeds of the public randomness of each trial."""
        ...

    def only(self, trial: int) -> Channel:
        """The channel of one trial that is run by itself."""
        ...


class Direct:
    """The ordinary channel: draw, remember nothing."""

    def answer(self, question: Question, draw: Draw) -> NDArray[Any]:
        """Draw."""
        del question
        return draw()

    def coins(self, seeds: Callable[[], Seeds]) -> Seeds:
        """Fresh ones."""
        return seeds()

    def only(self, trial: int) -> Direct:
        """Itself."""
        del trial
        return self


def _kept(truth: Any) -> Any:
    """A truth of our own: whoever computed it may change it later, and would change what an answer seems to cost."""
    return truth.copy() if isinstance(truth, np.ndarray) else deepcopy(truth)


@dataclass(repr=False)
class Recording:
    """Draw, and keep every question with its outcome."""

    exchanges: list[tuple[Question, NDArray[Any]]] = field(default_factory=list)
    single: dict[int, Recording] = field(default_factory=dict)
    coin_seeds: Seeds = ()

    def answer(self, question: Question, draw: Draw) -> NDArray[Any]:
        """Draw and record."""
        question = replace(question, truth=_kept(question.truth))
        outcome = draw()
        self.exchanges.append((question, outcome.copy()))
        return outcome

    def coins(self, seeds: Callable[[], Seeds]) -> Seeds:
        """Fresh ones, recorded."""
        self.coin_seeds = seeds()
        return self.coin_seeds

    def only(self, trial: int) -> Recording:
        """The recording of one trial that is run by itself."""
        return self.single.setdefault(trial, Recording())

    def questions(self) -> list[Question]:
        """Every question, those of single trials included."""
        own = [question for question, _ in self.exchanges]
        return own + [question for recording in self.single.values() for question in recording.questions()]


@dataclass(frozen=True, repr=False, eq=False)
class CallLoss:
    """What one call gives away between the two data vectors; computed where somebody asks."""

    question: Question
    other: Any
    """The truth on the other data vector."""
    outcome: NDArray[Any]

    @cached_property
    def loss(self) -> Floats:
        """``(trials,)``: log p_x(outcome) - log p_x'(outcome)."""
        question = self.question
        return question.mechanism.log_ratio(self.outcome, question.truth, self.other, question.level)

    @cached_property
    def rounding(self) -> Floats:
        """``(trials,)``: how much of it may be rounding."""
        question = self.question
        rounding = question.mechanism.rounding(question.truth, self.other, question.level, self.outcome)
        return np.broadcast_to(rounding, self.loss.shape)


@dataclass(repr=False)
class Replay:
    """Force the outcomes of a recording, and measure what each would have cost."""

    recording: Recording
    losses: list[CallLoss] = field(default_factory=list)
    single: dict[int, Replay] = field(default_factory=dict)
    position: int = 0

    def answer(self, question: Question, draw: Draw) -> NDArray[Any]:
        """The recorded outcome, if this is the recorded question."""
        del draw
        if self.position >= len(self.recording.exchanges):
            raise ReplayDiverged(
                f"on a neighbour the algorithm went on to ask '{question.why}' where the recorded run had ended: "
                f"how often it asks depends on counts read outside the handle"
            )
        asked, outcome = self.recording.exchanges[self.position]
        self.position += 1
        if asked.signature() != question.signature():
            raise ReplayDiverged(
                f"on a neighbour the algorithm asked {question} where it had asked {asked}: the question depends on "
                f"counts read outside the handle"
            )
        self.losses.append(CallLoss(asked, _kept(question.truth), outcome))
        return outcome.copy()

    def coins(self, seeds: Callable[[], Seeds]) -> Seeds:
        """The recorded ones: public randomness is the same for neighbours."""
        return self.recording.coin_seeds or seeds()

    def only(self, trial: int) -> Replay:
        """The replay of one trial that is run by itself."""
        return self.single.setdefault(trial, Replay(self.recording.only(trial)))

    def finish(self) -> None:
        """Insist that every recorded question was asked again."""
        if self.position < len(self.recording.exchanges):
            missing = self.recording.exchanges[self.position][0]
            raise ReplayDiverged(
                f"on a neighbour the algorithm stopped before asking '{missing.why}': "
                f"how often it asks depends on counts read outside the handle"
            )
        for trial in self.recording.single:
            self.only(trial).finish()

    def total(self, trials: int) -> tuple[Floats, Floats]:
        """Privacy loss and rounding of whole runs, ``(trials,)`` each."""
        loss = sum((call.loss for call in self.losses), np.zeros(trials))
        rounding = sum((call.rounding for call in self.losses), np.zeros(trials))
        for trial, replay in self.single.items():
            own, slack = replay.total(1)
            loss[trial] += own[0]
            rounding[trial] += slack[0]
        return loss, rounding

    def calls(self) -> list[CallLoss]:
        """Every call, those of single trials included."""
        return self.losses + [call for replay in self.single.values() for call in replay.calls()]
