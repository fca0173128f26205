"""``dpbench compare``: an algorithm of your own against the whole study."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING, Any

from dpbench.cli.arguments import add_jobs, add_json, add_quiet, add_verb, whole, write_json
from dpbench.cli.report import page_line
from dpbench.cli.standards import add_standards, given_standards, read_by_options, say_what_is_kept

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from dpbench.cli.arguments import Subparsers
    from dpbench.paper.comparison import Comparison
    from dpbench.results import Results
    from dpbench.run.plan import Plan
    from dpbench.task.parts import WorkloadPart

COMBINED = ("dataset", "domain", "workload", "scale", "epsilon", "rho")
"""What the newcomer is run on every combination of."""
_ABOUT = """\
Run one algorithm on the data vectors of the study that comes with the package, and set it against all others without
running them: where it is competitive, its regret, where it loses to the baselines, in how many settings it is
significantly better or worse than each rival and by which factor, and the sentence and the tables for a paper. What was
run before is not run again, nor is an algorithm of this package that the study has by the present code.
"""
_EXAMPLE = """\
dpbench compare mine.py:Mine --dimensions 1 --domain 4096 --page page
  dpbench compare mine.py:Mine --dataset MEDCOST --scale 1000 --latex"""


def add_parser(subparsers: Subparsers) -> None:
    """Add ``compare``."""
    parser = add_verb(subparsers, "compare", "an algorithm of yours against the whole study", _ABOUT, _EXAMPLE)
    add = parser.add_argument
    many: dict[str, Any] = {"action": "append", "default": []}
    add("algorithm", metavar="FILE.py:Class", help="the newcomer; a plain function is FILE.py:function")
    add("--setting", choices=("private", "published"), default="private", help="against which study (private)")
    add("--dimensions", type=int, choices=(1, 2), help="only 1-D or 2-D (whatever it supports)")
    add("--domain", metavar="N|NxM", help="only this domain; may be repeated", **many)
    add("--dataset", metavar="NAME", help="only this dataset; may be repeated", **many)
    add("--scale", type=whole, metavar="N", help="only this scale; may be repeated", **many)
    add("--study", metavar="STORE|SUMMARY.parquet", help="another study; may be repeated", **many)
    add("--store", metavar="DIR", help="where its results are kept (dpbench-store/compare)")
    add_jobs(parser)
    add("--page", metavar="DIR", help="also write a page that shows it beside all others")
    add("--submit", metavar="FILE.parquet", help="also write its results, code hash and audit to send to a leaderboard")
    add_json(parser)
    add("--latex", action="store_true", help="write the tables in LaTeX rather than Markdown")
    add_quiet(parser)
    add_standards(parser)
    parser.set_defaults(run=run_compare)


def run_compare(chosen: argparse.Namespace) -> int:
    """Run the newcomer where it is missing and print the comparison; 1 if a unit failed."""
    from dpbench.page.comparison import comparison_plain
    from dpbench.paper.comparison import against
    from dpbench.yardsticks import yardsticks

    if chosen.submit:
        _insist_on_a_place(chosen)
    rivals = read_by_options(_chosen(_study(chosen), chosen), chosen)
    say_what_is_kept(rivals)
    plan = _plan(rivals, chosen)
    kept = _kept(plan, rivals, chosen)
    newcomer, failed = _run(plan, chosen) if kept is None else (kept, int(kept.columns["failed"].sum()))
    rivals = _without_namesake(rivals, newcomer, anew=kept is None)
    _report_failures(newcomer)
    if not newcomer.whole.any():
        return 1
    comparison = against(rivals, newcomer, _exact(plan, rivals, chosen), yardsticks(rivals))
    page = _page(rivals.joined(newcomer), comparison, chosen) if chosen.page else None
    if chosen.submit:
        _submit(newcomer, chosen)
    if chosen.json:
        plain = comparison_plain(comparison) | ({"page": str(page)} if page else {})
        write_json(plain)
    else:
        _print(comparison, latex=chosen.latex)
        sys.stdout.write(f"{page_line(page)}\n" if page else "")
    return 1 if failed else 0


def _page(both: Results, comparison: Comparison, chosen: argparse.Namespace) -> Path:
    """The newcomer on a page with everybody it was compared with."""
    from dpbench.gallery import gallery_for
    from dpbench.page import page
    from dpbench.page.comparison import for_page
    from dpbench.yardsticks import yardsticks

    names = set(both.columns["dataset"].tolist())
    algorithms = set(both.columns["algorithm"].tolist())
    gallery = gallery_for(added=[chosen.algorithm], names=names, algorithms=algorithms)
    title = f"DPBench: {comparison.name} among the others"
    against = for_page(comparison)
    return page(both, chosen.page, gallery=gallery, title=title, comparison=against, yardsticks=yardsticks(both))


def _insist_on_a_place(chosen: argparse.Namespace) -> None:
    """Refuse a submission that could not be written, or merged, before anything is run."""
    from pathlib import Path

    from dpbench.errors import InvalidInput
    from dpbench.run.executors.system import insist_on_forks

    insist_on_forks("an algorithm that is checked")
    if chosen.study or chosen.setting != "private":
        raise InvalidInput("--submit is for the private study of this package; leave out --study and --setting")
    path = Path(chosen.submit)
    if path.is_dir() or not path.parent.is_dir():
        raise InvalidInput(f"--submit {chosen.submit}: give a file in a folder that exists, such as mine.parquet")


def _submit(newcomer: Results, chosen: argparse.Namespace) -> None:
    """Audit the newcomer and write what `dpbench leaderboard` takes."""
    from dpbench.audit.examinations import Examination, examine
    from dpbench.cli.text_tables import coloured
    from dpbench.cli.versions import settings_words
    from dpbench.errors import DPBenchError, InvalidInput
    from dpbench.paper.submission import submit
    from dpbench.run.provenance import machine

    if not newcomer.whole.all():
        raise InvalidInput("--submit takes whole results, and some settings failed; correct them, or leave them out")
    ((_, report),) = examine([Examination(reference=chosen.algorithm)], jobs=1, timeout=180.0)
    audit = {"cause": str(report)} if isinstance(report, DPBenchError) else report.as_json()
    kept = {name: audit[name] for name in ("passed", "outcome", "tried", "cause") if name in audit}
    submit(newcomer, chosen.submit, audit=kept, machine=machine())
    words = kept.get("outcome", "not examined")
    line = f"{chosen.submit}: {settings_words(len(newcomer))}, audit: {words}; `dpbench leaderboard` takes it\n"
    sys.stderr.write(coloured(line, sys.stderr))


def _study(chosen: argparse.Namespace) -> Results:
    """What the newcomer is set against: every algorithm of the setting, whatever its parameters and side information.

    The shipped study keeps its small suites, whose parameters vary, apart; a study of one's own is taken whole.
    """
    from dpbench.errors import InvalidStore
    from dpbench.paper import Study
    from dpbench.paper.study import joined
    from dpbench.results import Results

    found: Results | None
    if chosen.study:
        opened = [Results.open(path, **given_standards(chosen)) for path in chosen.study]
        found = joined(opened).where(variant=chosen.setting)
    else:
        shipped = Study.shipped()
        found = (shipped.private if chosen.setting == "private" else shipped.published).results
    if found is None or not len(found):
        raise InvalidStore(f"the study has nothing in the {chosen.setting} setting; choose the other with --setting")
    return found


def _kept(plan: Plan, rivals: Results, chosen: argparse.Namespace) -> Results | None:
    """What the study has of an algorithm of this package; None where that is not all, or was made by other code.

    A submission is run, since it has every error in full.
    """
    import numpy as np

    from dpbench.domain import Domain
    from dpbench.plugins import is_stranger

    if chosen.submit or is_stranger(chosen.algorithm):
        return None
    (part,) = plan.tasks[0].algorithms
    newcomer = plan.candidate(part)
    side_information = part.side_information if newcomer.algorithm.side_information else ""
    known = {
        "algorithm": newcomer.part.name,
        "variant": part.variant,
        "parameters": "{}",
        "side_information": side_information,
        "algorithm_source": newcomer.source,
    }
    found = rivals.take(np.logical_and.reduce([rivals.columns[name] == value for name, value in known.items()]))
    wanted = {place for place in rivals.places if newcomer.algorithm.supports(Domain.of(place.domain))}
    return found if wanted and wanted <= set(found.places) else None


def _without_namesake(rivals: Results, newcomer: Results, *, anew: bool) -> Results:
    """The rivals; results that the study has under the newcomer's own label are left out, and that is said."""
    same = rivals.labels == (newcomer.labels[0] if len(newcomer) else None)
    if same.any():
        words = (
            "results of {} too; they are left out, as it was run anew" if anew else "{} by this code; nothing is run"
        )
        sys.stderr.write(f"dpbench: the study has {words.format(newcomer.labels[0])}\n")
    return rivals.take(~same)


def _report_failures(newcomer: Results) -> None:
    from collections import Counter

    failed = Counter(newcomer.columns["failure"][~newcomer.whole].tolist())
    for why, number in failed.items():
        sys.stderr.write(
            f"dpbench: {newcomer.labels[0]} failed in {number} of {len(newcomer)} settings, which are not compared: "
            f"{why or 'no errors'}\n"
        )


def _exact(plan: Plan, rivals: Results, chosen: argparse.Namespace) -> Mapping[str, Mapping[str, float]]:
    """Exact ratios of errors, where the newcomer and a rival have expected errors."""
    from functools import partial

    from dpbench.paper.exact_ratios import errors_by_name, exact_ratios

    workloads = {
        (part.label, str(domain)): part.build(domain)
        for task in plan.tasks
        for domain in task.generator.domains
        for part in task.workloads
    }
    return exact_ratios(partial(errors_by_name, chosen.algorithm, chosen.setting), rivals, workloads)


def _chosen(results: Results, chosen: argparse.Namespace) -> Results:
    from dpbench.errors import InvalidInput

    wanted = {name: getattr(chosen, name) for name in ("domain", "dataset", "scale", "dimensions")}
    kept = results.where(**{name: value for name, value in wanted.items() if value})
    if not len(kept):
        raise InvalidInput("the study has no such settings; see dpbench paper --export for those that it has")
    return kept


def _plan(rivals: Results, chosen: argparse.Namespace) -> Plan:
    """The newcomer on every combination of the study's data, workloads and budgets, with its seed."""
    import numpy as np

    from dpbench.run.plan import Plan
    from dpbench.task.parts import AlgorithmPart, WorkloadPart
    from dpbench.task.task import RANGE_1D, RANGE_2D

    asked = _recorded_workloads(chosen.study)
    side = "public" if chosen.setting == "published" else "estimated"
    newcomer = AlgorithmPart(chosen.algorithm, chosen.setting, side)
    tasks = []
    for name in dict.fromkeys(rivals.columns["task"].tolist()):
        here = rivals.where(task=name)
        columns = {each: np.unique(here.columns[each]).tolist() for each in COMBINED}
        base = RANGE_2D if "x" in columns["domain"][0] else RANGE_1D
        by_epsilon = here.columns["epsilon"] > 0
        samples, trials = (int(n) for n in here.errors.shape[1:])
        tasks.append(
            base.replace(
                name=name,
                loss=rivals.standards.loss,
                datasets=columns["dataset"],
                domains=columns["domain"],
                workloads=[asked.get(label) or WorkloadPart.from_label(label) for label in columns["workload"]],
                scales=columns["scale"],
                epsilons=[each for each in columns["epsilon"] if each],
                deltas=np.unique(here.columns["delta"][by_epsilon]).tolist(),
                rhos=[each for each in columns["rho"] if each],
                seed=int(here.columns["seed"][0]),
                samples=samples,
                trials=trials,
                algorithms=[newcomer],
            )
        )
    return Plan(name="compare", tasks=tuple(tasks))


def _recorded_workloads(study: list[str]) -> dict[str, WorkloadPart]:
    """The workloads of a study by label, as its runs were given them: a workload of one's own is in a file."""
    from pathlib import Path

    from dpbench.store import Store
    from dpbench.task.parts import WorkloadPart

    records = [record for path in study if Path(path).is_dir() for record in Store(path).runs().values()]
    given = [each for record in records for task in record.get("tasks", ()) for each in task.get("workloads", ())]
    return {part.label: part for part in map(WorkloadPart.of, given)}


def _run(plan: Plan, chosen: argparse.Namespace) -> tuple[Results, int]:
    """The newcomer's results, and how many units failed."""
    from dpbench.cli.running import fill
    from dpbench.results import Results

    store, todo, outcome = fill(plan, chosen)
    wanted = {unit.key for unit in todo.units}
    failed = todo.failed + (len(outcome.failures) if outcome else 0)
    return Results._from_rows(row for row in store.rows() if row.key in wanted), failed


def _print(comparison: Comparison, *, latex: bool) -> None:
    from dpbench.page.comparison import comparison_latex, comparison_markdown

    write = sys.stdout.write
    write(comparison.sentence + "\n\n")
    write((comparison_latex if latex else comparison_markdown)(comparison) + "\n")
    ranked = sorted(comparison.regrets.items(), key=lambda each: each[1])
    write("regret: " + ", ".join(f"{name} {value:.2f}" for name, value in ranked) + "\n")
