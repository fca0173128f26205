"""Versions of algorithms on the command line: what a run says of changed code, and ``dpbench store versions``."""

from __future__ import annotations

import argparse
import sys
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from dpbench.cli.arguments import add_json, add_verb, write_json

if TYPE_CHECKING:
    from dpbench.cli.arguments import Subparsers
    from dpbench.run.execution import Agenda, Changed
    from dpbench.store import Store
    from dpbench.store.versions import Version

NAMED = 3
"""How many changed algorithms one line names."""
_ABOUT = """\
List the versions of each algorithm that a store holds. After an edit of its code an algorithm runs again in the same
store; the earlier results stay, as another version, and every reading shows the version that was asked for last. To
go back, undo the edit and run the same command: nothing is run again.
--drop removes the results of a version. The current one has to be written in full.
"""


def report_changes(todo: Agenda, folder: str) -> None:
    """One line on stderr each about algorithms and losses that are not what the last run asked for."""
    changed = todo.changed
    for label in todo.changed_losses:
        rerun = f"{len(todo.missing)} units run again; earlier results are kept"
        sys.stderr.write(f"the loss {label} changed: {rerun if todo.missing else 'its errors are there'}\n")
    if changed:
        sentences = [_sentence(each) for each in changed[:NAMED]]
        sentences += [f"{len(changed) - NAMED} other algorithms changed too"] if len(changed) > NAMED else []
        kept = "; earlier results are kept" if any(each.missing for each in changed) else ""
        sys.stderr.write(f"{'; '.join(sentences)}{kept} (dpbench store versions {folder})\n")


def _sentence(each: Changed) -> str:
    from dpbench.store.versions import short

    form = each.algorithm if each.variant == "private" else f"{each.algorithm} ({each.variant})"
    before, now = short(each.before), short(each.now)
    if not each.missing:
        return f"{form} is version {now} again: its {settings_words(each.settings)} are there"
    some = "its" if each.missing == each.settings else f"{each.missing} of its"
    return f"{form} changed (version {now}, before {before}): {some} {settings_words(each.settings)} run again"


def settings_words(number: int) -> str:
    """How many settings, in words."""
    return f"{number} setting{'s' * (number != 1)}"


def add_parser(commands: Subparsers) -> None:
    """Add ``store versions``."""
    parser = add_verb(
        commands,
        "versions",
        "list and drop the results of changed algorithms",
        _ABOUT,
        "dpbench store versions results\n  dpbench store versions results --drop 1a2b3c4d",
    )
    parser.add_argument("store", metavar="STORE")
    parser.add_argument("--drop", metavar="VERSION", help="remove the results of this version, by its first letters")
    add_json(parser)
    parser.set_defaults(run=run_versions)


def run_versions(chosen: argparse.Namespace) -> int:
    """List versions, or drop one."""
    from dpbench.store import Store

    store = Store(chosen.store)
    found = store.versions()
    if chosen.drop:
        return _drop(store, found, chosen)
    if chosen.json:
        write_json([asdict(each) for each in found])
    else:
        _print(found)
    return 0


def _print(found: list[Version]) -> None:
    from dpbench.cli.text_tables import write_table
    from dpbench.store.versions import short

    rows = [
        [
            each.algorithm,
            _form(each),
            short(each.version),
            str(each.settings),
            str(each.trials),
            each.last_run[:16].replace("T", " ") or "-",
            "current" if each.current else "-",
        ]
        for each in found
    ]
    headings = ["algorithm", "form", "version", "settings", "trials", "last run", "shown"]
    write_table("Versions; readings show the current ones", headings, rows)


def _form(each: Version) -> str:
    return each.variant if each.parameters == "{}" else f"{each.variant} {each.parameters}"


def _drop(store: Store, found: list[Version], chosen: argparse.Namespace) -> int:
    from dpbench.errors import InvalidInput
    from dpbench.store.versions import matching, short

    version = matching(chosen.drop, {each.version for each in found})
    of_it = [each for each in found if each.version == version]
    if any(each.current for each in of_it) and chosen.drop != version:
        raise InvalidInput(
            f"{chosen.drop} is the current version of {of_it[0].algorithm}; to drop it write it in full: {version}"
        )
    store.drop_version(version)
    facts: dict[str, Any] = {
        "dropped": version,
        "algorithms": sorted({each.algorithm for each in of_it}),
        "settings": sum(each.settings for each in of_it),
        "trials": sum(each.trials for each in of_it),
    }
    if chosen.json:
        write_json(facts)
    else:
        names = ", ".join(facts["algorithms"])
        size = f"{facts['trials']} trials of {settings_words(facts['settings'])}"
        sys.stdout.write(f"dropped version {short(version)} of {names}: {size}\n")
    return 0
