import contextlib
import json
import os
import signal
import subprocess
import sys
import threading
import time

import pytest

from chaos.small import canonical, study
from dpbench.errors import InvalidInput, RunStopped
from dpbench.run.execution import agenda, execute
from dpbench.run.executors.serial import Serial
from dpbench.store import Store

pytest.importorskip("distributed", reason="the extra 'cluster' is not installed")
pytestmark = pytest.mark.filterwarnings("ignore")  # distributed's own


@contextlib.contextmanager
def cluster(folder, workers=2):
    """A scheduler and workers started by hand on this machine; its address and the workers."""
    where = folder / "scheduler.json"
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "cwd": folder}
    scheduler = [sys.executable, "-m", "distributed.cli.dask_scheduler", "--scheduler-file", where]
    started = [subprocess.Popen([*scheduler, "--host", "127.0.0.1", "--port", "0", "--no-dashboard"], **quiet)]
    try:
        worker = [sys.executable, "-m", "distributed.cli.dask_worker", "--scheduler-file", where, "--no-nanny"]
        options = ["--no-dashboard", "--nthreads", "1", "--host", "127.0.0.1"]
        started += [subprocess.Popen([*worker, *options], **quiet) for _ in range(workers)]
        deadline = time.monotonic() + 30
        while not (where.exists() and where.read_text()) and time.monotonic() < deadline:  # made first, written then
            time.sleep(0.05)
        yield json.loads(where.read_text())["address"], started[1:]
    finally:
        for process in started:
            process.kill()
            process.wait()


@pytest.fixture(scope="module")
def calm(tmp_path_factory):
    store = Store(tmp_path_factory.mktemp("calm"), create=True)
    plan = study(samples=6)
    execute(plan.work[0], store, Serial(), plan=plan)
    return canonical(store)


def test_a_cluster_started_by_hand_gives_the_same_bytes_even_if_a_worker_dies(calm, tmp_path):
    """Two worker processes finish the study; killing one midway changes nothing but the time."""
    from dpbench.run.executors.dask_cluster import DaskCluster

    store, plan = Store(tmp_path / "store", create=True), study(samples=6)
    with cluster(tmp_path) as (address, workers):
        executor = DaskCluster(address, 2)
        executor._client.wait_for_workers(2, timeout=30)
        begun = threading.Event()
        striker = threading.Thread(target=lambda: begun.wait(30) and os.kill(workers[0].pid, signal.SIGKILL))
        striker.start()
        units = [[unit] for unit in agenda(plan, store).missing]
        rows = []
        for row in executor.rows(units):
            rows.append(row)
            if sum(row is not None for row in rows) == 5:
                begun.set()
        executor.stop()
        striker.join()
        assert workers[0].wait(10) == -signal.SIGKILL
    store.append([row for row in rows if row is not None], "run")
    assert store.table().num_rows == 72
    assert canonical(store) == calm


def test_an_address_without_a_scheduler_is_refused(monkeypatch):
    """In one line, soon."""
    import distributed

    from dpbench.run.executors import dask_cluster

    slow = distributed.Client
    monkeypatch.setattr(distributed, "Client", lambda address, timeout: slow(address, timeout=1))
    with pytest.raises(InvalidInput, match="no dask scheduler at 'tcp://127.0.0.1:1'"):
        dask_cluster.DaskCluster("tcp://127.0.0.1:1", 2)


def test_a_worker_with_other_code_is_refused():
    """Its results would stand under the wrong key."""
    from dataclasses import replace

    from dpbench.run.executors.dask_cluster import run_portion

    units, _ = study(["Identity"]).work
    assert [row.failure for row in run_portion(units[:2])] == ["", ""]
    with pytest.raises(RunStopped, match="other code for Identity"):
        run_portion([replace(units[0], algorithm_source="other")])
