"""What a release promises, in a form that a second program can check."""

from __future__ import annotations

import platform
from hashlib import sha256
from importlib.metadata import version
from typing import Any

from dpbench import __version__
from dpbench.algorithm import ADD_OR_REMOVE, Algorithm
from dpbench.privacy import Ledger
from dpbench.privacy.mechanisms import Gaussian, GroupedExponential, Laplace, Partition
from dpbench.privacy.mechanisms.exponential import Exponential
from dpbench.releasable import STEPS
from dpbench.release.budget_file import Cost
from dpbench.tables.spec import Spec

FORMAT = 1
SAMPLERS = {
    Laplace.name: "discrete Laplace, exact, random bits of the operating system",
    Gaussian.name: "discrete Gaussian, exact, random bits of the operating system",
    Exponential.name: "exponential mechanism on exact scores, random bits of the operating system",
    GroupedExponential.name: "exponential mechanism on exact scores, random bits of the operating system",
    Partition.name: "exponential mechanism over partitions, in whole numbers, random bits of the operating system",
}
OPENDP = {
    Laplace.name: "discrete Laplace of OpenDP, its scale rounded up to a float",
    Gaussian.name: "discrete Gaussian of OpenDP, its scale rounded up to a float",
}
LIBRARIES = ("numpy", "numba", "pyarrow", "scipy")
"""Whose versions are kept beside ours and Python's."""
NOT_PROMISED = (
    "how long the release took is not protected",
    "that no person has more records than records_per_person is the owner's word",
    "the budget file is bookkeeping: copies of it, and releases elsewhere, are not known here",
    "a table that is not readable to its end ends the release after its charge, which shows that it is not",
    "no signature: whoever can write this file can write another",
)


def certificate(
    spec: Spec, algorithm: Algorithm, ledger: Ledger, cost: Cost, identity: str, files: dict[str, bytes]
) -> dict[str, Any]:
    """Everything that is needed to add up the charges and compare the output."""
    notion = ledger.notion
    return {
        "certificate": FORMAT,
        "dataset": spec.dataset,
        "neighbours": ADD_OR_REMOVE,
        "records_per_person": spec.records_per_person,
        "promise": promise(cost, spec.records_per_person),
        "epsilon": str(cost.epsilon),
        "delta": str(cost.delta) if cost.delta else None,
        "charge": identity,
        "per_record": {"notion": notion.name, "unit": notion.unit, "amount": str(ledger.budget)},
        "algorithm": {"name": algorithm.name, "parameters": parameters(algorithm)},
        "calls": calls(ledger, spec.sampler),
        "post_processing": list(STEPS),
        "columns": [_axis(axis) for axis in spec.axes],
        "not_promised": list(NOT_PROMISED),
        "versions": {
            "dpbench": __version__,
            "python": platform.python_version(),
            **{name: version(name) for name in LIBRARIES},
            **({"opendp": version("opendp")} if spec.sampler == "opendp" else {}),
        },
        "files": {name: sha256(content).hexdigest() for name, content in sorted(files.items())},
    }


def calls(ledger: Ledger, sampler: str = "dpbench") -> list[dict[str, Any]]:
    """Every charge of a ledger as exact fractions; those of disjoint regions inside the one that they share."""
    samplers = SAMPLERS if sampler == "dpbench" else {**SAMPLERS, **OPENDP}
    listed: list[dict[str, Any]] = []
    for charge in ledger.charges:
        if charge.kind == "trials":  # there is one: its calls are the release's
            listed += calls(charge.regions[0], sampler)
            continue
        call: dict[str, Any] = {"mechanism": charge.kind, "why": charge.why, "amount": str(charge.amount)}
        if charge.sensitivity is not None:
            call["sensitivity"] = str(charge.sensitivity)
            call["noise"] = charge.noise
            call["sampler"] = samplers[charge.kind]
        if charge.regions:
            call["regions"] = [calls(region, sampler) for region in charge.regions]
        listed.append(call)
    return listed


def parameters(algorithm: Algorithm) -> dict[str, str]:
    """The parameters of an algorithm as texts."""
    return {name: str(value) for name, value in algorithm.parameters.items()}


def promise(cost: Cost, records_per_person: int) -> str:
    """What is promised, in one sentence."""
    who = "one record" if records_per_person == 1 else f"one person with up to {records_per_person} records"
    kind = "" if cost.delta else "pure "
    return f"{kind}differential privacy at {cost}, for {who} added or removed"


def _axis(axis: Any) -> dict[str, Any]:
    return {"name": axis.name, "cells": axis.cells, "outside": axis.outside, "missing": axis.missing}
