"""What is shown on stderr while files arrive: a bar on a terminal, lines in a log, or nothing."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Self

from dpbench.datasets.catalogue import Dataset


def display_for(needed: Sequence[Dataset], *, progress: bool) -> Silent:
    """Choose by whether anybody looks, and whether anything is to be fetched."""
    if not progress or not needed:
        return Silent()
    return _Bar(len(needed)) if sys.stderr.isatty() else _Lines(len(needed))


class Silent:
    """Shows nothing."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        pass

    def tick(self, dataset: Dataset, share: float) -> None:
        """Note that a share of the file, from 0 to 1, has arrived."""

    def done(self, dataset: Dataset, size: int) -> None:
        """Note that the file is in its place."""


class _Lines(Silent):
    """One line on stderr for every file, for logs."""

    def __init__(self, total: int) -> None:
        self.total, self.count = total, 0

    def done(self, dataset: Dataset, size: int) -> None:
        self.count += 1
        print(
            f"fetched {dataset.name} ({size} bytes), {self.count} of {self.total}",
            file=sys.stderr,
            flush=True,
        )


class _Bar(Silent):
    """A bar on a terminal, counting files."""

    def __init__(self, total: int) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

        parts = (TextColumn("{task.description:<12}"), BarColumn(), MofNCompleteColumn())
        self.bar = Progress(*parts, console=Console(stderr=True))
        self.task, self.count = self.bar.add_task("", total=total), 0

    def __enter__(self) -> Self:
        self.bar.start()
        return self

    def __exit__(self, *exception: object) -> None:
        self.bar.stop()

    def tick(self, dataset: Dataset, share: float) -> None:
        self.bar.update(self.task, description=dataset.name, completed=self.count + share)

    def done(self, dataset: Dataset, size: int) -> None:  # noqa: ARG002 - the protocol's
        self.count += 1
        self.bar.update(self.task, completed=self.count)
