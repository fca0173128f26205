"""Our published forms against errors measured with the authors' own code, row by row.

    python -m benchmarks.parity --reference errors.csv [--algorithm NAME ...] [--out FILE.csv]

The reference has one row a setting: mean error and its standard error over data samples. We run the same form with
the true scale public and compare. Standard errors are over samples, because runs on one sample are correlated. A row
disagrees if the means differ by more than 10 % and by more than 4 combined standard errors; such a row is run again
with four times the samples and fresh seeds before it counts.
"""

from __future__ import annotations

import argparse
import csv
import os
import sys
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context

import numpy as np

from dpbench import algorithms, datasets, generate
from dpbench.domain import Domain
from dpbench.loss import scaled_error
from dpbench.run.seeds import seed_for
from dpbench.workloads import Prefix, RandomRange

OPTIONS = {
    "": {},
    "rho=0.5": {"rho": 0.5},
    "truncate=False": {"truncate": False},
    "inner nodes noised": {"inner_noise": True},
}
SAMPLES, RUNS = 10, 10
CLOSE, SIGNIFICANT = 0.10, 4.0


@dataclass(frozen=True)
class Comparison:
    """One row of the reference beside ours."""

    row: dict[str, str]
    mean: float
    standard_error: float
    samples: int

    @property
    def ratio(self) -> float:
        return self.mean / float(self.row["mean"])

    @property
    def distance(self) -> float:
        """Difference of the means in combined standard errors."""
        combined = np.hypot(self.standard_error, float(self.row["standard_error"]))
        return abs(self.mean - float(self.row["mean"])) / max(combined, 1e-300)

    @property
    def disagrees(self) -> bool:
        return abs(self.ratio - 1) > CLOSE and self.distance > SIGNIFICANT


def compare(row: dict[str, str], samples: int, seed: int) -> Comparison:
    """Run one row."""
    algorithm = algorithms.get(row["algorithm"], variant="published", **OPTIONS[row["options"]])
    shape = datasets.load(row["dataset"])
    domain, scale, epsilon = Domain.of(row["domain"]), int(float(row["scale"])), float(row["epsilon"])
    means = []
    for sample in range(samples):
        place = ("parity", row["dataset"], str(domain), scale, sample)
        x = generate(shape, scale, domain, seed_for(seed, "data", *place))
        workload = Prefix(domain) if domain.ndim == 1 else RandomRange(domain, 2000, seed=sample)
        noise = seed_for(seed, "noise", *place, repr(algorithm))
        estimate = algorithm.run(x, workload, epsilon, RUNS, noise, side_information="public")
        means.append(scaled_error(workload, x, estimate).mean())
    return Comparison(row, float(np.mean(means)), float(np.std(means, ddof=1) / np.sqrt(samples)), samples)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--reference", required=True, help="CSV with the authors' errors")
    parser.add_argument("--algorithm", action="append", default=[], help="only this one; may be repeated")
    parser.add_argument("--samples", type=int, default=SAMPLES)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--out", help="write every comparison to this CSV")
    chosen = parser.parse_args()
    with open(chosen.reference, newline="") as file:  # noqa: PTH123
        rows = [row for row in csv.DictReader(file) if not chosen.algorithm or row["algorithm"] in chosen.algorithm]
    absent = sorted({row["algorithm"] for row in rows} - set(algorithms.names()))
    rows = [row for row in rows if row["algorithm"] not in absent]
    compared, again = [], []
    print("algorithm  options             dataset    domain   scale      ours        theirs      ratio   s.e. apart")
    os.environ.update(OPENBLAS_NUM_THREADS="1", OMP_NUM_THREADS="1")  # for the workers, which start afresh
    with ProcessPoolExecutor(chosen.jobs, mp_context=get_context("spawn")) as pool:
        for first in pool.map(compare, rows, [chosen.samples] * len(rows), [chosen.seed] * len(rows)):
            show(first)
            compared.append(first)
        suspects = [each for each in compared if each.disagrees]
        if suspects:
            print(f"\n{len(suspects)} rows are run again with {4 * chosen.samples} samples and fresh seeds")
            seeds = [chosen.seed + 1] * len(suspects)
            for second in pool.map(compare, [s.row for s in suspects], [4 * chosen.samples] * len(suspects), seeds):
                show(second)
                again.append(second)
    failed = [each for each in again if each.disagrees]
    log_ratios = np.log([each.ratio for each in compared])
    print(f"\n{len(compared)} rows compared; geometric mean of ours / theirs {np.exp(log_ratios.mean()):.3f}")
    print(f"{len(failed)} of {len(compared)} disagree after the second look")
    if absent:
        print(f"not in the catalogue yet: {', '.join(absent)}")
    if chosen.out:
        with open(chosen.out, "w", newline="") as file:  # noqa: PTH123
            writer = csv.writer(file)
            writer.writerow([*rows[0], "ours", "ours_standard_error", "ours_samples", "ratio", "apart", "disagrees"])
            for each in [*compared, *again]:
                numbers = (each.mean, each.standard_error, each.samples, each.ratio, each.distance, each.disagrees)
                writer.writerow([*each.row.values(), *numbers])
    return 1 if len(failed) > 0.01 * len(compared) else 0


def show(each: Comparison) -> None:
    row = each.row
    mark = "  <-- disagrees" if each.disagrees else ""
    print(
        f"{row['algorithm']:10} {row['options']:19} {row['dataset']:10} {row['domain']:8} {float(row['scale']):8.0e}  "
        f"{each.mean:.4e}  {float(row['mean']):.4e}  {each.ratio:6.3f}  {each.distance:6.1f}{mark}",
        flush=True,
    )


if __name__ == "__main__":
    sys.exit(main())
