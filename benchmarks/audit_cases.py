"""Ten thousand random cases per algorithm and notion, in search of a false alarm; outside the default tests.

python -m benchmarks.audit_cases --cases 10000 --out audit-cases.json
python -m benchmarks.audit_cases --cases 1000 --algorithm Hb --algorithm DAWA --out audit-cases.json

A batch has eight cases; its seed is its number, whatever the order in which batches are run. The file is written after
every few batches, with the revisions of the algorithm and of the audit. The same command goes on where it was ended,
and begins an algorithm again whose revision is another. As many batches as the default audit has are as there. From
then on it is thrifty: five batches in a row are of the same workloads, many trials are run in one batch of twenty-five,
and a claim gets a sixth of the audit's time. A batch that is too slow is made up for by another; what of it is slow is
kept with its number.
``--part 1/2`` and ``--part 2/2``, each with a file of its own, share the work between two processes.

python -m benchmarks.audit_cases --page docs/audit-cases.md --out audit-cases-1.json --out audit-cases-2.json

runs nothing, and writes what files say into a page; rows that the page has of other algorithms and notions stay.

python -m benchmarks.audit_cases --page docs/audit-cases.md --stale

runs and writes nothing, and names the rows of the page that other code has made than what is here, or that are missing.
"""

import argparse
import json
import re
import sys
from dataclasses import replace
from pathlib import Path

from dpbench import algorithms
from dpbench.audit.cases import BATCH, MANY, Cases
from dpbench.audit.fresh import TooSlow, processor_seconds
from dpbench.audit.replay_layer import examined, prepare, prepare_ours
from dpbench.audit.slow import slow_words
from dpbench.audit.subject import CASES, REVISION, Subject
from dpbench.audit.worlds import CLAIM_SECONDS, Runner
from dpbench.errors import CheckFailed
from dpbench.run.identity import algorithm_version
from dpbench.store.disk import write_whole

SECONDS = 20.0
"""Time of the processor after which the file is written."""
SEED = 1
"""Not that of the default audit."""
LATER = CLAIM_SECONDS / 6
"""Time of the processor for each claim after as many batches as the default audit has."""
SELDOM, FEW = 25, 3
"""Batches after these of which one has cases of many trials, and trials that such cases have in the others."""


def audited(name):
    """The revisions of an algorithm and of the audit."""
    return f"{algorithm_version(algorithms.everything()[name])}, audit-r{REVISION}"


def pairs_of(names):
    """Each algorithm under each of its notions."""
    return [(name, notion) for name in names for notion in algorithms.get(name).notions]


def search(name, notion, wanted, kept, keep):
    """Go on from where the file is; every alarm is kept with its cause."""
    subject = Subject(algorithms.get(name), seed=SEED, notion=notion)
    usual, later = (Cases(subject.algorithm, (notion,), SEED, thrifty=thrifty) for thrifty in (False, True))
    prepare(subject)
    found = kept.get(f"{name}, {notion}", {})
    if found.get("audited") != audited(name):
        found = {"audited": audited(name), "batches": 0, "cases": 0, "too large": 0, "too slow": 0, "seconds": 0.0}
        found = kept[f"{name}, {notion}"] = found | {"alarms": []}
    written = processor_seconds()
    while found["cases"] + found["too large"] < wanted and found["batches"] * BATCH < 2 * wanted:
        begun, number = processor_seconds(), found["batches"]
        first = number * BATCH < CASES
        runner = Runner(subject.algorithm, claim_seconds=CLAIM_SECONDS if first else LATER)
        batch = (usual if first else later).batch(number)
        if not first and number % SELDOM:
            batch = [replace(case, trials=FEW) if case.trials == MANY else case for case in batch]
        prepare_ours(subject, batch)
        try:
            _, looked, words = examined(subject, runner, batch, number)
            found["cases"] += looked.compared
            found["too large"] += looked.too_large
            if words:
                found["alarms"].append(words)
        except TooSlow:
            found["too slow"] += 1
            found.setdefault("slow batches", {})[str(number)] = slow_words(runner, batch)
        except CheckFailed as failure:
            found["alarms"].append(str(failure))
        found["batches"] += 1
        found["seconds"] = round(found["seconds"] + processor_seconds() - begun, 2)
        if processor_seconds() - written > SECONDS:
            keep()
            written = processor_seconds()
    keep()
    return found


HEAD = """\
# Ten thousand random cases

Made by `python -m benchmarks.audit_cases --page docs/audit-cases.md`; do not edit. For each algorithm and notion of
privacy, cases as the [audit](audit.md) draws them, but of another seed: recorded on one data vector, forced on another,
and everything that leaves compared. A difference is an alarm: a leak, or a fault of the audit.
"Too large" are cases that the handle refuses, since counts are too large for exact answers; "too slow" are batches of
eight that were not done in time, each made up for by another. "Code" has the revisions of the algorithm and of the
audit; `--stale` names rows that other code has made. Where compared and too large are far from ten thousand, the search
has not come to its end yet.
{older}
| algorithm | notion | compared | too large | batches too slow | alarms | minutes of one core | code |
|---|---|---|---|---|---|---|---|
"""


OLDER = """
The rows below are of dpbench 0.2.0 as of 2026-11-18, by the revisions that they name. The audit of this version is
another. What the audit has gained since (one seed in a fresh process and after other runs, forced tails of an own
mechanism, borders for plain functions) is no part of this search, but it shares code with it. The search is run again
before the next release.
"""
"""Stands above rows while any of them is of other code than is here."""
ROW = re.compile(r"\| (\S+) \| (\S+) \| ([\d,]+) \| \d+ \| \d+ \| (\d+) \| ([\d.]+) \| `([^`]+)` \|")
"""A row of the page: algorithm, notion, cases, alarms, minutes, code."""


def page(kept, before=""):
    """The results as a page; of algorithms and notions without results, the rows that the page has had."""
    rows = {found.group(1, 2): found.group(0) for found in ROW.finditer(before)}
    for title, found in kept.items():
        name, notion = (part.replace("*", "\\*") for part in title.rsplit(", ", 1))
        numbers = f"{found['cases']:,} | {found['too large']} | {found['too slow']} | {len(found['alarms'])}"
        tail = f"{found['seconds'] / 60:.1f} | `{found['audited']}` |"
        rows[name, notion] = f"| {name} | {notion} | {numbers} | {tail}"
    lines = [row for _, row in sorted(rows.items())]
    columns = zip(*(ROW.fullmatch(line).group(3, 4, 5) for line in lines), strict=True)
    cases, alarms, minutes = (sum(float(each.replace(",", "")) for each in column) for column in columns)
    total = f"In all {cases:,.0f} cases, {alarms:.0f} alarms, {minutes:.0f} minutes of one core."
    body = "\n".join([lines[0], *lines[1:], "", total, ""])
    return HEAD.format(older=OLDER if stale(body) else "") + body


def stale(before):
    """Algorithms and notions whose row is missing or of other code."""
    code = {(name.replace("\\*", "*"), notion): hashed for name, notion, *_, hashed in ROW.findall(before)}
    every = pairs_of(algorithms.everything())
    return [f"{name}, {notion}" for name, notion in every if code.get((name, notion)) != audited(name)]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", type=int, default=10_000)
    parser.add_argument("--algorithm", action="append", default=[])
    parser.add_argument("--part", default="1/1", metavar="I/K")
    parser.add_argument("--out", type=Path, action="append", help="the file of results; several only with --page")
    parser.add_argument("--page", type=Path, help="write what the files say as a page, and run nothing")
    parser.add_argument("--stale", action="store_true", help="name the rows of the page that other code has made")
    chosen = parser.parse_args()
    if chosen.stale:
        if not chosen.page:
            parser.error("--stale asks for a --page")
        found = stale(chosen.page.read_text())
        print("\n".join(found) or "every row is of the code as it is")
        return int(bool(found))
    files = chosen.out or [Path("audit-cases.json")]
    kept = {title: found for file in files if file.exists() for title, found in json.loads(file.read_text()).items()}
    if chosen.page:
        chosen.page.write_text(page(kept, chosen.page.read_text() if chosen.page.exists() else ""))
        return 0
    if len(files) > 1:
        parser.error("results of one run go to one file")

    def keep():
        write_whole(files[0], json.dumps(kept, indent=1).encode())

    place, parts = map(int, chosen.part.split("/"))
    every = pairs_of(chosen.algorithm or algorithms.everything())
    for name, notion in every[place - 1 :: parts]:
        found = search(name, notion, chosen.cases, kept, keep)
        alarms = f"{len(found['alarms'])} ALARMS" if found["alarms"] else "no alarm"
        sys.stdout.write(f"{name}, {notion}: {found['cases']} cases, {alarms}, {found['seconds']:.0f} s of CPU\n")
        sys.stdout.flush()
    return int(any(found["alarms"] for found in kept.values()))


if __name__ == "__main__":
    sys.exit(main())
