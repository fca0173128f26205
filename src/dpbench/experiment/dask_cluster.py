"""Units on a dask cluster: somebody's own, or a local one (extra ``cluster``)."""

from __future__ import annotations

from collections.abc import Iterator

from dpbench.errors import InvalidInput, RunStopped
from dpbench.experiment.unit import Bench, Unit, describe
from dpbench.store.schema import Row

_BENCH: Bench | None = None


def run_portion(portion: list[Unit]) -> list[Row]:
    """What a dask worker does; it keeps shared things between portions, as our own workers do."""
    global _BENCH  # noqa: PLW0603  (one bench a worker process, whatever dask does with our objects)
    if _BENCH is None:
        _BENCH = Bench()
    return [_BENCH.run(unit) for unit in portion]


class DaskCluster:
    """Runs portions of units on ``tcp://host:port`` or, with "local", on this machine."""

    def __init__(self, address: str, jobs: int) -> None:
        try:
            from distributed import Client, LocalCluster
        except ImportError:
            raise InvalidInput(
                "--dask needs dask.distributed; install the extra: pip install 'dpbench-range[cluster]'"
            ) from None
        self._cluster = None
        try:
            if address == "local":
                self._cluster = LocalCluster(
                    n_workers=jobs, threads_per_worker=1, processes=True, dashboard_address=None
                )
                self._client = Client(self._cluster)
            else:
                self._client = Client(address, timeout=10)
        except (OSError, ValueError) as error:
            raise InvalidInput(
                f"there is no dask scheduler at {address!r} ({describe(error)}); start one, or use --jobs"
            ) from None

    def rows(self, portions: list[list[Unit]]) -> Iterator[Row | None]:
        """Rows as portions finish; a portion whose worker died is tried again, at last unit by unit."""
        from distributed import as_completed

        waiting = {self._client.submit(run_portion, portion, pure=False, retries=1): portion for portion in portions}
        stream = as_completed(list(waiting))
        for future in stream:
            portion = waiting.pop(future)
            try:
                rows = future.result()
            except Exception as error:
                if type(error).__name__ in {"CommClosedError", "CancelledError"}:
                    raise RunStopped(
                        f"the dask cluster went away ({describe(error)}); run the same command to go on"
                    ) from None
                if len(portion) == 1:
                    yield portion[0].row(failure=f"ended its dask workers ({describe(error)})")
                else:
                    for unit in portion:
                        again = self._client.submit(run_portion, [unit], pure=False, retries=0)
                        waiting[again] = [unit]
                        stream.add(again)
            else:
                yield from rows
        self.stop()

    def stop(self) -> None:
        """Cancel what is left and let go of the cluster."""
        self._client.close()
        if self._cluster is not None:
            self._cluster.close()
