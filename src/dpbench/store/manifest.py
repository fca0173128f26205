"""What a store is made of: every shard, record and file of answers with its hash, so that one that is gone is missed.

``STORE/manifest.jsonl`` only grows, a line at a time:

    {"file": "shards/NAME.parquet", "sha256": "...", "rows": 12}   before the file gets its name
    {"kept": "shards/NAME.parquet"}                                once it has it
    {"gone": "shards/NAME.parquet", "why": "..."}                  when it is removed on purpose

The first line is on the disk before the file is. So what stands in the folders and not here is foreign and is not read,
unless its name says that it is ours: then the manifest was cut short, or the file is a copy, and nothing is read until
``dpbench store repair``. A file that was announced and is not there was lost only if a second line says that it had
been; otherwise its writer ended in between. A last line without its end is such a writer's too. Of several lines for
one file the last counts. Stores from before manifests have none, and get one when something is added to them.
"""

from __future__ import annotations

import json
import os
import re
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from typing import Any

from dpbench.errors import InvalidStore
from dpbench.store.disk import open_regular, read_regular, sync_folder
from dpbench.store.lock import lock_holder

if sys.platform != "win32":
    import fcntl

NAME = "manifest.jsonl"
SHARD = re.compile(r".+-[0-9a-f]{16}\.parquet")
"""Names that shards have; the last part is the beginning of the hash."""
FILE = re.compile(r"(shards|runs|answers)/\w[!-.0-~ ]{0,250}", re.ASCII)
"""Files that a manifest lists."""
_HASH = re.compile(r"([0-9a-f]{16}|[0-9a-f]{64})?")
WAIT = 30.0
"""Seconds that a writer waits for others who add lines."""
PAUSE = 0.01
"""Seconds between two attempts."""
_GATE = threading.Lock()


@dataclass(frozen=True)
class Listed:
    """A file of a store as its manifest has it."""

    file: str
    """Path within the store, with slashes."""
    sha256: str
    """Hash of the content, or its beginning; empty where it is not known."""
    rows: int = 0
    kept: bool = False
    """Whether it is known to have been there."""
    former: str | None = None
    """Hash of what it replaces; None where it is new."""

    def holds(self, content: bytes) -> bool:
        """Whether this is the content; until it is kept, what it replaces may still be there."""
        known = [self.sha256] if self.kept or self.former is None else [self.sha256, self.former]
        return any(hash_of(content).startswith(each) for each in known)

    @property
    def line(self) -> dict[str, Any]:
        """The line that announces it."""
        return {"file": self.file, "sha256": self.sha256} | ({"rows": self.rows} if self.rows else {})


Contents = dict[str, Listed]


def hash_of(content: bytes) -> str:
    """What identifies content."""
    return sha256(content).hexdigest()


def read(folder: Path) -> Contents | None:
    """Every file that a store should have; None where there is no manifest."""
    found = read_with_removed(folder)
    return None if found is None else found[0]


def read_with_removed(folder: Path) -> tuple[Contents, frozenset[str]] | None:
    """The same, and the files that were removed on purpose."""
    try:
        content = read_regular(folder / NAME)
    except FileNotFoundError:
        return None
    found, removed, damaged = _parsed(content)
    if damaged:
        raise InvalidStore(f"line {damaged} of {folder / NAME} is damaged; run `dpbench store verify {folder}`")
    return dict(found), removed


@lru_cache(maxsize=1)
def _parsed(content: bytes) -> tuple[Contents, frozenset[str], int]:
    """What a manifest says, and the number of its first damaged line, or 0."""
    found: Contents = {}
    removed: set[str] = set()
    for number, line in enumerate(content.split(b"\n")[:-1], 1):
        try:
            _apply(json.loads(line), found, removed)
        except (ValueError, KeyError, TypeError, RecursionError):
            return {}, frozenset(), number
    return found, frozenset(removed), 0


def _apply(line: dict[str, Any], found: Contents, removed: set[str]) -> None:
    """Let one line count."""
    if "file" in line:
        name, known, rows = line["file"], line["sha256"], line.get("rows", 0)
        if not FILE.fullmatch(name) or not _HASH.fullmatch(known) or type(rows) is not int or rows < 0:
            raise ValueError
        former = found[name].sha256 if name in found else None
        found[name] = Listed(name, known, rows, former=former)
        removed.discard(name)
    elif "kept" in line:
        found[line["kept"]] = replace(found[line["kept"]], kept=True)
    else:
        found.pop(line["gone"], None)
        removed.add(line["gone"])


def add(folder: Path, make: Callable[[int], list[dict[str, Any]]], *, sync: bool = True) -> None:
    """Add the lines that ``make`` gives for a place in the file, which no other line of the store has."""
    path = folder / NAME
    with _GATE:
        number = open_regular(path, os.O_RDWR)
        try:
            _lock(number, path)  # given back when it is closed
            place = _whole_lines(number)
            lines = make(place)
            os.lseek(number, place, os.SEEK_SET)
            _write_all(number, "".join(json.dumps(line) + "\n" for line in lines).encode(), place)
            if sync:
                os.fsync(number)
        finally:
            os.close(number)


def _lock(number: int, path: Path) -> None:
    """Lock the manifest. A part of the same study holds it for milliseconds, so the wait for another is bounded."""
    deadline, held = time.monotonic() + WAIT, sys.platform == "win32"  # there the writer's lock has to do
    while sys.platform != "win32" and not held:
        try:
            fcntl.flock(number, fcntl.LOCK_EX | fcntl.LOCK_NB)
            held = True
        except BlockingIOError:
            if time.monotonic() >= deadline:
                raise InvalidStore(
                    f"{path} has been locked for {WAIT:g} s by {lock_holder(number)}, perhaps an algorithm that was "
                    f"run; end that process and run the same command: what is stored is kept"
                ) from None
            time.sleep(PAUSE)


def _write_all(number: int, content: bytes, place: int) -> None:
    """Write all of it or, where the disk is full, none."""
    try:
        while content:
            content = content[os.write(number, content) :]
    except OSError:
        os.ftruncate(number, place)
        raise


def _whole_lines(number: int) -> int:
    """Cut off what a writer that was killed has left of a line; where the next one goes."""
    end = os.lseek(number, 0, os.SEEK_END)
    back = end
    while back > 0:
        first = max(back - 4096, 0)
        os.lseek(number, first, os.SEEK_SET)
        cut = os.read(number, back - first).rfind(b"\n")
        if cut >= 0:
            back = first + cut + 1
            break
        back = first
    if back < end:
        os.ftruncate(number, back)
    return back


def begin(folder: Path) -> None:
    """Make a manifest of what a store has, if it has none; whoever comes first makes it."""
    path = folder / NAME
    if path.exists():
        return
    lines = [line for listed in unlisted_contents(folder).values() for line in listing(folder, listed)]
    temporary = path.with_name(f".{NAME}.{os.getpid()}.{threading.get_ident()}.part")
    try:
        temporary.unlink(missing_ok=True)
        with temporary.open("xb") as file:
            file.write("".join(json.dumps(line) + "\n" for line in lines).encode())
            file.flush()
            os.fsync(file.fileno())
        try:
            os.link(temporary, path)
        except FileExistsError:
            return
        except OSError:  # a file system without links: the writer's lock has to do
            temporary.replace(path)
        sync_folder(folder)
    finally:
        temporary.unlink(missing_ok=True)


def listing(folder: Path, listed: Listed) -> list[dict[str, Any]]:
    """The lines for a file that is there; what is not known of its content is from now on as it is."""
    known = listed if listed.sha256 else replace(listed, sha256=hash_of(read_regular(folder / listed.file)))
    return [known.line, {"kept": known.file}]


def unlisted_contents(folder: Path) -> Contents:
    """What a store without a manifest has: shards by the hash in their names, records and answers as they are."""
    shards = [path for path in (folder / "shards").glob("*.parquet") if SHARD.fullmatch(path.name)]
    hashes = {path: path.stem.rsplit("-", 1)[-1] for path in shards}
    hashes |= dict.fromkeys((folder / "runs").glob("*.json"), "")
    hashes |= dict.fromkeys((folder / "answers").glob("*.npy"), "")
    names = {path.relative_to(folder).as_posix(): known for path, known in hashes.items()}
    return {name: Listed(name, names[name], kept=True) for name in sorted(names)}
