"""Search for HDMM's strategies that come with the package: the catalogue's workloads at the paper's sizes, and blocks.

python -m benchmarks.fit_hdmm                        all of them, into src/dpbench/fitted: half an hour of one core
python -m benchmarks.fit_hdmm --only Prefix-1024     some; the others stay as they are

The search is the package's with more starts and iterations. A strategy that is there already is replaced where a
better one is found.
"""

import argparse
import time

import numpy as np

from dpbench.fitted import SHIPPED, shipped, write
from dpbench.mathematics.moments import grouped_axes
from dpbench.mathematics.p_identity_fit import fit_axis, trace
from dpbench.mathematics.p_identity_known import from_arrays, to_arrays
from dpbench.workloads import AllRange, Prefix, RandomRange, RandomSmall

STARTS, ITERATIONS, LONG_ITERATIONS, LONG = 80, 6000, 1500, 2048
LINES, SIDES = (256, 512, 1024, 2048, 4096), (32, 64, 128)
BLOCKS = (16, 32, 64, 128)
"""Of those lines, over which Cascade measures rows; the longest has as many as the shortest line has cells."""
WORKLOADS = {
    **{f"Prefix-{n}": Prefix(n) for n in (*BLOCKS, *LINES)},
    **{
        f"{kind.name}-{n}": kind(n, **free)
        for kind, free in ((RandomRange, {"queries": None}), (AllRange, {}), (RandomSmall, {"queries": None}))
        for n in (*SIDES, *LINES)
    },
}


def archived():
    """Every array in the archive; nothing where there is none."""
    if not SHIPPED.exists():
        return {}
    with np.load(SHIPPED) as archive:
        return {path: archive[path] for path in archive.files}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="*", default=list(WORKLOADS), choices=list(WORKLOADS))
    arrays = archived()
    for name in parser.parse_args().only:
        ((_, moment),) = grouped_axes(WORKLOADS[name])
        start = time.perf_counter()
        iterations = ITERATIONS if moment.side < LONG else LONG_ITERATIONS
        found = [fit_axis(moment, starts=STARTS, iterations=iterations)]
        if f"{moment.key}/rows" in arrays:
            found.append(from_arrays(moment, shipped(moment.key)))
        best = min(found, key=lambda strategy: trace(moment, strategy))
        arrays |= {f"{moment.key}/{part}": array for part, array in to_arrays(best).items()}
        write(SHIPPED, arrays)
        seconds, errors = time.perf_counter() - start, ", ".join(f"{2 * trace(moment, each):.4f}" for each in found)
        print(f"{name:16} {moment.key:30} error {errors}, {best.count} rows, {seconds:.0f} s", flush=True)
    print(f"{SHIPPED.stat().st_size:,} bytes in all")


if __name__ == "__main__":
    main()
