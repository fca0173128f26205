"""Results as an Arrow table, which pandas, polars and DuckDB take without a copy."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dpbench.store.setting_key import BUDGET

if TYPE_CHECKING:
    import pyarrow as pa

    from dpbench.results.results import Results


def arrow_table(results: Results) -> pa.Table:
    """One row per setting: its columns, then mean, deviation and percentile of its errors, then the errors.

    Budgets that do not apply are null, never 0. ``errors`` holds the errors of all trials by the loss of the
    standards, data vector by data vector.
    """
    import pyarrow as pa

    columns = {name: pa.array(values) for name, values in results.columns.items()}
    for name in BUDGET:
        values = results.columns[name].astype(np.float64)
        columns[name] = pa.array(values, mask=values == 0)
    measured = results.measured
    columns |= {
        "mean": pa.array(measured.mean),
        "sd": pa.array(measured.deviation),
        f"p{results.standards.percentile:g}": pa.array(measured.percentile),
    }
    flat = results.errors.reshape(len(results), -1)
    offsets = np.concatenate([[0], np.isfinite(flat).sum(axis=1).cumsum()]).astype(np.int32)
    columns["errors"] = pa.ListArray.from_arrays(pa.array(offsets), pa.array(flat[np.isfinite(flat)]))
    return pa.table(columns).replace_schema_metadata({"loss": results.standards.loss})
