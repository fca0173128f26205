"""A folder of shards that only grows.

    STORE/
      store.json               schema version
      runs/ID.json             one record for each run: plan, seeds, versions, machine, sources
      shards/ID-N-HASH.parquet rows; the name holds the hash of the content, so damage shows

A shard is written under a temporary name and renamed: it is there whole or not at all. Rows are recognised by
content, so a run that is killed at any moment loses nothing that a shard holds, and its repetition does only what is
missing.
"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dpbench.errors import InvalidStore
from dpbench.store.schema import INDEX_COLUMNS, SCHEMA_VERSION, Row, arrow_schema, from_table, to_table

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True)
class Damage:
    """A shard that is not what its name says."""

    path: Path
    reason: str


class Store:
    """A folder of results; see the module's docstring."""

    def __init__(self, folder: str | os.PathLike[str], *, create: bool = False) -> None:
        self.folder = Path(folder)
        self._check(create)

    def _check(self, create: bool) -> None:
        marker = self.folder / "store.json"
        if not marker.exists():
            if self.folder.exists() and (not self.folder.is_dir() or any(self.folder.iterdir())):
                raise InvalidStore(f"{self.folder} exists and is not a store; give an empty or a new folder")
            if not create:
                raise InvalidStore(f"there is no store at {self.folder}; make one with `dpbench run SUITE --store DIR`")
            for name in ("runs", "shards"):
                (self.folder / name).mkdir(parents=True, exist_ok=True)
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
        import pyarrow as pa
        import pyarrow.parquet as pq

        sink = pa.BufferOutputStream()
        pq.write_table(to_table(rows), sink, compression="zstd")
        content = sink.getvalue().to_pybytes()
        number = len(list((self.folder / "shards").glob(f"{run}-*.parquet")))
        path = self.folder / "shards" / f"{run}-{number:05d}-{_digest(content)}.parquet"
        write_whole(path, content)
        return path

    def quarantine(self, damage: Damage) -> Path:
        """Put a damaged shard aside; its settings count as missing from then on."""
        aside = damage.path.with_suffix(".damaged")
        damage.path.rename(aside)
        return aside

    # --- reading ----------------------------------------------------------------------------------

    def shards(self) -> list[Path]:
        """Every shard, in a fixed order."""
        return sorted((self.folder / "shards").glob("*.parquet"))

    def table(self, columns: list[str] | None = None) -> pa.Table:
        """All shards as one Arrow table; with damaged ones it is an error that says what to do."""
        import pyarrow as pa
        import pyarrow.parquet as pq

        tables = []
        for path in self.shards():
            try:
                tables.append(pq.ParquetFile(path).read(columns=columns))
            except (pa.ArrowException, OSError) as error:
                raise InvalidStore(
                    f"{path} cannot be read ({type(error).__name__}); run `dpbench store verify {self.folder}`"
                ) from None
        wanted = arrow_schema()
        if columns is not None:
            wanted = pa.schema([wanted.field(name) for name in columns])
        return pa.concat_tables([wanted.empty_table(), *tables], promote_options="permissive")

    def rows(self) -> list[Row]:
        """Every unit once: of two rows of one unit the one without a failure counts, then the first."""
        chosen: dict[tuple[Any, ...], Row] = {}
        for row in from_table(self.table()):
            known = chosen.get(row.identity)
            if known is None or (known.failure and not row.failure):
                chosen[row.identity] = row
        return list(chosen.values())

    def index(self) -> list[dict[str, Any]]:
        """What is there without the errors: setting, sample, sources, number of trials, failure."""
        import pyarrow.compute as pc

        table = self.table([*INDEX_COLUMNS, "l2"])
        counted = table.append_column("trials", pc.list_value_length(table["l2"])).drop_columns(["l2"])
        return counted.to_pylist()  # type: ignore[no-any-return]

    def runs(self) -> dict[str, dict[str, Any]]:
        """The record of every run."""
        return {path.stem: json.loads(path.read_text()) for path in sorted((self.folder / "runs").glob("*.json"))}

    def verify(self) -> list[Damage]:
        """Shards whose content is not what their name says."""
        return [
            Damage(path, "truncated or changed: its content does not match the hash in its name")
            for path in self.shards()
            if _digest(path.read_bytes()) != path.stem.rsplit("-", 1)[-1]
        ]


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


def _digest(content: bytes) -> str:
    return sha256(content).hexdigest()[:16]
