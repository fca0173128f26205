"""Progress on stderr: a bar on a terminal, plain lines elsewhere, nothing when quiet."""

from __future__ import annotations

import sys
import time
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Protocol, Self

if TYPE_CHECKING:
    from rich.progress import Progress as Bar

    from dpbench.store import Row

EVERY = 10.0
"""Seconds between plain lines of a run."""
OFTEN = 0.5
"""Seconds between two estimates of the time left, where there is a bar."""


class Estimate(Protocol):
    """Something that says how long a run still takes; see ``run/costs.py``."""

    def start(self, now: float) -> None:
        """Note that the run begins."""
        ...

    def add(self, row: Row, now: float) -> None:
        """Note that a unit is done."""
        ...

    def seconds(self, now: float) -> float | None:
        """Seconds that are left; None as long as that is not known."""
        ...


class Progress:
    """How far something has come that takes a while; what it counts is the business of those below."""

    _alike = True
    """Whether the time left follows from how many are done."""

    def __init__(self, total: int, *, quiet: bool) -> None:
        self._total = total
        self._quiet = quiet or not total
        self._bar: Bar | None = None

    def __enter__(self) -> Self:
        if not self._quiet and sys.stderr.isatty():
            from rich.console import Console
            from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

            name, words = TextColumn("{task.description:<12}"), TextColumn("{task.fields[words]}")
            columns = (name, BarColumn(), MofNCompleteColumn(), words, *[TimeRemainingColumn()] * self._alike)
            self._bar = Progress(*columns, console=Console(stderr=True))
            self._bar.add_task("", total=self._total, words="")
            self._bar.start()
        return self

    def __exit__(self, *exception: object) -> None:
        if self._bar is not None:
            self._bar.stop()

    def _move(self, done: float, name: str, words: str = "") -> None:
        """Move the bar, where there is one."""
        if self._bar is not None:
            self._bar.update(self._bar.task_ids[0], completed=done, description=name, words=words)

    def _write(self, line: str) -> None:
        """Write a plain line, where there is no bar."""
        if self._bar is None and not self._quiet:
            print(line, file=sys.stderr, flush=True)


class StepProgress(Progress):
    """Names the steps of something as they begin, once it is expected to take long; never what they find.

    Nor how long they took: that depends on the rows of a table, and lines may be kept in a log.
    """

    _alike = False
    _done, _shown = 0, False

    def __enter__(self) -> Self:
        return self

    def expect(self, seconds: float, words: str) -> None:
        """Show the steps from here on if they will take so long that a person wonders."""
        self._shown = seconds > EVERY
        if self._shown:
            self._write(words)
            super().__enter__()

    def __call__(self, name: str) -> None:
        """The next step begins."""
        if self._shown:
            self._move(self._done, name)
            self._done += 1
            self._write(f"{name} (step {self._done} of {self._total})")


class FetchProgress(Progress):
    """Counts files as they arrive."""

    _done = 0

    def tick(self, name: str, share: float) -> None:
        """Note that a share of a file, from 0 to 1, has arrived."""
        self._move(self._done + share, name)

    def done(self, name: str, size: int) -> None:
        """Note that the file is in its place."""
        self._done += 1
        self._move(self._done, name)
        self._write(f"fetched {name} ({size} bytes), {self._done} of {self._total}")


class RunProgress(Progress):
    """Counts units as they finish."""

    _alike = False

    def __init__(self, total: int, *, quiet: bool, estimate: Estimate | None = None) -> None:
        super().__init__(total, quiet=quiet)
        self._done = self._failed = 0
        self._begin = self._last = self._estimated = time.monotonic()
        self._estimate = estimate
        self._left = ""
        if estimate is not None:
            estimate.start(self._begin)

    def __exit__(self, *exception: object) -> None:
        super().__exit__(*exception)
        if self._done:
            self._write(self._words())

    def __call__(self, row: Row) -> None:
        """One more unit is done."""
        self._done += 1
        self._failed += bool(row.failure)
        now = time.monotonic()
        if self._estimate is not None:
            self._estimate.add(row, now)
        if self._bar is not None:
            self._move(self._done, "running", self._rate(now) + self._time_left(now, OFTEN))
        elif now - self._last > EVERY:
            self._last = now
            self._write(self._words())

    def _failures(self) -> str:
        return f", {self._failed} failed" if self._failed else ""

    def _rate(self, now: float) -> str:
        rate = self._done / max(now - self._begin, 1e-9)
        return f"{rate:.{0 if rate >= 10 else 1}f} units/s{self._failures()}"

    def _time_left(self, now: float, every: float = 0.0) -> str:
        """How long it still takes and when it ends, once that is known; estimated no more often than asked."""
        if self._done == self._total:
            return ""
        if self._estimate is not None and now - self._estimated >= every:
            self._estimated = now
            left = self._estimate.seconds(now)
            self._left = "" if left is None else f", about {duration(left)} left, done at {clock(left)}"
        return self._left

    def _words(self) -> str:
        now = time.monotonic()
        return f"{self._done}/{self._total} units, {self._rate(now)}{self._time_left(now)}"


def clock(left: float) -> str:
    """When something ends that takes so many seconds more; with the date where that is not today."""
    now = datetime.fromtimestamp(time.time()).astimezone()
    end = now + timedelta(seconds=left)
    return f"{end:%H:%M}" if end.date() == now.date() else f"{end:%Y-%m-%d %H:%M}"


def duration(seconds: float) -> str:
    """A time that a person can read."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"
