"""The ledger: every charge against a budget with its reason, refused before anything is drawn."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction

from dpbench.errors import AlgorithmFailed, BudgetExceeded, BudgetNotSpent, Unsupported
from dpbench.given import of_kind, whole
from dpbench.privacy.budget import exact, written
from dpbench.privacy.notions import ZCDP, Notion, PureDP, short

FOR_NOTHING = ("public", "reveal")
"""Kinds of lines that cost nothing and after which a run is not private for adding or removing a record."""

RESERVED = (*FOR_NOTHING, *"forfeit parts trials".split())  # noqa: SIM905
"""Kinds of lines that no mechanism may be named like; one text, since each alone would mention a verb of the handle."""

BY_ITS_OWN = "private by a mechanism of its own: log-density given, replayed"
"""What is said of an algorithm that asks with a mechanism that is not of this package."""


@dataclass(frozen=True)
class Charge:
    """One line of a ledger."""

    kind: str
    """Name of the mechanism; parts, trials; forfeit; public or reveal: known for nothing."""
    why: str
    """What the budget was spent on, in words."""
    amount: Fraction
    """How much of the budget it took."""
    sensitivity: Fraction | None = None
    """How far one record can move what was asked, as the mechanism claims it."""
    noise: str = ""
    """The noise that was added, in words."""
    regions: tuple[Ledger, ...] = ()
    """The ledgers of disjoint regions (or of single trials) that share this amount."""
    own: bool = False
    """Whether the mechanism is not one of this package: what it costs is its author's word, which the audit replays."""


class Ledger:
    """What a run may spend, and what it has spent. Charges are added by the handle and never taken away.

    The numbers that it gives out are copies (``+`` makes one): those who look inside can change a fraction.
    """

    __slots__ = (
        "__broken",
        "__budget",
        "__charges",
        "__forfeited",
        "__notes",
        "__notion",
        "__remaining",
        "__trials",
    )

    def __init__(self, notion: Notion | Fraction, trials: int = 1) -> None:
        if hasattr(self, "_Ledger__notion"):
            raise BudgetExceeded("a ledger begins once; what was charged to it stays")
        self.__notion = notion if isinstance(notion, PureDP | ZCDP) else PureDP(notion)
        self.__budget = +self.__notion.amount  # a copy: what somebody does to the notion later pays for nothing
        self.__trials = trials
        self.__charges: list[Charge] = []
        self.__notes: list[str] = []
        self.__forfeited = Fraction(0)
        self.__remaining = self.__budget
        self.__broken = ""

    def __repr__(self) -> str:
        return f"Ledger({self.__notion}, {len(self.__charges)} charges)"

    @property
    def notion(self) -> Notion:
        """What the budget is counted in, and how much there is."""
        return self.__notion

    @property
    def budget(self) -> Fraction:
        """How much there is: epsilon, or rho."""
        return +self.__budget

    @property
    def epsilon(self) -> Fraction:
        """The budget under pure differential privacy."""
        if isinstance(self.__notion, PureDP):
            return +self.__budget
        raise Unsupported(
            "a budget of zCDP is counted in rho; use ledger.budget, or ledger.notion for what it promises"
        )

    @property
    def trials(self) -> int:
        """Runs that the ledger speaks of, each of which costs the budget once."""
        return self.__trials

    @property
    def charges(self) -> tuple[Charge, ...]:
        """In the order in which they were made."""
        return tuple(self.__charges)

    @property
    def notes(self) -> tuple[str, ...]:
        """What the algorithm says of its course, here and in any region, such as another way that it had to take."""
        regions = [region for charge in self.__charges for region in charge.regions]
        return tuple(dict.fromkeys([*self.__notes, *(words for region in regions for words in region.notes)]))

    def note(self, words: str) -> None:
        """Add a note. It costs nothing: an algorithm knows no more of the counts than its answers say."""
        self.__notes.append(of_kind(words, str, "a note", "'replayed'"))

    @property
    def forfeited(self) -> Fraction:
        """Budget given up unused."""
        return +self.__forfeited

    @property
    def spent(self) -> Fraction:
        """Budget that was spent on answers."""
        return self.__budget - self.__remaining - self.__forfeited

    @property
    def remaining(self) -> Fraction:
        """Budget neither spent nor forfeited yet."""
        return +self.__remaining

    @property
    def for_nothing(self) -> list[str]:
        """What was known without paying, here and in any region: raw counts, the true scale."""
        return self._collected(lambda charge: charge.kind in FOR_NOTHING, lambda charge: charge.why)

    @property
    def own_mechanisms(self) -> list[str]:
        """Names of mechanisms that are not of this package, here and in any region."""
        return self._collected(lambda charge: charge.own, lambda charge: charge.kind)

    @property
    def private(self) -> bool:
        """Whether nothing was known without paying for it."""
        return not self.for_nothing

    def charge(self, charge: Charge) -> None:
        """Record a charge, or refuse it with the whole arithmetic."""
        self._insist_on_no_failure()
        of_kind(charge, Charge, "a charge", "Charge('forfeit', 'nothing to ask', Fraction(1, 10))")
        amount = exact(charge.amount, f"the budget of '{charge.why}'")
        # a line of our own, with an amount of its own: what was handed in may be changed later
        line = Charge(charge.kind, charge.why, +amount, charge.sensitivity, charge.noise, charge.regions, charge.own)
        if amount.numerator < 0 or (not amount and line.kind not in FOR_NOTHING):
            raise BudgetExceeded(f"'{line.why}' spends {written(amount)} of {self.notion.unit}; spend more than 0")
        left = self.__remaining - amount
        if left.numerator < 0:
            raise BudgetExceeded(
                f"'{line.why}' asks for {written(amount)}, but {self.arithmetic()} leaves {written(self.remaining)}; "
                f"spend at most that (nothing was drawn)"
            )
        if line.kind == "forfeit":
            self.__forfeited += amount
        self.__remaining = left
        self.__charges.append(line)

    def break_off(self, why: str) -> None:
        """Answer nothing more: a question failed, and whether it does may follow from the counts."""
        self.__broken = self.__broken or of_kind(why, str, "what failed", "'cells'")

    def _insist_on_no_failure(self) -> None:
        if self.__broken:
            raise AlgorithmFailed(
                f"'{self.__broken}' failed, which may follow from the counts, so this run can answer nothing more; "
                f"ask questions that succeed on any counts"
            )

    def close(self) -> None:
        """Insist that spent plus forfeited is the budget exactly, here and in every region."""
        self._insist_on_no_failure()
        for charge in self.__charges:
            for region in charge.regions:
                region.close()
        if self.remaining:
            raise BudgetNotSpent(
                f"the run ended with {written(self.remaining)} of {self.notion.unit} unused: {self.arithmetic()}; "
                f"spend all of it, or give the rest up with data.forfeit(amount, why)"
            )

    def arithmetic(self) -> str:
        """The budget minus every charge, as a sum that a reader can check."""
        terms = "".join(f" - {written(charge.amount)} ({charge.why})" for charge in self.__charges if charge.amount)
        return f"{self.notion.unit} {written(self.budget)}{terms}"

    def lines(self, indent: int = 0) -> Iterator[str]:
        """The ledger as text, one line per charge."""
        whole(indent, "the indent", 0, 100)
        for charge in self.__charges:
            share = f"{100 * float(charge.amount / self.budget):5.1f} %"
            change = f", sensitivity {float(charge.sensitivity):g}" if charge.sensitivity is not None else ""
            noise = f", {charge.noise}" if charge.noise else ""
            own = " (by a mechanism of its own)" if charge.own else ""
            yield f"{'  ' * indent}{share}  {charge.kind:8} {charge.why}{change}{noise}{own}"
            for region in charge.regions[:1]:
                same = all(other.charges == region.charges for other in charge.regions)
                label = "each" if same else "the first, others differ"
                yield f"{'  ' * (indent + 1)}{len(charge.regions)} of them, {label}:"
                yield from region.lines(indent + 2)

    def __str__(self) -> str:
        mark = "" if self.private else f"  NOT PRIVATE: {', '.join(self.for_nothing)}"
        head = f"{self.notion}: spent {short(self.spent)}, forfeited {short(self.forfeited)}{mark}"
        several = [
            f"  each of {self.trials} trials costs this; publishing all of them costs {self.trials} times as much"
        ]
        notes = [f"  note: {words}" for words in self.notes]
        return "\n".join([head, *self.lines(1), *notes, *several * (self.trials > 1)])

    def _collected(self, chosen: Callable[[Charge], bool], words: Callable[[Charge], str]) -> list[str]:
        found = [words(charge) for charge in self.__charges if chosen(charge)]
        regions = [region for charge in self.__charges for region in charge.regions]
        return list(dict.fromkeys([*found, *(each for region in regions for each in region._collected(chosen, words))]))
