"""Pages that are read off the code at build time: algorithms, the command line, what a study measured."""

from __future__ import annotations

import argparse
import ast
import inspect
import textwrap
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from pathlib import Path

import algorithm_figures
import measured
import reference_pages

from dpbench import algorithms
from dpbench.algorithm import Algorithm
from dpbench.cli import build_parser
from dpbench.gallery.algorithm_facts import algorithm_cards
from dpbench.page.cards import AlgorithmCard
from dpbench.paper import Study

NOT_EDITED = "Written by docs/pages.py before each build; do not edit."


def write_all(folder: Path) -> None:
    """Write every generated page below a folder and remove stale ones; what did not change keeps its time."""
    written = {
        "algorithms/index.rst": algorithm_index(),
        "generated/commands.rst": command_page(),
        "generated/api.rst": reference_pages.api_page(),
        "generated/formats.rst": reference_pages.format_page(),
    }
    for card in algorithm_cards():
        kind = algorithms.everything()[card.name]
        written[f"algorithms/{file_name(card.name)}.rst"] = algorithm_page(kind, card)
        written[f"algorithms/{file_name(card.name)}.svg"] = algorithm_figures.figure(card.name)
    for name, text in measured.places(Study.shipped()).items():
        written[f"generated/{name}.md"] = text
    for stale in [*folder.glob("algorithms/*"), *folder.glob("generated/*")]:
        if str(stale.relative_to(folder)) not in written:
            stale.unlink()
    for name, text in written.items():
        _write(folder / name, text)


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(exist_ok=True)
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.write_text(text, encoding="utf-8")


def file_name(algorithm: str) -> str:
    """A name as a file: MWEM* is mwem-star."""
    return algorithm.lower().replace("*", "-star").replace(" ", "-")


# --- algorithms -------------------------------------------------------------------------------------


def algorithm_index() -> str:
    """A list of all algorithms in the order of the paper's Table 1."""
    kinds = algorithms.everything().values()
    rows = [
        (
            f":doc:`{kind.name} <{file_name(kind.name)}>`",
            _dimensions(kind),
            "yes" if kind.data_dependent else "no",
            ", ".join(kind.side_information) or "none",
            _docstring(kind).split("\n\n")[0].replace("\n", " "),
        )
        for kind in kinds
    ]
    names = "\n".join(f"   {file_name(kind.name)}" for kind in kinds)
    return "\n".join(
        [
            *_comment(),
            *_title("Algorithms", "="),
            "Every page is made from the code. It says what an algorithm does, which facts it declares, which",
            "parameters it has, and where its epsilon goes. ``dpbench list algorithms`` prints the same facts.",
            "",
            *_table(("name", "domains", "data-dependent", "side information", "idea"), rows, (14, 14, 12, 14, 46)),
            ".. toctree::",
            "   :hidden:",
            "",
            names,
            "",
        ]
    )


def algorithm_page(kind: type[Algorithm], card: AlgorithmCard) -> str:
    """The page of one algorithm."""
    lines = [*_comment(), *_title(kind.name, "=")]
    if kind.paper:
        lines += [f"*{kind.paper}*", ""]
    lines += [_docstring(kind), ""]
    lines += [".. raw:: html", f"   :file: {file_name(kind.name)}.svg", ""]
    lines += [*_title("Facts", "-"), *_facts(kind, card)]
    lines += [*_title("Parameters", "-"), *_parameters(kind)]
    lines += [*_title("Where epsilon goes", "-"), *_ledger(card)]
    lines += [*_title("The published form", "-"), _published(kind), ""]
    call = f'dpb.algorithms.get("{kind.name}").explain(domain, workload, epsilon)'
    lines += [f"``dpbench check '{kind.name}'`` audits it; ``{call}`` prints its ledger for any domain.", ""]
    return "\n".join(lines)


def _docstring(kind: type[Algorithm]) -> str:
    """A class docstring as reStructuredText."""
    return plain_text(inspect.cleandoc(kind.__doc__ or ""))


def plain_text(text: str) -> str:
    """A docstring in which a bar outside code is the sign of an absolute value and not of a substitution."""
    pieces = text.split("``")
    return "``".join(piece if place % 2 else piece.replace("|", "\\|") for place, piece in enumerate(pieces))


def _facts(kind: type[Algorithm], card: AlgorithmCard) -> list[str]:
    free = ", ".join(kind.free) or "none"
    rows = [
        ("domains", _dimensions(kind)),
        ("properties", ", ".join(card.properties)),
        ("side information", ", ".join(kind.side_information) or "none"),
        ("free parameters (``dpbench tune``)", free),
        ("source", f"``{kind.__module__}``"),
    ]
    return _table(("fact", "value"), rows, (35, 65))


def _parameters(kind: type[Algorithm]) -> list[str]:
    docstrings = parameter_docstrings(kind)
    published = kind.defaults("published")
    rows = [
        (f"``{name}``", f"``{value!r}``", f"``{published[name]!r}``", docstrings.get(name, ""))
        for name, value in kind.defaults().items()
    ]
    return (
        _table(("name", "private form", "published form", "meaning"), rows, (15, 18, 18, 49)) if rows else ["None.", ""]
    )


def parameter_docstrings(kind: type[Algorithm]) -> dict[str, str]:
    """The docstring that follows each annotated field, from the class and those that it derives from."""
    found: dict[str, str] = {}
    for owner in reversed([each for each in kind.__mro__ if issubclass(each, Algorithm) and each is not Algorithm]):
        (tree,) = ast.parse(textwrap.dedent(inspect.getsource(owner))).body
        for field, after in pairwise(getattr(tree, "body", [])):
            match field, after:
                case ast.AnnAssign(target=ast.Name(id=name)), ast.Expr(value=ast.Constant(value=str(text))):
                    found[name] = " ".join(text.split())
    return found


def _ledger(card: AlgorithmCard) -> list[str]:
    rows = [
        (f"{100 * line.share:.1f} %", line.kind, line.why + (f" ({line.times} times)" if line.times > 1 else ""))
        for line in card.ledger
    ]
    note = "The structure depends on the data: this is one possible course, that of an empty histogram."
    return [
        f"By ``explain``, {card.ledger_where}, in the private form, without any data.",
        *([note] if card.data_dependent else []),
        "",
        *_table(("share of epsilon", "verb", "what for"), rows, (20, 20, 60)),
    ]


def _published(kind: type[Algorithm]) -> str:
    if kind.not_private:
        return f'``variant="published"`` behaves as the authors\' code does and is **not private**: {kind.not_private}.'
    changed = any(kind.defaults()[name] != value for name, value in kind.defaults("published").items())
    if changed:
        return (
            '``variant="published"`` behaves as the authors\' code does; it is private too, with the parameters above.'
        )
    return '``variant="published"`` is the same as the private form: nothing differs.'


def _dimensions(kind: type[Algorithm]) -> str:
    return " and ".join(f"{axes}-D" for axes in kind.dimensions) if kind.dimensions else "any"


# --- the command line -------------------------------------------------------------------------------


def command_page() -> str:
    """The help of every verb."""
    lines = [*_comment(), *_title("Every verb and its options", "=")]
    for path, text in _helps(build_parser()):
        if path != "dpbench":
            lines += [*_title(path, "-"), ".. code-block:: text", "", textwrap.indent(text.rstrip(), "   "), ""]
    return "\n".join(lines)


def _helps(parser: argparse.ArgumentParser) -> Iterator[tuple[str, str]]:
    yield parser.prog, parser.format_help()
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for below in action.choices.values():
                yield from _helps(below)


# --- reStructuredText -------------------------------------------------------------------------------


def _comment() -> list[str]:
    return [f".. {NOT_EDITED}", ""]


def _title(text: str, line: str) -> list[str]:
    shown = text.replace("*", "\\*")
    return [shown, line * len(shown), ""]


def _table(heads: Sequence[str], rows: Iterable[Sequence[str]], widths: Sequence[int]) -> list[str]:
    lines = [".. list-table::", "   :header-rows: 1", f"   :widths: {' '.join(map(str, widths))}", ""]
    for row in [heads, *rows]:
        for place, cell in enumerate(row):
            lines.append(f"   {'* -' if place == 0 else '  -'} {cell}".rstrip())
    return [*lines, ""]
