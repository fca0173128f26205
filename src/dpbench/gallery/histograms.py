"""Public histograms and what algorithms make of them, coarse enough for a page."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from dpbench import algorithms, datasets
from dpbench.algorithm import Algorithm
from dpbench.datasets import Dataset
from dpbench.datasets.files import locate
from dpbench.datasets.shapes import Shape
from dpbench.domain import Domain
from dpbench.gallery.budget_use import workload_on
from dpbench.generator import generate
from dpbench.page.cards import DatasetCard, Estimate, Example

CELLS = {1: Domain((512,)), 2: Domain((64, 64))}
"""The finest histograms that a page shows."""
ALGORITHMS = {1: ("Identity", "Hb", "MWEM", "DAWA", "Uniform"), 2: ("Identity", "AGrid", "DAWA", "Uniform")}
EPSILONS = (0.01, 0.1, 1.0)
SYNTHETIC = {1: ("bimodal", "spikes-10", "staircase"), 2: ("clusters", "ridge")}
"""Shapes to show where there is no copy of any histogram with so many axes."""
SYNTHETIC_SCALE = 100_000


def examples(
    names: Iterable[str] | None = None,
    seed: int = 0,
    added: Sequence[type[Algorithm]] = (),
    shapes: Sequence[Shape] = (),
) -> tuple[Example, ...]:
    """An example for every histogram of which there is a copy on this machine, and for the shapes that are given.

    Where there is neither, a few synthetic shapes stand in.
    The noisy ones are private forms at the histogram's own scale, one trial each; algorithms that were added are the
    first to choose from.
    """
    known = datasets.DATASETS.values() if names is None else [datasets.get(name) for name in names]
    found: list[Example] = []
    for axes, synthetic in SYNTHETIC.items():
        local = [each for each in known if each.ndim == axes and locate(each) is not None]
        shown = [*(kind() for kind in added if kind().supports(CELLS[axes])), *map(algorithms.get, ALGORITHMS[axes])]
        drawn = [each for each in shapes if each.ndim == axes]
        if not (local or drawn):
            drawn = [datasets.shapes.find(name) for name in synthetic]
        found += [_of_shape(each, seed, shown) for each in drawn] + [_of_dataset(each, seed, shown) for each in local]
    return tuple(found)


def dataset_cards(names: Iterable[str] | None = None, shapes: Sequence[Shape] = ()) -> tuple[DatasetCard, ...]:
    """A card for every histogram of the catalogue, from its facts, and for the shapes that are given; no counts."""
    known: Sequence[Dataset] = [datasets.get(name) for name in (datasets.names() if names is None else names)]
    synthetic = (DatasetCard(each.name, "", 0, 0.0, each.about, "synthetic, a formula", "") for each in shapes)
    return *synthetic, *(
        DatasetCard(
            name=each.name,
            domain=str(each.domain),
            scale=each.scale,
            percent_zero=each.percent_zero,
            about=each.about,
            origin=each.origin,
            paper=f"scale {each.paper_scale:,}, {each.paper_percent_zero:g} % zero cells" if each.in_paper else "",
        )
        for each in known
    )


def _of_dataset(dataset: Dataset, seed: int, shown: Sequence[Algorithm]) -> Example:
    counts = datasets.load(dataset)
    coarse = np.asarray(dataset.domain.coarsen(counts, CELLS[dataset.ndim]))
    words = f"public histogram, coarsened to {CELLS[dataset.ndim]}"
    return Example(dataset.name, words, coarse, _noisy(coarse, seed, shown))


def _of_shape(shape: Shape, seed: int, shown: Sequence[Algorithm]) -> Example:
    counts = generate(shape.on(CELLS[shape.ndim]), SYNTHETIC_SCALE, seed=seed)
    return Example(shape.name, f"synthetic shape: {shape.about}", counts, _noisy(counts, seed, shown))


def _noisy(counts: NDArray[np.int64], seed: int, shown: Sequence[Algorithm]) -> tuple[Estimate, ...]:
    workload = workload_on(Domain(counts.shape))
    found: list[Estimate] = []
    for each in shown:
        try:
            estimates = [each.run(counts, workload, epsilon, seed=seed)[0] for epsilon in EPSILONS]
        except Exception:  # a stranger's code may raise anything: its failures are counted in the results
            if each.name in algorithms.catalogue():
                raise
            continue
        found += [Estimate(each.name, *pair) for pair in zip(EPSILONS, estimates, strict=True)]
    return tuple(found)
