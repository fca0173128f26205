"""The folder of a release: made before the charge, and given its name when everything in it is on the disk."""

from __future__ import annotations

import os
import re
import secrets
import shutil
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

from dpbench.errors import DPBenchError, ReleaseRefused
from dpbench.store.disk import sync_folder

if sys.platform != "win32":
    import fcntl

MOST = 10_000
"""Releases of one name."""


@contextmanager
def unfinished(out: Path) -> Iterator[Path]:
    """A new folder beside the output, which shows before the charge that one can be written; removed if it stays there.

    It is locked as long as the process lives. One that is not was left behind by a release that was killed, and the
    next release with the same output removes it. Windows locks no folders, and keeps them.
    """
    folder, held = out.with_name(f".{out.name}.{secrets.token_hex(6)}.unfinished"), None
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        _remove_left_behind(out)
        folder.mkdir()
        held = _held(folder)
        (folder / "written").write_bytes(b"")
        (folder / "written").unlink()
    except OSError as error:
        shutil.rmtree(folder, ignore_errors=True)
        _give_back(held)
        raise ReleaseRefused(
            f"the folder {out} cannot be written ({error.strerror}); nothing was charged; choose another"
        ) from None
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)  # it is not there under this name if it was named
        _give_back(held)


def _remove_left_behind(out: Path) -> None:
    """Remove what no living process holds; what cannot be locked may be held."""
    wanted = re.compile(re.escape(f".{out.name}.") + r"[0-9a-f]{12}\.unfinished")
    for each in out.parent.iterdir():
        if wanted.fullmatch(each.name):
            with suppress(OSError):
                held = _held(each)
                if held is not None:
                    shutil.rmtree(each, ignore_errors=True)
                    _give_back(held)


def _held(folder: Path) -> int | None:
    """A descriptor with the lock on a folder; None where there are no such locks. Refused where another has it."""
    if sys.platform == "win32":
        return None
    number = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        fcntl.flock(number, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        os.close(number)
        if isinstance(error, BlockingIOError):
            raise
        return None  # a file system that locks no folders
    return number


def _give_back(held: int | None) -> None:
    if held is not None:
        os.close(held)


def put(files: Mapping[str, bytes], staging: Path, out: Path) -> Path:
    """Write every file, push it to the disk, and give the folder its name: OUT, or OUT-2, ... where that is taken."""
    for name, content in files.items():
        with (staging / name).open("wb") as stream:
            stream.write(content)
            stream.flush()
            os.fsync(stream.fileno())
    sync_folder(staging)
    for number in range(1, MOST):
        folder = out if number == 1 else out.with_name(f"{out.name}-{number}")
        try:
            staging.rename(folder)
        except OSError:
            if not os.path.lexists(folder):  # it is not the name that is taken
                raise
        else:
            return folder
    raise DPBenchError("no name is left for the output")
