"""Public histograms and what algorithms make of them, coarse enough for a page."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import log

import numpy as np
from numpy.typing import NDArray

from dpbench import algorithms, datasets
from dpbench.algorithm import Algorithm
from dpbench.algorithms.cascade import Cascade, calibration
from dpbench.datasets import Dataset
from dpbench.datasets.files import locate
from dpbench.datasets.shapes import Shape
from dpbench.domain import Domain
from dpbench.gallery.budget_use import workload_on
from dpbench.gallery.noisy_histograms import NoisyHistograms
from dpbench.generator import generate
from dpbench.page.cards import DatasetCard, Estimate, Example, Posterior

CELLS = {1: Domain((512,)), 2: Domain((64, 64))}
"""The finest histograms that a page shows."""
ALGORITHMS = {
    1: ("Identity", "Hb", "MWEM", "DAWA", "Cascade", "Uniform"),
    2: ("Identity", "AGrid", "DAWA", "Cascade", "Uniform"),
}
WITH_INTERVALS = ("MEDCOST", "bimodal")
"""Histograms on a line on which the intervals of Cascade are shown; each takes seconds and a tenth of a megabyte."""
LEVEL = 0.9
"""How often those are to hold."""
EPSILONS = (0.01, 0.1, 1.0)
SYNTHETIC = {1: ("bimodal", "spikes-10", "staircase"), 2: ("clusters", "ridge")}
"""Shapes to show where there is no copy of any histogram with so many axes."""
SYNTHETIC_SCALE = 100_000
SEED = 0


def examples(
    names: Iterable[str] | None = None,
    shapes: Sequence[Shape] = (),
) -> tuple[Example, ...]:
    """An example for every histogram of which there is a copy on this machine, and for the shapes that are given.

    Where there is neither, a few synthetic shapes stand in.
    The noisy ones are private forms at the histogram's own scale, one trial each.
    """
    known = datasets.DATASETS.values() if names is None else [datasets.get(name) for name in names]
    found: list[Example] = []
    noisy = NoisyHistograms()
    for axes, synthetic in SYNTHETIC.items():
        local = [each for each in known if each.ndim == axes and locate(each) is not None]
        shown = list(map(algorithms.get, ALGORITHMS[axes]))
        drawn = [each for each in shapes if each.ndim == axes]
        if not (local or drawn):
            drawn = [datasets.shapes.find(name) for name in synthetic]
        found += [_of_shape(each, noisy, shown) for each in drawn] + [_of_dataset(each, noisy, shown) for each in local]
    noisy.keep()
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


def _of_dataset(dataset: Dataset, noisy: NoisyHistograms, shown: Sequence[Algorithm]) -> Example:
    counts = datasets.load(dataset)
    coarse = np.asarray(dataset.domain.coarsen(counts, CELLS[dataset.ndim]))
    words = f"public histogram, coarsened to {CELLS[dataset.ndim]} cells"
    return Example(dataset.name, words, coarse, _noisy(dataset.name, coarse, noisy, shown))


def _of_shape(shape: Shape, noisy: NoisyHistograms, shown: Sequence[Algorithm]) -> Example:
    counts = generate(shape.on(CELLS[shape.ndim]), SYNTHETIC_SCALE, seed=SEED)
    words = f"synthetic shape: {shape.about}"
    return Example(shape.name, words, counts, _noisy(shape.name, counts, noisy, shown))


def _noisy(
    name: str, counts: NDArray[np.int64], noisy: NoisyHistograms, shown: Sequence[Algorithm]
) -> tuple[Estimate, ...]:
    """Noisy histograms of ours, drawn now or kept from an earlier page."""
    workload = workload_on(Domain(counts.shape))
    found: list[Estimate] = []
    for each in shown:
        drawn = noisy.of(each, counts, workload, EPSILONS, SEED)
        known: list[Posterior | None] = [None] * len(EPSILONS)
        if type(each) is Cascade and name in WITH_INTERVALS:
            draws = noisy.draws(each, counts, workload, EPSILONS, SEED)
            known = [_posterior(*pair) for pair in zip(EPSILONS, draws, strict=True)]
        found += [Estimate(each.name, *three) for three in zip(EPSILONS, drawn, known, strict=True)]
    return tuple(found)


def _posterior(epsilon: float, draws: NDArray[np.float32]) -> Posterior:
    """With the numbers by which Cascade's intervals on a line are widened: ``mathematics/posterior_bars.py``."""
    floor = log(LEVEL / (1 - LEVEL)) / (2 * epsilon)
    return Posterior(draws, LEVEL, 1.0 + calibration("calibrated").at(1, LEVEL)[0], floor)


def estimates(algorithm: Algorithm, counts: NDArray[np.int64]) -> list[Estimate]:
    """A noisy histogram for each epsilon."""
    workload = workload_on(Domain(counts.shape))
    noisy = [algorithm.run(counts, workload, epsilon, seed=SEED)[0] for epsilon in EPSILONS]
    return [Estimate(algorithm.name, *pair) for pair in zip(EPSILONS, noisy, strict=True)]
