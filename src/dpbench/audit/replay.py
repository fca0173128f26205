"""Replay: the same answers forced on a neighbour, and what they would have cost."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpbench.algorithm import Algorithm, Outcome, SideInformation
from dpbench.audit.neighbours import Pair
from dpbench.audit.subject import budget_like, in_words
from dpbench.domain import Domain
from dpbench.errors import CheckFailed, DPBenchError, ReplayDiverged
from dpbench.privacy import NoNoise, Recording, Replay
from dpbench.privacy.transcript import CallLoss, Question
from dpbench.workloads import Workload

TOLERANCE = 1e-9
"""Relative; on top of it comes the rounding of each call, bounded from the size of its answers."""

LAST_BITS = 1e-13
"""Relative; outputs that differ by less differ by rounding."""
OTHER_OUTPUT = "the same noisy answers gave another output on a neighbour, so counts were read outside the handle"


class LastBitsDiffer(CheckFailed):
    """Counts were read outside the handle, but on this pair only rounding shows it; another pair may show more."""


@dataclass(frozen=True)
class ReplaySetting:
    """One algorithm, as it is replayed."""

    algorithm: Algorithm
    workload: Workload
    epsilon: Fraction
    trials: int
    side_information: SideInformation | None
    notion: str = "pure"

    def run(self, x: NDArray[np.int64], **how: Any) -> Outcome:
        """Run on x."""
        budget = budget_like(self.notion, self.epsilon)
        return self.algorithm.outcome(
            x, self.workload, trials=self.trials, side_information=self.side_information, **budget, **how
        )

    @property
    def domain(self) -> Domain:
        """The domain of the workload."""
        return self.workload.domain


@dataclass(frozen=True, repr=False)
class Recorded:
    """A run, with every answer that it was given."""

    estimate: NDArray[np.float64]
    recording: Recording
    revealed: tuple[str, ...]
    """What its ledger says was known for nothing."""


def record(setting: ReplaySetting, x: NDArray[np.int64], seed: int) -> Recorded:
    """Run on x and keep every answer."""
    recording = Recording()
    outcome = setting.run(x, seed=seed, channel=recording)
    return Recorded(outcome.estimate, recording, tuple(outcome.ledger.for_nothing))


def force(setting: ReplaySetting, recorded: Recorded, other: NDArray[np.int64]) -> tuple[NDArray[np.float64], Replay]:
    """Run on other counts with the same answers; ``ReplayDiverged`` where it asks something else."""
    replay = Replay(recorded.recording)
    again = setting.run(other, noise=NoNoise(setting.trials), channel=replay).estimate
    replay.finish()
    return again, replay


def check_pair(setting: ReplaySetting, pair: Pair, seed: int) -> float:
    """Replay in both directions; the largest share of epsilon that any replay cost."""
    forward = _check_direction(setting, pair.fewer, pair.more, pair.kind, seed)
    backward = _check_direction(setting, pair.more, pair.fewer, f"{pair.kind}, reversed", seed + 1)
    return max(forward, backward)


def _check_direction(
    setting: ReplaySetting, x: NDArray[np.int64], neighbour: NDArray[np.int64], kind: str, seed: int
) -> float:
    name, where = setting.algorithm.name, f"on {setting.domain}, pair '{kind}'"
    try:
        recorded = record(setting, x, seed)
    except DPBenchError as error:
        raise CheckFailed(f"{name} fails {where}: {error}") from None
    except (Exception, SystemExit) as error:
        raise CheckFailed(f"{name} fails {where} with {in_words(error)}") from error
    hint = told_for_nothing(recorded)
    try:
        again, replay = force(setting, recorded, neighbour)
    except ReplayDiverged as divergence:
        raise CheckFailed(f"{name} is not private {where}: {divergence}{hint}") from None
    except DPBenchError as error:
        raise CheckFailed(f"{name} is not private {where}: on a neighbour it failed: {error}{hint}") from None
    except (Exception, SystemExit) as error:
        raise CheckFailed(f"{name} is not private {where}: on a neighbour it failed: {in_words(error)}") from error
    for call in replay.calls():
        _check_call(name, where, call)
    _check_output(recorded, x, neighbour, again, f"{name} is not private {where}: {OTHER_OUTPUT}")
    return _check_total(setting, replay, f"{name} is not private {where}")


def _check_total(setting: ReplaySetting, replay: Replay, where: str) -> float:
    """No whole run costs more than the budget; the largest share that one cost.

    Under pure differential privacy that is the sum of the losses of the answers at hand. Under zCDP every call's
    divergence has been held to its charge, and charges add up to the budget.
    """
    if setting.notion != "pure":
        charged = sum((float(call.question.amount) for call in replay.losses), 0.0)
        cost = sum((_divergence(call) for call in replay.losses), 0.0)
        return cost / charged if charged else 0.0
    loss, rounding = replay.total(setting.trials)
    epsilon = float(setting.epsilon)
    if not (np.abs(loss) <= epsilon * (1 + TOLERANCE) + rounding).all():
        raise CheckFailed(f"{where}: a whole run cost {np.abs(loss).max():.6g}, more than epsilon {epsilon:g}")
    return float(np.abs(loss).max()) / epsilon


def _check_output(
    recorded: Recorded,
    x: NDArray[np.int64],
    neighbour: NDArray[np.int64],
    again: NDArray[np.float64],
    cause: str,
) -> None:
    """Bit for bit the same, or a failure; a difference in the last bits alone is told apart from a real one."""
    if np.array_equal(recorded.estimate, again):
        return
    hint = told_for_nothing(recorded)
    largest = float(np.abs(recorded.estimate - again).max())
    if largest <= LAST_BITS * (1 + float(np.abs(again).max())):
        raise LastBitsDiffer(f"{cause}, though here in the last bits of the output alone{hint}")
    raise CheckFailed(f"{cause}{_suspicion(x, recorded.estimate, neighbour, again)}{hint}")


def told_for_nothing(recorded: Recorded) -> str:
    """What the ledger of a form that is not private says by itself."""
    return f" (it was given: {', '.join(recorded.revealed)})" if recorded.revealed else ""


def _check_call(name: str, where: str, call: CallLoss) -> None:
    """No call costs more than it was charged, whatever its outcome: by the truths on both sides."""
    question = call.question
    mechanism, paid = question.mechanism, float(question.loss)
    share = spent_share(question, call.other)
    if share > 1 + TOLERANCE:
        claim = float(mechanism.claim)
        raise CheckFailed(
            f"{name} is not private {where}: '{question.why}' claims a sensitivity of {claim:g}, but one record moved "
            f"what it asks by {share * claim:g}; too little noise by a factor {share:.3g}"
        )
    if mechanism.pure and not (np.abs(call.loss) <= paid * (1 + TOLERANCE) + call.rounding).all():  # NaN is none either
        raise CheckFailed(
            f"{name} is not private {where}: '{question.why}' cost {np.abs(call.loss).max():.6g} and was "
            f"charged {paid:g}"
        )


def spent_share(question: Question, other: Any) -> float:
    """How much of what a call is paid for telling its truth from another one costs, rounding allowed for."""
    mechanism, level, paid = question.mechanism, question.level, float(question.loss)
    rounding = float(np.max(mechanism.rounding(question.truth, other, level)))
    if mechanism.pure:
        return max(mechanism.largest_loss(question.truth, other, level) - rounding, 0.0) / paid
    return float(np.sqrt(max(mechanism.divergence(question.truth, other, level) - rounding, 0.0) / paid))


def _divergence(call: CallLoss) -> float:
    question = call.question
    return question.mechanism.divergence(question.truth, call.other, question.level)


def _suspicion(
    x: NDArray[np.int64], told: NDArray[np.float64], neighbour: NDArray[np.int64], again: NDArray[np.float64]
) -> str:
    """A guess at what was read, from what the two outputs have in common with the data."""
    axes = tuple(range(1, told.ndim))
    for counts, output in ((x, told), (neighbour, again)):
        if (counts == 0).any() and (output[:, counts == 0] == 0).all() and (output[:, counts > 0] != 0).any():
            return ": cells that are truly empty come out as exactly 0 (true zeros are kept)"
        total = float(counts.sum())
        if total > 0 and np.allclose(output.sum(axis=axes), total, rtol=1e-12, atol=0):
            return ": the output adds up to the true total (the true scale is used)"
    return ""
