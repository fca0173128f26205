"""What a store holds, in numbers and names."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import numpy as np

from dpbench.store.order import once
from dpbench.store.plain_arrays import to_numpy
from dpbench.store.schema import to_table
from dpbench.store.setting_key import BUDGET, SETTING

if TYPE_CHECKING:
    import pyarrow as pa

    from dpbench.store.store import Store

LISTED = {
    "algorithms": "algorithm",
    "not private": "algorithm",
    "datasets": "dataset",
    "domains": "domain",
    "scales": "scale",
    "epsilons": "epsilon",
}
"""The columns whose values are listed."""


def facts(store: Store) -> dict[str, Any]:
    """Settings, trials, failures, names and runs, of the versions that readings show."""
    import pyarrow as pa
    import pyarrow.compute as pc

    alone, rows = once(store.table())
    table = pa.concat_tables([alone, to_table(rows)], promote_options="permissive") if rows else alone
    failed = table.filter(pc.not_equal(table["failure"], ""))
    pairs = zip(failed["algorithm"].to_pylist(), failed["failure"].to_pylist(), strict=True)
    failures = Counter(pairs)
    return {
        "settings": table.group_by(list(SETTING)).aggregate([]).num_rows,
        "units": table.num_rows,
        "trials": pc.sum(pc.list_value_length(table["l2"])).as_py() or 0,
        "failed units": failed.num_rows,
        **{
            name: _values(table.filter(pc.invert(table["private"])) if name == "not private" else table, column)
            for name, column in LISTED.items()
        },
        "seconds in algorithms": round(float(np.sum(to_numpy(table["seconds"]))), 3),
        "runs": {run: record.get("machine", {}) for run, record in store.runs().items()},
        "failures": [{"algorithm": a, "reason": why, "units": n} for (a, why), n in failures.most_common()],
    }


def _values(table: pa.Table, column: str) -> list[Any]:
    """The values of a column, each once; what does not apply is 0."""
    import pyarrow.compute as pc

    found = pc.unique(table[column]).to_pylist()
    return sorted({value or 0.0 for value in found} if column in BUDGET else found)
