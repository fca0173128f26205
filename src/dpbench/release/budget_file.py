"""The budget file of a dataset: what may be spent in all, and every charge, written before anything is read.

The owner writes ``dataset`` and ``epsilon`` (and ``delta``, where releases have one); releases append ``[[charge]]``
tables. A charge is made under a lock, in a file that is written whole and pushed to the disk, and is never taken back:
a release that dies after it has spent it. The lock is on the budget file itself: a lock file beside it could be removed
while it is held. The file is bookkeeping, not enforcement: a copy, or an edited file,
is another budget.
"""

from __future__ import annotations

import os
import re
import sys
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from fractions import Fraction
from pathlib import Path
from stat import S_IMODE
from typing import Any

from dpbench.errors import DPBenchError, ReleaseFailed, ReleaseRefused, shown
from dpbench.store.disk import write_whole
from dpbench.tables.spec import read_fraction

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl

KEYS = {"dataset", "epsilon", "delta", "charge"}
CHARGE_KEYS = {"id", "when", "epsilon", "delta", "algorithm", "out"}
FIRST = "# Charges below are written by `dpbench release`, before it reads anything, and are never taken back."


@dataclass(frozen=True)
class Cost:
    """What a release costs, or what is left."""

    epsilon: Fraction
    delta: Fraction = Fraction(0)

    def __str__(self) -> str:
        return f"epsilon {self.epsilon}" + (f", delta {float(self.delta):g}" if self.delta else "")


@dataclass(frozen=True)
class Account:
    """A budget file as it was read."""

    dataset: str
    whole: Cost
    spent: Cost
    ids: tuple[str, ...]

    @property
    def left(self) -> Cost:
        """What may still be spent."""
        return Cost(self.whole.epsilon - self.spent.epsilon, self.whole.delta - self.spent.delta)


def charge(path: Path, dataset: str, cost: Cost, identity: str, algorithm: str, out: str) -> Cost:
    """Write a charge to the file, or refuse it; returns what is left. When this returns, the charge is on the disk.

    A link is followed first: written over, it would become a copy, and the file behind it would not know the charge.
    """
    path = path.resolve()
    with _locked(path):
        _remove_left_behind(path)
        text = _text(path)
        mode = _mode(path)
        account = affordable(path, dataset, cost, text)
        lines = ["", "[[charge]]", f'id = "{identity}"', f"when = {now().isoformat()}", f'epsilon = "{cost.epsilon}"']
        if cost.delta:
            lines.append(f'delta = "{cost.delta}"')
        lines += [f"algorithm = {_string(algorithm)}", f"out = {_string(out)}", ""]
        head = text if text.endswith("\n") else text + "\n"
        if not account.ids:
            head += f"\n{FIRST}\n"
        after = head + "\n".join(lines)
        left = Cost(account.left.epsilon - cost.epsilon, account.left.delta - cost.delta)
        _reads_back(path, after, left, (*account.ids, identity))
        try:
            write_whole(path, after.encode(), mode)
        except OSError as error:
            raise _not_written(path, text, error) from None
    return left


def _not_written(path: Path, before: str, error: OSError) -> DPBenchError:
    """What became of a charge whose writing failed: the file, still locked, says it."""
    reason = error.strerror or type(error).__name__
    try:
        found = _text(path)
    except ReleaseRefused:
        found = None
    if found == before:
        return ReleaseRefused(
            f"the budget file {path} cannot be written ({reason}); nothing was read and nothing charged"
        )
    if found is None:
        stands = "it cannot be read, so the charge may stand: look into it before the next release"
    else:
        stands = "the charge stands in it; make sure that it is on the disk before the next release"
    return ReleaseFailed(f"the budget file {path} was not written to its end ({reason}); {stands}; nothing was read")


def affordable(path: Path, dataset: str, cost: Cost, text: str | None = None) -> Account:
    """The account, if it is of this dataset and can pay."""
    account = read_account(path, _text(path) if text is None else text)
    if account.dataset != dataset:
        raise ReleaseRefused(
            f"{path} is the budget of {shown(account.dataset)}, and the spec is about {shown(dataset)}; "
            f"name the budget file of that dataset"
        )
    left = account.left
    if cost.epsilon > left.epsilon or cost.delta > left.delta:
        raise ReleaseRefused(
            f"the release costs {cost} and the budget of {shown(dataset)} has {left} left; nothing was read; "
            f"ask for less, or let the owner decide on more"
        )
    return account


def read_account(path: Path, text: str) -> Account:
    """What a budget file says; anything odd in it is damage, and is refused."""
    values: dict[str, Any] = {}
    try:
        values = tomllib.loads(text, parse_float=_number)
    except (ValueError, RecursionError):
        raise _damaged(path, "it is not valid TOML") from None
    if values.keys() - KEYS:
        raise _damaged(path, f"it has a key {shown(min(values.keys() - KEYS))}")
    dataset = values.get("dataset")
    if not isinstance(dataset, str):
        raise _damaged(path, "it names no dataset")
    charges = values.get("charge", [])
    if not isinstance(charges, list) or not all(isinstance(each, dict) for each in charges):
        raise _damaged(path, "its charges are no tables")
    epsilon, delta = Fraction(0), Fraction(0)
    for each in charges:
        if each.keys() - CHARGE_KEYS or not isinstance(each.get("id"), str):
            raise _damaged(path, "a charge has unknown keys, or no id")
        epsilon += _amount(path, each, "epsilon", required=True)
        delta += _amount(path, each, "delta", required=False)
    ids = tuple(each["id"] for each in charges)
    if len(set(ids)) != len(ids):
        raise _damaged(path, "two charges have one id")
    whole = Cost(_amount(path, values, "epsilon", required=True), _amount(path, values, "delta", required=False))
    account = Account(dataset, whole, Cost(epsilon, delta), ids)
    if account.left.epsilon < 0 or account.left.delta < 0:
        raise _damaged(path, "its charges are more than its budget")
    return account


def _reads_back(path: Path, text: str, left: Cost, ids: tuple[str, ...]) -> None:
    """Insist that the file with its new charge says so: a table cannot be appended to whatever is valid TOML."""
    try:
        account = read_account(path, text)
    except ReleaseRefused:
        account = None
    if account is None or (account.left, account.ids) != (left, ids):
        raise _damaged(path, "a charge cannot be appended to it; write its charges as [[charge]] tables")


def _mode(path: Path) -> int:
    """The permissions of the file, which it keeps; one that we may not write, or that has a second name, is refused."""
    try:
        found = path.stat()
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise ReleaseRefused(f"the budget file {path} has gone ({reason}); nothing was charged; restore it") from None
    if found.st_nlink > 1:
        raise ReleaseRefused(
            f"the budget file {path} has {found.st_nlink} names, of which a charge would reach one; nothing was "
            f"charged; remove the hard links"
        )
    if not os.access(path, os.W_OK):
        raise _not_yours(path)
    return S_IMODE(found.st_mode)


def _not_yours(path: Path) -> ReleaseRefused:
    return ReleaseRefused(f"the budget file {path} may not be written by you; nothing was charged; ask its owner")


def now() -> datetime:
    """The time that is written beside a charge."""
    return datetime.now(UTC).replace(microsecond=0)


def _amount(path: Path, values: dict[str, Any], key: str, *, required: bool) -> Fraction:
    if key not in values and not required:
        return Fraction(0)
    amount = read_fraction(values.get(key))
    if amount is None or amount < 0 or (required and amount == 0):
        raise _damaged(path, f'a value of {key} is no number above 0, such as "1/2"')
    return amount


def _number(text: str) -> Fraction:
    found = read_fraction(text)
    if found is None:
        raise ValueError(text)
    return found


def _damaged(path: Path, fault: str) -> ReleaseRefused:
    return ReleaseRefused(
        f"the budget file {path} is damaged: {fault}; nothing was read; restore it, for it says what was spent"
    )


def _text(path: Path) -> str:
    try:
        if path.exists() and not path.is_file():  # a pipe would keep us waiting
            raise ReleaseRefused(f"the budget file {path} is no file; nothing was read; name one")
        return path.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        raise ReleaseRefused(
            f'there is no budget file {path}; its owner writes one, with two lines: dataset = "NAME" and epsilon = "1"'
        ) from None
    except OSError as error:
        raise ReleaseRefused(f"the budget file {path} cannot be read ({error.strerror}); nothing was read") from None
    except UnicodeDecodeError:
        raise _damaged(path, "it is not UTF-8 text") from None


def _string(value: str) -> str:
    """A text as TOML writes it."""
    escaped = value.replace("\\", "\\\\").replace('"', '\\"')
    return '"' + re.sub(r"[\x00-\x1f\x7f]", "?", escaped) + '"'


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    """Be the only one who charges; a lock of the operating system, which ends with its process.

    A charge exchanges the file, so after a wait the lock may be on one that has lost its name: then the next one is
    locked. Windows exchanges no open file. There the lock is on a file beside it, which cannot be removed while open.
    """
    try:
        number = _lock(path)
    except PermissionError:
        raise _not_yours(path) from None
    except OSError as error:
        raise ReleaseRefused(
            f"the budget file {path} cannot be locked ({error.strerror}); nothing was charged; look whether it is there"
        ) from None
    try:
        yield
    finally:
        os.close(number)  # which is what gives the lock back


if sys.platform == "win32":

    def _lock(path: Path) -> int:
        number = os.open(path.with_name(f"{path.name}.lock"), os.O_RDWR | os.O_CREAT, 0o644)
        try:
            msvcrt.locking(number, msvcrt.LK_LOCK, 1)
        except OSError:
            os.close(number)
            raise
        return number

else:

    def _lock(path: Path) -> int:
        """A descriptor that holds the lock on the file of this name."""
        while True:
            number = os.open(path, os.O_RDWR | os.O_NONBLOCK | os.O_CLOEXEC)
            try:
                fcntl.flock(number, fcntl.LOCK_EX)
                if os.path.samestat(os.fstat(number), path.stat()):
                    return number
            except BaseException:
                os.close(number)
                raise
            os.close(number)


def _remove_left_behind(path: Path) -> None:
    """Remove what killed charges have begun to write; a live one would hold the lock."""
    wanted = re.compile(re.escape(f".{path.name}.") + r"[0-9]+\.part")  # and none of a file whose name begins alike
    for left in path.parent.iterdir():
        if wanted.fullmatch(left.name):
            with suppress(OSError):
                left.unlink()
