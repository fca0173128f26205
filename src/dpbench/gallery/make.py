"""A page from stored results in one call."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from os import PathLike
from pathlib import Path

from dpbench.algorithm import Algorithm
from dpbench.datasets.shapes import SHAPES
from dpbench.errors import InvalidInput
from dpbench.gallery.algorithm_facts import algorithm_cards
from dpbench.gallery.histograms import dataset_cards, examples
from dpbench.page.cards import Gallery
from dpbench.page.web_page import page
from dpbench.results import Results
from dpbench.yardsticks import yardsticks


def make_page(
    path: str | PathLike[str],
    out: str | PathLike[str],
    *,
    private: str | PathLike[str] | None = None,
    added: Sequence[type[Algorithm]] = (),
    audit: bool = False,
    title: str | None = None,
    opened: Callable[[str | PathLike[str]], Results] = Results.open,
) -> Path:
    """The page of a store or a summary, and its path.

    With ``private``, private forms come from there and stand beside the published ones of the first. ``added`` are
    somebody's own algorithms: they get cards, an audit, and a place among the noisy histograms. ``opened`` reads
    a store or a summary, by other standards than its own if need be.
    """
    results = opened(path) if private is None else _side_by_side(opened(path), opened(private))
    gallery = gallery_for(audit=audit, added=added, names=set(results.columns["dataset"].tolist()))
    heading = title or f"DPBench: {Path(path).name}"
    return page(results, out, gallery=gallery, title=heading, yardsticks=yardsticks(results))


def gallery_for(*, audit: bool = False, added: Sequence[type[Algorithm]] = (), names: Collection[str] = ()) -> Gallery:
    """Cards of everything in the catalogues and of what was added, and examples of what is on this machine.

    Shapes are described if they are among ``names``, the datasets of the results.
    """
    shapes = [each for each in SHAPES.values() if each.name in names]
    return Gallery(algorithm_cards(audit, added), dataset_cards(shapes=shapes), examples(added=added, shapes=shapes))


def _side_by_side(first: Results, second: Results) -> Results:
    """Published forms of the first, private forms of the second."""
    chosen = [each.where(variant=form) for each, form in ((first, "published"), (second, "private"))]
    for form, part in zip(("published", "private"), chosen, strict=True):
        if not len(part):
            raise InvalidInput(
                f"the {form} side holds no {form} form; give published results first, private ones second"
            )
    return chosen[0].joined(chosen[1])
