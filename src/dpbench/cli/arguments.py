"""How every verb's parser is made: a summary, a description, an example; a mistake is reported in one line."""

from __future__ import annotations

import argparse
import json
import os
import re
import sys
from collections.abc import Callable, Sequence
from difflib import get_close_matches
from math import inf
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
        text = " ".join(one_line(_in_words(message)).split())
        self.exit(2, f"dpbench: {text}{' ' if text.endswith('?') else '; '}see `{self.prog} --help`\n")

    def parse_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Parse; an option that does not exist is answered with the nearest that does."""
        chosen, unknown = self.parse_known_args(args, namespace)
        if unknown:
            parser = getattr(chosen, "parser", self)
            options = [word for action in parser._actions for word in action.option_strings if word.startswith("--")]
            close = _nearest(unknown[0].partition("=")[0], options)
            hint = f"; did you mean {' or '.join(close)}?" if close else ""
            parser.error(f"unrecognized arguments: {' '.join(unknown)}{hint}")
        return chosen

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        """Refuse a word that is not among the choices, the nearest of which are named."""
        if action.choices is not None and value not in action.choices:
            kind = (
                f"value of {action.option_strings[0]}"
                if action.option_strings
                else str(action.metavar or action.dest).lower()
            )
            raise argparse.ArgumentError(None, str(UnknownName.among(kind, value, map(str, action.choices))))


def _nearest(given: str, options: Sequence[str]) -> list[str]:
    """The options that one which does not exist may stand for: those that it begins, or else the most similar one."""
    begun = [option for option in options if len(given) > len("--") and option.startswith(given)]
    names = [option.removeprefix("--") for option in options]
    similar = get_close_matches(given.lstrip("-"), names, n=1, cutoff=0.6)
    return begun[:3] or [f"--{name}" for name in similar]


_WORDS = (
    (r"argument (\S+): is (.*)", r"\1 is \2"),
    (r"argument (\S+): invalid int value: (.*)", r"\1 is \2; give a whole number"),
    (r"argument (\S+): invalid float value: (.*)", r"\1 is \2; give a number"),
    (r"argument (\S+): expected (?:one argument|1 argument)", r"\1 needs a value"),
    (r"argument (\S+): expected (\d+) arguments", r"\1 needs \2 values"),
    (r"argument (\S+): ignored explicit argument (.*)", r"\1 takes no value, and \2 was given"),
    (r"argument (\S+): not allowed with argument (\S+)", r"\1 and \2 do not go together; leave one out"),
)
"""What the standard library says of a mistake, and how it is said here."""


def _in_words(message: str) -> str:
    for theirs, ours in _WORDS:
        said, changed = re.subn(f"^{theirs}$", ours, message, count=1, flags=re.DOTALL)
        if changed:
            return said
    return message


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


def positive(text: str) -> float:
    """A positive finite number, as an argument."""
    number = _number(text)
    if not 0 < number < inf:
        raise argparse.ArgumentTypeError(f"is {text}; give a positive finite number")
    return number


def share(text: str) -> float:
    """A delta, as an argument."""
    number = _number(text)
    if not 0 <= number <= 0.5:
        raise argparse.ArgumentTypeError(f"is {text}; give a number from 0 (pure) to 0.5")
    return number


def whole(text: str) -> int:
    """A positive whole number, as an argument; 1e5 is one."""
    return _whole(text, 1, "a positive whole number")


def seed(text: str) -> int:
    """A whole number that is not negative, as an argument."""
    return _whole(text, 0, "a whole number that is not negative")


def _workers(text: str) -> int:
    return _whole(text, 0, "a whole number of processes, such as 2, or 0 for none")


def _whole(text: str, least: int, wanted: str) -> int:
    number = int(text) if text.isdecimal() and len(text) < 17 else _number(text, wanted)
    if not least <= number <= 2**53 or number != int(number):
        raise argparse.ArgumentTypeError(f"is {text}; give {wanted}")
    return int(number)


def _number(text: str, wanted: str = "a number") -> float:
    try:
        return float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"is {text!r}; give {wanted}") from None


def add_jobs(
    parser: argparse.ArgumentParser, about: str = "worker processes (one for each core); 0: in this process"
) -> None:
    """The option for the number of worker processes; :func:`jobs_of` reads it."""
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

    Keys are words joined by underscores, whatever they are called in tables; names of algorithms, datasets, columns and
    the like stay as they are.
    """
    sys.stdout.write(json.dumps(_joined_keys(value), indent=1, default=plain) + "\n")


BY_NAME = frozenset(
    (
        "agreement",
        "asked_for_and_not_run",
        "different",
        "missing",
        "outside",
        "over",
        "parameters",
        "regrets",
        "rivals",
        "runs",
    )
)
"""Facts whose keys are somebody's names, which may look like words."""


def _joined_keys(value: Any, *, names: bool = False) -> Any:
    if isinstance(value, dict):
        keys = {key: key if names else joined(key) for key in value}
        return {keys[key]: _joined_keys(each, names=keys[key] in BY_NAME) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_joined_keys(each) for each in value]
    return value


def joined(key: Any) -> Any:
    """A key in snake_case, unless it has a capital letter, as names have, or no letter at all.

    >>> joined("paper's % zero"), joined("95th percentile"), joined("AGrid 2-D")
    ('paper_percent_zero', '95th_percentile', 'AGrid 2-D')
    """
    if not isinstance(key, str) or key != key.lower() or key == key.upper():
        return key
    plain = re.sub(r"'s?(?= |$)", "", key).replace("%", "percent")
    return re.sub("[^a-z0-9]+", "_", plain).strip("_") or key
