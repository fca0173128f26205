"""A histogram of many rows of Parquet, beside a plain loop: ``python -m benchmarks.large_table [ROWS] [FOLDER]``.

Writes the file in pieces, counts it in processes of their own with the reader of `dpbench table` and with a plain loop
over Arrow batches (numpy: searchsorted and bincount), prints the time, the processor's time and the largest memory
of each, and removes the file. Both count 128 x 128 cells and have to agree.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

PIECE = 2_000_000
READER = """
from dpbench.tables import Numbers, histogram
axes = [Numbers("delay", -60, 1440, bins=128), Numbers("distance", 0, 5120, bins=128)]
histogram({"delay": [0.0], "distance": [0]}, axes)  # kernels are loaded before the clock starts
start, cpu = time.perf_counter(), time.process_time()
counts = histogram(PATH, axes).counts
"""
LOOP = """
import pyarrow.parquet as pq
edges = np.linspace(-60, 1440, 129), np.linspace(0, 5120, 129)
start, cpu = time.perf_counter(), time.process_time()
counts = np.zeros(128 * 128, dtype=np.int64)
for batch in pq.ParquetFile(PATH).iter_batches(columns=["delay", "distance"]):
    codes = [
        np.clip(np.searchsorted(edge, batch.column(n).to_numpy(zero_copy_only=False), side="right") - 1, 0, 127)
        for n, edge in enumerate(edges)
    ]
    counts += np.bincount(codes[0] * 128 + codes[1], minlength=128 * 128)
"""
FRAME = """
import resource, sys, time
from hashlib import sha256
import numpy as np
PATH = sys.argv[1]
{code}
seconds, cpu = time.perf_counter() - start, time.process_time() - cpu
memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
digest = sha256(counts.tobytes()).hexdigest()[:12]
print(f"{{seconds:.1f}} s, {{cpu:.1f}} s of the processor, {{memory:.0f}} MB", digest)
"""


def main(rows: int = 10**8, folder: str = "") -> int:
    import pyarrow as pa
    import pyarrow.parquet as pq

    with tempfile.TemporaryDirectory(dir=folder or None) as name:
        path = Path(name) / "t.parquet"
        rng = np.random.default_rng(0)
        schema = pa.schema([("delay", pa.float64()), ("distance", pa.int32())])
        with pq.ParquetWriter(path, schema) as writer:
            for first in range(0, rows, PIECE):
                many = min(PIECE, rows - first)
                delay = rng.gamma(1.5, 25, many).round(0) - 20
                distance = rng.integers(80, 5000, many, dtype=np.int32)
                writer.write_table(
                    pa.table({"delay": delay, "distance": distance}, schema=schema), row_group_size=PIECE // 2
                )
        print(f"{rows:,} rows, {path.stat().st_size / 1e6:.0f} MB of Parquet")
        found = []
        for words, code in (("reader", READER), ("plain loop", LOOP)):
            command = [sys.executable, "-c", FRAME.format(code=code), str(path)]
            said = subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()  # noqa: S603
            print(f"{words:10}  {said}")
            found.append(said.split()[-1])
    return int(found[0] != found[1])


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if sys.argv[1:] else 10**8, *sys.argv[2:3]))
