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
from dpbench.results.loss_summaries import LOSS_SUMMARIES, summarise
from dpbench.standards import Standards
from dpbench.store.files import write_file
from dpbench.store.plain_arrays import list_numbers, to_numpy
from dpbench.store.setting_key import BUDGET

if TYPE_CHECKING:
    import pyarrow as pa

Floats = NDArray[np.float64]

FORMAT = "4"
FORMATS = ("2", "3", FORMAT)
"""What can be read; the second had one loss and no standards, the third no deviations of other losses."""
OTHER = "errors by "
"""How the name of a column begins that holds errors by another loss."""
_ROUNDED = ("squared_bias", "variance", "population_error", *LOSS_SUMMARIES, "seconds")
"""Columns that keep four digits: they are known to two or three, and half of their bytes were digits of noise."""
_MANTISSA = 12
"""Bits after the first that those keep of the 23 of a 32-bit number: a relative error of at most 1 in 8,192."""


def write_summary(
    path: Path,
    columns: Mapping[str, NDArray[Any]],
    errors: Floats,
    metadata: Mapping[str, Any],
    losses: Mapping[str, Floats],
    standards: Standards,
) -> None:
    """Write a summary whole or not at all; errors of trials keep 7 digits, other measurements 4."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    arrays = {name: pa.array(_rounded(values) if name in _ROUNDED else values) for name, values in columns.items()}
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
    names = [name for name in arrays if name not in _ROUNDED and name not in trials]
    split = [name for name in _ROUNDED if name in arrays] + [f"{name}.list.element" for name in trials if size]
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


Summary = tuple[dict[str, NDArray[Any]], Floats, dict[str, Any], dict[str, Floats], Standards]


def read_summary(path: Path) -> Summary:
    """What :func:`write_summary` was given, in the order of ``Results``; one line of refusal for any other file."""
    import pyarrow as pa

    try:
        return _read(path, path.read_bytes())
    except InvalidStore:
        raise
    except (OSError, pa.ArrowException) as error:
        reason = getattr(error, "strerror", None) or "it is not a Parquet file"
    except Exception:  # a damaged file: whatever its header, its columns or their types make of it
        reason = "it is damaged"
    advice = "give a summary, as `dpbench paper --pack DIR` writes them"
    raise InvalidStore(f"cannot read the summary {path}: {reason}; {advice}") from None


def _read(path: Path, content: bytes) -> Summary:
    import pyarrow as pa
    import pyarrow.parquet as pq

    buffer = pa.BufferReader(content)
    texts = [field.name for field in pq.read_schema(buffer) if field.type == pa.string()]
    buffer.seek(0)
    table = pq.ParquetFile(buffer, read_dictionary=texts).read()
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
            if table[name].null_count or (values.dtype == object and None in values.tolist()):
                raise ValueError(name)
            columns[name] = values.astype(np.float64) if name in _ROUNDED else values
    errors = _trials(table["errors"], shape)
    for name in BUDGET:  # summaries from before budgets of zCDP have an epsilon alone
        columns.setdefault(name, np.zeros(len(table)))
    if not columns.keys() >= set(LOSS_SUMMARIES):
        found = summarise(losses, np.isfinite(losses.get("L2", errors)).sum(axis=(1, 2)))
        columns = found | columns
    standards = Standards(**json.loads(header.get("standards", "{}")))
    return columns, errors, json.loads(header["metadata"]), losses, standards


def _rounded(values: NDArray[Any]) -> NDArray[np.float32]:
    """Numbers of 32 bits whose last bits are 0, rounded to the nearest: zeros take no room in a compressed file."""
    dropped = 23 - _MANTISSA
    bits = np.ascontiguousarray(values, dtype=np.float32).view(np.uint32)
    nearest = (bits + np.uint32(1 << (dropped - 1))) & np.uint32(0xFFFFFFFF << dropped & 0xFFFFFFFF)
    return np.where(np.isfinite(values), nearest, bits).astype(np.uint32).view(np.float32)


def _trials(column: pa.ChunkedArray, shape: tuple[int, ...]) -> Floats:
    """Errors ``(settings, samples, trials)`` from a column of lists."""
    if not np.prod(shape):
        return np.full(shape, np.nan)
    return list_numbers(column).reshape(shape).astype(np.float64)
