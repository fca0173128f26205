from fractions import Fraction

import pytest

from dpbench.errors import BudgetExceeded, BudgetNotSpent
from dpbench.privacy import Charge, Ledger


def test_a_charge_that_does_not_fit_is_refused_with_the_arithmetic():
    """The refusal shows epsilon, what was spent on what, and what is left; nothing is recorded."""
    ledger = Ledger(Fraction(1, 10))
    ledger.charge(Charge("laplace", "scale", Fraction(1, 200)))
    with pytest.raises(BudgetExceeded) as caught:
        ledger.charge(Charge("laplace", "cells", Fraction(1, 10)))
    message = str(caught.value)
    assert "'cells' asks for 1/10" in message
    assert "epsilon 1/10 - 1/200 (scale) leaves 19/200" in message
    assert len(ledger.charges) == 1


def test_spent_and_forfeited_are_epsilon_or_the_run_is_an_error():
    """What is neither spent nor forfeited at the end is an error that names it."""
    ledger = Ledger(Fraction(1))
    ledger.charge(Charge("laplace", "cells", Fraction(1, 2)))
    with pytest.raises(BudgetNotSpent, match="1/2 of epsilon unused"):
        ledger.close()
    ledger.charge(Charge("forfeit", "nothing left to cut", Fraction(1, 2)))
    ledger.close()
    assert (ledger.spent, ledger.forfeited, ledger.remaining) == (Fraction(1, 2), Fraction(1, 2), 0)


@pytest.mark.parametrize("amount", [Fraction(0), Fraction(-1)])
def test_a_charge_costs_something(amount):
    """Nothing is free, and nothing pays back."""
    with pytest.raises(BudgetExceeded, match="spend more than 0"):
        Ledger(Fraction(1)).charge(Charge("laplace", "cells", amount))


@pytest.mark.parametrize("amount", [Fraction(10**5000, 3), Fraction(-1, 3**9001), Fraction(10**299, 3)])
def test_amounts_of_many_digits_are_refused_in_a_short_line(amount):
    """A message shows six of them; Python itself does not write numbers of more than 4,300 digits."""
    with pytest.raises(BudgetExceeded, match=r"'cells' (spends|asks for) about -?\d\.\d{5}e[+-]\d{3}") as refused:
        Ledger(Fraction(1)).charge(Charge("laplace", "cells", amount))
    assert len(str(refused.value)) < 200


def test_a_remainder_of_many_digits_is_written_in_a_short_line():
    """What is left after odd charges has many digits as well."""
    ledger = Ledger(Fraction(1))
    ledger.charge(Charge("laplace", "cells", Fraction(1, 3**200)))
    ledger.charge(Charge("laplace", "cells", Fraction(1, 5**200)))
    with pytest.raises(BudgetNotSpent) as refused:
        ledger.close()
    assert len(str(refused.value)) < 300


def test_regions_are_closed_too():
    """A region that leaves budget unused makes the whole run an error."""
    region = Ledger(Fraction(1))
    ledger = Ledger(Fraction(1))
    ledger.charge(Charge("parts", "halves", Fraction(1), regions=(region,)))
    with pytest.raises(BudgetNotSpent):
        ledger.close()


def test_a_ledger_reads_as_text():
    """Shares, reasons, sensitivity and noise are on one line each."""
    ledger = Ledger(Fraction(1, 10))
    ledger.charge(Charge("laplace", "cells", Fraction(1, 10), Fraction(1), "Laplace noise of scale 10"))
    assert str(ledger).splitlines() == [
        "epsilon 1/10: spent 1/10, forfeited 0",
        "  100.0 %  laplace  cells, sensitivity 1, Laplace noise of scale 10",
    ]


def test_a_reveal_marks_the_ledger_for_good():
    """Once raw counts were revealed the ledger says so, in a region as well."""
    region = Ledger(Fraction(1))
    region.charge(Charge("reveal", "phases", Fraction(0)))
    ledger = Ledger(Fraction(1))
    ledger.charge(Charge("parts", "halves", Fraction(1), regions=(region,)))
    assert not ledger.private
    assert "NOT PRIVATE" in str(ledger)
