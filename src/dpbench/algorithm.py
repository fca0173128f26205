"""What an algorithm is: a frozen value with named parameters, stated facts, and one method.

To write one, subclass :class:`Algorithm` as a keyword-only frozen dataclass. Annotated fields are its parameters,
plain class attributes are facts about it. Implement :meth:`Algorithm.estimate` for a whole batch of trials, or
:meth:`Algorithm.estimate_once` for one. Counts are met only through the handle.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from fractions import Fraction
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dpbench.domain import Domain, DomainLike
from dpbench.errors import AlgorithmFailed, InvalidDomain, InvalidInput, UnknownName, Unsupported
from dpbench.mathematics.postprocess import apply_steps
from dpbench.privacy import (
    Ledger,
    NoiseSource,
    Notion,
    PrivateData,
    RandomNoise,
    Strategy,
    read_budget,
    seed_sequence,
    split,
)
from dpbench.privacy.noise import Seed
from dpbench.privacy.transcript import Channel
from dpbench.workloads import Workload

Floats = NDArray[np.float64]
Variant = Literal["private", "published"]
SideInformation = Literal["estimated", "public"]

VARIANTS = ("private", "published")
SIDE_INFORMATION = ("estimated", "public")
ADD_OR_REMOVE = "add or remove one record"


def by_variant(*, private: Any, published: Any) -> Any:
    """A parameter whose default depends on the variant: the best private one, or what the authors' code does."""
    return field(default=None, metadata={"private": private, "published": published})


@dataclass(frozen=True)
class Outcome:
    """What a run gives out, and what it cost."""

    estimate: Floats
    """``(trials, *domain)``."""
    ledger: Ledger
    """Every charge against the budget."""


@dataclass(frozen=True)
class Explanation:
    """Where the budget goes, found without any data."""

    algorithm: Algorithm
    domain: Domain
    ledger: Ledger

    def __str__(self) -> str:
        note = (
            "\n  (structure depends on the data: this is one possible course)" if self.algorithm.data_dependent else ""
        )
        return f"{self.algorithm.name} on {self.domain}, {self.ledger}{note}"


@dataclass(frozen=True, kw_only=True)
class Algorithm:
    """Base class of every algorithm; see the module's docstring."""

    name: ClassVar[str] = ""
    """Name in the catalogue; an algorithm of the paper has the paper's."""
    paper: ClassVar[str] = ""
    """Where it was published."""
    dimensions: ClassVar[tuple[int, ...] | None] = None
    """Numbers of axes that it supports; None: any."""
    data_dependent: ClassVar[bool] = True
    """Whether its error depends on the counts."""
    hierarchical: ClassVar[bool] = False
    """Whether it measures nested groups of cells."""
    partitioning: ClassVar[bool] = False
    """Whether it groups cells and assumes uniformity inside."""
    side_information: ClassVar[tuple[str, ...]] = ()
    """What it has to know about the data; ("scale",) or nothing."""
    scale_share: ClassVar[Fraction] = Fraction(1, 20)
    """Share of the budget that is spent on the scale where it is not public (the paper's rho_total)."""
    free: ClassVar[Mapping[str, tuple[Any, ...]]] = {}
    """Free parameters, each with the values that training tries, the simplest first."""
    monotone: ClassVar[bool] = False
    """Whether the one free parameter can only grow with the signal."""
    not_private: ClassVar[str] = ""
    """Why the published form is not private; empty where it is."""
    notions: ClassVar[tuple[str, ...]] = ("pure",)
    """Notions of privacy that it can be run under: "pure", "zCDP"."""
    one_measurement: ClassVar[bool] = False
    """Whether its only private call is one ``data.measure``: then the exact Gaussian formula meets (epsilon, delta)."""

    variant: Variant = "private"
    """private: differentially private; published: as the authors' code behaves."""

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        for method in ("run", "outcome", "notion"):
            if getattr(cls, method) is not getattr(Algorithm, method):
                raise InvalidInput(
                    f"{cls.__name__} overrides {method}, which opens the budget and the counts and closes the ledger; "
                    f"write estimate"
                )

    def __post_init__(self) -> None:
        if self.variant not in VARIANTS:
            raise UnknownName.among("variant", self.variant, VARIANTS)
        for parameter in fields(self):
            if getattr(self, parameter.name) is None and self.variant in parameter.metadata:
                object.__setattr__(self, parameter.name, parameter.metadata[self.variant])

    # --- what an author writes --------------------------------------------------------------------

    def estimate(self, data: PrivateData, workload: Workload) -> Floats:
        """Estimated counts for every trial, ``(trials, *domain)``."""
        return np.stack([self.estimate_once(one, workload) for one in data.each_trial()])

    def estimate_once(self, data: PrivateData, workload: Workload) -> Floats:
        """Estimated counts of one trial, ``(*domain)``; the handle's verbs answer without the trial axis."""
        raise NotImplementedError(f"{type(self).__name__} implements neither estimate nor estimate_once")

    @property
    def consistent(self) -> bool:
        """Whether the error of the workload's answers goes to 0 as epsilon grows, on any data."""
        return not self.data_dependent

    @property
    def exchangeable(self) -> bool:
        """Whether scaling the counts by a and epsilon by 1/a scales the estimate by a, draw for draw."""
        return True

    @property
    def files(self) -> tuple[str, ...]:
        """Files that results depend on beside the code, such as a table of parameters."""
        return ()

    @property
    def is_private(self) -> bool:
        """Whether this form is epsilon-differentially private for adding or removing one record."""
        return self.variant == "private" or not self.not_private

    def measurement(self, workload: Workload) -> tuple[Strategy, float]:
        """What a data-independent algorithm measures, and its squared error per query for noise of variance 1."""
        del workload
        raise Unsupported(f"{self.name} depends on the data, so its expected error is not known without them; run it")

    # --- what a user calls ------------------------------------------------------------------------

    def run(
        self,
        x: ArrayLike,
        workload: Workload,
        epsilon: object = None,
        trials: int = 1,
        seed: Seed = None,
        *,
        delta: object = None,
        rho: object = None,
        side_information: SideInformation | None = None,
        postprocess: Sequence[str] = (),
        neighbours: str = ADD_OR_REMOVE,
    ) -> Floats:
        """Estimated counts ``(trials, *x.shape)``, each trial one independent run.

        ``epsilon`` alone is pure differential privacy; with ``delta``, or with ``rho`` in place of both, noise is
        Gaussian and accounted in zCDP. Without a ``seed`` the noise is fresh. ``side_information`` says where a
        declared scale comes from: "estimated" spends part of the budget on it, "public" takes it for free, as the paper
        did; the default is the first for private and the second for published forms. ``postprocess`` names steps that
        cost no budget: "top-down" (non-negative, sums kept), "integral" (whole numbers), "non-negative" (cell by cell).

        >>> import dpbench as dpb
        >>> workload = dpb.workloads.Prefix(4)
        >>> dpb.algorithms.get("Identity").run([3, 0, 5, 8], workload, epsilon=1.0, trials=2, seed=0).shape
        (2, 4)
        """
        check_neighbours(neighbours)
        estimate = self.outcome(
            x, workload, epsilon, trials, seed, delta=delta, rho=rho, side_information=side_information
        ).estimate
        return apply_steps(estimate, postprocess)

    def outcome(
        self,
        x: ArrayLike,
        workload: Workload,
        epsilon: object = None,
        trials: int = 1,
        seed: Seed = None,
        *,
        delta: object = None,
        rho: object = None,
        side_information: SideInformation | None = None,
        scale_share: Fraction | None = None,
        noise: NoiseSource | None = None,
        channel: Channel | None = None,
    ) -> Outcome:
        """Run, and return the ledger beside the estimate.

        ``scale_share`` replaces the share of the budget that is spent on a declared scale. ``noise`` and ``channel``
        exchange the source of noise and record or force what is drawn; they are for tests and audits.

        >>> import dpbench as dpb
        >>> outcome = dpb.algorithms.get("Identity").outcome([3, 0, 5, 8], dpb.workloads.Prefix(4), epsilon=1.0, seed=0)
        >>> outcome.ledger.epsilon, outcome.ledger.spent
        (Fraction(1, 1), Fraction(1, 1))
        """
        if isinstance(trials, bool) or not isinstance(trials, int | np.integer) or trials < 1:
            raise InvalidInput(f"trials is {trials!r}; give a whole number of at least 1")
        notion = self.notion(epsilon, delta, rho)
        if noise is None:
            noise = RandomNoise.seeded(seed_sequence(seed), int(trials))
        source = side_information or ("estimated" if self.variant == "private" else "public")
        if source not in SIDE_INFORMATION:
            raise UnknownName.among("source of side information", source, SIDE_INFORMATION)
        data = PrivateData.open(
            x,
            notion,
            noise,
            channel=channel,
            declared=self.side_information,
            published=self.variant == "published",
        )
        self.check_domain(data.domain, workload)
        if "scale" in self.side_information:
            if source == "public":
                data.publish_scale()
            else:
                data.buy_scale(split(data.budget, self.scale_share if scale_share is None else scale_share)[0])
        estimate = plain_estimate(self.name, self.estimate(data, workload), (data.trials, *data.domain.shape))
        data.ledger.close()
        return Outcome(estimate, data.ledger)

    def notion(self, epsilon: object = None, delta: object = None, rho: object = None) -> Notion:
        """The budget that a user names, in the notion that it belongs to, if the algorithm has that."""
        budget = read_budget(epsilon, delta, rho, one_measurement=self.one_measurement)
        if self.variant == "published" and budget.name != "pure":
            raise Unsupported(
                f"the published form of {self.name} has pure differential privacy alone; give epsilon only"
            )
        if budget.name not in self.notions:
            advice = "give epsilon alone" if "pure" in self.notions else "give a delta beside epsilon, or rho"
            raise Unsupported(f"{self.name} has no {budget.name} differential privacy; {advice}")
        return budget

    def explain(
        self,
        domain: DomainLike,
        workload: Workload,
        epsilon: object = None,
        *,
        delta: object = None,
        rho: object = None,
        neighbours: str = ADD_OR_REMOVE,
    ) -> Explanation:
        """Where the budget goes, without any data: the ledger of a run on an empty histogram.

        >>> import dpbench as dpb
        >>> explanation = dpb.algorithms.get("UGrid").explain("8x8", dpb.workloads.Identity("8x8"), epsilon=0.1)
        >>> [str(charge.amount) for charge in explanation.ledger.charges]
        ['1/200', '19/200']
        """
        check_neighbours(neighbours)
        cells = Domain.of(domain)
        empty = np.zeros(cells.shape, dtype=np.int64)
        return Explanation(self, cells, self.outcome(empty, workload, epsilon, seed=0, delta=delta, rho=rho).ledger)

    def expected_error(
        self, workload: Workload, epsilon: object = None, *, delta: object = None, rho: object = None
    ) -> float:
        """Expected squared error per query, the average over the queries of the workload; nothing is run.

        >>> import dpbench as dpb
        >>> float(dpb.algorithms.get("Identity").expected_error(dpb.workloads.Identity(8), epsilon=0.5))
        8.0
        """
        notion = self.notion(epsilon, delta, rho)
        strategy, unit_error = self.measurement(workload)
        return notion.noise_variance(strategy) * unit_error

    def check_domain(self, domain: Domain, workload: Workload) -> None:
        """Insist that the algorithm supports the domain and that the workload is over it."""
        if not self.supports(domain):
            wanted = " or ".join(f"{axes}-D" for axes in self.dimensions or ())
            raise Unsupported(f"{self.name} runs on {wanted} domains; {domain} has {domain.ndim} axes")
        if workload.domain != domain:
            raise InvalidDomain(
                f"the counts have shape {domain} and the workload is over {workload.domain}; give both the same domain"
            )

    def supports(self, domain: DomainLike) -> bool:
        """Whether the algorithm can run on a domain."""
        return self.dimensions is None or Domain.of(domain).ndim in self.dimensions

    def prepare(self, workload: Workload) -> None:
        """Compute and keep what depends on the workload and its domain alone; nothing for most algorithms."""

    @classmethod
    def refuse_unknown(cls, parameters: Mapping[str, Any]) -> None:
        """Refuse a parameter that the algorithm does not have."""
        for parameter in parameters:
            if parameter not in cls.defaults():
                wanted = ", ".join(cls.defaults()) or "none"
                raise InvalidInput(f"{cls.name} has no parameter {parameter!r}; its parameters: {wanted}")

    @classmethod
    def defaults(cls, variant: str = "private") -> Mapping[str, Any]:
        """The parameters with their defaults in one of the two forms."""
        return {
            parameter.name: parameter.metadata.get(variant, parameter.default)
            for parameter in fields(cls)
            if parameter.name != "variant"
        }

    @property
    def parameters(self) -> Mapping[str, Any]:
        """The parameters with their values."""
        return {name: getattr(self, name) for name in self.defaults()}


def plain_estimate(name: str, estimate: object, wanted: tuple[int, ...]) -> Floats:
    """The numbers of an estimate, checked: an array with an arithmetic of its own has none from here on."""
    if not issubclass(type(estimate), np.ndarray):
        raise AlgorithmFailed(f"{name} returned a {type(estimate).__name__}; wanted a float64 array {wanted}")
    plain = np.asarray(estimate)
    if plain.shape != wanted or plain.dtype != np.float64:
        raise AlgorithmFailed(f"{name} returned shape {plain.shape} of {plain.dtype}; wanted {wanted} of float64")
    if not np.isfinite(plain).all():
        raise AlgorithmFailed(f"{name} returned NaN or infinity; an estimate has to be finite")
    return plain


def check_neighbours(neighbours: str) -> None:
    """Refuse every notion of neighbours but adding or removing one record."""
    if neighbours != ADD_OR_REMOVE:
        raise Unsupported(
            f"neighbours={neighbours!r} is not supported, only {ADD_OR_REMOVE!r}; replacing a record is one removal "
            f"and one addition, a factor 2: run with epsilon / 2 to be epsilon-private under replacement"
        )
