"""``dpbench data``: fetch the histograms, verify them, say where they are looked for."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from dpbench.cli.arguments import add_json, add_quiet, add_verb, write_json

if TYPE_CHECKING:
    from dpbench.cli.arguments import Subparsers

_ABOUT = """\
The paper's histograms are public files with pinned checksums. They are looked for in the folder
that the environment variable DPBENCH_DATA names, then in the user's cache.
"""


def add_parser(subparsers: Subparsers) -> None:
    """Add ``data`` with its three commands; each sets ``run`` to its handler."""
    data = add_verb(subparsers, "data", "the paper's histograms: pull, verify, path", _ABOUT, "dpbench data pull")
    commands = data.add_subparsers(title="commands", metavar="COMMAND", required=True)

    pull = add_verb(
        commands,
        "pull",
        "fetch the histograms that are missing",
        "Fetch what is missing or corrupt; what is already good stays. Every checksum is verified before a\n"
        "file gets its name. Without internet, fetch from a mirror.",
        "dpbench data pull MEDCOST ADULT-2D\n  dpbench data pull --mirror /media/stick/datafiles",
    )
    pull.add_argument("histograms", nargs="*", metavar="NAME", help="histograms to fetch (default: all)")
    pull.add_argument("--mirror", metavar="FOLDER_OR_URL", help="fetch from here instead of the authors' files")
    pull.add_argument("--folder", metavar="DIR", help="put them here instead of where they are looked for")
    add_quiet(pull, "show neither progress nor summary")
    add_json(pull)
    pull.set_defaults(run=run_pull)

    verify = add_verb(
        commands,
        "verify",
        "compare the files with their checksums",
        "Compare every file with its pinned checksum. The exit code is 0 if all are good, 1 otherwise.",
        "dpbench data verify --json",
    )
    verify.add_argument("--folder", metavar="DIR", help="look here instead of where they are looked for")
    add_json(verify)
    verify.set_defaults(run=run_verify)

    path = add_verb(
        commands,
        "path",
        "print the folder where histograms are looked for",
        "Print the folder where histograms are looked for first, and where pull puts them.",
        'ls "$(dpbench data path)"',
    )
    add_json(path)
    path.set_defaults(run=run_path)


def run_pull(arguments: argparse.Namespace) -> int:
    """Fetch what is missing and say where everything is."""
    from dpbench import datasets

    folder = arguments.folder
    got = datasets.pull(arguments.histograms or None, arguments.mirror, folder, progress=not arguments.quiet)
    if arguments.json:
        write_json({"folder": str(folder or datasets.path()), "files": [str(path) for path in got]})
    elif not arguments.quiet:
        print(f"{len(got)} of {len(got)} histograms are here and verified: {folder or datasets.path()}")
        if folder is not None:
            print(f"to use them, set DPBENCH_DATA={folder}")
    return 0


def run_verify(arguments: argparse.Namespace) -> int:
    """Compare the files with their checksums; 1 if any is missing or corrupt."""
    from dpbench import datasets

    folder = arguments.folder or str(datasets.path())
    states = datasets.verify(folder=arguments.folder)
    good = sum(status == "ok" for _, status in states)
    if arguments.json:
        rows = [{"name": each.name, "file": each.file, "status": status} for each, status in states]
        write_json({"folder": folder, "ok": good == len(states), "datasets": rows})
    else:
        for dataset, status in states:
            print(f"{dataset.name:<12} {status:<8} {dataset.file}")
        advice = "" if good == len(states) else "; run `dpbench data pull`"
        print(f"{good} of {len(states)} are good in {folder}{advice}")
    return 0 if good == len(states) else 1


def run_path(arguments: argparse.Namespace) -> int:
    """Print the folder where histograms are looked for first."""
    from dpbench import datasets

    if arguments.json:
        write_json({"folder": str(datasets.path())})
    else:
        print(datasets.path())
    return 0
