from __future__ import annotations

import os
import socket
import subprocess
import sys
import threading
from base64 import b64decode
from contextlib import suppress
from types import MappingProxyType

import numpy as np
import pytest

from dpbench import datasets
from dpbench.datasets import catalogue
from dpbench.errors import CorruptData, DatasetUnavailable, InvalidInput
from dpbench.progress import FetchProgress


def leftovers(folder):
    return [file for file in folder.rglob("*") if file.is_file()]


def one_line(caught):
    text = str(caught.value)
    assert "\n" not in text
    return text


def test_good_file_arrives(nowhere, server, first):
    """A file from a mirror on the web lands in the cache under its final name, and loads."""
    server.offer(first)
    (file,) = datasets.pull([first.dataset], mirror=server.address, progress=False)
    assert file == nowhere / first.dataset.file
    assert leftovers(nowhere) == [file]
    assert np.array_equal(datasets.load(first.dataset), first.counts)


def test_all_of_the_catalogue_from_the_source(nowhere, server, monkeypatch, first, second):
    """Without names and mirror, the whole catalogue comes from the authors' address."""
    server.offer(first)
    server.offer(second)
    entries = {made.dataset.name: made.dataset for made in (first, second)}
    monkeypatch.setattr(catalogue, "DATASETS", MappingProxyType(entries))
    monkeypatch.setattr(catalogue, "SOURCE", server.address + "/")
    datasets.pull(progress=False)
    assert [status for _, status in datasets.verify()] == ["ok", "ok"]


def test_files_go_where_they_are_looked_for(nowhere, server, monkeypatch, tmp_path, first):
    """With DPBENCH_DATA set, files go to its folder, which is made if it does not exist."""
    monkeypatch.setenv("DPBENCH_DATA", str(tmp_path / "room"))
    server.offer(first)
    assert datasets.pull([first.dataset], server.address, progress=False) == [tmp_path / "room/1D/first.npy"]


def test_what_is_present_is_not_asked_for(server, tmp_path, first):
    """A good file is left alone, and no request is made."""
    file = first.put(tmp_path, flat=True)
    assert datasets.pull([first.dataset], server.address, tmp_path, progress=False) == [file]
    assert server.asked == []


def test_only_what_is_missing_or_corrupt_is_fetched(server, make, tmp_path, first, second):
    """Of three files, the good one stays and the missing and the corrupt ones are fetched."""
    third = make("THIRD", np.arange(3))
    first.put(tmp_path)
    second.put(tmp_path, b"half a fi")
    for made in (first, second, third):
        server.offer(made)
    asked = [first.dataset, second.dataset, third.dataset]
    got = datasets.pull(asked, server.address, tmp_path, progress=False)
    assert got == [tmp_path / dataset.file for dataset in asked]
    assert server.asked == ["/2D/second.npy", "/1D/third.npy"]
    assert {status for _, status in datasets.verify(asked, tmp_path)} == {"ok"}


def test_wrong_bytes_are_not_kept(server, tmp_path, first):
    """A file with another checksum is refused and leaves nothing behind."""
    server.offer(first, first.content[:-1] + b"?")
    with pytest.raises(CorruptData, match="checksum differs"):
        datasets.pull([first.dataset], server.address, tmp_path, progress=False)
    assert leftovers(tmp_path) == []


@pytest.mark.parametrize("more", [1, 1_000_000])
def test_endless_file_is_not_followed(server, tmp_path, second, more):
    """A download stops as soon as it is longer than the published file."""
    server.offer(second, second.content + bytes(more))
    with pytest.raises(CorruptData, match="longer than the histogram"):
        datasets.pull([second.dataset], server.address, tmp_path, progress=False)
    assert leftovers(tmp_path) == []


@pytest.mark.parametrize("announced", ["abc", "-5", "", "1e3"])
def test_length_that_is_no_number_is_ignored(server, tmp_path, first, second, announced):
    """The checksum decides: good bytes are kept, others are refused in one line."""
    server.offer(first, announced=announced)
    assert datasets.pull([first.dataset], server.address, tmp_path, progress=False) == [tmp_path / "1D/first.npy"]
    server.offer(second, second.content[:-1], announced=announced)
    with pytest.raises(CorruptData) as caught:
        datasets.pull([second.dataset], server.address, tmp_path, progress=False)
    assert "checksum differs" in one_line(caught)


def test_password_is_sent_and_not_shown(server, tmp_path, first):
    """A user name and password of a mirror's address reach the server, and no message."""
    address = server.address.replace("http://", "http://user:se%20cret@")
    with pytest.raises(DatasetUnavailable) as caught:
        datasets.pull([first.dataset], address, tmp_path, progress=False)
    assert "cret" not in one_line(caught)
    assert b64decode(server.authorized[0].removeprefix("Basic ")) == b"user:se cret"


def test_broken_download_keeps_what_was_there(server, tmp_path, first):
    """A connection that closes half-way is reported in one line, and the older file stays."""
    old = first.put(tmp_path, b"older")
    server.offer(first, breaks_off=True)
    with pytest.raises(DatasetUnavailable) as caught:
        datasets.pull([first.dataset], server.address, tmp_path, progress=False)
    assert "the connection broke off" in one_line(caught)
    assert leftovers(tmp_path) == [old]
    assert old.read_bytes() == b"older"


def test_absent_at_the_server_is_said(server, tmp_path, first):
    """A file that the server does not have is told with the address and the answer."""
    with pytest.raises(DatasetUnavailable) as caught:
        datasets.pull([first.dataset], server.address, tmp_path, progress=False)
    text = one_line(caught)
    assert f"{server.address}/1D/first.npy" in text
    assert "404" in text
    assert leftovers(tmp_path) == []


def test_offline_tells_the_ways_out(monkeypatch, tmp_path, first):
    """With nothing listening, one line names the mirror option and the variable."""
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    with socket.socket() as reserved:
        reserved.bind(("127.0.0.1", 0))
        address = f"http://user:secret@127.0.0.1:{reserved.getsockname()[1]}"
        with pytest.raises(DatasetUnavailable) as caught:
            datasets.pull([first.dataset], address, tmp_path, progress=False)
    text = one_line(caught)
    assert "no connection" in text
    assert "--mirror FOLDER_OR_URL" in text
    assert "DPBENCH_DATA" in text
    assert "secret" not in text


def test_silent_server_is_given_up(monkeypatch, tmp_path, first):
    """A server that accepts and then says nothing is given up after a time."""
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setattr("dpbench.datasets.fetch.SILENCE_SECONDS", 0.2)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = f"http://127.0.0.1:{silent.getsockname()[1]}"
        with pytest.raises(DatasetUnavailable, match="no answer in time"):
            datasets.pull([first.dataset], address, tmp_path, progress=False)


@pytest.mark.parametrize("sent", [b"", b"HTTP/1.0 200 OK\r\n\r\n"])
def test_server_that_trickles_is_given_up(monkeypatch, tmp_path, first, sent):
    """A byte every moment keeps no connection open beyond the time for a file, in the headers or in the content."""
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setattr("dpbench.datasets.fetch.FILE_SECONDS", 0.3)

    def trickle():
        connection, _ = listener.accept()
        with connection, suppress(OSError):
            connection.sendall(sent or b"HTTP/1.0 200 OK\r\nX: ")
            while not over.wait(0.02):
                connection.sendall(b"a")

    over = threading.Event()
    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=trickle)
        thread.start()
        address = f"http://127.0.0.1:{listener.getsockname()[1]}"
        with pytest.raises(DatasetUnavailable) as caught:
            datasets.pull([first.dataset], address, tmp_path, progress=False)
        over.set()
        thread.join()
    assert "not here after 0.3 seconds" in one_line(caught)
    assert leftovers(tmp_path) == []


def test_server_that_speaks_something_else_is_said(monkeypatch, tmp_path, first):
    """What is no HTTP is reported in one line."""
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")

    def greet():
        connection, _ = listener.accept()
        with connection:
            connection.recv(1)
            connection.sendall(b"220 mail.example.org ESMTP\r\n")

    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=greet)
        thread.start()
        address = f"http://127.0.0.1:{listener.getsockname()[1]}"
        with pytest.raises(DatasetUnavailable, match="does not speak HTTP"):
            datasets.pull([first.dataset], address, tmp_path, progress=False)
        thread.join()


def test_interrupt_leaves_nothing(server, monkeypatch, tmp_path, first):
    """Ctrl-C in the middle of a download removes what had arrived."""
    seen = []

    def interrupt(self, dataset, share):
        seen.append((share, [file.suffix for file in leftovers(tmp_path)]))
        raise KeyboardInterrupt

    server.offer(first)
    monkeypatch.setattr(FetchProgress, "tick", interrupt)
    with pytest.raises(KeyboardInterrupt):
        datasets.pull([first.dataset], server.address, tmp_path, progress=False)
    ((share, suffixes),) = seen
    assert 0 < share < 1
    assert suffixes == [".part"]
    assert leftovers(tmp_path) == []


@pytest.mark.parametrize("flat", [False, True])
def test_mirror_may_be_a_folder(tmp_path, first, flat):
    """A folder serves as a mirror, laid out as the source is or flat."""
    first.put(tmp_path / "stick", flat=flat)
    (file,) = datasets.pull([first.dataset], tmp_path / "stick", tmp_path / "room", progress=False)
    assert file == tmp_path / "room/1D/first.npy"
    assert file.read_bytes() == first.content


def test_mirror_folder_is_not_trusted(tmp_path, first):
    """A wrong file in a mirror's folder is refused as one from the web is."""
    first.put(tmp_path / "stick", b"wrong")
    with pytest.raises(CorruptData):
        datasets.pull([first.dataset], tmp_path / "stick", tmp_path / "room", progress=False)
    assert leftovers(tmp_path / "room") == []


def test_a_huge_file_is_read_up_to_the_published_length(tmp_path, first):
    """40 GB without content in a mirror, or in the place of a histogram, take no memory and no time."""
    for folder in ("stick", "room"):
        file = first.put(tmp_path / folder, b"")
        os.truncate(file, 40 * 10**9)
    assert [status for _, status in datasets.verify([first.dataset], tmp_path / "room")] == ["corrupt"]
    with pytest.raises(CorruptData, match="longer than the histogram"):
        datasets.pull([first.dataset], tmp_path / "stick", tmp_path / "room", progress=False)
    with pytest.raises(CorruptData, match="checksum differs"):
        datasets.load(first.dataset, tmp_path / "room")


def test_mirror_that_lacks_the_file_is_said(tmp_path, first):
    """A mirror's folder without the file is told."""
    (tmp_path / "stick").mkdir()
    with pytest.raises(DatasetUnavailable, match=r"has no 1D/first\.npy"):
        datasets.pull([first.dataset], tmp_path / "stick", tmp_path / "room", progress=False)


def test_mirror_that_is_nothing_is_refused(tmp_path, first):
    """A mirror that is neither a folder nor http is refused before anything is made."""
    with pytest.raises(DatasetUnavailable, match="is not a folder"):
        datasets.pull([first.dataset], tmp_path / "gone", tmp_path / "room", progress=False)
    with pytest.raises(InvalidInput, match="give a folder, http"):
        datasets.pull([first.dataset], "ftp://example.org/data", tmp_path / "room", progress=False)
    assert leftovers(tmp_path) == []


def test_folder_that_cannot_be_written_is_said(tmp_path, server, first):
    """A file where a folder is needed is reported in one line."""
    (tmp_path / "room").write_text("in the way")
    server.offer(first)
    with pytest.raises(DatasetUnavailable, match=r"cannot write .* choose another --folder"):
        datasets.pull([first.dataset], server.address, tmp_path / "room", progress=False)


def test_same_file_twice_is_fetched_once(server, tmp_path, first):
    """A name given twice is fetched once and returned twice."""
    server.offer(first)
    got = datasets.pull([first.dataset, first.dataset], server.address, tmp_path, progress=False)
    assert len(got) == 2
    assert len(server.asked) == 1


def test_lines_without_a_terminal(tmp_path, capsys, first):
    """Where stderr is no terminal, each file gives one line there and nothing on stdout."""
    first.put(tmp_path / "stick")
    datasets.pull([first.dataset], tmp_path / "stick", tmp_path / "room")
    shown = capsys.readouterr()
    assert shown.out == ""
    assert shown.err == f"fetched FIRST ({len(first.content)} bytes), 1 of 1\n"


def test_silence_if_asked_or_idle(tmp_path, capsys, first):
    """Nothing is shown with progress off, nor when nothing is fetched."""
    first.put(tmp_path / "stick")
    datasets.pull([first.dataset], tmp_path / "stick", tmp_path / "room", progress=False)
    datasets.pull([first.dataset], tmp_path / "stick", tmp_path / "room")
    assert capsys.readouterr() == ("", "")


@pytest.mark.skipif(sys.platform == "win32", reason="needs a pseudo-terminal")
def test_bar_on_a_terminal(tmp_path, first):
    """On a terminal, stderr gets a bar that counts the files, and stdout nothing."""
    import pty

    first.put(tmp_path / "stick")
    code = (
        "import sys; from dpbench.datasets import Dataset, pull;"
        "pull([Dataset('FIRST', '1D/first.npy', sys.argv[3], 48128, (6000,), 0, 0.0, '', '')], *sys.argv[1:3])"
    )
    ours, theirs = pty.openpty()
    try:
        command = [sys.executable, "-c", code, tmp_path / "stick", tmp_path / "room", first.dataset.sha256]
        terminal = {**os.environ, "TERM": "xterm", "COLUMNS": "80"}
        streams = {"stdout": subprocess.PIPE, "stderr": theirs}
        done = subprocess.run(command, **streams, timeout=60, check=True, env=terminal)
        shown = os.read(ours, 100_000).decode()
    finally:
        os.close(ours)
        os.close(theirs)
    assert done.stdout == b""
    assert "FIRST" in shown
    assert "1/1" in shown
