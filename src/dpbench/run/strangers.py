"""What a plan has to know of a stranger's algorithm, found out in a process in which nothing else happens.

To read a stranger's name is to run the stranger's code. So the process that plans, measures and writes the store asks
another one, which loads the code and answers in JSON.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from dpbench import algorithms, errors
from dpbench.algorithm import VARIANTS, Algorithm
from dpbench.domain import Domain, DomainLike
from dpbench.errors import DPBenchError, InvalidPlan, UnknownName
from dpbench.plugins import INSTALLED, find
from dpbench.run.code_hash.reach import content_hash
from dpbench.run.code_hash.sources import algorithm_source, own_files, workload_source
from dpbench.run.executors.contained import KILLED, Contained, exit_words, killed
from dpbench.run.executors.frames import BadFrame, Ended, Late
from dpbench.run.executors.guest import PATIENCE, Guest
from dpbench.run.units import build_algorithm, describe
from dpbench.strangers_text import one_line
from dpbench.task.parts import AlgorithmPart
from dpbench.workloads import Workload

SECONDS = 60.0
"""How long the code of a stranger may take to say what it is."""
STARTING = 60.0
"""Seconds that the process may take to start."""
NAME, TEXT = 60, 500
"""Characters that a name and a message may have."""
NOTIONS = ("pure", "zCDP")


@dataclass(frozen=True)
class Question:
    """What is asked of a stranger's code: whether it can be made, and what a plan has to know of it."""

    part: AlgorithmPart
    domains: tuple[str, ...] = ()
    workloads: tuple[type, ...] = ()


@dataclass(frozen=True)
class Stranger:
    """What is known of a stranger's algorithm, as plain values."""

    name: str
    variant: str
    dimensions: tuple[int, ...] | None
    notions: tuple[str, ...]
    side_information: tuple[str, ...]
    domains: frozenset[str]
    """Those of the domains asked about that it supports."""
    source: str
    """Hash of its code."""
    workload_sources: Mapping[type, str]
    """Hash of each workload's code as far as it is used."""
    files: tuple[tuple[str, str], ...]
    """Files that it depends on where it is in a file, with a hash of each."""

    def supports(self, domain: DomainLike) -> bool:
        """Whether it can run on a domain that was asked about."""
        return str(Domain.of(domain)) in self.domains


_KNOWN: dict[AlgorithmPart, tuple[Question, Stranger]] = {}
"""What was answered before; it holds for as long as no file of it changes."""


def ask(questions: Sequence[Question]) -> list[Stranger | DPBenchError]:
    """The answers, each from a process of its own; an error where one is refused."""
    new = [question for question in questions if _known(question) is None]
    answers = dict[AlgorithmPart, Stranger | DPBenchError]()
    for question, facts in zip(new, _told(new) if new else (), strict=True):
        try:
            answers[question.part] = known = _read(question, facts)
            _KNOWN[question.part] = question, known
        except DPBenchError as error:
            answers[question.part] = error
    return [answers.get(question.part) or _KNOWN[question.part][1] for question in questions]


def _known(question: Question) -> Stranger | None:
    """The answer to a question, or to a wider one, where nothing has changed since it was given."""
    before, answer = _KNOWN.get(question.part, (None, None))
    if before is None or answer is None:
        return None
    wider = {*question.domains} <= {*before.domains} and {*question.workloads} <= {*before.workloads}
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


# --- in a clean process that was started for it ---------------------------------------------------


def _told(questions: list[Question]) -> list[dict[str, Any]]:
    """The facts of each, read from the process that asks for them; once more where that was killed."""
    for _ in range(KILLED):
        running, ended = Contained.start(_interview, questions, without_main=True), False
        try:
            if running.connection.poll(STARTING + SECONDS * len(questions)):
                return running.connection.recv()  # type: ignore[no-any-return]  # from a clean process
        except (EOFError, OSError):
            ended = True
        finally:
            code = running.end(PATIENCE if ended else 0.0)
        if not (ended and killed(code)):
            break
    named = ", ".join(question.part.name for question in questions)
    raise InvalidPlan(f"{named} cannot be loaded: its process ended ({exit_words(code)}); correct its code")


def _interview(connection: Connection, questions: list[Question]) -> None:
    """Ask each in a guest of its own, which finds our code read already: it is part of every hash."""
    workload_source(Workload, Algorithm)
    connection.send([_heard(question) for question in questions])
    connection.close()


def _heard(question: Question) -> dict[str, Any]:
    guest, patience = Guest(_serve), 0.0
    try:
        return guest.ask(question, time.monotonic() + SECONDS).facts
    except Late:
        words = f"it is not loaded within {SECONDS:g} s"
    except BadFrame as error:
        words = str(error)
    except Ended:
        words, patience = "its process ended", PATIENCE
    finally:
        code = guest.end(patience)
    return {"ended": words + (f" ({exit_words(code)})" if patience else "")}


# --- in the stranger's process --------------------------------------------------------------------


def _serve(take: Callable[[], Any], answer: Callable[..., None]) -> None:
    question = take()
    try:
        answer(_facts(question))
    except BaseException as error:
        answer({"refused": [type(error).__name__, str(error), describe(error)]})


def _facts(question: Question) -> dict[str, Any]:
    kind = find(question.part.name)
    algorithm = build_algorithm(question.part.name, question.part)
    return {
        "name": kind.name,
        "dimensions": None if algorithm.dimensions is None else list(algorithm.dimensions),
        "notions": list(algorithm.notions),
        "side_information": list(algorithm.side_information),
        "domains": [each for each in question.domains if algorithm.supports(each)],
        "source": algorithm_source(kind, algorithm.files),
        "workload_sources": [workload_source(each, kind) for each in question.workloads],  # type: ignore[arg-type]
        "files": [list(each) for each in own_files(kind, algorithm.files)],
    }


# --- where the plan is made -----------------------------------------------------------------------


def _read(question: Question, facts: dict[str, Any]) -> Stranger:
    """Plain values of the kinds that are wanted, or a refusal in one line."""
    written = question.part.name.removeprefix(INSTALLED)
    if "ended" in facts:
        raise InvalidPlan(f"{written} cannot be loaded: {facts['ended']}; correct its code")
    if "refused" in facts:
        raise _refusal(written, facts["refused"])
    if question.part.variant not in VARIANTS:
        raise UnknownName.among("variant", question.part.variant, VARIANTS)
    name = facts.get("name")
    if not isinstance(name, str) or not name.strip() or one_line(name, NAME) != name:
        shown = one_line(name, NAME) if isinstance(name, str) else type(name).__name__
        raise InvalidPlan(
            f"{written} has the name {shown!r}, or more of it; give the class a name of at most {NAME} printable "
            f"characters, as in name = 'Mine'"
        )
    if algorithms.ours_by_name(name) is not None:
        raise InvalidPlan(f"{written} is named {name}, as one in the catalogue is; give the class another")
    dimensions = facts.get("dimensions")
    sources = _texts(written, facts, "workload_sources", len(question.workloads))
    return Stranger(
        name=name,
        variant=question.part.variant,
        dimensions=None if dimensions is None else tuple(_numbers(written, dimensions)),
        notions=tuple(each for each in _texts(written, facts, "notions") if each in NOTIONS),
        side_information=tuple(each for each in _texts(written, facts, "side_information") if each == "scale"),
        domains=frozenset(_texts(written, facts, "domains")) & frozenset(question.domains),
        source=_hash(written, facts.get("source")),
        workload_sources={kind: _hash(written, each) for kind, each in zip(question.workloads, sources, strict=True)},
        files=tuple(_file(written, each) for each in facts.get("files", ())),
    )


def _refusal(written: str, told: object) -> DPBenchError:
    """What went wrong in a stranger's code, as we would have said it here."""
    match told:
        case [str() as kind, str() as text, str() as described]:
            ours = getattr(errors, kind, None)
            if isinstance(ours, type) and issubclass(ours, DPBenchError):
                return ours(one_line(text, TEXT))
            words = one_line(described, TEXT)
            return InvalidPlan(f"{written} cannot be made: {words}; correct its parameters or its code")
    return _nonsense(written)


def _nonsense(written: str) -> InvalidPlan:
    return InvalidPlan(f"{written} says something else of itself than an algorithm does; correct its facts")


def _texts(written: str, facts: Mapping[str, Any], key: str, number: int | None = None) -> list[str]:
    found = facts.get(key)
    if not isinstance(found, list) or not all(isinstance(each, str) for each in found):
        raise _nonsense(written)
    if number is not None and len(found) != number:
        raise _nonsense(written)
    return found


def _numbers(written: str, found: object) -> Iterable[int]:
    if not isinstance(found, list) or not all(type(each) is int for each in found):
        raise _nonsense(written)
    return found


def _hash(written: str, found: object) -> str:
    if not isinstance(found, str) or not 8 <= len(found) <= 64 or set(found) - set("0123456789abcdef"):
        raise _nonsense(written)
    return found


def _file(written: str, found: object) -> tuple[str, str]:
    match found:
        case [str() as path, str() as known]:
            return path, known
    raise _nonsense(written)
