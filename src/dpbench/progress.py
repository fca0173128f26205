"""Progress on stderr: a bar on a terminal, plain lines elsewhere, nothing when quiet."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from rich.progress import Progress as Bar

    from dpbench.store import Row

EVERY = 10.0
"""Seconds between plain lines of a run."""


class Progress:
    """How far something has come that takes a while; what it counts is the business of those below."""

    def __init__(self, total: int, *, quiet: bool) -> None:
        self._total = total
        self._quiet = quiet or not total
        self._bar: Bar | None = None

    def __enter__(self) -> Self:
        if not self._quiet and sys.stderr.isatty():
            from rich.console import Console
            from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

            name, words = TextColumn("{task.description:<12}"), TextColumn("{task.fields[words]}")
            columns = (name, BarColumn(), MofNCompleteColumn(), words, TimeRemainingColumn())
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
    """Names the steps of something as they begin, once it is expected to take long; never what they find."""

    _done, _shown = 0, False

    def __enter__(self) -> Self:
        return self

    def expect(self, seconds: float, words: str) -> None:
        """Show the steps from here on if they will take so long that a person wonders."""
        self._shown, self._begin = seconds > EVERY, time.monotonic()
        if self._shown:
            self._write(words)
            super().__enter__()

    def __call__(self, name: str) -> None:
        """The next step begins."""
        if self._shown:
            self._move(self._done, name)
            self._done += 1
            gone = duration(time.monotonic() - self._begin)
            self._write(f"{name} (step {self._done} of {self._total}, after {gone})")


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

    def __init__(self, total: int, *, quiet: bool) -> None:
        super().__init__(total, quiet=quiet)
        self._done = self._failed = 0
        self._begin = self._last = time.monotonic()

    def __exit__(self, *exception: object) -> None:
        super().__exit__(*exception)
        if self._done:
            self._write(self._words())

    def __call__(self, row: Row) -> None:
        """One more unit is done."""
        self._done += 1
        self._failed += bool(row.failure)
        now = time.monotonic()
        rate = self._done / max(now - self._begin, 1e-9)
        self._move(self._done, "running", f"{rate:.0f} units/s{self._failures()}")
        if now - self._last > EVERY:
            self._last = now
            self._write(self._words())

    def _failures(self) -> str:
        return f", {self._failed} failed" if self._failed else ""

    def _words(self) -> str:
        gone = time.monotonic() - self._begin
        left = gone / self._done * (self._total - self._done)
        end = time.strftime("%H:%M:%S", time.localtime(time.time() + left))
        return (
            f"{self._done}/{self._total} units{self._failures()}, {self._done / max(gone, 1e-9):.0f} per second, "
            f"{duration(left)} left, done at {end}"
        )


def duration(seconds: float) -> str:
    """A time that a person can read."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"
