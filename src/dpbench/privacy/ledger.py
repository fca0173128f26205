"""The ledger: every charge against epsilon with its reason, refused before anything is drawn."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction

from dpbench.errors import BudgetExceeded, BudgetNotSpent

FOR_NOTHING = ("public", "reveal")
"""Kinds of lines that cost nothing and after which a run is not private for adding or removing a record."""


@dataclass(frozen=True)
class Charge:
    """One line of a ledger."""

    kind: str
    """laplace, choose, choose each, partition, parts, trials; forfeit; public or reveal: known for nothing."""
    why: str
    """What the budget was spent on, in words."""
    amount: Fraction
    """How much of epsilon it took."""
    sensitivity: Fraction | None = None
    """How far one record can move what was asked, as the strategy or score claims it."""
    noise: float | None = None
    """Scale of the Laplace noise that was added."""
    regions: tuple[Ledger, ...] = ()
    """The ledgers of disjoint regions (or of single trials) that share this amount."""


@dataclass
class Ledger:
    """What a run may spend, and what it has spent."""

    epsilon: Fraction
    """The budget."""
    charges: list[Charge] = field(default_factory=list)
    """In the order in which they were made."""
    _tally: tuple[int, Fraction, Fraction] = field(default=(0, Fraction(0), Fraction(0)), repr=False, compare=False)
    """How many charges were added up so far, what they spent and what they forfeited."""

    @property
    def forfeited(self) -> Fraction:
        """Budget given up unused."""
        return self._added_up()[2]

    @property
    def spent(self) -> Fraction:
        """Budget that bought something."""
        return self._added_up()[1]

    @property
    def remaining(self) -> Fraction:
        """Budget neither spent nor forfeited yet."""
        return self.epsilon - self.spent - self.forfeited

    @property
    def for_nothing(self) -> list[str]:
        """What was known without paying, here and in any region: raw counts, the true scale."""
        found = [charge.why for charge in self.charges if charge.kind in FOR_NOTHING]
        regions = [region for charge in self.charges for region in charge.regions]
        return list(dict.fromkeys([*found, *(why for region in regions for why in region.for_nothing)]))

    @property
    def private(self) -> bool:
        """Whether nothing was known without paying for it."""
        return not self.for_nothing

    def charge(self, charge: Charge) -> None:
        """Record a charge, or refuse it with the whole arithmetic."""
        if charge.amount < 0 or (charge.amount == 0 and charge.kind not in FOR_NOTHING):
            raise BudgetExceeded(f"'{charge.why}' spends {charge.amount} of epsilon; spend more than 0")
        if charge.amount > self.remaining:
            raise BudgetExceeded(
                f"'{charge.why}' asks for {charge.amount}, but {self.arithmetic()} leaves {self.remaining}; "
                f"spend at most that (nothing was drawn)"
            )
        self.charges.append(charge)

    def close(self) -> None:
        """Insist that spent plus forfeited is epsilon exactly, here and in every region."""
        for charge in self.charges:
            for region in charge.regions:
                region.close()
        if self.remaining:
            raise BudgetNotSpent(
                f"the run ended with {self.remaining} of epsilon unused: {self.arithmetic()}; "
                f"spend all of it, or give the rest up with data.forfeit(amount, why)"
            )

    def _added_up(self) -> tuple[int, Fraction, Fraction]:
        """The tally, brought up to date: fractions are slow to add, and rounds are many."""
        counted, spent, forfeited = self._tally
        for charge in self.charges[counted:]:
            if charge.kind == "forfeit":
                forfeited += charge.amount
            else:
                spent += charge.amount
        self._tally = len(self.charges), spent, forfeited
        return self._tally

    def arithmetic(self) -> str:
        """Epsilon minus every charge, as a sum that a reader can check."""
        terms = "".join(f" - {charge.amount} ({charge.why})" for charge in self.charges if charge.amount)
        return f"epsilon {self.epsilon}{terms}"

    def lines(self, indent: int = 0) -> Iterator[str]:
        """The ledger as text, one line a charge."""
        for charge in self.charges:
            share = f"{100 * float(charge.amount / self.epsilon):5.1f} %"
            noise = f", Laplace noise of scale {charge.noise:g}" if charge.noise is not None else ""
            change = f", sensitivity {float(charge.sensitivity):g}" if charge.sensitivity is not None else ""
            yield f"{'  ' * indent}{share}  {charge.kind:8} {charge.why}{change}{noise}"
            for region in charge.regions[:1]:
                same = all(other.charges == region.charges for other in charge.regions)
                label = "each" if same else "the first, others differ"
                yield f"{'  ' * (indent + 1)}{len(charge.regions)} of them, {label}:"
                yield from region.lines(indent + 2)

    def __str__(self) -> str:
        mark = "" if self.private else f"  NOT PRIVATE: {', '.join(self.for_nothing)}"
        head = f"epsilon {self.epsilon}: spent {self.spent}, forfeited {self.forfeited}{mark}"
        return "\n".join([head, *self.lines(1)])
