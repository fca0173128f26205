"""A page from stored results in one call."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from os import PathLike
from pathlib import Path

from dpbench.advice.offline import carried
from dpbench.datasets.shapes import SHAPES
from dpbench.errors import InvalidInput
from dpbench.gallery.algorithm_facts import algorithm_cards
from dpbench.gallery.histograms import dataset_cards, examples
from dpbench.page.cards import Gallery
from dpbench.page.web_page import page
from dpbench.paper.study import FILES, shipped_file
from dpbench.results import Results
from dpbench.yardsticks import yardsticks


def make_page(
    path: str | PathLike[str],
    out: str | PathLike[str],
    *,
    private: str | PathLike[str] | None = None,
    beside: Sequence[str | PathLike[str]] = (),
    added: Sequence[str] = (),
    audit: bool = False,
    title: str | None = None,
    opened: Callable[[str | PathLike[str]], Results] = Results.open,
) -> Path:
    """The page of a store or a summary, and its path.

    With ``private``, private forms come from there and stand beside the published ones of the first; results in
    ``beside`` are of other budgets, which the page keeps apart. ``added`` are somebody's own algorithms, as
    FILE.py:Class: they get cards, an audit, and a place among the noisy histograms. ``opened`` reads a store or a
    summary, by other standards than its own if need be.
    """
    results = opened(path) if private is None else _side_by_side(opened(path), opened(private))
    for more in beside:
        results = results.joined(opened(more))
    present = {name: set(results.columns[name].tolist()) for name in ("dataset", "algorithm")}
    sources = {Path(each).resolve() for each in (path, *([] if private is None else [private]), *beside)}
    gallery = gallery_for(
        audit=audit,
        added=added,
        names=present["dataset"],
        algorithms=present["algorithm"],
        study=sources <= {shipped_file(name).resolve() for name in FILES},
    )
    heading = title or f"DPBench: {Path(path).name}"
    return page(results, out, gallery=gallery, title=heading, yardsticks=yardsticks(results))


def gallery_for(
    *,
    audit: bool = False,
    added: Sequence[str] = (),
    names: Collection[str] = (),
    algorithms: Collection[str] | None = None,
    study: bool = False,
) -> Gallery:
    """Cards of everything in the catalogues and of what was added, and examples of what is on this machine.

    Shapes are described if they are among ``names``, the datasets of the results. With ``algorithms``, those of the
    results, only these and the ones in examples get cards. Noisy histograms of algorithms that were added are the
    first to choose from. ``study`` says that the results are the study that advice goes by.
    """
    shapes = [each for each in SHAPES.values() if each.name in names]
    shown = examples(shapes=shapes)
    own = []
    if added:
        from dpbench.gallery.added import described  # only then is a process for strangers needed

        own = [described(reference, shown) for reference in added]
    for each in reversed(own):
        shown = tuple(
            replace(example, estimates=(*noisy, *example.estimates))
            for example, noisy in zip(shown, each.noisy, strict=True)
        )
    theirs = {each.card.name for each in own}
    shown_there = {estimate.algorithm for example in shown for estimate in example.estimates}
    wanted = None if algorithms is None else shown_there.union(algorithms) - theirs
    cards = [card for card in algorithm_cards(audit, wanted) if card.name not in theirs]
    return Gallery(
        (*cards, *(each.card for each in own)), dataset_cards(shapes=shapes), shown, carried() | {"shown": study}
    )


def _side_by_side(first: Results, second: Results) -> Results:
    """Published forms of the first, private forms of the second."""
    chosen = [each.where(variant=form) for each, form in ((first, "published"), (second, "private"))]
    for form, part in zip(("published", "private"), chosen, strict=True):
        if not len(part):
            raise InvalidInput(
                f"the {form} side holds no {form} form; give published results first, private ones second"
            )
    return chosen[0].joined(chosen[1])
