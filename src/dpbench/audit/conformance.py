"""Every property that any algorithm must have, whatever it does for privacy."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import FrozenInstanceError, fields, is_dataclass
from hashlib import sha256
from typing import Any

import numpy as np

from dpbench.audit.fresh import TooSlow, fresh, processor_seconds
from dpbench.audit.report import NotExamined
from dpbench.audit.side_effects import deeds
from dpbench.audit.subject import SMALL_DOMAINS, Subject, weighted_workload, workload_for
from dpbench.audit.traces import BESIDE, NAMES, traced
from dpbench.domain import Domain
from dpbench.errors import CheckFailed

EDGE_DOMAINS = {
    1: ("1", "2", "3", "13", "16"),
    2: ("1x1", "1x7", "7x1", "5x12", "4x4"),
    3: ("1x1x1", "2x3x5", "1x4x1"),
}
"""Single cells, two, three, primes, thin and non-square ones, by number of axes."""
ROUNDING = 1e-9
"""Relative; a solver may work on several trials at once, and its last bits may depend on how many there are."""
EARLIER, MOST_EARLIER = 60, 300
"""Runs that come before the one that is to come out as in a fresh process; more while they take less than this:"""
QUICK, SLOW = 0.5, 10.0
"""Seconds of CPU time; and after so many there are fewer."""
LONGEST = 120.0
"""Seconds of CPU time for one process."""
SEED = 11
"""Of the run that is compared."""
Figures = Mapping[str, Any]


def check_form(subject: Subject) -> Figures:
    """A frozen dataclass that can be hashed and compared, and that runs somewhere."""
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
    if not list(subject.domains(SMALL_DOMAINS)):
        raise CheckFailed(
            f"{subject.name} supports no domain that is tried (1, 2 and 3 axes, up to 1,024 cells), so nothing can be "
            f"examined; name one with --domain"
        )
    return {}


def check_batch(subject: Subject) -> Figures:
    """Same seed same bits; trials do not depend, but for rounding, on how many there are; the input stays as it was."""
    for domain in subject.domains(SMALL_DOMAINS):
        x = 40 * (np.arange(domain.size).reshape(domain.shape) % 5)
        kept, workload = x.copy(), workload_for(domain)
        several = subject.outcome(x, workload, 0.5, trials=8).estimate
        if not np.array_equal(several, subject.outcome(x, workload, 0.5, trials=8).estimate):
            raise CheckFailed(
                f"{subject.name} gives two results for one seed on {domain}: draw only through the handle (public "
                f"random numbers: data.coins()), keep nothing between runs, and let rounds end a loop, not a clock"
            )
        two = subject.outcome(x, workload, 0.5, trials=2).estimate
        if not np.allclose(several[:2], two, rtol=ROUNDING, atol=ROUNDING * float(np.abs(two).max())):
            raise CheckFailed(f"{subject.name}: a trial depends on how many trials are run with it on {domain}")
        if (several == several[0]).all():
            raise CheckFailed(f"{subject.name} adds no noise on {domain}: all trials came out the same")
        if np.array_equal(several, subject.outcome(x, workload, 0.5, trials=8, seed=1).estimate):
            raise CheckFailed(
                f"{subject.name} gives one result for two seeds on {domain}: noise comes from the handle, not from "
                f"a seed of one's own"
            )
        if not np.array_equal(x, kept):
            raise CheckFailed(f"{subject.name} changes its input on {domain}")
    return {}


def check_memory(subject: Subject) -> Figures:
    """The same seed gives the same bits in a fresh process and after many runs on other data, workloads and domains."""
    domains = list(subject.domains(SMALL_DOMAINS))

    def results(domain: Domain, earlier: int) -> list[dict[str, str]]:
        _run_earlier(subject, domain, domains, earlier)
        x = (np.arange(domain.size) * 7 % 11).reshape(domain.shape)
        found = []
        for _ in range(2):
            trace = traced(lambda: _quietly(subject, x, workload_for(domain), 0.5, 3, SEED))
            parts = {name: repr(getattr(trace, name)) for name in NAMES if name not in BESIDE}
            found.append({name: sha256(text.encode()).hexdigest() for name, text in parts.items()})
        return found

    for domain in {each.ndim: each for each in domains}.values():
        try:
            at_first, again, *later = (
                each
                for earlier in (0, MOST_EARLIER)
                for each in fresh(lambda: results(domain, earlier), LONGEST, silent=True)  # noqa: B023  (called now)
            )
        except TooSlow:
            raise NotExamined(f"{subject.name}: {EARLIER} runs on small domains took too long") from None
        for when, other in [("the second time", again), *(("after many other runs", each) for each in later)]:
            if differing := [NAMES[name] for name in at_first if at_first[name] != other[name]]:
                raise CheckFailed(
                    f"{subject.name} gives {differing[0]} for one seed on {domain} {when} than in a fresh process: "
                    f"keep nothing between runs that follows from data or noise, and count no runs"
                )
    return {}


def _run_earlier(subject: Subject, domain: Domain, domains: list[Domain], many: int) -> None:
    """Runs that come before: two of three on the same domain, and each of another kind; some are of the same seed."""
    begun = processor_seconds()
    for number in range(1, many + 1):
        where = domain if number % 3 else domains[number // 3 % len(domains)]
        rng = np.random.default_rng([subject.seed, 17, number])
        x = rng.integers(0, 10 ** int(rng.integers(1, 4)), where.shape) * rng.integers(0, 2, where.shape)
        workload = workload_for(where) if number % 4 else weighted_workload(where)
        epsilon, trials, seed = (0.5, 1, 7.3)[number % 3], 1 + number % 4 // 2 * 2, number if number % 5 else SEED
        with suppress(Exception, SystemExit):
            _quietly(subject, x, workload, epsilon, trials, seed)
        if processor_seconds() - begun > (QUICK if number >= EARLIER else SLOW):
            break


def _quietly(subject: Subject, x: Any, workload: Any, epsilon: object, trials: int, seed: int) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return subject.algorithm.outcome(
            x, workload, trials=trials, seed=seed, side_information=subject.side_information, **subject.budget(epsilon)
        )


def check_files(subject: Subject) -> Figures:
    """An estimate rests on the handle, the workload and the parameters: nothing is opened once it has run before."""
    domain = next(subject.domains(SMALL_DOMAINS))
    x, workload = np.zeros(domain.shape, dtype=np.int64), workload_for(domain)
    subject.outcome(x, workload, 1)
    with deeds() as done:
        subject.outcome(x, workload, 1)
    if done:
        advice = ": read a file once, when the module is imported, and keep in memory what is made of public facts"
        raise CheckFailed(
            f"{subject.name} {done[0]} whenever it runs; an estimate may rest on the handle, the workload "
            f"and its parameters alone{advice if done[0].startswith('opens') else ''}"
        )
    return {}


def check_edges(subject: Subject) -> Figures:
    """Finite output, of ours no warning, on thin, tiny and prime domains, empty and huge data, extreme epsilons."""
    for domain in subject.domains(EDGE_DOMAINS):
        one_huge = np.zeros(domain.size, dtype=np.int64)
        one_huge[domain.size // 2] = 10**8
        for counts in (np.zeros(domain.size, dtype=np.int64), one_huge, np.arange(domain.size)):
            for epsilon in (1e-6, 0.1, 1e6):
                subject.outcome(counts.reshape(domain.shape), workload_for(domain), epsilon)
    return {"warning": subject.warned[0]} if subject.warned else {}
