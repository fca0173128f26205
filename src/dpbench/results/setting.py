"""One setting of a study, and how its algorithm is called in tables."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from dpbench.store.setting_key import SettingKey


class Named(Protocol):
    """What a label is made of; a stored row and a setting both have it."""

    @property
    def algorithm(self) -> str: ...  # noqa: D102
    @property
    def variant(self) -> str: ...  # noqa: D102
    @property
    def side_information(self) -> str: ...  # noqa: D102
    @property
    def parameters(self) -> str: ...  # noqa: D102
    @property
    def private(self) -> bool: ...  # noqa: D102


class Form(NamedTuple):
    """What a label is made of, and nothing else."""

    algorithm: str
    variant: str
    side_information: str
    parameters: str
    private: bool


@dataclass(frozen=True, kw_only=True)
class Setting(SettingKey):
    """What was measured of one algorithm in one setting."""

    seed: int
    """Seed of the study: settings of one seed share their data vectors."""
    private: bool
    """Whether no unit revealed raw counts."""
    accounted: bool
    """Whether the ledger of every unit adds up to its budget."""
    algorithm_source: str
    """Hash of the algorithm's code."""
    failure: str
    """Why units have no errors; empty where all is well."""
    failed: int
    """How many units failed."""
    queries: int
    """Queries of the workload; 0 where unknown."""
    squared_bias: float
    """Mean over queries of the squared bias of the answers, in records squared, corrected for the number of trials."""
    variance: float
    """Mean over queries of the variance of the answers over trials, in records squared."""
    population_error: float
    """Mean scaled L2 error against the expected counts of the shape."""
    l1_mean: float
    """Mean scaled L1 error; likewise for the other losses, NaN where one was not measured in every trial."""
    l1_sd: float
    """Standard deviation of the scaled L1 error of a trial."""
    l1_p95: float
    """95th percentile of the scaled L1 error."""
    linf_mean: float
    linf_sd: float
    linf_p95: float
    relative_mean: float
    relative_sd: float
    relative_p95: float
    seconds: float
    """Processor time in the algorithm, all trials together."""
    errors: NDArray[np.float64]
    """Errors by the loss of the results ``(samples, trials)``; NaN where a trial was not run."""

    @property
    def label(self) -> str:
        """The algorithm with what differs from its plain private form."""
        return algorithm_label(self)

    @property
    def trials(self) -> NDArray[np.int64]:
        """How many trials each data vector has, ``(samples,)``."""
        return np.asarray(np.isfinite(self.errors).sum(axis=1))

    @property
    def ragged(self) -> bool:
        """Whether data vectors have different numbers of trials, or none."""
        return bool(np.ptp(self.trials) > 0) if len(self.errors) else True

    @property
    def values(self) -> NDArray[np.float64]:
        """The errors of all trials that were run, in order of data vector and trial."""
        return self.errors[np.isfinite(self.errors)]


def algorithm_label(named: Named) -> str:
    """An algorithm with what differs from its plain private form; a form that is not private says so."""
    settings = named.parameters.strip("{}").replace('"', "").replace(": ", "=")
    marks = [named.variant] if named.variant != "private" else []
    marks += ["public scale"] if named.side_information == "public" else []
    marks += ["not private"] if not named.private else []
    return named.algorithm + (f"({settings})" if settings else "") + (f" [{', '.join(marks)}]" if marks else "")
