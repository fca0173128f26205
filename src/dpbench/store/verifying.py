"""What is wrong with a store: files that are gone or changed, shards of another kind, results that contradict."""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path
from typing import Any

from dpbench.errors import InvalidStore
from dpbench.store import manifest
from dpbench.store.conflicts import conflicts
from dpbench.store.disk import NotRegular, read_regular
from dpbench.store.manifest import Contents, Listed
from dpbench.store.schema import arrow_schema
from dpbench.store.shard import intact, parsed
from dpbench.store.versions import FORM

RUN = re.compile(r"[0-9]{8}T[0-9.]+-[0-9a-f]{8}\.json")
"""Names that records of runs have."""
UNLISTED = "not in the manifest, which was cut short, or a copy: `dpbench store repair` lists it again"
_RECORD = {
    **dict.fromkeys(("plan", "command", "started", "identity"), str),
    **dict.fromkeys(("machine", "code", "losses"), dict),
    **dict.fromkeys(("tasks", "versions"), list),
}
_TASK = {
    "name": str,
    "loss": str,
    **dict.fromkeys(("generator", "measuring", "interpreting", "repair"), dict),
    "workloads": list,
}
"""Kinds of what a record of a run, and a task in it, may hold."""
_VERSION = dict.fromkeys((*FORM, "version"), str)


@dataclass(frozen=True)
class Damage:
    """A file that is not what it was when it was written."""

    path: Path
    reason: str


def damaged(folder: Path, *, has_manifest: bool) -> list[Damage]:
    """Files that are gone or not what was written, and that a run replaces."""
    listed, found = _contents(folder, has_manifest=has_manifest)
    for name, each in sorted(listed.items()):
        path = folder / name
        if name.startswith("shards/"):
            found += _shard(path, each)
        elif name.startswith("runs/"):
            found += _record(path, each)
    return found


def verified(folder: Path, *, has_manifest: bool) -> list[Damage]:
    """The same, and what no run replaces."""
    found = damaged(folder, has_manifest=has_manifest)
    listed, _ = _contents(folder, has_manifest=has_manifest)
    known = {damage.path for damage in found}
    whole = [each for name, each in sorted(listed.items()) if name.startswith("shards/")]
    if not any(damage.path.name == manifest.NAME for damage in found):
        found += [Damage(folder / each.file, UNLISTED) for each in unlisted(folder)]
    found += _contradictions(folder, [each for each in whole if folder / each.file not in known])
    for name, each in sorted(listed.items()):
        if name.startswith("answers/"):
            found += _answers(folder / name, each)
    return found


def unlisted(folder: Path) -> list[Listed]:
    """Shards and records of runs that the manifest neither has nor dropped: it was cut short, or they are copies.

    The folders are looked at first: what comes into them meanwhile is in the manifest by then.
    """
    there = sorted([*(folder / "shards").glob("*.parquet"), *(folder / "runs").glob("*.json")])
    read = manifest.read_with_removed(folder)
    if read is None:
        return []
    known = read[0].keys() | read[1]
    found = []
    for path in there:
        listed = Listed(path.relative_to(folder).as_posix(), _hash_in_name(path), kept=True)
        if listed.file in known or not manifest.FILE.fullmatch(listed.file):
            continue
        ours = intact(path, listed) is not None if listed.sha256 else RUN.fullmatch(path.name) and record_of(path)
        found += [listed] if ours else []
    return found


def _hash_in_name(path: Path) -> str:
    return path.stem.rsplit("-", 1)[-1] if manifest.SHARD.fullmatch(path.name) else ""


def known_shards(folder: Path, *, has_manifest: bool) -> list[Path]:
    """Every shard that there is or was, as far as can be known."""
    listed, _ = _contents(folder, has_manifest=has_manifest)
    shards = [(folder / name, each) for name, each in sorted(listed.items()) if name.startswith("shards/")]
    return [path for path, each in shards if each.kept or path.exists()]


def _contents(folder: Path, *, has_manifest: bool) -> tuple[Contents, list[Damage]]:
    """What a store should have, and what is wrong with the list of it."""
    path = folder / manifest.NAME
    try:
        listed = manifest.read(folder)
    except InvalidStore:
        return manifest.unlisted_contents(folder), [Damage(path, "changed: it has a line that nobody wrote")]
    if listed is not None:
        return listed, []
    lost = Damage(path, "missing: what else was removed is not known")
    return manifest.unlisted_contents(folder), [lost] if has_manifest else []


def _shard(path: Path, listed: Listed) -> list[Damage]:
    if not path.exists():
        rows = f", and with it {listed.rows} results" if listed.rows else ""
        return [Damage(path, f"missing: it was there{rows}")] if listed.kept else []
    if intact(path, listed) is None:
        return [Damage(path, "truncated or changed: its content does not match its hash")]
    return []


def _record(path: Path, listed: Listed) -> list[Damage]:
    if not path.exists():
        return [Damage(path, "missing: the record of a run was there")] if listed.kept else []
    if intact(path, listed) is None:
        return [Damage(path, "changed: its content does not match its hash")]
    return [] if record_of(path) is not None else [Damage(path, "not a record of a run: it holds something else")]


def _answers(path: Path, listed: Listed) -> list[Damage]:
    if not path.exists():
        return [Damage(path, "missing: these answers were kept")]
    if intact(path, listed) is None:
        return [Damage(path, "truncated or changed: its content does not match its hash")]
    return []


def _contradictions(folder: Path, shards: list[Listed]) -> Iterator[Damage]:
    """Shards that hold what this version does not know, and results that contradict each other."""
    import pyarrow as pa

    tables, read = [arrow_schema().empty_table()], []
    for each in shards:
        content = intact(folder / each.file, each)
        if content is None:  # announced and never written
            continue
        table, wrong = parsed(content)
        if wrong:
            yield Damage(folder / each.file, wrong)
        elif each.rows and table.num_rows != each.rows:
            yield Damage(folder / each.file, f"has {table.num_rows} results in place of {each.rows}")
        else:
            tables.append(table)
            read.append(each.file)
    ends = list(accumulate(each.num_rows for each in tables[1:]))
    table = pa.concat_tables(tables, promote_options="permissive")
    for conflict in conflicts(table, lambda row: read[bisect_right(ends, row)]):
        yield Damage(folder / conflict.rsplit(" ", 1)[-1], conflict)


def record_of(path: Path, listed: Listed | None = None) -> dict[str, Any] | None:
    """A run's record, None where it cannot be read or is not what was written."""
    try:
        content = read_regular(path)
        record = json.loads(content) if listed is None or listed.holds(content) else None
    except (ValueError, RecursionError, FileNotFoundError, NotRegular):
        return None
    return record if _is_record(record) else None


def _is_record(record: Any) -> bool:
    """Whether everything that readers look at is of its kind."""

    def fits(given: Any, kinds: Mapping[str, type]) -> bool:
        return isinstance(given, dict) and all(isinstance(given[name], kinds[name]) for name in given.keys() & kinds)

    return (
        fits(record, _RECORD)
        and all(fits(each, _TASK) for each in record.get("tasks", ()))
        and all(fits(each, _VERSION) and each.keys() >= _VERSION.keys() for each in record.get("versions", ()))
        and all(isinstance(each, str) for each in record.get("losses", {}).values())
    )
