"""``dpbench table``: the histogram that a spec describes, for public data."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dpbench.cli.arguments import add_json, add_out, add_verb, write_json

if TYPE_CHECKING:
    from dpbench.cli.arguments import Subparsers
    from dpbench.tables import Histogram, Spec

_ABOUT = """\
Count the table of a spec: the exact histogram, with no noise, and how many values were missing or outside. This is for
public data. What it prints of private data is protected by nothing; use dpbench release for those.
  --sql    prints the GROUP BY that counts the same cells in a database; its result, saved as .csv or .parquet, is
           what a spec takes as counts = "FILE" in place of a table. Nothing is read.
"""


def add_parser(subparsers: Subparsers) -> None:
    """Add ``table``."""
    parser = add_verb(
        subparsers,
        "table",
        "the exact histogram of a public table, by a spec",
        _ABOUT,
        "dpbench table flights.toml --out counts.csv\n  dpbench table flights.toml --sql --from flights",
    )
    parser.add_argument("spec", metavar="SPEC.toml", help="columns, bounds and bins; see docs/publish.md")
    add_out(parser, "FILE", "write .csv, .parquet or .npy (CSV on stdout)", required=False)
    parser.add_argument("--sql", action="store_true", help="print a GROUP BY and read nothing")
    parser.add_argument("--from", dest="source", metavar="NAME", help="name of the table in the database (the file's)")
    parser.add_argument("--dask", metavar="ADDRESS", help="count the files of a folder on a dask cluster")
    add_json(parser)
    parser.set_defaults(run=run_table)


def run_table(chosen: argparse.Namespace) -> int:
    """Count and write, or print SQL."""
    from dpbench.tables import group_by, read_spec

    spec = read_spec(chosen.spec)
    if chosen.sql:
        named = chosen.source or (spec.table.name.split(".")[0] if spec.table else None) or spec.dataset or "records"
        statement = group_by(spec.axes, named)
        if chosen.json:
            write_json({"sql": statement})
        else:
            sys.stdout.write(statement)
        return 0
    found = _counted(spec, chosen.dask)
    if chosen.json:
        write_json(_facts(found))
    if chosen.out or not chosen.json:
        _write(found, chosen.out)
    return 0


def _facts(found: Histogram) -> dict[str, Any]:
    facts = {
        "rows": found.rows,
        "dropped": found.dropped,
        "missing": dict(found.missing),
        "outside": dict(found.outside),
    }
    return {"domain": str(found.domain), **facts, "counts": found.counts.tolist()}


def _counted(spec: Spec, address: str | None) -> Histogram:
    from dpbench.errors import InvalidInput
    from dpbench.tables import Histogram, from_counts, histogram

    if spec.counts is not None:
        counts = from_counts(spec.counts, spec.axes)
        nothing = {axis.name: 0 for axis in spec.axes}
        return Histogram(spec.axes, counts, int(counts.sum()), 0, nothing, nothing)
    if spec.table is None:
        raise InvalidInput('the spec names no table; add table = "FILE", or counts = "FILE"')
    if address:
        from contextlib import closing

        from dpbench.tables.cluster import connected, histogram_on_cluster

        with closing(connected(address)) as client:
            return histogram_on_cluster(spec.table, spec.axes, client)
    return histogram(spec.table, spec.axes)


def _write(found: Histogram, out: str | None) -> None:
    from dpbench.errors import InvalidInput
    from dpbench.release.writing import csv_bytes, parquet_bytes, pieces
    from dpbench.store.disk import write_whole

    ending = Path(out).suffix.lower() if out else ".csv"
    if ending == ".npy":
        from io import BytesIO

        import numpy as np

        stream = BytesIO()
        np.save(stream, found.counts)
        content = stream.getvalue()
    elif ending in (".csv", ".parquet"):
        rows = pieces(found.axes, found.counts)
        content = csv_bytes(rows) if ending == ".csv" else parquet_bytes(rows)
    else:
        raise InvalidInput(f"--out {out}: give a file that ends in .csv, .parquet or .npy")
    if out:
        write_whole(Path(out), content)
    else:
        sys.stdout.write(content.decode())
    sys.stderr.write(f"{found.rows:,} rows, {found.dropped:,} dropped, {found.domain} cells\n")
    for axis in found.axes:
        missing, outside = found.missing[axis.name], found.outside[axis.name]
        rule = "clamped" if axis.outside == "clamp" else "dropped" if axis.outside == "drop" else "in a cell of its own"
        kept = "dropped" if axis.missing == "drop" else "in a cell of its own"
        sys.stderr.write(f"  {axis.name}: {missing:,} missing ({kept}), {outside:,} outside ({rule})\n")
