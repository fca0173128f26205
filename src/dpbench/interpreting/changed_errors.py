"""Two results side by side, of two versions or two machines: what changed, and whether it is more than chance."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from dpbench.results import Results
from dpbench.results.results import COLUMNS
from dpbench.significance import find_test
from dpbench.store.setting_key import IDENTITY


@dataclass(frozen=True)
class Difference:
    """One algorithm in both results."""

    algorithm: str
    settings: int
    """Settings that both have."""
    same: int
    """Of these, with equal errors in every trial."""
    better: int
    """Where the second has significantly less error."""
    worse: int
    """Where it has significantly more."""
    ratio: float
    """Error of the second over the first, geometric mean over common settings; NaN where there are none."""
    only_first: int
    only_second: int

    @property
    def verdict(self) -> str:
        """Equal; changed, within chance; or differ, beyond it."""
        if not self.settings:
            return "only in one"
        if self.same == self.settings:
            return "equal"
        return "differ" if self.better + self.worse else "changed"


def differences(first: Results, second: Results) -> list[Difference]:
    """Every algorithm of two results, by the standards of the first.

    A difference counts if its p-value is at most alpha divided by the number of settings that both have: one family
    of tests, since nobody knows beforehand where to look. Settings with a failed unit in either are left out.

    >>> from dpbench.paper import Study
    >>> study = Study.shipped().private.results.where(algorithm="Hb", domain="256")
    >>> differences(study, study)[0].verdict
    'equal'
    """
    one, other = Results.insist(first), Results.insist(second).read_by(first.standards)
    where = [dict(_keys(each)) for each in (one, other)]
    common = sorted(where[0].keys() & where[1].keys(), key=str)
    pairs = np.array([[where[0][key], where[1][key]] for key in common], dtype=np.int64).reshape(-1, 2)
    pairs = pairs[one.whole[pairs[:, 0]] & other.whole[pairs[:, 1]]]
    both = _stacked(one.take(pairs[:, 0]), other.take(pairs[:, 1]))
    number = len(pairs)
    here, there = np.arange(number), np.arange(number) + number
    labels = one.labels[pairs[:, 0]]
    equal = np.array([_equal(one.errors[a], other.errors[b]) for a, b in pairs], dtype=bool)
    test = find_test(one.standards.test)
    apart = test.p_values(both, here, there) <= one.standards.alpha / max(number, 1) if number else equal
    apart &= ~equal
    mean = both.measured.mean if number else np.empty(0)
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = np.log(mean[there] / mean[here])
    only = [_counts(each, set(keys) - set(common), keys) for each, keys in ((one, where[0]), (other, where[1]))]
    found = []
    for label in sorted({*labels.tolist(), *only[0], *only[1]}, key=str.casefold):
        mine = labels == label
        finite = logs[mine][np.isfinite(logs[mine])]
        found.append(
            Difference(
                algorithm=label,
                settings=int(mine.sum()),
                same=int(equal[mine].sum()),
                better=int((apart & (logs < 0))[mine].sum()),
                worse=int((apart & (logs > 0))[mine].sum()),
                ratio=float(np.exp(finite.mean())) if len(finite) else float("nan"),
                only_first=only[0].get(label, 0),
                only_second=only[1].get(label, 0),
            )
        )
    return found


Key = tuple[object, ...]


def _keys(results: Results) -> Iterator[tuple[Key, int]]:
    columns = (results.columns[name].tolist() for name in IDENTITY)
    return ((key, number) for number, key in enumerate(zip(*columns, strict=True)))


def _counts(results: Results, keys: set[Key], where: dict[Key, int]) -> dict[str, int]:
    """How many of these settings each algorithm has."""
    counted: dict[str, int] = {}
    for key in keys:
        label = str(results.labels[where[key]])
        counted[label] = counted.get(label, 0) + 1
    return counted


def _equal(one: NDArray[np.float64], other: NDArray[np.float64]) -> bool:
    """Whether all errors agree to the digits of 32 bits, which is what summary files keep."""
    first, second = (each[np.isfinite(each)].astype(np.float32) for each in (one, other))
    return bool(np.array_equal(first, second))


def _stacked(one: Results, other: Results) -> Results:
    """The settings of the one, then those of the other, though both have the same names."""
    shape = [max(pair) for pair in zip(one.errors.shape[1:], other.errors.shape[1:], strict=True)]
    columns = {name: np.concatenate([one.columns[name], other.columns[name]]) for name in COLUMNS}
    errors = np.full((len(one) + len(other), *shape), np.nan)
    for start, part in ((0, one.errors), (len(one), other.errors)):
        errors[start : start + len(part), : part.shape[1], : part.shape[2]] = part
    return replace(one, columns=columns, errors=errors, losses={})
