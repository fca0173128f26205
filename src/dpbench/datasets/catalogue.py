"""The catalogue of public histograms [D]: names, origins and checksums; no counts.

The facts stand in ``catalogue.toml`` beside this module. Whatever is read later is compared with
them, so a histogram is either the published one, byte for byte, or an error.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from importlib import resources
from pathlib import PurePosixPath
from types import MappingProxyType
from typing import Any

from dpbench.domain import Domain
from dpbench.errors import InvalidInput, UnknownName, shown
from dpbench.given import of_kind, whole


@dataclass(frozen=True)
class Dataset:
    """What is known of one histogram before its file is opened."""

    name: str
    """The paper's name."""
    file: str
    """Path below the source, with forward slashes."""
    sha256: str
    """Checksum of the bytes of the file."""
    bytes: int
    """How many there are."""
    shape: tuple[int, ...]
    """Cells along each axis."""
    scale: int
    """Number of records in the file."""
    percent_zero: float
    """Share of cells with count zero in the file, in percent, to two decimals."""
    about: str
    """What one cell counts."""
    origin: str
    """Where the records come from."""
    aliases: tuple[str, ...] = ()
    """Other names that are in use."""
    paper_scale: int | None = None
    """Number of records that the paper's table states; None if the table leaves it out."""
    paper_percent_zero: float | None = None
    """Share of zero cells that the paper's table states, in percent."""

    @property
    def domain(self) -> Domain:
        """The largest domain that the histogram exists on."""
        return Domain(self.shape)

    @property
    def ndim(self) -> int:
        """Number of axes."""
        return len(self.shape)

    @property
    def in_paper(self) -> bool:
        """Whether the paper's table of datasets has it."""
        return self.paper_scale is not None

    @property
    def spellings(self) -> frozenset[str]:
        """Every name that finds it, folded: its own, the aliases, the file's with and without a size."""
        stem = PurePosixPath(self.file).stem
        sizeless = re.sub(r"(\.n\d+|_(\d+)_\2)$", "", stem)
        return frozenset(fold(each) for each in (self.name, *self.aliases, stem, sizeless))


def fold(name: str) -> str:
    """Make names comparable: case does not count, and '_' is '-'."""
    return name.strip().casefold().replace("_", "-")


def _read() -> tuple[str, dict[str, Dataset]]:
    text = resources.files(__package__).joinpath("catalogue.toml").read_text(encoding="utf-8")
    document: dict[str, Any] = tomllib.loads(text)
    entries = (
        Dataset(**{**entry, "shape": tuple(entry["shape"]), "aliases": tuple(entry["aliases"])})
        for entry in document["dataset"]
    )
    return document["source"], {entry.name: entry for entry in entries}


_source, _entries = _read()

SOURCE: str = _source
"""Address of the authors' public files, at one fixed commit."""

DATASETS = MappingProxyType(_entries)
"""All histograms by the paper's name, in the order of the paper's table, then TWITTER."""


def get(name: str | Dataset) -> Dataset:
    """Find a histogram by name; case does not count, '_' is '-', other names in use are known.

    >>> import dpbench as dpb
    >>> dpb.datasets.get("medcost").domain
    Domain(shape=(4096,))
    """
    if isinstance(name, Dataset):
        return name
    if isinstance(name, str):
        wanted = fold(name)
        for entry in DATASETS.values():
            if wanted in entry.spellings:
                return entry
    raise UnknownName.among("dataset", name, DATASETS)


def several(given: Iterable[str | Dataset] | None) -> list[Dataset]:
    """Histograms by name; all of them where none is named."""
    if given is None:
        return list(DATASETS.values())
    if isinstance(given, str | Dataset):
        return [get(given)]
    if not isinstance(given, list | tuple | set | frozenset | Iterator):
        raise InvalidInput(f"the datasets are {shown(given)}; give a list of names")
    return [get(each) for each in given]


def names(ndim: int | None = None, *, in_paper: bool = False) -> list[str]:
    """Name the histograms, of one number of axes if given, only those of the paper's table if asked.

    >>> import dpbench as dpb
    >>> dpb.datasets.names()[:3]
    ['ADULT', 'HEPPH', 'INCOME']
    """
    axes = ndim if ndim is None else whole(ndim, "the number of axes")
    of_kind(in_paper, bool, "in_paper", "True")
    return [
        entry.name for entry in DATASETS.values() if axes in (None, entry.ndim) and (entry.in_paper or not in_paper)
    ]
