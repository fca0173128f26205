"""Build a workload from its name and parameters, as plans and command lines give them."""

from __future__ import annotations

from inspect import signature
from os import PathLike
from typing import Any

from dpbench.domain import Domain, DomainLike
from dpbench.errors import InvalidWorkload, shown
from dpbench.given import known
from dpbench.workloads.all_range import AllRange
from dpbench.workloads.fixed import Identity, Prefix
from dpbench.workloads.random_ranges import RandomRange, RandomSmall
from dpbench.workloads.ranges import Ranges
from dpbench.workloads.workload import Workload

CATALOGUE: dict[str, type[Workload]] = {
    kind.name: kind for kind in (Prefix, RandomRange, RandomSmall, Identity, AllRange)
}
"""The workloads that need nothing but a domain."""


def names() -> tuple[str, ...]:
    """Name the workloads that ``build`` can make from a domain alone.

    >>> import dpbench as dpb
    >>> dpb.workloads.names()
    ('Prefix', 'RandomRange', 'RandomSmall', 'Identity', 'AllRange')
    """
    return tuple(CATALOGUE)


def build(name: str, domain: DomainLike, **parameters: Any) -> Workload:
    """Make the workload ``name`` on a domain, for example ``build("RandomRange", "64x64", queries=500)``.

    Ranges of one's own are built with ``build("Ranges", domain, file="ranges.csv")``.

    >>> import dpbench as dpb
    >>> dpb.workloads.build("RandomRange", "64x64", queries=500).queries
    500
    """
    domain = Domain.of(domain)
    listed = known(name, "workload", (*CATALOGUE, Ranges.name)) == Ranges.name
    accepted = ("file",) if listed else tuple(signature(CATALOGUE[name]).parameters)[1:]
    unknown = [parameter for parameter in parameters if parameter not in accepted]
    if unknown:
        theirs = f"its parameters are {', '.join(accepted)}" if accepted else "it has no parameters"
        raise InvalidWorkload(f"workload {name} does not have the parameter {', '.join(unknown)}; {theirs}")
    if listed:
        path = parameters.get("file")
        if not isinstance(path, str | PathLike):
            raise InvalidWorkload(f"workload Ranges was given file={shown(path)}; give a path such as 'ranges.csv'")
        return Ranges.from_csv(path, domain)
    return CATALOGUE[name](domain, **parameters)
