"""Every property that any algorithm must have, checked on any algorithm."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import FrozenInstanceError, dataclass, fields, is_dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from dpbench.algorithm import Algorithm, Release, SideInformation
from dpbench.domain import Domain
from dpbench.errors import BudgetExceeded, BudgetNotSpent, CheckFailed, DPBenchError
from dpbench.testing.neighbours import SMALL_DOMAINS, pairs
from dpbench.testing.replay import ReplaySetting, check_pair
from dpbench.workloads import Prefix, RandomRange, Workload

REPLAYED_TRIALS = 48
EDGE_DOMAINS = {
    1: ("1", "2", "3", "13", "16"),
    2: ("1x1", "1x7", "7x1", "5x12", "4x4"),
    3: ("1x1x1", "2x3x5", "1x4x1"),
}
"""Single cells, two, three, primes, thin and non-square ones, by number of axes."""


@dataclass(frozen=True)
class Subject:
    """An algorithm under examination."""

    algorithm: Algorithm
    side_information: SideInformation | None

    @property
    def name(self) -> str:
        """The algorithm's name."""
        return self.algorithm.name

    def domains(self, by_axes: Mapping[int, tuple[str, ...]]) -> Iterator[Domain]:
        """Those of the given domains that the algorithm supports."""
        for written in (text for texts in by_axes.values() for text in texts):
            domain = Domain.of(written)
            if self.algorithm.supports(domain):
                yield domain

    def release(
        self, x: NDArray[np.int64], workload: Workload, epsilon: object, trials: int = 2, seed: int = 0
    ) -> Release:
        """Run it, with everything that goes wrong told as a failed check."""
        where = f"on {workload.domain} at epsilon {epsilon}"
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                return self.algorithm.release(
                    x, workload, epsilon, trials, seed, side_information=self.side_information
                )
        except BudgetExceeded as error:
            raise CheckFailed(f"{self.name} spends more than epsilon {where}: {error}") from None
        except BudgetNotSpent as error:
            raise CheckFailed(f"{self.name} does not spend epsilon {where}: {error}") from None
        except DPBenchError as error:
            raise CheckFailed(f"{self.name} fails {where}: {error}") from None
        except Exception as error:
            raise CheckFailed(f"{self.name} fails {where} with {type(error).__name__}: {error}") from error


def check_algorithm(algorithm: Algorithm | type[Algorithm], *, side_information: SideInformation | None = None) -> None:
    """Return nothing when an algorithm has every property, else raise ``CheckFailed`` with the cause."""
    subject = Subject(_built(algorithm), side_information)
    for check in CHECKS:
        check(subject)


def workload_for(domain: Domain) -> Workload:
    """A workload for a small domain: Prefix on one axis, random ranges on several."""
    return Prefix(domain) if domain.ndim == 1 else RandomRange(domain, queries=24, seed=1)


def _built(algorithm: object) -> Algorithm:
    """The algorithm itself, or its class with every parameter at its default."""
    kind = algorithm if isinstance(algorithm, type) else type(algorithm)
    if not issubclass(kind, Algorithm):
        raise CheckFailed(f"{kind.__name__} is not an Algorithm; subclass dpbench.Algorithm")
    if not kind.name:
        raise CheckFailed(f"{kind.__name__} has no name; give the class an attribute name = '...'")
    try:
        default = kind()
    except Exception as error:
        raise CheckFailed(f"{kind.name} cannot be built without arguments: {error}") from error
    return default if algorithm is kind else algorithm  # type: ignore[return-value]  # an instance of kind


def check_form(subject: Subject) -> None:
    """A frozen dataclass that can be hashed and compared."""
    algorithm, kind = subject.algorithm, type(subject.algorithm)
    if not is_dataclass(kind) or "__dataclass_fields__" not in vars(kind):
        raise CheckFailed(f"{subject.name} is not a dataclass; decorate it with @dataclass(frozen=True, kw_only=True)")
    try:
        setattr(algorithm, fields(algorithm)[0].name, "private")
    except FrozenInstanceError:
        pass
    else:
        raise CheckFailed(f"{subject.name} can be changed after it is made; use @dataclass(frozen=True, kw_only=True)")
    try:
        hash(algorithm)
    except TypeError as error:
        raise CheckFailed(f"{subject.name} cannot be hashed: {error}; parameters have to be plain values") from None


def check_batch(subject: Subject) -> None:
    """Same seed same bits; trials do not depend on how many there are; the input stays as it was."""
    for domain in subject.domains(SMALL_DOMAINS):
        x = np.arange(domain.size).reshape(domain.shape) % 5
        kept, workload = x.copy(), workload_for(domain)
        three = subject.release(x, workload, 0.5, trials=3).estimate
        if not np.array_equal(three, subject.release(x, workload, 0.5, trials=3).estimate):
            raise CheckFailed(
                f"{subject.name} gives two results for one seed on {domain}: draw only through the handle"
            )
        if not np.array_equal(three[:2], subject.release(x, workload, 0.5, trials=2).estimate):
            raise CheckFailed(f"{subject.name}: a trial depends on how many trials are run with it on {domain}")
        if np.array_equal(three[0], three[1]):
            raise CheckFailed(f"{subject.name} adds no noise on {domain}: two trials came out the same")
        if not np.array_equal(x, kept):
            raise CheckFailed(f"{subject.name} changes its input on {domain}")


def check_budget(subject: Subject) -> None:
    """Spent plus forfeited is epsilon exactly (else the run is an error), and no counts are revealed."""
    for domain in subject.domains(SMALL_DOMAINS):
        for epsilon in (0.1, Fraction(1, 3), 1, 7.3):
            x = np.full(domain.shape, 20)
            ledger = subject.release(x, workload_for(domain), epsilon).ledger
            if not ledger.private:
                cause = f" ({subject.algorithm.not_private})" if subject.algorithm.not_private else ""
                raise CheckFailed(f"{subject.name} is not private: it knows {', '.join(ledger.for_nothing)}{cause}")


def check_edges(subject: Subject) -> None:
    """Finite output, no warning, on thin, tiny and prime domains, empty and huge data, extreme epsilons."""
    for domain in subject.domains(EDGE_DOMAINS):
        one_huge = np.zeros(domain.size, dtype=np.int64)
        one_huge[domain.size // 2] = 10**8
        for counts in (np.zeros(domain.size, dtype=np.int64), one_huge, np.arange(domain.size)):
            for epsilon in (1e-6, 0.1, 1e6):
                subject.release(counts.reshape(domain.shape), workload_for(domain), epsilon)


def check_consistency(subject: Subject) -> None:
    """As epsilon grows the answers become exact, or they do not, as declared."""
    worst = 0.0
    for domain in subject.domains(SMALL_DOMAINS):
        x = ((7 * np.arange(domain.size) ** 2) % 31).reshape(domain.shape)
        workload = workload_for(domain)
        estimate = subject.release(x, workload, 10**9, trials=4).estimate
        worst = max(worst, float(np.abs(workload.answer(estimate) - workload.answer(x)).max()))
    if subject.algorithm.consistent and worst > 1e-3:
        raise CheckFailed(
            f"{subject.name} declares consistency, but at epsilon 1e9 an answer is still off by {worst:.3g}"
        )
    if not subject.algorithm.consistent and worst <= 1e-3:
        raise CheckFailed(f"{subject.name} declares a bias that stays, but at epsilon 1e9 all answers are exact")


def check_exchangeability(subject: Subject) -> None:
    """Where declared: four times the counts at a quarter of epsilon give four times the estimate, draw for draw."""
    if not subject.algorithm.exchangeable:
        return
    for domain in subject.domains(SMALL_DOMAINS):
        x = ((5 * np.arange(domain.size)) % 17).reshape(domain.shape)
        workload = workload_for(domain)
        small = subject.release(x, workload, Fraction(2), trials=8).estimate
        large = subject.release(4 * x, workload, Fraction(1, 2), trials=8).estimate
        if not np.allclose(large, 4 * small, rtol=1e-9, atol=1e-9):
            raise CheckFailed(
                f"{subject.name} declares exchangeability, but on {domain} four times the counts at a quarter of "
                f"epsilon do not give four times the estimate"
            )


def check_replay(subject: Subject) -> None:
    """On every kind of neighbouring pair: the same calls, the same output, no call over its charge."""
    for domain in subject.domains(SMALL_DOMAINS):
        setting = ReplaySetting(
            subject.algorithm, workload_for(domain), Fraction(1), REPLAYED_TRIALS, subject.side_information
        )
        for number, pair in enumerate(pairs(domain)):
            check_pair(setting, pair, seed=2 * number)


CHECKS: tuple[Callable[[Subject], None], ...] = (
    check_form,
    check_budget,
    check_batch,
    check_replay,
    check_edges,
    check_consistency,
    check_exchangeability,
)
"""In the order in which they run: the cheap and telling ones first."""
