"""How long reading takes: ``python -m benchmarks.reading``.

``dpbench paper``, ``dpbench report`` and a tiny run, each as a command of its own, by the wall and by the processor.
The first call of each is not counted: it compiles bytecode and keeps what a page needs. The promises are for a quiet
machine; a loop of ten million additions stands beside them, since machines differ, and one machine differs by the hour.
"""

from __future__ import annotations

import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

CALLS = 7
PROMISED = {"paper": 2.0, "report": 2.0, "tiny run": 1.0}
"""Seconds by the wall."""
TINY = "run demo --algorithm Identity --domain 64 --scale 1000 --samples 1 --trials 2 --quiet --store"


def seconds(arguments: list[str]) -> tuple[float, float]:
    """Seconds of one command, by the wall and of the processor."""
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run([sys.executable, "-m", "dpbench", *arguments], check=True, stdout=subprocess.DEVNULL)  # noqa: S603
    wall, after = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    return wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def loop() -> float:
    """Seconds of ten million additions."""
    start, total = time.process_time(), 0
    for each in range(10**7):
        total += each
    return time.process_time() - start


def main() -> int:
    """Print a line for each command; 1 where the median is above what is promised."""
    print(f"ten million additions: {loop():.2f} s; load before: {os.getloadavg()[0]:.1f}")
    worst = 0
    with tempfile.TemporaryDirectory() as folder:
        commands = {
            "paper": lambda _: ["paper"],
            "report": lambda _: ["report", "--out", str(Path(folder, "page"))],
            "tiny run": lambda number: [*TINY.split(), str(Path(folder, f"store-{number}"))],
        }
        for name, command in commands.items():
            seconds(command("first"))
            found = [seconds(command(number)) for number in range(CALLS)]
            wall, own = (statistics.median(each) for each in zip(*found, strict=True))
            least, most = min(each for each, _ in found), max(each for each, _ in found)
            kept = wall < PROMISED[name]
            worst |= not kept
            print(
                f"{name:9} {wall:.2f} s ({least:.2f} to {most:.2f}), {own:.2f} s of the processor; "
                f"{'within' if kept else 'ABOVE'} the {PROMISED[name]:g} s that are promised"
            )
    return int(worst)


if __name__ == "__main__":
    sys.exit(main())
