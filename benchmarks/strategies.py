"""Expected errors of the data-independent algorithms on the study's workloads, into src/dpbench/fitted/strategies.csv.

python -m benchmarks.strategies     a minute of one core; after a change of an algorithm, a strategy or the limit
"""

from dpbench.data_independent import COLUMNS, SHIPPED, UNITS, compute_unit_errors
from dpbench.store.files import csv_text
from dpbench.workloads import Prefix, RandomRange

WORKLOADS = (
    *(Prefix(n) for n in (256, 512, 1024, 2048, 4096)),
    *(RandomRange((n, n)) for n in (32, 64, 128, 256)),
)


def rows_of(workload):
    """One row per algorithm that has an error, and one for the limit."""
    found = {notion: compute_unit_errors(workload, notion) for notion in UNITS}
    names = dict.fromkeys(name for errors in found.values() for name in errors)
    for name in names:
        errors = {notion: repr(errors[name]) if name in errors else "" for notion, errors in found.items()}
        yield {"workload": repr(workload), "key": workload.key, "algorithm": name} | errors


def main():
    rows = []
    for workload in WORKLOADS:
        rows += rows_of(workload)
        print(f"{workload!r}: {len(rows)} rows", flush=True)
    SHIPPED.write_text(csv_text(COLUMNS, rows), encoding="utf-8")


if __name__ == "__main__":
    main()
