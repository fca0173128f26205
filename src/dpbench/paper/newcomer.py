"""Somebody's algorithm against a study: where it is competitive, what it costs to use it everywhere, where it loses."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np

from dpbench.errors import InvalidInput
from dpbench.interpreting import baselines, competitive_sets, regret
from dpbench.interpreting.competitive import compare
from dpbench.results import Place, Results

ALPHA = 0.05
NAMED = 6
"""Domains and scales that a sentence has room for."""


@dataclass(frozen=True)
class ScaleRow:
    """The newcomer at one domain and scale."""

    domain: str
    scale: int
    datasets: int
    competitive: int
    """Datasets on which it is the best or not significantly worse."""
    best: str
    """Who is competitive on most datasets, among the others."""
    over_identity: float
    """Mean error over datasets, over that of Identity; NaN where there is none."""
    over_uniform: float


@dataclass(frozen=True)
class Comparison:
    """What is said of a newcomer."""

    name: str
    settings: int
    competitive: int
    agreement: dict[str, float]
    """Share of settings in which another algorithm and the newcomer are both competitive or both not."""
    different: dict[str, int]
    """Settings in which the mean error differs significantly from another's, Bonferroni over all settings."""
    regret: float
    rank: int
    regrets: dict[str, float]
    rows: tuple[ScaleRow, ...]

    @property
    def loses(self) -> list[ScaleRow]:
        """Where it does not beat Identity, or not Uniform."""
        return [row for row in self.rows if row.over_identity >= 1 or row.over_uniform >= 1]

    @property
    def sentence(self) -> str:
        """The sentence for a paper."""
        lowest = min(self.regrets, key=self.regrets.__getitem__)
        lost = [f"{row.domain} at {row.scale:,}" for row in self.loses]
        told = ", ".join(lost) if len(lost) <= NAMED else f"{len(lost)} of {len(self.rows)} domains and scales"
        baselines = (
            f"does not beat a baseline on average at {told}" if lost else "beats both baselines on average everywhere"
        )
        return (
            f"{self.name} is competitive in {self.competitive} of {self.settings} settings (unpaired t-test, "
            f"alpha = 0.05, Bonferroni-corrected) with a regret of {self.regret:.2f}, rank {self.rank} of "
            f"{len(self.regrets)} (lowest: {lowest}, {self.regrets[lowest]:.2f}); it {baselines}."
        )


def rivals_of(study: Results, newcomer: Results) -> Results:
    """The settings of a study at the places of the newcomer."""
    places = {_place(newcomer, number) for number in range(len(newcomer))}
    kept = [number for number in range(len(study)) if _place(study, number) in places]
    found = study.take(np.array(kept, dtype=np.int64))
    if not len(found):
        raise InvalidInput("the study and the newcomer have no setting in common; run it on datasets of the study")
    return found


def _place(results: Results, number: int) -> Place:
    return Place(*(results.columns[name][number] for name in Place._fields))


def against(study: Results, newcomer: Results) -> Comparison:
    """Set a newcomer's results against those of a study on the same data vectors."""
    rivals = rivals_of(study, newcomer)
    both = rivals.joined(newcomer)
    name = str(newcomer.columns["algorithm"][0])
    names = dict(zip(both.labels.tolist(), both.columns["algorithm"].tolist(), strict=True))
    sets = competitive_sets(both)
    columns = {names[label]: column for column, label in enumerate(sets.grid.labels)}
    own = columns[name]
    there = sets.grid.index[:, own] >= 0
    members = sets.members[there]
    index = sets.grid.index[there]
    others = {other: column for other, column in columns.items() if other != name}
    level = ALPHA / max(int(there.sum()), 1)
    found = {names[each.algorithm]: each for each in regret(both) if not each.missing}
    regrets = {other: each.regret for other, each in found.items()}
    return Comparison(
        name=name,
        settings=int(there.sum()),
        competitive=int(members[:, own].sum()),
        agreement={other: float((members[:, own] == members[:, at]).mean()) for other, at in others.items()},
        different={
            other: int((compare(both, index[:, own], index[:, at], "unpaired") < level).sum())
            for other, at in others.items()
        },
        regret=regrets[name],
        rank=sorted(regrets, key=regrets.__getitem__).index(name) + 1,
        regrets=regrets,
        rows=_rows(both, name, names, {other for other in others if other in regrets}),
    )


def _rows(both: Results, name: str, names: dict[str, str], others: Collection[str]) -> tuple[ScaleRow, ...]:
    ratios: dict[tuple[str, int, str], float] = {}
    for each in baselines(both):
        if names[each.algorithm] == name:
            ratios[each.domain, each.scale, names[each.baseline]] = each.ratio
    sets = competitive_sets(both)
    column = {names[label]: number for number, label in enumerate(sets.grid.labels)}
    domains, scales = sets.grid.column("domain"), sets.grid.column("scale")
    rows = []
    for domain, scale in dict.fromkeys(zip(domains.tolist(), scales.tolist(), strict=True)):
        here = sets.members[(domains == domain) & (scales == scale)]
        best = max(others, key=lambda other: int(here[:, column[other]].sum()), default="-")
        rows.append(
            ScaleRow(
                domain,
                scale,
                len(here),
                int(here[:, column[name]].sum()),
                f"{best} {int(here[:, column[best]].sum())}" if others else "-",
                ratios.get((domain, scale, "Identity"), float("nan")),
                ratios.get((domain, scale, "Uniform"), float("nan")),
            )
        )
    return tuple(sorted(rows, key=lambda row: (row.domain.count("x"), len(row.domain), row.domain, row.scale)))
