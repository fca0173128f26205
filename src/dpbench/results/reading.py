"""Stored rows, one for each data vector, become settings."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from dpbench import workloads
from dpbench.errors import DPBenchError
from dpbench.given import stored_fraction, stored_sum
from dpbench.results.loss_summaries import summarise
from dpbench.store.plain_arrays import list_lengths, list_numbers, to_numpy
from dpbench.store.schema import ERRORS, LONGEST_LEDGER, LOSS_COLUMNS, MOST_CHARGES
from dpbench.store.setting_key import BUDGET, IDENTITY
from dpbench.task.parts import WorkloadPart

if TYPE_CHECKING:
    import pyarrow as pa

Columns = dict[str, NDArray[Any]]
Floats = NDArray[np.float64]


def settings_of(table: pa.Table) -> tuple[Columns, Floats, dict[str, Floats]]:
    """Columns, L2 errors ``(settings, samples, trials)`` and those by other losses, of rows in whatever order.

    Two rows that hold the same trial hold the same error, so that one may overwrite the other.
    """
    rows = {name: to_numpy(table[name]) for name in table.column_names if name not in _LISTS}
    rows |= {name: np.nan_to_num(rows[name].astype(np.float64)) for name in BUDGET}  # empty: it does not apply
    values, lengths = _flat(table["l2"])
    setting, first = _numbered([rows[name] for name in IDENTITY])
    order = _sorted_settings([rows[name][first] for name in IDENTITY])
    setting, first = np.argsort(order)[setting], first[order]
    sample = rows["sample"]
    count = len(first)
    trials = np.where(lengths > 0, rows["first_trial"] + lengths, 1)
    shape = (count, int(sample.max(initial=0)) + 1, int(trials.max(initial=1)))

    def placed(values: Floats, holders: NDArray[np.int64], lengths: NDArray[np.int64]) -> Floats:
        """The trials of some rows, each at its place."""
        owner = np.repeat(holders, lengths)
        found = np.full(shape, np.nan)
        found[setting[owner], sample[owner], rows["first_trial"][owner] + _within(lengths)] = values
        return found

    every = np.arange(len(lengths))
    errors = placed(values, every, lengths)
    losses = {
        label: placed(_flat(table[column])[0], every, lengths)
        for label, column in LOSS_COLUMNS.items()
        if column != "l2"
    }
    columns: Columns = {name: rows[name][first] for name in (*IDENTITY, "algorithm_source")}
    columns |= _failures(rows, setting, errors)
    good = rows["failure"] == ""
    columns["private"] = _all(setting, rows["private"].astype(bool) | ~good, count)
    columns["accounted"] = _all(setting, np.array([_adds_up(each) for each in rows["ledger"]], bool) | ~good, count)
    columns["seconds"] = np.bincount(setting, rows["seconds"], count)
    columns["population_error"] = _mean(placed(_flat(table["population_l2"])[0], every, lengths))
    losses |= {label: placed(*held) for label, held in _other_losses(table["other_losses"]).items()}
    columns |= summarise(losses, np.isfinite(errors).sum(axis=(1, 2)))
    columns |= _moments(rows, setting, lengths, count)
    columns["queries"] = _queries(rows["queries"], setting, columns)
    return columns, errors, losses


_LISTS = (*ERRORS, "other_losses")


def _flat(column: pa.ChunkedArray) -> tuple[Floats, NDArray[np.int64]]:
    """The numbers of a column of lists, one after the other, and how many each list has."""
    return list_numbers(column).astype(np.float64), list_lengths(column)


def _other_losses(column: pa.ChunkedArray) -> dict[str, tuple[Floats, NDArray[np.int64], NDArray[np.int64]]]:
    """By label: the errors of all rows that hold the loss, which rows these are, and how many errors each has."""
    held: dict[str, list[tuple[int, list[float]]]] = {}
    for row, others in enumerate(column.to_pylist()):
        for label, values in others or ():
            held.setdefault(label, []).append((row, values))
    return {
        label: (
            np.array([value for _, values in each for value in values], dtype=np.float64),
            np.array([row for row, _ in each], dtype=np.int64),
            np.array([len(values) for _, values in each], dtype=np.int64),
        )
        for label, each in sorted(held.items())
    }


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


def _queries(stored: NDArray[Any], setting: NDArray[np.int64], columns: Columns) -> NDArray[np.int64]:
    """How many queries each workload has; where no row says, as in older stores, what its label says."""
    number = np.zeros(len(columns["workload"]), dtype=np.int64)
    np.maximum.at(number, setting, np.nan_to_num(stored.astype(np.float64)).astype(np.int64))
    for place in np.flatnonzero(number == 0).tolist():
        number[place] = _queries_of(columns["workload"][place], columns["domain"][place])
    return number


@lru_cache(maxsize=1024)
def _queries_of(label: str, domain: str) -> int:
    """Queries of a workload by its label, such as ``RandomRange(queries=2000)``; 0 where that does not say."""
    try:
        part = WorkloadPart.from_label(label)
        return part.build(domain).queries or 0 if part.name in workloads.names() else 0
    except DPBenchError:
        return 0


@lru_cache(maxsize=65536)
def _adds_up(ledger: str) -> bool:
    """Whether the charges of a stored ledger are its budget, exactly; one that is too long to add does not add up."""
    if not ledger or len(ledger) > LONGEST_LEDGER:
        return False
    try:
        plain = json.loads(ledger)
        charges = plain["charges"]
        if not isinstance(charges, list) or len(charges) > MOST_CHARGES:
            return False
        spent = stored_sum(stored_fraction(each["amount"]) * _times(each) for each in charges)
        return spent == stored_fraction(plain["epsilon"] if "epsilon" in plain else plain["rho"])
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return False  # what cannot be added up does not add up


def _times(charge: dict[str, Any]) -> int:
    """How often a charge was made; older stores have no number."""
    times = charge.get("times", 1)
    if type(times) is not int:
        raise ValueError
    return times


def provenance(runs: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """What the runs of a store were made with, each fact once."""
    facts: dict[str, list[Any]] = {}
    for run, record in sorted(runs.items()):
        tasks = record.get("tasks", [])
        recorded = {
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
        for name, value in recorded.items():
            kept = facts.setdefault(name, [])
            for each in value if isinstance(value, list) else [value]:
                if each is not None and each not in kept:
                    kept.append(each)
    return {"origin": facts}
