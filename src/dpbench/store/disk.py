"""Files that are written whole or not at all, and are on the disk when that is said."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterable
from pathlib import Path

from dpbench.errors import InvalidStore

_UNSUPPORTED = {errno.EINVAL, errno.ENOTSUP, errno.EBADF}
"""What file systems answer that cannot push a folder to the disk."""


class NotRegular(InvalidStore):
    """Something that is no file where a file should be: to read it may take for ever."""


def open_regular(path: Path, flags: int) -> int:
    """The number of a file, opened without waiting; a FIFO, a device or whatever else has its name is refused."""
    refused = NotRegular(f"{path} is no regular file; remove it, and run `dpbench store verify` on the store")
    try:
        number = os.open(path, flags | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0), 0o644)
    except OSError as error:
        if error.errno == errno.ELOOP:  # links in a circle
            raise refused from error
        raise
    if not stat.S_ISREG(os.fstat(number).st_mode):
        os.close(number)
        raise refused
    return number


def read_regular(path: Path) -> bytes:
    """The content of a file that is one."""
    with os.fdopen(open_regular(path, os.O_RDONLY | getattr(os, "O_BINARY", 0)), "rb") as file:
        return file.read()


def write_whole(path: Path, content: bytes | Iterable[bytes], mode: int | None = None) -> None:
    """Write a file under a temporary name, push it to the disk, and give it its name; content may come in pieces.

    It has its permissions before it has its name. An error can also come after that: then the file is the new one, and
    its name may be lost in a power failure.
    """
    temporary = path.parent / f".{path.name}.{os.getpid()}.part"
    try:
        temporary.unlink(missing_ok=True)  # of a process that was killed, or something else that would be waited for
        with temporary.open("xb") as file:
            for piece in (content,) if isinstance(content, bytes) else content:
                file.write(piece)
            file.flush()
            if mode is not None:
                temporary.chmod(mode)
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
