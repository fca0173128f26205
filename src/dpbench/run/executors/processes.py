"""The default executor: one worker process for each core, replaced when it dies, hangs or eats too much."""

from __future__ import annotations

import contextlib
import pickle
import selectors
import time
from collections import Counter, deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from multiprocessing.connection import Connection

from dpbench.errors import RunStopped
from dpbench.run.bench import Bench
from dpbench.run.costs import whose
from dpbench.run.executors.contained import KILLED, PATIENCE, Contained, exit_words, killed
from dpbench.run.executors.host import KILLS, Host
from dpbench.run.executors.system import insist_on_forks
from dpbench.run.units import Unit
from dpbench.store.schema import Row

TICK = 0.5
"""Seconds between two looks at workers that say nothing."""
STILLBORN = 3
"""So many workers that end one after the other before they are ready stop the run."""
GRACE = 5.0
"""Seconds beyond its own time that a worker gets to say that a stranger's took too long."""
BEGINS = "begins"
"""What a worker says when it gives a stranger's unit to a process."""


@dataclass
class _Worker(Contained):
    waiting: deque[Unit] = field(default_factory=deque)
    """Units of its portion that have no row yet, the one under way first."""
    started: float = 0.0
    """When the unit under way began: with the portion, or with the row before."""
    ready: bool = False
    """Whether it has asked for work."""
    overdue: Unit | None = None
    """The unit that it was ended for."""
    whose: str = ""
    """Which stranger's units it was given last; empty: ours."""

    def dismiss(self) -> None:
        """End it at once; where it has a stranger's process, that is ended by it first."""
        if self.whose:
            self.process.terminate()
        else:
            self.process.kill()

    def end(self, patience: float = 0.0) -> int:
        """End it; one with a stranger's process gets the time to end that."""
        return super().end(max(patience, GRACE) if self.whose else patience)


def work(connection: Connection, timeout: float | None) -> None:
    """What a worker does: take portions of units, send back one row after the other until the pipe closes.

    No stranger's code is ever loaded here: their units run in a process of their own, which is ended before any other
    unit begins.
    """
    bench = Bench()
    host = Host(bench, timeout, begins=lambda: connection.send(BEGINS))
    with contextlib.suppress(EOFError, BrokenPipeError, ConnectionResetError):
        connection.send("ready")
        while True:
            for unit in connection.recv():
                try:
                    if whose(unit):
                        row = host.run(unit)
                    else:
                        host.end()
                        row = bench.run(unit)
                    connection.send(row)
                except RunStopped as error:
                    connection.send(error)
                    return


class Processes:
    """Runs portions of units on worker processes; yields rows as they come.

    A worker's pipe is read to its end before the worker is buried: what it finished counts, and what it
    was at is known.
    """

    def __init__(self, jobs: int, *, timeout: float | None = None, memory: int | None = None) -> None:
        self.jobs = jobs
        self.timeout = timeout
        self.memory = memory
        self._workers: list[_Worker] = []
        self._selector: selectors.BaseSelector = selectors.DefaultSelector()
        self._kills: Counter[tuple[str, int]] = Counter()
        self._stillborn = 0

    def rows(self, portions: list[list[Unit]]) -> Iterator[Row | None]:
        """Rows of all units, in the order in which they finish; None now and then while nothing comes."""
        insist_on_forks("an algorithm of your own, or --jobs")
        queue = deque(portions)
        looked = time.monotonic()
        self._selector = selectors.DefaultSelector()
        try:
            for _ in range(min(self.jobs, len(queue))):
                self._start()
            while self._workers:
                for key, _ in self._selector.select(TICK):
                    yield from self._hear(key.data, queue)
                if time.monotonic() - looked >= TICK:
                    looked = time.monotonic()
                    self._end_overdue()
                    # a dead worker's pipe may stay open without a word: a child of it may hold the other end
                    for worker in [each for each in self._workers if not each.process.is_alive()]:
                        yield from self._hear(worker, queue, ended=True)
                    yield None
        finally:
            self.stop()
            self._selector.close()

    def stop(self) -> None:
        """End every worker at once; units under way are dropped."""
        for worker in self._workers:
            worker.dismiss()
        for worker in list(self._workers):
            self._part_with(worker)

    def _start(self) -> None:
        worker = _Worker.start(work, self.timeout, memory=self.memory)
        self._workers.append(worker)
        self._selector.register(worker.connection, selectors.EVENT_READ, worker)

    def _hear(self, worker: _Worker, queue: deque[list[Unit]], *, ended: bool = False) -> Iterator[Row]:
        """Take what a worker has sent, everything if it has ended; then bury it."""
        try:
            while not ended or worker.connection.poll():
                content = pickle.loads(worker.receive())  # noqa: S301  (a worker loads no plug-in)
                if isinstance(content, RunStopped):
                    raise content
                worker.started = time.monotonic()
                if isinstance(content, Row):
                    yield _asked_for(content, worker.waiting.popleft())
                elif content != BEGINS:
                    worker.ready, self._stillborn = True, 0
                if not ended:
                    if not worker.waiting:
                        self._feed(worker, queue)
                    return
        except (EOFError, OSError):
            pass  # the other end of the pipe is closed: the worker has ended
        yield from self._bury(worker, queue)

    def _feed(self, worker: _Worker, queue: deque[list[Unit]]) -> None:
        """Give an idle worker its next portion, or let it go where there is none."""
        if queue:
            portion = next((each for each in queue if whose(each[0]) == worker.whose), queue[0])
            queue.remove(portion)
            worker.whose = whose(portion[0])
            worker.waiting.extend(portion)
            worker.connection.send(portion)
        else:
            worker.dismiss()  # it has nothing left to do, and a clean end takes a while
            self._part_with(worker)

    def _part_with(self, worker: _Worker) -> int:
        """Forget a worker that was killed or has closed its pipe; its exit code."""
        self._workers.remove(worker)
        self._selector.unregister(worker.connection)
        return worker.end(PATIENCE)

    def _end_overdue(self) -> None:
        """Kill workers whose unit takes longer than allowed; what they still sent is heard before they are buried."""
        if self.timeout is None:
            return
        now = time.monotonic()
        for worker in self._workers:
            allowed = self.timeout + (GRACE if worker.whose else 0.0)
            if worker.waiting and worker.overdue is None and now - worker.started > allowed:
                worker.overdue = worker.waiting[0]
                worker.process.kill()

    def _bury(self, worker: _Worker, queue: deque[list[Unit]]) -> Iterator[Row]:
        """Replace a dead worker; blame the unit under way, put the rest back in front."""
        code = self._part_with(worker)
        self._stillborn += not worker.ready
        if self._stillborn >= (KILLED if killed(code) else STILLBORN):
            raise RunStopped(
                f"{self._stillborn} workers ended before they were ready ({exit_words(code)}); everything stored is "
                f"kept: look for the reason with --jobs 0, or give workers more --memory"
            )
        if worker.waiting:
            culprit, *rest = worker.waiting
            verdict = self._verdict(worker, culprit, code)
            if verdict:
                yield culprit.row(failure=verdict)
            else:
                queue.appendleft([culprit])
            if rest:
                queue.appendleft(rest)
        if queue:
            self._start()

    def _verdict(self, worker: _Worker, culprit: Unit, code: int) -> str:
        """Why the unit that a worker died of counts as failed; empty where it is tried again."""
        if worker.overdue is not None:
            late = worker.overdue is culprit  # otherwise it came through in time, and its successor is innocent
            return f"took longer than {self.timeout:g} s (--timeout)" if late else ""
        self._kills[culprit.key, culprit.first_trial] += 1
        kills = self._kills[culprit.key, culprit.first_trial]
        most = KILLED if killed(code) and not worker.whose else KILLS  # a stranger may have killed it
        return f"ended {kills} workers ({exit_words(code)})" if kills >= most else ""


def _asked_for(row: Row, unit: Unit) -> Row:
    """A row, if it is that of the unit that was asked for."""
    if (row.key, row.first_trial) == (unit.key, unit.first_trial) and (row.failure or row.trials == unit.trials):
        return row
    return unit.row(failure="its worker sent a row that is not the one that was asked for")
