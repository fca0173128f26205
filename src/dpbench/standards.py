"""How errors are read: the parts of a task that act when results are measured and interpreted (L, E_M, E_I)."""

from __future__ import annotations

from dataclasses import dataclass

from dpbench.errors import InvalidInput, shown
from dpbench.given import real

FORMER_TESTS = {"unpaired t, Bonferroni": "unpaired"}
"""What plans and records of earlier versions call a test."""
NORMS = ("L2", "L1", "Linf")
"""The losses that are divided by scale and queries."""
_SPOKEN = {"Linf": "L-infinity"}
"""Losses whose label is not how they are written in a caption."""


@dataclass(frozen=True, kw_only=True)
class Standards:
    """The loss, and the standards by which its values become statements."""

    loss: str = "L2"
    """L: label of the loss whose errors are read."""

    percentile: float = 95
    """E_M: the percentile of the error that a risk-averse user looks at, beside the mean."""

    alpha: float = 0.05
    """E_I: the level at which two errors count as different."""

    baselines: tuple[str, ...] = ("Identity", "Uniform")
    """E_I: the algorithms that every other one should beat."""

    test: str = "unpaired"
    """E_I: name of the test that decides which algorithms are competitive."""

    def __post_init__(self) -> None:
        check_share("percentile", self.percentile, 100)
        check_share("alpha", self.alpha, 1)
        given: object = self.baselines
        named = given if isinstance(given, list | tuple) else (given,)
        if not all(isinstance(name, str) and name for name in named):
            raise InvalidInput(f"baselines is {shown(given)}; give names of algorithms")
        object.__setattr__(self, "baselines", tuple(named))

    @property
    def loss_words(self) -> str:
        """The loss as captions name it."""
        return spoken_loss(self.loss)

    @property
    def error_words(self) -> str:
        """What an error is, in captions: scaled L2 error, relative error."""
        return f"scaled {self.loss_words} error" if self.loss in NORMS else f"{self.loss_words} error"

    @property
    def percentile_words(self) -> str:
        """The percentile in captions: 95th percentile."""
        return f"{ordinal(self.percentile)} percentile"


def spoken_loss(label: str) -> str:
    """A loss as captions name it."""
    return _SPOKEN.get(label, label)


def ordinal(number: float) -> str:
    """1st, 2nd, 3rd, 11th, 95th, 99.5th."""
    endings = {1: "st", 2: "nd", 3: "rd"}
    regular = number % 100 in {11, 12, 13} or number % 10 not in endings
    return f"{number:g}" + ("th" if regular else endings[int(number % 10)])


def read_alpha(given: object) -> float:
    """A level of a test."""
    return check_share("alpha", given, 1)


def check_share(name: str, given: object, whole: float) -> float:
    """A number between 0 and a whole."""
    advice = f"a number between 0 and {whole}"
    share = real(given, name, advice)
    if not 0 < share < whole:
        raise InvalidInput(f"{name} is {shown(given)}; give {advice}")
    return share
