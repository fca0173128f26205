"""What comes back from the forked processes of an audit: plain data, or nothing."""

import json
import os
import pickle
import stat
import struct
import sys
from contextlib import suppress
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

import dpbench as dpb
from dpbench.audit import worlds
from dpbench.audit.cases import Cases
from dpbench.audit.contents import contents
from dpbench.audit.examinations import Examination, examine
from dpbench.audit.fresh import fresh, load_what_it_loads
from dpbench.audit.plain_data import NotPlain, packed, unpacked
from dpbench.audit.worlds import Finding, Looked, Runner, record
from dpbench.errors import CheckFailed
from dpbench.run.executors import contained

VALUES = [
    None,
    True,
    -0.0,
    float("inf"),
    2**200,
    "a \udcff b",
    b"\0\xff",
    Fraction(-1, 3),
    1 + 2j,
    np.float32(0.1),
    np.bool_(False),
    np.str_("é"),
    [1, (2, [3]), {4}, frozenset({5}), {}],
    {"a": 1, ("b", 2): [None], 3: {"c": b""}},
    np.zeros((0, 3)),
    np.arange(6, dtype=">i4").reshape(2, 3),
    np.array([[True], [False]]),
    np.array([Fraction(1, 3), 2**70], dtype=object),
    (np.array(1.5), np.array(["x", "yz"])),
    Looked(Finding(3, "words", "differs"), compared=2, share=0.5),
]


class Bomb:
    """Writes a file where it is unpickled."""

    def __reduce__(self):
        return (exec, ("open('bomb', 'w').close()",))


@pytest.mark.parametrize("value", VALUES, ids=repr)
def test_plain_data_come_back_as_they_were(value):
    """Kinds of numbers, their last bits and the order of bytes included."""
    kinds = (Looked, Finding)
    again = unpacked(packed(value, kinds), kinds)
    assert type(again) is type(value)
    assert contents(again) == contents(value)


def test_seeds_come_back_as_they_were():
    """Wherever they were spawned."""
    seed = np.random.SeedSequence([7, 8]).spawn(3)[2]
    seed.spawn(2)
    again = unpacked(packed(seed))
    assert again.generate_state(4).tolist() == seed.generate_state(4).tolist()
    assert again.spawn(1)[0].spawn_key == seed.spawn(1)[0].spawn_key


class Number(float):
    pass


@pytest.mark.parametrize(
    "value",
    [Bomb(), object(), len, Number(1), np.zeros(2).view(np.recarray), np.array([Bomb()]), Finding(1, "", ""), [[Bomb]]],
    ids=range(8),
)
def test_anything_else_is_not_written(value):
    """Such as things that say that they are numbers."""
    with pytest.raises(NotPlain):
        packed(value)


def framed(tree, behind=b""):
    text = json.dumps(tree).encode()
    return struct.pack("!Q", len(text)) + text + behind


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\xff" * 8,
        pickle.dumps(Bomb()),
        framed(["array", "|O", [1]], b"12345678"),
        framed(["array", "<f8", [2]], b"12345678"),
        framed(["array", "<f8", [-1]], b"12345678"),
        framed(["array", "<f8,<f8", [1]], b"0" * 16),
        framed(["objects", [10**12], []]),
        framed(["bytes", 2**60]),
        framed(["bytes", -8], b"12345678"),
        framed(["kind", "Bomb", []]),
        framed(["Fraction", 1, 0]),
        framed(["import", "os"]),
        framed([["list"], []]),
        framed({"a": 1}),
        framed(1, b"more"),
        struct.pack("!Q", 100_000) + b"[" * 100_000,
    ],
    ids=range(17),
)
def test_what_is_no_plain_data_is_refused(content):
    """Whatever a process sends."""
    with pytest.raises(NotPlain):
        unpacked(content, (Looked, Finding))


def pipes():
    """Numbers of open pipes."""
    found = set()
    for number in range(3, 256):
        with suppress(OSError):
            if stat.S_ISFIFO(os.fstat(number).st_mode):
                found.add(number)
    return found


def send(content, before):
    """Into every pipe that this process has from its parent's last steps, and end it."""
    for number in pipes() - before:
        os.write(number, content)
    os._exit(0)


@pytest.mark.parametrize(
    "content", [pickle.dumps((True, Bomb())), packed((True, 1)) * 2, packed(3), b"x"], ids=range(4)
)
def test_nothing_that_a_process_sends_runs_here(content, tmp_path, monkeypatch):
    """A pickle above all, in the place of what it was asked for."""
    monkeypatch.chdir(tmp_path)
    before = pipes()
    with pytest.raises(CheckFailed, match="it sent something else"):
        fresh(lambda: send(content, before), 10.0)
    assert not Path("bomb").exists()


def test_what_a_process_returns_is_never_pickled(tmp_path, monkeypatch):
    """Nor is it made plain by methods of its own."""
    monkeypatch.chdir(tmp_path)
    with pytest.raises(CheckFailed, match="it holds a Bomb"):
        fresh(Bomb, 10.0)


def test_a_process_names_no_file_to_be_imported_here(tmp_path, monkeypatch):
    """Only what is installed is loaded ahead: a plug-in's own code could change the package, which then looks whole."""
    monkeypatch.syspath_prepend(str(tmp_path))
    (tmp_path / "mine_beside.py").write_text("loaded = True\n")
    for name in ("mine_beside", "colorsys"):
        sys.modules.pop(name, None)

    def work():
        import colorsys  # noqa: F401

        import mine_beside  # noqa: F401

    load_what_it_loads(work, 10.0)
    assert "colorsys" in sys.modules
    assert "mine_beside" not in sys.modules


def test_a_truth_that_cannot_be_replayed_is_said(monkeypatch):
    """What an answer costs would be seen by nobody."""
    identity = dpb.algorithms.get("Identity")
    (case, *_) = Cases(identity, ("pure",), 0).batch(0)
    assert record(Runner(identity), [case])
    monkeypatch.setattr(worlds, "_is_plain", lambda value: isinstance(value, tuple))
    with pytest.raises(CheckFailed, match="for its truth, which cannot be replayed; let truth"):
        record(Runner(identity), [case])


STALLS = """
import os, stat, time
for number in range(3, 64):
    try:
        if stat.S_ISSOCK(os.fstat(number).st_mode):
            os.write(number, b"\\0\\0\\1\\0begun")
    except OSError:
        pass
time.sleep(5)
os._exit(7)
"""


def test_a_check_does_not_wait_for_the_end_of_half_a_message(tmp_path, monkeypatch):
    """A plug-in that begins one in the place of the audit is no longer heard."""
    monkeypatch.setattr(contained, "WHOLE", 0.5)
    (tmp_path / "mine.py").write_text(STALLS)
    ((_, report),) = examine([Examination(f"{tmp_path / 'mine.py'}:Mine")], jobs=1, timeout=60.0)
    assert "sent something that is no report" in report.failures[0].cause
