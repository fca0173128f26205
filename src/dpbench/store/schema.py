"""One row of a store: one algorithm on one data vector, with all its trials."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, fields, replace
from functools import lru_cache
from hashlib import sha256
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING, Any

from dpbench.store.plain_arrays import list_lengths, list_numbers, to_arrow, to_numpy
from dpbench.store.setting_key import BUDGET, SETTING, SettingKey

if TYPE_CHECKING:
    import pyarrow as pa

SCHEMA_VERSION = 1

ERRORS = ("l2", "l1", "linf", "population_l2")
"""The columns that hold one error per trial."""

LOSS_COLUMNS = {"L2": "l2", "L1": "l1", "Linf": "linf"}
"""The losses that every row holds, by label; any other is in ``other_losses`` where a task asked for it."""

MOST_CHARGES = 10_000
"""Lines of a ledger; our algorithms write 341 at most (MWEM*, on 4,096 cells)."""
LONGEST_LEDGER = 3 * 2**20
"""Characters of a ledger; ours have 25,059 at most."""

INDEX_COLUMNS = (
    *SETTING,
    "sample",
    "seed",
    "first_trial",
    "key",
    "algorithm_source",
    "dataset_source",
    "generator_source",
    "run",
    "failure",
)
"""What is needed to know what a store holds."""


@dataclass(frozen=True, kw_only=True)
class Row(SettingKey):
    """What is stored of a unit of work."""

    sample: int
    """Which data vector."""
    seed: int
    """Seed of the study."""
    first_trial: int
    """Number of the first trial in this row; later trials of the same setting may be in another."""

    key: str
    """What was run, by content: setting, sample, seed, and the sources of algorithm, dataset and generator."""
    algorithm_source: str
    """Hash of the algorithm's code and of everything of ours that it uses."""
    dataset_source: str
    """Hash of the dataset's counts."""
    generator_source: str
    """Hash of the code that makes data vectors, answers and losses."""
    run: str
    """Which run made the row; its record has the versions and the machine."""

    failure: str = ""
    """Why there are no errors; empty where all is well."""
    l2: list[float] = field(default_factory=list)
    """Scaled average per-query error of each trial, L2."""
    l1: list[float] = field(default_factory=list)
    """The same for L1."""
    linf: list[float] = field(default_factory=list)
    """The same for L-infinity."""
    population_l2: list[float] = field(default_factory=list)
    """L2 error against the expected counts of the shape."""
    other_losses: dict[str, list[float]] = field(default_factory=dict)
    """Errors of each trial by the other losses that a task asked for, by label; in a file by label and version."""
    queries: int = 0
    """Number of queries of the workload; 0 where there are no errors, and in rows from before it was stored."""
    squared_bias: float = 0.0
    """Mean over queries of the squared mean error of the answers, not corrected for the number of trials."""
    variance: float = 0.0
    """Mean over queries of the variance of the answers over trials (n - 1)."""
    ledger: str = ""
    """Where the budget went, as JSON."""
    private: bool = True
    """Whether the raw counts were never revealed."""
    seconds: float = 0.0
    """Processor time in the algorithm, all trials together."""
    seconds_other: float = 0.0
    """Processor time to make the data vector, answer the workload and compute losses."""

    @property
    def setting(self) -> tuple[Any, ...]:
        """What names the setting."""
        return tuple(getattr(self, name) for name in SETTING)

    @property
    def identity(self) -> tuple[Any, ...]:
        """Setting, sample, seed and first trial: of one version of an algorithm at most one row of a store has each."""
        return (*self.setting, self.sample, self.seed, self.first_trial)

    @property
    def trials(self) -> int:
        """Number of trials in the row."""
        return len(self.l2)

    @property
    def stop(self) -> int:
        """Number of the first trial after this row."""
        return self.first_trial + self.trials

    def part(self, first: int, stop: int) -> Row:
        """The trials from ``first`` to before ``stop``; bias and variance stay those of the whole."""
        cut = slice(first - self.first_trial, stop - self.first_trial)
        errors = {name: getattr(self, name)[cut] for name in ERRORS}
        others = {label: values[cut] for label, values in self.other_losses.items()}
        return replace(self, first_trial=first, other_losses=others, **errors)


def each_trial_once(rows: Iterable[Row]) -> list[Row]:
    """Rows without what others hold as well.

    Two runs at once, or stores with different numbers of trials, may hold a trial twice, with equal errors; what only
    one of them holds, by another loss, is kept. A failure counts only where no other row has its trial, and the latest
    of several.
    """
    groups: dict[tuple[Any, ...], list[Row]] = {}
    for row in rows:
        groups.setdefault((*row.setting, row.sample, row.seed, row.algorithm_source), []).append(row)
    return [row for group in groups.values() for row in (group if len(group) == 1 else _once(group))]


def _once(rows: list[Row]) -> list[Row]:
    """The rows of one setting and sample, each trial once."""
    kept: list[Row] = []
    reached = 0
    good = [row for row in rows if not row.failure]
    for row in sorted(good, key=lambda row: (row.first_trial, -row.trials, -len(row.other_losses))):
        if row.stop > reached:
            kept += _with_losses(row.part(max(row.first_trial, reached), row.stop), good)
            reached = row.stop
    failed = {row.first_trial: row for row in rows if row.failure}
    uncovered = [
        row for trial, row in failed.items() if not any(each.first_trial <= trial < each.stop for each in kept)
    ]
    return kept + uncovered


def _with_losses(row: Row, rows: list[Row]) -> list[Row]:
    """A row with the losses that others hold of its trials, in pieces where they do not hold them of all."""
    holders = [each for each in rows if not each.other_losses.keys() <= row.other_losses.keys()]
    cuts = {end for each in holders for end in (each.first_trial, each.stop) if row.first_trial < end < row.stop}
    ends = [row.first_trial, *sorted(cuts), row.stop]
    pieces = []
    for first, stop in pairwise(ends):
        covering = [each.part(first, stop) for each in holders if each.first_trial <= first and stop <= each.stop]
        others = {label: values for each in covering for label, values in each.other_losses.items()}
        piece = row.part(first, stop)
        pieces.append(replace(piece, other_losses=others | piece.other_losses))
    return pieces


def content_key(*parts: object) -> str:
    """A hash of what a unit is, by content."""
    return sha256("\x1f".join(str(part) for part in parts).encode()).hexdigest()[:32]


@lru_cache(maxsize=1)
def arrow_schema() -> pa.Schema:
    """The same row as Parquet columns."""
    import pyarrow as pa

    kinds = {
        "str": pa.string(),
        "int": pa.int64(),
        "float": pa.float64(),
        "bool": pa.bool_(),
        "list[float]": pa.list_(pa.float64()),
        "dict[str, list[float]]": pa.map_(pa.string(), pa.list_(pa.float64())),
    }
    return pa.schema(
        [(column.name, kinds[str(column.type)]) for column in fields(Row)],
        metadata={"dpbench_schema": str(SCHEMA_VERSION)},
    )


def to_table(rows: list[Row]) -> pa.Table:
    """Rows as an Arrow table."""
    import pyarrow as pa

    schema = arrow_schema()
    columns = {name: [getattr(row, name) for row in rows] for name in schema.names}
    columns["other_losses"] = [list(each.items()) for each in columns["other_losses"]]
    for name in BUDGET:  # what does not apply is empty, never 0
        columns[name] = [value or None for value in columns[name]]
    return pa.table([to_arrow(columns[each.name], each.type) for each in schema], schema=schema)


def from_table(table: pa.Table) -> list[Row]:
    """Rows back from an Arrow table; columns that an older store lacks are null."""
    columns = {name: _cells(table[name], name in ERRORS) for name in table.column_names}
    columns["other_losses"] = [dict(each or ()) for each in columns["other_losses"]]
    for name in ("queries", *BUDGET):
        columns[name] = [value or 0 for value in columns[name]]
    names = [each.name for each in fields(Row)]
    return [_row(names, values) for values in zip(*(columns[name] for name in names), strict=True)]


def _row(names: list[str], values: tuple[Any, ...]) -> Row:
    """A row that has every field given: what a frozen dataclass does to set each takes four times as long."""
    row = object.__new__(Row)
    vars(row).update(zip(names, values, strict=True))
    return row


def _cells(column: pa.ChunkedArray, errors: bool) -> list[Any]:
    """A column as Python has it; lists of errors are cut from all their numbers, which is quicker than one by one."""
    import pyarrow as pa

    if not errors:
        plain = not column.null_count and not pa.types.is_nested(column.type)
        return list(to_numpy(column).tolist() if plain else column.to_pylist())
    numbers = list_numbers(column).tolist()
    return [numbers[first:stop] for first, stop in pairwise([0, *accumulate(list_lengths(column).tolist())])]
