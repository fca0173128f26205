"""Progress of a run: a bar on a terminal, plain lines elsewhere, nothing when quiet."""

from __future__ import annotations

import sys
import time
from types import TracebackType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

    from dpbench.store import Row

EVERY = 10.0
"""Seconds between plain lines."""


class RunProgress:
    """Counts units as they finish."""

    def __init__(self, total: int, *, quiet: bool) -> None:
        self._total = total
        self._quiet = quiet
        self._done = self._failed = 0
        self._begin = self._last = time.monotonic()
        self._bar: Progress | None = None
        self._task: TaskID | None = None

    def __enter__(self) -> RunProgress:
        if not self._quiet and sys.stderr.isatty():
            from rich.console import Console
            from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

            columns = (
                TextColumn("running"),
                BarColumn(),
                MofNCompleteColumn(),
                TextColumn("{task.fields[rate]}"),
                TimeRemainingColumn(),
            )
            self._bar = Progress(*columns, console=Console(stderr=True))
            self._bar.start()
            self._task = self._bar.add_task("units", total=self._total, rate="")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bar is not None:
            self._bar.stop()
        elif not self._quiet and self._done:
            self._line()

    def __call__(self, row: Row) -> None:
        """One more unit is done."""
        self._done += 1
        self._failed += bool(row.failure)
        now = time.monotonic()
        if self._bar is not None and self._task is not None:
            rate = f"{self._done / max(now - self._begin, 1e-9):.0f} units/s" + (
                f", {self._failed} failed" if self._failed else ""
            )
            self._bar.update(self._task, completed=self._done, rate=rate)
        elif not self._quiet and now - self._last > EVERY:
            self._last = now
            self._line()

    def _line(self) -> None:
        gone = time.monotonic() - self._begin
        left = gone / self._done * (self._total - self._done)
        end = time.strftime("%H:%M:%S", time.localtime(time.time() + left))
        failed = f", {self._failed} failed" if self._failed else ""
        sys.stderr.write(
            f"{self._done}/{self._total} units{failed}, {self._done / max(gone, 1e-9):.0f} a second, "
            f"{duration(left)} left, done at {end}\n"
        )


def duration(seconds: float) -> str:
    """A time that a person can read."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"
