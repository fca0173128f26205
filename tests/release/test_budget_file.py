"""The budget file under faults: its lock, and what is said of a charge whose writing failed."""

import os
import subprocess
import sys
import threading
import tomllib
from fractions import Fraction
from pathlib import Path

import pytest

from dpbench.errors import DPBenchError, ReleaseFailed, ReleaseRefused
from dpbench.release import budget_file
from dpbench.release.budget_file import Cost, charge

posix = pytest.mark.skipif(os.name == "nt", reason="locks, permissions and names are those of POSIX")

IMPATIENT = """
import fcntl, sys
from fractions import Fraction
from pathlib import Path
from dpbench.release.budget_file import Cost, charge

lock = fcntl.flock
fcntl.flock = lambda number, how: lock(number, how | fcntl.LOCK_NB)
charge(Path(sys.argv[1]), "people", Cost(Fraction(1)), "second", "Hb", "out")
"""
"""Another process that charges 1, and gives up where it would have to wait."""
GREEDY = """
import sys
from fractions import Fraction
from pathlib import Path
from dpbench.errors import ReleaseRefused
from dpbench.release.budget_file import Cost, charge

try:
    for number in range(100):
        charge(Path(sys.argv[1]), "people", Cost(Fraction(1)), f"{sys.argv[2]}-{number}", "Hb", "out")
        print(f"{sys.argv[2]}-{number}", flush=True)
except ReleaseRefused as error:
    assert "has epsilon 0 left" in str(error), error
"""
"""Another process that charges 1 as often as it can."""


def budget_of(folder, epsilon):
    path = folder / "people.budget.toml"
    path.write_text(f'dataset = "people"\nepsilon = "{epsilon}"\n')
    return path


def ids(path):
    return [each["id"] for each in tomllib.loads(path.read_text()).get("charge", [])]


def remove_locks(folder):
    for each in folder.glob("*.lock"):
        each.unlink(missing_ok=True)


@posix
def test_nothing_that_can_be_removed_holds_the_lock(tmp_path, monkeypatch):
    """While one charge is being written every lock file is removed, and another process tries to charge too."""
    path, ends = budget_of(tmp_path, 1), []
    write = budget_file.write_whole

    def writes(*given):
        remove_locks(tmp_path)
        other = subprocess.run(
            [sys.executable, "-c", IMPATIENT, str(path)], capture_output=True, text=True, check=False
        )
        ends.append(other.stderr)
        write(*given)

    monkeypatch.setattr(budget_file, "write_whole", writes)
    charge(path, "people", Cost(Fraction(1)), "first", "Hb", "out")
    assert "cannot be locked (Resource temporarily unavailable); nothing was charged" in ends[0]
    assert ids(path) == ["first"]


@posix
def test_no_charge_is_lost_while_lock_files_are_removed(tmp_path):
    """Four processes share a budget for 12 charges: each charge that was reported is in the file, and no other."""
    path, done = budget_of(tmp_path, 12), threading.Event()

    def removes():
        while not done.is_set():
            remove_locks(tmp_path)

    remover = threading.Thread(target=removes)
    remover.start()
    words = [sys.executable, "-c", GREEDY, str(path)]
    running = [subprocess.Popen([*words, name], stdout=subprocess.PIPE, text=True) for name in "abcd"]
    said = [process.communicate()[0].split() for process in running]
    done.set()
    remover.join()
    assert [process.returncode for process in running] == [0] * 4
    assert sorted(each for one in said for each in one) == sorted(ids(path))
    assert len(ids(path)) == 12


class _Full(OSError):
    def __init__(self):
        super().__init__(28, "No space left on device")


def failing(monkeypatch, owner, name, *, at=1, after=False):
    """The given call of a function fails, before or after it has done its work."""
    works, calls = getattr(owner, name), iter(range(1, 100))

    def fails(*given, **named):
        number = next(calls)
        if number == at and not after:
            raise _Full
        found = works(*given, **named)
        if number == at:
            raise _Full
        return found

    monkeypatch.setattr(owner, name, fails)


FAULTS = [
    (Path, "open", 2, False),  # the first one reads
    (os, "fsync", 1, False),
    (os, "fsync", 1, True),
    (os, "fsync", 2, False),
    (os, "fsync", 2, True),
    (Path, "chmod", 1, False),
    (Path, "chmod", 1, True),
    (Path, "replace", 1, False),
    (Path, "replace", 1, True),
]


@posix
@pytest.mark.parametrize(("owner", "name", "at", "after"), FAULTS)
def test_nothing_was_charged_is_said_where_the_file_is_unchanged(owner, name, at, after, tmp_path, monkeypatch):
    """Each step of the writing fails, before or after its work; the words are those of the file on the disk."""
    path = budget_of(tmp_path, 1)
    before = path.read_bytes()
    with monkeypatch.context() as patch:
        failing(patch, owner, name, at=at, after=after)
        with pytest.raises(DPBenchError, match="No space left on device") as caught:
            charge(path, "people", Cost(Fraction(1)), "first", "Hb", "out")
    unchanged = path.read_bytes() == before
    assert ("nothing charged" in str(caught.value)) == unchanged
    assert isinstance(caught.value, ReleaseRefused if unchanged else ReleaseFailed)
    assert ("the charge stands" in str(caught.value)) == (not unchanged)
    assert ids(path) == [] if unchanged else ["first"]
    assert not list(tmp_path.glob("*.part"))


@posix
def test_a_charge_that_cannot_be_read_back_may_stand(tmp_path, monkeypatch):
    """Written, not pushed to the disk, and then not to be read: no claim in either direction."""
    path, text = budget_of(tmp_path, 1), budget_file._text
    asked = iter(range(100))

    def reads(path):
        if next(asked):
            raise ReleaseRefused("the disk is gone")
        return text(path)

    monkeypatch.setattr(budget_file, "_text", reads)
    failing(monkeypatch, os, "fsync", at=2)
    with pytest.raises(ReleaseFailed, match="it cannot be read, so the charge may stand"):
        charge(path, "people", Cost(Fraction(1)), "first", "Hb", "out")


@posix
def test_a_charge_has_its_permissions_before_it_has_its_name(tmp_path, monkeypatch):
    """At no time is a charged file open to fewer, or to more, than the file before."""
    path, seen = budget_of(tmp_path, 1), []
    path.chmod(0o660)
    replace = Path.replace

    def replaces(self, target):
        seen.append(self.stat().st_mode & 0o777)
        return replace(self, target)

    monkeypatch.setattr(Path, "replace", replaces)
    charge(path, "people", Cost(Fraction(1)), "first", "Hb", "out")
    assert seen == [0o660]


def test_what_a_killed_charge_began_to_write_is_removed_by_the_next(tmp_path):
    """Under the lock, so by no live one; other files beside it stay."""
    path = budget_of(tmp_path, 1)
    (tmp_path / f".{path.name}.4711.part").write_text("half")
    (tmp_path / ".other.toml.4711.part").write_text("half")
    (tmp_path / f".{path.name}.more.4711.part").write_text("half of a budget whose name begins alike")
    charge(path, "people", Cost(Fraction(1)), "first", "Hb", "out")
    assert sorted(each.name for each in tmp_path.iterdir() if each.suffix != ".lock") == [
        ".other.toml.4711.part",
        f".{path.name}.more.4711.part",
        path.name,
    ]
