"""Attempts to get more out of the handle than was paid for, by objects that are not what they seem; all once worked."""

import copy
import pickle
import traceback
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

import dpbench as dpb
from dpbench.domain import Domain
from dpbench.errors import AlgorithmFailed, BudgetExceeded, DPBenchError, InvalidEpsilon, InvalidInput, NotPrivate
from dpbench.mathematics.cells import Cells
from dpbench.privacy import (
    ZCDP,
    AboveThreshold,
    Charge,
    Laplace,
    Mechanism,
    NoisyMax,
    PrivateData,
    PureDP,
    RandomNoise,
    Recording,
    Replay,
    Total,
)
from privacy.mechanisms.questions import CellCounts, Sums

COUNTS = np.array([3, 1, 4, 1, 5, 9, 2, 6])


def opened(counts=COUNTS, budget=1, trials=2, **how):
    return PrivateData.open(np.asarray(counts), budget, RandomNoise.seeded(0, trials), **how)


class Weightless(Fraction):
    """A fraction that is smaller than anything and adds nothing."""

    def __lt__(self, other):
        return False

    def __gt__(self, other):
        return False

    def __le__(self, other):
        return False

    def __radd__(self, other):
        return Fraction(0)

    __add__ = __radd__


class WeightlessInteger(int):
    """The same inside an honest fraction."""

    def __mul__(self, other):
        return 0

    __rmul__ = __mul__


def hollow():
    """A fraction with a numerator that is not what it seems."""
    fraction = Fraction(1)
    fraction._numerator = WeightlessInteger(1)
    return fraction


class Lying(Decimal):
    """A decimal whose ratio is made of such integers."""

    def as_integer_ratio(self):
        return WeightlessInteger(1), 1


@pytest.mark.parametrize("spend", [Weightless(1), hollow(), Lying(1)], ids=["fraction", "numerator", "decimal"])
@pytest.mark.parametrize("verb", ["laplace", "parts", "ledger"])
def test_an_amount_is_counted_by_its_value(spend, verb):
    """Numbers with arithmetic of their own become ordinary ones before anything is compared."""
    data = opened()
    act = {
        "laplace": lambda: data.laplace(Total(), spend),
        "parts": lambda: data.parts([slice(0, 4)], spend),
        "ledger": lambda: data.ledger.charge(Charge("laplace", "by hand", spend)),
    }[verb]
    act()
    assert data.budget == 0
    with pytest.raises(BudgetExceeded):
        act()


def test_a_ledger_begins_once():
    """Calling its constructor again would forget every charge."""
    data = opened()
    data.laplace(Total(), 1)
    with pytest.raises(DPBenchError, match="begins once"):
        data.ledger.__init__(Fraction(100))
    assert data.budget == 0


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, pickle.dumps], ids=["copy", "deepcopy", "pickle"])
def test_a_handle_has_no_copies(copied):
    """A copy would have the budget once more."""
    with pytest.raises(NotPrivate, match="copied"):
        copied(opened())


def test_each_trial_comes_once():
    """The second time there is nothing left, and the words say so."""
    data = opened()
    list(data.each_trial())
    with pytest.raises(BudgetExceeded):
        list(data.each_trial())


class Fickle:
    """Something that says one thing first and another later."""

    def __init__(self, first, later, times):
        self.first, self.later, self.times = first, later, times

    def __call__(self):
        self.times -= 1
        return self.first if self.times >= 0 else self.later


@pytest.mark.parametrize("times", range(6))
def test_a_shape_that_grows_does_not_multiply_answers(times):
    """Fifty noisy copies of one total for one price, when the shape is read again after it was checked."""
    shape = Fickle((), (50,), times)
    strategy = type("Grows", (Total,), {"shape": property(lambda self: shape())})()
    try:
        answers = opened().laplace(strategy, 1)
    except InvalidInput:
        return
    assert answers.shape == (2,)


@pytest.mark.parametrize("times", range(8))
def test_scores_do_not_become_monotone_between_two_looks(times):
    """The noise that is drawn is the noise that is replayed."""
    monotone = Fickle(False, True, times)
    queries = type(
        "Turns",
        (),
        {
            "sensitivity": 1,
            "threshold": 6.0,
            "monotone": property(lambda self: monotone()),
            "answers": lambda self, counts: np.cumsum(counts).astype(float),
        },
    )()
    mechanism = AboveThreshold(queries)
    first = mechanism.scales(mechanism.level(Fraction(1)))
    assert all(mechanism.scales(mechanism.level(Fraction(1))) == first for _ in range(9))


class Index:
    """A whole number that changes each time it is read."""

    def __init__(self, *values):
        self.values = list(values)

    def __index__(self):
        return self.values.pop(0) if len(self.values) > 1 else self.values[0]


def test_a_slice_is_read_once():
    """Regions are checked for overlap as they are then cut."""
    parts = opened().parts([slice(0, Index(1, 8)), slice(Index(1, 0), 8)], 1)
    assert [part.domain.size for part in parts] == [1, 7]


def test_a_tuple_of_slices_is_read_once():
    """A tuple that shows slices when it is checked and cells when it is cut."""

    class Shows(tuple):
        looks = 0

        def __iter__(self):
            Shows.looks += 1
            return iter((slice(0, 2),) if Shows.looks % 2 else ([5] * 50,))

    for part in opened().parts([Shows((slice(0, 2),))], 1):
        assert part.domain.size == 2


@pytest.mark.parametrize("region", [(slice(0, 2), slice(0, 2)), slice(0, 4, 0), slice("a", "b")])
def test_bad_slices_are_refused_in_one_line(region):
    """More axes than there are, a step of 0, ends that are no numbers."""
    with pytest.raises(InvalidInput, match="region"):
        opened().parts([region], 1)


class FailsAbove(Total):
    """Fails, or answers with NaN, where there are more than so many records."""

    def __init__(self, bound, how):
        self.bound, self.how = bound, how

    def answer(self, counts):
        if counts.sum() > self.bound:
            if self.how == "raise":
                raise ValueError("no")
            return np.asarray(np.nan)
        return np.asarray(0)


@pytest.mark.parametrize("how", ["raise", "nan"])
def test_a_failure_is_no_oracle(how):
    """Whether a question fails depends on the counts: after one nothing more is answered, nor does the run end."""
    data = opened()
    with pytest.raises(DPBenchError):
        data.laplace(FailsAbove(10, how), Fraction(1, 10**9))
    for again in (lambda: data.laplace(Total(), Fraction(1, 2)), lambda: data.forfeit(1, "rest"), data.ledger.close):
        with pytest.raises(AlgorithmFailed, match="failed"):
            again()


def test_a_failure_in_a_region_ends_the_whole_run():
    """The ledger around it does not close either."""
    data = opened()
    part = data.parts([slice(0, 8)], 1)[0]
    with pytest.raises(DPBenchError):
        part.laplace(FailsAbove(10, "raise"), 1)
    with pytest.raises(AlgorithmFailed, match="failed"):
        data.ledger.close()


def raising(error):
    def answer(self, counts):
        raise error(counts)

    return type("Raises", (Total,), {"answer": answer})()


class DrawFails(Mechanism):
    """A mechanism of somebody's own whose draw quotes the truth."""

    name = "talks"
    claim = Fraction(1)

    def truth(self, counts):
        return counts

    def level(self, loss):
        return 1.0

    def draw(self, truth, level, noise):
        raise ValueError(f"{truth.tolist()}")


@pytest.mark.parametrize(
    "ask",
    [
        lambda data: data.laplace(raising(lambda counts: SystemExit(f"{counts.tolist()}")), 1),
        lambda data: data.laplace(raising(lambda counts: BaseException(f"{counts.tolist()}")), 1),
        lambda data: data.laplace(raising(lambda counts: type(f"Sum{counts.sum()}", (Exception,), {})()), 1),
        lambda data: data.ask(DrawFails(), 1),
    ],
    ids=["SystemExit", "BaseException", "class name", "draw"],
)
def test_no_exception_carries_counts(ask):
    """Whatever is raised, wherever: its words, its class and its frames stay inside."""
    with pytest.raises(AlgorithmFailed) as caught:
        ask(opened())
    assert "31" not in str(caught.value)
    assert "[3, 1" not in str(caught.value)
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None


def test_an_interruption_stays_one_and_says_nothing():
    """Ctrl-C inside a strategy ends the run; what a strategy raises in its name comes without words."""
    with pytest.raises(KeyboardInterrupt) as caught:
        opened().laplace(raising(lambda counts: KeyboardInterrupt(counts.tolist())), 1)
    assert caught.value.args == ()


class Many(Total):
    """As many answers as there are records."""

    def answer(self, counts):
        return np.zeros(counts.sum())


class Large(Cells):
    """Answers so large that their rounding matters."""

    def answer(self, counts):
        return counts * 1e15 / 3


@pytest.mark.parametrize("strategy", [Many(), Large(Domain((8,)))], ids=["shape", "size"])
def test_a_refusal_says_nothing_of_the_answers(strategy):
    """Neither a shape that follows the counts, nor their size; and no frame of the traceback holds a true answer."""
    with pytest.raises(InvalidInput) as caught:
        opened().laplace(strategy, 1)
    with pytest.raises(InvalidInput) as other:
        opened(COUNTS * 7).laplace(strategy, 1)
    assert str(caught.value) == str(other.value)
    held = [value for frame, _ in traceback.walk_tb(caught.value.__traceback__) for value in frame.f_locals.values()]
    assert not any(isinstance(value, np.ndarray) and value is not COUNTS for value in held)


def test_public_coins_do_not_lead_to_the_noise():
    """numpy's generators show the seed that they were made from; that of the noise cannot be computed from it."""
    data = opened(budget=1, trials=1)
    seed = data.coins()[0].bit_generator.seed_seq
    guesses = [np.random.SeedSequence(seed.entropy, spawn_key=seed.spawn_key[:cut]) for cut in range(4)]
    noisy = data.laplace(Total(), 1)[0]
    for guess in guesses:
        assert RandomNoise([guess]).laplace(np.zeros(()), 1.0, ())[0] != pytest.approx(noisy - COUNTS.sum(), abs=1e-9)


class Silent(Laplace):
    """A mechanism that draws nothing, in the name of this package."""

    def draw(self, truth, level, noise):
        return np.broadcast_to(truth, (noise.trials, *truth.shape)).copy()


def test_a_mechanism_is_ours_only_if_it_is():
    """Neither a borrowed module name nor a method put on an instance makes a mechanism one of this package."""
    borrowed = type("Silent", (Silent,), {"__module__": "dpbench.privacy.mechanisms.laplace"})(Total())
    patched = Laplace(Total())
    object.__setattr__(patched, "draw", Silent(Total()).draw)
    for mechanism in (borrowed, patched):
        data = opened()
        data.ask(mechanism, 1)
        assert data.ledger.own_mechanisms == ["laplace"]
    data = opened()
    data.ask(Laplace(Total()), 1)
    assert data.ledger.own_mechanisms == []


@pytest.mark.parametrize(("fact", "value"), [("rho_of_loss", Fraction(1, 10**8)), ("pure", False), ("name", "other")])
def test_what_a_mechanism_of_ours_costs_cannot_be_put_on_an_instance(fact, value):
    """A price that somebody wrote over ours is theirs, so that the audit holds it to the draws."""
    mechanism = Laplace(Total())
    object.__setattr__(mechanism, fact, value)
    data = PrivateData.open(COUNTS, ZCDP(1), RandomNoise.seeded(0, 2))
    data.ask(mechanism, 1)
    assert data.ledger.own_mechanisms == [mechanism.name]


@pytest.mark.parametrize("mechanism", [NoisyMax(CellCounts()), AboveThreshold(Sums()), Laplace(Total())])
def test_what_a_mechanism_keeps_of_itself_does_not_make_it_another(mechanism):
    """Asked twice, it has computed its claim and its shape before the second time."""
    data = opened()
    data.ask(mechanism, Fraction(1, 2))
    data.ask(mechanism, Fraction(1, 2))
    assert data.ledger.own_mechanisms == []


@pytest.mark.parametrize("notion", [PureDP(1), ZCDP(1)])
def test_a_budget_does_not_grow_with_its_notion(notion):
    """The ledger has a number of its own, and a notion has no place for another method."""
    data = PrivateData.open(COUNTS, notion, RandomNoise.seeded(0, 2))
    object.__setattr__(data.ledger.notion, notion.unit, Fraction(100))
    data.ledger.notion.amount._numerator = 100
    assert data.budget == data.ledger.budget == 1
    with pytest.raises(BudgetExceeded, match="leaves 1"):
        data.measure(Total(), 2)
    with pytest.raises(AttributeError):
        object.__setattr__(data.ledger.notion, "loss", lambda mechanism, amount: 100 * amount)


def test_numbers_of_a_ledger_are_copies():
    """A fraction can be changed by those who look inside: what was spent stays spent."""
    data = opened()
    data.laplace(Total(), Fraction(1, 2))
    data.forfeit(Fraction(1, 4), "unused")
    for number in (data.ledger.spent, data.ledger.forfeited, data.ledger.budget, data.ledger.epsilon):
        number._numerator = 0
    assert (data.ledger.budget, data.ledger.spent, data.ledger.forfeited) == (1, Fraction(1, 2), Fraction(1, 4))
    assert data.budget == Fraction(1, 4)


@pytest.mark.parametrize("name", ["forfeit", "reveal", "public", "parts", "trials", ""])
def test_a_mechanism_cannot_have_the_name_of_another_line(name):
    """A ledger would say that its budget was forfeited, or that counts were revealed."""
    mechanism = type("Named", (Laplace,), {"name": name})(Total())
    with pytest.raises(InvalidInput, match="name"):
        opened().ask(mechanism, 1)


def test_a_spend_of_nothing_is_refused_by_every_mechanism():
    """Also by those whose noise would be divided by it."""
    for mechanism in (NoisyMax(CellCounts()), AboveThreshold(Sums()), Laplace(Total())):
        for amount in (0, -1):
            with pytest.raises(BudgetExceeded, match="spend more than 0"):
                opened().ask(mechanism, amount)


def test_what_a_transcript_keeps_cannot_be_changed_afterwards():
    """A strategy that zeroes what it answered with would make every loss 0."""

    class Forgets(Total):
        def answer(self, counts):
            self.kept = np.array([float(counts.sum())])
            return self.kept.reshape(())

    recording = Recording()
    replay = Replay(recording)
    for counts, channel in ((COUNTS, recording), (COUNTS + 1, replay)):
        strategy = Forgets()
        opened(counts, channel=channel).laplace(strategy, 1, "total")
        strategy.kept[:] = 0
    assert np.abs(replay.total(2)[0]).max() > 1


@pytest.mark.parametrize("method", ["run", "outcome", "notion"])
def test_an_algorithm_inherits_what_opens_the_counts_from_nobody_else(method):
    """A class beside ours may not bring it along."""
    beside = type("Beside", (), {method: lambda self, *rest, **named: rest})
    with pytest.raises(DPBenchError, match=f"overrides {method}"):
        type("Sly", (beside, dpb.Algorithm), {"name": "Sly"})


@pytest.mark.parametrize("epsilon", [10**400, Fraction(1, 10**400), Decimal("sNaN"), Decimal("1e999"), Decimal("NaN")])
@pytest.mark.parametrize("name", ["AHP", "UGrid", "Uniform"])
def test_an_epsilon_that_no_float_holds_is_refused(name, epsilon):
    """In one line, whatever an algorithm would have done with it."""
    workload = dpb.workloads.RandomRange("4x4", queries=5) if name == "UGrid" else dpb.workloads.Prefix(8)
    x = np.ones(workload.domain.shape, dtype=int)
    with pytest.raises(InvalidEpsilon):
        dpb.algorithms.get(name).run(x, workload, epsilon, seed=0)
