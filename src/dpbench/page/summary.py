"""A store in one look: error by algorithm and scale, the competitive ones marked."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from dpbench.interpreting import baselines, competitive_sets
from dpbench.interpreting.errors_table import scales_of
from dpbench.results import Results


@dataclass
class SummaryTable:
    """Errors on one workload, domain and budget: by algorithm and scale, averaged over datasets."""

    title: str
    datasets: list[str] = field(default_factory=list)
    scales: list[int] = field(default_factory=list)
    algorithms: list[str] = field(default_factory=list)
    errors: dict[tuple[str, int], float] = field(default_factory=dict)
    """Mean error over datasets, by algorithm and scale."""
    percentiles: dict[tuple[str, int], float] = field(default_factory=dict)
    """Mean over datasets of the percentile of the standards."""
    wins: dict[tuple[str, int], int] = field(default_factory=dict)
    """On how many datasets the algorithm is competitive."""
    family: str = ""
    """Among how many algorithms, by which test, at which level."""
    baselines: list[str] = field(default_factory=list)
    """The baselines of the standards that are there."""
    over: dict[tuple[str, int], float] = field(default_factory=dict)
    """Mean error over that of the best of them; none for the baselines themselves."""


def summary_tables(results: Results) -> list[SummaryTable]:
    """One table for each task, workload, domain and budget; settings with failures are left out."""
    measured = results.take(results.whole)
    grid, sets = measured.grid, competitive_sets(measured)
    scales = grid.column("scale")
    tables = {}
    several = len({place.seed for place in grid.places}) > 1
    for group, places in grid.groups().items():
        tables[group] = SummaryTable(
            title=f"{group.workload} on {group.domain}, {group.budget}" + (f", seed {group.seed}" if several else ""),
            datasets=sorted({grid.places[place].dataset for place in places}),
            scales=np.unique(scales[places]).tolist(),
            family=sets.family(places),
        )
        for scale in tables[group].scales:
            counts = sets.counts(places[scales[places] == scale])
            tables[group].wins |= {(label, scale): number for label, number in counts.items()}
    against = baselines(measured)
    themselves = {each.baseline for each in against}
    for each in against:
        if each.algorithm not in themselves:
            table, key = tables[each.group], (each.algorithm, each.scale)
            table.over[key] = max(table.over.get(key, 0.0), each.ratio)
            table.baselines += [each.baseline] if each.baseline not in table.baselines else []
    means, percentiles = grid.spread(measured.measured.mean), grid.spread(measured.measured.percentile)
    for group, scale, places in scales_of(grid):
        table = tables[group]
        for column, label in enumerate(grid.labels):
            kept = places[grid.index[places, column] >= 0]
            if len(kept):
                table.errors[label, scale] = float(np.mean(means[kept, column]))
                table.percentiles[label, scale] = float(np.mean(percentiles[kept, column]))
                table.algorithms += [label] if label not in table.algorithms else []
    return list(tables.values())
