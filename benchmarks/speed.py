"""Time per trial of every algorithm, in units of one numpy Laplace draw of as many cells: ``make bench``.

Machines differ and are noisy; the ratio to a draw measured in the same second differs much less, and so does the ratio
to another version of the code whose runs alternate with ours (``--against``, a folder with its ``dpbench`` package).
Three domains as in the study, then how each algorithm grows with the domain, up to 2^20 and 1024 x 1024 cells. All of
it takes some twenty minutes of the processor, and the kernels of another version are compiled once besides; the last
line says what it took.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import select
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from dpbench import algorithms, datasets
from dpbench.datasets import shapes
from dpbench.errors import DPBenchError
from dpbench.generator import generate
from dpbench.run.executors.contained import ENVIRONMENT

DOMAINS = {"4096": 10**8, "128x128": 10**6, "256x256": 10**8}
"""The three domains, each with its number of records."""
WANTED: dict[str, dict[str, float]] = {
    "4096": {"MWEM*": 180, "DAWA": 16, "PHP": 35, "SF": 60, "Hb": 2.5, "Cascade": 250}
    | {"Privelet": 4, "H": 5, "HbW": 5, "GreedyH": 8, "EFPA": 8, "HDMM": 20, "DPCube": 30, "AHP": 50, "MWEM": 60},
    "128x128": {"MWEM*": 40, "DAWA": 20, "HybridTree": 7, "Hb": 2.5, "Cascade": 160}
    | {"UGrid": 4, "Privelet": 8, "HbW": 8, "HDMM": 8, "AGrid": 10, "GreedyH": 12, "QuadTree": 12, "DPCube": 20}
    | {"AHP": 50, "MWEM": 60},
}
"""Units per trial that are wanted, private forms."""
TRIALS = 10
"""Trials of a data vector, as in the study."""
GROWTH = (("4096", "16384", "65536", "262144", "1048576"), ("128x128", "256x256", "512x512", "1024x1024"))
RECORDS = 10**6
"""Records on the domains that grow."""
SECONDS, MEGABYTES = 20.0, 2000.0
"""What a trial on a large domain may take."""
PATIENCE = 600.0
"""Seconds after which nobody waits for an answer."""


class Timer:
    """A process that times runs of one version of the package, as the study's workers run it.

    It is started again after it was given up.
    """

    def __init__(self, package: str | None = None) -> None:
        self.package = package
        self.process: subprocess.Popen[str] | None = None

    def cost(self, name: str, domain: str, counts: Path) -> dict[str, Any]:
        """What a run on the counts in a file costs, or why there is no such number."""
        if self.process is None:
            paths = {} if self.package is None else {"PYTHONPATH": self.package}
            # without the folder of the script among those that modules are imported from: ours have common names
            command = [sys.executable, "-P", str(Path(__file__).with_name("timing.py"))]
            self.process = subprocess.Popen(  # noqa: S603
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=os.environ | ENVIRONMENT | paths
            )
        question = {"algorithm": name, "domain": domain, "counts": str(counts), "trials": TRIALS}
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        print(json.dumps(question), file=self.process.stdin, flush=True)
        ready = select.select([self.process.stdout], [], [], PATIENCE)[0]
        answer = self.process.stdout.readline() if ready else ""
        if answer:
            return dict(json.loads(answer))
        self.close()
        return {"refused": "it died" if ready else f"more than {PATIENCE:.0f} s"}

    def close(self) -> None:
        """End the process."""
        if self.process is not None:
            self.process.kill()
            self.process.communicate()
            self.process = None


def counts_of(domain: str, scale: int, folder: Path) -> Path:
    """A file with a data vector of MEDCOST or GOWALLA, or of a synthetic shape where these do not reach."""
    dataset, stand_in = ("GOWALLA", "clusters") if "x" in domain else ("MEDCOST", "power-law")
    try:
        x = generate(datasets.load(dataset), scale, domain, seed=0)
    except DPBenchError:  # not on this machine, or coarser than the domain
        x = generate(shapes.get(stand_in, domain), scale, domain, seed=0)
    path = folder / f"{domain}-{scale}.npy"
    np.save(path, x)
    return path


def units_table(domain: str, scale: int, names: list[str], against: str | None, folder: Path) -> bool:
    """Units per trial now and before, each the best of two that alternate; whether all are within what is wanted."""
    print(f"\n{domain} at {scale:.0e} records, {TRIALS} trials per data vector: units per trial")
    print(f"  {'':14}{'now':>10}{'before':>10}{'ratio':>8}{'wanted':>8}")
    timers, x = [Timer()] + ([Timer(against)] if against else []), counts_of(domain, scale, folder)
    kept = True
    for name in names:
        rounds = [[timer.cost(name, domain, x) for timer in timers] for _ in range(2)]
        if "units" not in rounds[0][0]:
            if rounds[0][0]["refused"] != "not for so many axes":
                print(f"  {name:14}{'refused: ' + rounds[0][0]['refused']}")
            continue
        now, before = _best(costs[0] for costs in rounds), _best(costs[-1] for costs in rounds if against)
        wanted = WANTED.get(domain, {}).get(name)
        within = wanted is None or now["units"] <= wanted
        kept &= within
        print(
            f"  {name:14}{now['units']:10.2f}"
            + (f"{before['units']:10.2f}{now['seconds'] / before['seconds']:8.2f}" if before else f"{'-':>10}{'-':>8}")
            + (f"{wanted:8g}" if wanted else "")
            + ("" if within else "  MORE THAN WANTED"),
            flush=True,
        )
    for timer in timers:
        timer.close()
    return kept


def _best(costs: Iterable[dict[str, Any]]) -> dict[str, Any]:
    return min((cost for cost in costs if "units" in cost), key=lambda cost: float(cost["seconds"]), default={})


def growth_table(domains: tuple[str, ...], names: list[str], folder: Path) -> bool:
    """Seconds per trial after preparation; whether time and memory are within bounds where nothing was refused."""
    print(f"\nSeconds per trial at {RECORDS:.0e} records (at most {SECONDS:g}; {MEGABYTES:g} MB at the peak)")
    print(f"  {'':14}" + "".join(f"{domain:>12}" for domain in domains) + f"{'MB':>8}")
    kept = True
    vectors = {domain: counts_of(domain, RECORDS, folder) for domain in domains}
    for name in names:
        timer, cells, peak, refused = Timer(), [], 0.0, ""
        for domain, x in vectors.items():
            found = timer.cost(name, domain, x)
            refused = found.get("refused", "")
            if refused:
                break
            cells.append(f"{found['seconds']:12.3g}")
            peak = found["megabytes"]
            kept &= found["seconds"] <= SECONDS and peak <= MEGABYTES
        timer.close()
        if cells or refused != "not for so many axes":
            note = f"  refused: {refused}" if refused else ""
            print(f"  {name:14}{''.join(cells):{12 * len(domains)}}{peak:8.0f}{note}", flush=True)
    return kept


def main() -> int:
    """All tables; 1 if something takes more than wanted."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--against", metavar="DIR", help="a folder with another version of the package dpbench")
    parser.add_argument("--algorithm", action="append", metavar="NAME", help="only this one; may be repeated")
    parser.add_argument("--domain", action="append", metavar="CELLS", choices=DOMAINS, help="units on this one only")
    parser.add_argument("--part", choices=("units", "growth"), help="only one of the two")
    options = parser.parse_args()
    if options.against and not (Path(options.against) / "dpbench").is_dir():
        parser.error(f"--against {options.against}: there is no package dpbench in that folder")
    every = dict.fromkeys([*algorithms.names(), *algorithms.names("zCDP")])
    names = options.algorithm or list(every)
    kept = True
    with TemporaryDirectory() as folder:
        for domain in (options.domain or DOMAINS) if options.part != "growth" else ():
            kept &= units_table(domain, DOMAINS[domain], names, options.against, Path(folder))
        for domains in GROWTH if options.part != "units" else ():
            kept &= growth_table(domains, names, Path(folder))
    took = resource.getrusage(resource.RUSAGE_CHILDREN)
    print(f"\n{(took.ru_utime + took.ru_stime) / 60:.1f} minutes of the processor")
    print("all within what is wanted" if kept else "SOMETHING TAKES MORE THAN WANTED")
    return 0 if kept else 1


if __name__ == "__main__":
    sys.exit(main())
