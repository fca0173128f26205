"""Ten thousand random cases per algorithm and notion, in search of a false alarm; outside the default tests.

python -m benchmarks.audit_cases --cases 10000 --out audit-cases.json
python -m benchmarks.audit_cases --cases 1000 --algorithm Hb --algorithm DAWA --out audit-cases.json

Results are kept in the file after every batch of batches, so the same command goes on where it was ended. A batch has
eight cases; its seed is its number, whatever the order in which batches are run.
"""

import argparse
import json
import sys
from pathlib import Path

from dpbench import algorithms
from dpbench.audit.cases import BATCH, Cases
from dpbench.audit.fresh import TooSlow
from dpbench.audit.replay_layer import examined, prepare, processor_seconds
from dpbench.audit.subject import Subject
from dpbench.audit.worlds import Runner
from dpbench.errors import CheckFailed

PORTION = 25
"""Batches after which the file is written."""
SEED = 1
"""Not that of the default audit."""


def search(name, notion, wanted, kept, keep):
    """Go on from where the file is; every alarm is kept with its cause."""
    subject = Subject(algorithms.get(name), seed=SEED, notion=notion)
    runner, cases = Runner(subject.algorithm), Cases(subject.algorithm, (notion,), SEED)
    prepare(subject)
    found = kept.setdefault(
        f"{name}, {notion}", {"batches": 0, "cases": 0, "too large": 0, "too slow": 0, "seconds": 0.0, "alarms": []}
    )
    while found["cases"] + found["too large"] + BATCH * found["too slow"] < wanted:
        begun = processor_seconds()
        batch = cases.batch(found["batches"])
        try:
            runner, looked, words = examined(subject, runner, batch, found["batches"])
            found["cases"] += looked.compared
            found["too large"] += looked.too_large
            if words:
                found["alarms"].append(words)
        except TooSlow:
            found["too slow"] += 1
        except CheckFailed as failure:
            found["alarms"].append(str(failure))
        found["batches"] += 1
        found["seconds"] = round(found["seconds"] + processor_seconds() - begun, 2)
        if found["batches"] % PORTION == 0:
            keep()
    keep()
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", type=int, default=10_000)
    parser.add_argument("--algorithm", action="append", default=[])
    parser.add_argument("--out", type=Path, default=Path("audit-cases.json"))
    chosen = parser.parse_args()
    kept = json.loads(chosen.out.read_text()) if chosen.out.exists() else {}
    for name in chosen.algorithm or algorithms.everything():
        for notion in algorithms.get(name).notions:
            found = search(name, notion, chosen.cases, kept, lambda: chosen.out.write_text(json.dumps(kept, indent=1)))
            alarms = f"{len(found['alarms'])} ALARMS" if found["alarms"] else "no alarm"
            sys.stdout.write(f"{name}, {notion}: {found['cases']} cases, {alarms}, {found['seconds']:.0f} s of CPU\n")
            sys.stdout.flush()
    return int(any(found["alarms"] for found in kept.values()))


if __name__ == "__main__":
    sys.exit(main())
