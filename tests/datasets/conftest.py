from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from hashlib import sha256
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from io import BytesIO
from pathlib import Path

import numpy as np
import pytest

from dpbench.datasets import Dataset, path, verify


@pytest.fixture
def histograms() -> Path:
    """The folder with the real histograms."""
    if not os.environ.get("DPBENCH_DATA") or any(status == "missing" for _, status in verify()):
        pytest.skip("the 27 histograms are absent: set DPBENCH_DATA to a folder that has them")
    return path()


@pytest.fixture
def nowhere(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A machine without histograms; what is returned is its cache folder, which does not exist yet."""
    monkeypatch.delenv("DPBENCH_DATA", raising=False)
    monkeypatch.setattr("platformdirs.user_cache_path", lambda project: tmp_path / "cache" / project)
    return tmp_path / "cache" / "dpbench"


@dataclass(frozen=True)
class Made:
    """A small histogram that exists only in a test."""

    dataset: Dataset
    content: bytes
    counts: np.ndarray

    def put(self, folder: Path, content: bytes | None = None, *, flat: bool = False) -> Path:
        file = folder / (Path(self.dataset.file).name if flat else self.dataset.file)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(self.content if content is None else content)
        return file


def _make(name: str, array: np.ndarray, *, shape: tuple[int, ...] | None = None) -> Made:
    buffer = BytesIO()
    np.save(buffer, array, allow_pickle=True)
    content = buffer.getvalue()
    dataset = Dataset(
        name=name,
        file=f"{array.ndim}D/{name.lower()}.npy",
        sha256=sha256(content).hexdigest(),
        bytes=len(content),
        shape=array.shape if shape is None else shape,
        scale=0,
        percent_zero=0.0,
        about="made up",
        origin="a test",
    )
    return Made(dataset, content, array)


@pytest.fixture
def make() -> Callable[..., Made]:
    return _make


@pytest.fixture
def first() -> Made:
    return _make("FIRST", np.arange(6000))


@pytest.fixture
def second() -> Made:
    return _make("SECOND", np.arange(12.0).reshape(3, 4))


@dataclass
class Server:
    """A server on this machine: what it sends per path, and what was asked of it."""

    address: str
    files: dict[str, bytes] = field(default_factory=dict)
    broken: set[str] = field(default_factory=set)
    announced: dict[str, str] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)
    authorized: list[str | None] = field(default_factory=list)

    def offer(
        self, made: Made, content: bytes | None = None, *, breaks_off: bool = False, announced: str | None = None
    ) -> None:
        """Serve a file, announced at its length or as said; one that breaks off is sent by half."""
        path = "/" + made.dataset.file
        self.files[path] = made.content if content is None else content
        if announced is not None:
            self.announced[path] = announced
        if breaks_off:
            self.broken.add(path)


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setenv("no_proxy", "127.0.0.1")

    class Handler(BaseHTTPRequestHandler):
        timeout = 5

        def do_GET(self) -> None:
            state.asked.append(self.path)
            state.authorized.append(self.headers["Authorization"])
            content = state.files.get(self.path)
            self.send_response(404 if content is None else 200)
            self.send_header("Content-Length", state.announced.get(self.path, str(len(content or b""))))
            self.end_headers()
            if content is not None:
                self.wfile.write(content[: len(content) // 2] if self.path in state.broken else content)

        def log_message(self, *arguments: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as listener:
        state = Server(f"http://127.0.0.1:{listener.server_port}")
        thread = threading.Thread(target=listener.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        yield state
        listener.shutdown()
        thread.join(timeout=5)
