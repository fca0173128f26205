"""A handle that remembers what it was asked, so that every claim can be recomputed afterwards."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from dpbench.algorithm import Algorithm, SideInformation
from dpbench.domain import Domain
from dpbench.privacy import PrivateData, RandomNoise, Total, split
from dpbench.privacy.budget import Number
from dpbench.privacy.data import Region
from dpbench.workloads import Workload


@dataclass(frozen=True, repr=False, eq=False)
class Asked:
    """One strategy, score or cost, and the domain of the counts that it was put to."""

    kind: str
    why: str
    asker: Any
    domain: Domain


class WatchedData:
    """The verbs of a handle, each passed on; what was asked is kept in ``asked``."""

    def __init__(self, data: PrivateData, asked: list[Asked]) -> None:
        self._data = data
        self._asked = asked

    def __getattr__(self, name: str) -> Any:
        return getattr(self._data, name)

    def _note(self, kind: str, asker: Any, why: str) -> None:
        self._asked.append(Asked(kind, why or type(asker).__name__, asker, self._data.domain))

    def laplace(self, strategy: Any, spend: Number, why: str = "") -> Any:
        """Noisy answers."""
        self._note("laplace", strategy, why)
        return self._data.laplace(strategy, spend, why)

    def choose(self, score: Any, spend: Number, why: str = "") -> Any:
        """A candidate."""
        self._note("choose", score, why)
        return self._data.choose(score, spend, why)

    def choose_each(self, score: Any, spend: Number, why: str = "") -> Any:
        """A candidate of every group."""
        self._note("choose each", score, why)
        return self._data.choose_each(score, spend, why)

    def partition(self, cost: Any, spend: Number, why: str = "") -> Any:
        """A partition."""
        self._note("partition", cost, why)
        return self._data.partition(cost, spend, why)

    def parts(self, regions: Sequence[Region], spend: Number, why: str = "") -> list[WatchedData]:
        """A handle for each region, watched too."""
        return [WatchedData(part, self._asked) for part in self._data.parts(regions, spend, why)]

    def each_trial(self, why: str = "each trial by itself") -> Iterator[WatchedData]:
        """A handle for each trial, watched too."""
        for one in self._data.each_trial(why):
            yield WatchedData(one, self._asked)


def questions_of(
    algorithm: Algorithm,
    x: Any,
    workload: Workload,
    epsilon: object,
    *,
    trials: int,
    seed: int,
    side_information: SideInformation | None,
) -> list[Asked]:
    """Everything that a run asks, in order."""
    data = PrivateData.open(
        x,
        epsilon,
        RandomNoise.seeded(seed, trials),
        declared=algorithm.side_information,
        published=algorithm.variant == "published",
    )
    asked: list[Asked] = []
    if "scale" in algorithm.side_information:
        public = side_information == "public" or (side_information is None and algorithm.variant == "published")
        if public:
            data.publish_scale()
        else:
            asked.append(Asked("laplace", "scale (side information)", Total(), data.domain))
            data.buy_scale(split(data.epsilon, algorithm.scale_share)[0])
    algorithm.estimate(WatchedData(data, asked), workload)  # type: ignore[arg-type]  # the same verbs
    return asked
