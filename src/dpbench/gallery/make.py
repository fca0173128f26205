"""A page from stored results in one call."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import fields
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpbench.algorithm import Algorithm
from dpbench.datasets.shapes import SHAPES
from dpbench.errors import InvalidInput
from dpbench.gallery.algorithm_cards import algorithm_cards
from dpbench.gallery.examples import dataset_cards, examples
from dpbench.measuring import Measurements
from dpbench.report.cards import Gallery
from dpbench.report.losses import open_all
from dpbench.report.web_page import page
from dpbench.results import Results

Opened = tuple[Results, Mapping[str, Measurements]]


def make_page(
    path: str | PathLike[str],
    out: str | PathLike[str],
    *,
    private: str | PathLike[str] | None = None,
    added: Sequence[type[Algorithm]] = (),
    audit: bool = False,
    title: str | None = None,
) -> Path:
    """The page of a store or a summary, and its path.

    With ``private``, private forms come from there and stand beside the published ones of the first. ``added`` are
    somebody's own algorithms: they get cards, an audit, and a place among the noisy histograms.
    """
    first: Opened = open_all(path)
    results, losses = first if private is None else _side_by_side(first, open_all(private))
    gallery = gallery_for(audit=audit, added=added, names=set(results.columns["dataset"].tolist()))
    return page(results, out, losses=losses, gallery=gallery, title=title or f"DPBench: {Path(path).name}")


def gallery_for(*, audit: bool = False, added: Sequence[type[Algorithm]] = (), names: Collection[str] = ()) -> Gallery:
    """Cards of everything in the catalogues and of what was added, and examples of what is on this machine.

    Shapes are told of if they are among ``names``, the datasets of the results.
    """
    shapes = [each for each in SHAPES.values() if each.name in names]
    return Gallery(algorithm_cards(audit, added), dataset_cards(shapes=shapes), examples(added=added, shapes=shapes))


def _side_by_side(first: Opened, second: Opened) -> Opened:
    """Published forms of the first, private forms of the second; a loss only where both know it."""
    pair = (first, "published"), (second, "private")
    kept = [np.flatnonzero(results.columns["variant"] == form) for (results, _), form in pair]
    for (_, form), chosen in zip(pair, kept, strict=True):
        if not len(chosen):
            raise InvalidInput(
                f"the {form} side holds no {form} form; give published results first, private ones second"
            )
    results = first[0].take(kept[0]).joined(second[0].take(kept[1]))
    losses = {
        name: Measurements(**{key: np.concatenate(_both(first[1][name], second[1][name], key, kept)) for key in KEYS})
        for name in first[1]
        if name in second[1]
    }
    return results, losses


KEYS = tuple(each.name for each in fields(Measurements))


def _both(one: Measurements, two: Measurements, key: str, kept: list[NDArray[np.int64]]) -> list[NDArray[Any]]:
    return [getattr(each, key)[chosen] for each, chosen in zip((one, two), kept, strict=True)]
