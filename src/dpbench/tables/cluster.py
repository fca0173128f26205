"""The histogram of a folder, its files counted on a dask cluster: only counts travel."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from dpbench.errors import InvalidTable, Unsupported, shown
from dpbench.tables.axes import Axis
from dpbench.tables.counting import Histogram, check_axes, histogram
from dpbench.tables.sources import list_files

PATIENCE = "10s"
"""How long a cluster may take to answer the first time."""


def connected(address: str) -> Any:
    """A client of a cluster, or of threads of this process ("local"); whoever asks for one closes it."""
    try:
        from distributed import Client
    except ImportError:
        raise Unsupported(
            "--dask needs the package distributed; install dpbench-range[cluster], or leave --dask out"
        ) from None
    for name in list(logging.root.manager.loggerDict):
        if name.startswith("distributed"):  # they print what failed, and what it was given
            logging.getLogger(name).setLevel(logging.CRITICAL + 1)
    client: Any = None
    try:
        here = {"processes": False, "dashboard_address": ":0"} if address == "local" else {"address": address}
        client = Client(timeout=PATIENCE, **here)  # type: ignore[no-untyped-call]  # distributed carries no types
    except Exception:  # an address that is none, nobody there, another version
        client = None
    if client is None:
        raise InvalidTable(f"no dask cluster answers at {shown(address)}; give the address of its scheduler")
    return client


def histogram_on_cluster(table: Path, axes: Sequence[Axis], client: Any) -> Histogram:
    """Every worker reads the files that it is given, by the same paths, and sends back counts and tallies."""
    columns = check_axes(axes)
    files = [str(file.resolve()) for file in list_files(table)]
    futures = client.map(histogram, files, axes=list(columns), pure=False)
    parts: list[Histogram] = client.gather(futures)
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
