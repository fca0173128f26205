"""What the paper's study costs, from a part of it: ``python -m benchmarks.study``.

A twentieth of the data (dataset, domain, scale) is drawn at random, from every domain alike, and all of the 19 run on
it with every sample and trial of ``dpbench run paper``. Times are the processor's, and multiplied by what was left out.
"Stored" is what results hold as ``seconds``, the time in the algorithm. All else is data vectors, answers and losses,
which results hold as ``seconds_other``, and the parent's own work: units, portions, shards of the store. Kernels are
loaded and strategies prepared before the clock runs; a study does that once, so it is printed by itself. So does it
plan and record what it runs, which is not multiplied.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
import time
from collections import defaultdict
from dataclasses import replace

from benchmarks.timing import unit_of
from dpbench.algorithms import PAPER_ORDER
from dpbench.run.bench import Bench
from dpbench.run.execution import execute, record_run
from dpbench.run.executors.serial import Serial
from dpbench.run.plan import narrow
from dpbench.run.suites import load_plan
from dpbench.run.units import Unit
from dpbench.store import Row, Store

STORED, ELSE = 10.0, 1.5
"""Minutes that the whole study may take: stored, and everything else."""


def drawn(units: list[Unit], part: int, seed: int) -> list[Unit]:
    """The units on one of every ``part`` data, at random among those of a domain."""
    data: dict[str, dict[tuple[str, int], list[Unit]]] = defaultdict(lambda: defaultdict(list))
    for unit in units:
        data[unit.domain][unit.vector[0], unit.scale].append(unit)
    stream, chosen = random.Random(seed), []
    for found in data.values():
        for key in stream.sample(sorted(found), max(1, round(len(found) / part))):
            chosen += found[key]
    return chosen


def main() -> int:
    """Minutes by algorithm; 1 if they are more than wanted."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--part", type=int, default=20, metavar="K", help="run one of every K (20)")
    parser.add_argument("--seed", type=int, default=0, help="which ones (0)")
    parser.add_argument("--variant", default="private", choices=("private", "published"), help="which forms (private)")
    options = parser.parse_args()

    begin = time.process_time()
    plan = narrow(load_plan("paper"), algorithm=PAPER_ORDER, variant=options.variant)
    units = plan.work[0]
    planned = time.process_time() - begin
    some = drawn(units, options.part, options.seed)
    bench = Bench()
    first = {(unit.algorithm, unit.domain): replace(unit, trials=1) for unit in some}
    for unit in first.values():
        bench.run(unit)  # loads kernels, prepares
    loaded = time.process_time() - begin - planned

    rows: list[Row] = []
    begin = time.process_time()
    with tempfile.TemporaryDirectory(prefix="dpbench-study-") as folder:
        execute(some, Store(folder, create=True), Serial(), plan=plan, on_row=rows.append)
        took = time.process_time() - begin
        begin = time.process_time()
        record_run(plan, Store(folder))  # of the whole plan, as is that of the run above
        planned += time.process_time() - begin
        took -= time.process_time() - begin
    failures = [row.failure for row in rows if row.failure]
    if failures:
        raise SystemExit(f"{len(failures)} of {len(rows)} units failed: {failures[0]}")

    many: dict[tuple[str, str], int] = defaultdict(int)
    for unit in units:
        many[unit.algorithm.name, unit.domain] += 1
    ran: dict[tuple[str, str], int] = defaultdict(int)
    spent: dict[tuple[str, str], float] = defaultdict(float)
    beside = 0.0
    for row in rows:
        ran[row.algorithm, row.domain] += 1
        spent[row.algorithm, row.domain] += row.seconds
        beside += row.seconds_other
    minutes: dict[str, float] = defaultdict(float)
    for key, seconds in spent.items():
        minutes[key[0]] += seconds * many[key] / ran[key] / 60

    whole = len(units) / len(rows)
    print(f"{len(rows)} of {len(units)} units, {took:.1f} s of the processor; numpy's Laplace draw of 4096 cells takes")
    print(f"{1e6 * unit_of(4096):.0f} microseconds meanwhile. Scaled to all units, minutes of one core:")
    for name in sorted(minutes, key=minutes.__getitem__, reverse=True):
        print(f"  {name:12}{minutes[name]:8.2f}")
    stored = sum(minutes.values())
    own = took - sum(spent.values()) - beside
    rest = (beside + own) * whole / 60 + planned / 60
    print(f"stored {stored:.2f} (wanted at most {STORED:g})")
    print(
        f"everything else {rest:.2f} (wanted at most {ELSE:g}): data vectors, answers and losses "
        f"{beside * whole / 60:.2f}, parent {own * whole / 60:.2f} ({1000 * own / len(rows):.2f} ms per unit), "
        f"plan and record {planned / 60:.2f}"
    )
    print(f"once: kernels and preparation {loaded:.1f} s")
    return 0 if stored <= STORED and rest <= ELSE else 1


if __name__ == "__main__":
    sys.exit(main())
