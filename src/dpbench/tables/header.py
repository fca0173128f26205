"""The header of a CSV file, and no byte of the rows behind it.

A table that does not fit is refused by its header before anything is charged, so this look must not depend on rows: not
on their values, not on their number, not on whether they can be read. The file is read byte by byte to the end of its
first line; a decompressor is given no more than it needs for that line. All formats but gzip are unpacked block by
block, so the rows beside the header are unpacked with it, and damage to them shows.
"""

from __future__ import annotations

import csv
from collections.abc import Sequence
from contextlib import suppress
from io import RawIOBase
from pathlib import Path
from typing import Any

from dpbench.errors import InvalidTable

CODECS = {".gz": "gzip", ".bz2": "bz2", ".zst": "zstd", ".lz4": "lz4"}
"""By the ending of a file, as Arrow reads it: in small letters."""
DRIP = 64
"""Bytes that a decompressor is given at a time."""
LONGEST = 2**20
"""Bytes of a header."""
SEPARATORS = {";": "semicolons", "\t": "tabs", "|": "bars"}
"""What stands in place of commas elsewhere."""


def csv_names(file: Path) -> list[str]:
    """The names in the first line as people read it: UTF-8, without the mark that some programs put first."""
    line = first_line(file)
    if line[:2] in (b"\xff\xfe", b"\xfe\xff") or b"\0" in line:
        raise InvalidTable(f"{file} is UTF-16 text, or no CSV file; save it as UTF-8 text, with commas")
    names = list[str]()
    with suppress(csv.Error, StopIteration):
        written = line.decode("utf-8-sig", "replace").rstrip("\r\n")
        names = [name.strip() for name in next(csv.reader([written], strict=True))]
    if not names:
        raise InvalidTable(f"{file} is no CSV file with a header; correct it")
    return names


def separator(names: Sequence[str]) -> str:
    """What a header of a single name seems to be separated by; empty where it is nothing of the kind."""
    return next((words for sign, words in SEPARATORS.items() if len(names) == 1 and sign in names[0]), "")


def first_line(file: Path) -> bytes:
    """The bytes up to the first LF, where a record ends whatever quotes say; a CR alone ends none, and is refused."""
    line = None
    with suppress(Exception), file.open("rb", buffering=0) as opened:  # whatever a disk or a decompressor says
        line = _up_to_its_end(_decompressed(opened, file))
    if line is None:
        raise InvalidTable(f"the header of {file} cannot be read; look whether the file is damaged, or may not be read")
    if line in (b"", b"\n", b"\r\n"):
        raise InvalidTable(f"{file} is no CSV file with a header: its first line is empty; write the names of columns")
    if b"\r" in line.removesuffix(b"\r\n"):
        raise InvalidTable(f"{file} has a line that ends with CR alone; save it with LF or CR LF")
    if len(line) > LONGEST:
        raise InvalidTable(f"{file} has no header that ends within {LONGEST:,} bytes; give a file with rows")
    return line


def _decompressed(opened: Any, file: Path) -> Any:
    """What ``read(1)`` gives the bytes of a file one by one."""
    codec = CODECS.get(file.suffix)
    if codec is None:
        return opened
    import pyarrow as pa

    return pa.CompressedInputStream(pa.PythonFile(_Drips(opened), mode="r"), codec)


class _Drips(RawIOBase):
    """A file of which a reader gets a few bytes, however many it asks for."""

    def __init__(self, opened: Any) -> None:
        self._opened = opened

    def readable(self) -> bool:
        """Nothing else."""
        return True

    def read(self, size: int = -1) -> bytes:
        """The next few bytes."""
        del size
        return bytes(self._opened.read(DRIP))


def _up_to_its_end(stream: Any) -> bytes:
    """The first line, one byte after the other; more than a header may have where it does not end."""
    line = bytearray()
    while len(line) <= LONGEST and not line.endswith(b"\n") and (byte := bytes(stream.read(1))):
        line += byte
        if line[-2:-1] == b"\r":  # a LF, or a CR alone
            break
    return bytes(line)
