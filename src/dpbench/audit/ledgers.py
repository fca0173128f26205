"""The ledger: every charge has a reason, all of epsilon is accounted for, nothing is known for nothing."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import numpy as np

from dpbench.audit.subject import SMALL_DOMAINS, Subject, weighted_workload, workload_for
from dpbench.errors import CheckFailed
from dpbench.privacy import Ledger
from dpbench.privacy.budget import written

EPSILONS = (0.1, Fraction(1, 3), 1, 7.3)


def check_ledger(subject: Subject) -> Mapping[str, Any]:
    """Spent plus forfeited is epsilon exactly (else the run is an error), and no counts are revealed."""
    ledgers = []
    for domain in subject.domains(SMALL_DOMAINS):
        for workload in (workload_for(domain), weighted_workload(domain)):
            for epsilon in EPSILONS:
                ledger = subject.outcome(np.full(domain.shape, 20), workload, epsilon, seed=subject.seed).ledger
                _insist(subject, ledger)
                ledgers.append(ledger)
    return {"ledgers": len(ledgers), "charges": [line.strip() for line in ledgers[0].lines()]}


def _insist(subject: Subject, ledger: Ledger) -> None:
    if ledger.spent + ledger.forfeited != ledger.budget:
        raise CheckFailed(
            f"{subject.name}: the ledger does not add up: {ledger.arithmetic()} leaves {written(ledger.remaining)}"
        )
    if not all(charge.why for charge in ledger.charges):
        raise CheckFailed(f"{subject.name} has a charge without a reason: {ledger.arithmetic()}")
    if not ledger.private and not subject.ignore_marks:
        cause = f" ({subject.algorithm.not_private})" if subject.algorithm.not_private else ""
        raise CheckFailed(f"{subject.name} is not private: it knows {', '.join(ledger.for_nothing)}{cause}")
