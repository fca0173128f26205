"""What has changed since the shipped study was run: algorithms whose rows no longer are what the code would give."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from functools import cache
from importlib.resources import files
from typing import Any

from dpbench.errors import InvalidStore

WHAT = {
    "draws": "its errors differ",
    "code": "its code is another, its errors are the same",
    "times": "its seconds differ, its errors are the same",
}
"""Ways in which a form may differ from its rows in the study."""
FORMS = ("private", "published")


@dataclass(frozen=True)
class Change:
    """One form of an algorithm that differs."""

    algorithm: str
    form: str
    what: str
    why: str

    def __str__(self) -> str:
        return f"{self.algorithm} ({self.form}): {WHAT[self.what]}, because {self.why}"


@cache
def changes() -> tuple[Change, ...]:
    """What ``changed.toml`` beside the shipped study lists."""
    text = files("dpbench.paper").joinpath("data", "changed.toml").read_text(encoding="utf-8")
    return read_changes(text)


def read_changes(text: str) -> tuple[Change, ...]:
    """The entries of such a file; one line of refusal for anything else."""
    try:
        plain = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise InvalidStore(f"changed.toml is not valid TOML: {' '.join(str(error).split())}; correct it") from None
    unknown = plain.keys() - {"changed"}
    if unknown:
        raise InvalidStore(f"changed.toml has the key {min(unknown)!r}; it takes [[changed]] tables alone")
    return tuple(_change(number, each) for number, each in enumerate(plain.get("changed", ()), 1))


def _change(number: int, entry: Mapping[str, Any]) -> Change:
    wanted = {each.name for each in fields(Change)}
    if entry.keys() != wanted or not all(isinstance(value, str) and value for value in entry.values()):
        raise InvalidStore(f"entry {number} of changed.toml has {sorted(entry)}; give {sorted(wanted)}, each a text")
    if entry["what"] not in WHAT or entry["form"] not in FORMS:
        raise InvalidStore(
            f"entry {number} of changed.toml has form {entry['form']!r} and what {entry['what']!r}; "
            f"form is one of {', '.join(FORMS)}, what is one of {', '.join(WHAT)}"
        )
    return Change(**entry)


def change_of(algorithm: str, form: str, *what: str, among: Iterable[Change] | None = None) -> Change | None:
    """The entry that says that a form differs in one of the given ways; None where none does."""
    listed = changes() if among is None else among
    return next(
        (each for each in listed if (each.algorithm, each.form) == (algorithm, form) and each.what in what), None
    )
