"""Somebody's results in one file, to be sent and merged: a summary of their settings with code hash, audit and machine.

A submission is a summary file like any other (``dpbench compare --study FILE`` and ``report`` read it) with a few facts
more. What it says of its errors cannot be proved without running its code; what can be checked without that is
checked: that its settings are the study's, with its seed, data vectors and number of trials, that all of them are
private, that nothing failed, that no errors are there that no run can give, and that the file is what was written. Who
has the code proves the rest: results of a run of it are equal to the file (``dpbench store diff FILE STORE``).
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from dpbench.errors import DPBenchError, InvalidStore
from dpbench.interpreting import regret
from dpbench.results import Results
from dpbench.results.results import COLUMNS
from dpbench.store.setting_key import IDENTITY, Place
from dpbench.store.versions import short
from dpbench.strangers_text import one_line

KEY = "submission"
"""Under which the facts stand in the metadata of the file."""


@dataclass(frozen=True)
class Standing:
    """One line of a leaderboard."""

    algorithm: str
    regret: float
    """Geometric mean of its error over the lowest of all algorithms on the board, over the places that it has."""
    low: float
    high: float
    """Interval of 95 % over datasets."""
    settings: int
    won: int
    """Places where it has the lowest mean error."""
    worst: float
    """Largest ratio of its error to the lowest."""
    audit: str
    """What the audit said; empty for algorithms of the study."""
    version: str
    """Hash of its code; empty for algorithms of the study."""


def submit(
    newcomer: Results, path: str | PathLike[str], *, audit: Mapping[str, Any], machine: Mapping[str, Any]
) -> None:
    """Write the results of one algorithm as a submission."""
    facts = {
        "algorithm": str(newcomer.labels[0]),
        "version": str(newcomer.columns["algorithm_source"][0]),
        "audit": dict(audit),
        "machine": dict(machine),
    }
    newcomer.described(**{KEY: facts | {"digest": _digest(newcomer, facts)}}).write(path, losses=False)


def read_submission(
    path: str | PathLike[str], study: Results, dimensions: int | None = None
) -> tuple[Results, dict[str, Any]]:
    """A submission whose settings are the study's, and its facts; one line of refusal for any other file."""
    found, facts = _opened(path)
    claimed = facts.pop("digest", "")
    if claimed != _digest(found, facts):
        raise InvalidStore(f"{path} is not what was written: its digest differs; ask for the file again")
    if len(set(found.labels.tolist())) != 1 or not found.whole.all():
        raise InvalidStore(f"{path} has failed settings or several algorithms; submit whole results of one")
    for wrong in _contradictions(found, facts):
        raise InvalidStore(f"{path} {wrong}; ask for a file as `dpbench compare --submit` writes it")
    found = found if dimensions is None else found.where(dimensions=dimensions)
    strange = set(found.grid.places) - set(study.grid.places)
    if strange:
        raise InvalidStore(
            f"{path} has settings that the study lacks, such as {next(iter(strange)).words}; leave them out"
        )
    if len(found) and found.errors.shape[1:] != study.errors.shape[1:]:
        numbers = " x ".join(map(str, found.errors.shape[1:]))
        wanted = " x ".join(map(str, study.errors.shape[1:]))
        raise InvalidStore(f"{path} has {numbers} data vectors and trials, and the study {wanted}; run as many")
    return found, facts


def _opened(path: str | PathLike[str]) -> tuple[Results, dict[str, Any]]:
    """A file with the facts of a submission in it."""
    other = InvalidStore(f"{path} is no submission; `dpbench compare FILE.py:Class --submit FILE` writes one")
    try:
        found = Results.read(path)
        facts = found.metadata.get(KEY)
        readable = set(found.columns) >= set(COLUMNS) and {len(each) for each in found.columns.values()} == {len(found)}
    except (DPBenchError, ValueError, TypeError, KeyError, AttributeError):  # a header that somebody else has written
        if not Path(path).exists():
            raise InvalidStore(f"there is no file {path}; check the path") from None
        raise other from None
    if not isinstance(facts, Mapping) or not facts or not readable or not len(found):
        raise other
    return found, dict(facts)


def _contradictions(found: Results, facts: Mapping[str, Any]) -> Iterator[str]:
    """What a file says that no run of the private study can have given."""
    if set(found.columns["variant"].tolist()) != {"private"} or "public" in found.columns["side_information"].tolist():
        yield "has settings in which the algorithm is not private end to end"
    if (facts.get("algorithm"), {facts.get("version")}) != (
        str(found.labels[0]),
        set(map(str, found.columns["algorithm_source"].tolist())),
    ):
        yield "names another algorithm or another version of it than its settings do"
    if len(set(zip(*(found.columns[name].tolist() for name in Place._fields), strict=True))) < len(found):
        yield "has a setting twice"
    if not found.single_trials or not np.isfinite(found.errors).all() or found.errors.min() < 0:
        yield "lacks errors of single trials, or has some that are no errors"
    elif (np.ptp(found.errors.reshape(len(found), -1), axis=1) == 0).all() and found.errors.shape[1] > 1:
        yield "has the same error in every trial, on every data vector"


def leaderboard(
    study: Results, submissions: Iterable[str | PathLike[str]] = (), dimensions: int | None = None
) -> list[Standing]:
    """The algorithms of a study and of submissions, lowest regret first; those that lack settings come last.

    With ``dimensions``, settings of submissions with other numbers of axes are left out.
    """
    board, facts = study, {}
    for path in submissions:
        found, known = read_submission(path, study, dimensions)
        if not len(found):
            continue
        label = str(found.labels[0])
        if label in set(board.labels.tolist()):
            raise InvalidStore(f"{path} calls its algorithm {label}, which is on the board already; rename it")
        board, facts[label] = board.joined(found), known
    grid = board.grid
    means = grid.spread(np.where(board.whole, board.measured.mean, np.nan))
    ratios = means / np.nanmin(means, axis=1, keepdims=True)
    return [
        Standing(
            algorithm=one_line(each.algorithm),
            regret=each.regret,
            low=each.low,
            high=each.high,
            settings=each.settings,
            won=int((ratios[:, column] == 1).sum()),
            worst=float(np.nanmax(ratios[:, column])),
            audit=_verdict(facts.get(each.algorithm, {}).get("audit")),
            version=short(one_line(str(facts.get(each.algorithm, {}).get("version", "")))),
        )
        for each in regret(board)
        for column in [grid.labels.index(each.algorithm)]
    ]


def _verdict(audit: Any) -> str:
    """What an audit came to, in a few words; files of earlier versions say only whether it passed."""
    if not isinstance(audit, Mapping):
        return ""
    outcomes = ("nothing found", "leak or fault found", "not examined")
    if audit.get("outcome") in outcomes:
        return str(audit["outcome"])
    return {True: outcomes[0], False: outcomes[1]}.get(audit.get("passed"), outcomes[2])  # type: ignore[arg-type]


def _digest(results: Results, facts: Mapping[str, Any]) -> str:
    """Of the facts, and of every setting with its errors as the file keeps them."""
    order: Sequence[str] = [name for name in COLUMNS if name in (*IDENTITY, "algorithm_source", "failed", "failure")]
    content = [json.dumps(dict(facts), sort_keys=True, default=str), results.standards.loss]
    content += [json.dumps(results.columns[name].tolist(), default=str) for name in order]
    return sha256("\n".join(content).encode() + results.errors.astype("<f4").tobytes()).hexdigest()
