"""Every algorithm on large domains: ``python -m benchmarks.large`` (names narrow it; ``--domain``, ``--scale``).

Each private form runs on 2^20 cells (Prefix) and on 1024 x 1024 (2,000 random boxes) in a process of its own, which may
take two minutes of CPU time and 3 GB. Printed are the CPU seconds of the preparation, those of a trial after it, and
the peak memory of the process; wanted are at most 20 s per trial and 2 GB. A refusal is one line, which is shown;
only HDMM may, which searches for a strategy along every axis.
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
import time

from dpbench import algorithms
from dpbench.datasets import shapes
from dpbench.domain import Domain
from dpbench.errors import DPBenchError
from dpbench.generator import generate
from dpbench.workloads import Prefix, RandomRange, Workload

DOMAINS = ("1048576", "1024x1024")
EPSILON = 0.1
LIMIT = 3_000_000_000
"""Bytes that a process may take."""
PATIENCE = 120
"""CPU seconds after which it is ended."""
SECONDS, MEGABYTES = 20.0, 2000.0
"""What a trial and a process are to stay within."""
MAY_REFUSE = ("HDMM",)


def one(name: str, written: str, scale: int) -> str:
    """Preparation and trial of one algorithm on one domain, in words; for a process of its own."""
    resource.setrlimit(resource.RLIMIT_DATA, (LIMIT, LIMIT))
    resource.setrlimit(resource.RLIMIT_CPU, (PATIENCE, PATIENCE))
    domain = Domain.of(written)
    workload: Workload = Prefix(domain) if domain.ndim == 1 else RandomRange(domain)
    x = generate(shapes.get("power-law" if domain.ndim == 1 else "clusters", domain), scale, domain, seed=0)
    algorithm = algorithms.get(name)
    zcdp_only = "pure" not in algorithm.notions
    budget = {"rho": EPSILON**2 / 2} if zcdp_only else {"epsilon": EPSILON}
    started = time.process_time()
    algorithm._prepare(workload)
    prepared = time.process_time()
    algorithm.run(x, workload, trials=1, seed=0, **budget)
    trial = time.process_time() - prepared
    if trial > SECONDS / 2 or trial > 1:  # the first trial also loads kernels and fills caches
        again = time.process_time()
        algorithm.run(x, workload, trials=1, seed=1, **budget)
        trial = min(trial, time.process_time() - again)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000
    kept = trial <= SECONDS and peak <= MEGABYTES
    return (
        f"{prepared - started:8.2f} s before {trial:8.2f} s per trial {peak:6.0f} MB"
        f"{'' if kept else '  BEYOND THE LIMIT'}"
    )


def in_words(name: str, written: str, scale: int) -> str:
    """The same, or a refusal; a refusal of those that may not refuse is a failure."""
    try:
        return one(name, written, scale)
    except DPBenchError as refusal:
        return f"{'refused' if name in MAY_REFUSE else 'FAILED'}: {refusal}"


def separately(name: str, written: str, scale: int) -> str:
    """The same from a process of its own, which may run out of time or memory."""
    call = [sys.executable, "-m", "benchmarks.large", "--one", name, "--domain", written, "--scale", str(scale)]
    done = subprocess.run(call, capture_output=True, text=True, check=False)  # noqa: S603
    if done.returncode == 0:
        return done.stdout.strip()
    if done.returncode < 0:
        return f"FAILED: not ended after {PATIENCE} s of CPU time"
    return f"FAILED: {(done.stderr.strip().splitlines() or ['no word'])[-1]}"


def main() -> int:
    """A line per algorithm and domain; 1 if one failed or went beyond a limit."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help="algorithms; all of the catalogue where none is given")
    parser.add_argument("--domain", action="append", help="a domain; both large ones where none is given")
    parser.add_argument("--scale", type=int, default=10**6)
    parser.add_argument("--one", help=argparse.SUPPRESS)
    given = parser.parse_args()
    domains = given.domain or DOMAINS
    if given.one:
        print(in_words(given.one, domains[0], given.scale))
        return 0
    kept = True
    for written in domains:
        print(f"{written}, scale {given.scale:.0e}, epsilon {EPSILON:g}")
        for name in given.names or algorithms.names():
            if algorithms.get(name).supports(written):
                words = separately(name, written, given.scale)
                kept &= "FAILED" not in words and "BEYOND" not in words
                print(f"  {name:16} {words}", flush=True)
    print("all within the limits" if kept else "SOMETHING IS BEYOND THE LIMITS")
    return 0 if kept else 1


if __name__ == "__main__":
    sys.exit(main())
