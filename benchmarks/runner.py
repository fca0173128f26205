"""What the runner itself costs: ``python -m benchmarks.runner``.

Two workers against one on a CPU-bound plan, the share of worker time that goes into the work itself, the runner's own
time for each unit, and the memory of a worker at 256 x 256. Whatever else runs on the machine makes these worse: how
many cores others used meanwhile is printed beside each, and the promises are for a quiet machine with two cores.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from dpbench.run.execution import RunSummary, execute
from dpbench.run.executors.processes import Processes
from dpbench.run.plan import Plan
from dpbench.run.units import Unit
from dpbench.store import Row, Store
from dpbench.task.task import RANGE_1D, RANGE_2D

CORE = ["Identity", "Privelet", "H", "Hb", "GreedyH", "Uniform"]
SPEEDUP, SHARE, COST, MEMORY = 1.8, 0.9, 0.5, 2000
"""What is promised: times, part of the whole, milliseconds a unit, megabytes."""
REPEATS = 2
"""The plan takes a minute on one worker: starting a worker and loading its kernels costs more than a second."""


class Watched(Processes):
    """Processes whose start-up is timed and whose workers' memory is looked at."""

    def __init__(self, jobs: int, *, looking: bool) -> None:
        super().__init__(jobs)
        self.looking = looking
        self.peak = 0.0
        self.first = 0.0
        self.others = 0.0

    def rows(self, portions: list[list[Unit]]) -> Iterator[Row | None]:
        """Rows as they come."""
        begin = time.monotonic()
        for row in super().rows(portions):
            if row is not None and not self.first:
                self.first = time.monotonic() - begin
            for worker in self._workers if self.looking else ():
                self.peak = max(self.peak, _peak(worker.process.pid))
            yield row


def _peak(pid: int | None) -> float:
    """Megabytes that a process has had at most."""
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
        return next(float(line.split()[1]) / 1000 for line in lines if line.startswith("VmHWM"))
    except (OSError, StopIteration):
        return 0.0


def _busy() -> float:
    """Seconds that the cores of this machine have worked, for anybody."""
    ticks = Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:]
    return sum(int(ticks[place]) for place in (0, 1, 2, 5, 6, 7)) / os.sysconf("SC_CLK_TCK")


def run(plan: Plan, jobs: int, *, looking: bool = False) -> tuple[RunSummary, Watched]:
    """Run a plan into a new store."""
    executor = Watched(jobs, looking=looking)
    machine, ours = _busy(), sum(os.times()[:4])
    with tempfile.TemporaryDirectory(prefix="dpbench-runner-") as folder:
        outcome = execute(plan.work[0], Store(folder, create=True), executor, plan=plan)
    executor.others = max(_busy() - machine - (sum(os.times()[:4]) - ours), 0.0) / outcome.wall
    if outcome.failures:
        raise SystemExit(f"a unit failed: {outcome.failures[0].failure}")
    return outcome, executor


def report(name: str, value: float, form: str, promise: float, others: float) -> bool:
    """Print one figure; whether the promise is kept. Speed and share are to be large, all else small."""
    at_least = promise in {SPEEDUP, SHARE}
    kept = value >= promise if at_least else value <= promise
    wanted = f"{'at least' if at_least else 'at most'} {promise:g}; others used {others:.2f} cores"
    print(f"{name}: {form.format(value)} ({wanted})" + ("" if kept else "   NOT KEPT"), flush=True)
    return kept


def main() -> int:
    """All figures; 1 if a promise is broken."""
    print(f"load before: {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
    shapes = ["bimodal", "power-law", "uniform", "normal"]
    wide = RANGE_1D.replace(
        name="runner", datasets=shapes, domains=[4096], scales=[10**3, 10**5, 10**7], samples=160, algorithms=CORE
    )
    plan = Plan(name="runner", tasks=(wide,))
    took = [(run(plan, 1), run(plan, 2)) for _ in range(REPEATS)]  # in turn: a machine's speed drifts
    one, alone = min((first for first, _ in took), key=lambda each: each[0].wall)
    two, both = min((second for _, second in took), key=lambda each: each[0].wall)
    faster, others = one.wall / two.wall, max(alone.others, both.others)
    kept = [report("two workers against one", faster, "{:.2f} times as fast", SPEEDUP, others)]
    share = (two.algorithm + two.other) / (2 * two.wall)
    kept.append(report("worker time in the work itself", share, "{:.1%}", SHARE, both.others))
    print(
        f"  best of {REPEATS}, {two.finished} units: one worker {one.wall:.1f} s, two {two.wall:.1f} s, the first row "
        f"after {both.first:.1f} s; algorithms {two.algorithm:.1f} s, data, answers and losses {two.other:.1f} s"
    )
    tiny = RANGE_1D.replace(
        name="tiny", datasets=shapes, domains=[16], scales=[100], samples=1500, trials=1, algorithms=["Identity"]
    )
    outcome, watched = run(Plan(name="tiny", tasks=(tiny,)), 1)
    own = (outcome.wall - watched.first - outcome.algorithm - outcome.other) / outcome.finished * 1000
    kept.append(report("the runner's own time for a unit", own, "{:.3f} ms", COST, watched.others))
    print(f"  {outcome.finished} units of {1000 * (outcome.algorithm + outcome.other) / outcome.finished:.3f} ms")
    large = RANGE_2D.replace(
        name="large", datasets=["clusters"], domains=["256x256"], scales=[10**6], samples=1, algorithms=[]
    )
    fitting = {unit.algorithm.name for unit in Plan(name="large", tasks=(large,)).work[0]}
    for name, chosen in (("the core", [name for name in CORE if name in fitting]), ("all", sorted(fitting))):
        _, watched = run(Plan(name="large", tasks=(large.replace(algorithms=chosen),)), 1, looking=True)
        title = f"memory of a worker at 256x256, 2000 ranges, {name}"
        kept.append(report(title, watched.peak, "{:.0f} MB", MEMORY, watched.others))
    print("all promises kept" if all(kept) else "A PROMISE IS BROKEN")
    return 0 if all(kept) else 1


if __name__ == "__main__":
    sys.exit(main())
