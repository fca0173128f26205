"""``dpbench store``: look into stores, verify, merge and export them."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from dpbench.cli import versions
from dpbench.cli.arguments import add_json, add_out, add_verb, write_json
from dpbench.cli.standards import add_standards

if TYPE_CHECKING:
    from dpbench.cli.arguments import Subparsers
    from dpbench.interpreting.changed_errors import Difference
    from dpbench.results import Results


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
        "find what is damaged or missing",
        "Compare every file with the hash in the manifest of the store: shards, records of runs, answers. Exit code 1\n"
        "if one is missing or changed, if the manifest has lost one, if a shard holds what this version does not\n"
        "know, or if two results under one key differ. `dpbench run` puts damaged shards aside and runs their\n"
        "settings again; `dpbench store repair` lists again what the manifest has lost.",
        "dpbench store verify results",
    )
    verify.add_argument("store", metavar="STORE")
    add_json(verify)
    verify.set_defaults(run=run_verify)

    repair = add_verb(
        commands,
        "repair",
        "list again what the manifest has lost",
        "List shards and records of runs again that are there, are whole by the hash in their names, and are not in\n"
        "the manifest. A damaged manifest is put aside and made again of what is there.",
        "dpbench store repair results",
    )
    repair.add_argument("store", metavar="STORE")
    add_json(repair)
    repair.set_defaults(run=run_repair)

    merge = add_verb(
        commands,
        "merge",
        "bring several stores together",
        "Bring the results of several stores together, and say where their machines or versions differ. Versions of\n"
        "an algorithm are kept apart; results on different data are refused.",
        "dpbench store merge part1 part2 --out all",
    )
    merge.add_argument("stores", nargs="+", metavar="STORE")
    add_out(merge, "DIR", "a new store, or one to add to")
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
    add_out(export, "FILE", "FILE.csv, FILE.json or FILE.parquet")
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

    diff = add_verb(
        commands,
        "diff",
        "what changed between two results, and whether it is more than chance",
        "Compare the settings that two stores or summary files both have, algorithm by algorithm: equal to the last\n"
        "digit, changed within chance, or different (a test by the standards of the first, one family over all common\n"
        "settings). STORE@VERSION names a version of an algorithm (`dpbench store versions`), so that two versions in\n"
        "one store can be compared. Exit code 1 unless both have the same settings with equal errors.",
        "dpbench store diff before after\n  dpbench store diff results@1a2b3c4d results",
    )
    diff.add_argument("first", metavar="STORE|SUMMARY.parquet", help="results")
    diff.add_argument("second", metavar="STORE|SUMMARY.parquet", help="results to set beside them")
    add_standards(diff)
    add_json(diff)
    diff.set_defaults(run=run_diff)


def run_info(chosen: argparse.Namespace) -> int:
    """Say what a store holds."""
    from dpbench.store import Store
    from dpbench.store.facts import facts

    held = facts(Store(chosen.store))
    if chosen.json:
        write_json(held)
        return 0
    for name, value in held.items():
        if name == "runs":
            sys.stdout.write(f"runs: {len(value)}\n")
        elif name == "failures":
            for each in value:
                sys.stdout.write(f"failed {each['units']} times: {each['algorithm']}: {each['reason']}\n")
        else:
            shown = ", ".join(str(each) for each in value) if isinstance(value, list) else value
            sys.stdout.write(f"{name}: {shown or '-'}\n")
    return 0


def run_verify(chosen: argparse.Namespace) -> int:
    """Name what is damaged or missing; 1 if there is any."""
    from dpbench.store import Store

    store = Store(chosen.store)
    wrong = store.verify()
    shards, strangers = store.shards_and_strangers()
    damaged = {damage.path for damage in wrong}
    whole, strangers = len(set(shards) - damaged), [path for path in strangers if path not in damaged]
    if chosen.json:
        found = [{"shard": damage.path.name, "reason": damage.reason} for damage in wrong]
        facts = {"shards": len(shards), "damaged": found, "not listed": [path.name for path in strangers]}
        write_json(facts | {"manifest": store.has_manifest})
        return 1 if wrong else 0
    for damage in wrong:
        sys.stdout.write(f"{damage.path.name}: {damage.reason}\n")
    for path in strangers:
        sys.stdout.write(f"{path.name}: not in the manifest, so that nothing reads it\n")
    if not store.has_manifest:
        sys.stdout.write("no manifest, as in earlier versions: a file that is removed is not missed; a run adds one\n")
    sys.stdout.write(f"{whole} of {len(shards)} shards are whole\n")
    return 1 if wrong else 0


def run_repair(chosen: argparse.Namespace) -> int:
    """List again what the manifest has lost; 1 if something else is wrong."""
    from dpbench.store import Store

    store = Store(chosen.store)
    again = [path.relative_to(store.folder).as_posix() for path in store.repair()]
    left = store.verify()
    if chosen.json:
        write_json({"listed again": again, "still damaged": [damage.path.name for damage in left]})
    else:
        sys.stdout.write(f"{len(again)} files listed again\n")
        for damage in left:
            sys.stdout.write(f"{damage.path.name}: {damage.reason}\n")
    return 1 if left else 0


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


def run_diff(chosen: argparse.Namespace) -> int:
    """Print what changed; 1 if anything did."""
    from dataclasses import asdict

    from dpbench.cli.text_tables import coloured, write_table
    from dpbench.interpreting.changed_errors import differences

    results = [_versioned(path, chosen) for path in (chosen.first, chosen.second)]
    found = differences(*results)
    equal = all(each.verdict == "equal" and not each.only_first + each.only_second for each in found)
    if chosen.json:
        write_json([asdict(each) | {"verdict": each.verdict} for each in found])
        return 0 if equal else 1
    rows = [
        [
            each.algorithm,
            each.verdict,
            str(each.settings),
            str(each.same),
            str(each.better),
            str(each.worse),
            f"{each.ratio:.3f}" if each.settings else "",
            str(each.only_first or ""),
            str(each.only_second or ""),
        ]
        for each in found
    ]
    heads = ["algorithm", "verdict", "settings", "equal", "better", "worse", "ratio", "only first", "only second"]
    standards = results[0].standards
    note = (
        f"better, worse: the second against the first, {standards.error_words}, level {standards.alpha:g} over all "
        f"settings; ratio: second over first, geometric mean"
    )
    write_table(f"{chosen.first} and {chosen.second}", heads, rows, note, verdicts=True)
    sys.stdout.write(coloured(f"{_conclusion(found, *results)}\n"))
    return 0 if equal else 1


def _conclusion(found: Sequence[Difference], first: Results, second: Results) -> str:
    """What all algorithms together come to, in one line."""
    common, same = sum(each.settings for each in found), sum(each.same for each in found)
    apart = sum(each.better + each.worse for each in found)
    parts = [f"{common - same} of {common} common settings changed, {apart} of them beyond chance"] * (common > same)
    for where, number in (
        ("first", sum(each.only_first for each in found)),
        ("second", sum(each.only_second for each in found)),
    ):
        parts += [f"only in the {where}: {versions.settings_words(number)}"] * bool(number)
    seeds = [sorted(set(each.columns["seed"].tolist())) for each in (first, second)]
    if not common and not set(seeds[0]) & set(seeds[1]):
        parts.append(f"their seeds are {' and '.join(', '.join(map(str, each)) for each in seeds)}")
    return (
        f"the results differ: {'; '.join(parts)}"
        if parts
        else f"no change: {versions.settings_words(common)}, all equal"
    )


def _versioned(path: str, chosen: argparse.Namespace) -> Results:
    """Results of a store, a summary file, or STORE@VERSION."""
    from pathlib import Path

    from dpbench.cli.standards import given_standards, open_results, read_by_options
    from dpbench.results import Results

    store, at, version = path.rpartition("@")
    if not at or Path(path).exists():
        return open_results(path, chosen)
    return read_by_options(Results.from_store(store, versions=[version], **given_standards(chosen)), chosen)
