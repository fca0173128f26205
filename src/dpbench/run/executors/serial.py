"""The executor for looking closely: everything in this process."""

from __future__ import annotations

from collections.abc import Iterator

from dpbench.run.bench import Bench
from dpbench.run.units import Unit
from dpbench.store.schema import Row


class Serial:
    """Runs units in this process, one after the other, without any containment."""

    jobs = 1

    def __init__(self) -> None:
        self._bench = Bench()

    def rows(self, portions: list[list[Unit]]) -> Iterator[Row | None]:
        """Rows in order."""
        for portion in portions:
            for unit in portion:
                yield self._bench.run(unit)

    def stop(self) -> None:
        """Nothing runs beside us."""
