"""Transcripts: what an algorithm was told, recorded on one data vector and replayed on a neighbour.

Record every noisy answer and every selection of a run on x, then run again on a neighbour x' with the
same answers forced. If the algorithm met the counts only through the handle, it makes the same calls and
returns the same output, bit for bit. And because both probabilities of each answer are known, the privacy
loss log p_x(o) - log p_x'(o) is computed without sampling error: summed over calls it may not exceed
epsilon, and no single call may exceed what it was charged.

A transcript holds true answers, so it is itself private: it exists only inside an audit.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from dpbench.errors import ReplayDiverged

Floats = NDArray[np.float64]


@dataclass(frozen=True, repr=False)
class Question:
    """One call to the handle, as the handle sees it before anything is drawn."""

    kind: str
    """laplace, choose, choose each or partition."""
    why: str
    """The caller's reason."""
    amount: Fraction
    """What the call is charged."""
    sensitivity: Fraction
    """The claim of the strategy or score."""
    rate: float
    """Laplace: one over the noise scale. Selection: nats per unit of score or cost."""
    truth: Floats
    """True answers or scores, ``(*shape)`` or ``(trials, *shape)``."""
    shape: tuple[int, ...]
    """Shape of one trial's answers, scores or costs."""
    noise: float = 0.0
    """Laplace: the noise scale, rounded up."""
    detail: tuple[float, ...] = ()
    """What else is public about the question: where groups of candidates start; lengths and penalty of intervals."""

    def signature(self) -> tuple[object, ...]:
        """What must be the same on a neighbour."""
        return self.kind, self.why, self.amount, self.sensitivity, self.rate, self.shape, self.detail


Draw = Callable[[], NDArray[Any]]


class Channel(Protocol):
    """Answers questions: by drawing, by drawing and recording, or from a recording."""

    def answer(self, question: Question, draw: Draw) -> NDArray[Any]:
        """The outcome, ``(trials, *shape)`` or for a selection ``(trials,)``."""
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

    def only(self, trial: int) -> Direct:
        """Itself."""
        del trial
        return self


@dataclass(repr=False)
class Recording:
    """Draw, and keep every question with its outcome."""

    exchanges: list[tuple[Question, NDArray[Any]]] = field(default_factory=list)
    single: dict[int, Recording] = field(default_factory=dict)

    def answer(self, question: Question, draw: Draw) -> NDArray[Any]:
        """Draw and record."""
        outcome = draw()
        self.exchanges.append((question, outcome.copy()))
        return outcome

    def only(self, trial: int) -> Recording:
        """The recording of one trial that is run by itself."""
        return self.single.setdefault(trial, Recording())


@dataclass(frozen=True, repr=False)
class CallLoss:
    """The privacy loss of one call between the two neighbours, for each trial."""

    question: Question
    loss: Floats
    """``(trials,)``: log p_x(outcome) - log p_x'(outcome)."""
    rounding: Floats
    """``(trials,)``: how much of it may be rounding."""
    change: float
    """Largest change seen: L1 of the answers; for a selection the range over candidates of the score's."""


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
                f"on a neighbour the algorithm asked '{question.why}' ({question.kind}, {question.amount} of epsilon, "
                f"shape {question.shape}) where it had asked '{asked.why}' ({asked.kind}, {asked.amount} of "
                f"epsilon, shape {asked.shape}): the question depends on counts read outside the handle"
            )
        self.losses.append(_MEASURES[question.kind](asked, question, outcome))
        return outcome.copy()

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


def _laplace_loss(asked: Question, question: Question, outcome: NDArray[Any]) -> CallLoss:
    """Sum over coordinates of (|o - f(x')| - |o - f(x)|) / noise scale."""
    axes = tuple(range(1, outcome.ndim))
    near, far = np.abs(outcome - asked.truth), np.abs(outcome - question.truth)
    size = np.abs(outcome) + np.abs(asked.truth) + np.abs(question.truth)
    change = np.abs(asked.truth - question.truth)
    moved = change.reshape(*change.shape[: change.ndim - len(question.shape)], -1).sum(axis=-1)
    return CallLoss(
        question=question,
        loss=(far - near).sum(axis=axes) * question.rate,
        rounding=size.sum(axis=axes) * question.rate * 2.0**-50,
        change=float(moved.max()),
    )


def _selection_loss(asked: Question, question: Question, outcome: NDArray[Any]) -> CallLoss:
    """Difference of the two log-probabilities of the chosen candidates, summed over groups of candidates."""
    trials = len(outcome)
    starts = np.array(question.detail or (0, *question.shape), dtype=np.int64)
    before = np.broadcast_to(asked.truth, (trials, *question.shape))
    after = np.broadcast_to(question.truth, (trials, *question.shape))
    with np.errstate(invalid="ignore"):  # forbidden candidates are -inf on both sides
        change = np.where(before == after, 0.0, before - after)
    chosen = starts[:-1] + outcome.reshape(trials, -1)
    rows = np.arange(trials)[:, None]
    was, would = (_log_probability(scores, question.rate, starts)[rows, chosen] for scores in (before, after))
    spread = np.maximum.reduceat(change, starts[:-1], axis=1) - np.minimum.reduceat(change, starts[:-1], axis=1)
    size = np.where(np.isfinite(before), np.abs(before), 0.0).max(axis=1)
    return CallLoss(
        question=question,
        loss=(was - would).sum(axis=1),
        rounding=size * question.rate * 2.0**-48,
        change=float(spread.max()),
    )


def _log_probability(scores: Floats, rate: float, starts: NDArray[np.int64]) -> Floats:
    """Log of the softmax of ``rate * scores`` within each group, ``(trials, candidates)``."""
    sizes = np.diff(starts)
    best = np.maximum.reduceat(scores, starts[:-1], axis=1)
    logits = (scores - np.repeat(best, sizes, axis=1)) * rate
    total = np.add.reduceat(np.exp(logits), starts[:-1], axis=1)
    return np.asarray(logits - np.repeat(np.log(total), sizes, axis=1))


def _partition_loss(asked: Question, question: Question, outcome: NDArray[Any]) -> CallLoss:
    """Difference of the two log-probabilities of the sampled partitions."""
    from dpbench.kernels.partition import forward, log_probability

    *lengths, penalty = question.detail
    allowed = np.array(lengths, dtype=np.int64)
    probabilities = []
    for costs in (asked.truth, question.truth):
        logits = np.ascontiguousarray(-question.rate * costs - penalty)
        probabilities.append(log_probability(forward(logits, allowed), logits, allowed, outcome))
    finite = np.isfinite(asked.truth)
    ends = np.arange(asked.truth.shape[1])
    inside = np.array([ends >= length for length in lengths])
    change = np.zeros(asked.truth.shape)  # forbidden intervals are inf on both sides
    np.subtract(asked.truth, question.truth, out=change, where=inside & finite)
    size = np.where(finite, np.abs(asked.truth), 0.0).max() * question.rate + float(penalty)
    return CallLoss(
        question=question,
        loss=probabilities[0] - probabilities[1],
        rounding=np.full(len(outcome), size * len(ends) * 2.0**-48),
        change=float(np.abs(change).max()),
    )


_MEASURES: dict[str, Callable[[Question, Question, NDArray[Any]], CallLoss]] = {
    "laplace": _laplace_loss,
    "choose": _selection_loss,
    "choose each": _selection_loss,
    "partition": _partition_loss,
}
