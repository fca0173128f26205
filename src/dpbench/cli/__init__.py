"""The command ``dpbench``.

Exit codes: 0 success; 1 a check failed; 2 bad input, or a failure reported in one line; 130 interrupted.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence

from dpbench import __version__
from dpbench.cli.arguments import Parser
from dpbench.errors import DPBenchError, one_line

_ABOUT = "Principled evaluation of differentially private algorithms for range queries."
_EXAMPLES = """\
examples:
  dpbench run demo                       every algorithm on synthetic shapes, in a minute
  dpbench list algorithms                what there is
  dpbench new mine.py                    an algorithm to start from
  dpbench check mine.py:Mine             is it an algorithm, and is it private?
  dpbench recommend --cells 128x128 --epsilon 0.5 --records 300000   which algorithm, for data nobody may see
  dpbench strategies --domain 4096       what data-independent algorithms come to, without a run
  dpbench paper                          the paper beside what was measured
  dpbench compare mine.py:Mine           it against the whole study
  dpbench release flights.toml           a private histogram out of a confidential table
  dpbench data pull                      the paper's 27 histograms
  dpbench report dpbench-store/demo --out page   one offline page of it
  dpbench interpret dpbench-store/demo   competitive algorithms, regret
  dpbench store info dpbench-store/demo  what a run left behind

exit codes: 0 success, 1 a check failed, 2 bad input, 130 interrupted
"""

_SHORT = """\
usage: dpbench VERB ...

compare an algorithm   dpbench new mine.py; dpbench check mine.py:Mine; dpbench compare mine.py:Mine
choose one             dpbench recommend --cells 128x128 --epsilon 0.5 --records 300000
publish a histogram    dpbench release SPEC.toml
look around            dpbench list algorithms; dpbench paper; dpbench report -o page

dpbench --help lists all verbs, dpbench VERB --help explains one
"""

VERBS = (
    "run",
    "list",
    "recommend",
    "strategies",
    "paper",
    "compare",
    "leaderboard",
    "report",
    "figures",
    "interpret",
    "principles",
    "properties",
    "store",
    "new",
    "check",
    "release",
    "table",
    "tune",
    "repair",
    "data",
    "completion",
)
"""In the order of the help; each is added by the module of its name."""
MODULES = {"list": "catalogue"}
"""Those whose module has another name."""


def build_parser(verb: str = "") -> argparse.ArgumentParser:
    """The whole command line, or the part that one verb needs; imports nothing heavy, so that --help is quick."""
    from importlib import import_module

    parser = Parser(
        prog="dpbench",
        description=_ABOUT,
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("-V", "--version", action="version", version=f"dpbench {__version__}")
    verbs = parser.add_subparsers(title="verbs", metavar="VERB", required=True)
    for each in [verb] if verb in VERBS else VERBS:
        import_module(f"dpbench.cli.{MODULES.get(each, each)}").add_parser(verbs)
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:  # closed by whoever started us: there is nobody to write to
            setattr(sys, name, os.fdopen(os.open(os.devnull, os.O_WRONLY), "w", encoding="utf-8"))
    given = sys.argv[1:] if arguments is None else list(arguments)
    if not given:
        sys.stdout.write(_SHORT)
        return 0
    chosen = build_parser(given[0]).parse_args(given)
    try:
        return int(chosen.run(chosen))
    except DPBenchError as error:
        sys.stderr.write(f"dpbench: {error}\n")
        return 2
    except KeyboardInterrupt:
        sys.stderr.write("dpbench: interrupted\n")
        return 130
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # whoever read us has gone; end quietly
        return 0
    except Exception as error:
        words = _in_words(error) if isinstance(error, OSError) else _fault_of_kernels(error)
        if not words:
            raise
        sys.stderr.write(f"dpbench: {words}\n")
        return 2


def _fault_of_kernels(error: Exception) -> str:
    from dpbench.mathematics.kernel_cache import fault

    return fault(error)


def _in_words(error: OSError) -> str:
    """What a disk or a network refused, in one line."""
    where = f"{error.filename}: " if error.filename is not None else ""
    return f"{one_line(where)}{error.strerror or ' '.join(str(error).split())}; check the path and its permissions"
