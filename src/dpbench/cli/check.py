"""``dpbench check``: is it an algorithm, and does it keep its promise of privacy."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING, Any

from dpbench.cli.arguments import add_jobs, add_quiet, add_verb, jobs_of, positive, seed, whole, write_json

if TYPE_CHECKING:
    from dpbench.audit.report import AuditReport, Layer
    from dpbench.cli.arguments import Subparsers
    from dpbench.errors import DPBenchError

RUNS = 100_000
"""Runs a side of the black box where somebody asks for it and gives no number."""

_ABOUT = """\
Audit algorithms, layer by layer. "nothing found" covers only the tests listed; it is not a proof.
  conformance  the same seed gives the same bits, fresh and after many other runs; finite output on any domain; what is
               declared holds; no file is read
  ledger       every charge has a reason, and all of epsilon is spent or given up
  sensitivity  each strategy's and each score's claim is recomputed; the largest change found stands beside the claim
  replay       random cases: with the same noisy answers other counts change nothing that leaves the run, and no call
               costs more than it was charged; a case that fails is made small and printed
  black box    outputs on two neighbours differ no more than epsilon allows: a quick statistical test for third-party
               code that passed everything else (false-alarm rate 1e-6); with --black-box or --runs a long one (0.001)
  released     (--released) the black box on the whole numbers of a release, by exact noise; nothing else is looked at
  mechanisms   (where it brings mechanisms of its own) their draws fit the density that they state, in far tails too,
               and take their noise from the channel that they are given
A plain function f(x, workload, epsilon, rng) in a file gets the black box, a look for the scale, and determinism.
The verdict is one of three:
  leak or fault found  exit code 1; the cause is printed
  nothing found        exit code 0
  not examined         exit code 2: a layer that matters did not come to its end, or the code cannot be loaded; nothing
                       was found, and nothing is known
Of several algorithms: 1 if anything was found in any, else 2 if any was not examined, else 0.
--timeout is in seconds of CPU time, so a busy machine makes nothing fail. An examination that waits ends after 5 times
as many seconds on the clock. Either is "not examined".
"""


def add_parser(subparsers: Subparsers) -> None:
    """Add ``check``."""
    parser = add_verb(
        subparsers,
        "check",
        "conformance and privacy of an algorithm",
        _ABOUT,
        "dpbench check my_algorithm.py:Mine\n  dpbench check Hb GreedyH --black-box --runs 20000\n"
        "  dpbench check my_code.py:histogram\n  dpbench check my_algorithm.py:Mine --domain 4096 --cases 2000\n"
        "  dpbench check --all --json\n  dpbench check Hb --released --runs 20000",
    )
    add = parser.add_argument
    add(
        "algorithms",
        nargs="*",
        metavar="NAME|FILE.py:Class",
        help="a name in the catalogue, FILE.py:Class or FILE.py:function",
    )
    add("--all", action="store_true", help="every algorithm of the catalogue")
    add("--variant", choices=("private", "published"), default="private", help="which form to check")
    add("--side-information", choices=("estimated", "public"), help="where a declared scale comes from")
    add("--ignore-marks", action="store_true", help="judge a form that says it is not private by measurement alone")
    add("--domain", metavar="N|NxM", help="replay and recompute claims on this domain alone")
    add(
        "--cases",
        type=whole,
        metavar="N",
        help="random cases of the replay (480, or as many as 10 s of CPU time allow)",
    )
    add("--black-box", action="store_true", help="run it on two neighbours many times (seconds to minutes each)")
    add(
        "--released",
        action="store_true",
        help="the black box on what `dpbench release` publishes, in place of the rest",
    )
    add(
        "--runs",
        type=whole,
        metavar="N",
        help="the black box with so many runs a side (--black-box alone: 100000)",
    )
    add("--seed", type=seed, default=0, metavar="N", help="seed of the examination (0)")
    add("--timeout", type=positive, metavar="S", help="CPU seconds for each algorithm (180; with the black box 7200)")
    add_jobs(parser, "worker processes (one for each core); 0: in this process, without a time limit")
    add("--json", action="store_true", help="everything that was measured, as JSON")
    add_quiet(parser)
    parser.set_defaults(run=run_check)


def run_check(chosen: argparse.Namespace) -> int:
    """Audit each algorithm; 1 if anything was found in any, else 2 if any was not examined."""
    from dataclasses import asdict

    from dpbench.audit.examinations import examine
    from dpbench.audit.report import FOUND, UNKNOWN
    from dpbench.audit.samplers import samplers_layer
    from dpbench.cli.text_tables import coloured
    from dpbench.errors import DPBenchError
    from dpbench.run.executors.system import insist_on_forks

    examinations = _examinations(chosen)
    if chosen.released:
        return _check_released(chosen, [each.reference for each in examinations])
    insist_on_forks("an algorithm that is checked")
    jobs = min(jobs_of(chosen), len(examinations))
    timeout = chosen.timeout or (7200.0 if _runs(chosen) else 180.0)
    outcomes: dict[Any, AuditReport | DPBenchError] = {}
    for each, outcome in examine(examinations, jobs=jobs, timeout=timeout):
        outcomes[each] = outcome
        if len(examinations) > 1 and not chosen.quiet:
            line = f"{len(outcomes)}/{len(examinations)} {_progress(each.reference, outcome)}\n"
            sys.stderr.write(coloured(line, sys.stderr))
    ordered = [outcomes[each] for each in examinations]
    reports = [each for each in ordered if not isinstance(each, DPBenchError)]
    errors = [each for each in ordered if isinstance(each, DPBenchError)]
    samplers = samplers_layer(chosen.seed) if reports else None
    if reports and samplers is not None:
        if chosen.json:
            write_json({"algorithms": [report.as_json() for report in reports], "samplers": asdict(samplers)}, str)
        else:
            sys.stdout.write(coloured(_table(reports, samplers)))
    for error in errors:
        sys.stderr.write(f"dpbench: {error}\n")
    if any(report.outcome == FOUND for report in reports) or (samplers and samplers.verdict == "fail"):
        return 1
    return 2 if errors or any(report.outcome == UNKNOWN for report in reports) else 0


def _check_released(chosen: argparse.Namespace, names: list[str]) -> int:
    """The black box on releases, one algorithm after the other."""
    from dpbench.release.black_box import RUNS, audit_release

    reports = []
    for name in names:
        reports.append(audit_release(name, runs=chosen.runs or RUNS, seed=chosen.seed))
        if not chosen.quiet:
            sys.stderr.write(f"{len(reports)}/{len(names)} {_progress(name, reports[-1])}\n")
    if chosen.json:
        write_json({"algorithms": [report.as_json() for report in reports]}, str)
    else:
        from dpbench.cli.text_tables import aligned, coloured

        rows = [(_label(each), _cell(each.layer("black box")), each.outcome) for each in reports]
        heads = ("algorithm", "black box", "verdict")
        lines = aligned([heads, tuple("-" * len(head) for head in heads), *rows])
        lines += [f"FAIL  {layer.name}: {layer.cause}" for report in reports for layer in report.failures]
        sys.stdout.write(coloured("\n".join(lines) + "\n"))
    return 0 if all(report.passed for report in reports) else 1


def _progress(name: str, outcome: AuditReport | DPBenchError) -> str:
    from dpbench.audit.report import UNKNOWN
    from dpbench.errors import DPBenchError

    if isinstance(outcome, DPBenchError):
        return f"{name}: {UNKNOWN}"
    return f"{name}: {outcome.outcome} after {outcome.seconds:.0f} s"


def _examinations(chosen: argparse.Namespace) -> list[Any]:
    """What was asked for, or one line of refusal."""
    from dpbench import algorithms
    from dpbench.audit.examinations import Examination
    from dpbench.audit.subject import CASES
    from dpbench.domain import Domain
    from dpbench.errors import InvalidInput

    names = [*chosen.algorithms, *(algorithms.everything() if chosen.all else [])]
    if not names:
        raise InvalidInput("nothing to check; name an algorithm, FILE.py:Class, or --all")
    if chosen.runs is not None and chosen.runs < 1000:
        raise InvalidInput(f"--runs is {chosen.runs}; give at least 1000, fewer show nothing")
    if chosen.domain is not None:
        Domain.of(chosen.domain)
    return [
        Examination(
            reference=name,
            variant=chosen.variant,
            side_information=chosen.side_information,
            seed=chosen.seed,
            ignore_marks=chosen.ignore_marks,
            runs=_runs(chosen),
            cases=chosen.cases or CASES,
            domain=chosen.domain,
        )
        for name in dict.fromkeys(names)
    ]


def _runs(chosen: argparse.Namespace) -> int | None:
    """Runs a side of the black box that somebody has asked for."""
    return chosen.runs or (RUNS if chosen.black_box else None)


def _table(reports: list[AuditReport], samplers: Layer) -> str:
    """One line per algorithm, then every cause and note."""
    from dpbench.audit.report import LAYERS
    from dpbench.cli.text_tables import aligned

    own = any(report.layer("mechanisms").verdict != "not run" for report in reports)
    columns = LAYERS if own else LAYERS[:-1]
    rows: list[tuple[str, ...]] = [("algorithm", *columns, "verdict")]
    for report in reports:
        cells = [_cell(report.layer(name)) for name in columns]
        rows.append((_label(report), *cells, report.outcome))
    rule = tuple("-" * max(map(len, column)) for column in zip(*rows, strict=True))
    lines = aligned([rows[0], rule, *rows[1:]])
    lines += [_cause(layer) for report in reports for layer in report.causes]
    lines += [f"tried {report.name}: {report.tried()}" for report in reports if report.tried()]
    lines += [f"note  {report.name}: {note}" for report in reports for note in report.notes]
    lines.append(_samplers_line(samplers))
    return "\n".join(lines) + "\n"


def _label(report: AuditReport) -> str:
    marks = [mark for mark in (report.form, report.side_information) if mark not in (None, "private")]
    return f"{report.name} ({', '.join(str(mark) for mark in marks)})" if marks else report.name


def _cause(layer: Layer) -> str:
    return f"{'FAIL' if layer.verdict == 'fail' else 'NOT EXAMINED'}  {layer.name}: {layer.cause}"


def _cell(layer: Layer) -> str:
    """A layer in a few words."""
    if layer.verdict != "pass":
        return "FAIL" if layer.verdict == "fail" else "?" if layer.missing else "-"
    figures = layer.figures
    if layer.name == "ledger":
        return f"{figures['ledgers']} ledgers"
    if layer.name == "sensitivity":
        return f"{figures['largest change']:.4g} of {figures['claim']:.4g}"
    if layer.name == "replay":
        return f"{figures['cases']} cases, {figures['domains']} domains"
    if layer.name == "black box":
        shown = max(figures["refuted"], 0.0)
        return f"{shown:.2f} of {figures['epsilon']:g} shown, {figures['power']:.2f} in reach"
    return "holds"


def _samplers_line(samplers: Layer) -> str:
    if samplers.verdict == "fail":
        return f"FAIL  samplers: {samplers.cause}"
    figures = samplers.figures
    found = ", ".join(f"{name} off by {figures[name]['distance']:.1e}" for name in ("Laplace", "Gumbel"))
    return f"samplers: {found} in {figures['draws']:,} draws each (false alarms {figures['false-alarm rate']:g})"
