"""Fetching the histograms from the authors' public files, or from a mirror.

A file gets its final name only after its checksum has been found right, by one rename in the same
folder. An interrupted, truncated or wrong download therefore leaves what was there before. Whatever a
server does, a file is here after ``FILE_SECONDS`` or the reason is reported in one line.
"""

from __future__ import annotations

import os
import re
import secrets
import time
from base64 import b64encode
from collections.abc import Iterable, Iterator
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from queue import Empty, SimpleQueue
from threading import Event, Thread
from typing import TYPE_CHECKING, BinaryIO
from urllib.parse import unquote, urlsplit

from dpbench.datasets import catalogue, files
from dpbench.datasets.catalogue import Dataset
from dpbench.errors import CorruptData, DatasetUnavailable, InvalidInput, shown
from dpbench.given import as_path, of_kind
from dpbench.progress import FetchProgress

if TYPE_CHECKING:
    from urllib.request import Request

SILENCE_SECONDS = 20
"""How long a server may send nothing, or take to accept a connection."""
FILE_SECONDS = 300
"""How long a file may take in all."""

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
    wanted = catalogue.several(names)
    source = _source(mirror)
    target = files.path() if folder is None else as_path(folder, "the folder")
    places: dict[str, Path] = {}
    for dataset in wanted:
        found = files.locate(dataset, folder)
        if found is not None and files.status(dataset, folder) == "ok":
            places[dataset.file] = found
    needed = {dataset.file: dataset for dataset in wanted if dataset.file not in places}
    with FetchProgress(len(needed), quiet=not of_kind(progress, bool, "progress", "False")) as display:
        for dataset in needed.values():
            places[dataset.file] = _fetch(dataset, source, target, display)
    return [places[dataset.file] for dataset in wanted]


def _source(mirror: str | os.PathLike[str] | None) -> str | Path:
    """Where to fetch from: an address that ends in '/', or a folder."""
    if mirror is None:
        return catalogue.SOURCE
    text = str(mirror if isinstance(mirror, str) else as_path(mirror, "the mirror"))
    scheme = re.match(r"([A-Za-z][A-Za-z0-9+.-]+)://", text)
    if scheme is None:
        folder = as_path(text, "the mirror")
        if not folder.is_dir():
            raise DatasetUnavailable(
                f"the mirror {shown(text)} is not a folder; give a folder that has 1D/ and 2D/, or a URL"
            )
        return folder
    if scheme[1].lower() not in ("http", "https") or not urlsplit(text).netloc:
        raise InvalidInput(f"the mirror {_public(text)!r} cannot be used; give a folder, http://... or https://...")
    return text.rstrip("/") + "/"


def _fetch(dataset: Dataset, source: str | Path, folder: Path, display: FetchProgress) -> Path:
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
            f"cannot write {final} ({reason.strerror}); free some space, or choose another --folder"
        ) from reason
    finally:
        with suppress(OSError):
            partial.unlink(missing_ok=True)
    display.done(dataset.name, sink.size)
    return final


class _Sink:
    """A file that is being written, and its checksum so far; it takes no more than the published length."""

    def __init__(self, dataset: Dataset, stream: BinaryIO, display: FetchProgress) -> None:
        self.dataset, self.stream, self.display = dataset, stream, display
        self.size, self.checksum = 0, sha256()

    def write(self, chunk: bytes) -> None:
        """Take some bytes; a server that never stops is not followed."""
        self.size += len(chunk)
        if self.size > self.dataset.bytes:
            raise CorruptData(f"what was sent as {self.dataset.name} is longer than the histogram; {_ELSEWHERE}")
        self.checksum.update(chunk)
        self.display.tick(self.dataset.name, self.size / self.dataset.bytes)
        self.stream.write(chunk)

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
    sink.write(files.content(found, dataset.bytes))


def _download(dataset: Dataset, source: str, sink: _Sink) -> None:
    for chunk in _received(source + dataset.file):
        sink.write(chunk)


def _received(address: str) -> Iterator[bytes]:
    """What a server sends, piece by piece.

    Another thread listens, because no timeout of a socket bounds the whole of a conversation: a name that is looked up,
    headers and content that come a byte at a time.
    """
    arrived: SimpleQueue[bytes | str] = SimpleQueue()
    gone = Event()
    Thread(target=_listen, args=(address, arrived, gone), daemon=True).start()
    end = time.monotonic() + FILE_SECONDS
    try:
        while True:
            try:
                piece = arrived.get(timeout=max(0.0, end - time.monotonic()))
            except Empty:
                piece = f"not here after {FILE_SECONDS:g} seconds"
            if isinstance(piece, str):
                break
            yield piece
    finally:
        gone.set()
    if piece:
        raise DatasetUnavailable(f"could not fetch {_public(address)} ({piece}); {_ELSEWHERE}")


def _listen(address: str, arrived: SimpleQueue[bytes | str], gone: Event) -> None:
    """Put what a server sends into a queue, and last why it ended, in words: "" where all is well."""
    from urllib.request import urlopen

    try:
        with urlopen(_request(address), timeout=SILENCE_SECONDS) as answer:  # noqa: S310  (http or https: _source)
            while not gone.is_set() and (chunk := answer.read1(2**14)):
                arrived.put(chunk)
            arrived.put("the connection broke off" if answer.length else "")
    except Exception as reason:  # whatever it is, the other thread has to hear of it
        arrived.put(_in_words(reason))


def _request(address: str) -> Request:
    """A user name and password go into a header, for this server alone."""
    from urllib.request import Request

    parts = urlsplit(address)
    user, at, host = parts.netloc.rpartition("@")
    request = Request(parts._replace(netloc=host).geturl(), headers={"User-Agent": "dpbench"})  # noqa: S310
    if at:
        request.add_unredirected_header("Authorization", f"Basic {b64encode(unquote(user).encode()).decode()}")
    return request


def _in_words(reason: Exception) -> str:
    """Why a download failed."""
    from http.client import HTTPException, IncompleteRead, InvalidURL
    from ssl import SSLCertVerificationError
    from urllib.error import HTTPError, URLError

    if isinstance(reason, HTTPError):
        return f"the server answered {reason.code}"
    cause = reason.reason if isinstance(reason, URLError) else reason
    words: dict[type[Exception], str] = {  # the first that fits
        TimeoutError: "no answer in time",
        SSLCertVerificationError: "the server's certificate cannot be verified",
        URLError: "no connection",
        IncompleteRead: "the connection broke off",
        OSError: "the connection broke off",
        InvalidURL: "it is no valid address",
        HTTPException: "the server does not speak HTTP",
    }
    fitting = (text for kind, text in words.items() if isinstance(cause, kind) or isinstance(reason, kind))
    return next(fitting, type(reason).__name__)


def _public(address: str) -> str:
    """Leave out a user name and password."""
    return re.sub(r"(?<=://)[^/@]*@", "", address)
