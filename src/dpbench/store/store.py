"""A folder of shards that only grows.

    STORE/
      store.json               schema version
      manifest.jsonl           every file below with its hash, in the order in which they came (see ``manifest.py``)
      writer.lock              who writes, while somebody does (see ``lock.py``)
      runs/ID.json             one record for each run: plan, seeds, machine, versions of algorithms
      shards/ID-N-HASH.parquet rows; the name holds the hash of the content, so damage shows
      answers/KEY-FIRST.npy    answers of every trial (trials, q), where they were asked for

A shard is written under a temporary name and renamed: it is there whole or not at all. Rows are recognised by
content, so a run that is killed at any moment loses nothing that a shard holds, and its repetition does only what is
missing. Results of a changed algorithm are another version beside the earlier ones; readings show one of them. Files
that the manifest does not list are foreign and are left alone, except those with the names of ours (see
``manifest.py``).
"""

from __future__ import annotations

import json
import os
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from io import BytesIO
from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dpbench.errors import InvalidStore
from dpbench.store import lock, manifest
from dpbench.store.conflicts import NEEDED as COMPARED
from dpbench.store.conflicts import conflicts
from dpbench.store.disk import read_regular, sync_folder, write_whole
from dpbench.store.loss_versions import choose_losses
from dpbench.store.manifest import Contents, Listed, hash_of
from dpbench.store.plain_arrays import list_lengths
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
from dpbench.store.shard import read_shard
from dpbench.store.verifying import Damage, damaged, known_shards, record_of, unlisted, verified
from dpbench.store.versions import NEEDED, Version, choose, overview, without

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray

__all__ = ["Damage", "Store", "answers_path", "write_whole"]

FOLDERS = ("runs", "shards")


class Store:
    """A folder of results; see the module's docstring."""

    def __init__(self, folder: str | os.PathLike[str], *, create: bool = False) -> None:
        self.folder = Path(folder)
        with _refusal(self.folder):
            self._check(create)

    def _check(self, create: bool) -> None:
        marker = self.folder / "store.json"
        if not marker.exists():
            strange = self.folder.exists() and not (self.folder.is_dir() and all(map(_begun, self.folder.iterdir())))
            if strange and not marker.exists():  # another run may have made the store between two looks
                raise InvalidStore(f"{self.folder} exists and is not a store; give an empty or a new folder")
            if not create:
                raise InvalidStore(f"there is no store at {self.folder}; make one with `dpbench run SUITE --store DIR`")
        if create:
            for name in FOLDERS:
                (self.folder / name).mkdir(parents=True, exist_ok=True)
            if not marker.exists():
                manifest.begin(self.folder)
                self._mark()
                sync_folder(self.folder.parent)
        try:
            marked = json.loads(read_regular(marker))
            version, self.has_manifest = marked["dpbench_store"], bool(marked.get("manifest"))
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            raise InvalidStore(f'{marker} is damaged; restore it as {{"dpbench_store": {SCHEMA_VERSION}}}') from None
        if version != SCHEMA_VERSION:
            raise InvalidStore(
                f"{self.folder} has schema {version} and this version reads {SCHEMA_VERSION}; "
                f"use the version that made it"
            )

    def _mark(self) -> None:
        """Say that this is a store, and that it has a manifest."""
        marker = {"dpbench_store": SCHEMA_VERSION, "manifest": True}
        write_whole(self.folder / "store.json", json.dumps(marker).encode())
        self.has_manifest = True

    # --- writing ----------------------------------------------------------------------------------

    @contextmanager
    def writing(self, part: tuple[int, int] = (1, 1)) -> Iterator[None]:
        """Be the store's one writer, or that of part I of K, until the end of the block; see ``lock.py``."""
        held = lock.writing(self.folder, part)
        with _refusal(self.folder):
            held.__enter__()
        try:
            yield
        finally:
            held.__exit__(None, None, None)

    def record_run(self, run: str, record: dict[str, Any]) -> None:
        """Keep the provenance of a run."""
        self._keep(json.dumps(record, indent=1, sort_keys=True).encode(), lambda _: f"runs/{run}.json")

    def append(self, rows: list[Row], run: str) -> Path:
        """Write rows as one more shard, whole or not at all."""
        content = _written(to_table(rows))
        beginning = hash_of(content)[:16]
        path = self._keep(content, lambda place: f"shards/{run}-{place:012d}-{beginning}.parquet", len(rows))
        if (self.folder / "answers").is_dir():
            self.list_answers(answers_path(self.folder, row.key, row.first_trial) for row in rows if not row.failure)
        return path

    def list_answers(self, paths: Iterable[Path]) -> None:
        """Let the manifest know of answers that were kept."""
        found = [Listed(f"answers/{path.name}", hash_of(read_regular(path))) for path in paths if path.exists()]
        if found:
            self._add([line for each in found for line in (each.line, {"kept": each.file})])

    def _keep(self, content: bytes, named: Callable[[int], str], rows: int = 0) -> Path:
        """Write a file, announced before and confirmed after; its name may hold the place of its first line."""
        self._begin_manifest()
        announced: list[Listed] = []

        def announcement(place: int) -> list[dict[str, Any]]:
            announced.append(Listed(named(place), hash_of(content), rows))
            return [announced[0].line]

        manifest.add(self.folder, announcement)
        path = self.folder / announced[0].file
        write_whole(path, content)
        manifest.add(self.folder, lambda _: [{"kept": announced[0].file}], sync=False)
        return path

    def _add(self, lines: list[dict[str, Any]]) -> None:
        self._begin_manifest()
        manifest.add(self.folder, lambda _: lines)

    def _begin_manifest(self) -> None:
        """A store from before manifests gets one."""
        manifest.begin(self.folder)
        if not self.has_manifest:
            self._mark()

    def _remove(self, path: Path, why: str) -> None:
        """Remove a file on purpose."""
        self._add([{"gone": path.relative_to(self.folder).as_posix(), "why": why}])
        path.unlink(missing_ok=True)

    def drop_version(self, version: str) -> list[Version]:
        """Remove all results of a version, shard by shard, each rewritten whole; what was removed.

        A shard is written without them before the one with them goes, so that nothing else can be lost in between.
        """
        import pyarrow.compute as pc

        with self.writing():
            dropped = [each for each in self.versions() if each.version == version]
            why = f"dropped version {version}"
            for listed in self._shards():
                table, path = read_shard(self.folder, listed), self.folder / listed.file
                gone = pc.equal(table["algorithm_source"], version)
                if not pc.any(gone).as_py():
                    continue
                kept = table.filter(pc.invert(gone))
                if kept.num_rows:
                    content = _written(kept)
                    name = f"shards/{path.stem.rsplit('-', 1)[0]}-{hash_of(content)[:16]}.parquet"
                    self._keep(content, lambda _, name=name: name, kept.num_rows)  # type: ignore[misc]
                self._remove(path, why)
                for key, first in {(row["key"], row["first_trial"]) for row in table.filter(gone).to_pylist()}:
                    answers = answers_path(self.folder, key, first)
                    if answers.exists():
                        self._remove(answers, why)
            for run, record in self.runs().items():
                if any(each["version"] == version for each in record.get("versions", ())):
                    self.record_run(run, without(record, version))
        return dropped

    def quarantine(self, damage: Damage) -> Path:
        """Put a damaged file aside; the settings of a shard count as missing from then on."""
        aside = damage.path.with_suffix(".damaged")
        if damage.path.exists():
            damage.path.rename(aside)
        if damage.path != self.folder / manifest.NAME:
            self._add([{"gone": damage.path.relative_to(self.folder).as_posix(), "why": damage.reason}])
        return aside

    def repair(self) -> list[Path]:
        """List again what the manifest has lost; a damaged one is put aside and made again. The files listed again."""
        with self.writing():
            for damage in self.damage():
                if damage.path == self.folder / manifest.NAME:
                    self.quarantine(damage)
            begun = (self.folder / manifest.NAME).exists()
            again = unlisted(self.folder) if begun else list(manifest.unlisted_contents(self.folder).values())
            self._begin_manifest()
            if begun and again:
                self._add([line for each in again for line in manifest.listing(self.folder, each)])
            return [self.folder / each.file for each in again]

    # --- reading ----------------------------------------------------------------------------------

    def contents(self) -> Contents:
        """Every file that the store should have; one of ours that the manifest has lost is an error."""
        with _refusal(self.folder):
            lost = unlisted(self.folder)
            found = manifest.read(self.folder)
        if lost:
            raise InvalidStore(
                f"{self.folder / lost[0].file} is not in the manifest, which was cut short, or a copy; run "
                f"`dpbench store repair {self.folder}`, or move it out of the store"
            )
        return manifest.unlisted_contents(self.folder) if found is None else found

    def _shards(self) -> list[Listed]:
        """Every shard, in a fixed order, without those whose writer ended before they had their names."""
        listed = [each for name, each in sorted(self.contents().items()) if name.startswith("shards/")]
        return [each for each in listed if each.kept or (self.folder / each.file).exists()]

    def shards(self) -> list[Path]:
        """Every shard, in a fixed order."""
        return [self.folder / each.file for each in self._shards()]

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

        shards = self._shards()
        with _refusal(self.folder):
            tables = [read_shard(self.folder, each, columns) for each in shards]
        wanted = arrow_schema()
        if columns is not None:
            wanted = pa.schema([wanted.field(name) for name in columns])
        table = pa.concat_tables([pa.Table.from_batches([], wanted), *tables], promote_options="permissive")
        if columns is None or set(COMPARED) <= set(columns):
            ends = list(accumulate(each.num_rows for each in tables))
            for conflict in conflicts(table, lambda row: shards[bisect_right(ends, row)].file):
                raise InvalidStore(f"{self.folder} has {conflict}; move the wrong one out of the store and run again")
        return table

    def rows(self, *, every_version: bool = False, versions: Sequence[str] = ()) -> list[Row]:
        """Every trial once; see :func:`each_trial_once` and :meth:`table`."""
        return each_trial_once(from_table(self.table(every_version=every_version, versions=versions)))

    def versions(self) -> list[Version]:
        """Every version of every algorithm that the store holds."""
        return overview(self.rows(every_version=True), self.runs())

    def index(self) -> list[dict[str, Any]]:
        """What is there without the errors: setting, sample, sources, number of trials, labels of losses, failure."""
        if not self._shards():
            return []
        table = self.table([*INDEX_COLUMNS, "l2", "other_losses"], every_version=True)
        labels = [[*LOSS_COLUMNS, *dict(others or ())] for others in table["other_losses"].to_pylist()]
        entries = table.drop_columns(["l2", "other_losses"]).to_pylist()
        return [
            {**entry, **{name: entry[name] or 0.0 for name in BUDGET}, "trials": trials, "losses": held}
            for entry, trials, held in zip(entries, list_lengths(table["l2"]).tolist(), labels, strict=True)
        ]

    def runs(self) -> dict[str, dict[str, Any]]:
        """The record of every run."""
        records = {}
        for name, listed in sorted(self.contents().items()):
            path = self.folder / name
            if not name.startswith("runs/") or not (listed.kept or path.exists()):
                continue
            with _refusal(self.folder):
                record = record_of(path, listed)
            if record is None:
                what = "damaged" if path.exists() else "missing"
                raise InvalidStore(f"{path} is {what}; run `dpbench store verify {self.folder}`")
            records[path.stem] = record
        return records

    def answers(self, row: Row) -> NDArray[np.float64] | None:
        """Answers of a row's trials, ``(trials, q)``; None where they were not kept."""
        import numpy as np

        path = answers_path(self.folder, row.key, row.first_trial)
        if not path.exists():
            return None
        with _refusal(self.folder):
            content = read_regular(path)
        listed = (manifest.read(self.folder) or {}).get(f"answers/{path.name}")
        try:
            if listed is None or listed.holds(content):
                found: NDArray[np.float64] = np.load(BytesIO(content), allow_pickle=False)
                return found
        except (ValueError, EOFError, OSError):
            pass
        raise InvalidStore(f"{path} is damaged; run `dpbench store verify {self.folder}`")

    def shards_and_strangers(self) -> tuple[list[Path], list[Path]]:
        """Every shard, as far as can be known, and other files of such names, which nothing reads."""
        shards = known_shards(self.folder, has_manifest=self.has_manifest)
        return shards, sorted(set((self.folder / "shards").glob("*.parquet")) - set(shards))

    def damage(self) -> list[Damage]:
        """Files that are gone or not what was written, and that a run replaces: shards, records, the manifest."""
        return damaged(self.folder, has_manifest=self.has_manifest)

    def verify(self) -> list[Damage]:
        """All that is wrong: :meth:`damage`, answers that are gone, shards of another kind, results that contradict."""
        return verified(self.folder, has_manifest=self.has_manifest)


def answers_path(folder: str | os.PathLike[str], key: str, first_trial: int) -> Path:
    """Where the answers of a row are kept."""
    return Path(folder) / "answers" / f"{key}-{first_trial}.npy"


@contextmanager
def _refusal(folder: Path) -> Iterator[None]:
    """One line for whatever the disk says against a store."""
    try:
        yield
    except OSError as error:
        reason = error.strerror or type(error).__name__
    except UnicodeEncodeError:
        reason = "no file name has such characters"
    else:
        return
    raise InvalidStore(f"{folder} cannot be used as a store: {reason}; give a folder that can be read and written")


def _begun(path: Path) -> bool:
    """Whether a file may stem from a store whose making was cut short."""
    return path.name in {*FOLDERS, manifest.NAME} or path.name.startswith((".store.json.", f".{manifest.NAME}."))


def _written(table: pa.Table) -> bytes:
    import pyarrow as pa
    import pyarrow.parquet as pq

    sink = pa.BufferOutputStream()
    pq.write_table(table, sink, compression="zstd")
    return sink.getvalue().to_pybytes()  # type: ignore[no-any-return]
