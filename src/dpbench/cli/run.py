"""``dpbench run``: evaluate algorithms."""

from __future__ import annotations

import argparse
import os
import sys
from collections import Counter
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any

from dpbench.cli.arguments import add_jobs, add_json, add_quiet, add_verb, positive, seed, share, whole, write_json
from dpbench.run.missing import TIMEOUT

if TYPE_CHECKING:
    from dpbench.cli.arguments import Subparsers
    from dpbench.run.execution import Agenda, RunSummary
    from dpbench.run.missing import Options
    from dpbench.run.plan import Plan
    from dpbench.store import Store

_ABOUT = """\
Evaluate algorithms: run a plan, keep every result in a store, print error by algorithm and scale.
A plan is a suite (see `dpbench list suites`) or a TOML file. What the store already holds is not run
again: after an interruption the same command goes on. An algorithm whose code has changed runs again in
the same store, which is said in one line; earlier results stay as another version (`dpbench store versions`).
Exit code 1 if a unit failed, or if an algorithm, dataset or domain that was named here cannot run.
"""
_EXAMPLE = """\
dpbench run demo
  dpbench run quick --algorithm Hb --algorithm Identity --scale 1000
  dpbench run paper-1d --with mine.py:Mine --store results --jobs 2
  dpbench run quick --print-toml > mine.toml       (a plan to edit, then: dpbench run mine.toml)
  dpbench run paper --shard 3/8 --store part3      (then: dpbench store merge part1 part2 ... --out all)"""

NARROWING = (
    "algorithm",
    "added",
    "dataset",
    "domain",
    "scale",
    "epsilon",
    "delta",
    "rho",
    "samples",
    "trials",
    "seed",
    "loss",
    "variant",
    "side_information",
)
"""The options that narrow or change a plan."""

NAMED = 3
"""How many things that were asked for and cannot run one line names."""
FAILURE = ("algorithm", "variant", "dataset", "domain", "scale", "epsilon", "sample", "failure")
"""What JSON reports of a unit that failed."""
SKIPPED = ("algorithm", "dataset", "domain", "reason")
"""What JSON reports of a combination that cannot run."""


def add_parser(subparsers: Subparsers) -> None:
    """Add ``run``."""
    parser = add_verb(subparsers, "run", "evaluate algorithms", _ABOUT, _EXAMPLE)
    add = parser.add_argument
    add("plan", metavar="SUITE|PLAN.toml", help="a suite by name, or a plan in a file")
    many: dict[str, Any] = {"action": "append", "default": []}
    add("--algorithm", metavar="NAME|FILE.py:Class", help="only this algorithm; may be repeated", **many)
    add(
        "--with",
        dest="added",
        metavar="FILE.py:Class",
        help="add an algorithm, or FILE.py:function; may be repeated",
        **many,
    )
    add("--dataset", metavar="NAME|FILE", help="only this dataset, or a .npy or .csv histogram; repeatable", **many)
    add("--domain", metavar="N|NxM", help="this domain; may be repeated", **many)
    add("--scale", type=whole, metavar="N", help="this scale; may be repeated", **many)
    add("--epsilon", type=positive, metavar="E", help="this epsilon; may be repeated", **many)
    add(
        "--delta",
        type=share,
        metavar="D",
        help="this delta with every epsilon (Gaussian noise); may be repeated",
        **many,
    )
    add("--rho", type=positive, metavar="R", help="this budget in zCDP, in place of epsilon; may be repeated", **many)
    add("--samples", type=whole, metavar="N", help="data vectors for each setting (5)")
    add("--trials", type=whole, metavar="N", help="runs on each data vector (10)")
    add("--seed", type=seed, metavar="N", help="seed of the study (0)")
    add("--loss", metavar="NAME[:PARAMETER=X]", help="measure by this loss, such as L1 or relative:floor=0.01 (L2)")
    add("--variant", choices=("private", "published"), help="run every algorithm in this form")
    add("--side-information", choices=("estimated", "public"), help="where a declared scale comes from")
    add("--store", metavar="DIR", help="where results are kept (dpbench-store/PLAN)")
    add_jobs(parser)
    add("--dask", metavar="local|tcp://HOST:PORT", help="run on a dask cluster (extra: cluster)")
    add("--shard", type=_shard, default=(1, 1), metavar="I/K", help="run part I of K, for job arrays")
    add(
        "--timeout",
        type=positive,
        default=TIMEOUT,
        metavar="S",
        help="seconds that a unit may take (1800); not with --dask",
    )
    add("--memory", type=positive, metavar="GB", help="memory of a worker (its share of the machine's)")
    add("--retry-failed", action="store_true", help="run failed units again")
    add("--dry-run", action="store_true", help="say what there is to do and how long it may take")
    add("--print-toml", action="store_true", help="write the plan, narrowed, as a file to edit and run")
    add("--keep-answers", action="store_true", help="keep all answers of what is run: STORE/answers/KEY-FIRST.npy")
    add("--list-skipped", action="store_true", help="list the combinations that cannot run, and why")
    add_quiet(parser, "only the tables, failures, and what was asked for and cannot run")
    add_json(parser)
    parser.set_defaults(run=run_plan)


def run_plan(chosen: argparse.Namespace) -> int:
    """Run a plan and print its tables; 1 if a unit failed or something asked for by name cannot run."""
    from dpbench.cli.running import run_options
    from dpbench.run.executors.system import memory_of_plugins

    options = run_options(chosen)
    with memory_of_plugins(options.bytes_of_memory):
        return _run_plan(chosen, options)


def _run_plan(chosen: argparse.Namespace, options: Options) -> int:
    from dpbench.cli.run_tables import print_tables
    from dpbench.cli.versions import report_changes
    from dpbench.run.execution import agenda
    from dpbench.run.missing import execute_missing, opened, store_folder
    from dpbench.run.plan import narrow
    from dpbench.run.suites import load_plan
    from dpbench.store import Store
    from dpbench.task.file import tasks_toml

    plan = narrow(load_plan(chosen.plan), **{name: _once(getattr(chosen, name)) for name in NARROWING})
    jobs = options.processes
    folder = store_folder(plan, options)
    if chosen.print_toml:
        sys.stdout.write(tasks_toml(plan.tasks))
        return 0
    _warn_of_own_files(plan)
    if chosen.list_skipped:
        return _list_skipped(plan, as_json=chosen.json)
    if chosen.dry_run:
        store = Store(folder) if os.path.isdir(folder) and os.listdir(folder) else None  # noqa: PTH112, PTH208
        todo = agenda(plan, store, retry_failed=chosen.retry_failed, shard=chosen.shard)
        if chosen.json:
            write_json(_agenda_facts(plan, todo, max(jobs, 1), folder))
        else:
            sys.stdout.write(_announcement(plan, todo, max(jobs, 1), folder))
            report_changes(todo, folder)
        return 0
    with opened(plan, options) as (store, todo):
        if not chosen.quiet:
            sys.stderr.write(_announcement(plan, todo, max(jobs, 1), folder))
            report_changes(todo, folder)
        unrun = _report_skipped(plan, chosen)
        kept = str(store.folder.resolve()) if chosen.keep_answers else ""
        outcome = execute_missing(
            plan, todo, store, options, lambda units: [replace(each, answers=kept) for each in units] if kept else units
        )
    if chosen.json:
        facts = _agenda_facts(plan, todo, max(jobs, 1), folder) | {"asked for and not run": unrun}
        write_json(facts | _outcome_facts(outcome, store))
    else:
        print_tables(store)
    if outcome is not None:
        _farewell(outcome, todo, quiet=chosen.quiet)
    left = todo.failed and not chosen.retry_failed
    return 1 if left or unrun or (outcome is not None and outcome.failures) else 0


def _warn_of_own_files(plan: Plan) -> None:
    """A comparison on somebody's own file shows what the file is like: a word about that, also where it is quiet."""
    own = [name for task in plan.tasks for name in task.datasets if name.endswith((".npy", ".csv"))]
    if own:
        sys.stderr.write(
            f"dpbench: {', '.join(own[:3])}{' and others' * (len(own) > 3)}: a comparison on private data is itself a "
            f"use of them, which no budget pays for; choose by synthetic shapes, and publish with `dpbench release`\n"
        )


def _report_skipped(plan: Plan, chosen: argparse.Namespace) -> dict[str, str]:
    """What was asked for by name and cannot run: one line, also where it is quiet."""
    from dpbench.run.skipped import named_in_file, skipped_by_name

    written = named_in_file(chosen.plan, plan)
    unrun = skipped_by_name(
        plan,
        [*(chosen.algorithm or written["algorithms"]), *chosen.added],
        chosen.dataset or written["datasets"],
        chosen.domain or written["domains"],
    )
    if unrun:
        named = [f"{name} ({reason})" for name, reason in list(unrun.items())[:NAMED]]
        more = f" and {len(unrun) - NAMED} more" if len(unrun) > NAMED else ""
        sys.stderr.write(f"dpbench: asked for and not run: {', '.join(named)}{more}; see --list-skipped\n")
    return unrun


def _list_skipped(plan: Plan, *, as_json: bool) -> int:
    if as_json:
        write_json([{key: getattr(skip, key) for key in SKIPPED} for skip in plan.work[1]])
        return 0
    for skip in plan.work[1]:
        sys.stdout.write(f"{skip.algorithm} on {skip.dataset} at {skip.domain}: {skip.reason}\n")
    return 0


def _agenda_facts(plan: Plan, todo: Agenda, jobs: int, folder: str) -> dict[str, Any]:
    """The announcement, for machines."""
    return {
        "plan": plan.name,
        "loss": ", ".join(dict.fromkeys(task.loss.label for task in plan.tasks)),
        "store": folder,
        "settings": todo.settings,
        "units": len(todo.units),
        "trials": sum(unit.trials for unit in todo.units),
        "units done before": todo.done,
        "units failed before": todo.failed,
        "units to run": len(todo.missing),
        "trials to run": sum(unit.trials for unit in todo.missing),
        "seconds estimated": todo.seconds(jobs),
        "combinations that cannot run": len(todo.skipped),
        "algorithms changed": [asdict(each) for each in todo.changed],
        "losses changed": list(todo.changed_losses),
    }


def _outcome_facts(outcome: RunSummary | None, store: Store) -> dict[str, Any]:
    """What a run did, and the tables that it ends with."""
    from dpbench.cli.run_tables import table_rows

    failures = [] if outcome is None else outcome.failures
    return {
        "units run": 0 if outcome is None else outcome.finished,
        "seconds": 0.0 if outcome is None else outcome.wall,
        "failures": [{name: getattr(row, name) for name in FAILURE} for row in failures],
        "errors": table_rows(store),
    }


def _announcement(plan: Plan, todo: Agenda, jobs: int, folder: str) -> str:
    from dpbench.progress import duration

    trials = sum(unit.trials for unit in todo.units)
    left = sum(unit.trials for unit in todo.missing)
    skipped = f"; {len(todo.skipped)} combinations cannot run (--list-skipped)" if todo.skipped else ""
    failed = f", {todo.failed} failed before (--retry-failed)" if todo.failed else ""
    return (
        f"{plan.name}: {todo.settings} settings, {len(todo.units)} units, {trials} trials; "
        f"{todo.done} units are done{failed}; {len(todo.missing)} units, {left} trials to run, "
        f"about {duration(todo.seconds(jobs))} on {jobs} worker{'s' * (jobs > 1)}{skipped}\nstore: {folder}\n"
    )


def _farewell(outcome: RunSummary, todo: Agenda, *, quiet: bool) -> None:
    from dpbench.progress import duration

    if not quiet:
        sys.stderr.write(f"{outcome.finished} units in {duration(outcome.wall)}")
        sys.stderr.write(f"; {todo.done} were done before\n" if todo.done else "\n")
    causes = Counter((row.algorithm, row.failure) for row in outcome.failures)
    for (algorithm, failure), times in causes.most_common(10):
        sys.stderr.write(f"failed {times} times: {algorithm}: {failure}\n")


def _once(given: Any) -> Any:
    """What an option was given, each value once."""
    return list(dict.fromkeys(given)) if isinstance(given, list) else given


def _shard(text: str) -> tuple[int, int]:
    part, slash, parts = text.partition("/")
    if not (slash and part.isdigit() and parts.isdigit() and 1 <= int(part) <= int(parts)):
        raise argparse.ArgumentTypeError(f"is {text!r}; give a part of a whole, write for example 1/4")
    return int(part), int(parts)
