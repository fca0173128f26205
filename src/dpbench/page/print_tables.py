"""The paper's tables for any results: LaTeX with booktabs, Markdown, CSV, and HTML in a notebook."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from os import PathLike
from pathlib import Path

import numpy as np

from dpbench.given import as_path
from dpbench.interpreting import Baseline, baselines, competitive_sets, error_cells, regret
from dpbench.interpreting.errors_table import scales_of
from dpbench.page.data import FormResults, by_form
from dpbench.page.table import Cell, Table
from dpbench.results import Results
from dpbench.results.markup import LATEX_PACKAGES
from dpbench.store.disk import write_whole
from dpbench.store.files import csv_text, refusal
from dpbench.store.setting_key import Group

FORM_WORDS = {"published": "as the paper did", "private": "private end to end"}

FLOATS = 12
"""Tables in a row that LaTeX surely keeps in mind before it has a page for them."""


@dataclass(frozen=True)
class Tables:
    """Tables of some results, and the files that they were written to."""

    tables: tuple[Table, ...]
    files: tuple[Path, ...] = ()

    def latex(self) -> str:
        """All tables for LaTeX."""
        parts = [table.latex() for table in self.tables]
        runs = ["\n".join(parts[start : start + FLOATS]) for start in range(0, len(parts), FLOATS)]
        return LATEX_PACKAGES + "\n" + "\n\\clearpage\n".join(runs)

    def markdown(self) -> str:
        """All tables for Markdown."""
        return "\n".join(table.markdown() for table in self.tables)

    def csv(self) -> str:
        """All numbers, one row per cell."""
        names = ("table", "caption", "row", "column", "value", "deviation", "bold")
        lines = (
            (table.name, table.caption, name, column, cell.value, cell.around, int(cell.bold))
            for table in self.tables
            for name, cells in table.rows
            for column, cell in zip(table.columns, cells, strict=True)
            if cell is not None
        )
        return csv_text(names, (dict(zip(names, line, strict=True)) for line in lines))

    def _repr_html_(self) -> str:
        return "".join(table._repr_html_() for table in self.tables)


def tables(results: Results, out: str | PathLike[str] | None = None) -> Tables:
    """Every kind of table, by the standards of the results; in a folder, if given, as .tex, .md and .csv.

    Errors by scale and by dataset, competitive sets by mean and by percentile, ratios to the baselines, regret.
    """
    Results.insist(results)
    folder = None if out is None else as_path(out, "the folder of the tables")
    found = tuple(table for study in by_form(results) for make in MAKERS for table in make(study))
    if folder is None:
        return Tables(found)
    files: list[Path] = []
    with refusal(folder, "a folder that can be written to"):
        folder.mkdir(parents=True, exist_ok=True)
        for kind in dict.fromkeys(table.name for table in found):
            some = Tables(tuple(table for table in found if table.name == kind))
            for ending, text in ((".tex", some.latex()), (".md", some.markdown()), (".csv", some.csv())):
                path = folder / f"table-{kind}{ending}"
                write_whole(path, text.encode())
                files.append(path)
    return Tables(found, tuple(files))


def _errors(study: FormResults) -> Iterable[Table]:
    """Mean over datasets by algorithm and scale; bold where competitive on half of them."""
    sets, everything = competitive_sets(study.results), error_cells(study.results)
    for group, places in sets.grid.groups().items():
        scales = sorted({sets.grid.places[place].scale for place in places})
        wins = {scale: sets.counts(places[sets.grid.column("scale")[places] == scale]) for scale in scales}
        found = {
            (each.algorithm, each.scale): Cell(
                each.mean, each.deviation, 2 * wins[each.scale][each.algorithm] >= each.datasets
            )
            for each in everything
            if each.group == group and each.datasets
        }
        keys = ((label, scale) for label in sets.grid.labels for scale in scales)
        words = f"{_error(study)} (deviation of a trial), mean over datasets; bold: competitive on at least half"
        words = f"{words} ({sets.family(places)})."
        yield _by_scale("errors", words, study, group, scales, {key: found[key] for key in keys if key in found})


def _datasets(study: FormResults) -> Iterable[Table]:
    """Every dataset by itself, a table for each scale; bold: competitive."""
    sets, measured = competitive_sets(study.results), study.results.measured
    for group, scale, places in scales_of(sets.grid):
        used = [column for column in range(len(sets.grid.labels)) if (sets.grid.index[places, column] >= 0).any()]
        rows = []
        for place in places.tolist():
            numbers = [int(sets.grid.index[place, column]) for column in used]
            cells = tuple(
                Cell(float(measured.mean[number]), float(measured.deviation[number]), bool(sets.members[place, column]))
                if number >= 0 and study.results.whole[number]
                else None
                for number, column in zip(numbers, used, strict=True)
            )
            rows.append((sets.grid.places[place].dataset, cells))
        words = f"{_error(study)} (deviation of a trial) by dataset at scale {scale:g}; bold: competitive"
        words = f"{words} ({sets.family(places)}). {_where(study, group)}"
        yield Table("datasets", words, tuple(study.short[sets.grid.labels[column]] for column in used), tuple(rows))


def _competitive(study: FormResults) -> Iterable[Table]:
    """As the paper's Table 3, among all algorithms of these results; the paper's is among those of its Figure 1."""
    return _counted(study, "competitive", study.results.standards.test)


def _risk(study: FormResults) -> Iterable[Table]:
    """The same by the percentile of the standards; none where the errors of single trials were not kept."""
    return _counted(study, "risk", "percentile") if study.results.single_trials else ()


def _counted(study: FormResults, kind: str, test: str) -> Iterable[Table]:
    sets = competitive_sets(study.results, test)
    for group, places in sets.grid.groups().items():
        at = sets.grid.column("scale")[places]
        scales = sorted(set(at.tolist()))
        counts = [sets.counts(places[at == scale]) for scale in scales]
        ever = sorted(
            (name for name in sets.grid.labels if any(each[name] for each in counts)),
            key=lambda name: [-each[name] for each in counts],
        )
        cells = {
            (name, scale): Cell(each[name], whole=True)
            for name in ever
            for scale, each in zip(scales, counts, strict=True)
            if each[name]
        }
        by = sets.test.measure_words(study.results.standards)
        words = f"Number of datasets on which an algorithm is competitive by {by} ({sets.family(places)})."
        yield _by_scale(kind, words, study, group, scales, cells)


def _baselines(study: FormResults) -> Iterable[Table]:
    """Error over that of each baseline, a table for each; bold: beats it."""
    standards = study.results.standards
    found: dict[tuple[Group, str], list[Baseline]] = {}
    for each in baselines(study.results):
        found.setdefault((each.group, each.baseline), []).append(each)
    for (group, baseline), lines in found.items():
        scales = sorted({each.scale for each in lines})
        cells = {(each.algorithm, each.scale): Cell(each.ratio, bold=each.beats) for each in lines}
        words = f"Mean {standards.error_words} over datasets, over that of {study.short[baseline]}; bold: below 1."
        yield _by_scale("baselines", words, study, group, scales, cells)


def _regret(study: FormResults) -> Iterable[Table]:
    found = regret(study.results, Group._fields)
    for where in dict.fromkeys(each.where for each in found):
        lines = [each for each in found if each.where == where]
        rows = tuple(
            (
                study.short[each.algorithm],
                tuple(Cell(value) if np.isfinite(value) else None for value in (each.regret, each.low, each.high)),
            )
            for each in lines
        )
        group = Group(**dict(where))
        yield Table(
            "regret",
            f"Regret by mean {study.results.standards.error_words} with its 95 % interval over datasets. "
            + _where(study, group),
            ("regret", "low", "high"),
            rows,
        )


MAKERS: tuple[Callable[[FormResults], Iterable[Table]], ...] = (
    _errors,
    _competitive,
    _risk,
    _baselines,
    _regret,
    _datasets,
)


def _by_scale(
    kind: str,
    words: str,
    study: FormResults,
    group: Group,
    scales: list[int],
    cells: Mapping[tuple[str, int], Cell],
) -> Table:
    """A table of cells by label and scale: one row per label, in the order of the cells."""
    labels = dict.fromkeys(label for label, _ in cells)
    rows = tuple((study.short[label], tuple(cells.get((label, scale)) for scale in scales)) for label in labels)
    return Table(kind, f"{words} {_where(study, group)}", tuple(f"{scale:g}" for scale in scales), rows)


def _error(study: FormResults) -> str:
    """What an error is, at the beginning of a caption."""
    words = study.results.standards.error_words
    return words[0].upper() + words[1:]


def _where(study: FormResults, group: Group) -> str:
    return f"{group.workload} on {group.domain}, {group.budget}, {FORM_WORDS[study.form]}."
