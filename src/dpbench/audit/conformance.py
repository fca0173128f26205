"""Every property that any algorithm must have, whatever it does for privacy."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import FrozenInstanceError, fields, is_dataclass
from typing import Any

import numpy as np

from dpbench.audit.side_effects import deeds
from dpbench.audit.subject import SMALL_DOMAINS, Subject, workload_for
from dpbench.errors import CheckFailed

EDGE_DOMAINS = {
    1: ("1", "2", "3", "13", "16"),
    2: ("1x1", "1x7", "7x1", "5x12", "4x4"),
    3: ("1x1x1", "2x3x5", "1x4x1"),
}
"""Single cells, two, three, primes, thin and non-square ones, by number of axes."""
ROUNDING = 1e-9
"""Relative; a solver may work on several trials at once, and its last bits may depend on how many there are."""
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
