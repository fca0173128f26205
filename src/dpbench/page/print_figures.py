"""The paper's figures for print: 1, 2a, 2b and 2c of any results, as PDF, SVG and PNG."""

from __future__ import annotations

import csv
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpbench.domain import Domain
from dpbench.errors import InvalidInput, Unsupported, shown
from dpbench.given import as_path, known, of_kind, texts
from dpbench.interpreting import competitive_sets
from dpbench.measuring.yardstick import Yardstick
from dpbench.page.data import FormResults, by_form
from dpbench.page.figure_lines import yardstick_lines, yardstick_words
from dpbench.page.palette import colour_of, marker_of
from dpbench.results import Results
from dpbench.results.markup import power_of_ten
from dpbench.store.files import refusal
from dpbench.store.setting_key import BUDGET, Group, budget_order, budget_words

FORMATS = ("pdf", "svg", "png")
DOMAINS = {1: "4096", 2: "128x128"}
"""What the paper's figures show."""
THE_BUDGET = (0.1, 0.0, 0.0)
"""Epsilon 0.1, pure; where there is none, the first of the budgets."""
SCALES = {1: 1_000, 2: 10_000}
DOMAIN_SETS = ("ADULT-2D", "BJ-CABS-E")
DOMAIN_SCALES = (10_000, 1_000_000)
PANELS_ACROSS = 3
"""Panels of figure 1 beside each other: what a page of print is wide enough for."""
LONGEST = 24
"""Most letters of a name in a figure."""
LINES = ("--", ":", "-.")
"""Of the baselines, in their order."""
THEIRS = "#d55e00"
"""The colour of the authors' values."""
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Overlay:
    """Values of somebody else's plots: log10 of mean errors by what they are of."""

    values: dict[tuple[str, str, float, str], float]
    """By figure ("1a"), algorithm, scale and dataset (empty: the mean over datasets)."""

    @classmethod
    def read(cls, files: Iterable[str | PathLike[str]]) -> Overlay:
        """From CSV files with columns figure, scale, algorithm, log10_mean_error and perhaps dataset."""
        values = {}
        for file in files:
            try:
                with Path(file).open(encoding="utf-8-sig", newline="") as lines:
                    for row in csv.DictReader(lines):
                        key = row["figure"], row["algorithm"], float(row["scale"]), row.get("dataset") or ""
                        values[key] = float(row["log10_mean_error"])
            except (OSError, KeyError, ValueError, TypeError) as error:
                reason = getattr(error, "strerror", None) or f"{type(error).__name__}: {error}"
                raise InvalidInput(
                    f"cannot read {file} ({reason}); give CSV with columns figure, scale, algorithm, log10_mean_error"
                ) from None
        return cls(values)

    def at(self, figure: str, algorithm: str, scale: float, dataset: str = "") -> float:
        """The mean error, or NaN."""
        return float(10 ** self.values.get((figure, algorithm, float(scale), dataset), np.nan))


def figures(
    results: Results,
    out: str | PathLike[str],
    *,
    authors: Sequence[str | PathLike[str]] = (),
    formats: Sequence[str] = FORMATS,
    yardsticks: Mapping[Group, Yardstick] | None = None,
    always: Collection[str] = (),
) -> list[Path]:
    """Write every figure of the paper that the results can give; the files.

    Figures 2a and 2b show baselines, Hb, what is competitive somewhere, and the algorithms named in ``always``.

    ``yardsticks`` is what :func:`dpbench.yardsticks.yardsticks` makes of the results: with it, the limit and the best
    known strategy are drawn as lines.
    """
    folder = as_path(out, "the folder of the figures")
    files: list[Path] = []
    for each in texts(formats, "the formats of the figures"):
        known(each, "format of figures", FORMATS)
    of_kind({} if yardsticks is None else yardsticks, Mapping, "what holds the yardsticks", "None")
    parts = by_form(Results.insist(results))
    overlay = Overlay.read(_paths(authors))
    style = {
        "font.size": 8,
        "svg.hashsalt": "dpbench",
        "pdf.fonttype": 42,
        "axes.spines.top": False,
        "axes.spines.right": False,
    }
    with _matplotlib().rc_context(style):
        for study in parts:
            for name, figure in _drawn(study, overlay, yardsticks or {}, frozenset(always)):
                stem = name if len(parts) == 1 else f"{name}-{study.form}"
                files += _save(figure, folder, stem, formats)
    return files


def _paths(given: object) -> list[Path]:
    """Files in a list."""
    if not isinstance(given, list | tuple):
        raise InvalidInput(f"the files of the authors are {shown(given)}; give a list of paths")
    return [as_path(each, "a file of the authors") for each in given]


def _matplotlib() -> Any:
    try:
        import matplotlib as mpl
    except ImportError:
        raise Unsupported(
            "figures are drawn by matplotlib, which is not installed; install dpbench-range[figures]"
        ) from None
    mpl.use("Agg", force=False)
    return mpl


def _drawn(
    study: FormResults, overlay: Overlay, yardsticks: Mapping[Group, Yardstick], always: frozenset[str]
) -> Iterable[tuple[str, Any]]:
    for axes, letter in ((1, "a"), (2, "b")):
        part = _main_table(study, axes)
        if part is not None:
            same = (
                overlay if part.results[0].domain == DOMAINS[axes] else Overlay({})
            )  # theirs are of this domain alone
            yield f"figure1{letter}", _by_scale(part, f"1{letter}", same, yardsticks)
            yield f"figure2{letter}", _by_dataset(part, f"2{letter}", SCALES[axes], same, yardsticks, always)
    yield from (("figure2c", figure) for figure in [_by_domain(study, yardsticks)] if figure is not None)


def _main_table(study: FormResults, axes: int) -> FormResults | None:
    """The table that the paper's figures show, or the one on the largest domain; one workload, budget and seed."""
    results = study.results.where(dimensions=axes)
    if not len(results):
        return None
    domains = sorted(set(results.columns["domain"].tolist()), key=lambda each: Domain.of(each).size)
    chosen = {"domain": DOMAINS[axes] if DOMAINS[axes] in domains else domains[-1]}
    return _narrowed(study, axes, chosen)


def _narrowed(study: FormResults, axes: int, chosen: dict[str, Any]) -> FormResults:
    columns = study.results.columns
    kept = np.asarray(np.char.count(columns["domain"].astype(str), "x") + 1 == axes)
    for name, value in chosen.items():
        kept &= columns[name] == value
    budgets = sorted(set(zip(*(columns[name][kept].tolist() for name in BUDGET), strict=True)), key=budget_order)
    for name, value in zip(BUDGET, THE_BUDGET if THE_BUDGET in budgets else budgets[0], strict=True):
        kept &= columns[name] == value
    for name in ("workload", "task", "seed"):
        kept &= columns[name] == min(columns[name][kept].tolist())
    return FormResults(study.form, study.results.take(np.flatnonzero(kept)), study.names[kept])


def _means(study: FormResults) -> Floats:
    return np.where(study.results.whole, study.results.measured.mean, np.nan)


def _title(study: FormResults) -> str:
    first = study.results[0]
    budget = budget_words(first.epsilon, first.delta, first.rho)
    return f"{_verbatim(first.workload)} on {first.domain}, {budget}, {study.form} forms"


def _by_scale(study: FormResults, figure: str, overlay: Overlay, yardsticks: Mapping[Group, Yardstick]) -> Any:
    """Figure 1: a dot for each dataset, a diamond for their mean, baselines and yardsticks as lines."""
    from matplotlib.figure import Figure

    means, columns, baselines = _means(study), study.results.columns, study.results.standards.baselines
    scales = sorted(set(columns["scale"].tolist()))
    names = sorted(set(study.names.tolist()), key=str.casefold)
    columns_of_panels = min(len(scales), PANELS_ACROSS)
    rows_of_panels = -(-len(scales) // columns_of_panels)
    size = (max(4.0, (0.14 * len(names) + 0.2) * columns_of_panels + 0.6), 2.6 * rows_of_panels + 0.3)
    drawn = Figure(figsize=size, layout="constrained")
    panels = np.ravel(drawn.subplots(rows_of_panels, columns_of_panels, sharey=True, squeeze=False))
    for panel in panels[len(scales) :]:
        panel.remove()
    for panel, scale in zip(panels, scales, strict=False):
        for place, name in enumerate(names):
            values = means[(columns["scale"] == scale) & (study.names == name)]
            values = values[np.isfinite(values)]
            if not len(values):
                continue
            if name in baselines:
                line = LINES[baselines.index(name) % len(LINES)]
                panel.axhline(values.mean(), color="#888888", linewidth=0.8, linestyle=line, zorder=0)
            panel.plot(np.full(len(values), place), values, ".", color="black", markersize=3.5, alpha=0.7)
            panel.plot([place], [values.mean()], "D", color="white", markeredgecolor="black", markersize=5)
            panel.plot(
                [place], [overlay.at(figure, name, scale)], "_", color=THEIRS, markersize=10, markeredgewidth=1.8
            )
        for _, value, look in yardstick_lines(study.results, yardsticks, scale):
            panel.axhline(value, zorder=0, **look)
        panel.set(yscale="log", title=f"scale {_scale(scale)}", xlim=(-0.7, len(names) - 0.3))
        panel.set_xticks(range(len(names)), [_verbatim(name) for name in names], rotation=90)
    drawn.supylabel(_error(study), fontsize=8)
    more = "; orange: the authors' plot" if overlay.values else ""
    drawn.suptitle(_title(study) + more + yardstick_words(study.results, yardsticks), fontsize=8)
    return drawn


def _by_dataset(
    study: FormResults,
    figure: str,
    scale: int,
    overlay: Overlay,
    yardsticks: Mapping[Group, Yardstick],
    always: frozenset[str],
) -> Any:
    """Figures 2a and 2b: baselines, Hb, every algorithm that is competitive on some dataset at this scale, and some."""
    from matplotlib.figure import Figure

    scales = sorted(set(study.results.columns["scale"].tolist()))
    scale = scale if scale in scales else scales[0]
    here = _narrowed(study, Domain.of(study.results[0].domain).ndim, {"scale": scale})
    means, sets = _means(here), competitive_sets(here.results)
    shown = {here.short[label] for label, wins in sets.counts().items() if wins}
    shown |= {*here.results.standards.baselines, "Hb"}
    shown |= set(here.names[[name in always for name in here.results.columns["algorithm"]]].tolist())
    names = [name for name in sorted(set(here.names.tolist()), key=str.casefold) if name in shown]
    datasets = sorted(set(here.results.columns["dataset"].tolist()))
    drawn = Figure(figsize=(max(4.0, 0.32 * len(datasets) + 2), 3.2), layout="constrained")
    panel = drawn.subplots()
    for name in names:
        look = _look(name)
        at = {
            dataset: means[(here.names == name) & (here.results.columns["dataset"] == dataset)] for dataset in datasets
        }
        line = [float(values[0]) if len(values) else np.nan for values in at.values()]
        panel.plot(
            range(len(datasets)), line, linestyle="none", markersize=4.5, label=_verbatim(name), alpha=0.9, **look
        )
        theirs = [overlay.at(figure, name, scale, dataset) for dataset in datasets]
        panel.plot(range(len(datasets)), theirs, linestyle="none", markersize=8, fillstyle="none", **look)
    for name, value, look in yardstick_lines(here.results, yardsticks, scale):
        panel.axhline(value, zorder=0, label=name, **look)
    more = "; hollow: the authors' plot" if overlay.values else ""
    panel.set(yscale="log", ylabel=_error(here))
    words = yardstick_words(here.results, yardsticks)
    drawn.suptitle(f"{_title(here)}\nscale {_scale(scale)}{more}{words}", fontsize=8)
    panel.set_xticks(range(len(datasets)), [_verbatim(name) for name in datasets], rotation=90)
    panel.legend(loc="center left", bbox_to_anchor=(1, 0.5), frameon=False)
    return drawn


def _by_domain(study: FormResults, yardsticks: Mapping[Group, Yardstick]) -> Any:
    """Figure 2c: two datasets and two scales in 2-D, or the first ones that there are; None with one domain."""
    from matplotlib.figure import Figure

    if not len(study.results.where(dimensions=2)):
        return None
    part = _narrowed(study, 2, {})
    columns = part.results.columns
    domains = sorted(set(columns["domain"].tolist()), key=lambda each: Domain.of(each).size)
    if len(domains) < 2:
        return None
    sets, scales = (
        _first(columns[name], wanted) for name, wanted in (("dataset", DOMAIN_SETS), ("scale", DOMAIN_SCALES))
    )
    means = _means(part)
    names = sorted(set(part.names.tolist()), key=str.casefold)
    drawn = Figure(figsize=(2.6 * len(sets) * len(scales) + 1.2, 3.0), layout="constrained")
    panels = np.atleast_1d(drawn.subplots(1, len(sets) * len(scales), sharey=True))
    for panel, (dataset, scale) in zip(panels, ((d, s) for d in sets for s in scales), strict=True):
        for name in names:
            own = (part.names == name) & (columns["dataset"] == dataset) & (columns["scale"] == scale)
            line = [means[own & (columns["domain"] == domain)] for domain in domains]
            panel.plot(
                range(len(domains)),
                [float(each[0]) if len(each) else np.nan for each in line],
                markersize=3.5,
                linewidth=1,
                linestyle="--" if name in part.results.standards.baselines else "-",
                label=_verbatim(name),
                **_look(name),
            )
        at = [yardstick_lines(_narrowed(part, 2, {"domain": domain}).results, yardsticks, scale) for domain in domains]
        for place, (name, _, look) in enumerate(at[0] if all(at) else ()):
            panel.plot(range(len(domains)), [lines[place][1] for lines in at], label=name, **look)
        panel.set(yscale="log", title=f"{_verbatim(dataset)}, scale {_scale(scale)}")
        panel.set_xticks(range(len(domains)), domains, rotation=45)
    panels[0].set_ylabel(_error(part))
    panels[-1].legend(loc="center left", bbox_to_anchor=(1, 0.5), frameon=False, fontsize=7)
    return drawn


def _error(study: FormResults) -> str:
    """What the axis of errors shows."""
    return f"mean {study.results.standards.error_words}".replace("$", r"\$")


def _look(name: str) -> dict[str, Any]:
    """Return the marker and the colour of an algorithm, as in every other figure."""
    return {"marker": marker_of(name), "color": colour_of(name)[0]}


def _scale(scale: int) -> str:
    exponent = power_of_ten(scale)
    return f"{scale:,}" if exponent is None else f"$10^{exponent}$"


def _verbatim(name: str) -> str:
    """A name that is drawn as it is, as far as it fits: a dollar would begin a formula."""
    return (name if len(name) <= LONGEST else name[: LONGEST - 3] + "...").replace("$", r"\$")


def _first(values: NDArray[Any], wanted: Sequence[Any]) -> list[Any]:
    there = sorted(set(values.tolist()))
    return [each for each in wanted if each in there] or there[: len(wanted)]


def _save(figure: Any, folder: Path, stem: str, formats: Sequence[str]) -> list[Path]:
    """Files without a date in them: the same results give the same figure."""
    undated = {"pdf": {"CreationDate": None}, "svg": {"Date": None}}
    files = [folder / f"{stem}.{each}" for each in formats]
    with refusal(folder, "a folder that can be written to"):
        folder.mkdir(parents=True, exist_ok=True)
        for path in files:
            figure.savefig(path, dpi=200, metadata=undated.get(path.suffix[1:], {}))
    return files
