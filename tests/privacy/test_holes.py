"""Ways around the handle that once worked."""

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import pytest

import dpbench as dpb
from dpbench.domain import Domain
from dpbench.errors import AlgorithmFailed, BudgetExceeded, DPBenchError, InvalidInput, Unsupported
from dpbench.mathematics.cells import Cells
from dpbench.privacy import PrivateData, RandomNoise, Recording, Total
from dpbench.privacy.transcript import Replay

COUNTS = np.array([3, 1, 4, 1, 5, 9, 2, 6])


def opened(counts=COUNTS, budget=1, trials=2, **how):
    return PrivateData.open(np.asarray(counts), budget, RandomNoise.seeded(0, trials), **how)


@pytest.mark.parametrize("region", [[2] * 50, (2, 2), np.array([2, 2]), [2, -6]])
def test_a_region_cannot_look_at_a_cell_twice(region):
    """However cell numbers are written, a repeated one is an overlap."""
    with pytest.raises(InvalidInput, match="overlap"):
        opened().parts([region], 1, "again and again")


@pytest.mark.parametrize("region", [[True, False], [0.5], [[0, 1]], ["a"], [8], [-9]])
def test_a_region_is_slices_or_cell_numbers(region):
    """Anything else is refused in one line."""
    with pytest.raises(InvalidInput, match="region"):
        opened().parts([region], 1)


@pytest.mark.parametrize("region", [slice(0, 4), [0, 1, 2], (slice(2, 5),)])
def test_regions_hand_out_counts_that_nobody_can_write_to(region):
    """A strategy that is shown a region's counts can neither change them nor unlock them."""
    seen = []

    class Peeks(Total):
        def answer(self, counts):
            seen.append(counts.flags.writeable)
            with pytest.raises(ValueError, match="WRITEABLE"):
                counts.setflags(write=True)
            return counts.sum()

    part = opened().parts([region], 1)[0]
    part.laplace(Peeks(), 1)
    assert seen == [False]


def test_charges_cannot_be_taken_back():
    """The ledger shows its charges and gives none of them away."""
    data = opened()
    data.laplace(Total(), Fraction(1, 2))
    with pytest.raises(AttributeError):
        data.ledger.charges.pop()
    with pytest.raises(AttributeError):
        data.ledger.charges = ()
    with pytest.raises(AttributeError):
        data.ledger = type(data.ledger)(Fraction(1))
    with pytest.raises(BudgetExceeded):
        data.laplace(Total(), 1)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_answers_are_finite(bad):
    """NaN and infinity swallow the noise, and blind replay."""

    class Bad(Total):
        def answer(self, counts):
            return np.asarray(bad)

    with pytest.raises(InvalidInput, match="finite"):
        opened().laplace(Bad(), 1)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_scores_are_finite_or_forbidden(bad):
    """Minus infinity forbids a candidate; nothing else is infinite."""

    class Bad:
        sensitivity, monotone = 1, False

        def score(self, counts):
            return np.array([0.0, bad])

    with pytest.raises(InvalidInput, match="NaN or infinity"):
        opened().choose(Bad(), 1)


class Weighted(Cells):
    """Cells times a third: no whole numbers, so the last bit is in doubt."""

    sensitivity = Fraction(1, 3)

    def answer(self, counts):
        return counts / 3


def test_answers_whose_rounding_eats_the_claim_are_refused():
    """Whole numbers up to 2^53 are exact; others only while their last bits stay below a quarter of the claim."""
    huge = np.full(8, 2**49)
    assert opened(huge).laplace(Cells(Domain((8,))), 1).shape == (2, 8)
    with pytest.raises(InvalidInput, match="rounding may move them"):
        opened(huge).laplace(Weighted(Domain((8,))), 1)
    assert opened(huge // 2**12).laplace(Weighted(Domain((8,))), 1).shape == (2, 8)

    class Times(Cells):
        sensitivity = 16

        def answer(self, counts):
            return counts * 16

    with pytest.raises(InvalidInput, match="rounding may move them"):
        opened(np.full(8, 2**50)).laplace(Times(Domain((8,))), 1)


@pytest.mark.parametrize("method", ["run", "outcome"])
def test_an_algorithm_cannot_replace_what_opens_the_counts(method):
    """Whoever overrides run or outcome would see the counts before the handle does."""
    with pytest.raises(DPBenchError, match=f"overrides {method}"):
        type("Sly", (dpb.Algorithm,), {"name": "Sly", method: lambda self, x, *rest: x})


def test_an_exception_inside_a_strategy_carries_no_counts():
    """Neither its words nor the exception itself reach whoever catches the failure."""

    class Talks(Total):
        def answer(self, counts):
            raise ValueError(f"the counts are {counts.tolist()}")

    with pytest.raises(AlgorithmFailed) as caught:
        opened().laplace(Talks(), 1)
    assert "[3, 1" not in str(caught.value)
    assert "ValueError" in str(caught.value)
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None


def test_coins_are_shared_between_neighbours_in_a_replay():
    """Public randomness is no reading of the counts."""
    recording = Recording()
    data = opened(channel=recording)
    first = [generator.random() for generator in data.coins()]
    assert data.coins() is data.coins()
    other = PrivateData.open(COUNTS + 1, 1, RandomNoise.seeded(77, 2), channel=Replay(recording))
    assert [generator.random() for generator in other.coins()] == first
    fresh = PrivateData.open(COUNTS, 1, RandomNoise.seeded(77, 2))
    assert [generator.random() for generator in fresh.coins()] != first


def test_coins_of_one_trial_are_one_generator():
    """Where trials are run one by one, each has its own."""
    drawn = [one.coins().random() for one in opened(trials=3).each_trial()]
    assert len(set(drawn)) == 3


@dataclass(frozen=True, kw_only=True)
class Twice(dpb.Algorithm):
    """Says that it measures once, and measures twice."""

    name = "Twice"
    notions = ("pure", "zCDP")
    one_measurement = True

    def estimate(self, data, workload):
        half = data.budget / 2
        return (data.measure(Cells(data.domain), half, "one") + data.measure(Cells(data.domain), half, "two")) / 2


def test_a_budget_for_one_measurement_pays_for_one():
    """The exact Gaussian formula is for a single measurement; the handle refuses the second."""
    workload = dpb.workloads.Prefix(8)
    with pytest.raises(Unsupported, match="one Gaussian measurement"):
        Twice().run(COUNTS, workload, 1, delta=1e-6, seed=0)
    assert Twice().run(COUNTS, workload, rho=1, seed=0).shape == (1, 8)
