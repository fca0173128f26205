"""The histogram of a folder, its files counted on a dask cluster: only counts travel."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from dpbench.errors import Unsupported
from dpbench.tables.axes import Axis
from dpbench.tables.counting import Histogram, check_axes, histogram
from dpbench.tables.sources import list_files


def histogram_on_cluster(table: Path, axes: Sequence[Axis], address: str) -> Histogram:
    """Every worker reads the files that it is given, by the same paths, and sends back counts and tallies."""
    try:
        from distributed import Client
    except ImportError:
        raise Unsupported(
            "--dask needs the package distributed; install dpbench-range[cluster], or leave --dask out"
        ) from None
    columns = check_axes(axes)
    files = [str(file.resolve()) for file in list_files(table)]
    client: Any = Client(address, timeout="10s")  # type: ignore[no-untyped-call]  # distributed carries no types
    try:
        parts: list[Histogram] = client.gather(client.map(histogram, files, axes=list(columns), pure=False))
    finally:
        client.close()
    together = parts[0].counts
    for part in parts[1:]:
        together = together + part.counts
    names = [axis.name for axis in columns]
    return Histogram(
        columns,
        together,
        sum(part.rows for part in parts),
        sum(part.dropped for part in parts),
        {name: sum(part.missing[name] for part in parts) for name in names},
        {name: sum(part.outside[name] for part in parts) for name in names},
    )
