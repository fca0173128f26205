"""Everything that leaves a run: output and memory behind it, ledger, exceptions, warnings, text, files, settings."""

from __future__ import annotations

import io
import os
import stat
import threading
import time
import warnings
from collections.abc import Callable, Collection, Iterable
from contextlib import redirect_stderr, redirect_stdout, suppress
from dataclasses import dataclass, fields, replace
from hashlib import sha256
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpbench.algorithm import Algorithm, Outcome
from dpbench.audit.contents import contents
from dpbench.audit.printed_text import Number, without
from dpbench.audit.side_effects import (
    deeds,
    farewells,
    farewells_noted,
    settings_changed,
    settings_of_the_process,
    threads_awaited,
)
from dpbench.audit.subject import in_words, is_ours, workload_for
from dpbench.errors import InvalidCounts, InvalidInput, Unsupported
from dpbench.privacy import Ledger
from dpbench.privacy.ledger import FOR_NOTHING
from dpbench.workloads import Workload

TOO_LARGE = "so large that rounding"
"""In the words by which the handle refuses answers that would be rounded: no fault of the algorithm."""
LAST_BITS = 1e-13
"""Relative; outputs that differ by less differ by rounding."""
BARS_CELLS = 64
"""Domains on which error bars are asked for have at most so many cells."""
LATER = 0.4
"""Seconds that threads which outlive their runs get, all together, to show what they do."""
_watched: list[tuple[NDArray[np.float64], bytes]] = []
"""Outputs, as they were when they were returned, of runs that have left a thread behind."""


@dataclass(frozen=True, repr=False)
class Trace:
    """What leaves one run; fields are compared in this order, and named as a reader would."""

    raised: str = ""
    kind: str = ""
    bytes_out: bytes = b""
    layout: tuple[Any, ...] = ()
    attributes: str = ""
    behind: str = ""
    ledger: tuple[Any, ...] = ()
    notes: tuple[str, ...] = ()
    kept: str = ""
    bars: tuple[str, ...] = ()
    workload: str = ""
    itself: str = ""
    warned: tuple[str, ...] = ()
    printed: str = ""
    done: tuple[str, ...] = ()
    settings: tuple[tuple[str, str], ...] = ()
    too_large: bool = False
    """Whether the handle refused counts that are too large for exact answers."""
    kept_out: bool = False
    """Whether the algorithm itself said that it does not run there."""


NAMES = {
    "raised": "another exception",
    "kind": "another type of output",
    "bytes_out": "another output",
    "layout": "another layout of the output in memory",
    "attributes": "other attributes of the output",
    "behind": "other contents of the memory that the output is a view of",
    "ledger": "another ledger",
    "notes": "other notes in the ledger",
    "kept": "other things kept for error bars (data.keep)",
    "bars": "other error bars",
    "workload": "other attributes of the workload",
    "itself": "other attributes of the algorithm",
    "warned": "other warnings",
    "printed": "other printed text",
    "done": "other files or programs used",
    "settings": "another change of settings of the whole process",
}
BESIDE = ("attributes", "behind", "notes", "kept", "workload", "itself", "warned", "printed", "done", "settings")
"""What may differ between two honest runs on the same counts: memory that nobody wrote to, a time that is printed."""


def traced(run: Callable[[], Outcome]) -> Trace:
    """Run, and keep all that leaves."""
    printed, below = io.StringIO(), _written()
    found: dict[str, Any] = {}
    threads = threading.active_count()
    with (
        redirect_stdout(printed),
        redirect_stderr(printed),
        warnings.catch_warnings(record=True) as warned,
        deeds() as done,
        farewells_noted(),
    ):
        warnings.simplefilter("always")
        before = settings_of_the_process()
        try:
            with threads_awaited():
                outcome = run()
            if threading.active_count() > threads:
                _watched.append((outcome.estimate, outcome.estimate.tobytes()))
            found = _left(outcome.estimate) | {
                "ledger": charges(outcome.ledger),
                "notes": tuple(outcome.ledger.notes),
                "kept": contents(outcome.kept),
                "bars": _bars(outcome),
                "workload": contents(outcome.workload),
                "itself": contents(outcome.algorithm),
            }
        except (Exception, SystemExit) as error:
            too_large = isinstance(error, InvalidCounts) or (
                isinstance(error, InvalidInput) and TOO_LARGE in str(error)
            )
            found = {"raised": in_words(error), "too_large": too_large, "kept_out": isinstance(error, Unsupported)}
        changed = settings_changed(before)
    return Trace(
        **found,
        warned=tuple(f"{each.category.__name__}: {each.message}" for each in warned),
        printed=printed.getvalue() + _written(below[1])[0],
        done=tuple(sorted(set(done))),
        settings=changed,
    )


def _bars(outcome: Outcome) -> tuple[str, ...]:
    """What the error bars of a stranger's algorithm say, or why there are none; ours are made of what was kept."""
    domain = Workload.insist(outcome.workload).domain
    if _without_bars(type(outcome.algorithm)) or domain.size > BARS_CELLS:
        return ()
    workload = workload_for(domain)
    asked: dict[str, Callable[[], object]] = {
        "intervals": lambda: outcome.intervals(workload),
        "cautious intervals": lambda: outcome.intervals(workload, cautious=True),
        "guaranteed intervals": lambda: outcome.intervals(workload, guaranteed=True),
        "draws": lambda: outcome.draws(2, seed=0),
    }
    found = []
    for name, ask in asked.items():
        try:
            found.append(f"{name}: {contents(ask())[:12]}")
        except (Exception, SystemExit) as error:
            found.append(f"{name}: {in_words(error)}")
    return tuple(found)


def _without_bars(kind: type) -> bool:
    """Whether a class has no error bars, or has those of one of ours."""
    theirs = [each for each in kind.__mro__ if issubclass(each, Algorithm) and not is_ours(each)]
    return not any({"error_bars", "measurement", "influence"} & vars(each).keys() for each in theirs)


def parting(trace: Trace) -> Trace:
    """The last trace of a process, with what is said and done when the process ends."""
    said = io.StringIO()
    with redirect_stdout(said), redirect_stderr(said), deeds() as done:
        for function in farewells():
            with suppress(Exception, SystemExit):
                function()
    made = {each for each in done if each.startswith("opens")}  # what is removed is there for the first process alone
    return replace(trace, printed=trace.printed + said.getvalue(), done=tuple(sorted({*trace.done, *made})))


def changed_later() -> bool:
    """Whether an output was written to after it had been returned, by a thread that has outlived its run."""
    end = time.monotonic() + LATER
    while _watched and time.monotonic() < end:
        if any(output.tobytes() != then for output, then in _watched):
            return True
        time.sleep(0.01)
    return False


def _written(start: int | None = None) -> tuple[str, int]:
    """What was written to stderr past Python since a place, and the place now; nothing where that is kept by nobody."""
    status = os.fstat(2)
    if not stat.S_ISREG(status.st_mode):
        return "", 0
    end = status.st_size
    try:
        text = "" if start is None or end <= start else os.pread(2, end - start, start).decode(errors="replace")
    except OSError:  # it can be written to and not read
        text = ""
    return text, end


def _left(estimate: NDArray[np.float64]) -> dict[str, Any]:
    root: Any = estimate
    attributes = [getattr(root, "__dict__", None)]
    while isinstance(root, np.ndarray) and root.base is not None:
        root = root.base
        attributes.append(getattr(root, "__dict__", None))
    try:
        size = root.nbytes if isinstance(root, np.ndarray) else memoryview(root).nbytes
        behind = sha256(np.ascontiguousarray(root).tobytes() if isinstance(root, np.ndarray) else bytes(root))
    except TypeError:
        size, behind = 0, sha256()
    return {
        "kind": f"{type(estimate).__name__} of {estimate.dtype.str}",
        "bytes_out": np.ascontiguousarray(estimate).tobytes(),
        "layout": (estimate.shape, estimate.strides, estimate.flags.writeable),
        "attributes": contents(attributes) if any(attributes) else "",
        "behind": behind.hexdigest() if size > estimate.nbytes else "",
    }


def charges(ledger: Ledger) -> tuple[Any, ...]:
    """Every line of a ledger, with its regions."""
    return tuple(
        (each.kind, each.why, each.amount, each.sensitivity, each.noise, tuple(map(charges, each.regions)))
        for each in ledger.charges
    )


def difference(one: Trace, other: Trace, aside: Collection[str] = (), varying: Collection[Number] = ()) -> str:
    """The first thing in which two traces differ, in words; empty where they are the same.

    ``aside`` is left aside, and so are numbers in printed text that are ``varying``.
    """
    for field in fields(Trace):
        mine, its = getattr(one, field.name), getattr(other, field.name)
        if field.name == "printed":
            mine, its = without(mine, varying), without(its, varying)
        if field.name in NAMES and field.name not in aside and mine != its:
            return NAMES[field.name] + _detail(field.name, mine, its)
    return ""


def _detail(name: str, mine: Any, its: Any) -> str:
    if name == "bytes_out" and len(mine) == len(its):
        return _numbers(np.frombuffer(mine), np.frombuffer(its))
    if name == "ledger":
        pairs = [(one, two) for one, two in zip(mine, its, strict=False) if one != two]
        lines = f"{_line(pairs[0][0])} and {_line(pairs[0][1])}" if pairs else f"{len(mine)} and {len(its)} charges"
        return f" ({lines})"
    if name in ("raised", "printed", "kind"):
        return f" ({str(mine)[:80] or 'none'!r} and {str(its)[:80] or 'none'!r})"
    if name in ("notes", "bars", "warned", "done", "settings"):
        only = [[each for each in one if each not in other][:1] for one, other in ((mine, its), (its, mine))]
        return f" ({' and '.join(str(each[0]) if each else 'none' for each in only)})"
    return ""


def _numbers(first: NDArray[np.float64], second: NDArray[np.float64]) -> str:
    places = np.flatnonzero(first.view(np.int64) != second.view(np.int64))
    at = int(places[0])
    if first[at] == 0 == second[at]:
        return f" (number {at} is {first[at]} and {second[at]}: the sign of a zero)"
    largest = float(np.abs(first - second).max())
    bits = " in the last bits" if largest <= LAST_BITS * (1 + float(np.abs(first).max())) else ""
    return f"{bits} ({len(places)} of {len(first)} numbers; number {at} is {first[at]:.17g} and {second[at]:.17g})"


def _line(charge: tuple[Any, ...]) -> str:
    return f"'{charge[1]}' for {charge[2]}"


def suspicion(x: NDArray[np.int64], one: Trace, y: NDArray[np.int64], other: Trace) -> str:
    """A guess at what was read, from what two outputs have in common with the data; empty where there is none."""
    if not (one.bytes_out and other.bytes_out):
        return ""
    both = [
        (counts, np.frombuffer(each.bytes_out).reshape(-1, *counts.shape)) for counts, each in ((x, one), (y, other))
    ]
    if _always(_keeps_zeros(*each) for each in both):
        return ": cells that are truly empty come out as exactly 0 (true zeros are kept)"
    if _always(_keeps_total(*each) for each in both):
        return ": the output adds up to the true total (the true scale is used)"
    return ""


def _keeps_zeros(counts: NDArray[np.int64], output: NDArray[np.float64]) -> bool | None:
    """Whether exactly the empty cells come out as 0; None where all cells are alike."""
    empty = counts == 0
    return (
        bool((output[:, empty] == 0).all() and (output[:, ~empty] != 0).any()) if 0 < empty.sum() < empty.size else None
    )


def _keeps_total(counts: NDArray[np.int64], output: NDArray[np.float64]) -> bool | None:
    """Whether every trial adds up to the number of records; None where there are none."""
    sums, total = output.sum(axis=tuple(range(1, output.ndim))), float(counts.sum())
    return bool(np.allclose(sums, total, rtol=1e-12, atol=0)) if total else None


def _always(found: Iterable[bool | None]) -> bool:
    """Whether something is so wherever it can be told, and can be told somewhere."""
    told = [each for each in found if each is not None]
    return bool(told) and all(told)


def known_for_nothing(trace: Trace) -> str:
    """What the ledger of a form that is not private says by itself."""
    found = [line[1] for line in trace.ledger if line[0] in FOR_NOTHING]
    found += [line[1] for charge in trace.ledger for region in charge[5] for line in region if line[0] in FOR_NOTHING]
    return f" (it was given: {', '.join(dict.fromkeys(found))})" if found else ""
