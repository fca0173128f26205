"""Which data-independent algorithm suits a workload: their errors are known without a run, and without data.

Errors at any budget follow from those at epsilon 1 and at rho 1/2, so these are what is kept: for the workloads of the
study in ``fitted/strategies.csv``, which ``python -m benchmarks.strategies`` makes, for others in the user's cache.
"""

from __future__ import annotations

import csv
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np

from dpbench import algorithms, fitted
from dpbench.algorithm import Algorithm
from dpbench.algorithms.hdmm import HDMM
from dpbench.errors import DPBenchError, Unsupported
from dpbench.given import afford
from dpbench.limits import limit, unit_variance, within_floats
from dpbench.measuring.yardstick import Yardstick
from dpbench.privacy import Notion, PureDP, read_budget
from dpbench.workloads import Workload

SHIPPED = Path(fitted.__file__).parent / "strategies.csv"
"""The errors that come with the package."""
NUMBERS_PER_CELL = {"one axis": 96, "several": 48}
"""What the errors of all of them together take; time grows with it, and comes to two minutes at 4 gigabytes."""
COLUMNS = ("workload", "key", "algorithm", "pure", "zCDP")
"""Its columns; the last two are errors at epsilon 1 and at rho 1/2, empty where an algorithm has no such notion."""
LIMIT = "limit"
"""The name under which the limit stands among algorithms."""
UNITS: Mapping[str, dict[str, Any]] = {"pure": {"epsilon": 1}, "zCDP": {"rho": 0.5}}
"""The budgets of the errors that are kept."""
SOURCES = ("algorithms", "mathematics", "workloads", "privacy", "limits.py", "algorithm.py")
"""The code that errors come from; what another version of it has left in the cache is not read."""


@dataclass(frozen=True)
class ExpectedError:
    """What an algorithm's error comes to on a workload, whatever the data."""

    algorithm: str
    error: float
    """Expected squared error per query; NaN where it could not be computed."""
    times_limit: float
    """The error over the limit that no unbiased strategy is below."""
    note: str = ""
    """What was left out, or why there is no error."""

    def __str__(self) -> str:
        return f"{self.algorithm:10} {self.error:12.6g} {self.times_limit:8.2f} x limit  {self.note}".rstrip()


def expected_errors(
    workload: Workload,
    epsilon: object = None,
    *,
    delta: object = None,
    rho: object = None,
    search: bool = False,
) -> list[ExpectedError]:
    """The algorithms whose error on a workload does not depend on the data, the best first.

    Nothing is run. HDMM's strategy is one that is at hand, or its start, or none on axes above 8,192 cells; ``search``
    lets it take its time, up to a minute for an axis of 4,096 cells and minutes for longer ones.
    """
    budgets = {one: read_budget(epsilon, delta, rho, one_measurement=one) for one in (True, False)}
    domain = Workload.insist(workload).domain
    each = NUMBERS_PER_CELL["one axis" if domain.ndim == 1 else "several"]
    afford(each * domain.size, f"the errors of all data-independent algorithms on the domain {domain}")
    budget = budgets[True]
    units = unit_errors(workload, budget.name)
    least = within_floats(units[LIMIT] * unit_variance(budget))
    rows = []
    for kind in algorithms.catalogue(budget.name).values():
        algorithm, note = kind(), ""
        known, ours = algorithm.name in units, kind.__module__.startswith("dpbench.")
        if not algorithm.supports(workload.domain) or (ours and algorithm.data_dependent and not known):
            continue
        try:
            if known:
                error = units[algorithm.name] * _over_unit(budgets[algorithm.one_measurement])
            else:
                algorithm, note = _in_time(algorithm, workload, wait=search)
                error = algorithm.expected_error(workload, epsilon, delta=delta, rho=rho)
        except DPBenchError as refusal:
            if not algorithm.data_dependent:
                rows.append(ExpectedError(algorithm.name, float("nan"), float("nan"), str(refusal)))
            continue
        rows.append(ExpectedError(algorithm.name, error, error / least, note))
    return sorted(rows, key=lambda row: (row.error != row.error, row.error))  # NaN comes last


def yardstick(workload: Workload, epsilon: object = None, *, delta: object = None, rho: object = None) -> Yardstick:
    """The limit on a workload and the best known strategy, for measured errors to be set beside."""
    best = expected_errors(workload, epsilon, delta=delta, rho=rho)[0]
    noise = "Laplace" if isinstance(read_budget(epsilon, delta, rho, one_measurement=True), PureDP) else "Gaussian"
    return Yardstick(best.error / best.times_limit, noise, best.error, best.algorithm)


@lru_cache(maxsize=128)
def unit_errors(workload: Workload, notion: str) -> Mapping[str, float]:
    """Errors of the package's own algorithms at epsilon 1, or at rho 1/2, and the limit for noise of variance 1.

    Without those that do not run on the domain, have no expected error on the workload, or need a search.
    """
    return _shipped().get((workload.key, notion)) or _kept(workload, notion)


def compute_unit_errors(workload: Workload, notion: str) -> dict[str, float]:
    """The same, computed now."""
    found = {LIMIT: limit(workload, 1).unit}
    for kind in algorithms.catalogue(notion).values():
        algorithm = kind()
        ours = kind.__module__.startswith("dpbench.") and algorithm.supports(workload.domain)
        with suppress(DPBenchError):
            if ours and not _in_time(algorithm, workload)[1]:
                found[algorithm.name] = algorithm.expected_error(workload, **UNITS[notion])
    return found


def _kept(workload: Workload, notion: str) -> dict[str, float]:
    """From an earlier run on this machine, or computed now and kept."""
    name = f"strategies-{notion}-{workload.key[:32]}-{_code()}"
    arrays = fitted.kept(name)
    if arrays is not None and LIMIT in arrays:
        return {algorithm: float(value) for algorithm, value in arrays.items()}
    found = compute_unit_errors(workload, notion)
    fitted.keep(name, {algorithm: np.array(value) for algorithm, value in found.items()})
    return found


@lru_cache(maxsize=1)
def _shipped() -> Mapping[tuple[str, str], dict[str, float]]:
    """The errors that come with the package, by key of the workload and notion."""
    found: dict[tuple[str, str], dict[str, float]] = {}
    with SHIPPED.open(encoding="utf-8", newline="") as lines:
        for row in csv.DictReader(lines):
            for notion in UNITS:
                if row[notion]:
                    found.setdefault((row["key"], notion), {})[row["algorithm"]] = float(row[notion])
    return found


def _in_time(algorithm: Algorithm, workload: Workload, *, wait: bool = False) -> tuple[Algorithm, str]:
    """The algorithm in a form whose error is known in seconds, or at all if we ``wait``, and what that form is."""
    if not isinstance(algorithm, HDMM):
        return algorithm, ""
    if wait or algorithm._at_hand(workload):
        return algorithm, algorithm._tents_only(workload)
    tents = replace(algorithm, iterations=0)
    if not tents._at_hand(workload):
        raise Unsupported("even without its search it takes minutes here; wait for it once (search), and it is kept")
    return tents, "before its search, which lowers this by a tenth or more"


def _over_unit(budget: Notion) -> float:
    """Error at a budget over that at the budget of the errors that are kept."""
    return float(1 / budget.epsilon**2 if isinstance(budget, PureDP) else 1 / (2 * budget.rho))


@lru_cache(maxsize=1)
def _code() -> str:
    """A digest of the code that errors come from."""
    here = Path(__file__).parent
    files = sorted(path for name in SOURCES for path in [here / name, *(here / name).rglob("*.py")] if path.is_file())
    return sha256(b"".join(path.read_bytes() for path in files)).hexdigest()[:12]
