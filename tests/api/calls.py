"""Calls of the public API: for every argument what is valid, and for the result what has to hold of it."""

from __future__ import annotations

import math
import resource
import signal
from collections.abc import Callable, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from hypothesis import strategies as st

import dpbench as dpb
from dpbench.workloads import AllRange, Identity, Prefix, RandomRange, RandomSmall, Ranges

DOMAINS = (4, (4,), "4", "2x2", (3, 2), [2, 1, 2], 1, 16, dpb.Domain((4,)))
WORKLOADS = {
    "Prefix": lambda: Prefix(4),
    "Identity": lambda: Identity("2x2"),
    "AllRange": lambda: AllRange(4),
    "AllRange, 2-D": lambda: AllRange((2, 2)),
    "RandomRange": lambda: RandomRange(4, queries=9),
    "RandomSmall": lambda: RandomSmall("2x2", queries=5, seed=3),
    "distribution": lambda: RandomRange(4, queries=None),
    "Ranges": lambda: Ranges(4, [0, 2], [3, 4], [0.5, -2]),
    "Prefix(16)": lambda: Prefix(16),
    "one cell": lambda: Prefix(1),
}
COUNTS = ([3, 0, 5, 8], (1, 1, 1, 1), [0, 0, 0, 0], [[1, 2], [3, 4]], list(range(16)), [2**50, 0, 0, 1])
ESTIMATES = (*COUNTS, [[1, 2, 3, 4], [0.5, 0, -1, 7]], [[[1, 2], [3, 4]]], [1e200, 0, 0, 0], [[2**55, 1, 1, 1]])


SECONDS = 20
"""CPU time that a call may take."""
BYTES = 5 * 10**9
"""Memory that a call may take on top of what is taken already."""


@contextmanager
def bounded():
    """An end to what would have none."""

    def stop(number, frame):
        raise RuntimeError(f"not done after {SECONDS} seconds of CPU time")

    before = signal.signal(signal.SIGVTALRM, stop)
    taken = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (taken + BYTES, hard))
    signal.setitimer(signal.ITIMER_VIRTUAL, SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))
        signal.signal(signal.SIGVTALRM, before)


@dataclass(frozen=True)
class Fitting:
    """Numbers on whatever domain the workload of the same call has."""

    kind: str

    def on(self, domain):
        """The numbers, or the domain itself."""
        cells = np.arange(domain.size).reshape(domain.shape)
        made = {
            "domain": domain,
            "counts": cells * 3,
            "few": cells % 2,
            "many": cells * 10**9,
            "estimates": np.stack([cells - 0.5, cells * 1e6]),
        }
        return made[self.kind]


EPSILONS = (0.1, 1, Fraction(1, 3), 1e-9, 1e6, 1e-100, 1e100)


@dataclass(frozen=True)
class Call:
    """A function, valid values by the name of the argument, and what has to hold of a result."""

    name: str
    function: Callable[..., Any]
    valid: Mapping[str, Any]
    holds: Callable[[Any, Mapping[str, Any]], object] = lambda result, given: None
    always: frozenset[str] = field(default_factory=frozenset)
    """Arguments that are given each time; the others are left out in half of the cases."""


def among(*values):
    """One of some values."""
    return st.sampled_from(values)


workloads = st.sampled_from(sorted(WORKLOADS)).map(lambda name: WORKLOADS[name]())
seeds = among(0, 1, 2**64, np.random.SeedSequence(3))
budgets = {"epsilon": among(*EPSILONS), "delta": among(None, None, 0, 1e-6), "rho": among(None, None, None, 0.1)}


# --- what has to hold -------------------------------------------------------------------------------------------------


def matrix(workload):
    """Weights of the cells in every query, the slow obvious way: `(q, cells)`."""
    listed = workload.ranges()
    rows = []
    for lower, upper, weight in zip(listed.lower, listed.upper, listed.weights, strict=True):
        row = np.zeros(workload.domain.shape)
        row[tuple(slice(int(a), int(b)) for a, b in zip(lower, upper, strict=True))] = weight
        rows.append(row.ravel())
    return np.array(rows)


def plain(workload, values):
    """Values as `(trials, cells)`."""
    return np.asarray(values, dtype=np.float64).reshape(-1, workload.domain.size)


def close(found, wanted, size):
    """Equal up to rounding of numbers of a size."""
    found, wanted = np.asarray(found, dtype=np.float64), np.asarray(wanted, dtype=np.float64)
    assert found.shape == wanted.shape
    assert np.isfinite(found).all()
    assert (np.abs(found - wanted) <= 1e-9 * np.abs(size) + 1e-300).all()


def answers_hold(result, given):
    """Every answer is the weighted sum of its cells; whole numbers exactly so."""
    workload, values = given["workload"], plain(given["workload"], given["estimate"])
    by_matrix = values @ matrix(workload).T
    close(result, by_matrix.reshape(result.shape), np.abs(values).sum() * np.abs(workload.ranges().weights).max())
    if result.dtype == np.int64:
        exact = [[int(value) for value in row] for row in np.asarray(given["estimate"]).reshape(values.shape)]
        cells = [np.flatnonzero(row) for row in matrix(workload)]
        assert result.reshape(len(exact), -1).tolist() == [
            [sum(row[c] for c in each) for each in cells] for row in exact
        ]


def norms(workload, difference, order):
    """Norms over the queries of every trial."""
    answers = np.abs(plain(workload, difference) @ matrix(workload).T)
    if order == "L2":
        return np.sqrt((answers**2).sum(axis=1))
    return answers.sum(axis=1) if order == "L1" else answers.max(axis=1)


def norm_holds(result, given):
    """The norm of the answers."""
    wanted = norms(given["workload"], given["difference"], given.get("order", "L2"))
    close(np.atleast_1d(result), wanted, np.abs(wanted) + np.abs(plain(given["workload"], given["difference"])).sum())


def loss_holds(result, given):
    """The norm of the errors of the answers, over scale and queries."""
    workload, truth = given["workload"], np.asarray(given["truth"], dtype=np.float64)
    assert np.isfinite(result).all()
    assert (np.asarray(result) >= 0).all()
    name = given.get("loss", "L2")
    if isinstance(name, str) and name in ("L2", "L1", "Linf"):
        scale = truth.sum() if given.get("scale") is None else float(given["scale"])
        estimate = np.asarray(given["estimate"], dtype=np.float64)
        wanted = norms(workload, estimate - truth, name) / (scale * workload.queries)
        size = (np.abs(estimate).sum() + np.abs(truth).sum()) * np.abs(matrix(workload)).sum() / max(scale, 1e-300)
        close(np.atleast_1d(result), wanted, np.abs(wanted) + size)


def domain_holds(result, given):
    """Whole sides, and the text is read back."""
    assert all(type(side) is int and side >= 1 for side in result.shape)
    assert dpb.Domain.of(str(result)) == result


def workload_holds(result, given):
    """It has ranges within its domain, a key, and as many queries as it says."""
    assert result.queries is None or result.queries >= 1
    if result.queries is not None and result.queries * result.domain.size <= 10**4:
        listed = result.ranges()
        assert len(listed.lower) == result.queries
        assert ((listed.lower >= 0) & (listed.lower < listed.upper) & (listed.upper <= result.domain.shape)).all()
        assert math.isclose(result.sensitivity, np.abs(matrix(result)).sum(axis=0).max(), rel_tol=1e-9)


def counts_hold(result, given):
    """Whole counts that add up to the scale."""
    assert result.dtype == np.int64
    assert (result >= 0).all()
    assert int(result.sum()) == int(given["scale"])


def shape_holds(result, given):
    """A distribution on the domain."""
    assert result.shape == dpb.Domain.of(given["domain"]).shape
    assert (result >= 0).all()
    assert math.isclose(result.sum(), 1, rel_tol=1e-9)


def estimate_holds(result, given):
    """Finite float64 of the right shape."""
    assert type(result) is np.ndarray
    assert result.dtype == np.float64
    assert result.shape == (int(given.get("trials", 1)), *given["workload"].domain.shape)
    assert np.isfinite(result).all()
    steps = given.get("postprocess", ())
    if isinstance(steps, str):
        steps = (steps,)
    if "integral" in steps[-1:]:
        assert (result == np.round(result)).all()
    if steps[-1:] in (("non-negative",), ["non-negative"], ("top-down",)):
        assert (result >= 0).all()


def ledger_holds(result, given):
    """All of the budget is spent or forfeited, and no more."""
    assert result.ledger.spent + result.ledger.forfeited == result.ledger.budget
    assert result.ledger.budget > 0


def outcome_holds(result, given):
    """As a run, with a ledger that adds up."""
    estimate_holds(result.estimate, given)
    ledger_holds(result, given)


def error_holds(result, given):
    """A finite number that is not negative."""
    assert math.isfinite(float(result))
    assert float(result) >= 0


def limit_holds(result, given):
    """No greater than the error of noise on every cell, which is an unbiased strategy."""
    error_holds(result, given)
    budget = {key: value for key, value in given.items() if key in ("epsilon", "delta", "rho") and value is not None}
    cells = dpb.algorithms.get("Identity").expected_error(given["workload"], **budget)
    assert float(result) <= cells * (1 + 1e-6)


def finite_holds(result, given):
    """A probability."""
    assert math.isnan(result) or 0 <= result <= 1


def table_holds(result, given):
    """Every row is in one cell."""
    table = given["table"]
    assert result.counts.dtype == np.int64
    assert result.counts.shape == result.domain.shape
    if isinstance(table, Mapping):
        assert result.counts.sum() == len(next(iter(table.values())))


def task_holds(result, given):
    """It goes to plain values and back."""
    assert dpb.Task.from_dict(result.to_dict()) == result


def fraction_holds(result, given):
    """A positive exact number."""
    assert type(result) is Fraction
    assert result > 0


# --- results to read --------------------------------------------------------------------------------------------------


@lru_cache(maxsize=1)
def study():
    """A few settings of the study that comes with the package."""
    from dpbench.paper import Study

    wanted = {"algorithm": ["Identity", "Hb", "DAWA", "Uniform"], "dataset": ["ADULT", "TRACE"], "domain": "4096"}
    return Study.shipped().private.results.where(**wanted)


ERRORS = ([[1.0, 1.1, 0.9], [2, 2.1, 2.2]], [[1.0, 1.0], [1.0, 1.0]], [[0.5, 0.1]], [[3.0], [4.0]])


def measured(errors):
    """One setting, measured."""
    from dpbench.measuring import measure

    return measure(errors)
