"""``dpbench store``: look into stores, verify, merge and export them."""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from typing import TYPE_CHECKING, Any

from dpbench.cli import versions
from dpbench.cli.arguments import add_json, add_verb, write_json

if TYPE_CHECKING:
    from dpbench.cli.arguments import Subparsers


def add_parser(subparsers: Subparsers) -> None:
    """Add ``store`` with its commands."""
    parser = add_verb(
        subparsers,
        "store",
        "look into, verify, merge and export results; versions of algorithms",
        "A store is a folder of Parquet shards that only grows; other programs can read it as it is.",
        "dpbench store info dpbench-store/demo",
    )
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)

    info = add_verb(
        commands, "info", "what a store holds", "Settings, trials, failures, runs.", "dpbench store info results"
    )
    info.add_argument("store", metavar="STORE")
    add_json(info)
    info.set_defaults(run=run_info)

    verify = add_verb(
        commands,
        "verify",
        "find damaged shards",
        "Compare every shard with the hash in its name. Exit code 1 if one is damaged; `dpbench run` puts it\n"
        "aside and runs its settings again.",
        "dpbench store verify results",
    )
    verify.add_argument("store", metavar="STORE")
    add_json(verify)
    verify.set_defaults(run=run_verify)

    merge = add_verb(
        commands,
        "merge",
        "bring several stores together",
        "Bring the results of several stores together, and say where their machines or versions differ. Versions of\n"
        "an algorithm are kept apart; results on different data are refused.",
        "dpbench store merge part1 part2 --out all",
    )
    merge.add_argument("stores", nargs="+", metavar="STORE")
    merge.add_argument("--out", required=True, metavar="DIR", help="a new store, or one to add to")
    add_json(merge)
    merge.set_defaults(run=run_merge)

    export = add_verb(
        commands,
        "export",
        "write one row per trial for other programs",
        "Write one row per trial, as .csv, .json or .parquet, of the current version of each algorithm. --canonical\n"
        "leaves out times and provenance and sorts, so that two runs can be compared byte by byte.",
        "dpbench store export results --out trials.csv",
    )
    export.add_argument("store", metavar="STORE")
    export.add_argument("--out", required=True, metavar="FILE", help="FILE.csv, FILE.json or FILE.parquet")
    export.add_argument(
        "--version",
        dest="versions",
        action="append",
        default=[],
        metavar="VERSION",
        help="this version of its algorithm, not the current one; may be repeated",
    )
    export.add_argument("--canonical", action="store_true", help="sorted, without times and provenance")
    add_json(export)
    export.set_defaults(run=run_export)
    versions.add_parser(commands)


def run_info(chosen: argparse.Namespace) -> int:
    """Say what a store holds."""
    from dpbench.store import Store

    store = Store(chosen.store)
    rows = store.rows()
    failures = Counter((row.algorithm, row.failure) for row in rows if row.failure)
    facts: dict[str, Any] = {
        "settings": len({row.setting for row in rows}),
        "units": len(rows),
        "trials": sum(row.trials for row in rows),
        "failed units": sum(failures.values()),
        "algorithms": sorted({row.algorithm for row in rows}),
        "not private": sorted({row.algorithm for row in rows if not row.private}),
        "datasets": sorted({row.dataset for row in rows}),
        "domains": sorted({row.domain for row in rows}),
        "scales": sorted({row.scale for row in rows}),
        "epsilons": sorted({row.epsilon for row in rows}),
        "seconds in algorithms": round(sum(row.seconds for row in rows), 3),
        "runs": {run: record.get("machine", {}) for run, record in store.runs().items()},
        "failures": [{"algorithm": a, "reason": why, "units": n} for (a, why), n in failures.most_common()],
    }
    if chosen.json:
        write_json(facts)
        return 0
    for name, value in facts.items():
        if name == "runs":
            sys.stdout.write(f"runs: {len(store.runs())}\n")
        elif name == "failures":
            for each in facts["failures"]:
                sys.stdout.write(f"failed {each['units']} times: {each['algorithm']}: {each['reason']}\n")
        else:
            shown = ", ".join(str(each) for each in value) if isinstance(value, list) else value
            sys.stdout.write(f"{name}: {shown or '-'}\n")
    return 0


def run_verify(chosen: argparse.Namespace) -> int:
    """Name damaged shards; 1 if there are any."""
    from dpbench.store import Store

    store = Store(chosen.store)
    damaged = store.verify()
    if chosen.json:
        facts = [{"shard": damage.path.name, "reason": damage.reason} for damage in damaged]
        write_json({"shards": len(store.shards()), "damaged": facts})
        return 1 if damaged else 0
    for damage in damaged:
        sys.stdout.write(f"{damage.path.name}: {damage.reason}\n")
    sys.stdout.write(f"{len(store.shards()) - len(damaged)} of {len(store.shards())} shards are whole\n")
    return 1 if damaged else 0


def run_merge(chosen: argparse.Namespace) -> int:
    """Merge stores."""
    from dpbench.store import Store
    from dpbench.store.transfer import merge

    out = Store(chosen.out, create=True)
    added, differences = merge([Store(folder) for folder in chosen.stores], out)
    hidden = [each for each in out.versions() if not each.current]
    if chosen.json:
        facts = {"units added": added, "versions that are not shown": len(hidden), "the runs differ in": differences}
        write_json({"store": chosen.out, **facts})
        return 0
    sys.stdout.write(f"{added} units added to {chosen.out}\n")
    if hidden:
        names = ", ".join(dict.fromkeys(each.algorithm for each in hidden))
        sys.stdout.write(f"several versions of {names}; the latest is shown (dpbench store versions {chosen.out})\n")
    for difference in differences:
        sys.stdout.write(f"the runs differ in {difference}; the last digits of errors may differ too\n")
    return 0


def run_export(chosen: argparse.Namespace) -> int:
    """Export a store."""
    from pathlib import Path

    from dpbench.store import Store
    from dpbench.store.transfer import export

    number = export(Store(chosen.store), Path(chosen.out), canonical=chosen.canonical, versions=chosen.versions)
    if chosen.json:
        write_json({"file": chosen.out, "rows": number})
        return 0
    sys.stdout.write(f"{number} rows written to {chosen.out}\n")
    return 0
