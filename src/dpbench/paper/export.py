"""The study for other programs: one row a setting."""

from __future__ import annotations

from os import PathLike
from typing import Any

from dpbench.paper.study import Study
from dpbench.results import Results
from dpbench.results.csv_file import write_rows

COLUMNS = ("dataset", "domain", "scale", "epsilon", "algorithm", "variant", "side_information")


def export_study(study: Study, path: str | PathLike[str]) -> int:
    """Write setting, what it is, mean, deviation and 95th percentile; the number of rows."""
    parts = (("paper", study.published.results), ("private", study.private.results), ("extra", study.published.extras))
    rows = [row for name, results in parts if results is not None for row in _rows(name, results)]
    write_rows(path, rows)
    return len(rows)


def _rows(setting: str, results: Results) -> list[dict[str, Any]]:
    measured = results.measured
    columns: dict[str, list[Any]] = {"dim": [name.count("x") + 1 for name in results.columns["domain"].tolist()]}
    columns |= {name: results.columns[name].tolist() for name in COLUMNS}
    columns |= {
        "mean": measured.mean.tolist(),
        "sd": measured.deviation.tolist(),
        "p95": measured.percentile.tolist(),
        "trials": measured.trials.tolist(),
        "squared_bias": results.columns["squared_bias"].tolist(),
        "parameters": results.columns["parameters"].tolist(),
        "seed": results.columns["seed"].tolist(),
        "algorithm_source": results.columns["algorithm_source"].tolist(),
    }
    return [
        {"setting": setting, **dict(zip(columns, each, strict=True))} for each in zip(*columns.values(), strict=True)
    ]
