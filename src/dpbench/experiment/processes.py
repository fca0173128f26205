"""The default executor: one worker process for each core, replaced when it dies, hangs or eats too much."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
import time
from collections import Counter, deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, wait
from multiprocessing.context import SpawnProcess

from dpbench.errors import RunStopped
from dpbench.experiment.unit import Unit
from dpbench.experiment.worker import work
from dpbench.store.schema import Row

ONE_THREAD = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")
KILLS = 2
"""A unit that has killed so many workers is recorded as failed."""
STILLBORN = 3
"""So many workers that end one after the other before they are ready stop the run."""


@dataclass
class _Worker:
    process: SpawnProcess
    connection: Connection
    waiting: deque[Unit] = field(default_factory=deque)
    """Units of its portion that have no row yet, the one under way first."""
    started: float | None = None
    """When the unit under way began."""
    ready: bool = False
    """Whether it has asked for work."""
    overdue: Unit | None = None
    """The unit that it was ended for."""


class Processes:
    """Runs portions of units on worker processes; yields rows as they come.

    A worker's pipe is read to its end before the worker is buried: what it finished counts, and what it
    was at is known.
    """

    def __init__(self, jobs: int, *, timeout: float | None = None, memory: int | None = None) -> None:
        self.jobs = jobs
        self.timeout = timeout
        self.memory = memory
        self._context = multiprocessing.get_context("spawn")
        self._workers: list[_Worker] = []
        self._kills: Counter[tuple[str, int]] = Counter()
        self._stillborn = 0

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
                for worker in list(self._workers):
                    # a dead worker's pipe may stay open without a word: a child of it may hold the other end
                    if worker.connection in ready or not worker.process.is_alive():
                        yield from self._hear(worker, queue)
                self._end_overdue()
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
        for worker in self._workers:
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
        """Take everything that a worker has sent; bury it if it has ended."""
        ended = not worker.process.is_alive()  # asked first: what it sent before its end is then in the pipe
        try:
            while worker.connection.poll():
                kind, content = worker.connection.recv()
                if kind == "start":
                    worker.started = time.monotonic()
                elif kind == "row":
                    worker.waiting.popleft()
                    worker.started = None
                    yield content
                elif kind == "stop":
                    raise RunStopped(content)
                elif queue:
                    worker.ready, self._stillborn = True, 0
                    portion = queue.popleft()
                    worker.waiting.extend(portion)
                    worker.connection.send(portion)
                else:
                    self._part_with(worker)
                    return
        except (EOFError, OSError):
            ended = True
        if ended:
            yield from self._bury(worker, queue)

    def _part_with(self, worker: _Worker) -> int:
        """End a worker, whatever state it is in; its exit code."""
        self._workers.remove(worker)
        with contextlib.suppress(OSError):
            worker.connection.send(None)
        worker.process.join(1)
        worker.process.kill()
        worker.process.join()
        worker.connection.close()
        return worker.process.exitcode or 0

    def _end_overdue(self) -> None:
        """Kill workers whose unit takes longer than allowed; what they still sent is heard before they are buried."""
        if self.timeout is None:
            return
        now = time.monotonic()
        for worker in self._workers:
            if worker.overdue is None and worker.started is not None and now - worker.started > self.timeout:
                worker.overdue = worker.waiting[0]
                worker.process.kill()

    def _bury(self, worker: _Worker, queue: deque[list[Unit]]) -> Iterator[Row]:
        """Replace a dead worker; blame the unit under way, put the rest back in front."""
        code = self._part_with(worker)
        self._stillborn += not worker.ready
        if self._stillborn >= STILLBORN:
            raise RunStopped(
                f"{self._stillborn} workers ended before they were ready ({_how(code)}); everything stored is kept: "
                f"look for the reason with --jobs 0, or give workers more --memory"
            )
        rest = list(worker.waiting)
        if rest and worker.started is not None:
            culprit, *rest = rest
            verdict = self._verdict(worker, culprit, code)
            if verdict:
                yield culprit.row(failure=verdict)
            else:
                queue.appendleft([culprit])
        if rest:
            queue.appendleft(rest)
        if queue:
            self._workers.append(self._start())

    def _verdict(self, worker: _Worker, culprit: Unit, code: int) -> str:
        """Why the unit that a worker died of counts as failed; empty where it is tried again."""
        if worker.overdue is not None:
            late = worker.overdue is culprit  # otherwise it came through in time, and its successor is innocent
            return f"took longer than {self.timeout:g} s (--timeout)" if late else ""
        self._kills[culprit.key, culprit.first_trial] += 1
        kills = self._kills[culprit.key, culprit.first_trial]
        return f"ended {kills} workers ({_how(code)})" if kills >= KILLS else ""


def _how(code: int) -> str:
    """An exit code in words."""
    if code >= 0:
        return f"exit code {code}"
    try:
        return f"signal {signal.Signals(-code).name}"
    except ValueError:
        return f"signal {-code}"
