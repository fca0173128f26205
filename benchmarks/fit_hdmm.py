"""Search for the strategies of HDMM that come with the package, at the workloads and sizes of the paper.

python -m benchmarks.fit_hdmm --out src/dpbench/fitted                  about half an hour of one core
python -m benchmarks.fit_hdmm --out DIR --only Prefix-1024              some of them

The search is that of the package with more starts and iterations, so what it finds is as good or better.
"""

import argparse
import time
from pathlib import Path

from dpbench.algorithms.hdmm import to_arrays
from dpbench.fitted import write
from dpbench.linear.moments import grouped_axes
from dpbench.linear.p_identity_fit import fit_axis, trace
from dpbench.workloads import Prefix, RandomRange

STARTS, ITERATIONS = 18, 4000
SHIPPED = {
    **{f"Prefix-{n}": Prefix(n) for n in (256, 512, 1024, 2048, 4096)},
    **{f"RandomRange-{n}": RandomRange(n, queries=None) for n in (32, 64, 128, 256)},
}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--only", nargs="*", default=list(SHIPPED), choices=list(SHIPPED))
    chosen = parser.parse_args()
    chosen.out.mkdir(parents=True, exist_ok=True)
    for name in chosen.only:
        ((_, moment),) = grouped_axes(SHIPPED[name])
        start = time.perf_counter()
        strategy = fit_axis(moment, starts=STARTS, iterations=ITERATIONS)
        path = chosen.out / f"{moment.key}.npz"
        write(path, to_arrays(strategy))
        print(
            f"{name:16} error {2 * trace(moment, strategy):9.4f}  rows {strategy.count:4}  "
            f"{time.perf_counter() - start:6.1f} s  {path.stat().st_size:7,} bytes  {path.name}",
            flush=True,
        )


if __name__ == "__main__":
    main()
