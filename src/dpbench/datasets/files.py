"""Where the histograms lie on this machine, and how one is opened.

Bytes are compared with the pinned checksum before anything interprets them, and what is compared is
what is then read: a file cannot change in between. Nothing is ever unpickled.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from hashlib import sha256
from io import BytesIO
from pathlib import Path, PurePosixPath
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from dpbench.datasets import catalogue
from dpbench.datasets.catalogue import Dataset
from dpbench.errors import CorruptData, DatasetUnavailable
from dpbench.given import as_path

Status = Literal["ok", "missing", "corrupt"]
Folder = str | os.PathLike[str]

VARIABLE = "DPBENCH_DATA"
"""Environment variable that names a folder with the histograms."""


def path() -> Path:
    """Folder where histograms are looked for first, and where `dpbench data pull` puts them."""
    return _chosen() or _cache()


def load(name: str | Dataset, folder: Folder | None = None) -> NDArray[np.int64]:
    """Read a histogram by name: int64 counts ``(*domain)``, a fresh array that the caller may change.

    It is looked for in ``folder`` if given, otherwise in the folder that DPBENCH_DATA names and then
    in the user's cache.
    """
    dataset = catalogue.get(name)
    found = locate(dataset, folder)
    if found is None:
        raise DatasetUnavailable(_absent(dataset, folder))
    return read(dataset, found)


def locate(dataset: Dataset, folder: Folder | None = None) -> Path | None:
    """Find the file of a histogram, laid out as at the source or lying flat; None if it is absent."""
    for place in _places(folder):
        for candidate in (place / dataset.file, place / PurePosixPath(dataset.file).name):
            # os.path, not Path.is_file: an unreadable folder is an absent file, not an exception
            if os.path.isfile(candidate):  # noqa: PTH113
                return candidate
    return None


def verify(names: Iterable[str | Dataset] | None = None, folder: Folder | None = None) -> list[tuple[Dataset, Status]]:
    """Compare the files with their checksums, all of the catalogue unless named."""
    wanted = catalogue.several(names)
    return [(dataset, status(dataset, folder)) for dataset in wanted]


def status(dataset: Dataset, folder: Folder | None = None) -> Status:
    """Say whether a histogram is here and is the published one."""
    found = locate(dataset, folder)
    if found is None:
        return "missing"
    return "ok" if sha256(content(found, dataset.bytes)).hexdigest() == dataset.sha256 else "corrupt"


def read(dataset: Dataset, file: Path) -> NDArray[np.int64]:
    """Open one file: checksum first, then the counts, int64 ``(*domain)``."""
    published = content(file, dataset.bytes)
    if sha256(published).hexdigest() != dataset.sha256:
        raise CorruptData(
            f"{file} is not the published {dataset.name}: its checksum differs; "
            f"run `dpbench data pull` to fetch it again, or remove the file"
        )
    try:
        counts = np.load(BytesIO(published), allow_pickle=False)
    except (ValueError, OSError, EOFError) as reason:
        raise CorruptData(f"{file} is not a .npy file of numbers; {_REPLACE}") from reason
    if not isinstance(counts, np.ndarray) or counts.dtype.kind not in "iuf":
        raise CorruptData(f"{file} does not hold an array of numbers; {_REPLACE}")
    if counts.shape != dataset.shape:
        raise CorruptData(f"{file} has the shape {counts.shape}, {dataset.name} {dataset.shape}; {_REPLACE}")
    # NaN and infinities fail this comparison too; below 2^53 every whole float64 is exact
    if not np.all((counts >= 0) & (counts < 2**53) & (counts == np.floor(counts))):
        raise CorruptData(f"{file} has cells that are not counts (whole, not negative); {_REPLACE}")
    return counts.astype(np.int64)


_REPLACE = "replace it by the published file, for example with `dpbench data pull`"


def content(file: Path, published: int) -> bytes:
    """Read a file, and no more than one byte beyond the published length: that is another file already."""
    try:
        with file.open("rb") as stream:
            return stream.read(published + 1)
    except OSError as reason:
        raise DatasetUnavailable(
            f"cannot read {file} ({reason.strerror}); make it readable, or point {VARIABLE} at another folder"
        ) from reason


def _chosen() -> Path | None:
    value = os.environ.get(VARIABLE, "").strip()
    return as_path(value, VARIABLE) if value else None


def _cache() -> Path:
    from platformdirs import user_cache_path

    return user_cache_path("dpbench")


def _places(folder: Folder | None) -> list[Path]:
    if folder is not None:
        return [as_path(folder, "the folder")]
    chosen = _chosen()
    return [_cache()] if chosen is None else [chosen, _cache()]


def _absent(dataset: Dataset, folder: Folder | None) -> str:
    chosen = _chosen() if folder is None else as_path(folder, "the folder")
    origin = VARIABLE if folder is None else "folder"
    if chosen is None:
        where = f"is not in {_cache()}"
        advice = f"run `dpbench data pull`, or set {VARIABLE} to a folder that has {dataset.file}"
    elif not chosen.is_dir():
        where = f"cannot be read: {origin} is {str(chosen)!r}, which is not a folder"
        advice = f"point it at a folder that has {dataset.file}, or run `dpbench data pull`"
    else:
        where = f"is absent: {origin} is {str(chosen)!r}, which has no {dataset.file}"
        advice = "run `dpbench data pull` to fetch what is missing, or point it at another folder"
    return f"the histogram {dataset.name} {where}; {advice}"
