"""What is wrong with a store: files that are gone or changed, shards of another kind, results that contradict."""

from __future__ import annotations

import json
from bisect import bisect_right
from collections.abc import Iterator
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
    found += _contradictions(folder, [each for each in whole if folder / each.file not in known])
    for name, each in sorted(listed.items()):
        if name.startswith("answers/"):
            found += _answers(folder / name, each)
    return found


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
    if record_of(path) is None:
        return [Damage(path, "not a record of a run: it is not valid JSON")]
    if listed.kept and not _holds(listed, path):
        return [Damage(path, "changed: its content does not match its hash")]
    return []


def _holds(listed: Listed, path: Path) -> bool:
    """Whether a file is what was written."""
    try:
        return listed.holds(read_regular(path))
    except NotRegular:
        return False


def _answers(path: Path, listed: Listed) -> list[Damage]:
    if not path.exists():
        return [Damage(path, "missing: these answers were kept")]
    if not _holds(listed, path):
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


def record_of(path: Path) -> dict[str, Any] | None:
    """A run's record, None where it cannot be read."""
    try:
        record = json.loads(read_regular(path))
    except (ValueError, RecursionError, FileNotFoundError, NotRegular):
        return None
    return record if isinstance(record, dict) else None
