"""How every verb's parser is made: a summary, a description, an example; a mistake is reported in one line."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NoReturn

from dpbench.errors import one_line

if TYPE_CHECKING:
    from dpbench.workloads import Workload

    Subparsers = argparse._SubParsersAction[argparse.ArgumentParser]


class Parser(argparse.ArgumentParser):
    """A parser that reports a mistake in one line and names the help, where others print the whole usage."""

    def error(self, message: str) -> NoReturn:
        """End with exit code 2."""
        self.exit(2, f"dpbench: {' '.join(one_line(message).split())}; see `{self.prog} --help`\n")


def add_verb(
    subparsers: Subparsers, name: str, summary: str, description: str, example: str
) -> argparse.ArgumentParser:
    """A parser whose help teaches: what it does, its options, an example."""
    return subparsers.add_parser(
        name,
        help=summary,
        description=description,
        epilog=f"example:\n  {example}\n",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )


def _workers(text: str) -> int:
    """A number of worker processes, as an argument."""
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of processes; give a whole number, such as 2")
    return int(text)


def add_jobs(parser: argparse.ArgumentParser) -> None:
    """The option for the number of worker processes; :func:`jobs_of` reads it."""
    about = "worker processes (one for each core); 0: in this process"
    parser.add_argument("--jobs", type=_workers, metavar="N", help=about)


def jobs_of(chosen: argparse.Namespace) -> int:
    """Worker processes as chosen by ``--jobs``; one per core where nothing was chosen."""
    return os.cpu_count() or 1 if chosen.jobs is None else int(chosen.jobs)


def workload_of(given: str | None, cells: str) -> Workload:
    """Ranges by name, by name with parameters, or from a CSV file; those of the study where nothing is named."""
    from dpbench import workloads
    from dpbench.domain import Domain
    from dpbench.task.parts import WorkloadPart

    domain = Domain.of(cells)
    name = given or ("Prefix" if domain.ndim == 1 else "RandomRange")
    if name.lower().endswith(".csv"):
        return workloads.build("Ranges", domain, file=name)
    return WorkloadPart.from_label(name).build(domain)


def add_json(parser: argparse.ArgumentParser) -> None:
    """The option for machines."""
    parser.add_argument("--json", action="store_true", help="write JSON")


def write_json(value: Any, plain: Callable[[Any], Any] | None = None) -> None:
    """One value on stdout, for machines; ``plain`` makes something that JSON knows of what it does not know."""
    sys.stdout.write(json.dumps(value, indent=1, default=plain) + "\n")
