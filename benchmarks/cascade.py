"""How Cascade stands beside other algorithms on random shapes: the figures of docs/cascade.md.

python -m benchmarks.cascade run sample-line --out FILE.csv --each 3    a random sample of shapes, workloads, epsilons
python -m benchmarks.cascade run sample-plane --out FILE.csv --each 2   the same in the plane
python -m benchmarks.cascade run attack --out FILE.csv                  data built to hurt it
python -m benchmarks.cascade run large --out FILE.csv                   up to 2^20 cells, three runs
python -m benchmarks.cascade show FILE.csv                              Cascade's error over the best of the others
python -m benchmarks.cascade again FILE.csv --out AGAIN.csv             other runs of everything where it was above 1.5
python -m benchmarks.cascade regret FILE.csv                            each over the best of everything in the file
python -m benchmarks.cascade pair FILE.csv Cascade Other                one over another, by family and by domain

Parts ``line`` and ``plane`` are everything that the samples are drawn from. ``run`` keeps each setting as it is done
and goes on where it was stopped. ``--also NAME`` adds an algorithm of the catalogue or of ``benchmarks.strong_forms``,
``--with NAME=FILE.py:Class`` one of one's own; ``pair`` compares two on the same data, each with noise of its own. The
seed of every trial follows from the names of its setting. No dataset of the paper is used.
"""

import argparse
import csv
import time
from collections import defaultdict
from pathlib import Path

import numpy as np

import dpbench as dpb
from benchmarks.cascade_settings import counts_of, settings_of, shuffled
from benchmarks.strong_forms import algorithm_of
from dpbench.domain import Domain
from dpbench.run.seeds import seed_for

RIVALS = ("Identity", "Hb", "HDMM", "DAWA")
"""Those that Cascade is to be near to, whatever the data."""
SEARCHED = 4096
"""Cells of an axis up to which HDMM takes part: at 16,384 its search takes more than ten minutes per kind of query."""
COLUMNS = (
    "part",
    "shape",
    "domain",
    "workload",
    "epsilon",
    "scale",
    "algorithm",
    "trials",
    "error",
    "spread",
    "seconds",
)
SETTING = COLUMNS[1:6]


def run(chosen):
    """Run a part, or what the file does not have of it."""
    own = dict(each.split("=", 1) for each in chosen.own)
    rivals = ("Identity", "Hb", "Uniform") if chosen.part == "large" else RIVALS
    names = [*(chosen.algorithm or ("Cascade", *rivals)), *chosen.also, *own]
    settings = [
        (shape, domain, kind, *budget)
        for shape, domain, kind, budget in settings_of(chosen.part, chosen.each)
        if domain in (chosen.domain or [domain]) and kind in (chosen.workload or [kind])
    ]
    trials = 3 if chosen.part == "large" else chosen.trials
    fill(Path(chosen.out), chosen.part, settings, dict.fromkeys(names, trials), own)


def again(chosen):
    """Run the settings where the ratio was above a limit again, with other noise and as many trials of everything."""
    ratios, _ = ratios_of([chosen.file], chosen.name, chosen.against)
    settings = [
        (*setting[:3], float(setting[3]), int(setting[4])) for setting in ratios if ratios[setting] > chosen.above
    ]
    fill(Path(chosen.out), "again", settings, dict.fromkeys((chosen.name, *chosen.against), chosen.trials), {})


def fill(path, part, settings, trials, own):
    """Run algorithms, each so many times, and write a row per setting and algorithm that the file does not have."""
    done = {tuple(row[c] for c in (*SETTING, "algorithm")) for row in read([path])} if path.exists() else set()
    with path.open("a", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS)
        if not done:
            writer.writeheader()
        for shape, domain, kind, epsilon, scale in sorted(settings, key=shuffled):
            at = Domain.of(domain)
            setting = (shape, domain, kind, str(epsilon), str(scale))
            algorithms = {name: algorithm_of(name, own) for name in trials if (*setting, name) not in done}
            wanted = {
                name: each
                for name, each in algorithms.items()
                if each.supports(at) and (max(at) <= SEARCHED or not name.startswith("HDMM"))
            }
            if not wanted:
                continue
            workload, x = dpb.workloads.build(kind, at), counts_of(shape, at, scale)
            for name, algorithm in wanted.items():
                seed = seed_for(0, "noise", *([part] if part == "again" else []), *setting, name)
                begin = time.process_time()
                found = algorithm.run(x, workload, epsilon, trials=trials[name], seed=seed)
                seconds = (time.process_time() - begin) / trials[name]
                errors = dpb.loss.scaled_error(workload, x, found)
                numbers = (trials[name], *(f"{each:.6g}" for each in (errors.mean(), errors.std(), seconds)))
                writer.writerow(dict(zip(COLUMNS, (part, *setting, name, *numbers), strict=True)))
            file.flush()


def read(paths):
    """Rows of result files."""
    for path in paths:
        with Path(path).open(newline="") as file:
            yield from csv.DictReader(file)


def errors_of(paths):
    """Mean errors by setting, then algorithm."""
    found = defaultdict(dict)
    for row in read(paths):
        found[tuple(row[c] for c in SETTING)][row["algorithm"]] = float(row["error"])
    return found


def geometric(values):
    """The geometric mean."""
    return float(np.exp(np.mean(np.log(values))))


def standard_error(values):
    """Of the geometric mean, over settings, as a factor less 1."""
    return float(np.std(np.log(values), ddof=1) / len(values) ** 0.5) if len(values) > 1 else float("nan")


def table(title, groups):
    """One line per group: geometric mean with its standard error, worst, how many are above 1."""
    print(f"\n| {title} | settings | geometric mean | worst | above 1 |\n|---|---|---|---|---|")
    for name, values in sorted(groups.items()):
        mean = f"{geometric(values):.2f} +- {geometric(values) * standard_error(values):.2f}"
        print(f"| {name} | {len(values)} | {mean} | {max(values):.2f} | {sum(v > 1 for v in values)} |")


def grouped(ratios, *keys):
    """Ratios by what some functions of the setting say."""
    groups = defaultdict(list)
    for setting, ratio in ratios.items():
        groups[" ".join(key(setting) for key in keys)].append(ratio)
    return groups


def family(setting):
    """The family of a setting's shape."""
    return setting[0].split("/")[0]


def signal(setting):
    """log10 of epsilon times the scale."""
    return f"1e{round(np.log10(max(float(setting[3]) * int(setting[4]), 1)))}"


def tables(ratios):
    """By workload, domain, signal and family."""
    axes = {setting: "2-D" if "x" in setting[1] else "1-D" for setting in ratios}
    for title, key in (
        ("workload", lambda setting: setting[2]),
        ("domain", lambda setting: setting[1]),
        ("epsilon x scale", signal),
        ("family", family),
    ):
        table(title, grouped(ratios, axes.get, key))


def ratios_of(paths, name, against):
    """By setting: the error of one algorithm over the best of others, and which that is."""
    best, ratios = {}, {}
    for setting, errors in errors_of(paths).items():
        others = {each: errors[each] for each in (against or errors) if each in errors and each != name}
        if name in errors and others:
            best[setting] = min(others, key=others.get)
            ratios[setting] = errors[name] / others[best[setting]]
    return ratios, best


def show(chosen):
    """One algorithm over the best of others, and every setting above a limit."""
    ratios, best = ratios_of(chosen.file, chosen.name, [] if chosen.all else chosen.against)
    tables(ratios)
    print(f"\nAbove {chosen.above}:\n\n| setting | ratio | to |\n|---|---|---|")
    for setting in sorted(ratios, key=ratios.get, reverse=True):
        if ratios[setting] > chosen.above:
            print(f"| {' '.join(setting)} | {ratios[setting]:.2f} | {best[setting]} |")


def regret(chosen):
    """Every algorithm's error over the best of all in the file, where all were run; those that miss some come last."""
    for axes in ("1-D", "2-D"):
        found = {
            setting: each for setting, each in errors_of(chosen.file).items() if ("x" in setting[1]) == (axes == "2-D")
        }
        names = dict.fromkeys(name for errors in found.values() for name in errors)
        groups = {
            name: [errors[name] / min(errors.values()) for errors in found.values() if name in errors] for name in names
        }
        if groups:
            table(f"{axes}: algorithm", groups)


def pair(chosen):
    """One over another."""
    ratios, _ = ratios_of(chosen.file, chosen.one, [chosen.other])
    tables(ratios)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    verbs = parser.add_subparsers(required=True)
    verb = verbs.add_parser("run")
    verb.add_argument("part", choices=("line", "plane", "sample-line", "sample-plane", "attack", "large"))
    verb.add_argument("--out", required=True, metavar="FILE.csv")
    verb.add_argument("--algorithm", action="append", metavar="NAME", help="in place of Cascade and its rivals")
    verb.add_argument("--also", action="append", default=[], metavar="NAME")
    verb.add_argument("--with", dest="own", action="append", default=[], metavar="NAME=FILE.py:Class")
    verb.add_argument("--domain", action="append", metavar="N|NxM")
    verb.add_argument("--workload", action="append", metavar="NAME")
    verb.add_argument("--each", type=int, default=1, metavar="N", help="instances of a family, or settings per stratum")
    verb.add_argument("--trials", type=int, default=50, metavar="N")
    verb.set_defaults(act=run)
    verb = verbs.add_parser("again")
    verb.add_argument("file")
    verb.add_argument("--out", required=True, metavar="FILE.csv")
    verb.add_argument("--trials", type=int, default=50, metavar="N")
    verb.set_defaults(act=again)
    looking = [verb]
    verb = verbs.add_parser("show")
    verb.add_argument("file", nargs="+")
    verb.add_argument("--all", action="store_true", help="against everything that the file has")
    verb.set_defaults(act=show)
    looking.append(verb)
    for verb in looking:
        verb.add_argument("--name", default="Cascade")
        verb.add_argument("--against", nargs="+", default=RIVALS)
        verb.add_argument("--above", type=float, default=1.5)
    verb = verbs.add_parser("regret")
    verb.add_argument("file", nargs="+")
    verb.set_defaults(act=regret)
    verb = verbs.add_parser("pair")
    verb.add_argument("file", nargs="+")
    verb.add_argument("one")
    verb.add_argument("other")
    verb.set_defaults(act=pair)
    chosen = parser.parse_args()
    chosen.act(chosen)


if __name__ == "__main__":
    main()
