"""What it costs to keep a stranger apart: ``python -m benchmarks.containment [PAIRS] [SUITE] [OPTION ...]``.

The suite (quick), with one algorithm in a file among all others, is run as ``dpbench run`` runs it, and once more with
the file loaded and run in the planning process and in the workers, as if it were ours. Both are run in turn, each in
processes of its own, and the processor time of all of them and the time by the clock are compared. The whole suite
takes a quarter of an hour, so by default one unit in twelve is run, of every algorithm alike (``--shard 1/12``). To
start processes costs the same however much is run, so a sample makes containment look dearer than it is: what holds of
the sample holds of the suite. Options are those of ``dpbench run``.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from multiprocessing.connection import Connection
from pathlib import Path
from statistics import median

from dpbench.run import plan as planning
from dpbench.run import strangers
from dpbench.run.bench import Bench
from dpbench.run.executors import processes

MINE = '''
"""Noisy cells, cut at zero."""

from dataclasses import dataclass

import dpbench as dpb
from dpbench.mathematics.cells import Cells


@dataclass(frozen=True, kw_only=True)
class Mine(dpb.Algorithm):
    """Noisy cells, cut at zero."""

    name = "Mine"

    def estimate(self, data, workload):
        return data.laplace(Cells(data.domain), data.epsilon, "cells").clip(min=0)
'''
PROCESSOR, CLOCK = 0.03, 0.05
"""What containment may cost, as parts of the whole."""


def trusting(connection: Connection, memory: int | None, timeout: float | None) -> None:
    """A worker that runs everybody's code itself."""
    del memory, timeout
    bench = Bench()
    try:
        connection.send("ready")
        while True:
            for unit in connection.recv():
                connection.send(bench.run(unit))
    except (EOFError, BrokenPipeError, ConnectionResetError):
        pass


def run(contained: bool, arguments: list[str]) -> int:
    """``dpbench run``, with strangers kept apart or not."""
    from dpbench.cli import main

    if not contained:
        processes.work = trusting
        processes.whose = lambda _: ""
        planning.ask = lambda questions: [strangers._read(each, strangers._facts(each)[0]) for each in questions]
    return main(["run", *arguments])


def measured(mode: str, arguments: list[str]) -> tuple[float, float, bytes]:
    """Seconds of the processor and by the clock that a run took, with all its processes; what it stored."""
    with tempfile.TemporaryDirectory(prefix="dpbench-containment-") as folder:
        mine = Path(folder) / "mine.py"
        mine.write_text(MINE)
        suite, *options = arguments
        command = [suite, "--with", f"{mine}:Mine", "--store", f"{folder}/store", "--quiet", *options]
        before, begin = os.times(), time.monotonic()
        code = [sys.executable, "-m", "benchmarks.containment", mode, *command]
        subprocess.run(code, check=True, stdout=subprocess.DEVNULL)  # noqa: S603  (our own)
        after, clock = os.times(), time.monotonic() - begin
        used = after.children_user + after.children_system - before.children_user - before.children_system
        export = [sys.executable, "-m", "dpbench.cli", "store", "export", f"{folder}/store", "--canonical"]
        subprocess.run([*export, "--out", f"{folder}/export.csv"], check=True, stdout=subprocess.DEVNULL)  # noqa: S603
        return used, clock, (Path(folder) / "export.csv").read_bytes()


def main(arguments: list[str]) -> int:
    """Both in turn; 1 if containment costs more than it may, or changes a number."""
    pairs = int(arguments.pop(0)) if arguments and arguments[0].isdecimal() else 1
    arguments = arguments or ["quick", "--shard", "1/12"]
    costs: dict[str, list[tuple[float, float]]] = {"contained": [], "trusting": []}
    exports = set[bytes]()
    for _ in range(pairs):
        for mode, took in costs.items():
            used, clock, export = measured(mode, arguments)
            took.append((used, clock))
            exports.add(export)
            print(f"{mode}: {used:.1f} s of the processor, {clock:.1f} s by the clock", flush=True)
    more = [
        median(one[place] / other[place] for one, other in zip(costs["contained"], costs["trusting"], strict=True)) - 1
        for place in (0, 1)
    ]
    kept = more[0] <= PROCESSOR and more[1] <= CLOCK and len(exports) == 1
    same = "the same bytes" if len(exports) == 1 else "OTHER NUMBERS"
    load = f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores"
    print(
        f"containment costs {more[0]:+.1%} of the processor (at most {PROCESSOR:.0%}) and {more[1]:+.1%} by the clock "
        f"(at most {CLOCK:.0%}), with {same}; {load}" + ("" if kept else "   NOT KEPT")
    )
    return 0 if kept else 1


if __name__ == "__main__":
    if sys.argv[1:2] in (["contained"], ["trusting"]):
        sys.exit(run(sys.argv[1] == "contained", sys.argv[2:]))
    sys.exit(main(sys.argv[1:]))
