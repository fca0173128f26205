"""What a plan has to know of a stranger's algorithm, found out in a process in which nothing else happens."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from dpbench import algorithms
from dpbench.algorithm import VARIANTS
from dpbench.domain import Domain, DomainLike
from dpbench.errors import DPBenchError, InvalidPlan, UnknownName
from dpbench.plugins import INSTALLED, find, is_file_reference, is_stranger
from dpbench.run.executors.system import insist_on_forks
from dpbench.run.identity import algorithm_version, content_hash, is_built_in, plugin_files
from dpbench.run.interviews import Call, interview, nonsense, understood
from dpbench.run.units import build_algorithm
from dpbench.strangers_text import one_line
from dpbench.task.parts import AlgorithmPart

NAME = 60
"""Characters that a name may have."""
NOTIONS = ("pure", "zCDP")


@dataclass(frozen=True)
class Question:
    """What is asked of a stranger's code: whether it can be made, and what a plan has to know of it."""

    part: AlgorithmPart
    domains: tuple[str, ...] = ()


@dataclass(frozen=True)
class AlgorithmFacts:
    """What is known of an algorithm, a stranger's above all, as plain values."""

    name: str
    variant: str
    dimensions: tuple[int, ...] | None
    notions: tuple[str, ...]
    side_information: tuple[str, ...]
    domains: frozenset[str]
    """Those of the domains asked about that it supports."""
    source: str
    """Version of its code."""
    files: tuple[tuple[str, str], ...]
    """Files that it depends on where it is in a file, with a hash of each."""
    free: Mapping[str, tuple[Any, ...]]
    """Parameters to be trained, each with the values to try."""
    exchangeable: bool
    monotone: bool

    def supports(self, domain: DomainLike) -> bool:
        """Whether it can run on a domain that was asked about."""
        return str(Domain.of(domain)) in self.domains


_KNOWN: dict[AlgorithmPart, tuple[Question, AlgorithmFacts]] = {}
"""What was answered before; it holds for as long as no file of it changes."""


def ask(questions: Sequence[Question]) -> list[AlgorithmFacts | DPBenchError]:
    """The answers, each from a process of its own; an error where one is refused."""
    new = [question for question in questions if _known(question) is None]
    if new:
        insist_on_forks("an algorithm of your own")
    answers = dict[AlgorithmPart, AlgorithmFacts | DPBenchError]()
    heard = interview([(each.part.name, [Call(_facts, (each,))]) for each in new]) if new else []
    for question, each in zip(new, heard, strict=True):
        try:
            answers[question.part] = known = _read(question, understood(question.part.name, each)[0].facts)
            _KNOWN[question.part] = question, known
        except DPBenchError as error:
            answers[question.part] = error
    return [answers.get(question.part) or _KNOWN[question.part][1] for question in questions]


def facts_of(reference: str, domains: Iterable[DomainLike] = ()) -> AlgorithmFacts:
    """What is known of an algorithm with its usual parameters; nobody else's code is loaded in this process."""
    question = Question(AlgorithmPart(reference_of(reference)), tuple(str(Domain.of(each)) for each in domains))
    if not is_stranger(reference):
        return _read(question, _facts(question)[0])
    (found,) = ask([question])
    if isinstance(found, DPBenchError):
        raise found
    return found


def _known(question: Question) -> AlgorithmFacts | None:
    """The answer to a question, or to a wider one, where nothing has changed since it was given."""
    before, answer = _KNOWN.get(question.part, (None, None))
    if before is None or answer is None:
        return None
    wider = {*question.domains} <= {*before.domains}
    same = all(Path(path).is_file() and content_hash(path) == known for path, known in answer.files)
    return answer if wider and same else None


@lru_cache(maxsize=1)
def installed() -> Mapping[str, str]:
    """Algorithms of installed plug-ins that need nothing but an epsilon, by name, each with its reference."""
    points = [f"{INSTALLED}{point.value}" for point in algorithms.installed()]
    found = dict[str, str]()
    for reference, each in zip(points, ask([Question(AlgorithmPart(point)) for point in points]), strict=True):
        if isinstance(each, DPBenchError):
            raise each
        if "pure" in each.notions:
            found[each.name] = reference
    return found


def known_as(name: str) -> str:
    """The catalogue's spelling of a name, ours or an installed plug-in's."""
    kind = algorithms.ours_by_name(name)
    if kind is not None:
        return kind.name
    folded = {each.casefold(): each for each in installed()}
    if name.casefold() not in folded:
        raise UnknownName.among("algorithm", name, [*algorithms.ours(), *installed()])
    return folded[name.casefold()]


def reference_of(written: str) -> str:
    """Where an algorithm is found, wherever that is asked from."""
    if is_file_reference(written):
        path, _, class_name = written.rpartition(":")
        return f"{Path(path).resolve()}:{class_name}" if path and class_name else written
    if algorithms.ours_by_name(written) is None and not written.startswith(INSTALLED):
        return installed()[known_as(written)]
    return written


# --- in the stranger's process --------------------------------------------------------------------


def _facts(question: Question) -> tuple[dict[str, Any], bytes]:
    kind = find(question.part.name)
    algorithm = build_algorithm(question.part.name, question.part)
    facts = {
        "name": kind.name,
        "dimensions": None if algorithm.dimensions is None else list(algorithm.dimensions),
        "notions": list(algorithm.notions),
        "side_information": list(algorithm.side_information),
        "domains": [each for each in question.domains if algorithm.supports(Domain.of(each))],
        "source": algorithm_version(kind, algorithm.files),
        "files": [] if is_built_in(kind) else [list(each) for each in plugin_files(kind, algorithm.files)],
        "free": {name: list(values) for name, values in kind.free.items()},
        "exchangeable": bool(algorithm.exchangeable),
        "monotone": bool(kind.monotone),
    }
    return facts, b""


# --- where the plan is made -----------------------------------------------------------------------


def _read(question: Question, facts: dict[str, Any]) -> AlgorithmFacts:
    """Plain values of the kinds that are wanted, or a refusal in one line."""
    written = question.part.name.removeprefix(INSTALLED)
    if question.part.variant not in VARIANTS:
        raise UnknownName.among("variant", question.part.variant, VARIANTS)
    name = facts.get("name")
    if not isinstance(name, str) or not name.strip() or one_line(name, NAME) != name:
        shown = one_line(name, NAME) if isinstance(name, str) else type(name).__name__
        raise InvalidPlan(
            f"{written} has the name {shown!r}, or more of it; give the class a name of at most {NAME} printable "
            f"characters, as in name = 'Mine'"
        )
    if is_stranger(question.part.name) and algorithms.ours_by_name(name) is not None:
        raise InvalidPlan(f"{written} is named {name}, as one in the catalogue is; give the class another")
    dimensions = facts.get("dimensions")
    return AlgorithmFacts(
        name=name,
        variant=question.part.variant,
        dimensions=None if dimensions is None else tuple(_numbers(written, dimensions)),
        notions=tuple(each for each in _texts(written, facts, "notions") if each in NOTIONS),
        side_information=tuple(each for each in _texts(written, facts, "side_information") if each == "scale"),
        domains=frozenset(_texts(written, facts, "domains")) & frozenset(question.domains),
        source=_version(written, facts.get("source")),
        files=tuple(_file(written, each) for each in facts.get("files", ())),
        free=_values(written, facts.get("free")),
        exchangeable=facts.get("exchangeable") is True,
        monotone=facts.get("monotone") is True,
    )


def _texts(written: str, facts: Mapping[str, Any], key: str) -> list[str]:
    found = facts.get(key)
    if not isinstance(found, list) or not all(isinstance(each, str) for each in found):
        raise nonsense(written)
    return found


def _numbers(written: str, found: object) -> Iterable[int]:
    if not isinstance(found, list) or not all(type(each) is int for each in found):
        raise nonsense(written)
    return found


def _values(written: str, found: object) -> dict[str, tuple[Any, ...]]:
    """Values to try of each parameter, as somebody could have written them on the command line."""
    if not isinstance(found, dict):
        raise nonsense(written)
    for values in found.values():
        if not isinstance(values, list) or not all(isinstance(each, bool | int | float | str) for each in values):
            raise nonsense(written)
    return {name: tuple(values) for name, values in found.items()}


def _version(written: str, found: object) -> str:
    """A version: a hash for a plug-in; a built-in algorithm's has its name in it."""
    if not isinstance(found, str) or (is_stranger(written) and not re.fullmatch("[0-9a-f]{16}", found)):
        raise nonsense(written)
    return found


def _file(written: str, found: object) -> tuple[str, str]:
    match found:
        case [str() as path, str() as known]:
            return path, known
    raise nonsense(written)
