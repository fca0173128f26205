"""``dpbench completion``: what a shell needs to complete our commands, read off the parser by shtab."""

from __future__ import annotations

import argparse
import shlex
import sys
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from dpbench.cli.arguments import add_verb

if TYPE_CHECKING:
    from dpbench.cli.arguments import Subparsers

_ABOUT = """\
Write a completion script for bash, zsh or fish: verbs, options, and the names of algorithms, datasets, suites, losses
and tests. It is read off the command line as it is now: write it again after an update or for new plug-ins.
"""
_EXAMPLE = """\
dpbench completion bash > ~/.local/share/bash-completion/completions/dpbench
  dpbench completion zsh > "${fpath[1]}/_dpbench"
  dpbench completion fish > ~/.config/fish/completions/dpbench.fish"""


def add_parser(subparsers: Subparsers) -> None:
    """Add ``completion``."""
    parser = add_verb(subparsers, "completion", "completion for bash, zsh or fish", _ABOUT, _EXAMPLE)
    parser.add_argument("shell", choices=("bash", "zsh", "fish"), help="which shell")
    parser.set_defaults(run=run_completion)


def run_completion(chosen: argparse.Namespace) -> int:
    """Write the script to stdout."""
    import shtab

    from dpbench.cli import build_parser

    parser = build_parser()
    _mark(parser)
    sys.stdout.write(shtab.complete(parser, chosen.shell) + "\n")
    return 0


def _mark(parser: argparse.ArgumentParser) -> None:
    """Put what shtab needs into a parser and into all below it, which then serve for nothing else."""
    import shtab

    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for below in action.choices.values():
                below.description = None  # shtab would quote its first line; without it, the summary
                _mark(below)
            continue
        names, files = tuple(_names(action.dest)), _takes_file(action)
        if names or files:
            action.complete = _offer(action.dest, names, files) if names else shtab.FILE  # type: ignore[attr-defined]
        action.metavar = None  # a colon in it, as in FILE.py:Class, would end the word in zsh


def _takes_file(action: argparse.Action) -> bool:
    """Whether the name of the value says that it may be a path; an algorithm may be FILE.py:Class."""
    words = ("FILE", "DIR", "STORE", "FOLDER", "PLAN.toml", "SUMMARY", "ALGORITHM")
    return isinstance(action.metavar, str) and any(word in action.metavar for word in words)


def _offer(what: str, names: tuple[str, ...], files: bool) -> dict[str, Any]:
    """How each shell completes names, and files where they fit too; a star in a name is no pattern."""
    function = (
        f"_dpbench_{'files_or_' if files else ''}{what}"  # shtab's bash looks for "file" in it, to quote like one
    )
    listed = shlex.join(names)
    bash = f'compgen -W {shlex.quote(" ".join(names))} -- "$1"' + ('; compgen -f -- "$1"' if files else "")
    zsh = f"compadd -- {listed}" + ("; _files" if files else "")
    return {
        "bash": function,
        "zsh": function,
        "fish": listed + (" (__fish_complete_path (commandline -ct))" if files else ""),
        "preamble": {"bash": f"{function}() {{ {bash}; }}", "zsh": f"{function}() {{ {zsh}; }}"},
    }


def _names(what: str) -> Iterable[str]:
    """The catalogue that the name of an argument stands for."""
    catalogue: dict[str, Callable[[], Iterable[str]]] = {
        "algorithm": _algorithms,
        "algorithms": _algorithms,
        "baseline": _algorithms,
        "dataset": lambda: [*_histograms(), *_shapes()],
        "histograms": _histograms,
        "loss": _losses,
        "test": _tests,
        "plan": _suites,
        "domain": lambda: _of_the_paper("domains"),
        "scale": lambda: _of_the_paper("scales"),
    }
    return catalogue[what]() if what in catalogue else ()


def _algorithms() -> Iterable[str]:
    from dpbench import algorithms

    return list(algorithms.everything())


def _losses() -> Iterable[str]:
    from dpbench.loss import LOSSES

    return LOSSES


def _tests() -> Iterable[str]:
    from dpbench.significance import TESTS

    return TESTS


def _histograms() -> Iterable[str]:
    from dpbench import datasets

    return datasets.names()


def _shapes() -> Iterable[str]:
    from dpbench.datasets import shapes

    return shapes.names()


def _suites() -> Iterable[str]:
    from dpbench.run.suites import SUITES

    return SUITES


def _of_the_paper(part: str) -> Iterable[str]:
    from dpbench.task.task import RANGE_1D, RANGE_2D

    return dict.fromkeys(str(each) for task in (RANGE_1D, RANGE_2D) for each in getattr(task.generator, part))
