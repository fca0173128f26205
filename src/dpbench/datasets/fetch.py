"""Fetching the histograms from the authors' public files, or from a mirror.

A file gets its final name only after its checksum has been found right, by one rename in the same
folder. An interrupted, truncated or wrong download therefore leaves what was there before.
"""

from __future__ import annotations

import os
import re
import secrets
from collections.abc import Iterable
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import BinaryIO
from urllib.parse import urlsplit

from dpbench.datasets import catalogue, files
from dpbench.datasets.catalogue import Dataset
from dpbench.datasets.progress import Display, display_for
from dpbench.errors import CorruptData, DatasetUnavailable, InvalidInput

CONNECT_SECONDS = 10
"""How long a server may take to accept a connection."""
SILENCE_SECONDS = 30
"""How long a server may send nothing."""

_ELSEWHERE = f"try `dpbench data pull --mirror FOLDER_OR_URL`, or set {files.VARIABLE} to a folder that has the files"


def pull(
    names: Iterable[str | Dataset] | None = None,
    mirror: str | os.PathLike[str] | None = None,
    folder: files.Folder | None = None,
    progress: bool = True,
) -> list[Path]:
    """Fetch the histograms that are missing or corrupt, all of them unless named; say where they are.

    ``mirror`` is a folder or an http(s) address laid out as the source is; ``folder`` is where they go,
    otherwise :func:`dpbench.datasets.path`. With ``progress`` a terminal sees a bar on stderr, anything
    else one line per file.
    """
    wanted = list(catalogue.DATASETS.values() if names is None else map(catalogue.get, names))
    source = _source(mirror)
    target = files.path() if folder is None else Path(folder).expanduser()
    places: dict[str, Path] = {}
    for dataset in wanted:
        found = files.locate(dataset, folder)
        if found is not None and files.status(dataset, folder) == "ok":
            places[dataset.file] = found
    needed = {dataset.file: dataset for dataset in wanted if dataset.file not in places}
    with display_for(list(needed.values()), progress=progress) as display:
        for dataset in needed.values():
            places[dataset.file] = _fetch(dataset, source, target, display)
    return [places[dataset.file] for dataset in wanted]


def _source(mirror: str | os.PathLike[str] | None) -> str | Path:
    """Where to fetch from: an address that ends in '/', or a folder."""
    if mirror is None:
        return catalogue.SOURCE
    text = os.fspath(mirror)
    scheme = re.match(r"([A-Za-z][A-Za-z0-9+.-]+)://", text)
    if scheme is None:
        place = Path(text).expanduser()
        if not place.is_dir():
            raise DatasetUnavailable(
                f"the mirror {text!r} is not a folder; give a folder that has 1D/ and 2D/, or a URL"
            )
        return place
    if scheme[1].lower() not in ("http", "https") or not urlsplit(text).netloc:
        raise InvalidInput(f"the mirror {_public(text)!r} cannot be used; give a folder, http://... or https://...")
    return text.rstrip("/") + "/"


def _fetch(dataset: Dataset, source: str | Path, folder: Path, display: Display) -> Path:
    """Bring one file to its place below ``folder``, or leave everything as it was."""
    final = folder / dataset.file
    partial = final.with_name(f".{final.name}.{secrets.token_hex(4)}.part")
    try:
        final.parent.mkdir(parents=True, exist_ok=True)
        with partial.open("wb") as stream:
            sink = _Sink(dataset, stream, display)
            if isinstance(source, Path):
                _copy(dataset, source, sink)
            else:
                _download(dataset, source, sink)
        sink.finish(_public(str(source)))
        partial.replace(final)
    except OSError as reason:
        raise DatasetUnavailable(
            f"cannot write {final} ({reason.strerror}); make room, or choose another --folder"
        ) from reason
    finally:
        with suppress(OSError):
            partial.unlink(missing_ok=True)
    display.done(dataset, sink.size)
    return final


class _Sink:
    """A file that is being written, its checksum so far, and a limit to its length."""

    def __init__(self, dataset: Dataset, stream: BinaryIO, display: Display) -> None:
        self.dataset, self.stream, self.display = dataset, stream, display
        self.size, self.expected = 0, 8 * dataset.domain.size
        self.checksum = sha256()

    def write(self, chunk: bytes) -> int:
        """Take some bytes; a server that never stops is not followed."""
        self.size += len(chunk)
        if self.size > self.expected + 65536:  # the longest header that a .npy file usually has
            raise CorruptData(f"what was sent as {self.dataset.name} is longer than the histogram; {_ELSEWHERE}")
        self.checksum.update(chunk)
        self.display.tick(self.dataset, min(1.0, self.size / self.expected))
        return self.stream.write(chunk)

    def flush(self) -> None:
        """Do nothing: the file is flushed when it is closed."""

    def finish(self, source: str) -> None:
        """Refuse anything but the published bytes."""
        if self.checksum.hexdigest() != self.dataset.sha256:
            raise CorruptData(
                f"{source} sent other bytes than the published {self.dataset.name} (checksum differs); "
                f"nothing was kept; {_ELSEWHERE}"
            )


def _copy(dataset: Dataset, mirror: Path, sink: _Sink) -> None:
    found = files.locate(dataset, mirror)
    if found is None:
        raise DatasetUnavailable(f"the mirror {mirror} has no {dataset.file}; {_ELSEWHERE}")
    sink.write(files.content(found))


def _download(dataset: Dataset, source: str, sink: _Sink) -> None:
    import pooch
    import requests

    fetch = pooch.HTTPDownloader(timeout=(CONNECT_SECONDS, SILENCE_SECONDS), chunk_size=16384)
    address = source + dataset.file
    try:
        fetch(address, sink, None)
    except requests.exceptions.HTTPError as reason:
        answer = reason.response.status_code if reason.response is not None else "an error"
        why = f"the server answered {answer}"
    except requests.exceptions.Timeout:
        why = "no answer in time"
    except requests.exceptions.ChunkedEncodingError:
        why = "the connection broke off"
    except requests.exceptions.ConnectionError:
        why = "no connection"
    except requests.exceptions.RequestException as reason:
        why = type(reason).__name__
    else:
        return
    raise DatasetUnavailable(f"could not fetch {_public(address)} ({why}); {_ELSEWHERE}")


def _public(address: str) -> str:
    """Leave out a user name and password."""
    return re.sub(r"(?<=://)[^/@]*@", "", address)
