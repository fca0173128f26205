"""The header of a CSV file, and no byte of the rows behind it.

A table that does not fit is refused by its header before anything is charged, so this look must not depend on rows: not
on their values, not on their number, not on whether they can be read. The file is read byte by byte to the end of its
first line; a decompressor is given no more than it needs for that line.
"""

from __future__ import annotations

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


def csv_names(file: Path) -> tuple[list[str], bool]:
    """The names in the first line as Arrow has them, each byte of the file a character (Latin-1).

    And whether the line has an end: where it has none there are no rows, and nothing for Arrow to read.
    """
    import pyarrow as pa
    from pyarrow import csv

    line = first_line(file)
    if line[:2] in (b"\xff\xfe", b"\xfe\xff") or b"\0" in line:
        raise InvalidTable(f"{file} is UTF-16 text, or no CSV file; save it as UTF-8 text, with commas")
    names = None
    with suppress(pa.ArrowException):
        parse = csv.ParseOptions(newlines_in_values=True, ignore_empty_lines=False)
        options = csv.ReadOptions(block_size=2 * LONGEST, encoding="latin-1")
        names = list(csv.open_csv(pa.BufferReader(line.rstrip(b"\r\n") + b"\n"), options, parse).schema.names)
    if names is None:
        raise InvalidTable(f"{file} is no CSV file with a header; correct it")
    return names, line.endswith((b"\r", b"\n"))


def separator(names: Sequence[str]) -> str:
    """What a header of a single name seems to be separated by; empty where it is nothing of the kind."""
    return next((words for sign, words in SEPARATORS.items() if len(names) == 1 and sign in names[0]), "")


def first_line(file: Path) -> bytes:
    """The bytes up to the first end of a line outside quotes, and the first byte of that."""
    line = None
    with suppress(Exception), file.open("rb", buffering=0) as opened:  # whatever a disk or a decompressor says
        line = _up_to_its_end(_decompressed(opened, file))
    if line is None:
        raise InvalidTable(f"the header of {file} cannot be read; look whether the file is damaged, or may not be read")
    if not line.rstrip(b"\r\n"):
        raise InvalidTable(f"{file} is no CSV file with a header: its first line is empty; write the names of columns")
    if len(line) > LONGEST:
        raise InvalidTable(
            f"{file} has no header that ends within {LONGEST:,} bytes; close its quotes, or give a file with rows"
        )
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
    """The first line, one byte after the other; more than a header may have where it does not end.

    Quotes are those of Arrow's reader: they open at the start of a cell alone, and a doubled one is one of the text.
    """
    line, place = bytearray(), "start"
    while len(line) <= LONGEST and (byte := bytes(stream.read(1))):
        if place == "quoted":
            place = "closed" if byte == b'"' else "quoted"
        elif byte in (b"\n", b"\r"):
            return bytes(line + byte)
        elif byte == b",":
            place = "start"
        elif byte == b'"' and place in ("start", "closed"):
            place = "quoted"
        else:
            place = "inside"
        line += byte
    return bytes(line)
