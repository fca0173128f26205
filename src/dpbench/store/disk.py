"""Files that are written whole or not at all, and are on the disk when that is said."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterable
from pathlib import Path

_UNSUPPORTED = {errno.EINVAL, errno.ENOTSUP, errno.EBADF}
"""What file systems answer that cannot push a folder to the disk."""


def write_whole(path: Path, content: bytes | Iterable[bytes]) -> None:
    """Write a file under a temporary name, push it to the disk, and give it its name; content may come in pieces."""
    temporary = path.parent / f".{path.name}.{os.getpid()}.part"
    try:
        with temporary.open("wb") as file:
            for piece in (content,) if isinstance(content, bytes) else content:
                file.write(piece)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
        sync_folder(path.parent)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def sync_folder(folder: Path) -> None:
    """Push the names in a folder to the disk: a new name is there after a power failure too."""
    if os.name == "nt":  # folders cannot be opened there
        return
    number = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(number)
    except OSError as error:
        if error.errno not in _UNSUPPORTED:
            raise
    finally:
        os.close(number)
