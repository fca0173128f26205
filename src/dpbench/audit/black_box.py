"""The black box: outputs on two neighbours, told apart as far as epsilon allows and no further.

It is the only layer that sees the sampler, noise that is used twice, and anything else below the handle.

Gaussian noise that is half of what (1, 1e-6) asks for was refuted 40 of 40 times with a million runs on each side: a
power of at least 0.92, at a level of 95 % (``tests/audit/test_black_box.py``).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from time import monotonic, process_time

import numpy as np
from numpy.typing import NDArray

from dpbench.audit.events import Test, choose_event, test_event
from dpbench.audit.features import features
from dpbench.audit.vectors import shown
from dpbench.domain import Domain
from dpbench.workloads import Workload

Floats = NDArray[np.float64]
Counts = NDArray[np.int64]
Promise = tuple[float, float]
"""An epsilon and a delta; the delta of pure differential privacy is 0."""
Sampler = Callable[[Counts, Workload, Promise, int, np.random.SeedSequence], Floats]
"""Outputs ``(runs, *domain)`` of independent runs on given counts."""

FALSE_ALARM = 0.001
"""Probability that anything at all is refuted of an algorithm that keeps its promise."""
PURE: tuple[Promise, ...] = ((1.0, 0.0), (4.0, 0.0))
APPROXIMATE: tuple[Promise, ...] = ((1.0, 1e-6),)
"""What is tried of an algorithm that has zCDP too."""
SECONDS = 9.0
"""Time of the processor for the quick look."""
QUICK_FALSE_ALARM = 1e-6
FIRST_RUNS, FEWEST_RUNS, MOST_RUNS = 2_000, 500, 60_000
"""On each side: in every setting of the quick look at most and at least, and in those that are looked at again."""
CLOSER = 4
"""Settings that are looked at again."""
FEW = 20
"""Runs by which is judged how long one takes."""
LOOKING = 4e-5
"""Seconds that it takes about to look at one output."""
LARGE = 100_000
"""Records in every cell of the second pair."""
LEARNED = "learned from the other half"
CLIP = 6.0
"""Standard deviations at which numbers are cut off before the weights of the learned one are fitted."""


class Clock:
    """Seconds since it was made: of the processor, or a third of those that have passed for code that waits."""

    def __init__(self) -> None:
        self._begun = process_time(), monotonic()

    def elapsed(self) -> float:
        """How many."""
        processor, passed = self._begun
        return max(process_time() - processor, (monotonic() - passed) / 3)


@dataclass(frozen=True)
class PromisedPair:
    """Two neighbours on a small domain, and what is promised of them."""

    workload: Workload
    fewer: Counts
    more: Counts
    epsilon: float
    delta: float = 0.0

    @property
    def domain(self) -> Domain:
        """The domain of the workload."""
        return self.workload.domain

    def __str__(self) -> str:
        cell = int(np.argmax((self.fewer != self.more).reshape(-1)))
        one, other = self.fewer.reshape(-1)[cell], self.more.reshape(-1)[cell]
        return f"x = {shown(self.fewer)} and cell {cell} from {one} to {other}"


@dataclass(frozen=True)
class Finding:
    """The event that told most in one setting."""

    setting: PromisedPair
    strongest: Test
    within_reach: float
    """The least loss, over all events tested, that would have been refuted with probability 95 %."""
    runs: int
    """On each side."""
    above: float
    """Standard errors by which the event that exceeds epsilon most does so, or less than 0."""

    @property
    def refuted(self) -> bool:
        """Whether epsilon is."""
        return self.strongest.refuted > self.setting.epsilon


Pairs = Callable[[Workload, float], Sequence[tuple[Counts, Counts]]]
"""Which pairs of neighbours to look at, for a workload and an epsilon."""


def usual_pairs(workload: Workload, epsilon: float) -> list[tuple[Counts, Counts]]:
    """Few records, and cells that are all large."""
    del epsilon
    large = np.full(workload.domain.shape, LARGE)
    more = large.copy()
    more.reshape(-1)[-1] += 1
    return [neighbours_on(workload.domain), (large, more)]


def neighbours_on(domain: Domain) -> tuple[Counts, Counts]:
    """Nothing and one record on up to 8 cells; beyond, a step whose empty side gains one at the edge."""
    middle = domain.size // 2
    fewer = np.where(np.arange(domain.size) < middle, 5, 0) if domain.size > 8 else np.zeros(domain.size, dtype=int)
    more = fewer.copy()
    more[middle] += 1
    return fewer.reshape(domain.shape).astype(np.int64), more.reshape(domain.shape).astype(np.int64)


def probe(
    sampler: Sampler,
    workloads: Sequence[Workload],
    runs: int,
    seed: int,
    promises: Sequence[Promise] = PURE,
    pairs: Pairs = usual_pairs,
) -> Iterator[Finding]:
    """One finding for each workload, promise and pair, with ``runs`` runs on each side."""
    settings = _settings(workloads, promises, pairs)
    for number, setting in enumerate(settings):
        yield _look(sampler, setting, runs, np.random.SeedSequence([seed, number]), FALSE_ALARM / len(settings))


def probe_quickly(
    sampler: Sampler,
    workloads: Sequence[Workload],
    seed: int,
    promises: Sequence[Promise] = PURE,
    pairs: Pairs = usual_pairs,
    seconds: float | None = None,
) -> list[Finding]:
    """Few runs in every setting, then as many as the time allows in those that showed most; fresh runs, so both count.

    Half of the false alarms are for either stage, a thousandth of those of :func:`probe`: this is looked at unasked.
    Nothing where fewer than 500 runs a side could be made of each setting.
    """
    alarm, clock = QUICK_FALSE_ALARM / 2, Clock()
    settings = _settings(workloads, promises, pairs)
    seconds = (SECONDS if seconds is None else seconds) - clock.elapsed()  # pairs may be searched for
    each = seconds_of_a_run(sampler, settings) + LOOKING
    first = min(int(seconds / 2 / (2 * len(settings) * each)), FIRST_RUNS)
    if first < FEWEST_RUNS:
        return []
    clock = Clock()
    found = [
        _look(sampler, setting, first, np.random.SeedSequence([seed, number]), alarm / len(settings))
        for number, setting in enumerate(settings)
    ]
    if any(each.refuted for each in found):
        return found
    taken = clock.elapsed()
    order = sorted(found, key=lambda each: -each.above)[:CLOSER]
    more = min(int((seconds - taken) * first * len(settings) / max(taken, 1e-6) / len(order)), MOST_RUNS)
    if more < first:
        return found
    return found + [
        _look(sampler, each.setting, more, np.random.SeedSequence([seed, number, 1]), alarm / len(order))
        for number, each in enumerate(order)
    ]


def seconds_of_a_run(sampler: Sampler, settings: Sequence[PromisedPair]) -> float:
    """By a few runs in the first setting and in the last, after one that loads what it needs."""
    taken = 0.0
    for setting in (settings[0], settings[-1]):
        for runs in (1, FEW):
            clock = Clock()
            sampler(setting.fewer, setting.workload, (setting.epsilon, setting.delta), runs, np.random.SeedSequence(0))
            taken += clock.elapsed() if runs == FEW else 0.0
    return taken / (2 * FEW)


def _settings(workloads: Sequence[Workload], promises: Sequence[Promise], pairs: Pairs) -> list[PromisedPair]:
    return [
        PromisedPair(workload, *pair, *promise)
        for promise in promises
        for workload in workloads
        for pair in pairs(workload, promise[0])
    ]


def _look(sampler: Sampler, setting: PromisedPair, runs: int, seed: np.random.SeedSequence, alarm: float) -> Finding:
    """All families of features, both directions; a false refutation has the probability ``alarm``."""
    halves = []
    for counts, own_seed in zip((setting.fewer, setting.more), seed.spawn(2), strict=True):
        outputs = sampler(counts, setting.workload, (setting.epsilon, setting.delta), runs, own_seed)
        numbers = features(outputs, setting.fewer, setting.more)
        half = runs // 2
        halves.append(
            (
                {name: each[:half] for name, each in numbers.items()},
                {name: each[half:] for name, each in numbers.items()},
            )
        )
    _learn(halves)
    families = list(halves[0][0])
    alarm /= 2 * len(families)
    tests = []
    for mine, other in ((0, 1), (1, 0)):
        (choosing, testing), (choosing_other, testing_other) = halves[mine], halves[other]
        for family in families:
            event = choose_event(family, choosing[family], choosing_other[family])
            tests.append(test_event(event, testing, testing_other, setting.epsilon, alarm, setting.delta))
    return Finding(
        setting,
        max(tests, key=lambda test: test.refuted),
        min(test.within_reach for test in tests),
        runs,
        max(test.above(setting.epsilon) for test in tests),
    )


def _learn(halves: list[tuple[dict[str, Floats], dict[str, Floats]]]) -> None:
    """Add a number that weighs all others so that it tells the two sides apart; fitted on the choosing halves alone."""
    together = [np.concatenate(list(choosing.values()), axis=1) for choosing, _ in halves]
    centre = np.median(np.concatenate(together), axis=0)
    spread = np.mean(np.abs(np.concatenate(together) - centre), axis=0)
    spread[spread == 0] = 1.0

    def prepared(numbers: Floats) -> Floats:
        return np.asarray(np.clip((numbers - centre) / spread, -CLIP, CLIP))

    inputs = np.concatenate([prepared(numbers) for numbers in together])
    wanted = np.repeat([-0.5, 0.5], [len(numbers) for numbers in together])
    gram = inputs.T @ inputs + 1e-6 * len(inputs) * np.eye(inputs.shape[1])
    weights = np.linalg.solve(gram, inputs.T @ wanted)
    for choosing, testing in halves:
        for half in (choosing, testing):
            half[LEARNED] = (prepared(np.concatenate(list(half.values()), axis=1)) @ weights)[:, np.newaxis]
