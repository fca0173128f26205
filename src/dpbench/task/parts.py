"""The parts of a task, each a small frozen value that checks itself."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from dpbench import loss, workloads
from dpbench.domain import Domain, DomainLike
from dpbench.errors import DPBenchError, InvalidTask, UnknownName, shown
from dpbench.loss import Loss
from dpbench.significance import TESTS
from dpbench.standards import FORMER_TESTS, Standards

LARGEST = 1e300
"""Numbers of a task are below it."""
SIDE_INFORMATION = ("estimated", "public")
VARIANTS = ("private", "published")


class InvalidPart(InvalidTask):
    """An invalid task that knows which key is to blame, so that a file's reader can name the line."""

    def __init__(self, message: str, *path: str | int) -> None:
        super().__init__(message)
        self.path = path


@dataclass(frozen=True)
class WorkloadPart:
    """A workload as data: its name and parameters, without a domain yet."""

    name: str
    """The name of the workload."""

    parameters: tuple[tuple[str, int | float | str | bool], ...] = ()
    """The parameters by name, sorted."""

    @classmethod
    def of(cls, given: WorkloadPart | str | Mapping[str, Any]) -> WorkloadPart:
        """Read ``"Prefix"`` or ``{"name": "RandomRange", "queries": 500}``."""
        if isinstance(given, WorkloadPart):
            return given
        name, rest = _named("workload", given, "Prefix")
        return cls(name, _parameters("workload", name, rest))

    @classmethod
    def from_label(cls, label: str) -> WorkloadPart:
        """Read what results call a workload, ``"RandomRange(queries=500)"``; the folder of a file is lost."""
        name, bracket, settings = label.partition("(")
        pairs = [word.partition("=") for word in settings.removesuffix(")").split(", ")] if bracket else []
        if not name or label.endswith(")") != bool(bracket) or not all(key and equals for key, equals, _ in pairs):
            raise InvalidTask(
                f"the workload {shown(label)} cannot be read; write a name, or RandomRange(queries=500, seed=3)"
            )
        return cls.of({"name": name} | {key: number_or_text(value) for key, _, value in pairs})

    @property
    def label(self) -> str:
        """The name with the parameters; a file by its name, wherever it lies."""
        pairs = {key: Path(str(value)).name if key == "file" else value for key, value in self.parameters}
        settings = ", ".join(f"{key}={value}" for key, value in pairs.items())
        return f"{self.name}({settings})" if settings else self.name

    def build(self, domain: DomainLike) -> workloads.Workload:
        """Make the workload on a domain."""
        return workloads.build(self.name, domain, **dict(self.parameters))

    def to_dict(self) -> dict[str, Any]:
        """Return the name and the parameters as one flat mapping."""
        return {"name": self.name, **dict(self.parameters)}


@dataclass(frozen=True)
class AlgorithmPart:
    """An algorithm as data: its name, which form of it, and its parameters."""

    name: str
    """The name in the catalogue, or ``FILE.py:Class``."""

    variant: str = "private"
    """"private", or "published": as the authors' code behaves."""

    side_information: str | None = None
    """Where a declared scale comes from; None: as the task and the variant say."""

    parameters: tuple[tuple[str, int | float | str | bool], ...] = ()
    """Parameters that differ from the defaults, by name, sorted."""

    def __post_init__(self) -> None:
        """Refuse what is no name, however the part was made."""
        text("the name of an algorithm", self.name)

    @classmethod
    def of(cls, given: AlgorithmPart | str | Mapping[str, Any]) -> AlgorithmPart:
        """Read ``"Hb"`` or ``{"name": "Hb", "variant": "published", "root": False}``."""
        if isinstance(given, AlgorithmPart):
            return given
        name, rest = _named("algorithm", given, "Hb")
        variant = choice("variant", rest.pop("variant", "private"), VARIANTS)
        source = rest.pop("side_information", None)
        if source is not None:
            source = choice("side_information", source, SIDE_INFORMATION)
        return cls(name, variant, source, _parameters("algorithm", name, rest))

    @property
    def label(self) -> str:
        """The name with whatever differs from the plain private form, for tables."""
        settings = ", ".join(f"{key}={value}" for key, value in self.parameters)
        marks = [self.variant] if self.variant != "private" else []
        marks += [f"{self.side_information} scale"] if self.side_information else []
        return self.name + (f"({settings})" if settings else "") + (f" [{', '.join(marks)}]" if marks else "")

    def to_plain(self) -> str | dict[str, Any]:
        """Return the name alone where that says it all, else a flat mapping."""
        plain: dict[str, Any] = {"name": self.name}
        if self.variant != "private":
            plain["variant"] = self.variant
        if self.side_information is not None:
            plain["side_information"] = self.side_information
        plain.update(self.parameters)
        return self.name if len(plain) == 1 else plain


@dataclass(frozen=True, kw_only=True)
class Generator:
    """G: which data vectors are drawn from each dataset's shape."""

    domains: tuple[Domain, ...]
    """G: the domains that every shape is coarsened to."""

    scales: tuple[int, ...] = (10**3, 10**4, 10**5, 10**6, 10**7, 10**8)
    """G: how many records are drawn."""

    epsilons: tuple[float, ...] = (0.1,)
    """G: the privacy budgets; scale and epsilon are exchangeable, so one is enough to vary the signal."""

    deltas: tuple[float, ...] = ()
    """G: the deltas that go with every epsilon; none, and 0, are pure differential privacy."""

    rhos: tuple[float, ...] = ()
    """G: budgets in zCDP, beside those by epsilon."""

    samples: int = 5
    """G: how many data vectors are drawn per shape, scale and domain."""

    seed: int = 0
    """G: the seed of the study; data and noise of every setting follow from it."""

    def __post_init__(self) -> None:
        _settle(self, "domains", lambda value: _several("domains", value, _domain))
        _settle(self, "scales", lambda value: _several("scales", value, whole))
        _settle(self, "epsilons", lambda value: _several("epsilons", value, _positive, least=0))
        _settle(self, "deltas", lambda value: _several("deltas", value, _delta, least=0))
        _settle(self, "rhos", lambda value: _several("rhos", value, _positive, least=0))
        if not self.epsilons and not self.rhos:
            raise InvalidPart("epsilons is an empty list and there are no rhos; give at least one budget", "epsilons")
        _settle(self, "samples", lambda value: whole("samples", value))
        _settle(self, "seed", lambda value: whole("seed", value, least=0))

    @property
    def budgets(self) -> tuple[tuple[float, float, float], ...]:
        """Every budget as (epsilon, delta, rho), where 0 stands for what does not apply."""
        by_epsilon = ((epsilon, delta, 0.0) for epsilon in self.epsilons for delta in self.deltas or (0.0,))
        return (*by_epsilon, *((0.0, 0.0, rho) for rho in self.rhos))


@dataclass(frozen=True, kw_only=True)
class Repair:
    """R: how algorithms that assume knowledge or tuning are made comparable and private."""

    side_information: str = "estimated"
    """R_side: "estimated" spends part of epsilon on the scale, "public" takes it for free, as the paper did."""

    rho_total: float = 0.05
    """R_side: the share of epsilon that is spent on an estimate of the scale."""

    def __post_init__(self) -> None:
        _settle(self, "side_information", lambda v: choice("side_information", v, SIDE_INFORMATION))
        _settle(self, "rho_total", lambda value: _share("rho_total", value, 1))


@dataclass(frozen=True, kw_only=True)
class Measuring:
    """E_M: what is measured, and how often."""

    trials: int = 10
    """E_M: how many runs there are on each data vector."""

    percentile: float = Standards.percentile
    """E_M: the percentile of the error that a risk-averse user looks at, beside the mean."""

    def __post_init__(self) -> None:
        _settle(self, "trials", lambda value: whole("trials", value))
        _settle(self, "percentile", lambda value: _share("percentile", value, 100))


@dataclass(frozen=True, kw_only=True)
class Interpreting:
    """E_I: how measurements become statements."""

    baselines: tuple[str, ...] = Standards.baselines
    """E_I: the algorithms that every other one should beat."""

    alpha: float = Standards.alpha
    """E_I: the level at which two errors count as different."""

    test: str = Standards.test
    """E_I: the test that decides which algorithms are competitive."""

    def __post_init__(self) -> None:
        _settle(self, "baselines", lambda value: names("baselines", value))
        _settle(self, "alpha", lambda value: _share("alpha", value, 1))
        known = FORMER_TESTS.get(self.test, self.test) if isinstance(self.test, str) else self.test
        _settle(self, "test", lambda _: choice("test", known, tuple(TESTS)))


def names(key: str, given: object) -> tuple[str, ...]:
    """Read a list of different names; it may be empty."""
    return _several(key, given, text, least=0)


def _named(kind: str, given: object, example: str) -> tuple[str, dict[Any, Any]]:
    """Read the name of a part, alone or with other settings; a task is data, and holds no objects."""
    if not isinstance(given, str | Mapping):
        raise InvalidTask(
            f"a task holds the names of its {kind}s and no objects, and {shown(given)} is no name; "
            f"write for example {example!r} or {{name = {example!r}}}"
        )
    rest = {"name": given} if isinstance(given, str) else dict(given)
    if "name" not in rest:
        raise InvalidTask(f"the {kind} {shown(given)} has no name; write for example {{name = {example!r}}}")
    name = rest.pop("name")
    if not isinstance(name, str) or not name.strip():
        raise InvalidTask(f"the {kind}'s name is {shown(name)}; write for example {example!r}")
    return name, rest


def _parameters(kind: str, name: str, given: Mapping[Any, Any]) -> tuple[tuple[str, int | float | str | bool], ...]:
    """Read the parameters of a part, sorted by name."""
    for key, value in given.items():
        if not isinstance(key, str):
            raise InvalidTask(f"a parameter of {kind} {name} is called {shown(key)}; write its name in quotes")
        if not isinstance(value, int | float | str | bool):
            raise InvalidTask(f"the parameter {key} of {kind} {name} is {shown(value)}; give a number or a text")
    return tuple(sorted(given.items()))


def listed(key: str, given: object) -> list[Any] | tuple[Any, ...]:
    """Read a list, or one value, which stands for a list of it."""
    if isinstance(given, list | tuple):
        return given
    if given is None or (isinstance(given, Iterable) and not isinstance(given, str | Mapping | Domain | type)):
        raise InvalidPart(f"{key} is {shown(given)}; give a list", key)
    return (given,)


def algorithm_parts(given: object) -> tuple[AlgorithmPart, ...]:
    """Read a list of different algorithms; it may be empty."""
    parts = []
    for index, each in enumerate(listed("algorithms", given)):
        try:
            part = AlgorithmPart.of(each)
        except InvalidTask as error:
            raise InvalidPart(str(error), "algorithms", index) from None
        if part in parts:
            raise InvalidPart(f"algorithm {part.label} is given twice; remove one", "algorithms", index)
        parts.append(part)
    return tuple(parts)


def loss_part(given: Any) -> Loss:
    """Read a loss: a name, a name with parameters, or a mapping of both."""
    if not isinstance(given, str | Loss | Mapping):
        raise InvalidPart(
            f"loss is {shown(given)}; write its name, for example 'L2', or give an object of the loss", "loss"
        )
    if isinstance(given, Mapping) and "name" not in given:
        raise InvalidPart(f"the loss {shown(given)} has no name; write for example {{name = 'L2'}}", "loss")
    try:
        return loss.get(given)
    except DPBenchError as error:
        raise InvalidPart(str(error), "loss") from None


def number_or_text(written: str) -> int | float | str:
    """A parameter that was written down: a number where it is one."""
    for kind in (int, float):
        try:
            return kind(written)
        except ValueError:
            continue
    return written


def text(key: str, given: object) -> str:
    """Read a text that is not empty."""
    if isinstance(given, str) and given.strip():
        return given
    raise InvalidPart(f"{key} is {shown(given)}; write a name in quotes", key)


def choice(key: str, given: object, known: tuple[str, ...]) -> str:
    """Read one of a few words."""
    if isinstance(given, str) and given in known:
        return given
    raise InvalidPart(str(UnknownName.among(key.replace("_", " "), given, known)), key)


def whole(key: str, given: object, least: int = 1) -> int:
    """Read a positive whole number (or one that is not negative); 1e5 is one."""
    number = _number(given)
    if number is None or not least <= number <= 2**53 or number != int(number):
        kind = "a positive whole number" if least else "a whole number that is not negative"
        raise InvalidPart(f"{key} is {shown(given)}; give {kind}", key)
    return int(number)


def _several(key: str, given: object, read: Callable[[str, object], Any], least: int = 1) -> tuple[Any, ...]:
    """Read a list of different values; one value stands for a list of one."""
    single = isinstance(given, str | int | float | np.integer | Fraction | Domain)
    if not single and not isinstance(given, list | tuple):
        raise InvalidPart(f"{key} is {shown(given)}; give a list", key)
    values = tuple(read(key, value) for value in ((given,) if single else given))  # type: ignore[attr-defined]
    if len(values) < least:
        raise InvalidPart(f"{key} is an empty list; give at least one value", key)
    for position, value in enumerate(values):
        if value in values[:position]:
            raise InvalidPart(f"{key} holds {value} twice; remove one", key)
    return values


def _domain(key: str, given: object) -> Domain:
    try:
        return Domain.of(given)  # type: ignore[arg-type]
    except DPBenchError as error:
        raise InvalidPart(str(error), key) from None


def _positive(key: str, given: object) -> float:
    number = _number(given)
    if number is None or not number > 0:
        raise InvalidPart(f"{key} is {shown(given)}; give a positive finite number", key)
    return float(number)


def _delta(key: str, given: object) -> float:
    number = _number(given)
    if number is None or not 0 <= number <= 0.5:
        raise InvalidPart(f"{key} is {shown(given)}; give a number from 0 (pure) to 0.5", key)
    return float(number)


def _share(key: str, given: object, whole_is: float) -> float:
    number = _number(given)
    if number is None or not 0 < number < whole_is:
        raise InvalidPart(f"{key} is {shown(given)}; give a number between 0 and {whole_is}", key)
    return float(number)


def _number(given: object) -> int | float | None:
    """Return a finite number as it is, and None for anything else."""
    if isinstance(given, np.integer):
        return _number(int(given))
    if isinstance(given, Fraction):
        return _number(float(given)) if abs(given) < LARGEST else None
    if isinstance(given, bool) or not isinstance(given, int | float) or not abs(given) < LARGEST:
        return None
    return given


def _settle(part: object, key: str, read: Callable[[Any], object]) -> None:
    """Replace a field of a frozen part by its checked form, while the part is being made."""
    object.__setattr__(part, key, read(getattr(part, key)))
