"""The one door to private counts.

An algorithm never sees counts. It gets a :class:`PrivateData`, which owns the counts, the randomness and
the budget, and has few verbs. The caller says what it spends; the handle derives the noise from the
sensitivity that the strategy or score itself claims, rounded up. A charge is made before anything is drawn.

Neighbours differ by one record added or removed: exactly one cell changes by one.

What the handle enforces: no charge beyond the budget, noise no smaller than the claim asks for, disjoint regions,
counts that nothing can write to (``setflags`` is refused, there is no writeable base), no answer after a question
that failed, since that may have followed from the counts, no copies, raw counts for published forms alone, each time
with a mark in the ledger. What it cannot enforce, because Python hides nothing from those who look:
that a claim is true, that a strategy forgets the counts it was shown, that nobody reads private attributes or draws
from the noise source directly. An algorithm is a guest, not a prisoner; these are what ``dpbench check`` looks for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from functools import partial
from typing import Any, Never, NoReturn

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dpbench.domain import Domain
from dpbench.errors import (
    BudgetExceeded,
    InvalidInput,
    NotPrivate,
    UndeclaredSideInformation,
    Unsupported,
    shown,
)
from dpbench.given import of_kind, texts, whole
from dpbench.privacy.budget import LARGEST, Number, exact, read_epsilon, written
from dpbench.privacy.counts import as_counts
from dpbench.privacy.exact_channel import Exact
from dpbench.privacy.ledger import RESERVED, Charge, Ledger
from dpbench.privacy.mechanisms import Exponential, Gaussian, GroupedExponential, Laplace, Mechanism, Partition
from dpbench.privacy.mechanisms.exponential import GumbelMax
from dpbench.privacy.mechanisms.mechanism import is_ours
from dpbench.privacy.noise import NoiseSource
from dpbench.privacy.notions import ZCDP, Notion, PureDP
from dpbench.privacy.protocols import GroupedScore, PartitionCost, Score, Statistic, Strategy, Total
from dpbench.privacy.regions import Region, cut
from dpbench.privacy.transcript import Channel, Direct, Question
from dpbench.privacy.withheld import withheld

Counts = NDArray[np.int64]
Floats = NDArray[np.float64]


STRATEGY = "sensitivity, shape, answer"
SCORE = "sensitivity, monotone, score"
GROUPED = f"{SCORE}, starts"
COST = "sensitivity, lengths, penalty, cost"
"""What such a question has."""


class PrivateData:
    """Private counts behind a handle; see the module's docstring."""

    __slots__ = (
        "__coins",
        "__counts",
        "__kept",
        "__ledger",
        "__vault",
        "_channel",
        "_declared",
        "_domain",
        "_noise",
        "_published",
        "_scale",
        "_single",
    )

    def __init__(
        self,
        counts: Counts,
        ledger: Ledger,
        noise: NoiseSource,
        *,
        channel: Channel | None = None,
        declared: Sequence[str] = (),
        published: bool = False,
        scale: Floats | None = None,
        single: bool = False,
        vault: dict[Statistic, Any] | None = None,
        coins: dict[str, tuple[np.random.Generator, ...]] | None = None,
        kept: list[Any] | None = None,
    ) -> None:
        self.__counts = counts
        self._domain = Domain(counts.shape)
        self.__kept = kept
        self.__vault: dict[Statistic, Any] = {} if vault is None else vault
        self.__ledger = ledger
        self.__coins: dict[str, tuple[np.random.Generator, ...]] = {} if coins is None else coins
        self._noise = noise
        self._channel = channel if channel is not None else Direct()
        self._declared = tuple(declared)
        self._published = published
        self._scale = scale
        self._single = single

    @classmethod
    def open(
        cls,
        values: ArrayLike,
        budget: Notion | Number,
        noise: NoiseSource,
        *,
        channel: Channel | None = None,
        declared: Sequence[str] = (),
        published: bool = False,
        kept: list[Any] | None = None,
    ) -> PrivateData:
        """Put counts behind a handle with a fresh ledger; a number is an epsilon."""
        if not isinstance(getattr(noise, "trials", None), int):
            raise InvalidInput(f"the noise is a {type(noise).__name__}; give a source of noise with trials")
        if channel is not None and not hasattr(channel, "answer"):
            raise InvalidInput(f"the channel is a {type(channel).__name__}; give one that answers questions, or None")
        texts(declared, "declared")
        notion = budget if isinstance(budget, PureDP | ZCDP) else PureDP(read_epsilon(budget))
        ledger = Ledger(notion, noise.trials)
        return cls(as_counts(values), ledger, noise, channel=channel, declared=declared, published=published, kept=kept)

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        """Refuse to be copied or pickled: a copy would have the budget once more."""
        raise NotPrivate(
            "private data cannot be copied, since a copy would have a budget of its own; pass the handle on"
        )

    def __repr__(self) -> str:
        return f"PrivateData(domain={self.domain}, trials={self.trials}, budget={self.budget})"

    @property
    def ledger(self) -> Ledger:
        """What has been spent, and on what."""
        return self.__ledger

    @property
    def domain(self) -> Domain:
        """The public domain of the counts."""
        return self._domain

    @property
    def trials(self) -> int:
        """Number of trials that every verb answers at once."""
        return self._noise.trials

    @property
    def budget(self) -> Fraction:
        """What is left to spend, of epsilon or of rho; at the start, everything that the algorithm may spend."""
        return self.ledger.remaining

    @property
    def epsilon(self) -> Fraction:
        """The same under pure differential privacy, where the budget is an epsilon."""
        if not isinstance(self.ledger.notion, PureDP):
            raise Unsupported(
                "data.epsilon is for pure differential privacy, and this budget is of zCDP; use data.budget"
            )
        return self.ledger.remaining

    def as_epsilon(self, amount: Fraction, parts: int = 1) -> float:
        """The epsilon whose Laplace noise on a count is as large as :meth:`measure`'s for ``amount``.

        With ``parts``, both are divided into as many equal parts, and the noise of a part is as large. For rules of
        thumb that speak of epsilon, such as the side of a grid.
        """
        return self.ledger.notion._as_epsilon(_positive(amount), whole(parts, "the number of parts of a budget"))

    # --- verbs that spend -------------------------------------------------------------------------

    def ask(self, mechanism: Mechanism, spend: Number, why: str = "") -> Any:
        """The outcome of a mechanism for every trial, ``(trials, ...)``: the verb under all others.

        The charge is made before the mechanism is shown any counts. What goes wrong inside it is reported without its
        words, which may quote counts.
        """
        reason = _reason(why) or getattr(mechanism, "label", "a question")
        amount = self._amount(spend, reason)
        if not isinstance(mechanism, Mechanism):
            raise InvalidInput(f"'{reason}' asks a {type(mechanism).__name__}; give a mechanism, for example Laplace")
        name = mechanism.name
        if type(name) is not str or not name or name in RESERVED:
            raise InvalidInput(f"a mechanism has the name {shown(name)}; give it one that is no line of every ledger")
        loss = self.ledger.notion._loss(mechanism, amount)
        level = mechanism.level(loss)
        self._insist_on_one_measurement(mechanism, reason)
        own = not is_ours(mechanism)
        self.ledger.charge(Charge(name, reason, amount, mechanism.claim, mechanism.noise_words(level), own=own))
        if isinstance(self._channel, Exact):
            self._channel.insist(mechanism)
            exact_draw = self._channel.drawn
            return self._give(self._shown(reason, lambda: exact_draw(mechanism, self._material(mechanism), loss)))
        truth = self._truth(mechanism, reason, own)
        question = Question(mechanism, reason, amount, loss, level, truth, self.domain)

        draw = partial(mechanism.draw, truth, level, self._noise)
        return self._give(self._channel.answer(question, lambda: self._shown(reason, draw)))

    def measure(self, strategy: Strategy, spend: Number, why: str = "") -> Floats:
        """Noisy answers of a strategy with the noise of the notion: Laplace by L1, or Gaussian by L2 under zCDP."""
        kind = Laplace if isinstance(self.ledger.notion, PureDP) else Gaussian
        answers: Floats = self.ask(kind(_able(strategy, "a strategy", STRATEGY)), spend, why)
        return answers

    def laplace(self, strategy: Strategy, spend: Number, why: str = "") -> Floats:
        """Noisy answers of a strategy, ``(trials, *shape)``: the Laplace mechanism."""
        answers: Floats = self.ask(Laplace(_able(strategy, "a strategy", STRATEGY)), spend, why)
        return answers

    def choose(self, score: Score, spend: Number, why: str = "") -> NDArray[np.int64]:
        """The index of a candidate with a high score, ``(trials,)``: the exponential mechanism."""
        kind = GumbelMax if self._published else Exponential
        answers: NDArray[np.int64] = self.ask(kind(_able(score, "a score", SCORE)), spend, why)
        return answers

    def choose_each(self, score: GroupedScore, spend: Number, why: str = "") -> NDArray[np.int64]:
        """A candidate of every group, counted from its group's first, ``(trials, groups)``; all for one ``spend``."""
        answers: NDArray[np.int64] = self.ask(GroupedExponential(_able(score, "a score", GROUPED)), spend, why)
        return answers

    def partition(self, cost: PartitionCost, spend: Number, why: str = "") -> NDArray[np.bool_]:
        """A partition of the line into intervals that cost little in all, ``(trials, n + 1)``, True at each cut."""
        asker = _able(cost, "a cost", COST)
        answers: NDArray[np.bool_] = self.ask(Partition(asker, self.domain.size), spend, why)
        return answers

    def parts(self, regions: Sequence[Region], spend: Number, why: str = "") -> list[PrivateData]:
        """One handle for each of several disjoint regions, each with ``spend`` of its own.

        One record lies in one region, so all regions together cost what one costs. Each region sees
        only its own counts, and has to spend or forfeit all of ``spend``.
        """
        reason = _reason(why) or "disjoint regions"
        amount = self._amount(spend, reason)
        pieces = cut(self.__counts, regions, reason)
        ledgers = tuple(Ledger(self.ledger.notion._portion(amount), self.trials) for _ in pieces)
        self.ledger.charge(Charge("parts", reason, amount, regions=ledgers))
        return [
            PrivateData(
                piece,
                ledger,
                self._noise,
                channel=self._channel,
                published=self._published,
                single=self._single,
                coins=self.__coins,
            )
            for piece, ledger in zip(pieces, ledgers, strict=True)
        ]

    def forfeit(self, amount: Number, why: str) -> None:
        """Give up budget that a path leaves unused."""
        self.ledger.charge(Charge("forfeit", _reason(why), exact(amount, "the forfeited budget")))

    # --- side information -------------------------------------------------------------------------

    @property
    def scale(self) -> Floats:
        """Number of records, public or estimated, ``(trials,)``; only for algorithms that declare it."""
        if "scale" not in self._declared or self._scale is None:
            raise UndeclaredSideInformation(
                "the algorithm asked for the scale without declaring it; "
                'declare side_information = ("scale",) on its class, and it is estimated or made public'
            )
        return np.asarray(self._give(self._scale))

    def publish_scale(self) -> None:
        """Let the true scale be known for free, as the paper's experiments did."""
        self.ledger.charge(Charge("public", "the true scale, known for nothing", Fraction(0)))
        self._scale = np.full(self.trials, float(self.__counts.sum()))

    def estimate_scale(self, spend: Number) -> None:
        """Spend on a noisy scale, never below one over epsilon, and let that be the scale."""
        least = 1.0 / self.as_epsilon(self.ledger.budget)
        self._scale = np.maximum(self.measure(Total(), spend, "scale (side information)"), least)

    @property
    def buy_scale(self) -> Never:
        """Gone since 0.2: it has another name."""
        raise AttributeError("PrivateData.buy_scale is PrivateData.estimate_scale since 0.2")

    def reveal(self, why: str) -> Counts:
        """The raw counts, for published forms that are not private; the ledger is marked for good."""
        _reason(why)
        if not self._published:
            raise NotPrivate(
                f"raw counts were asked for ('{why}') by an algorithm that claims to be private; "
                f"only variant='published' may reveal"
            )
        self.ledger.charge(Charge("reveal", why, Fraction(0)))
        return self.__counts

    # --- what the outcome keeps -------------------------------------------------------------------

    def keep(self, answers: Any) -> None:
        """Hand what was made from answers to the outcome, one thing per trial, for error bars.

        An algorithm knows nothing of the counts but answers, so this is post-processing and costs nothing. Where
        nobody will ask for bars, as in a benchmark, it is dropped.
        """
        if self.__kept is not None:
            self.__kept.append(answers)

    # --- public randomness ------------------------------------------------------------------------

    def coins(self) -> Any:
        """Public random generators, one per trial (the generator itself, where trials are run one by one).

        Reproducible from the seed and independent of the noise. They cost nothing, because they know nothing of the
        counts, and neighbours have the same ones in a replay.
        """
        if "made" not in self.__coins:
            seeds = self._channel.coins(self._noise.coins)
            self.__coins["made"] = tuple(np.random.default_rng(seed) for seed in seeds)
        return self._give(self.__coins["made"])

    # --- one trial at a time ----------------------------------------------------------------------

    def each_trial(self, why: str = "each trial by itself") -> Iterator[PrivateData]:
        """A handle for each trial in turn, whose verbs answer without the trial axis.

        Each has all that is left of the budget: trials are repetitions of an experiment, not parts of one
        release.
        """
        amount = self._amount(self.ledger.remaining, _reason(why))
        ledgers = tuple(Ledger(self.ledger.notion._portion(amount)) for _ in range(self.trials))
        self.ledger.charge(Charge("trials", why, amount, regions=ledgers))
        for trial, ledger in enumerate(ledgers):
            yield PrivateData(
                self.__counts,
                ledger,
                self._noise.only(trial),
                channel=self._channel.only(trial),
                declared=self._declared,
                published=self._published,
                scale=None if self._scale is None else self._scale[trial : trial + 1],
                single=True,
                vault=self.__vault,
                kept=self.__kept,
            )

    # --- inside -----------------------------------------------------------------------------------

    def _material(self, asker: object) -> Any:
        """The counts, or the statistic of them that the asker names, computed once for all trials."""
        statistic: Statistic | None = getattr(asker, "statistic", None)
        if statistic is None:
            return self.__counts
        if statistic not in self.__vault:
            self.__vault[statistic] = statistic.of(self.__counts)
        return self.__vault[statistic]

    def _amount(self, spend: Number, reason: str) -> Fraction:
        """What a verb spends, exact and more than nothing."""
        amount = exact(spend, f"the budget of '{reason}'")
        if amount.numerator <= 0:
            raise BudgetExceeded(f"'{reason}' spends {written(amount)} of {self.ledger.notion.unit}; spend more than 0")
        return amount

    def _shown(self, reason: str, compute: Callable[[], Any]) -> Any:
        """The result of a mechanism's code; whether it fails may follow from the counts, so a failure ends the run."""
        return withheld(reason, compute, self.ledger.break_off)

    def _truth(self, mechanism: Mechanism, reason: str, own: bool) -> Any:
        """What a mechanism makes of the counts, unless it refuses that: in its own words if it is one of ours."""

        def compute() -> tuple[Any, str]:
            found = mechanism.truth(self._material(mechanism))
            return found, mechanism.refusal(found, self.trials)

        truth, refusal = self._shown(reason, compute)
        if refusal:
            truth = None  # a traceback keeps what is named here
            self.ledger.break_off(reason)
            said = "refuses its truth in words that are withheld, since they may quote it" if own else refusal
            raise InvalidInput(f"'{reason}' {said}")
        return truth

    def _insist_on_one_measurement(self, mechanism: Mechanism, reason: str) -> None:
        """A budget by the exact formula of one Gaussian measurement pays for that and for nothing else."""
        notion = self.ledger.notion
        if isinstance(notion, ZCDP) and notion.one_measurement and (mechanism.pure or self.ledger.charges):
            raise Unsupported(
                f"'{reason}' comes on top of, or is not, the one Gaussian measurement that this budget was made for; "
                f"an algorithm with one_measurement = True may ask data.measure once"
            )

    def _give(self, answers: Any) -> Any:
        return answers[0] if self._single else answers


def _reason(why: object) -> str:
    reason: str = of_kind(why, str, "the reason of a charge", "'cells'")
    return reason


def _able(given: Any, what: str, needs: str) -> Any:
    """What was given, if it has what such a question needs; properties are looked up and not computed."""
    missing = [name for name in needs.split(", ") if not (hasattr(type(given), name) or hasattr(given, name))]
    if missing:
        raise InvalidInput(
            f"{what} is a {type(given).__name__} without {', '.join(missing)}; give an object with {needs}"
        )
    return given


def _positive(amount: object) -> Fraction:
    """An amount of a budget for a rule of thumb."""
    plain = amount if isinstance(amount, Fraction) else exact(amount, "an amount of the budget")
    if not 0 < plain <= LARGEST:
        raise InvalidInput(f"an amount of the budget is {written(plain)}; give a number above 0")
    return plain
