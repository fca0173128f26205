"""Units on a dask cluster: a user's own, or a local one (extra ``cluster``).

Dask's workers load no plug-in, so what they send back was not written where one runs. Dask itself sends pickles, and a
scheduler takes work from all who reach it: a plug-in that does so can run code wherever the cluster does.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from multiprocessing import current_process
from queue import Empty, SimpleQueue
from typing import Any

from dpbench.errors import DPBenchError, InvalidInput, RunStopped
from dpbench.run.bench import Bench
from dpbench.run.costs import whose
from dpbench.run.executors.processes import Processes
from dpbench.run.identity import algorithm_version, generator_version
from dpbench.run.strangers import Question, ask
from dpbench.run.units import Unit, build_algorithm, describe
from dpbench.store.schema import Row

_OWN = threading.local()
"""Each thread of a dask worker has a bench of its own."""


def run_portion(portion: list[Unit]) -> list[Row]:
    """What a dask worker does; it keeps shared things between portions, as our own workers do.

    A stranger's code is loaded in processes below the worker alone, and what it gives is measured here.
    """
    if not hasattr(_OWN, "bench"):
        _OWN.bench = Bench()
    _insist_on_same_code(portion)
    theirs = [unit for unit in portion if whose(unit)]
    with _childbearing():
        rows = [row for row in Processes(1).rows([theirs]) if row is not None] if theirs else []
    return rows + [_OWN.bench.run(unit) for unit in portion if not whose(unit)]


def _insist_on_same_code(portion: list[Unit]) -> None:
    """Refuse to run other code than was planned: results would stand under the wrong key."""
    for unit in {(unit.reference, unit.algorithm): unit for unit in portion}.values():
        if whose(unit):
            with _childbearing():
                (known,) = ask([Question(replace(unit.algorithm, name=unit.reference))])
            if isinstance(known, DPBenchError):
                raise known
            source = known.source
        else:
            algorithm = build_algorithm(unit.reference, unit.algorithm)
            source = algorithm_version(type(algorithm), algorithm.files)
        if (source, generator_version()) != (unit.algorithm_source, unit.generator_source):
            raise RunStopped(f"a dask worker has other code for {unit.reference}; install the same version everywhere")


@contextmanager
def _childbearing() -> Iterator[None]:
    """A dask worker is a daemon, and Python lets no daemon have children; ours end before it does."""
    settings: dict[str, Any] = vars(current_process()).get("_config", {})
    before = settings.get("daemon")
    settings["daemon"] = False
    try:
        yield
    finally:
        settings["daemon"] = before


class DaskCluster:
    """Runs portions of units on ``tcp://host:port`` or, with "local", on this machine."""

    def __init__(self, address: str, jobs: int) -> None:
        try:
            from distributed import Client, LocalCluster
        except ImportError:
            raise InvalidInput(
                "--dask needs dask.distributed; install the extra: pip install 'dpbench-range[cluster]'"
            ) from None
        for name in list(logging.root.manager.loggerDict):
            if name.startswith("distributed"):  # what goes wrong is reported in one line, by us
                logging.getLogger(name).setLevel(logging.CRITICAL + 1)
        self._cluster = None
        try:
            if address == "local":
                self._cluster = LocalCluster(
                    n_workers=jobs, threads_per_worker=1, processes=True, dashboard_address=":0"
                )
                self._client = Client(self._cluster)
            else:
                self._client = Client(address, timeout=10)
        except (OSError, ValueError) as error:
            raise InvalidInput(
                f"there is no dask scheduler at {address!r} ({describe(error)}); start one, or use --jobs"
            ) from None
        self.jobs = max(len(self._client.scheduler_info(n_workers=-1)["workers"]), 1)

    def rows(self, portions: list[list[Unit]]) -> Iterator[Row | None]:
        """Rows as portions finish; a portion whose worker died is tried again, at last unit by unit."""
        finished: SimpleQueue[Any] = SimpleQueue()
        waiting: dict[Any, list[Unit]] = {}

        def submit(portion: list[Unit]) -> None:
            future = self._client.submit(run_portion, portion, pure=False)
            waiting[future] = portion
            future.add_done_callback(finished.put)

        for portion in portions:
            submit(portion)
        while waiting:
            try:
                future = finished.get(timeout=0.5)
            except Empty:
                yield None
                continue
            portion = waiting.pop(future)
            try:
                rows = future.result()
            except Exception as error:
                self._stop_for(error)
                if len(portion) == 1:
                    yield portion[0].row(failure=f"ended its dask workers ({describe(error)})")
                for unit in portion if len(portion) > 1 else ():
                    submit([unit])
            else:
                yield from rows

    def _stop_for(self, error: Exception) -> None:
        """End the run for what is nobody's failure: the cluster has gone, or its workers are not ours."""
        if isinstance(error, RunStopped):
            raise error
        if type(error).__name__ in {"CommClosedError", "CancelledError", "FutureCancelledError"}:
            raise RunStopped(
                f"the dask cluster went away ({describe(error)}); everything stored is kept: run the same command"
            ) from None
        if isinstance(error, ImportError):
            raise RunStopped(
                f"dask workers cannot load what they are sent ({describe(error)}); install dpbench there"
            ) from None

    def stop(self) -> None:
        """Cancel what is left and let go of the cluster."""
        self._client.close()
        if self._cluster is not None:
            self._cluster.close()
