"""Versions: results of changed code stand beside the earlier ones, and a reading shows one version of each algorithm.

A version is a built-in algorithm's revision, or a hash of a plug-in's files. Every run records the versions that it
asked for; a reading takes, of each form of an algorithm, the one that was asked for last.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from dpbench.errors import InvalidInput, UnknownName
from dpbench.store.plain_arrays import to_numpy

if TYPE_CHECKING:
    import pyarrow as pa

    from dpbench.store.schema import Row

FORM = ("algorithm", "variant", "parameters")
"""The columns that name a form of an algorithm."""
NEEDED = (*FORM, "algorithm_source", "run")
"""The columns that a choice of versions looks at."""

Form = tuple[str, str, str]
Records = Mapping[str, Mapping[str, Any]]


@dataclass(frozen=True)
class Version:
    """What a store holds of one version of a form."""

    algorithm: str
    variant: str
    parameters: str
    version: str
    settings: int
    trials: int
    last_run: str
    """When the last run that made some of it was started; empty where no record says."""
    current: bool
    """Whether readings show it."""


def recorded(forms: Iterable[tuple[Form, str]]) -> list[dict[str, str]]:
    """Versions as a record of a run has them."""
    return [dict(zip(FORM, form, strict=True)) | {"version": version} for form, version in sorted(set(forms))]


def asked_for(records: Records) -> dict[Form, str]:
    """The version of each form that the latest run asked for; names of runs are in order of time."""
    found: dict[Form, str] = {}
    for _, record in sorted(records.items()):
        for each in record.get("versions", ()):
            found[each["algorithm"], each["variant"], each["parameters"]] = each["version"]
    return found


def shown(held: Iterable[tuple[Form, str, str]], records: Records, versions: Sequence[str] = ()) -> dict[Form, str]:
    """The version of each form that a reading shows, given (form, version, run) of what a store holds.

    ``versions`` are shown in place of those that were asked for last, each of the forms that has it. Stores from before
    versions were recorded have one of each; of several, the latest run's counts.
    """
    latest: dict[Form, tuple[str, str]] = {}
    known: dict[Form, set[str]] = {}
    for form, version, run in held:
        latest[form] = max(latest.get(form, ("", "")), (run, version))
        known.setdefault(form, set()).add(version)
    chosen = {form: version for form, (_, version) in latest.items()} | asked_for(records)
    wanted = [matching(written, set().union(*known.values())) for written in versions]
    return chosen | {form: version for version in wanted for form, several in known.items() if version in several}


def short(version: str) -> str:
    """A version as tables show it: of a hash, the first eight letters."""
    return version[:8] if re.fullmatch("[0-9a-f]{16}", version) else version


def matching(written: str, known: Iterable[str]) -> str:
    """The version of that name, or the one that begins so."""
    if written in set(known):
        return written
    found = sorted(each for each in set(known) if each.startswith(written))
    if not found or not written:
        raise UnknownName.among("version", written, sorted(known))
    if len(found) > 1:
        raise InvalidInput(f"{written!r} is the beginning of several versions ({', '.join(found)}); write more of it")
    return found[0]


def choose(table: pa.Table, records: Records, versions: Sequence[str]) -> pa.Table:
    """The rows of a table that a reading shows."""
    held = sorted(set(zip(*(to_numpy(table[name]).tolist() for name in NEEDED), strict=True)))
    entries = [(tuple(form), version, run) for *form, version, run in held]
    chosen = shown(entries, records, versions)
    dropped = {(*form, version) for form, version, _ in entries if chosen[form] != version}
    if not dropped:
        return table
    import pyarrow as pa
    import pyarrow.compute as pc

    columns = [table[name] for name in (*FORM, "algorithm_source")]
    keys = pc.binary_join_element_wise(*columns, "\x1f")
    unwanted = pa.array(["\x1f".join(each) for each in dropped])
    return table.filter(pc.invert(pc.is_in(keys, value_set=unwanted)))


def overview(rows: Iterable[Row], records: Records) -> list[Version]:
    """Every version of every form, given all rows of a store, each trial once."""
    groups: dict[tuple[Form, str], list[Row]] = {}
    for row in rows:
        groups.setdefault(((row.algorithm, row.variant, row.parameters), row.algorithm_source), []).append(row)
    chosen = shown(((form, version, row.run) for (form, version), found in groups.items() for row in found), records)
    return [
        Version(
            *form,
            version=version,
            settings=len({row.setting for row in found}),
            trials=sum(row.trials for row in found),
            last_run=max(str(records.get(row.run, {}).get("started", "")) for row in found),
            current=chosen[form] == version,
        )
        for (form, version), found in sorted(groups.items(), key=lambda item: item[0])
    ]


def without(record: Mapping[str, Any], version: str) -> dict[str, Any]:
    """The record of a run as if it had not asked for a version."""
    kept = [each for each in record.get("versions", ()) if each["version"] != version]
    return {**record, "versions": kept}
