"""Where the shapes of a plan come from: the catalogue, synthetic shapes, or a file of one's own."""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from tokenize import TokenError
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpbench import datasets
from dpbench.datasets import shapes
from dpbench.domain import Domain
from dpbench.errors import CorruptData, DatasetUnavailable, InvalidCounts, InvalidInput, UnknownName

FILE_ENDINGS = (".npy", ".csv")


@dataclass(frozen=True)
class SourceData:
    """A dataset as a plan names it."""

    name: str
    """Name in stores and seeds: the paper's, the shape's, or the file's."""
    ndim: int
    """Number of axes."""
    source: str
    """Hash of its content, or the revision of a shape; a changed file is another dataset."""
    path: str = ""
    """The file, where it is one of the user's own."""

    def finest(self, domain: Domain) -> Domain:
        """The domain of its histogram; a synthetic shape exists on every domain."""
        synthetic = not self.path and shapes.is_shape(self.name)
        return domain if synthetic else Domain(self.histogram(domain).shape)

    def histogram(self, domain: Domain) -> NDArray[np.int64] | NDArray[np.float64]:
        """A histogram that can be coarsened to ``domain``."""
        if self.path:
            counts = read_histogram(self.path)
            if _digest(counts) != self.source:
                raise CorruptData(f"{self.path} has changed since the run began; run the same command again")
            return counts
        if shapes.is_shape(self.name):
            return shapes.get(self.name, domain)
        return datasets.load(self.name)


def find(name: str) -> SourceData:
    """A dataset by name or path."""
    if name.endswith(FILE_ENDINGS):
        counts = read_histogram(name)
        if not Path(name).stem.isprintable():
            raise InvalidInput(f"the name of the histogram {name!r} cannot be written; rename the file")
        return SourceData(Path(name).stem, counts.ndim, _digest(counts), str(Path(name).resolve()))
    if shapes.is_shape(name):
        return SourceData(name, shapes.find(name).ndim, f"shapes-r{shapes.REVISION}")
    try:
        known = datasets.get(name)
    except UnknownName:
        raise UnknownName.among("dataset", name, [*datasets.names(), *shapes.names()]) from None
    return SourceData(known.name, known.ndim, known.sha256[:16])


def _digest(counts: NDArray[np.int64]) -> str:
    return sha256(str(counts.shape).encode() + np.ascontiguousarray(counts).tobytes()).hexdigest()[:16]


def read_histogram(path: str) -> NDArray[np.int64]:
    """Whole non-negative counts from a .npy array or a .csv grid of numbers."""
    try:
        values = _read_npy(path) if path.endswith(".npy") else _read_csv(path)
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise DatasetUnavailable(f"cannot read the histogram {path}: {reason}; check the path") from None
    except (
        ValueError,
        EOFError,
        MemoryError,
        SyntaxError,
        TokenError,
    ) as error:  # whatever a mangled header makes of numpy
        raise CorruptData(f"{path} is not a histogram: {' '.join(str(error).split())[:120]}; give counts") from None
    numbers = np.asarray(values)
    if numbers.dtype.kind not in "iuf" or numbers.ndim == 0 or numbers.size == 0:
        raise InvalidCounts(f"{path} holds an array {numbers.shape} of {numbers.dtype}; give an array of counts")
    as_float = numbers.astype(np.float64)
    if not np.isfinite(as_float).all() or (as_float < 0).any() or (as_float != np.floor(as_float)).any():
        raise InvalidCounts(f"{path} holds negative, fractional or missing counts; give whole non-negative numbers")
    if not 0 < as_float.sum() <= 2**53:
        raise InvalidCounts(f"{path} holds no record, or more than 2^53; give counts that add up to something")
    return numbers.astype(np.int64)


def _read_npy(path: str) -> NDArray[Any]:
    with Path(path).open("rb") as file:
        return np.lib.format.read_array(file, allow_pickle=False)


def _read_csv(path: str) -> NDArray[np.float64]:
    """One row of numbers per line; a single column or row is a line of cells."""
    rows: list[list[float]] = []
    text = Path(path).read_text(encoding="utf-8-sig")
    for number, line in enumerate(text.splitlines(), 1):
        if line.strip() and not line.lstrip().startswith("#"):
            try:
                rows.append([float(cell) for cell in line.split(",")])
            except ValueError:
                raise ValueError(f"line {number} is not a row of numbers") from None
            if len(rows[-1]) != len(rows[0]):
                raise ValueError(f"line {number} has {len(rows[-1])} cells and the first row has {len(rows[0])}")
    if not rows:
        raise ValueError("it has no rows")
    grid = np.array(rows)
    return grid.reshape(-1) if 1 in grid.shape else grid
