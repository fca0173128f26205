"""Stamp the shipped study with the identity of today's code, where a slice of it, run again, gives the same errors.

python -m benchmarks.restamp                         the shipped study, in place
python -m benchmarks.restamp --study FOLDER --dry-run

For each algorithm and form of each file a few settings on small domains, on a line and in the plane, are drawn at
random and run again. Where all of them agree bit for bit (of the 32 that a summary keeps), the rows of that form get
the identity of the code as it is. Where one does not, its rows keep their stamp, and the form has to be listed in
changed.toml; otherwise this ends with exit code 1 and writes nothing. Errors and all other columns stay what they are.
"""

import argparse
import json
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np

from dpbench.domain import Domain
from dpbench.paper.changed import change_of
from dpbench.paper.rerun import same_errors
from dpbench.paper.study import FILES, shipped_file
from dpbench.repair.side_prices import PUBLIC, TASK
from dpbench.results import Results
from dpbench.run.bench import Bench
from dpbench.run.code_hash.sources import IDENTITY
from dpbench.run.plan import Plan
from dpbench.task.parts import AlgorithmPart, WorkloadPart
from dpbench.task.task import RANGE_1D, RANGE_2D

FORM = ("algorithm", "variant")


def units_of(setting):
    """The units of one setting, as the run that made it had them."""
    base = RANGE_1D if Domain.of(setting.domain).ndim == 1 else RANGE_2D
    part = AlgorithmPart(
        setting.algorithm,
        setting.variant,
        setting.side_information or None,
        tuple(sorted(json.loads(setting.parameters).items())),
    )
    share = setting.task.removeprefix(TASK) if setting.task.startswith(TASK) else PUBLIC
    samples, trials = int(np.isfinite(setting.errors).any(axis=1).sum()), int(setting.trials.max())
    task = base.replace(
        name=setting.task,
        datasets=[setting.dataset],
        domains=[setting.domain],
        workloads=[WorkloadPart.from_label(setting.workload)],
        scales=[setting.scale],
        epsilons=[setting.epsilon],
        deltas=[setting.delta],
        samples=samples,
        trials=trials,
        seed=setting.seed,
        algorithms=[part],
        **({} if share == PUBLIC else {"rho_total": float(share)}),
    )
    units, _ = Plan(name="restamp", tasks=(task,)).work
    if setting.task.startswith(TASK):
        return [replace(unit, noise_name=f"side information {setting.algorithm}") for unit in units]
    return units


def agrees(setting, bench):
    """Whether a setting that is run again gives its errors."""
    rows = [bench.run(unit) for unit in units_of(setting)]
    again = np.full(setting.errors.shape, np.nan)
    for row in rows:
        again[row.sample, : row.trials] = row.l2
    run = np.isfinite(again)
    return np.array_equal(run, np.isfinite(setting.errors)) and same_errors(setting.errors[run], again[run])


def slices(results, number, most_cells, rng):
    """For each form, the places of all its rows, and of some on its smaller domains, on a line and in the plane."""
    domains = [Domain.of(each) for each in results.columns["domain"].tolist()]
    cells, axes = (np.array(each) for each in zip(*((each.size, each.ndim) for each in domains), strict=True))
    keys = list(zip(*(results.columns[name].tolist() for name in FORM), strict=True))
    for form in sorted(set(keys)):
        own = np.array([key == form for key in keys])
        sample = []
        for here in (np.flatnonzero(own & results.whole & (axes == dimensions)) for dimensions in np.unique(axes[own])):
            small = here[cells[here] <= max(most_cells, cells[here].min(initial=2**62))]
            sample += rng.choice(small, min(number, len(small)), replace=False).tolist()
        yield form, np.flatnonzero(own), sample


def stamps(results, rows):
    """The identity of each row's form as the code is now; parameters may name tables of their own."""
    known = {}
    for row in rows:
        parameters = results.columns["parameters"][row]
        if parameters not in known:
            known[parameters] = units_of(results[int(row)])[0].algorithm_source
        yield known[parameters]


def restamp(path, chosen, rng):
    """The results of a file with new stamps, and the forms that differ without being listed."""
    results, bench = Results.read(path), Bench()
    stamped, unlisted = results.columns["algorithm_source"].copy(), []
    for (algorithm, form), rows, sample in slices(results, chosen.settings, chosen.most_cells, rng):
        found = [agrees(results[row], bench) for row in sample]
        change = change_of(algorithm, form, "draws")
        if found and all(found):
            stamped[rows] = list(stamps(results, rows))
        elif not all(found) and change is None:
            unlisted.append((algorithm, form))
        word = f"differs in {found.count(False)}" if not all(found) else "agrees in all" if found else "was run in none"
        note = "" if change is None else f"; listed: {change.why}" + ("; it need not be" if all(found) else "")
        print(f"{path.name}: {algorithm} ({form}): {word} of {len(found)} settings, {len(rows)} rows{note}", flush=True)
    origin = {**results.metadata.get("origin", {}), "identity": [IDENTITY]}
    columns = {**results.columns, "algorithm_source": stamped}
    return replace(results, columns=columns, metadata={**results.metadata, "origin": origin}), unlisted


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--study", type=Path, default=shipped_file(FILES[0]).parent, help="folder of summary files")
    parser.add_argument(
        "--settings", type=int, default=3, help="settings of each form and number of axes that are run again (3)"
    )
    parser.add_argument(
        "--most-cells", type=int, default=1024, help="on domains up to this size, or the smallest (1024)"
    )
    parser.add_argument("--seed", type=int, default=0, help="seed of the choice (0)")
    parser.add_argument("--dry-run", action="store_true", help="compare, and write nothing")
    chosen = parser.parse_args(arguments)
    rng = np.random.default_rng(chosen.seed)
    made, unlisted = {}, []
    for path in sorted(chosen.study.glob("*.parquet")):
        made[path], found = restamp(path, chosen, rng)
        unlisted += found
    for algorithm, form in unlisted:
        print(f"{algorithm} ({form}) gives other errors and is not listed in changed.toml", file=sys.stderr)
    if unlisted:
        return 1
    if not chosen.dry_run:
        for path, results in made.items():
            before = path.stat().st_size
            results.write(path)
            print(f"{path}: {before} bytes before, {path.stat().st_size} now")
    return 0


if __name__ == "__main__":
    sys.exit(main())
