from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import pytest

from dpbench.errors import ReplayDiverged
from dpbench.mathematics.cells import Cells
from dpbench.privacy import NoNoise, PrivateData, RandomNoise, Recording, Replay, Total


@dataclass(frozen=True)
class Largest:
    """The count of a cell, as its score."""

    sensitivity: int = 1
    monotone: bool = False

    def score(self, counts):
        return counts.astype(float)


def record(counts, ask, trials=50):
    recording = Recording()
    ask(PrivateData.open(counts, 1, RandomNoise.seeded(0, trials), channel=recording))
    return recording


def replay(recording, counts, ask, trials=50):
    again = Replay(recording)
    ask(PrivateData.open(counts, 1, NoNoise(trials), channel=again))
    again.finish()
    return again


def test_laplace_loss_is_exact():
    """The loss of a noisy count is (|o - x'| - |o - x|) / noise scale, computed from the recorded outcome."""
    ask = lambda data: data.laplace(Total(), Fraction(1, 2))  # noqa: E731
    recording = record([3, 4], ask)
    outcome = recording.exchanges[0][1]
    loss, _ = replay(recording, [3, 5], ask).total(50)
    assert np.allclose(loss, (np.abs(outcome - 8) - np.abs(outcome - 7)) / 2, atol=1e-12)
    assert np.abs(loss).max() <= 0.5 + 1e-12
    assert np.abs(loss).max() > 0.4


def test_selection_loss_is_exact():
    """The loss of a selection is the difference of the two log-probabilities."""
    ask = lambda data: data.choose(Largest(), Fraction(1))  # noqa: E731
    recording = record([3, 4, 0], ask)
    chosen = recording.exchanges[0][1]
    loss, _ = replay(recording, [3, 5, 0], ask).total(50)

    def log_probability(scores):
        logits = np.array(scores) / 2
        return logits - np.log(np.exp(logits).sum())

    assert np.allclose(loss, (log_probability([3, 4, 0]) - log_probability([3, 5, 0]))[chosen], atol=1e-12)


def test_the_same_answers_are_forced():
    """On the neighbour the algorithm is told what it was told before, whatever the counts are."""
    told = []
    ask = lambda data: told.append(data.laplace(Cells(data.domain), 1))  # noqa: E731
    recording = record([1, 2], ask)
    replay(recording, [1000, 2], ask)
    assert np.array_equal(told[0], told[1])


@pytest.mark.parametrize(
    "other",
    [
        lambda data: None,
        lambda data: (data.laplace(Total(), Fraction(1, 2)), data.laplace(Total(), Fraction(1, 4))),
        lambda data: data.laplace(Total(), Fraction(1, 4)),
        lambda data: data.laplace(Cells(data.domain), Fraction(1, 2)),
    ],
    ids=["stops early", "goes on", "other budget", "other question"],
)
def test_other_questions_diverge(other):
    """Fewer, more or other questions than recorded are a divergence."""
    recording = record([1, 2], lambda data: data.laplace(Total(), Fraction(1, 2)))
    with pytest.raises(ReplayDiverged):
        replay(recording, [1, 3], other)


def test_trials_run_one_by_one_are_replayed_one_by_one():
    """An algorithm that loops over trials may ask each trial something else."""

    def ask(data):
        for number, one in enumerate(data.each_trial()):
            for _ in range(number + 1):
                one.laplace(Total(), Fraction(1, 10))

    recording = record([5], ask, trials=3)
    loss, _ = replay(recording, [6], ask, trials=3).total(3)
    assert (np.abs(loss) <= [0.1, 0.2, 0.3]).all()
    assert (loss != 0).all()


def test_a_transcript_prints_no_truth():
    """Neither a recording nor a replay shows what it holds."""
    recording = record([4711], lambda data: data.laplace(Total(), 1))
    assert "4711" not in repr(recording) + repr(recording.exchanges[0][0]) + repr(Replay(recording))
