"""How Cascade stands beside other algorithms on random shapes: the figures of docs/cascade.md.

python -m benchmarks.cascade run line --out results.csv          shapes, workloads, epsilons on domains of one axis
python -m benchmarks.cascade run plane --out results.csv         the same in the plane
python -m benchmarks.cascade run attack --out results.csv        data built to hurt it
python -m benchmarks.cascade run large --out results.csv         up to 2^20 cells, three runs
python -m benchmarks.cascade show results.csv                    Cascade's error over the best of the others
python -m benchmarks.cascade pair results.csv Cascade Other      one over another, by family and by domain

``run`` keeps each setting as it is done and goes on where it was stopped. ``--with NAME=FILE.py:Class`` adds a form of
one's own, so a change is tried beside what there is: ``pair`` compares both on the same data, each with noise of its
own. The seed of every trial follows from the names of its setting. No dataset of the paper is used.
"""

import argparse
import csv
import time
from collections import defaultdict
from itertools import product
from pathlib import Path

import numpy as np

import dpbench as dpb
from dpbench.datasets import families
from dpbench.domain import Domain
from dpbench.mathematics.top_down import top_down
from dpbench.plugins import find
from dpbench.run.seeds import seed_for

RIVALS = ("Identity", "Hb", "HDMM", "DAWA")
"""Those that Cascade is to be near to, whatever the data."""
ALWAYS = ("Cascade", *RIVALS)
CHEAP = {"Identity": 20, "Hb": 20, "HDMM": 20, "DAWA": 2}
"""How many times as many trials as of others: the best of several is not to be so by luck."""
BUDGETS = ((0.01, 10**5), (0.1, 10**3), (0.1, 10**4), (1.0, 10**5), (0.1, 10**7), (10.0, 10**6))
"""Epsilon and scale: signals from 100 to 10^7, epsilons from 0.01 to 10."""
LINE, PLANE = ("256", "1000", "4096"), ("32x32", "64x64", "128x128", "64x256", "100x60")
FEW_QUERIES = 10**6
"""All ranges are asked where they are fewer than this."""
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


def alternating(domain):
    """A checkerboard."""
    return np.indices(domain.shape).sum(axis=0) % 2 * 1.0


def diagonal(domain):
    """All mass on the diagonal; on a line, every seventh cell."""
    weights = np.zeros(domain.shape)
    if domain.ndim == 1:
        weights[::7] = 1
    else:
        at = np.arange(max(domain))
        weights[tuple((at * side // max(domain)) for side in domain)] = 1
    return weights


def straddling(domain):
    """Pairs of tall cells on either side of the boundaries of blocks of 16 and 128."""
    weights = np.full(domain.shape, 1e-3)
    line = np.ones(1)
    for side in domain:
        along = np.zeros(side)
        for step in (16, 128):
            for at in range(step, side, step):
                along[at - 1 : at + 1] += step
        line = np.multiply.outer(line, along + 1e-3)
    return weights + line[0]


def thirds(domain):
    """Blocks of three, five and eleven cells, full and empty in turn."""
    weights = np.ones(domain.shape)
    for axis, side in enumerate(domain):
        edges = np.cumsum(np.resize([3, 5, 11, 7], side))
        full = np.searchsorted(edges, np.arange(side), side="right") % 2
        weights = weights * full.reshape([-1 if at == axis else 1 for at in range(domain.ndim)])
    return weights


ATTACKS = {
    "even": lambda domain: np.ones(domain.shape),
    "checkerboard": alternating,
    "diagonal": diagonal,
    "straddling": straddling,
    "thirds": thirds,
}


def counts_of(shape, domain, scale):
    """Counts by a family's instance, or by an attack; 'one-each' has one record per cell."""
    if shape == "one-each":
        return np.ones(domain.shape, dtype=np.int64)
    seed = seed_for(0, "data", shape, str(domain), scale)
    if shape in ATTACKS:
        weights = ATTACKS[shape](domain).reshape(-1)
        return np.random.default_rng(seed).multinomial(scale, weights / weights.sum()).reshape(domain.shape)
    return dpb.generate(dpb.datasets.shapes.get(shape, domain), scale=scale, domain=domain, seed=seed)


def settings_of(part, instances):
    """Every (shape, domain, workload, (epsilon, scale)) of a part."""
    if part in ("line", "plane"):
        ndim, domains = (1, LINE) if part == "line" else (2, PLANE)
        workloads = ("Prefix", "RandomRange", "RandomSmall", "Identity", "AllRange")[ndim - 1 :]
        yield from product(families.instances(ndim, instances), domains, workloads, BUDGETS)
    elif part == "attack":
        budgets = ((0.1, 10**3), (1.0, 10**4), (0.1, 10**6), (1.0, 10**7))
        for domain, workloads in (("256", ("Prefix", "Identity")), ("4096", ("Prefix",)), ("64x64", ("RandomRange",))):
            yield from product(ATTACKS, (domain,), workloads, budgets)
            yield from product(("one-each",), (domain,), workloads, ((0.01, 0), (0.1, 0), (1.0, 0), (10.0, 0)))
    else:
        budgets = ((0.1, 10**5), (1.0, 10**8))
        for domain, shapes, workload in (
            ("16384", ("rough/0", "clumps/0"), "Prefix"),
            ("1048576", ("rough/0", "clumps/0"), "Prefix"),
            ("256x256", ("hill/0", "towns/0"), "RandomRange"),
            ("1024x1024", ("hill/0", "towns/0"), "RandomRange"),
        ):
            yield from product(shapes, (domain,), (workload,), budgets)


def shuffled(setting):
    """A place in an order that has something of everything early."""
    return str(seed_for(0, "order", *setting).generate_state(1))


class WithTopDown:
    """An algorithm of the catalogue whose estimate is made non-negative from the top."""

    def __init__(self, name):
        self.kind = dpb.algorithms.get(name)

    def supports(self, domain):
        return self.kind.supports(domain)

    def run(self, *arguments, **named):
        return top_down(self.kind.run(*arguments, **named))


def algorithm_of(name, own):
    """By the catalogue's name, with '+top-down' if wanted, or one's own."""
    if name in own:
        return find(own[name])()
    return WithTopDown(name.removesuffix("+top-down")) if name.endswith("+top-down") else dpb.algorithms.get(name)


def run(chosen):
    """Run what the file does not have."""
    own = dict(each.split("=", 1) for each in chosen.own)
    path = Path(chosen.out)
    done = {tuple(row[c] for c in (*SETTING, "algorithm")) for row in read([path])} if path.exists() else set()
    rivals = ("Identity", "Hb", "Uniform", "Cascade") if chosen.part == "large" else ALWAYS
    names = [*(chosen.algorithm or rivals), *own]
    trials = 3 if chosen.part == "large" else chosen.trials
    with path.open("a", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS)
        if not done:
            writer.writeheader()
        settings = list(settings_of(chosen.part, chosen.instances))
        for shape, domain, kind, (epsilon, scale) in sorted(settings, key=shuffled):
            at = Domain.of(domain)
            wanted = (chosen.domain and domain not in chosen.domain) or (
                chosen.workload and kind not in chosen.workload
            )
            if wanted or (kind == "AllRange" and dpb.workloads.AllRange(at).queries > FEW_QUERIES):
                continue
            workload = dpb.workloads.build(kind, at)
            x = counts_of(shape, at, scale)
            for name in names:
                setting = (shape, domain, kind, str(epsilon), str(scale))
                algorithm = algorithm_of(name, own)
                if (*setting, name) in done or not algorithm.supports(at):
                    continue
                seed = seed_for(0, "noise", *setting, name)
                many = trials * CHEAP.get(name, 1)
                begin = time.process_time()
                found = algorithm.run(x, workload, epsilon, trials=many, seed=seed)
                seconds = (time.process_time() - begin) / many
                errors = dpb.loss.scaled_error(workload, x, found)
                numbers = (many, *(f"{each:.6g}" for each in (errors.mean(), errors.std(), seconds)))
                writer.writerow(dict(zip(COLUMNS, (chosen.part, *setting, name, *numbers), strict=True)))
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


def table(title, groups):
    """One line per group: geometric mean, worst, how many are above 1."""
    print(f"\n| {title} | settings | geometric mean | worst | above 1 |\n|---|---|---|---|---|")
    for name, values in groups.items():
        print(
            f"| {name} | {len(values)} | {geometric(values):.2f} | {max(values):.2f} | {sum(v > 1 for v in values)} |"
        )


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


def show(chosen):
    """One algorithm over the best of others, and every setting above a limit."""
    best, ratios = {}, {}
    for setting, errors in errors_of(chosen.file).items():
        others = {name: errors[name] for name in (chosen.against or errors) if name in errors and name != chosen.name}
        if chosen.name in errors and others:
            best[setting] = min(others, key=others.get)
            ratios[setting] = errors[chosen.name] / others[best[setting]]
    tables(ratios)
    print(f"\nAbove {chosen.above}:\n\n| setting | ratio | to |\n|---|---|---|")
    for setting in sorted(ratios, key=ratios.get, reverse=True):
        if ratios[setting] > chosen.above:
            print(f"| {' '.join(setting)} | {ratios[setting]:.2f} | {best[setting]} |")


def pair(chosen):
    """One over another."""
    both = {chosen.one, chosen.other}
    found = {setting: errors for setting, errors in errors_of(chosen.file).items() if both <= {*errors}}
    tables({setting: errors[chosen.one] / errors[chosen.other] for setting, errors in found.items()})


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    verbs = parser.add_subparsers(required=True)
    verb = verbs.add_parser("run")
    verb.add_argument("part", choices=("line", "plane", "attack", "large"))
    verb.add_argument("--out", required=True, metavar="FILE.csv")
    verb.add_argument("--algorithm", action="append", metavar="NAME")
    verb.add_argument("--with", dest="own", action="append", default=[], metavar="NAME=FILE.py:Class")
    verb.add_argument("--domain", action="append", metavar="N|NxM")
    verb.add_argument("--workload", action="append", metavar="NAME")
    verb.add_argument("--instances", type=int, default=1, metavar="N")
    verb.add_argument("--trials", type=int, default=3, metavar="N")
    verb.set_defaults(act=run)
    verb = verbs.add_parser("show")
    verb.add_argument("file", nargs="+")
    verb.add_argument("--name", default="Cascade")
    verb.add_argument("--against", nargs="+", default=RIVALS)
    verb.add_argument("--above", type=float, default=1.5)
    verb.set_defaults(act=show)
    verb = verbs.add_parser("pair")
    verb.add_argument("file", nargs="+")
    verb.add_argument("one")
    verb.add_argument("other")
    verb.set_defaults(act=pair)
    chosen = parser.parse_args()
    chosen.act(chosen)


if __name__ == "__main__":
    main()
