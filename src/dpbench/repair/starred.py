"""MWEM* and AHP*: the plain algorithms with both repairs, an estimated scale and the free parameters from a table.

Hay, Machanavajjhala, Miklau, Chen, Zhang. Principled evaluation of differentially private algorithms using DPBench.
SIGMOD 2016, section "Resolving End-to-End Privacy Violations".
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from dpbench.algorithm import Algorithm, by_variant
from dpbench.algorithms.ahp import AHP
from dpbench.algorithms.mwem import MWEM
from dpbench.domain import Domain
from dpbench.privacy import PrivateData
from dpbench.repair.published import AHP_SHARES, MWEM_ROUNDS, PublishedTable, published
from dpbench.repair.table import ParameterTable, load_table
from dpbench.workloads import Workload


def shipped(name: str) -> str:
    """Path of a table that comes with the package."""
    return str(files("dpbench.repair").joinpath("trained", name))


@dataclass(frozen=True, kw_only=True)
class Starred(Algorithm):
    """An algorithm whose free parameters follow from epsilon * scale and the domain, by a table."""

    notions = ("pure", "zCDP")
    side_information = ("scale",)
    plain: ClassVar[type[Algorithm]]
    authors: ClassVar[Mapping[int, PublishedTable]]
    trained: ClassVar[str]
    divides: ClassVar[str] = ""
    """The free parameter into as many parts as which the budget is divided, where one does that."""

    table: str = by_variant(private="trained", published="published")
    """"trained" (ours, on synthetic shapes), "published" (the authors'), or a file made by ``dpbench tune``."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.table != "published":
            self._table()

    def estimate(self, data: PrivateData, workload: Workload) -> NDArray[np.float64]:
        """Look the parameters up at the noisy signal, then run the plain algorithm with what is left of epsilon."""
        chosen = [self._chosen(data, float(scale)) for scale in data.scale]
        if all(parameters == chosen[0] for parameters in chosen):
            return self.plain(variant=self.variant, **chosen[0]).estimate(data, workload)
        estimates = [
            self.plain(variant=self.variant, **parameters).estimate(one, workload)
            for one, parameters in zip(data.each_trial(), chosen, strict=True)
        ]
        return np.concatenate(estimates)

    def _parameters_for(self, domain: Domain, product: float, epsilon: float | None = None) -> dict[str, float]:
        """The free parameters at a signal of ``product`` = epsilon * scale; epsilon itself matters to few tables."""
        if self.table == "published":
            return self._as_typed(published(self.authors, domain, product))
        return self._as_typed(self._table().look_up(domain, product, epsilon))

    def _chosen(self, data: PrivateData, scale: float) -> dict[str, float]:
        """The free parameters at a noisy scale; under zCDP a table trained under pure DP is read at equal noise.

        There the noise of a part falls with the square root of its budget. So a larger number of parts has the noise of
        a larger epsilon, at which the table may pay for still more; it is followed for as long as the number grows.
        """
        epsilon = data.as_epsilon(data.ledger.budget)
        chosen = self._parameters_for(data.domain, epsilon * scale, epsilon)
        while self.divides:
            epsilon = data.as_epsilon(data.ledger.budget, parts=int(chosen[self.divides]))
            further = self._parameters_for(data.domain, epsilon * scale, epsilon)
            if further[self.divides] <= chosen[self.divides]:
                break
            chosen = further
        return chosen

    @property
    def files(self) -> tuple[str, ...]:
        """The table, unless it is the authors', which is code."""
        return () if self.table == "published" else (self._path,)

    @property
    def _path(self) -> str:
        return shipped(self.trained) if self.table == "trained" else self.table

    @classmethod
    def _as_typed(cls, parameters: Mapping[str, float]) -> dict[str, float]:
        """Parameters as the plain algorithm takes them: a whole number stays one."""
        defaults = cls.plain.defaults()
        return {name: int(value) if isinstance(defaults[name], int) else value for name, value in parameters.items()}

    def _table(self) -> ParameterTable:
        return load_table(self._path, self.plain.name, tuple(self.plain.free))


@dataclass(frozen=True, kw_only=True)
class MWEMStar(Starred):
    """MWEM with its number of rounds learned as a function of epsilon * scale.

    A stronger signal pays for more rounds. The table was trained on synthetic shapes alone (power laws and normals),
    with the same purchase of the scale, so it depends on no data. As MWEM it is biased: its error does not go to 0.

    The table was trained under pure DP. Under zCDP T rounds have the noise of T rounds at the epsilon 2 sqrt(T rho), so
    the rounds are those of the table there. On six problems (a power law and a normal on 256 cells, scales of 10^3,
    10^4.5 and 10^6, rho 1/400) this came within 1.31 times the error of the best number of rounds; the rounds of the
    epsilon 2 sqrt(rho) came to 1.98 times it.

    The authors' code looks the rounds up at the true scale and starts from it, uncharged; the paper lists MWEM* as free
    of side information. The private form is what the paper claims; ``variant="published"`` is what the code does.

    Privacy
    -------
    A share of the budget, of epsilon or of rho, is spent on a noisy scale (one record moves it by 1); what remains goes
    to MWEM, whose paragraph holds under both notions. The number of rounds is a function of the noisy scale and public
    things: post-processing.
    """

    name = "MWEM*"
    paper = "Hay, Machanavajjhala, Miklau, Chen, Zhang: Principled evaluation ... using DPBench, SIGMOD 2016"
    consistent = False
    not_private = "it uses the true scale without paying for it"
    plain = MWEM
    divides = "rounds"
    authors = MWEM_ROUNDS
    trained = "mwem.json"


@dataclass(frozen=True, kw_only=True)
class AHPStar(Starred):
    """AHP with its split of the budget and its threshold learned as functions of epsilon * scale.

    The table was trained on synthetic shapes alone. The authors' tables jump (eta from .7 to .1 to .9) and are
    interpolated between such values; ours takes the nearest key. Under zCDP the table, trained under pure DP, is read
    at the epsilon of equal noise, 2 sqrt(rho): on six problems of the kind that MWEM* speaks of its error was within
    1.08 times that of the best parameters (within 1.10 under pure DP).

    Privacy
    -------
    A share of the budget, of epsilon or of rho, is spent on a noisy scale (one record moves it by 1); what remains goes
    to AHP, whose paragraph holds under both notions. The parameters are functions of the noisy scale and public things:
    post-processing.
    """

    name = "AHP*"
    paper = "Hay, Machanavajjhala, Miklau, Chen, Zhang: Principled evaluation ... using DPBench, SIGMOD 2016"
    partitioning = True
    consistent = True
    not_private = "it uses the true scale without paying for it"
    plain = AHP
    authors = AHP_SHARES
    trained = "ahp.json"
