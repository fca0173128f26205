"""The summary file: a study in one Parquet file of a few megabytes."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from dpbench.errors import InvalidStore
from dpbench.standards import Standards
from dpbench.store.files import write_file
from dpbench.store.plain_arrays import to_numpy
from dpbench.store.setting_key import BUDGET

if TYPE_CHECKING:
    import pyarrow as pa

Floats = NDArray[np.float64]

FORMAT = "3"
FORMATS = ("2", FORMAT)
"""What can be read; the second had one loss and no standards."""
OTHER = "errors by "
"""How the name of a column begins that holds errors by another loss."""
_SINGLE = ("squared_bias", "variance", "population_error", "l1_mean", "l1_p95", "linf_mean", "linf_p95", "seconds")
"""Columns whose digits beyond those of 32 bits say nothing."""


def write_summary(
    path: Path,
    columns: Mapping[str, NDArray[Any]],
    errors: Floats,
    metadata: Mapping[str, Any],
    losses: Mapping[str, Floats],
    standards: Standards,
) -> None:
    """Write a summary whole or not at all; errors keep 7 digits."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    arrays = {
        name: pa.array(values.astype(np.float32) if name in _SINGLE else values) for name, values in columns.items()
    }
    size = errors.shape[1] * errors.shape[2]
    trials = {"errors": errors} | {f"{OTHER}{label}": each for label, each in losses.items()}
    for name, each in trials.items():
        flat = pa.array(each.astype(np.float32).reshape(-1))
        arrays[name] = pa.FixedSizeListArray.from_arrays(flat, size) if size else pa.nulls(len(errors))
    header = {
        "dpbench_summary": FORMAT,
        "shape": json.dumps(errors.shape),
        "metadata": json.dumps(dict(metadata)),
        "standards": json.dumps(asdict(standards)),
    }
    table = pa.table(arrays).replace_schema_metadata(header)
    sink = pa.BufferOutputStream()
    names = [name for name in arrays if name not in _SINGLE and name not in trials]
    split = [name for name in _SINGLE if name in arrays] + [f"{name}.list.element" for name in trials if size]
    pq.write_table(
        table,
        sink,
        compression="zstd",
        compression_level=19,
        use_dictionary=names,
        use_byte_stream_split=split,
        write_statistics=False,
    )
    write_file(path, sink.getvalue().to_pybytes())


def read_summary(path: Path) -> tuple[dict[str, NDArray[Any]], Floats, dict[str, Any], dict[str, Floats], Standards]:
    """What :func:`write_summary` was given, in the order of ``Results``; one line of refusal for any other file."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        content = pa.BufferReader(path.read_bytes())
        texts = [field.name for field in pq.read_schema(content) if field.type == pa.string()]
        content.seek(0)
        table = pq.ParquetFile(content, read_dictionary=texts).read()
    except (OSError, pa.ArrowException) as error:
        reason = getattr(error, "strerror", None) or "it is not a Parquet file"
        raise InvalidStore(f"cannot read the summary {path}: {reason}; give a file that Results.write made") from None
    header = {key.decode(): value.decode() for key, value in (table.schema.metadata or {}).items()}
    if header.get("dpbench_summary") not in FORMATS:
        raise InvalidStore(f"{path} is not a summary of this version; make one from its store")
    shape = tuple(json.loads(header["shape"]))
    columns: dict[str, NDArray[Any]] = {}
    losses: dict[str, Floats] = {}
    for name in table.column_names:
        if name.startswith(OTHER):
            losses[name.removeprefix(OTHER)] = _trials(table[name], shape)
        elif name != "errors":
            values = to_numpy(table[name])
            columns[name] = values.astype(np.float64) if name in _SINGLE else values
    for name in BUDGET:  # summaries from before budgets of zCDP have an epsilon alone
        columns.setdefault(name, np.zeros(len(table)))
    standards = Standards(**json.loads(header.get("standards", "{}")))
    return columns, _trials(table["errors"], shape), json.loads(header["metadata"]), losses, standards


def _trials(column: pa.ChunkedArray, shape: tuple[int, ...]) -> Floats:
    """Errors ``(settings, samples, trials)`` from a column of lists."""
    errors = np.full(shape, np.nan)
    if errors.size:
        errors[:] = to_numpy(column.combine_chunks().flatten()).reshape(shape)
    return errors
