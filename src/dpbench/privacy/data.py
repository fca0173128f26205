"""The one door to private counts.

An algorithm never sees counts. It gets a :class:`PrivateData`, which owns the counts, the randomness and
the budget, and has few verbs. The caller says what it spends; the handle derives the noise from the
sensitivity that the strategy or score itself claims, rounded up. A charge is made before anything is drawn.

Neighbours differ by one record added or removed: exactly one cell changes by one.

What the handle enforces: no charge beyond epsilon, noise no smaller than the claim asks for, disjoint regions, counts
that nothing can write to (``setflags`` is refused, there is no writeable base), raw counts for published forms alone,
each time with a mark in the ledger. What it cannot enforce, because Python hides nothing from those who look: that a
claim is true, that a strategy forgets the counts it was shown, that nobody reads private attributes or draws from the
noise source directly. An algorithm is a guest, not a prisoner; these are what ``dpbench check`` looks for.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dpbench.domain import Domain
from dpbench.errors import InvalidInput, NotPrivate, UndeclaredSideInformation
from dpbench.privacy.asking import GroupedScore, PartitionCost, Score, Statistic, Strategy, Total
from dpbench.privacy.budget import Number, exact, noise_scale, read_epsilon
from dpbench.privacy.counts import as_counts
from dpbench.privacy.ledger import Charge, Ledger
from dpbench.privacy.mechanisms import draw
from dpbench.privacy.noise import NoiseSource
from dpbench.privacy.transcript import Channel, Direct, Question

Counts = NDArray[np.int64]
Floats = NDArray[np.float64]
Region = tuple[slice, ...] | slice | NDArray[np.integer[Any]]


class PrivateData:
    """Private counts behind a handle; see the module's docstring."""

    __slots__ = ("__counts", "__vault", "_channel", "_declared", "_noise", "_published", "_scale", "_single", "ledger")

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
    ) -> None:
        self.__counts = counts
        self.__vault: dict[Statistic, Any] = {} if vault is None else vault
        self.ledger = ledger
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
        epsilon: object,
        noise: NoiseSource,
        *,
        channel: Channel | None = None,
        declared: Sequence[str] = (),
        published: bool = False,
    ) -> PrivateData:
        """Put counts behind a handle with a fresh ledger of ``epsilon``."""
        ledger = Ledger(read_epsilon(epsilon))
        return cls(as_counts(values), ledger, noise, channel=channel, declared=declared, published=published)

    def __repr__(self) -> str:
        return f"PrivateData(domain={self.domain}, trials={self.trials}, epsilon={self.epsilon})"

    @property
    def domain(self) -> Domain:
        """The public domain of the counts."""
        return Domain(self.__counts.shape)

    @property
    def trials(self) -> int:
        """Number of trials that every verb answers at once."""
        return self._noise.trials

    @property
    def epsilon(self) -> Fraction:
        """What is left to spend; at the start, everything that the algorithm may spend."""
        return self.ledger.remaining

    # --- verbs that spend -------------------------------------------------------------------------

    def laplace(self, strategy: Strategy, spend: Number, why: str = "") -> Floats:
        """Noisy answers of a strategy, ``(trials, *shape)``: the Laplace mechanism."""
        reason = why or type(strategy).__name__
        amount, sensitivity = self._claim(strategy, spend, reason)
        scale = noise_scale(sensitivity, amount) if amount > 0 else 0.0
        self.ledger.charge(Charge("laplace", reason, amount, sensitivity, scale))
        shape = tuple(strategy.shape)
        truth = np.asarray(strategy.answer(self._material(strategy)), dtype=np.float64)
        self._check_shape(truth, shape, reason)
        question = Question("laplace", reason, amount, sensitivity, 1.0 / scale, truth, shape, scale)
        return self._answer(question)

    def choose(self, score: Score, spend: Number, why: str = "") -> NDArray[np.int64]:
        """The index of a candidate with a high score, ``(trials,)``: the exponential mechanism.

        By Gumbel-max on ``spend / (2 * sensitivity)`` nats per unit of score. The factor 2 is dropped
        only for monotone scores: what matters is the range of score changes over candidates, and only
        then is it at most the sensitivity.
        """
        question = self._ask_scores("choose", score, spend, why, None)
        return self._answer(question)

    def choose_each(self, score: GroupedScore, spend: Number, why: str = "") -> NDArray[np.int64]:
        """A candidate of every group, counted from its group's first, ``(trials, groups)``; all for one ``spend``.

        Each group's scores depend on the counts of a region of its own, and the regions are disjoint: one record moves
        the scores of one group, so all selections together cost what one costs.
        """
        question = self._ask_scores("choose each", score, spend, why, score.starts)
        return self._answer(question)

    def partition(self, cost: PartitionCost, spend: Number, why: str = "") -> NDArray[np.bool_]:
        """A partition of the line into intervals that cost little in all, ``(trials, n + 1)``, True at each cut.

        Lemma. The exponential mechanism over all allowed partitions B, with probability proportional to
        exp(-rate * (total cost of B) - penalty * |B|) and rate = spend / (2 * sensitivity), spends ``spend``: the
        penalty is public, and a record moves the total cost of every partition by at most the sensitivity, so it moves
        each exponent by at most spend / 2, and the logarithm of the normalising sum by as much.
        The draw is exact: F(e), the sum over all partitions of [0, e), follows by dynamic programming, and
        going back from n each interval is drawn from its exact conditional probability. So is every outcome's
        probability, which lets replay compute the loss.
        """
        reason = why or type(cost).__name__
        amount, sensitivity = self._claim(cost, spend, reason)
        self.ledger.charge(Charge("partition", reason, amount, sensitivity))
        costs = np.asarray(cost.cost(self._material(cost)), dtype=np.float64)
        lengths = tuple(int(length) for length in cost.lengths)
        wanted = (len(lengths), self.domain.size + 1)
        if costs.shape != wanted or lengths[:1] != (1,):
            raise InvalidInput(f"'{reason}' gave costs of shape {costs.shape}; wanted {wanted}, with length 1 allowed")
        rate = 1.0 / noise_scale(2 * sensitivity, amount)
        detail = (*lengths, float(cost.penalty))
        question = Question("partition", reason, amount, sensitivity, rate, costs, wanted, detail=detail)
        return self._answer(question)

    def parts(self, regions: Sequence[Region], spend: Number, why: str = "") -> list[PrivateData]:
        """One handle for each of several disjoint regions, each with ``spend`` of its own.

        One record lies in one region, so all regions together cost what one costs. Each region sees
        only its own counts, and has to spend or forfeit all of ``spend``.
        """
        reason = why or "disjoint regions"
        amount = exact(spend, f"the budget of '{reason}'")
        pieces = self._cut(regions, reason)
        ledgers = tuple(Ledger(amount) for _ in pieces)
        self.ledger.charge(Charge("parts", reason, amount, regions=ledgers))
        return [
            PrivateData(
                piece,
                ledger,
                self._noise,
                channel=self._channel,
                published=self._published,
                single=self._single,
            )
            for piece, ledger in zip(pieces, ledgers, strict=True)
        ]

    def forfeit(self, amount: Number, why: str) -> None:
        """Give up budget that a path leaves unused."""
        self.ledger.charge(Charge("forfeit", why, exact(amount, "the forfeited budget")))

    # --- side information -------------------------------------------------------------------------

    @property
    def scale(self) -> Floats:
        """Number of records, public or bought, ``(trials,)``; only for algorithms that declare it."""
        if "scale" not in self._declared or self._scale is None:
            raise UndeclaredSideInformation(
                "the algorithm asked for the scale without declaring it; "
                'declare side_information = ("scale",) on its class, and it is bought or made public'
            )
        return self._give(self._scale)

    def publish_scale(self) -> None:
        """Let the true scale be known for free, as the paper's experiments did."""
        self.ledger.charge(Charge("public", "the true scale, known for nothing", Fraction(0)))
        self._scale = np.full(self.trials, float(self.__counts.sum()))

    def buy_scale(self, spend: Number) -> None:
        """Spend on a noisy scale, never below one over epsilon, and let that be the scale."""
        epsilon = self.ledger.epsilon
        self._scale = np.maximum(self.laplace(Total(), spend, "scale (side information)"), 1.0 / float(epsilon))

    def reveal(self, why: str) -> Counts:
        """The raw counts, for published forms that are not private; the ledger is marked for good."""
        if not self._published:
            raise NotPrivate(
                f"raw counts were asked for ('{why}') by an algorithm that claims to be private; "
                f"only variant='published' may reveal"
            )
        self.ledger.charge(Charge("reveal", why, Fraction(0)))
        return self.__counts

    # --- one trial at a time ----------------------------------------------------------------------

    def each_trial(self, why: str = "each trial by itself") -> Iterator[PrivateData]:
        """A handle for each trial in turn, whose verbs answer without the trial axis.

        Each has all that is left of the budget: trials are repetitions of an experiment, not parts of one
        release.
        """
        amount = self.ledger.remaining
        ledgers = tuple(Ledger(amount) for _ in range(self.trials))
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

    def _ask_scores(
        self, kind: str, score: Score, spend: Number, why: str, starts: NDArray[np.int64] | None
    ) -> Question:
        """Charge a selection and put its question."""
        reason = why or type(score).__name__
        amount, sensitivity = self._claim(score, spend, reason)
        reach = sensitivity if score.monotone else 2 * sensitivity
        self.ledger.charge(Charge(kind, reason, amount, sensitivity))
        truth = np.asarray(score.score(self._material(score)), dtype=np.float64)
        shape = truth.shape[-1:]
        self._check_shape(truth, shape, reason)
        groups = np.array([0, *shape]) if starts is None else np.asarray(starts, dtype=np.int64)
        if groups[0] != 0 or groups[-1] != shape[0] or (np.diff(groups) < 1).any():
            raise InvalidInput(f"'{reason}' has a group without candidates; each needs at least one")
        best = np.maximum.reduceat(truth, groups[:-1], axis=-1)
        if not (best > -np.inf).all() or np.isnan(truth).any():
            raise InvalidInput(f"'{reason}' allows no candidate, or scores one as NaN; score at least one above -inf")
        detail = () if starts is None else tuple(groups.tolist())
        rate = 1.0 / noise_scale(reach, amount)
        return Question(kind, reason, amount, sensitivity, rate, truth, shape, detail=detail)

    def _claim(self, asker: Strategy | Score | PartitionCost, spend: Number, reason: str) -> tuple[Fraction, Fraction]:
        """What a call spends and the sensitivity that it claims, both exact."""
        amount = exact(spend, f"the budget of '{reason}'")
        claim = asker.sensitivity
        sensitivity = Fraction(claim) if isinstance(claim, float) else exact(claim, f"the sensitivity of '{reason}'")
        if sensitivity <= 0:
            raise InvalidInput(f"'{reason}' claims a sensitivity of {claim!r}; it has to be greater than 0")
        return amount, sensitivity

    def _check_shape(self, truth: Floats, shape: tuple[int, ...], reason: str) -> None:
        if truth.shape not in (shape, (self.trials, *shape)):
            raise InvalidInput(
                f"'{reason}' answered with shape {truth.shape}; wanted {shape} or {(self.trials, *shape)}"
            )

    def _answer(self, question: Question) -> NDArray[Any]:
        return self._give(self._channel.answer(question, lambda: draw(question, self._noise)))

    def _give(self, answers: NDArray[Any]) -> NDArray[Any]:
        return answers[0] if self._single else answers

    def _cut(self, regions: Sequence[Region], reason: str) -> list[Counts]:
        """The counts of each region (a box, or flat cell numbers); no cell may be in two of them."""
        seen = np.zeros(self.domain.shape, dtype=np.int64)
        pieces = []
        for region in regions:
            if isinstance(region, np.ndarray):
                np.add.at(seen.reshape(-1), region, 1)
                piece = self.__counts.reshape(-1)[region]
            else:
                seen[region] += 1
                piece = self.__counts[region]
            if piece.size == 0:
                raise InvalidInput(f"a region of '{reason}' is empty; every region needs at least one cell")
            pieces.append(piece)
        if (seen > 1).any():
            raise InvalidInput(f"the regions of '{reason}' overlap; only disjoint regions can share a budget")
        return pieces
