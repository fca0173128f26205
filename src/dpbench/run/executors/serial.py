"""The executor for looking closely: everything of ours in this process, and a worker for strangers."""

from __future__ import annotations

from collections.abc import Iterator

from dpbench.run.bench import Bench
from dpbench.run.costs import whose
from dpbench.run.executors.processes import Processes
from dpbench.run.units import Unit
from dpbench.store.schema import Row


class Serial:
    """Runs our units in this process, one after the other; a stranger's get a worker all the same."""

    jobs = 1

    def __init__(self, *, timeout: float | None = None, memory: int | None = None) -> None:
        self._bench = Bench()
        self._strangers = Processes(1, timeout=timeout, memory=memory)

    def rows(self, portions: list[list[Unit]]) -> Iterator[Row | None]:
        """Rows of strangers first, then ours in order."""
        theirs = [portion for portion in portions if whose(portion[0])]
        if theirs:
            yield from self._strangers.rows(theirs)
        for portion in portions:
            for unit in portion:
                if not whose(unit):
                    yield self._bench.run(unit)

    def stop(self) -> None:
        """End the worker of strangers; nothing else runs beside us."""
        self._strangers.stop()
