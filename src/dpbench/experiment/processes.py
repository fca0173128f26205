"""The default executor: one worker process for each core, replaced when it dies, hangs or eats too much."""

from __future__ import annotations

import multiprocessing
import os
import signal
import time
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, wait
from multiprocessing.context import SpawnProcess

from dpbench.experiment.unit import Unit
from dpbench.experiment.worker import work
from dpbench.store.schema import Row

ONE_THREAD = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")
KILLS = 2
"""A unit that has killed so many workers is recorded as failed."""


@dataclass
class _Worker:
    process: SpawnProcess
    connection: Connection
    waiting: deque[Unit] = field(default_factory=deque)
    """Units of its portion that have no row yet, the one under way first."""
    started: float | None = None
    """When the unit under way began."""


class Processes:
    """Runs portions of units on worker processes; yields rows as they come."""

    def __init__(self, jobs: int, *, timeout: float | None = None, memory: int | None = None) -> None:
        self.jobs = jobs
        self.timeout = timeout
        self.memory = memory
        self._context = multiprocessing.get_context("spawn")
        self._workers: list[_Worker] = []
        self._kills: dict[str, int] = {}

    def rows(self, portions: list[list[Unit]]) -> Iterator[Row | None]:
        """Rows of all units, in the order in which they finish; None now and then while nothing comes."""
        queue = deque(portions)
        pinned = {name: os.environ.get(name) for name in ONE_THREAD}
        os.environ.update(dict.fromkeys(ONE_THREAD, "1"))
        try:
            for _ in range(min(self.jobs, len(queue))):
                self._workers.append(self._start())
            while self._workers:
                ready = wait([worker.connection for worker in self._workers], timeout=0.5)
                for worker in [each for each in self._workers if each.connection in ready]:
                    yield from self._hear(worker, queue)
                yield from self._end_overdue(queue)
                yield None
        finally:
            self.stop()
            for name, value in pinned.items():
                if value is None:
                    os.environ.pop(name, None)
                else:
                    os.environ[name] = value

    def stop(self) -> None:
        """End every worker at once; units under way are dropped."""
        for worker in self._workers:
            worker.process.kill()
            worker.process.join()
            worker.connection.close()
        self._workers.clear()

    def _start(self) -> _Worker:
        ours, theirs = self._context.Pipe()
        process = self._context.Process(target=work, args=(theirs, self.memory, os.getpid()), daemon=True)
        process.start()
        theirs.close()
        return _Worker(process, ours)

    def _hear(self, worker: _Worker, queue: deque[list[Unit]]) -> Iterator[Row]:
        """Take everything that a worker has sent."""
        try:
            while worker.connection.poll():
                kind, content = worker.connection.recv()
                if kind == "start":
                    worker.started = time.monotonic()
                elif kind == "row":
                    worker.waiting.popleft()
                    worker.started = None
                    yield content
                else:
                    self._feed(worker, queue)
                    if worker not in self._workers:
                        return
        except (EOFError, OSError):
            yield from self._bury(worker, queue, None)

    def _feed(self, worker: _Worker, queue: deque[list[Unit]]) -> None:
        """Give an idle worker its next portion, or let it go."""
        if queue:
            portion = queue.popleft()
            worker.waiting.extend(portion)
            worker.connection.send(portion)
        else:
            self._workers.remove(worker)
            worker.connection.send(None)
            worker.process.join(5)
            worker.connection.close()

    def _end_overdue(self, queue: deque[list[Unit]]) -> Iterator[Row]:
        """Kill workers whose unit takes longer than allowed."""
        if self.timeout is None:
            return
        now = time.monotonic()
        for worker in list(self._workers):
            if worker.started is not None and now - worker.started > self.timeout:
                worker.process.kill()
                yield from self._bury(worker, queue, f"took longer than {self.timeout:g} s (--timeout)")

    def _bury(self, worker: _Worker, queue: deque[list[Unit]], verdict: str | None) -> Iterator[Row]:
        """Replace a dead worker; blame the unit under way, put the rest back in front."""
        worker.process.join()
        code = worker.process.exitcode or 0
        worker.connection.close()
        self._workers.remove(worker)
        rest = list(worker.waiting)
        if rest and worker.started is not None:
            culprit = rest[0]
            kills = self._kills[culprit.key] = self._kills.get(culprit.key, 0) + 1
            if verdict is None and kills >= KILLS:
                how = f"signal {signal.Signals(-code).name}" if code < 0 else f"exit code {code}"
                verdict = f"ended {kills} workers ({how})"
            if verdict is not None:
                rest = rest[1:]
                yield culprit.row(failure=verdict)
            else:
                queue.appendleft([culprit])
                rest = rest[1:]
        if rest:
            queue.appendleft(rest)
        if queue:
            self._workers.append(self._start())
