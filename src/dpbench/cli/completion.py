"""``dpbench completion``: what a shell needs to complete our commands, read off the parser."""

from __future__ import annotations

import argparse
import shlex
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from dpbench.cli.arguments import add_verb

if TYPE_CHECKING:
    from dpbench.cli.arguments import Subparsers

_ABOUT = """\
Write a completion script for bash, zsh or fish: verbs, options, and the names of algorithms, datasets and suites. It is
read off the command line as it is now: write it again after an update or for new plug-ins.
"""
_EXAMPLE = """\
dpbench completion bash > ~/.local/share/bash-completion/completions/dpbench
  dpbench completion zsh > "${fpath[1]}/_dpbench"
  dpbench completion fish > ~/.config/fish/completions/dpbench.fish"""


def add_parser(subparsers: Subparsers) -> None:
    """Add ``completion``."""
    parser = add_verb(subparsers, "completion", "completion for bash, zsh or fish", _ABOUT, _EXAMPLE)
    parser.add_argument("shell", choices=tuple(SHELLS), help="which shell")
    parser.set_defaults(run=run_completion)


def run_completion(chosen: argparse.Namespace) -> int:
    """Write the script to stdout."""
    from dpbench.cli import build_parser

    sys.stdout.write(SHELLS[chosen.shell](list(commands(build_parser()))))
    return 0


@dataclass(frozen=True)
class Option:
    """One option of a command."""

    flags: tuple[str, ...]
    about: str
    takes_value: bool
    values: tuple[str, ...]
    """Values to offer."""
    files: bool
    """Whether files fit."""


@dataclass(frozen=True)
class Command:
    """What can follow ``dpbench``, ``dpbench store``, ``dpbench store info`` and so on."""

    path: str
    commands: tuple[tuple[str, str], ...]
    """Commands below this one, with a word on each."""
    options: tuple[Option, ...]
    values: tuple[str, ...]
    """What its arguments may be."""
    files: bool
    """Whether they may be files."""


def commands(parser: argparse.ArgumentParser) -> Iterator[Command]:
    """A parser and all parsers below it."""
    below: list[argparse.ArgumentParser] = []
    named: list[tuple[str, str]] = []
    options: list[Option] = []
    values: list[str] = []
    files = False
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            named += [(choice.dest, _line(choice.help)) for choice in action._choices_actions]
            below += action.choices.values()
        elif action.help == argparse.SUPPRESS:
            continue
        elif action.option_strings:
            takes_value = action.nargs != 0
            flags = tuple(action.option_strings)
            offered = _values(action) if takes_value else ()
            options.append(Option(flags, _line(action.help), takes_value, offered, takes_value and _takes_file(action)))
        else:
            values += _values(action)
            files = files or _takes_file(action)
    yield Command(parser.prog, tuple(named), tuple(options), tuple(values), files)
    for each in below:
        yield from commands(each)


def _line(text: str | None) -> str:
    return " ".join((text or "").split())


_FILE_WORDS = ("FILE", "DIR", "STORE", "FOLDER", "PLAN.toml", "SUMMARY", "ALGORITHM")
"""In the name of a value that may be a path; an algorithm may be FILE.py:Class."""


def _takes_file(action: argparse.Action) -> bool:
    return isinstance(action.metavar, str) and any(word in action.metavar for word in _FILE_WORDS)


def _values(action: argparse.Action) -> tuple[str, ...]:
    """The choices of an argument, or the catalogue that its name stands for."""
    if action.choices is not None:
        return tuple(str(choice) for choice in action.choices)
    catalogue: dict[str, Callable[[], Iterable[str]]] = {
        "algorithm": _algorithms,
        "algorithms": _algorithms,
        "dataset": lambda: [*_histograms(), *_shapes()],
        "histograms": _histograms,
        "plan": _suites,
        "domain": lambda: _of_the_paper("domains"),
        "scale": lambda: _of_the_paper("scales"),
    }
    return tuple(catalogue[action.dest]()) if action.dest in catalogue else ()


def _algorithms() -> Iterable[str]:
    from dpbench import algorithms

    return algorithms.names()


def _histograms() -> Iterable[str]:
    from dpbench import datasets

    return datasets.names()


def _shapes() -> Iterable[str]:
    from dpbench.datasets import shapes

    return shapes.names()


def _suites() -> Iterable[str]:
    from dpbench.experiment.suites import SUITES

    return SUITES


def _of_the_paper(part: str) -> Iterable[str]:
    from dpbench.task import RANGE_1D, RANGE_2D

    return dict.fromkeys(str(each) for task in (RANGE_1D, RANGE_2D) for each in getattr(task.generator, part))


def _flags(command: Command) -> list[str]:
    return [flag for option in command.options for flag in option.flags]


def _words(command: Command) -> list[str]:
    """Names that may stand next in a command."""
    return [*(name for name, _ in command.commands), *command.values]


def _bash(found: list[Command]) -> str:
    cases = []
    for command in found:
        for option in command.options:
            if option.takes_value:
                patterns = "|".join(f'"{command.path} {flag}"' for flag in option.flags)
                cases.append(f"    {patterns}) words={shlex.quote(' '.join(option.values))} files={option.files:d} ;;")
    words = [
        f'    "{each.path}") words={shlex.quote(" ".join(_words(each)))} flags={shlex.quote(" ".join(_flags(each)))}'
        f" files={each.files:d} ;;"
        for each in found
    ]
    return _BASH.format(
        steps="|".join(f'"{command.path}"' for command in found[1:]),
        values="\n".join(cases),
        words="\n".join(words),
    )


_BASH = """\
# Completion of dpbench in bash; written by `dpbench completion bash`.
_dpbench() {{
  local current="${{COMP_WORDS[COMP_CWORD]}}" previous="${{COMP_WORDS[COMP_CWORD-1]}}" path=dpbench
  local words='' flags='' files=0 word
  for word in "${{COMP_WORDS[@]:1:COMP_CWORD-1}}"; do
    case "$path $word" in {steps}) path="$path $word" ;; esac
  done
  case "$path $previous" in
{values}
    *) case "$path" in
{words}
    esac ;;
  esac
  case "$current" in -*) words="$flags" files=0 ;; esac
  COMPREPLY=()
  while IFS= read -r word; do COMPREPLY+=("$word"); done < <(
    compgen -W "$words" -- "$current"
    if [ "$files" = 1 ]; then compgen -f -- "$current"; fi
  )
}}
complete -o filenames -F _dpbench dpbench
"""


def _zsh(found: list[Command]) -> str:
    cases = []
    for command in found:
        for option in command.options:
            if option.takes_value:
                patterns = "|".join(f'"{command.path} {flag}"' for flag in option.flags)
                cases.append(f"    {patterns}) offered=({_quoted(_plain(option.values))}) files={option.files:d} ;;")
    offers = []
    for command in found:
        flags = [(flag, option.about) for option in command.options for flag in option.flags]
        offered = _quoted([*_told(command.commands), *_plain(command.values), *_told(flags)])
        offers.append(f'    "{command.path}") offered=({offered}) files={command.files:d} ;;')
    return _ZSH.format(
        steps="|".join(f'"{command.path}"' for command in found[1:]), values="\n".join(cases), words="\n".join(offers)
    )


def _told(pairs: tuple[tuple[str, str], ...] | list[tuple[str, str]]) -> list[str]:
    """Words with what they are for, as zsh's _describe takes them."""
    return [f"{_plain([word])[0]}:{about}" for word, about in pairs]


def _plain(words: tuple[str, ...] | list[str]) -> list[str]:
    return [word.replace(":", "\\:") for word in words]


def _quoted(words: list[str]) -> str:
    return " ".join(shlex.quote(word) for word in words)


_ZSH = """\
#compdef dpbench
# Completion of dpbench in zsh; written by `dpbench completion zsh`.
_dpbench() {{
  local at=dpbench files=0 word
  local -a offered
  for word in "${{(@)words[2,CURRENT-1]}}"; do
    case "$at $word" in {steps}) at="$at $word" ;; esac
  done
  case "$at ${{words[CURRENT-1]}}" in
{values}
    *) case "$at" in
{words}
    esac ;;
  esac
  (( ${{#offered}} )) && _describe dpbench offered
  if (( files )); then _files; fi
}}
if [ "$funcstack[1]" = _dpbench ]; then _dpbench "$@"; else compdef _dpbench dpbench; fi
"""


def _fish(found: list[Command]) -> str:
    lines = ["# Completion of dpbench in fish; written by `dpbench completion fish`."]
    for command in found:
        words, names = command.path.split()[1:], " ".join(name for name, _ in command.commands)
        condition = "; and ".join(f"__fish_seen_subcommand_from {word}" for word in words)
        if names:
            condition += f"{'; and ' if condition else ''}not __fish_seen_subcommand_from {names}"
        start = f"complete -c dpbench -n {shlex.quote(condition)}"
        for name, about in command.commands:
            lines.append(f"{start} -f -a {name} -d {_fish_quoted(about)}")
        if command.values or not command.commands:
            offered = f" -a {_fish_words(command.values)}" if command.values else ""
            lines.append(f"{start}{'' if command.files else ' -f'}{offered}")
        for option in command.options:
            flags = " ".join(f"-l {flag[2:]}" if flag.startswith("--") else f"-s {flag[1:]}" for flag in option.flags)
            value = (" -r" if option.files else " -x") * option.takes_value
            value += f" -a {_fish_words(option.values)}" * bool(option.values)
            lines.append(f"{start} {flags}{value} -d {_fish_quoted(option.about)}")
    return "\n".join(lines) + "\n"


def _fish_words(words: tuple[str, ...]) -> str:
    """A list of words, which fish expands once more: a star in a name is no pattern."""
    return _fish_quoted(" ".join(word.replace("*", "\\*") for word in words))


def _fish_quoted(text: str) -> str:
    """In single quotes, where fish knows two escapes."""
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


SHELLS: dict[str, Callable[[list[Command]], str]] = {"bash": _bash, "zsh": _zsh, "fish": _fish}
