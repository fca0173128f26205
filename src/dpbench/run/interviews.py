"""What our functions find out about a stranger's code, in processes of its own.

To look at a stranger's class is to run the stranger's code. So a clean process is started, it forks a guest that calls
one of our functions there, and JSON and numbers of a known length come back.
"""

from __future__ import annotations

import json
import pickle
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection
from typing import Any

from dpbench import errors
from dpbench.errors import DPBenchError, InvalidPlan
from dpbench.plugins import INSTALLED
from dpbench.run.executors.contained import KILLED, Contained, exit_words, killed
from dpbench.run.executors.frames import BadFrame, Ended, Frame, Late
from dpbench.run.executors.guest import PATIENCE, Guest
from dpbench.run.executors.system import MEMORY, memory_share
from dpbench.run.units import describe
from dpbench.strangers_text import one_line

SECONDS = 60.0
"""How long the code of a stranger may take to say what it is."""
STARTING = 60.0
"""Seconds that the process may take to start."""
TEXT = 500
"""Characters that a message may have."""


@dataclass(frozen=True)
class Call:
    """A function of ours that is called in a stranger's process; it returns what JSON has, and bytes of numbers."""

    function: Callable[..., tuple[dict[str, Any], bytes]]
    arguments: tuple[Any, ...]
    numbers: int = 0
    """Bytes of numbers that may come back; none may too."""


Answers = list[Frame] | str
"""What came back from one stranger's process; in words, how it ended before it had answered everything."""


def interview(strangers: Sequence[tuple[str, Sequence[Call]]], seconds: float = SECONDS) -> list[Answers]:
    """The answers of each, by its reference, to its calls in turn; everybody has a process and seconds of its own."""
    memory = MEMORY.get() or memory_share(1)
    for _ in range(KILLED):  # once more where ours was killed
        running = Contained.start(_interview, list(strangers), seconds, memory=memory, without_main=True)
        ended = False
        try:
            if running.connection.poll(STARTING + seconds * len(strangers)):
                return pickle.loads(running.receive())  # type: ignore[no-any-return]  # noqa: S301  (it loads no plug-in)
        except (EOFError, OSError):
            ended = True
        finally:
            code = running.end(PATIENCE if ended else 0.0)
        if not (ended and killed(code)):
            break
    named = ", ".join(reference for reference, _ in strangers)
    more = ", or give more --memory" if MEMORY.get() else ""
    raise InvalidPlan(f"{named} cannot be loaded: its process ended ({exit_words(code)}); correct its code{more}")


def answers_of(reference: str, calls: Sequence[Call], seconds: float = SECONDS) -> list[Frame]:
    """The answers of one stranger; its refusal is raised, in one line."""
    (heard,) = interview([(reference, calls)], seconds)
    return understood(reference, heard)


def understood(reference: str, heard: Answers) -> list[Frame]:
    """Answers, or what went wrong in a stranger's code, raised as we would have said it here."""
    written = reference.removeprefix(INSTALLED)
    if isinstance(heard, str):
        raise InvalidPlan(f"{written} cannot be loaded: {heard}; correct its code")
    for frame in heard:
        if "refused" in frame.facts:
            raise _refusal(written, frame.facts["refused"])
    return heard


def nonsense(reference: str) -> InvalidPlan:
    """That what came back is not what was asked for."""
    written = reference.removeprefix(INSTALLED)
    return InvalidPlan(f"{written} says something else of itself than an algorithm does; correct its facts")


def _refusal(written: str, said: object) -> DPBenchError:
    match said:
        case [str() as kind, str() as text, str() as described]:
            ours = getattr(errors, kind, None)
            if isinstance(ours, type) and issubclass(ours, DPBenchError):
                return ours(one_line(text, TEXT))
            words = one_line(described, TEXT)
            return InvalidPlan(f"{written} cannot be made: {words}; correct its parameters or its code")
    return nonsense(written)


# --- in a clean process that was started for it ---------------------------------------------------


def _interview(connection: Connection, strangers: list[tuple[str, Sequence[Call]]], seconds: float) -> None:
    """Ask each in a guest of its own."""
    connection.send([_heard(calls, seconds) for _, calls in strangers])
    connection.close()


def _heard(calls: Sequence[Call], seconds: float) -> Answers:
    guest, patience, deadline = Guest(_serve), 0.0, time.monotonic() + seconds
    try:
        return [guest.ask((call.function, call.arguments), deadline, call.numbers) for call in calls]
    except Late:
        words = f"it is not done within {seconds:g} s"
    except BadFrame as error:
        words = str(error)
    except Ended:
        words, patience = "its process ended", PATIENCE
    finally:
        code = guest.end(patience)
    return words + (f" ({exit_words(code)})" if patience else "")


# --- in the stranger's process --------------------------------------------------------------------


def _serve(take: Callable[[], Any], answer: Callable[..., None]) -> None:
    while True:
        function, arguments = take()
        try:
            facts, numbers = function(*arguments)
            json.dumps(facts)  # what is no JSON is refused like anything else
        except BaseException as error:
            facts, numbers = {"refused": [type(error).__name__, str(error), describe(error)]}, b""
        answer(facts, numbers)
