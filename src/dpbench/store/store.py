"""A folder of shards that only grows.

    STORE/
      store.json               schema version
      runs/ID.json             one record for each run: plan, seeds, machine, versions of algorithms
      shards/ID-N-HASH.parquet rows; the name holds the hash of the content, so damage shows
      answers/KEY-FIRST.npy    answers of every trial (trials, q), where they were asked for

A shard is written under a temporary name and renamed: it is there whole or not at all. Rows are recognised by
content, so a run that is killed at any moment loses nothing that a shard holds, and its repetition does only what is
missing. Results of a changed algorithm are another version beside the earlier ones; readings show one of them.
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dpbench.errors import InvalidStore
from dpbench.store.loss_versions import choose_losses
from dpbench.store.schema import (
    INDEX_COLUMNS,
    LOSS_COLUMNS,
    SCHEMA_VERSION,
    Row,
    arrow_schema,
    each_trial_once,
    from_table,
    to_table,
)
from dpbench.store.setting_key import BUDGET
from dpbench.store.versions import NEEDED, Version, choose, overview, without

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray

FOLDERS = ("runs", "shards")


@dataclass(frozen=True)
class Damage:
    """A file that is not what it was when it was written."""

    path: Path
    reason: str


class Store:
    """A folder of results; see the module's docstring."""

    def __init__(self, folder: str | os.PathLike[str], *, create: bool = False) -> None:
        self.folder = Path(folder)
        try:
            self._check(create)
        except OSError as error:
            reason = error.strerror or type(error).__name__
            raise InvalidStore(
                f"{self.folder} cannot be used as a store: {reason}; give a folder that can be read and written"
            ) from None

    def _check(self, create: bool) -> None:
        marker = self.folder / "store.json"
        if not marker.exists():
            if self.folder.exists() and not (self.folder.is_dir() and all(map(_begun, self.folder.iterdir()))):
                raise InvalidStore(f"{self.folder} exists and is not a store; give an empty or a new folder")
            if not create:
                raise InvalidStore(f"there is no store at {self.folder}; make one with `dpbench run SUITE --store DIR`")
        if create:
            for name in FOLDERS:
                (self.folder / name).mkdir(parents=True, exist_ok=True)
            if not marker.exists():
                write_whole(marker, json.dumps({"dpbench_store": SCHEMA_VERSION}).encode())
        try:
            version = json.loads(marker.read_text())["dpbench_store"]
        except (ValueError, KeyError, TypeError):
            raise InvalidStore(f'{marker} is damaged; restore it as {{"dpbench_store": {SCHEMA_VERSION}}}') from None
        if version != SCHEMA_VERSION:
            raise InvalidStore(
                f"{self.folder} has schema {version} and this version reads {SCHEMA_VERSION}; "
                f"use the version that made it"
            )

    # --- writing ----------------------------------------------------------------------------------

    def record_run(self, run: str, record: dict[str, Any]) -> None:
        """Keep the provenance of a run."""
        write_whole(self.folder / "runs" / f"{run}.json", json.dumps(record, indent=1, sort_keys=True).encode())

    def append(self, rows: list[Row], run: str) -> Path:
        """Write rows as one more shard, whole or not at all."""
        content = _written(to_table(rows))
        number = len(list((self.folder / "shards").glob(f"{run}-*.parquet")))
        path = self.folder / "shards" / f"{run}-{number:05d}-{_digest(content)}.parquet"
        write_whole(path, content)
        return path

    def drop_version(self, version: str) -> list[Version]:
        """Remove all results of a version, shard by shard, each rewritten whole; what was removed.

        A shard is written without them before the one with them goes, so that nothing else can be lost in between.
        """
        import pyarrow.compute as pc

        dropped = [each for each in self.versions() if each.version == version]
        for path in self.shards():
            table = _parquet(_intact(path, self.folder))
            gone = pc.equal(table["algorithm_source"], version)
            if not pc.any(gone).as_py():
                continue
            kept = table.filter(pc.invert(gone))
            if kept.num_rows:
                content = _written(kept)
                write_whole(path.with_stem(f"{path.stem.rsplit('-', 1)[0]}-{_digest(content)}"), content)
            path.unlink()
            for key, first in {(row["key"], row["first_trial"]) for row in table.filter(gone).to_pylist()}:
                answers_path(self.folder, key, first).unlink(missing_ok=True)
        for run, record in self.runs().items():
            if any(each["version"] == version for each in record.get("versions", ())):
                self.record_run(run, without(record, version))
        return dropped

    def quarantine(self, damage: Damage) -> Path:
        """Put a damaged file aside; the settings of a shard count as missing from then on."""
        aside = damage.path.with_suffix(".damaged")
        damage.path.rename(aside)
        return aside

    # --- reading ----------------------------------------------------------------------------------

    def shards(self) -> list[Path]:
        """Every shard, in a fixed order."""
        return sorted((self.folder / "shards").glob("*.parquet"))

    def table(
        self, columns: list[str] | None = None, *, every_version: bool = False, versions: Sequence[str] = ()
    ) -> pa.Table:
        """All shards as one Arrow table; with damaged ones it is an error that says what to do.

        Of each form of an algorithm it has the version that was asked for last, or those of ``versions``, or all; of
        each loss the one that was asked for last, or all.
        """
        if every_version:
            return self._whole_table(columns)
        named = columns if columns is None else list(dict.fromkeys([*columns, *NEEDED]))
        runs = self.runs()
        table = choose_losses(choose(self._whole_table(named), runs, versions), runs)
        return table if columns is None else table.select(columns)

    def _whole_table(self, columns: list[str] | None) -> pa.Table:
        import pyarrow as pa

        tables = [_parquet(_intact(path, self.folder), columns) for path in self.shards()]
        wanted = arrow_schema()
        if columns is not None:
            wanted = pa.schema([wanted.field(name) for name in columns])
        return pa.concat_tables([wanted.empty_table(), *tables], promote_options="permissive")

    def rows(self, *, every_version: bool = False, versions: Sequence[str] = ()) -> list[Row]:
        """Every trial once; see :func:`each_trial_once` and :meth:`table`."""
        return each_trial_once(from_table(self.table(every_version=every_version, versions=versions)))

    def versions(self) -> list[Version]:
        """Every version of every algorithm that the store holds."""
        return overview(self.rows(every_version=True), self.runs())

    def index(self) -> list[dict[str, Any]]:
        """What is there without the errors: setting, sample, sources, number of trials, labels of losses, failure."""
        import pyarrow.compute as pc

        table = self.table([*INDEX_COLUMNS, "l2", "other_losses"], every_version=True)
        labels = [[*LOSS_COLUMNS, *dict(others or ())] for others in table["other_losses"].to_pylist()]
        counted = table.append_column("trials", pc.list_value_length(table["l2"]))
        entries = counted.drop_columns(["l2", "other_losses"]).to_pylist()
        return [
            {**entry, **{name: entry[name] or 0.0 for name in BUDGET}, "losses": held}
            for entry, held in zip(entries, labels, strict=True)
        ]

    def runs(self) -> dict[str, dict[str, Any]]:
        """The record of every run."""
        records = {}
        for path in sorted((self.folder / "runs").glob("*.json")):
            record = _record(path)
            if record is None:
                raise InvalidStore(f"{path} is damaged; run `dpbench store verify {self.folder}`")
            records[path.stem] = record
        return records

    def answers(self, row: Row) -> NDArray[np.float64] | None:
        """Answers of a row's trials, ``(trials, q)``; None where they were not kept."""
        import numpy as np

        path = answers_path(self.folder, row.key, row.first_trial)
        return np.load(path, allow_pickle=False) if path.exists() else None

    def verify(self) -> list[Damage]:
        """Shards whose content is not what their name says, and records that cannot be read."""
        shards = [
            Damage(path, "truncated or changed: its content does not match the hash in its name")
            for path in self.shards()
            if _whole_shard(path) is None
        ]
        records = sorted((self.folder / "runs").glob("*.json"))
        return shards + [
            Damage(path, "not a record of a run: it is not valid JSON") for path in records if _record(path) is None
        ]


def answers_path(folder: str | os.PathLike[str], key: str, first_trial: int) -> Path:
    """Where the answers of a row are kept."""
    return Path(folder) / "answers" / f"{key}-{first_trial}.npy"


def write_whole(path: Path, content: bytes) -> None:
    """Write a file under a temporary name, push it to the disk, and give it its name."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        with temporary.open("wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def _begun(path: Path) -> bool:
    """Whether a file may stem from a store whose making was cut short."""
    return path.name in FOLDERS or path.name.startswith(".store.json.")


def _whole_shard(path: Path) -> bytes | None:
    """The content of a shard, None where it is not what the name says."""
    content = path.read_bytes()
    return content if _digest(content) == path.stem.rsplit("-", 1)[-1] else None


def _intact(path: Path, store: Path) -> bytes:
    """The content of a shard, or a refusal that says what to do."""
    content = _whole_shard(path)
    if content is None:
        raise InvalidStore(f"{path} is damaged; run `dpbench store verify {store}`")
    return content


def _parquet(content: bytes, columns: list[str] | None = None) -> pa.Table:
    import pyarrow as pa
    import pyarrow.parquet as pq

    return pq.ParquetFile(pa.BufferReader(content)).read(columns=columns)


def _written(table: pa.Table) -> bytes:
    import pyarrow as pa
    import pyarrow.parquet as pq

    sink = pa.BufferOutputStream()
    pq.write_table(table, sink, compression="zstd")
    return sink.getvalue().to_pybytes()  # type: ignore[no-any-return]


def _record(path: Path) -> dict[str, Any] | None:
    """A run's record, None where it cannot be read."""
    try:
        record = json.loads(path.read_bytes())
    except ValueError:
        return None
    return record if isinstance(record, dict) else None


def _digest(content: bytes) -> str:
    return sha256(content).hexdigest()[:16]
