"""A private selection in the manner of Pythia: ``python -m benchmarks.private_selection --train STORE``.

Kotsogiannis, Machanavajjhala, Hay, Miklau (Pythia, SIGMOD 2017) choose an algorithm by noisy features of the data.
Here a share of epsilon pays for noisy counts of blocks; a tree of rules, trained on synthetic shapes for the least
regret, looks at features of these and names an algorithm, which runs with what is left of epsilon. It is a benchmark
for the advice, which looks at nothing, and not part of the catalogue.

Its rules are trained on the errors in a store (``dpbench run benchmarks/shapes-1d.toml --store STORE``, likewise 2d:
four minutes of one core) and evaluated on the private setting of the shipped study, at the signal that is left, by
exchangeability. Writes ``paper/data/selection.csv``. With ``--features`` it writes features of the paper's histograms
(no noise: they are public) to ``paper/data/features.csv``.
"""

from __future__ import annotations

import argparse
import csv
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np

import dpbench as dpb
from benchmarks.advice import condensed, family, left_out, summary
from dpbench import paper
from dpbench.advice.experience import Array, Experience
from dpbench.datasets import shapes
from dpbench.domain import Domain
from dpbench.paper.error_panel import TASKS
from dpbench.paper.study import PAPER_STANDARDS, Study, sort_settings
from dpbench.results import Results

DATA = Path(paper.__file__).parent / "data"
EPSILON = 0.1
SHARE = 0.05
"""Of epsilon, for the look."""
BLOCKS = {1: (64,), 2: (8, 8)}
DRAWS = 5
DEPTH, FEWEST = 4, 0.04
"""Of the tree of rules, and the smallest part of the examples that a rule may rest on."""
Histogram = Callable[[str, Domain], Any]


def block_counts(x: Array, blocks: tuple[int, ...]) -> Array:
    """Sums over equal blocks."""
    for axis, many in enumerate(blocks):
        x = np.add.reduceat(x, np.linspace(0, x.shape[axis], many, endpoint=False).astype(int), axis=axis)
    return x


def noisy_features(x: Array, signal_share: float, rng: np.random.Generator) -> Array:
    """What a selection sees: cells, noisy signal, shape of noisy blocks; ``signal_share`` is share * epsilon."""
    noise = 1 / signal_share
    counts = block_counts(x.astype(float), BLOCKS[x.ndim])
    seen = counts + rng.laplace(scale=noise, size=counts.shape)
    total = max(float(seen.sum()), noise)
    part = np.maximum(seen, 0) / max(float(np.maximum(seen, 0).sum()), 1e-9)
    steps = np.mean([np.abs(np.diff(part, axis=axis)).sum() / 2 for axis in range(part.ndim)])
    apart = np.abs(part - 1 / part.size).sum() / 2
    return np.array(
        [np.log2(x.size), np.log10(total * signal_share), apart, steps, part.max(), (seen > 3 * noise).mean()]
    )


@dataclass(frozen=True)
class Rule:
    """A leaf that names an algorithm, or a question about one feature."""

    choice: int
    feature: int = -1
    threshold: float = 0.0
    below: Rule | None = None
    above: Rule | None = None

    def choose(self, features: Array) -> int:
        """The number of an algorithm."""
        if self.below is None or self.above is None:
            return self.choice
        return (self.below if features[self.feature] <= self.threshold else self.above).choose(features)


def learned(features: Array, regrets: Array, fewest: int, depth: int = DEPTH) -> Rule:
    """The tree that leaves the least total regret, question by question: features and regrets by example."""
    totals = regrets.sum(axis=0)
    leaf = Rule(int(totals.argmin()))
    best, found = float(totals.min()) - 1e-9, None
    for feature in range(features.shape[1]) if depth else ():
        order = np.argsort(features[:, feature], kind="stable")
        running = np.cumsum(regrets[order], axis=0)
        cost = running.min(axis=1)[:-1] + (totals - running).min(axis=1)[:-1]
        values = features[order, feature]
        cost[(np.diff(values) <= 0)] = np.inf
        cost[: fewest - 1] = cost[len(cost) - fewest + 1 :] = np.inf
        if len(cost) and cost.min() < best:
            at = int(cost.argmin())
            best, found = float(cost[at]), (feature, float((values[at] + values[at + 1]) / 2))
    if found is None:
        return leaf
    below = features[:, found[0]] <= found[1]
    parts = (learned(features[each], regrets[each], fewest, depth - 1) for each in (below, ~below))
    return Rule(leaf.choice, *found, *parts)


def examples(
    known: Experience, least: Array, dimensions: int, histogram: Histogram, salt: str
) -> tuple[Array, Array, list[str]]:
    """Noisy features, regrets of all algorithms with the epsilon that is left, and families, for every setting."""
    rows, regrets, families = [], [], []
    for side_at, side in enumerate(known.sides):
        domain = Domain((side,) * dimensions)
        for dataset_at, dataset in enumerate(known.datasets):
            shape = histogram(dataset, domain)
            for signal_at, signal in enumerate(known.signals):
                x = dpb.generate(shape, scale=round(signal / EPSILON), domain=domain, seed=0)
                rng = np.random.default_rng(crc32(f"{salt} {dataset} {side} {signal:g}".encode()))
                left = [
                    known.at(known.mean[name], side, signal * (1 - SHARE))[dataset_at] - np.log(1 - SHARE)
                    for name in known.names
                ]
                for _ in range(DRAWS):
                    rows.append(noisy_features(x, SHARE * EPSILON, rng))
                    regrets.append(np.array(left) - least[side_at, signal_at, dataset_at])
                    families.append(known.families[dataset_at])
    return np.array(rows), np.array(regrets), families


def histogram(name: str, domain: Domain) -> Any:
    """A shape of the package, or a dataset of the paper."""
    return shapes.get(name, domain) if shapes.is_shape(name) else dpb.datasets.load(name)


def over_families(values: Array, families: list[str]) -> float:
    """The exponential of a mean in which every family counts once."""
    own = np.array(families)
    return float(np.exp(np.mean([values[own == each].mean() for each in dict.fromkeys(families)])))


def selection(train: Results, test: Results, dimensions: int) -> list[dict[str, Any]]:
    """The regret of the private selection, of the advice and of one algorithm everywhere."""
    taught, taught_least = condensed(train, dimensions)
    known, least = condensed(test, dimensions)
    common = [name for name in known.names if name in taught.names]
    features, regrets, _ = examples(only(taught, common), taught_least, dimensions, shapes.get, "train")
    rule = learned(features, regrets, max(int(FEWEST * len(features)), 2))
    seen, own, families = examples(only(known, common), least, dimensions, histogram, "test")
    chosen = np.array([rule.choose(row) for row in seen])
    picked = own[np.arange(len(own)), chosen]
    advice = summary(left_out(known, least, "mean"))
    names = sorted(set(chosen.tolist()), key=lambda each: -(chosen == each).sum())
    rows = [
        {"rule": "private selection", "regret": over_families(picked, families),
         "chooses": " ".join(f"{common[each]} {(chosen == each).mean():.0%}" for each in names[:4])},
        {"rule": "advice", "regret": advice["regret"], "chooses": " ".join(list(advice["chosen"])[:4])},
    ]  # fmt: skip
    always = {name: float(np.exp(known.over_families(known.mean[name] - least).mean())) for name in known.names}
    one = min(always, key=always.__getitem__)
    rows.append({"rule": "one algorithm, in hindsight", "regret": always[one], "chooses": one})
    return [{"dimensions": dimensions, **row, "regret": f"{row['regret']:.4f}"} for row in rows]


def only(known: Experience, names: list[str]) -> Experience:
    """Some of the algorithms."""
    mean, bad = ({name: table[name] for name in names} for table in (known.mean, known.bad))
    return replace(known, mean=mean, bad=bad)


def shape_features(x: Array) -> dict[str, float]:
    """Five features of a shape: how much is occupied, how even, how rough, how peaked, how flat within blocks."""
    part = x / x.sum()
    logs = np.log(np.where(part > 0, part, 1.0))
    edges = [
        np.linspace(0, side, many, endpoint=False).astype(int)
        for side, many in zip(x.shape, BLOCKS[x.ndim], strict=True)
    ]
    sizes = block_counts(np.ones(x.shape), BLOCKS[x.ndim])
    flat = block_counts(part, BLOCKS[x.ndim]) / sizes
    for axis, (edge, side) in enumerate(zip(edges, x.shape, strict=True)):
        flat = np.repeat(flat, np.diff([*edge.tolist(), side]), axis=axis)
    return {
        "occupied": float((part > 0).mean()),
        "even": float(np.exp(-(part * logs).sum()) / x.size),
        "rough": float(np.mean([np.abs(np.diff(part, axis=axis)).sum() / 2 for axis in range(part.ndim)])),
        "peak": float(np.log10(part.max() * x.size)),
        "uneven within blocks": float(np.abs(part - flat).sum() / 2),
    }


def feature_rows() -> Iterable[dict[str, Any]]:
    """Features of the paper's histograms at the domains of the study."""
    for task in TASKS.values():
        for name in task.datasets:
            for domain in task.generator.domains:
                counts = block_counts(dpb.datasets.load(name).astype(float), Domain.of(domain).shape)
                found = {key: f"{value:.5g}" for key, value in shape_features(counts).items()}
                yield {"dataset": name, "domain": str(domain), "family": family(name), **found}


def write(name: str, rows: list[dict[str, Any]]) -> None:
    """One table."""
    with (DATA / name).open("w", newline="", encoding="utf-8") as file:
        table = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
        table.writeheader()
        table.writerows(rows)


def main() -> None:
    """Train, evaluate, print, write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--train", metavar="STORE", help="errors on synthetic shapes")
    parser.add_argument("--test", metavar="STORE", help="other results than the shipped study, printed and not written")
    parser.add_argument("--features", action="store_true", help="write features of the paper's histograms")
    chosen = parser.parse_args()
    if chosen.features:
        write("features.csv", list(feature_rows()))
    if chosen.train:
        train = sort_settings(Results.open(chosen.train, **PAPER_STANDARDS))["private"]
        other = sort_settings(Results.open(chosen.test, **PAPER_STANDARDS))["private"] if chosen.test else None
        rows = [row for d in (1, 2) for row in selection(train, other or Study.shipped().private.results, d)]  # type: ignore[arg-type]
        for row in rows:
            print(row)
        if not chosen.test:
            write("selection.csv", rows)


if __name__ == "__main__":
    main()
