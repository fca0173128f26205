"""Audits of several algorithms, each in a process of its own: it may print, crash or hang and harms nobody else."""

from __future__ import annotations

import json
import os
import sys
import time
from collections import deque
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from multiprocessing.connection import Connection, wait
from pathlib import Path
from tempfile import TemporaryFile
from types import FunctionType
from typing import Any

import numpy as np

from dpbench import errors
from dpbench.algorithm import Algorithm, SideInformation, Variant
from dpbench.audit.layers import audit
from dpbench.audit.plain_functions import audit_function
from dpbench.audit.report import LAYERS, AuditReport, Layer
from dpbench.audit.side_effects import farewells_noted
from dpbench.audit.subject import CASES, in_words
from dpbench.audit.tampering import code_of_the_package, replaced_since
from dpbench.errors import DPBenchError, InvalidInput
from dpbench.plugins import find, is_file_reference, is_stranger, load_class_or_function
from dpbench.run.executors.contained import PATIENCE, Contained, exit_words, killed, print_to
from dpbench.run.executors.system import memory_share
from dpbench.strangers_text import one_line

STARTING = 120.0
"""Seconds on the clock that a process may take to start before its own time begins."""
BACKSTOP = 5.0
"""Times its seconds of CPU time that an examination may take on the clock: one that waits for ever ends too."""
LOOK_EVERY = 0.5
"""Seconds between looks at the CPU time that examinations have taken."""
MOST = 16 * 2**20
"""Bytes that a report may have."""
REFUSAL = 500
"""Characters of what a stranger's code is refused for that are kept."""


@dataclass(frozen=True)
class Examination:
    """What is to be examined, and how."""

    reference: str
    """A name in the catalogue, FILE.py:Class or FILE.py:function."""
    variant: Variant = "private"
    side_information: SideInformation | None = None
    seed: int = 0
    ignore_marks: bool = False
    runs: int | None = None
    """Runs a side for the black box; none given: a quick look, at a stranger's alone."""
    cases: int = CASES
    """Cases of the randomised replay."""
    domain: str | None = None
    """The only domain to replay on, where given."""
    as_class: bool = False
    """Whether a plain function is audited as the algorithm that runs and pages make of it."""

    def run(self) -> AuditReport:
        """Load it and audit it, here and now."""
        before = code_of_the_package()
        with farewells_noted():
            subject = self._load()
        words = replaced_since(before)
        if words:
            return self.failed(
                f"{self.reference} changes {words}, when it is loaded: what is promised of the package is then no "
                f"longer true, and nothing can be examined"
            )
        if isinstance(subject, FunctionType):
            return audit_function(subject, runs=self.runs, seed=self.seed)
        algorithm: Algorithm | type[Algorithm] = subject
        if self.variant != "private":
            try:
                algorithm = subject(variant=self.variant)
            except Exception as error:
                raise InvalidInput(f"{self.reference} cannot be built: {in_words(error)}") from error
        return audit(
            algorithm,
            side_information=self.side_information,
            seed=self.seed,
            ignore_marks=self.ignore_marks,
            black_box=self.runs,
            cases=self.cases,
            domain=self.domain,
        )

    def _load(self) -> Any:
        by_itself = is_file_reference(self.reference) and not self.as_class
        return load_class_or_function(self.reference) if by_itself else find(self.reference)

    def failed(self, cause: str) -> AuditReport:
        """Report a fault that ended the examination."""
        return self._ended(Layer("conformance", "fail", cause))

    def unfinished(self, cause: str) -> AuditReport:
        """Report an examination that was ended before it had found anything."""
        return self._ended(Layer("conformance", "not run", cause, missing=True))

    def _ended(self, first: Layer) -> AuditReport:
        others = [Layer(name, "not run", "the examination did not come to an end") for name in LAYERS[1:]]
        return AuditReport(self.reference, self.variant, self.side_information, (first, *others))


@dataclass
class _Running(Contained):
    examination: Examination
    timeout: float
    """Seconds of CPU time."""
    deadline: float
    """On the clock: until it has started, and then the backstop."""
    begun: float | None = None
    """CPU time that starting it took; None: it has not started yet."""

    def late(self, taken: float) -> str:
        """Why it has to end, given the CPU time that it has taken so far; empty where it has not."""
        name = self.examination.reference
        if self.begun is None:
            over = time.monotonic() >= self.deadline
            return f"{name} was not examined: its process had not started after {STARTING:g} s" if over else ""
        used = taken - self.begun
        if used >= self.timeout:
            return f"{name} was not examined to the end within {self.timeout:g} s of CPU time (--timeout)"
        if time.monotonic() >= self.deadline:
            return (
                f"{name} was not examined to the end within {BACKSTOP * self.timeout:g} s on the clock, of which it "
                f"took {used:.2g} s of CPU time: it waits for something, or the machine is busy (--timeout)"
            )
        return ""


def examine(
    examinations: list[Examination], *, jobs: int, timeout: float
) -> Iterator[tuple[Examination, AuditReport | DPBenchError]]:
    """Reports as they come; an error where the algorithm cannot be loaded.

    ``timeout`` is in seconds of CPU time, of a process with all that it starts, as far as the system tells it.
    ``jobs`` 0: ours in this process, and a stranger's in another all the same.
    """
    here = [each for each in examinations if jobs == 0 and not is_stranger(each.reference)]
    for examination in here:
        try:
            yield examination, examination.run()
        except DPBenchError as error:
            yield examination, error
    queue, running = deque(each for each in examinations if each not in here), list[_Running]()
    try:
        while queue or running:
            while queue and len(running) < max(jobs, 1):
                running.append(_start(queue.popleft(), timeout, memory_share(jobs)))
            nearest = min(each.deadline for each in running)
            ready = wait([each.connection for each in running], min(max(0.0, nearest - time.monotonic()), LOOK_EVERY))
            taken = cpu_seconds({each.process.pid for each in running if each.process.pid})
            for each in running[:]:
                used = taken.get(each.process.pid or 0, 0.0)
                outcome = _hear(each, used) if each.connection in ready else None
                if outcome is None and (why := each.late(used)):
                    outcome = each.examination.unfinished(why)
                if outcome is not None:
                    running.remove(each)
                    each.end()
                    yield each.examination, outcome
    finally:
        for each in running:
            each.end()


def _start(examination: Examination, timeout: float, memory: int | None) -> _Running:
    deadline = time.monotonic() + STARTING
    return _Running.start(
        _work, examination, memory=memory, examination=examination, timeout=timeout, deadline=deadline
    )


def cpu_seconds(roots: set[int]) -> dict[int, float]:
    """CPU time of each of some processes with all that began below it; nothing where the system does not list it."""
    tick, parents, times = os.sysconf("SC_CLK_TCK"), dict[int, int](), dict[int, float]()
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError, ValueError, IndexError):
            fields = stat.read_bytes().rpartition(b")")[2].split()
            number = int(stat.parent.name)
            parents[number] = int(fields[1])
            times[number] = sum(map(int, fields[11:15])) / tick  # its own, and of children that have ended
    found = dict.fromkeys(roots, 0.0)
    for number, seconds in times.items():
        above = number
        for _ in parents:
            if above in roots or above not in parents:
                break
            above = parents[above]
        if above in roots:
            found[above] += seconds
    return found


def _hear(running: _Running, used: float) -> AuditReport | DPBenchError | None:
    """What a process has to say: nothing yet, its report, or how it ended."""
    name = running.examination.reference
    try:
        said = json.loads(running.receive(MOST))
    except EOFError:
        code = running.end(PATIENCE)
        if killed(code):
            return running.examination.unfinished(
                f"{name} was not examined to the end: its process was killed ({exit_words(code)}), by a system short "
                f"of memory, say"
            )
        return running.examination.failed(f"{name} ended its process ({exit_words(code)})")
    except (OSError, ValueError, RecursionError):
        return running.examination.failed(f"{name} sent something that is no report")
    if said == {"ready": True}:
        running.begun, running.deadline = used, time.monotonic() + BACKSTOP * running.timeout
        return None
    return _outcome(said) or running.examination.failed(f"{name} sent something that is no report")


def _outcome(said: object) -> AuditReport | DPBenchError | None:
    """A report or a refusal out of what a process sent; None where it is neither."""
    match said:
        case {"refused": [str() as kind, str() as text]}:
            ours = getattr(errors, kind, None)
            known = isinstance(ours, type) and issubclass(ours, DPBenchError)
            return (ours if known else InvalidInput)(one_line(text, REFUSAL))  # type: ignore[misc]  # a class then
        case {"report": dict() as values}:
            with suppress(ValueError):
                return AuditReport.from_json(values)
    return None


def _work(connection: Connection, examination: Examination) -> None:
    """In the process of its own: what is printed is counted and dropped."""
    with TemporaryFile() as printed:
        print_to(printed.fileno())
        connection.send_bytes(json.dumps({"ready": True}).encode())
        try:
            outcome: AuditReport | DPBenchError = examination.run()
        except DPBenchError as error:
            outcome = error
        except BaseException as error:
            outcome = examination.failed(f"{examination.reference} fails with {in_words(error)}")
        sys.stdout.flush()
        sys.stderr.flush()
        size = os.fstat(printed.fileno()).st_size
        if size and isinstance(outcome, AuditReport):
            outcome = replace(outcome, notes=(*outcome.notes, f"it prints ({size} bytes, dropped)"))
        said = (
            {"report": outcome.as_json()}
            if isinstance(outcome, AuditReport)
            else {"refused": [type(outcome).__name__, str(outcome)]}
        )
        connection.send_bytes(json.dumps(said, default=_plain).encode())
        connection.close()


def _plain(value: Any) -> Any:
    """A number of numpy's as one of Python's; anything else as text."""
    return value.item() if isinstance(value, np.generic) else str(value)
