"""Where units are run: in this process, in worker processes, on a dask cluster."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dpbench.run.execution import Executor


def executor_for(
    jobs: int, *, dask: str | None = None, timeout: float | None = None, memory: int | None = None
) -> Executor:
    """A dask cluster where its address is given; else this process for 0 jobs, else so many worker processes.

    ``timeout``, in seconds per unit, and ``memory``, in bytes per worker, hold for worker processes only: those of
    strangers' algorithms among them.
    """
    if dask:
        from dpbench.run.executors.dask_cluster import DaskCluster

        return DaskCluster(dask, max(jobs, 1))
    if jobs == 0:
        from dpbench.run.executors.serial import Serial

        return Serial(timeout=timeout, memory=memory)
    from dpbench.run.executors.processes import Processes

    return Processes(jobs, timeout=timeout, memory=memory)
