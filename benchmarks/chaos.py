"""Kill -9 of runs and of their workers at random moments: ``python -m benchmarks.chaos [KILLS] [SEED]``.

A small study is run again and again, now and then by two commands at once. At random moments a parent process or one of
its workers is killed; a dead parent's command is repeated on the same store.
Whenever the study is through, its canonical export is compared with that of a run that nobody touched. Exit code 1 on
any difference, any stored result that is gone or stands twice, any file that the manifest misses, and any worker that
outlives its parent.
"""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from dpbench.store import Store
from dpbench.store.schema import from_table

SLOW = '''
"""Identity that takes its time, so that a small study lasts."""

import time
from dataclasses import dataclass

from dpbench.algorithm import Algorithm
from dpbench.mathematics.cells import Cells


@dataclass(frozen=True, kw_only=True)
class Slow(Algorithm):
    """Identity after a pause."""

    name = "Slow"
    data_dependent = False

    def estimate(self, data, workload):
        time.sleep(0.03)
        return data.laplace(Cells(data.domain), data.epsilon, "cells")
'''
PLAN = """\
base = "RANGE_1D"
datasets = ["bimodal", "power-law", "uniform"]
algorithms = ["slow.py:Slow", "Identity", "Hb", "Uniform"]
domains = [64]
scales = [100, 1000, 10000]
samples = {samples}
trials = 3
"""
TWO_AT_ONCE, AT_WORK, WORKERS = 0.25, 0.8, 0.6
"""How often two commands run on one store, a kill waits for workers, and hits one of them rather than its parent."""
PATIENCE = 5.0
"""Seconds after which a worker should have followed its parent; more is a fault."""
LONGEST = 60.0
"""Seconds that such a worker is watched, to say how late it was."""


class Chaos:
    """A study in a folder, and what was done to it."""

    def __init__(self, folder: Path, seed: int, samples: int = 16) -> None:
        self.folder = folder
        self.rng = random.Random(seed)
        self.counts: Counter[str] = Counter()
        self.faults: list[str] = []
        self._stored: dict[tuple[object, ...], list[float]] = {}
        self._orphans: list[tuple[int, float]] = []
        (folder / "slow.py").write_text(SLOW)
        (folder / "plan.toml").write_text(PLAN.format(samples=samples))
        self._reference = b""
        self._through = False

    def start(self, store: str, *options: str) -> subprocess.Popen[bytes]:
        """Begin or resume the study."""
        command = [sys.executable, "-m", "dpbench.cli", "run", "plan.toml", "--quiet", "--store", store, *options]
        with (self.folder / f"{store}.err").open("ab") as said:
            return subprocess.Popen(command, cwd=self.folder, stdout=subprocess.DEVNULL, stderr=said)  # noqa: S603  (our own)

    def reference(self) -> float:
        """Run the study undisturbed; how long it took."""
        begin = time.monotonic()
        if self.start("calm", "--jobs", "1").wait() != 0:
            raise SystemExit("the undisturbed run failed")
        self._reference = self.canonical("calm")
        return time.monotonic() - begin

    def canonical(self, store: str) -> bytes:
        """The canonical export of a store."""
        command = [sys.executable, "-m", "dpbench.cli", "store", "export", store, "--canonical", "--out", "export.csv"]
        subprocess.run(command, cwd=self.folder, check=True, stdout=subprocess.DEVNULL)  # noqa: S603  (our own)
        return (self.folder / "export.csv").read_bytes()

    def disturb(self, kills: int, longest: float) -> None:
        """Kill until ``kills`` have hit, then let the study end."""
        done = 0
        while done < kills or not self._through:
            self._fresh()
            both = self.rng.random() < TWO_AT_ONCE
            self.counts["runs begun beside another"] += both
            running = [self.start("shaken", "--jobs", "2", "--retry-failed") for _ in range(1 + both)]
            processes = list(running)
            while done < kills and running:
                done += self._strike(running, self.rng.uniform(0.0, longest))
            self._after([process.wait() for process in processes])

    def _strike(self, running: list[subprocess.Popen[bytes]], delay: float) -> bool:
        """Wait, then kill a parent or a worker; whether anything was hit. Parents that have ended are left out."""
        if self.rng.random() < AT_WORK:  # at work, where most of the time goes, and not while it begins
            while all(process.poll() is None and not workers_of(process.pid) for process in running):
                time.sleep(0.05)
        time.sleep(delay)
        running[:] = [process for process in running if process.poll() is None]
        if not running:
            return False
        process = self.rng.choice(running)
        workers = workers_of(process.pid)
        if workers and self.rng.random() < WORKERS:
            hit = kill(self.rng.choice(workers))
            self.counts["workers killed"] += hit
            return hit
        process.kill()
        process.wait()
        running.remove(process)
        self.counts["parents killed"] += 1
        self._orphans += [(worker, time.monotonic()) for worker in workers]
        return True

    def _after(self, codes: list[int]) -> None:
        """What must hold whenever no parent process runs."""
        for worker, since in self._orphans:
            late = False
            while alive(worker) and time.monotonic() - since < LONGEST:
                late = late or time.monotonic() - since > PATIENCE
                time.sleep(0.01)
            if late:
                self.faults.append(f"a worker outlived its parent by {time.monotonic() - since:.0f} s")
        self._orphans = []
        folder = self.folder / "shaken"
        if not (folder / "store.json").exists():
            return
        store = Store(folder)
        self.faults += [f"{damage.path.name}: {damage.reason}" for damage in store.verify()]
        rows = [row for row in from_table(store.table()) if not row.failure]
        held = {row.identity: row.l2 for row in rows}
        if len(held) != len(rows):
            self.faults.append(f"{len(rows) - len(held)} results stand twice")
        lost = [identity for identity, errors in self._stored.items() if held.get(identity) != errors]
        if lost:
            self.faults.append(f"{len(lost)} stored results are gone")
        self._stored = held
        self.counts["runs"] += len(codes)
        self._through = 0 in codes
        if self._through:
            self.counts["studies finished"] += 1
            if self.canonical("shaken") != self._reference:
                self.faults.append("the export differs from that of the undisturbed run")
        for code in set(codes) - {0, 1, -signal.SIGKILL}:
            last = (self.folder / "shaken.err").read_text(errors="replace").strip().splitlines()[-2:]
            self.faults.append(f"a run ended with exit code {code}: {' | '.join(last)}")

    def _fresh(self) -> None:
        """A new store where the last study is through."""
        folder = self.folder / "shaken"
        if self._through:
            folder.rename(self.folder / f"through-{self.counts['studies finished']}")
            self._through, self._stored = False, {}


def workers_of(pid: int) -> list[int]:
    """Worker processes of a run."""
    try:
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
        return [int(child) for child in children if b"spawn_main" in Path(f"/proc/{child}/cmdline").read_bytes()]
    except OSError:
        return []


def alive(pid: int) -> bool:
    """Whether a process exists and is not a zombie."""
    try:
        return " Z" not in Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1][:2]
    except OSError:
        return False


def kill(pid: int) -> bool:
    """Kill -9; whether the process was there."""
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        return False
    return True


def main(arguments: list[str]) -> int:
    """Kill, compare, print one line."""
    kills, seed = (int(text) for text in (arguments + ["100", "0"][len(arguments) :]))
    begin = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="dpbench-chaos-") as name:
        chaos = Chaos(Path(name), seed)
        calm = chaos.reference()
        chaos.disturb(kills, min(calm / 2, 6.0))
    for fault in chaos.faults:
        print(fault)
    counts = ", ".join(f"{count} {what}" for what, count in sorted(chaos.counts.items()))
    verdict = "FAILED" if chaos.faults else "passed: nothing lost, nothing twice, every export byte-equal"
    print(f"{verdict}; {counts}, in {time.monotonic() - begin:.0f} s (undisturbed, one worker: {calm:.0f} s)")
    return 1 if chaos.faults else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
