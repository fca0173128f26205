"""The time and the memory that a release will take, from its domain and its algorithm, before anything is charged."""

from __future__ import annotations

from dataclasses import dataclass

from dpbench.progress import duration


@dataclass(frozen=True)
class Size:
    """About how long, and how large at its largest."""

    seconds: float
    memory: float
    """Bytes."""

    def __str__(self) -> str:
        return (
            f"about {duration(self.seconds)} and {self.memory / 1e9:.2g} GB of memory, besides the reading of the table"
        )


def size_of(domain, algorithm):
    return Size(0, 0)


def insist_on_memory(size, domain):
    pass
