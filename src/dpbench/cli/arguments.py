"""How every verb's parser is made: a summary, a description, an example; a mistake is reported in one line."""

from __future__ import annotations

import argparse
import json
import os
import re
import sys
from collections.abc import Callable
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, NoReturn

from dpbench.errors import UnknownName, one_line

if TYPE_CHECKING:
    from dpbench.workloads import Workload

    Subparsers = argparse._SubParsersAction[argparse.ArgumentParser]


class Parser(argparse.ArgumentParser):
    """A parser that reports a mistake in one line, suggests what may have been meant, and names the help.

    Options have to be written out: an abbreviation that works today may mean something else tomorrow.
    """

    def __init__(self, **options: Any) -> None:
        super().__init__(allow_abbrev=False, **options)

    def error(self, message: str) -> NoReturn:
        """End with exit code 2."""
        text = " ".join(one_line(message).split())
        self.exit(2, f"dpbench: {text}{' ' if text.endswith('?') else '; '}see `{self.prog} --help`\n")

    def parse_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Parse; an option that does not exist is answered with the nearest that does."""
        chosen, unknown = self.parse_known_args(args, namespace)
        if unknown:
            parser = getattr(chosen, "parser", self)
            options = [word for action in parser._actions for word in action.option_strings]
            word = unknown[0].partition("=")[0]
            begun = [option for option in options if len(word) > len("--") and option.startswith(word)]
            close = begun[:3] or get_close_matches(word, options, n=1, cutoff=0.6)
            hint = f"; did you mean {' or '.join(close)}?" if close else ""
            parser.error(f"unrecognized arguments: {' '.join(unknown)}{hint}")
        return chosen

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        """Refuse a word that is not among the choices, the nearest of which are named."""
        if action.choices is not None and value not in action.choices:
            kind = (
                f"value of {action.option_strings[0]}"
                if action.option_strings
                else str(action.metavar or "choice").lower()
            )
            raise argparse.ArgumentError(None, str(UnknownName.among(kind, value, map(str, action.choices))))


def add_verb(
    subparsers: Subparsers, name: str, summary: str, description: str, example: str
) -> argparse.ArgumentParser:
    """A parser whose help teaches: what it does, its options, an example."""
    parser = subparsers.add_parser(
        name,
        help=summary,
        description=description,
        epilog=f"example:\n  {example}\n",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.set_defaults(parser=parser)
    return parser


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


def add_quiet(parser: argparse.ArgumentParser, about: str = "no progress") -> None:
    """The option for silence."""
    parser.add_argument("-q", "--quiet", action="store_true", help=about)


def add_out(parser: argparse.ArgumentParser, metavar: str, about: str, *, required: bool = True) -> None:
    """The option for where the output goes."""
    parser.add_argument("-o", "--out", required=required, metavar=metavar, help=about)


def add_json(parser: argparse.ArgumentParser) -> None:
    """The option for machines."""
    parser.add_argument("--json", action="store_true", help="write JSON")


def write_json(value: Any, plain: Callable[[Any], Any] | None = None) -> None:
    """One value on stdout, for machines; ``plain`` makes something that JSON knows of what it does not know.

    Keys that are lower-case words are joined by underscores; names of algorithms, datasets and the like stay.
    """
    sys.stdout.write(json.dumps(_joined_keys(value), indent=1, default=plain) + "\n")


def _joined_keys(value: Any) -> Any:
    if isinstance(value, dict):
        return {_joined(key): _joined_keys(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_joined_keys(each) for each in value]
    return value


def _joined(key: Any) -> Any:
    words = isinstance(key, str) and re.fullmatch(r"[a-z][a-z0-9]*(?:[ -][a-z0-9]+)+", key)
    return re.sub("[ -]", "_", key) if words else key
