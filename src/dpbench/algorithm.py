"""What an algorithm is: a frozen value with named parameters, stated facts, and one method.

To write one, subclass :class:`Algorithm` as a keyword-only frozen dataclass. Annotated fields are its parameters,
plain class attributes are facts about it. Implement :meth:`Algorithm.estimate` for a whole batch of trials, or
:meth:`Algorithm.estimate_once` for one. Counts are met only through the handle.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from fractions import Fraction
from functools import lru_cache
from types import UnionType
from typing import Any, ClassVar, Literal, Never, Protocol, Union, get_args, get_origin, get_type_hints

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dpbench.domain import NUMBERS_PER_CELL, Domain, DomainLike
from dpbench.errors import AlgorithmFailed, InvalidDomain, InvalidInput, UnknownName, Unsupported, shown
from dpbench.given import LARGEST_SEED, afford, known, of_kind, real, whole
from dpbench.mathematics.noise_bars import Influence, check_level, half_widths, listed
from dpbench.mathematics.postprocess import apply_steps, read_steps
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
from dpbench.privacy.noise import NUMBERS_PER_TRIAL, Seed
from dpbench.privacy.transcript import Channel
from dpbench.workloads import Workload

Floats = NDArray[np.float64]
Variant = Literal["private", "published"]
SideInformation = Literal["estimated", "public"]

NUMBERS_PER_PRICED_CELL = 12
"""What an expected error takes, beside what work on a domain does."""
VARIANTS = ("private", "published")
SIDE_INFORMATION = ("estimated", "public")
LARGEST_PARAMETER = 1e100
"""Parameters are at most that, and at least one over it or 0: their squares are numbers."""
ADD_OR_REMOVE = "add or remove one record"


def by_variant(*, private: Any, published: Any) -> Any:
    """A parameter whose default depends on the variant: the best private one, or what the authors' code does."""
    return field(default=None, metadata={"private": private, "published": published})


@dataclass(frozen=True)
class Outcome:
    """What a run gives out, what it cost, and how far off its answers may be."""

    estimate: Floats
    """``(trials, *domain)``."""
    ledger: Ledger
    """Every charge against the budget."""
    algorithm: Algorithm | None = field(default=None, repr=False)
    workload: Workload | None = field(default=None, repr=False)
    """The workload that the algorithm ran for."""
    kept: tuple[Any, ...] = field(default=(), repr=False)
    """What the algorithm made of its answers in each trial, for error bars; nothing of the counts."""

    def intervals(
        self, workload: Workload, level: float = 0.9, *, cautious: bool = False, guaranteed: bool = False
    ) -> Floats:
        """Intervals for the true answers, ``(trials, q, 2)``: low and high of every query.

        They cost no budget, since they are made from the estimate, answers and the noise's distribution. From a
        data-independent algorithm they are exact: whatever the counts, each holds the truth with probability ``level``
        (``mathematics/noise_bars.py``). From Cascade they are model-based (``mathematics/posterior_bars.py``): they
        held for about nine of ten ranges on the tables that were tried (``dpbench.fitted.coverage()``), and nothing is
        guaranteed for every table; ``cautious=True`` widens them, ``guaranteed=True`` gives intervals from the noise
        alone, whose probability is at least ``level`` on any counts, and :meth:`guaranteed` marks where those stand in
        anyway. Intervals are for the estimate as it is. Post-processing may move an estimate out of its interval, but
        the interval still speaks of the truth, which is never negative: so it may be cut at 0.

        >>> import dpbench as dpb
        >>> workload = dpb.workloads.Prefix(4)
        >>> outcome = dpb.algorithms.get("Hb").outcome([3, 0, 5, 8], workload, epsilon=1.0, seed=0)
        >>> outcome.intervals(workload, level=0.9).shape
        (1, 4, 2)
        """
        wide, sure = (of_kind(each, bool, "a kind of interval", "True") for each in (cautious, guaranteed))
        return self._bars(workload).intervals(workload, check_level(level), cautious=wide, guaranteed=sure)

    def guaranteed(self, workload: Workload) -> NDArray[np.bool_]:
        """``(trials, q)``: which of :meth:`intervals` come from the noise alone, and so hold on any counts."""
        return self._bars(workload).guaranteed(workload)

    def draws(self, many: int, seed: int = 0) -> NDArray[np.int64]:
        """Whole tables that the answers leave possible, ``(trials, many, *domain)``: draws from Cascade's posterior.

        Counts are non-negative whole numbers. The same seed gives the same draws, and the seed may be published: draws
        are a function of noisy answers, and cost nothing. *Never analyse one draw as if it were the table.* Take at
        least 20, compute the statistic Q of each, and combine (Rubin's rule for completed data): the estimate is the
        mean of the Q; with B their variance (divided by many - 1), the variance for the table itself is (1 + 1/many) B
        with many - 1 degrees of freedom of Student's t. Where the table is a sample and the statistic speaks of its
        population, add the mean U of the variances that each draw gives by itself: T = U + (1 + 1/many) B, with
        (many - 1) (1 + U / ((1 + 1/many) B))^2 degrees of freedom.

        >>> import dpbench as dpb
        >>> outcome = dpb.algorithms.get("Cascade").outcome([3, 0, 5, 8], dpb.workloads.Prefix(4), epsilon=1.0, seed=0)
        >>> outcome.draws(20).shape
        (1, 20, 4)
        """
        number, chosen = whole(many, "the number of draws"), whole(seed, "the seed of draws", 0, LARGEST_SEED)
        bars = self._bars(self.workload)
        afford(number * self.estimate.size, f"{number} draws")
        return bars.draws(number, chosen)

    def _bars(self, workload: object) -> ErrorBars:
        if not isinstance(self.algorithm, Algorithm) or not isinstance(self.workload, Workload):
            raise Unsupported("this outcome was put together by hand; take one from algorithm.outcome(...)")
        asked = Workload.insist(workload).domain
        if asked != self.workload.domain:
            raise InvalidDomain(
                f"the estimate is over {self.workload.domain} and the workload over {asked}; give both the same domain"
            )
        return self.algorithm.error_bars(self)


class ErrorBars(Protocol):
    """What :class:`Outcome` asks for intervals."""

    def intervals(self, workload: Workload, level: float, *, cautious: bool, guaranteed: bool) -> Floats:
        """``(trials, q, 2)``."""
        ...

    def guaranteed(self, workload: Workload) -> NDArray[np.bool_]:
        """``(trials, q)``."""
        ...

    def draws(self, many: int, seed: int) -> NDArray[np.int64]:
        """``(trials, many, *domain)``."""
        ...


@dataclass(frozen=True)
class NoiseBars:
    """Intervals of an estimate that is linear in the answers of one measurement."""

    outcome: Outcome
    influence: Influence
    scale: float
    """Of the noise: Laplace's scale, or the standard deviation."""
    name: str

    @classmethod
    def of(cls, outcome: Outcome, influence: Influence, strategy: Strategy, name: str) -> NoiseBars:
        """With the noise that the whole budget pays for on the answers of a strategy."""
        notion = outcome.ledger.notion
        variance = notion._noise_variance(strategy)
        return cls(outcome, influence, (variance if notion.name == "zCDP" else variance / 2) ** 0.5, name)

    def intervals(self, workload: Workload, level: float, *, cautious: bool, guaranteed: bool) -> Floats:
        """The answers, less and plus what the noise stays below; exact, so there is nothing to be cautious about."""
        del cautious, guaranteed
        gaussian = self.outcome.ledger.notion.name == "zCDP"
        half = half_widths(workload, self.influence, self.scale, gaussian, level)
        answers = workload.answer(self.outcome.estimate)
        return np.stack([answers - half, answers + half], axis=-1)

    def guaranteed(self, workload: Workload) -> NDArray[np.bool_]:
        """All."""
        return np.ones((len(self.outcome.estimate), listed(workload).queries), dtype=np.bool_)

    def draws(self, many: int, seed: int) -> NDArray[np.int64]:
        """There is no posterior without a prior."""
        del many, seed
        raise Unsupported(f"{self.name} has no posterior to draw tables from; use Cascade")


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


def finite_error(error: float) -> float:
    """An expected error, if floats can hold it."""
    if not np.isfinite(error):
        raise InvalidInput("the expected error is too large for floats; give smaller weights or a larger budget")
    return error


@dataclass(frozen=True, kw_only=True)
class Algorithm:
    """Base class of every algorithm; see the module's docstring."""

    name: ClassVar[str] = ""
    """Name in the catalogue; an algorithm of the paper has the paper's."""
    revision: ClassVar[int] = 1
    """Raised when a built-in algorithm answers differently: its results are then another version."""
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
    bounds: ClassVar[Mapping[str, tuple[int, int]]] = {}
    """Least and most of whole parameters that work or memory grows with."""
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
        for method in ("run", "outcome", "_outcome", "notion"):
            if getattr(cls, method) is not getattr(Algorithm, method):
                raise InvalidInput(
                    f"{cls.__name__} overrides {method}, which opens the budget and the counts and closes the ledger; "
                    f"write estimate"
                )

    def __post_init__(self) -> None:
        if not isinstance(self.variant, str) or self.variant not in VARIANTS:
            raise UnknownName.among("variant", self.variant, VARIANTS)
        kinds = kinds_of(type(self))  # type: ignore[arg-type]  # a class is hashable
        for parameter in fields(self):
            value = getattr(self, parameter.name)
            if value is None and self.variant in parameter.metadata:
                value = parameter.metadata[self.variant]
            value = read_parameter(parameter.name, value, kinds.get(parameter.name))
            if parameter.name in self.bounds:
                value = whole(value, parameter.name, *self.bounds[parameter.name])
            object.__setattr__(self, parameter.name, value)

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

    def influence(self, workload: Workload) -> Influence:
        """What the estimate of a query takes of every answer of :meth:`measurement`, for intervals from the noise.

        Only for an algorithm whose estimate is linear in the answers of one ``data.measure`` of the whole budget, and
        unbiased: a function from vectors of queries ``(many, *domain)`` to ``(many, answers)``.
        """
        del workload
        raise Unsupported(
            f"{self.name} has no intervals: its error depends on the counts in a way that it cannot know; "
            f"use Cascade or a data-independent algorithm such as Hb"
        )

    def error_bars(self, outcome: Outcome) -> ErrorBars:
        """How far off the answers of an outcome may be; from :meth:`influence`, unless an algorithm knows better."""
        workload = Workload.insist(outcome.workload)
        return NoiseBars.of(outcome, self.influence(workload), self.measurement(workload)[0], self.name)

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
        steps = read_steps(postprocess)
        estimate = self._outcome(
            x, workload, epsilon, trials, seed, delta=delta, rho=rho, side_information=side_information, keep=False
        ).estimate
        return apply_steps(estimate, steps)

    @property
    def release(self) -> Never:
        """Gone since 0.2: what was called so is no release."""
        raise AttributeError("Algorithm.release is Algorithm.outcome since 0.2; to publish, use `dpbench release`")

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
    ) -> Outcome:
        """Run, and return the ledger and what error bars need beside the estimate.

        ``scale_share`` replaces the share of the budget that is spent on a declared scale.

        >>> import dpbench as dpb
        >>> outcome = dpb.algorithms.get("Identity").outcome([3, 0, 5, 8], dpb.workloads.Prefix(4), epsilon=1.0, seed=0)
        >>> outcome.ledger.epsilon, outcome.ledger.spent
        (Fraction(1, 1), Fraction(1, 1))
        """
        return self._outcome(
            x,
            workload,
            epsilon,
            trials,
            seed,
            delta=delta,
            rho=rho,
            side_information=side_information,
            scale_share=scale_share,
        )

    def _outcome(
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
        keep: bool = True,
    ) -> Outcome:
        """What :meth:`run` and :meth:`outcome` do, for the runner, the audit and releases.

        ``noise`` and ``channel`` exchange the source of noise and record or force what is drawn; without ``keep``
        nothing is kept for error bars.
        """
        trials = whole(trials, "trials")
        afford(
            trials * (Workload.insist(workload).domain.size * NUMBERS_PER_CELL + NUMBERS_PER_TRIAL), "so many trials"
        )
        notion = self.notion(epsilon, delta, rho)
        source = (
            ("estimated" if self.variant == "private" else "public") if side_information is None else side_information
        )
        if not isinstance(source, str) or source not in SIDE_INFORMATION:
            raise UnknownName.among("source of side information", source, SIDE_INFORMATION)
        if noise is None:
            noise = RandomNoise.seeded(seed_sequence(seed), trials)
        kept: list[Any] | None = [] if keep else None
        data = PrivateData.open(
            x,
            notion,
            noise,
            channel=channel,
            declared=self.side_information,
            published=self.variant == "published",
            kept=kept,
        )
        self._check_domain(data.domain, workload)
        if "scale" in self.side_information:
            if source == "public":
                data.publish_scale()
            else:
                data.estimate_scale(split(data.budget, self.scale_share if scale_share is None else scale_share)[0])
        estimate = plain_estimate(self.name, self.estimate(data, workload), (data.trials, *data.domain.shape))
        data.ledger.close()
        return Outcome(estimate, data.ledger, self, workload, tuple(kept or ()))

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
        self._check_domain(cells, workload)
        empty = np.zeros(cells.afford().shape, dtype=np.int64)
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
        domain = Workload.insist(workload).domain
        self._check_domain(domain.afford(NUMBERS_PER_PRICED_CELL * domain.size), workload)
        strategy, unit_error = self.measurement(workload)
        return finite_error(notion._noise_variance(strategy) * unit_error)

    def _check_domain(self, domain: Domain, workload: Workload) -> None:
        """Insist that the algorithm supports the domain and that the workload is over it."""
        if not self.supports(domain):
            wanted = " or ".join(f"{axes}-D" for axes in self.dimensions or ())
            raise Unsupported(f"{self.name} runs on {wanted} domains; {domain} has {domain.ndim} axes")
        if Workload.insist(workload).domain != domain:
            raise InvalidDomain(
                f"the counts have shape {domain} and the workload is over {workload.domain}; give both the same domain"
            )

    def supports(self, domain: DomainLike) -> bool:
        """Whether the algorithm can run on a domain."""
        return self.dimensions is None or Domain.of(domain).ndim in self.dimensions

    def _prepare(self, workload: Workload) -> None:
        """Compute and keep what depends on the workload and its domain alone; nothing for most algorithms."""

    @classmethod
    def _refuse_unknown(cls, parameters: Mapping[str, Any]) -> None:
        """Refuse a parameter that the algorithm does not have."""
        for parameter in parameters:
            if parameter not in cls.defaults():
                wanted = ", ".join(cls.defaults()) or "none"
                raise InvalidInput(f"{cls.name} has no parameter {shown(parameter)}; its parameters: {wanted}")

    @classmethod
    def defaults(cls, variant: str = "private") -> Mapping[str, Any]:
        """The parameters with their defaults in one of the two forms."""
        known(variant, "variant", VARIANTS)
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


@lru_cache(maxsize=256)
def kinds_of(kind: type[Algorithm]) -> Mapping[str, Any]:
    """What the parameters of an algorithm are annotated as; nothing where annotations cannot be evaluated."""
    try:
        return get_type_hints(kind)
    except Exception:  # names that a stranger's module imports for type checkers alone
        return {}


def read_parameter(name: str, value: object, kind: object) -> Any:
    """A parameter as a plain value of the kind that it is annotated as; how large it may be the algorithm says."""
    choices = get_args(kind)
    if kind is int:
        return whole(value, name, least=-(2**53), advice="a whole number")
    if kind is float:
        number = real(value, name)
        if number and not 1 / LARGEST_PARAMETER <= abs(number) <= LARGEST_PARAMETER:
            raise InvalidInput(f"{name} is {shown(value)}; give 0 or a number from 1e-100 to 1e100 in size")
        return value if type(value) is int else number
    if kind is bool and not isinstance(value, bool | np.bool_):
        raise InvalidInput(f"{name} is {shown(value)}; give True or False")
    if kind is bool:
        return bool(value)
    if kind is str and not isinstance(value, str):
        raise InvalidInput(f"{name} is {shown(value)}; give a text")
    if get_origin(kind) is Literal and not (isinstance(value, str) and value in choices):
        raise UnknownName.among(name, value, choices)
    if get_origin(kind) in (Union, UnionType) and value is not None and len(choices) == 2 and choices[1] is type(None):
        return read_parameter(name, value, choices[0])
    return value


def check_neighbours(neighbours: str) -> None:
    """Refuse every notion of neighbours but adding or removing one record."""
    if not isinstance(neighbours, str) or neighbours != ADD_OR_REMOVE:
        raise Unsupported(
            f"neighbours={shown(neighbours)} is not supported, only {ADD_OR_REMOVE!r}; replacing a record is one "
            f"removal and one addition, a factor 2: run with epsilon / 2 to be epsilon-private under replacement"
        )
