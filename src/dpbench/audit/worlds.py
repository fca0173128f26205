"""One batch of cases in several fresh processes, which may differ in nothing but the counts.

In one the cases are run and recorded. In another they are run on the other data vectors, one after the other in the
same order, with the recorded answers forced. A third runs on the first data vectors again, unrecorded. Whatever leaves
a run has to be the same in all of them: a cache, a warm start or a module's global that holds counts shows there too.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpbench.algorithm import Algorithm, Outcome, SideInformation
from dpbench.audit.cases import Case
from dpbench.audit.contents import contents
from dpbench.audit.distorted_noise import PLAIN, DistortedNoise, distorted
from dpbench.audit.fresh import fresh
from dpbench.audit.plain_data import NotPlain, packed, unpacked
from dpbench.audit.printed_text import Number, varying_numbers
from dpbench.audit.subject import budget_like, is_ours, workload_for
from dpbench.audit.tampering import code_of_the_package, replaced_since
from dpbench.audit.traces import Trace, changed_later, difference, known_for_nothing, parting, suspicion, traced
from dpbench.domain import Domain
from dpbench.errors import CheckFailed, ReplayDiverged
from dpbench.privacy import RandomNoise, Recording
from dpbench.privacy.claims import TOLERANCE, overdrawn, refuted_claim
from dpbench.privacy.transcript import CallLoss, Draw, Question, Seeds

AUDIT = ("dpbench.audit", "dpbench.testing")
WARM_DOMAINS = tuple(map(Domain.of, ("4", "2x2", "64", "16x16", "4x4x4", "1024", "32x32")))
"""The first that an algorithm supports is what it runs on many times."""
HUGE = 2.0**40
"""Records; a mechanism may refuse a truth that floats do not hold exactly."""
WITHHELD = "refuses its truth in words that are withheld"
SECONDS = 10.0
"""Of the processor, that a fresh process may take for a batch."""
TRIAL_ROUNDING = 1e-6
"""Relative; a solver may work on several trials at once."""
CLAIM_SECONDS = 0.06


@dataclass(frozen=True)
class Runner:
    """An algorithm, where its scale comes from, and what is not compared of its runs."""

    algorithm: Algorithm
    side_information: SideInformation | None = None
    aside: tuple[str, ...] = ()
    """What differs between two runs on the same counts too, such as memory that nobody wrote to."""
    varying: frozenset[Number] = frozenset()
    """Numbers in what it prints that do so, such as a time."""
    claim_seconds: float = CLAIM_SECONDS
    """Time of the processor in which a claim is tried on as many cells as possible."""
    warm: int = 0
    """Runs on a few empty cells that come first in every process."""

    def warmed(self, runs: int) -> None:
        """Run it so often: it may behave otherwise from some run on, as one that fills a buffer or a cache."""
        for domain in [each for each in WARM_DOMAINS if runs and self.algorithm.supports(each)][:1]:
            empty, workload = np.zeros(domain.shape, dtype=np.int64), workload_for(domain)
            budget = budget_like(self.algorithm.notions[0], 1)
            for seed in range(runs):
                with suppress(Exception), warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    self.algorithm.outcome(empty, workload, seed=seed, side_information=self.side_information, **budget)

    def run(self, case: Case, counts: NDArray[np.int64], **how: Any) -> Outcome:
        """Run a case on counts."""
        return self.algorithm._outcome(
            counts, case.workload, trials=case.trials, side_information=self.side_information, **case.budget, **how
        )


@dataclass(frozen=True)
class Finding:
    """What was seen in one case of a batch."""

    step: int
    """Place of the case in its batch."""
    words: str
    kind: str
    """differs: with the same answers something else left; costs: a call took more than it was charged; claims: so does
    a record elsewhere; fails: it raises; direct: unrecorded it does something else; noise: it touched the source;
    batch: a trial depends on how many are run with it."""


@dataclass
class Looked:
    """What a world has to report of a batch."""

    finding: Finding | None = None
    compared: int = 0
    too_large: int = 0
    kept_out: int = 0
    share: float = 0.0
    """The most that a replay took of its budget."""


# --- what a run was answered, as it is sent from one process to another ---------------------------------


@dataclass(frozen=True, repr=False)
class Exchange:
    """One exchange with the handle, in plain values."""

    signature: Any
    """Or a hash of it, where it is no plain data."""
    why: str
    words: str
    truth: Any
    outcome: NDArray[Any]


@dataclass(repr=False)
class Transcript:
    """Every exchange of a run, those of single trials apart."""

    exchanges: list[Exchange]
    single: dict[int, Transcript]
    coin_seeds: Seeds

    @classmethod
    def of(cls, recording: Recording) -> Transcript:
        """Of a recording."""
        exchanges = [
            Exchange(_signature(asked), asked.why, _words(asked), _sent(asked), outcome)
            for asked, outcome in recording.exchanges
        ]
        return cls(exchanges, {trial: cls.of(each) for trial, each in recording.single.items()}, recording.coin_seeds)


def _signature(asked: Question) -> Any:
    signature = (*asked.signature(), asked.domain.shape)
    return signature if _is_plain(signature) else contents(signature)


def _words(asked: Question) -> str:
    return f"{asked} over {asked.domain} cells"


def _sent(asked: Question) -> Any:
    """A truth, which has to be plain data for what an answer costs to be seen."""
    if not _is_plain(asked.truth):
        raise CheckFailed(
            f"'{asked.why}' ({asked.kind}) has a {type(asked.truth).__name__} for its truth, which cannot be replayed; "
            f"let truth() return numbers, texts and arrays, in tuples, lists or dicts"
        )
    return asked.truth


def _is_plain(value: Any) -> bool:
    try:
        packed(value)
    except NotPlain:
        return False
    return True


@dataclass(repr=False)
class Forced:
    """A channel that gives the answers of a transcript, and remembers where the questions differ."""

    transcript: Transcript
    calls: list[CallLoss] = field(default_factory=list)
    single: dict[int, Forced] = field(default_factory=dict)
    position: int = 0
    divergence: list[str] = field(default_factory=list)

    def answer(self, question: Question, draw: Draw) -> NDArray[Any]:
        """The recorded outcome, if this is the recorded question."""
        del draw
        if self.position >= len(self.transcript.exchanges):
            self._diverge(f"it went on to ask {_words(question)}, where the first run had ended")
        recorded = self.transcript.exchanges[self.position]
        self.position += 1
        if recorded.signature != _signature(question):
            words = _words(question)
            same = " with another claim, threshold or noise" if words == recorded.words else ""
            self._diverge(f"it asked {words}{same}, where the first run had asked {recorded.words}")
        self.calls.append(CallLoss(replace(question, truth=recorded.truth), question.truth, recorded.outcome))
        return recorded.outcome.copy()

    def coins(self, seeds: Callable[[], Seeds]) -> Seeds:
        """The recorded ones: public randomness is the same for all counts."""
        return self.transcript.coin_seeds or seeds()

    def only(self, trial: int) -> Forced:
        """The channel of one trial that is run by itself."""
        empty = Transcript([], {}, ())
        transcript = self.transcript.single.get(trial, empty)
        return self.single.setdefault(trial, Forced(transcript, divergence=self.divergence))

    def unasked(self) -> str:
        """What was asked in the first run and not in this one, in words."""
        if self.position < len(self.transcript.exchanges):
            return f"it did not ask {self.transcript.exchanges[self.position].words}, which the first run had asked"
        return next((words for words in (each.unasked() for each in self.single.values()) if words), "")

    def all_calls(self) -> list[CallLoss]:
        """Those of single trials included."""
        return self.calls + [call for each in self.single.values() for call in each.all_calls()]

    def _diverge(self, words: str) -> None:
        self.divergence.append(words)
        raise ReplayDiverged(words)


SENT = (Trace, Transcript, Exchange)
"""What a recording is made of."""


# --- the worlds ----------------------------------------------------------------------------------------


def record(runner: Runner, cases: Sequence[Case]) -> bytes:
    """Run every case on its first data vector; traces and transcripts, as they are sent."""

    def work() -> list[tuple[Trace, Transcript, bool]]:
        found = []
        before = {} if is_ours(type(runner.algorithm)) else code_of_the_package()
        runner.warmed(runner.warm)
        for case in cases:
            noise, channel = distorted(case.seed, case.trials, case.noise), Recording()
            trace = traced(lambda: runner.run(case, case.x, noise=noise, channel=channel))  # noqa: B023  (called now)
            last = case is cases[-1]
            found.append((parting(trace) if last else trace, Transcript.of(channel), bool(noise.touched)))
        words = replaced_since(before) if before else ""
        if words:
            raise CheckFailed(f"it changes {words} while it runs")
        if changed_later():
            raise CheckFailed("it changes its output after it has returned it, by a thread that it leaves running")
        return found

    return fresh(lambda: packed(work(), SENT), SECONDS, silent=True)


def _recorded(content: bytes) -> list[tuple[Trace, Transcript, bool]]:
    found: list[tuple[Trace, Transcript, bool]] = unpacked(content, SENT)
    return found


def printed_otherwise(runner: Runner, cases: Sequence[Case]) -> frozenset[Number]:
    """Numbers in what is printed that two runs of the same cases do not have in common."""
    texts = [[trace.printed for trace, _, _ in _recorded(record(runner, cases))] for _ in range(2)]
    return frozenset(each for one, other in zip(*texts, strict=True) for each in varying_numbers(one, other))


def force(runner: Runner, cases: Sequence[Case], recorded: bytes) -> Looked:
    """Run every case on its other data vector with the recorded answers, up to the first that differs."""

    def work() -> Looked:
        looked = Looked()
        runner.warmed(runner.warm)
        for step, (case, (trace, transcript, touched)) in enumerate(zip(cases, _recorded(recorded), strict=True)):
            channel = Forced(transcript)
            other = RandomNoise.seeded(np.random.SeedSequence([case.seed, 1]), case.trials)  # drawn by nobody
            again = traced(lambda: runner.run(case, case.y, noise=other, channel=channel))  # noqa: B023
            again = parting(again) if step == len(cases) - 1 else again
            if trace.too_large or again.too_large or _refused(case, trace, again):
                looked.too_large += 1
                continue
            looked.compared += 1
            looked.kept_out += trace.kept_out
            looked.finding = _compare(step, case, (trace, again), channel, touched, runner)
            if looked.finding is None and case.cell is not None and not trace.raised:
                looked.finding, share = _cost(step, case, channel)
                looked.share = max(looked.share, share)
            if looked.finding is not None:
                break
        return looked

    return fresh(work, SECONDS, silent=True, kinds=(Looked, Finding))


def _refused(case: Case, *traces: Trace) -> bool:
    """Whether counts so large that any mechanism may refuse them were refused, in words that the handle withholds."""
    records = max(float(each.sum()) for each in (case.x, case.y))
    return records >= HUGE and any(WITHHELD in each.raised for each in traces)


def _compare(
    step: int, case: Case, traces: tuple[Trace, Trace], channel: Forced, touched: bool, runner: Runner
) -> Finding | None:
    trace, again = traces
    given = known_for_nothing(trace)
    raised = f" (the first run had raised {trace.raised[:120]!r})" if trace.raised else ""
    words = next(iter(channel.divergence), "") or ("" if again.raised else channel.unasked())
    if words:
        return Finding(step, f"{words}{raised}{given}", "differs")
    words = difference(trace, again, runner.aside, runner.varying)
    if words:
        hint = suspicion(case.x, trace, case.y, again) if trace.bytes_out != again.bytes_out else ""
        return Finding(step, f"the same answers gave {words}{hint}{given}", "differs")
    if trace.raised and not trace.kept_out and case.noise == PLAIN:  # other noise than this does not occur
        return Finding(step, f"it fails with {trace.raised}", "fails")
    if touched:
        words = "a stream of noise was not where the last draw had left it: noise may be used twice, or known"
        return Finding(step, words, "noise")
    return None


def _cost(step: int, case: Case, channel: Forced) -> tuple[Finding | None, float]:
    """No call costs more than it was charged, whatever its outcome; the most that the whole run took of its budget."""
    total = 0.0
    for call in channel.all_calls():
        question = call.question
        words = overdrawn(question, call.other)
        charged = float(question.loss)
        if not words and question.mechanism.pure and case.noise == PLAIN:
            dear = ~(np.abs(call.loss) <= charged * (1 + TOLERANCE) + call.rounding)  # NaN is no loss either
            words = (
                f"'{question.why}' cost {np.abs(call.loss).max():.6g} and was charged {charged:g}" if dear.any() else ""
            )
        if words:
            return Finding(step, words, "costs"), 1.0
    if case.noise == PLAIN:
        total = _whole(case, channel)
        if case.notion == "pure" and total > 1 + TOLERANCE:
            epsilon = float(case.epsilon)
            words = f"a whole run cost {total * epsilon:.6g}, more than epsilon {epsilon:g}"
            return Finding(step, words, "costs"), total
    return None, total


def _whole(case: Case, channel: Forced) -> float:
    """What one whole run took of its budget, at most over trials, by the answers at hand; rounding allowed for."""
    if case.notion != "pure":
        charged = sum((float(call.question.amount) for call in channel.calls), 0.0)
        cost = sum(
            (call.question.mechanism.divergence(call.question.truth, call.other, call.question.level))
            for call in channel.calls
        )
        return float(cost) / charged if charged else 0.0
    loss = sum((_signed(call) for call in channel.calls), np.zeros(case.trials))
    for trial, each in channel.single.items():
        loss[trial] += float(sum((_signed(call)[0] for call in each.calls), 0.0))
    return float(np.abs(loss).max()) / float(case.epsilon)


def _signed(call: CallLoss) -> NDArray[np.float64]:
    """The loss of each trial, drawn towards 0 by what may be rounding."""
    return np.asarray(np.sign(call.loss) * np.maximum(np.abs(call.loss) - call.rounding, 0.0))


def unrecorded(runner: Runner, cases: Sequence[Case], recorded: bytes) -> Looked:
    """Run every case on its first data vector again, as a user does, and recompute claims where it ran."""

    def work() -> Looked:
        looked = Looked()
        runner.warmed(runner.warm)
        for step, (case, (trace, _, _)) in enumerate(zip(cases, _recorded(recorded), strict=True)):
            how: dict[str, Any] = {"seed": case.seed} if case.noise == PLAIN else {"noise": _like(case)}
            with _out_of_sight():
                again = traced(lambda: runner.run(case, case.x, **how))  # noqa: B023
            again = parting(again) if step == len(cases) - 1 else again
            words = difference(trace, again, runner.aside, runner.varying)
            if words:
                looked.finding = Finding(step, f"at one seed, recorded and unrecorded, it gave {words}", "direct")
                return looked
        for step, (case, (trace, _, _)) in enumerate(zip(cases, _recorded(recorded), strict=True)):
            looked.finding = None if step % 2 else _alone(runner, case, step, trace)
            if looked.finding is not None:
                break
        return looked

    return fresh(work, SECONDS, silent=True, kinds=(Looked, Finding))


@contextmanager
def _out_of_sight() -> Iterator[None]:
    """Let the audit not be among the modules that are loaded: code may look for it, and behave."""
    ours = {name: sys.modules.pop(name) for name in list(sys.modules) if name.startswith(AUDIT)}
    try:
        yield
    finally:
        sys.modules.update(ours)


def _like(case: Case) -> DistortedNoise:
    return distorted(case.seed, case.trials, case.noise)


def _alone(runner: Runner, case: Case, step: int, trace: Trace) -> Finding | None:
    """The first trial run by itself: it comes out as among others, and what it claims holds for any record."""
    channel, single = Recording(), replace(case, trials=1)
    alone = traced(lambda: runner.run(single, case.x, noise=_like(single), channel=channel))
    if alone.raised or trace.raised:
        return None
    first = np.frombuffer(trace.bytes_out).reshape(case.trials, -1)[0]
    off = float(np.abs(first - np.frombuffer(alone.bytes_out)).max())
    if case.noise == PLAIN and off > TRIAL_ROUNDING * (1 + float(np.abs(first).max())):
        words = f"the first of {case.trials} trials is off by {off:.3g} from the same trial run alone"
        return Finding(step, f"a trial depends on how many are run with it: {words}", "batch")
    words = refuted_claim(channel.questions(), np.random.default_rng(case.seed), runner.claim_seconds)
    return Finding(step, words, "claims") if words else None
