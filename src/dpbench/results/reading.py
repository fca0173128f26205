"""Stored rows, one for each data vector, become settings."""

from __future__ import annotations

import json
from collections.abc import Mapping
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from dpbench.measuring import measure_all
from dpbench.store.schema import SETTING

if TYPE_CHECKING:
    import pyarrow as pa

Columns = dict[str, NDArray[Any]]
Floats = NDArray[np.float64]

IDENTITY = (*SETTING, "seed")


def settings_of(table: pa.Table) -> tuple[Columns, Floats]:
    """Columns and errors ``(settings, samples, trials)`` of a table of rows, in whatever order they are.

    Two rows that hold the same trial hold the same error, so that one may overwrite the other.
    """
    rows = {name: table[name].to_numpy(zero_copy_only=False) for name in table.column_names if name not in _LISTS}
    values, lengths = _flat(table["l2"])
    setting, first = _numbered([rows[name] for name in IDENTITY])
    order = _sorted_settings([rows[name][first] for name in IDENTITY])
    setting, first = np.argsort(order)[setting], first[order]
    owner = np.repeat(np.arange(len(lengths)), lengths)
    trial = rows["first_trial"][owner] + _within(lengths)
    sample = rows["sample"]
    count = len(first)
    shape = (count, *(int(each.max(initial=0)) + 1 for each in (sample, trial)))
    place = setting[owner], sample[owner], trial

    def placed(values: Floats) -> Floats:
        found = np.full(shape, np.nan)
        found[place] = values
        return found

    errors = placed(values)
    columns: Columns = {name: rows[name][first] for name in (*IDENTITY, "algorithm_source")}
    columns |= _failures(rows, setting, errors)
    good = rows["failure"] == ""
    columns["private"] = _all(setting, rows["private"].astype(bool) | ~good, count)
    columns["accounted"] = _all(setting, np.array([_adds_up(each) for each in rows["ledger"]], bool) | ~good, count)
    columns["seconds"] = np.bincount(setting, rows["seconds"], count)
    columns["population_error"] = _mean(placed(_flat(table["population_l2"])[0]))
    for loss in ("l1", "linf"):
        measured = measure_all(placed(_flat(table[loss])[0]))
        columns |= {f"{loss}_mean": measured.mean, f"{loss}_p95": measured.percentile}
    columns |= _moments(rows, setting, lengths, count)
    columns["queries"] = _queries(rows, columns, values, lengths, setting)
    return columns, errors


_LISTS = ("l2", "l1", "linf", "population_l2")


def _flat(column: pa.ChunkedArray) -> tuple[Floats, NDArray[np.int64]]:
    """The numbers of a column of lists, one after the other, and how many each list has."""
    import pyarrow as pa
    import pyarrow.compute as pc

    lengths = pc.list_value_length(column).to_numpy().astype(np.int64)
    flat = pc.list_flatten(column)
    return np.asarray(flat.to_numpy() if isinstance(flat, pa.ChunkedArray) else flat, dtype=np.float64), lengths


def _numbered(columns: list[NDArray[Any]]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Equal rows get equal numbers: the number of every row, and where each number occurs first."""
    number = np.zeros(len(columns[0]), dtype=np.int64)
    for column in columns:
        _, codes = np.unique(column, return_inverse=True)
        _, number = np.unique(number * (codes.max(initial=0) + 1) + codes, return_inverse=True)
    _, first = np.unique(number, return_index=True)
    return number, first


def _sorted_settings(columns: list[NDArray[Any]]) -> NDArray[np.int64]:
    """The order of exports: by the columns of a setting, the first one first."""
    codes = [np.unique(column, return_inverse=True)[1] for column in columns]
    return np.lexsort(codes[::-1])


def _within(lengths: NDArray[np.int64]) -> NDArray[np.int64]:
    """0, 1, 2, ... within each list."""
    return np.arange(lengths.sum()) - np.repeat(np.cumsum(lengths) - lengths, lengths)


def _all(setting: NDArray[np.int64], true: NDArray[np.bool_], count: int) -> NDArray[np.bool_]:
    return np.asarray(np.bincount(setting, ~true, count) == 0)


def _mean(values: Floats) -> Floats:
    """Mean over the trials that were run; NaN where there are none."""
    number = np.isfinite(values).sum(axis=(1, 2))
    with np.errstate(invalid="ignore"):
        return np.asarray(np.nansum(values, axis=(1, 2)) / np.where(number, number, np.nan))


def _failures(rows: Columns, setting: NDArray[np.int64], errors: Floats) -> Columns:
    """Units without errors: a failure counts where no other row has its trial."""
    failed = np.flatnonzero(rows["failure"] != "")
    number = np.zeros(len(errors), dtype=np.int64)
    cause = np.full(len(errors), "", dtype=object)
    seen = set()
    for row in failed:
        unit = (setting[row], rows["sample"][row], rows["first_trial"][row])
        covered = unit[2] < errors.shape[2] and np.isfinite(errors[unit])
        if not covered and unit not in seen:
            seen.add(unit)
            number[unit[0]] += 1
            cause[unit[0]] = rows["failure"][row]
    return {"failed": number, "failure": cause}


def _moments(rows: Columns, setting: NDArray[np.int64], lengths: NDArray[np.int64], count: int) -> Columns:
    """Squared bias and variance of the answers, averaged over data vectors.

    The mean of t answers has the squared error bias^2 + variance / t, so variance / t is taken off what was stored.
    The result is right on average and may be below 0. Rows of one trial know no variance and are left out.
    """
    known = np.where(lengths > 1, lengths, 0).astype(np.float64)
    weight = np.bincount(setting, known, count)
    corrected = rows["squared_bias"] - rows["variance"] / np.maximum(lengths, 1)
    with np.errstate(invalid="ignore"):
        return {
            "squared_bias": np.bincount(setting, known * corrected, count) / np.where(weight, weight, np.nan),
            "variance": np.bincount(setting, known * rows["variance"], count) / np.where(weight, weight, np.nan),
        }


def _queries(
    rows: Columns, columns: Columns, values: Floats, lengths: NDArray[np.int64], setting: NDArray[np.int64]
) -> NDArray[np.int64]:
    """How many queries a workload has, from its errors; 0 where they do not tell.

    Over the t trials of a row, bias^2 + variance (t - 1) / t is the mean squared error of a query, and so is the mean
    of l2^2 scale^2 q: their ratio is q, for any workload, even one from a file that is not here.
    """
    owner = np.repeat(np.arange(len(lengths)), lengths)
    mean_square = np.bincount(owner, values**2, len(lengths)) / np.maximum(lengths, 1)
    per_query = rows["squared_bias"] + rows["variance"] * (lengths - 1) / np.maximum(lengths, 1)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = per_query / (mean_square * rows["scale"].astype(np.float64) ** 2)
    kind, first = _numbered([columns["workload"], columns["domain"]])
    usable = np.isfinite(ratio) & (ratio > 0.5)
    found = np.zeros(len(first), dtype=np.int64)
    for number in range(len(first)):
        ratios = ratio[usable & (kind[setting] == number)]
        guess = float(np.median(ratios)) if len(ratios) else 0.0
        found[number] = round(guess) if abs(guess - round(guess)) < 1e-6 * guess else 0
    return found[kind]


@lru_cache(maxsize=65536)
def _adds_up(ledger: str) -> bool:
    """Whether the charges of a stored ledger are its epsilon, exactly."""
    if not ledger:
        return False
    plain = json.loads(ledger)
    spent = sum((Fraction(each["amount"]) * each.get("times", 1) for each in plain["charges"]), Fraction(0))
    return spent == Fraction(plain["epsilon"])


def provenance(runs: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """What the runs of a store were made with, each fact once."""
    facts: dict[str, list[Any]] = {}
    for run, record in sorted(runs.items()):
        tasks = record.get("tasks", [])
        told = {
            "runs": run,
            "plans": record.get("plan"),
            "dates": record.get("started"),
            "machines": record.get("machine"),
            "code": record.get("code"),
            "commands": record.get("command"),
            "identity": record.get("identity"),
            "seeds": [task.get("generator", {}).get("seed") for task in tasks],
            "repair": [task.get("repair") for task in tasks],
        }
        for name, value in told.items():
            kept = facts.setdefault(name, [])
            for each in value if isinstance(value, list) else [value]:
                if each is not None and each not in kept:
                    kept.append(each)
    return {"origin": facts}
