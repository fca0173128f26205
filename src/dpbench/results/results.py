"""A collection of settings as columns, so that tables over thousands of them take no loops."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, fields, replace
from functools import cached_property, lru_cache
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from dpbench.domain import Domain
from dpbench.errors import InvalidInput, InvalidStore, NoSuchSetting, UnknownName, shown
from dpbench.given import as_path, known, of_kind, real, texts, whole
from dpbench.loss import label_of
from dpbench.measuring import Measurements, measure_all
from dpbench.results.columns import RowsOf
from dpbench.results.grid import Grid
from dpbench.results.loss_summaries import is_summarised, measured_by_summary
from dpbench.results.setting import Form, Setting, algorithm_label
from dpbench.standards import Standards
from dpbench.store import Row, Store
from dpbench.store.setting_key import IDENTITY, Place

if TYPE_CHECKING:
    import pyarrow as pa

COLUMNS = tuple(each.name for each in fields(Setting) if each.name != "errors")
SELECTORS = ("dimensions", "label", *COLUMNS)
"""What :meth:`Results.where` can select by."""


@dataclass(frozen=True, repr=False)
class Results:
    """Settings, sorted as exports are; ``len``, iteration and ``results[3]`` give :class:`Setting` records."""

    columns: Mapping[str, NDArray[Any]]
    """One array for each of ``COLUMNS``, ``(settings,)``."""
    errors: NDArray[np.float64]
    """Scaled errors by the loss of the standards, ``(settings, samples, trials)``; NaN where a trial was not run.

    Where that loss was summarised (see :attr:`single_trials`), NaN everywhere."""
    metadata: Mapping[str, Any] = field(default_factory=dict)
    """Where the results come from: versions, seeds, commands, machines, dates."""
    losses: Mapping[str, NDArray[np.float64]] = field(default_factory=dict)
    """Errors by every other loss that was kept for each trial, by label, shaped like ``errors``."""
    standards: Standards = field(default_factory=Standards)
    """How these results are read: loss, percentile, alpha, baselines, test."""

    @classmethod
    def from_store(cls, store: Store | str | PathLike[str], *, versions: Sequence[str] = (), **said: Any) -> Results:
        """Every setting of a store; each trial once, whichever runs hold it.

        Of an algorithm whose code has changed, the version that was asked for last, or those of ``versions``.

        They are read by the standards in the plans of their tasks, of the latest run of each. Where tasks disagree,
        ``said`` has to say how to read them together (``loss="L1"``, ``percentile=99``); it counts more than plans.
        """
        from dpbench.results.recorded_standards import common_standards

        _standards_said(said)
        opened = store if isinstance(store, Store) else Store(as_path(store, "the store"))
        whole, recorded = cls._unread(opened, texts(versions, "versions"))
        return whole.read_by(common_standards(recorded, set(whole.columns["task"].tolist()), said))

    @classmethod
    def _readings(cls, store: Store) -> list[Results]:
        """The results of a store, those of tasks with equal standards together."""
        whole, recorded = cls._unread(store)
        own = [recorded.get(task, Standards()) for task in whole.columns["task"].tolist()]
        return [
            whole.take(np.array([each == standards for each in own])).read_by(standards)
            for standards in dict.fromkeys(own)
        ]

    @classmethod
    def _unread(cls, store: Store, versions: Sequence[str] = ()) -> tuple[Results, dict[str, Standards]]:
        """A store by the default standards, and those of its tasks.

        A loss that a plan asks for is there even where no trial was measured by it: as gaps.
        """
        from dpbench.results.reading import provenance, settings_of
        from dpbench.results.recorded_standards import recorded_standards

        runs = store.runs()
        columns, errors, losses = settings_of(store.table(versions=versions))
        recorded = recorded_standards(runs)
        for standards in recorded.values():
            if standards.loss not in (Standards.loss, *losses):
                losses[standards.loss] = np.full(errors.shape, np.nan)
        return cls(columns, errors, provenance(runs), losses), recorded

    @classmethod
    def _from_rows(cls, rows: Iterable[Row]) -> Results:
        """Every setting of some stored rows, by the default standards."""
        from dpbench.results.reading import settings_of
        from dpbench.store.schema import to_table

        columns, errors, losses = settings_of(to_table(list(rows)))
        return cls(columns, errors, losses=losses)

    @classmethod
    def read(cls, path: str | PathLike[str], **said: Any) -> Results:
        """Results from a summary file, by its standards unless others are said; see :meth:`write`."""
        from dpbench.results.summary_file import read_summary

        found = cls(*read_summary(as_path(path, "the summary file")))
        for name in COLUMNS:
            if name not in found.columns:
                raise InvalidStore(f"the summary {path} has no column {name!r}; make one from its store")
        return found.read_by(replace(found.standards, **_standards_said(said)))

    @classmethod
    def open(cls, path: str | PathLike[str], **said: Any) -> Results:
        """Results from a store or from a summary file, whichever the path is; see :meth:`from_store`."""
        return cls.read(path, **said) if as_path(path, "the store").is_file() else cls.from_store(path, **said)

    def write(self, path: str | PathLike[str], *, losses: bool = True) -> None:
        """Write a summary: one Parquet file, a row for each setting, its errors as 32-bit numbers.

        Without ``losses`` it keeps the errors of one loss for each trial, that of the standards, and is a third as
        large; of L1, Linf and relative it keeps the mean, the deviation and the 95th percentile all the same.
        """
        from dpbench.results.summary_file import write_summary

        others = self.losses if of_kind(losses, bool, "losses", "False") or not self.single_trials else {}
        target = as_path(path, "the summary file")
        write_summary(target, self.columns, self.errors, self.metadata, others, self.standards)

    def to_arrow(self) -> pa.Table:
        """An Arrow table, one row per setting: its columns, mean, sd, percentile, and the errors of its trials.

        >>> from dpbench.paper import Study
        >>> table = Study.shipped().private.results.where(algorithm="Hb", domain="256").to_arrow()
        >>> table.num_rows, table.column_names[-4:]
        (108, ['mean', 'sd', 'p95', 'errors'])
        """
        from dpbench.results.arrow import arrow_table

        return arrow_table(self)

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        return self.to_arrow().__arrow_c_stream__(requested_schema)

    def to_pandas(self) -> Any:
        """The same as a pandas frame; pandas has to be installed."""
        return self.to_arrow().to_pandas()

    def to_polars(self) -> Any:
        """The same as a polars frame; polars has to be installed."""
        import polars

        return polars.from_arrow(self.to_arrow())

    @classmethod
    def insist(cls, given: object) -> Results:
        """What was given where results are wanted, if they are some."""
        found: Results = of_kind(
            given, Results, "what holds the results", 'dpb.results.Results.open("dpbench-store/demo")'
        )
        return found

    def __repr__(self) -> str:
        from dpbench.results.display import facts

        return f"<Results: {facts(self)}>"

    def _repr_html_(self) -> str:
        from dpbench.results.display import results_html

        return results_html(self)

    def __len__(self) -> int:
        return len(self.errors)

    def __iter__(self) -> Iterator[Setting]:
        return (self[number] for number in range(len(self)))

    def rows(self, *names: str) -> Iterator[Any]:
        """Some columns side by side, one tuple per setting: much quicker than whole :class:`Setting` records."""
        return zip(*(self.columns[known(name, "column of results", COLUMNS)].tolist() for name in names), strict=True)

    def __getitem__(self, number: int) -> Setting:
        whole(number, "the number of a setting", -len(self), len(self) - 1, NoSuchSetting)
        plain = {name: self.columns[name][number] for name in COLUMNS}
        converted = {name: value.item() if isinstance(value, np.generic) else value for name, value in plain.items()}
        return Setting(errors=self.errors[number], **converted)

    def where(self, **wanted: Any) -> Results:
        """The settings that agree with all that is given: one value, or several of which any will do.

        ``results.where(dimensions=2, domain="128x128", scale=[10**4, 10**6], algorithm="DAWA")``. A tuple given for
        the domain is one domain, a list of domains is several.

        >>> from dpbench.paper import Study
        >>> study = Study.shipped().private.results
        >>> study.where(algorithm=["Hb", "Identity"], domain="4096", scale=1000)
        <Results: 36 settings: 2 algorithms, 18 datasets, 1 domain, 1 scale, 1 epsilon>
        """
        kept = np.ones(len(self), dtype=bool)
        for name, given in wanted.items():
            if name not in SELECTORS:
                raise UnknownName.among("column of results", name, SELECTORS)
            one_domain = name == "domain" and isinstance(given, tuple)
            several = given if isinstance(given, list | tuple | set | frozenset) and not one_domain else [given]
            values = [str(Domain.of(each)) for each in several] if name == "domain" else list(several)
            kept &= _among(name, self._selector(name), values)
        return self.take(kept)

    def read_by(self, standards: Standards) -> Results:
        """The same results by other standards; another loss puts its errors in place of the present ones.

        >>> from dataclasses import replace
        >>> from dpbench.paper import Study
        >>> study = Study.shipped().private.results.where(algorithm="Hb", dataset="ADULT", domain="4096")
        >>> study.read_by(replace(study.standards, percentile=50)).standards.percentile_words
        '50th percentile'
        """
        label = label_of(of_kind(standards, Standards, "what says how to read results", "results.standards").loss)
        chosen = replace(standards, loss=label)
        if chosen == self.standards:
            return self
        kept = self._kept_losses()
        if label in kept:
            return replace(self, errors=kept.pop(label), losses=kept, standards=chosen)
        if not is_summarised(self.columns, label):
            raise UnknownName(
                f"these results have errors of single trials by the loss {', '.join(kept)} and not by {shown(label)}, "
                f"nor its mean, deviation and 95th percentile; read them by another loss, or from their store"
            )
        return replace(self, errors=np.full(self.errors.shape, np.nan), losses=kept, standards=chosen)

    def _summarised(self) -> Results:
        """The same by the mean, deviation and percentile of the standards' loss alone."""
        kept = self._kept_losses()
        kept.pop(self.standards.loss, None)
        return replace(self, errors=np.full(self.errors.shape, np.nan), losses=kept)

    @cached_property
    def single_trials(self) -> bool:
        """Whether these results have the errors of single trials by the loss of their standards.

        Otherwise they have its mean, deviation and 95th percentile in every setting, which is enough for means,
        regret and the unpaired test, and not for intervals, other percentiles and other tests.
        """
        return not (np.isnan(self.errors).all() and is_summarised(self.columns, self.standards.loss))

    def _kept_losses(self) -> dict[str, NDArray[np.float64]]:
        """Errors of single trials by every loss that has them, that of the standards first."""
        return ({self.standards.loss: self.errors} if self.single_trials else {}) | dict(self.losses)

    @cached_property
    def measured(self) -> Measurements:
        """Mean, deviation and percentile of every setting's errors, with their uncertainty."""
        if self.single_trials:
            return measure_all(self.errors, self.standards.percentile)
        ran = self.losses.get("L2", next(iter(self.losses.values())))
        return measured_by_summary(self.columns, self.standards.loss, ran, self.standards.percentile)

    @cached_property
    def trials(self) -> NDArray[np.int64]:
        """How many trials of each setting have an error, ``(settings,)``."""
        return np.isfinite(self.errors).sum(axis=(1, 2)) if self.single_trials else self.measured.trials

    def take(self, chosen: NDArray[Any]) -> Results:
        """The settings that an array of numbers or of truth values names."""
        try:
            numbers = np.arange(len(self))[chosen]
        except Exception:  # whatever is no index to numpy
            raise InvalidInput(
                f"the settings to take are {shown(chosen)}; give numbers below {len(self)}, or as many truth values"
            ) from None
        losses = {label: errors[numbers] for label, errors in self.losses.items()}
        taken = replace(self, columns=RowsOf(self.columns, numbers), errors=self.errors[numbers], losses=losses)
        if "labels" in vars(self):  # what was made of all of these settings is not made again for some of them
            vars(taken)["labels"] = self.labels[numbers]
        if "measured" in vars(self):
            vars(taken)["measured"] = self.measured._take(numbers, taken.errors)
        return taken

    def joined(self, other: Results) -> Results:
        """The settings of both, by this one's standards; of a setting that both have, this one's."""
        Results.insist(other)
        added = other.read_by(self.standards)
        if all(set(self.columns[name].tolist()) & set(other.columns[name].tolist()) for name in IDENTITY):
            mine = set(self.rows(*IDENTITY))
            added = added.take(np.array([each not in mine for each in other.rows(*IDENTITY)], dtype=bool))
        both = [self, added]
        if not all(each.single_trials for each in both):  # what one has by a summary alone stands so for both
            both = [each._summarised() for each in both]
        shape = [max(pair) for pair in zip(*(each.errors.shape[1:] for each in both), strict=True)]
        columns = {name: np.concatenate([each.columns[name] for each in both]) for name in COLUMNS}
        errors = np.concatenate([_widened(each.errors, shape) for each in both])
        losses = {
            label: np.concatenate([_widened(each.losses[label], shape) for each in both])
            for label in both[0].losses
            if label in both[1].losses
        }
        metadata = _both_origins(self.metadata, other.metadata)
        return replace(self, columns=columns, errors=errors, metadata=metadata, losses=losses)

    def _repeated(self, errors: NDArray[np.float64]) -> Results:
        """Copies of these settings with other errors, ``(copies, settings, samples, trials)``, one after the other.

        Each copy has places of its own in the grid, in the order of this one's, so that nothing compares two copies.
        """
        copies, settings = errors.shape[:2]
        columns = RowsOf(self.columns, np.tile(np.arange(settings), copies))
        again = replace(self, columns=columns, errors=errors.reshape(-1, *errors.shape[2:]), losses={})
        own = self.grid.index
        index = np.concatenate([np.where(own >= 0, own + settings * copy, -1) for copy in range(copies)])
        grid = Grid(self.grid.places * copies, self.grid.labels, index)
        vars(again).update(labels=np.tile(self.labels, copies), grid=grid)
        return again

    def described(self, **facts: Any) -> Results:
        """The same results with more said of where they come from."""
        return replace(self, metadata={**self.metadata, **facts})

    def _selector(self, name: str) -> NDArray[Any]:
        if name == "dimensions":
            return self._dimensions
        return self.labels if name == "label" else self.columns[name]

    @cached_property
    def _dimensions(self) -> NDArray[np.int64]:
        return np.array([domain.count("x") + 1 for domain in self.columns["domain"].tolist()])

    @cached_property
    def labels(self) -> NDArray[Any]:
        """The algorithm of every setting as it is called in tables, ``(settings,)``."""
        keys = list(self.rows(*Form._fields))
        made = {key: algorithm_label(Form(*key)) for key in dict.fromkeys(keys)}
        return np.array([made[key] for key in keys], dtype=object)

    @cached_property
    def places(self) -> tuple[Place, ...]:
        """What algorithms are compared on, in order of size of the domain."""
        return tuple(sorted(map(Place._make, set(self.rows(*Place._fields))), key=_order))

    @cached_property
    def grid(self) -> Grid:
        """Which setting stands where: places in their order, algorithms in order of their names."""
        places, labels = self.places, tuple(sorted(dict.fromkeys(self.labels.tolist()), key=str.casefold))
        row = {place: number for number, place in enumerate(places)}
        column = {label: number for number, label in enumerate(labels)}
        index = np.full((len(places), len(labels)), -1, dtype=np.int64)
        at = [row[key] for key in self.rows(*Place._fields)], [column[label] for label in self.labels.tolist()]
        index[at] = np.arange(len(self))
        return Grid(places, labels, index)

    @cached_property
    def log_percentiles(self) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
        """What the test of percentiles goes by; see :func:`dpbench.significance.tail_moments`."""
        from dpbench.significance import ordered_tail_moments

        return ordered_tail_moments(self.measured.ordered, self.standards.percentile)

    @cached_property
    def whole(self) -> NDArray[np.bool_]:
        """Whether every unit of a setting gave errors, ``(settings,)``: a setting with failures is not compared."""
        return np.asarray((self.columns["failed"] == 0) & (self.trials > 0))


def _standards_said(said: Mapping[str, Any]) -> Mapping[str, Any]:
    """What is said of how to read results, if it is about that."""
    for name in said:
        known(name, "standard", tuple(each.name for each in fields(Standards)))
    return said


def _among(name: str, column: NDArray[Any], values: list[Any]) -> NDArray[np.bool_]:
    """Which entries of a column are one of some values."""
    if column.dtype.kind in "OU":
        texts = {_text(name, each) for each in values}
        return np.fromiter(map(texts.__contains__, column.tolist()), dtype=bool, count=len(column))
    return np.isin(column.astype(np.float64), [_number(name, each) for each in values])


def _text(name: str, given: object) -> str:
    if not isinstance(given, str):
        raise InvalidInput(f"{name} is {shown(given)}; give a text, or a list of texts")
    return given


def _number(name: str, given: object) -> float:
    """A number, a truth value, or a text that is one."""
    with suppress(ValueError):
        given = float(given) if isinstance(given, str | bool | np.bool_) else given
    return real(given, name, "a number, or a list of numbers")


def _order(place: Place) -> tuple[Any, ...]:
    return place.task, place.workload, _cells(place.domain), *place[1:]


@lru_cache(maxsize=1024)
def _cells(domain: str) -> int:
    return Domain.of(domain).size


def _both_origins(one: Mapping[str, Any], other: Mapping[str, Any]) -> dict[str, Any]:
    """Metadata of the one, with every fact about where either comes from."""
    origin = {name: list(facts) for name, facts in one.get("origin", {}).items()}
    for name, facts in other.get("origin", {}).items():
        kept = origin.setdefault(name, [])
        kept += [each for each in facts if each not in kept]
    return {**one, "origin": origin} if origin else dict(one)


def _widened(errors: NDArray[np.float64], shape: list[int]) -> NDArray[np.float64]:
    if list(errors.shape[1:]) == shape:
        return errors
    wide = np.full((len(errors), *shape), np.nan)
    wide[:, : errors.shape[1], : errors.shape[2]] = errors
    return wide
