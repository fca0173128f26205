"""Find Cascade's constants again, on random shapes alone: levels, shares, limits, prior, rounds of learning.

python -m benchmarks.cascade_constants search line --out line.json           one axis, from far away
python -m benchmarks.cascade_constants search plane --out plane.json         two axes
python -m benchmarks.cascade_constants score line.json                       what was found, on shapes held out

Each constant has a ladder of values, on which the shipped one is a rung. ``search`` starts at the first rung of each
and goes over the constants in turn: it takes a neighbouring rung if that lowers the error by more than one standard
error of the paired difference, and stops when a pass changes nothing. Every candidate sees the same tables and the
same random numbers, so a difference of 1 % shows in a hundred runs. The score of a candidate is the mean logarithm of
its errors, over families of shapes, signals, domains and workloads alike: one rule for all of them.

``score`` compares what was found with what is shipped on instances that the search has not seen; and then on domains,
aspect ratios and signals that it has not seen, which is where a rule differs from a table. No dataset of the paper is
used. Evaluations are kept in the file, so that a search can be interrupted.
"""

import argparse
import json
import sys
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction
from importlib import import_module
from pathlib import Path

import numpy as np

import dpbench as dpb
from benchmarks.cascade_settings import counts_of
from dpbench.datasets import families
from dpbench.domain import Domain
from dpbench.run.seeds import seed_for

ALGORITHM, SHARES = "algorithms.cascade", "mathematics.level_shares"
POSTERIOR, SETTLED, LEANING = "mathematics.cascade", "mathematics.settled", "mathematics.leaning"
ROWS = "mathematics.rows_over_blocks"
HELD_OUT = 1000
"""Number of the first instance that is held out."""


@dataclass(frozen=True, eq=False)
class Constant:
    """A constant of a module, by name, and the values that it may have; ``axes`` says for which tables it matters."""

    module: str
    name: str
    ladder: tuple
    axes: str = "line plane"

    @property
    def home(self):
        """The module; a parameter of the algorithm has none."""
        return import_module(f"dpbench.{self.module}") if self.module else None

    @property
    def shipped(self):
        """Its rung on the ladder; that it has one is checked, so a constant that was renamed or changed is noticed."""
        value = getattr(self.home, self.name) if self.module else getattr(dpb.algorithms.get("Cascade"), self.name)
        if value not in self.ladder:
            raise SystemExit(f"{self.module}.{self.name} is {value}, which is not on its ladder {self.ladder}: add it")
        return self.ladder.index(value)


def prior(even, one_half, betas):
    """Weights of U, Z, the three Betas and B."""
    rest = 1 - even - one_half - betas
    return (even, one_half, betas / 3, betas / 3, betas / 3, rest if abs(rest - 0.10) > 1e-12 else 0.10)


def hundredths(*numbers):
    return tuple(Fraction(number, 100) for number in numbers)


CONSTANTS = (
    Constant(ALGORITHM, "TOTAL", hundredths(15, 6, 3, 1)),
    # levels of blocks on a line, and when they are worth measuring
    Constant(SHARES, "LINE", ((0, 2, 4), (0, 3, 6), (0, 4, 7), (0, 5, 9)), "line"),
    Constant(SHARES, "HALF", (64.0, 16.0, 4.0, 1.0), "line"),
    Constant(SHARES, "EXPONENT", (0.3, 0.5, 0.8, 1.3), "line"),
    Constant(SHARES, "LEAST", (0.4, 0.15, 0.05, 0.01), "line"),
    Constant(SHARES, "ALONE", (0.0, 0.25, 0.5, 1.0), "line"),
    Constant(ROWS, "SIGNAL", (128.0, 32.0, 8.0, 2.0), "line"),
    # first squares of the plane, and what is done inside
    Constant(ALGORITHM, "COARSE", (2, 3, 4, 5), "plane"),
    Constant(ALGORITHM, "SIGNAL_OF_SQUARE", (48.0, 12.0, 3.0, 1.0), "plane"),
    Constant(
        ALGORITHM,
        "COARSE_SHARE",
        tuple(((1.0, a), (2.0, b), (3.0, None)) for a, b in ((0.1, 0.1), (0.2, 0.15), (0.35, 0.25), (0.5, 0.4))),
        "plane",
    ),
    Constant(ALGORITHM, "EMPTY", (64.0, 24.0, 8.0, 3.0), "plane"),
    Constant(ALGORITHM, "LOW", (1000.0, 300.0, 100.0, 30.0), "plane"),
    Constant(ALGORITHM, "DENSE", (20000.0, 2000.0, 600.0, 200.0), "plane"),
    Constant(
        ALGORITHM,
        "KEPT",
        tuple({"low": Fraction(a, 10), "middle": Fraction(b, 10)} for a, b in ((7, 8), (4, 7), (2, 5), (1, 3))),
        "plane",
    ),
    Constant(ALGORITHM, "WORTH_CUTTING", (100.0, 40.0, 16.0, 6.0), "plane"),
    # the prior, and how it is learned
    Constant(
        POSTERIOR,
        "PRIOR",
        (prior(0.03, 0.05, 0.9), (0.08, 0.12, 0.25, 0.25, 0.25, 0.05), prior(0.25, 0.15, 0.5), prior(0.4, 0.2, 0.3)),
    ),
    Constant(POSTERIOR, "SHARPNESS", ((1.0, 2.0, 8.0), (0.5, 3.0, 30.0), (0.7, 10.0, 200.0), (0.5, 15.0, 600.0))),
    Constant(POSTERIOR, "PSEUDO", (32.0, 8.0, 1.0, 0.25)),
    Constant("", "rounds", (0, 2, 3, 5)),
    # slopes, and where least squares has the word
    Constant(LEANING, "DOUBT", (8.0, 2.0, 1.0, 0.5)),
    Constant(LEANING, "STEEPEST", (0.0, 0.4, 0.75, 0.95)),
    Constant(SETTLED, "CLEAR", (40.0, 10.0, 5.0, 3.0)),
    Constant(SETTLED, "MANY", (4.0, 1.0, 0.25, 0.1)),
)

DOMAINS = {"line": ("256", "1024"), "plane": ("32x32", "64x64")}
OTHERS = {"line": ("100", "3000", "4096"), "plane": ("32x128", "100x60", "128x128")}
"""Sizes and aspect ratios for the score alone."""
SIGNALS, OTHER_SIGNALS = (10**2, 10**3, 10**4, 10**6), (30, 10**5, 10**7)
"""Epsilon times the number of records, at epsilon 0.1 and 1 in turn; the others are for the score alone."""
WORKLOADS = {"line": ("Prefix", "RandomRange", "Identity", "RandomSmall"), "plane": ("RandomRange", "RandomSmall")}


def settings_of(part, domains, signals, first, each):
    """Shapes, with a workload and an epsilon drawn by seed, for every domain and signal."""
    for name in families.names(1 if part == "line" else 2):
        for number in range(first, first + each):
            for domain in domains:
                for signal in signals:
                    kinds = WORKLOADS[part]
                    pick = seed_for(0, "constants", name, number, domain, signal).generate_state(2).tolist()
                    epsilon = (0.1, 1.0)[pick[1] % 2]
                    yield f"{name}/{number}", domain, kinds[pick[0] % len(kinds)], epsilon, round(signal / epsilon)


@contextmanager
def values(point):
    """Cascade with a rung of each constant."""
    from dpbench.mathematics.cascade import tables

    before = {constant: getattr(constant.home, constant.name) for constant in point if constant.module}
    try:
        for constant in before:
            setattr(constant.home, constant.name, constant.ladder[point[constant]])
        tables.cache_clear()  # they are those of SHARPNESS
        given = {each.name: each.ladder[rung] for each, rung in point.items() if not each.module}
        yield dpb.algorithms.get("Cascade", **given)
    finally:
        for constant, value in before.items():
            setattr(constant.home, constant.name, value)
        tables.cache_clear()


def errors_of(point, settings, trials):
    """``(settings,)``: the logarithm of each mean error; noise follows from the setting, not from the constants."""
    found = []
    with values(point) as cascade:
        for shape, domain, kind, epsilon, scale in settings:
            at = Domain.of(domain)
            workload, x = dpb.workloads.build(kind, at), counts_of(shape, at, scale)
            seed = seed_for(0, "constants", shape, domain, kind, epsilon, scale)
            estimate = cascade.run(x, workload, epsilon, trials=trials, seed=seed)
            found.append(float(np.log(dpb.loss.scaled_error(workload, x, estimate).mean())))
    return np.array(found)


def compared(one, other):
    """The mean difference of logarithms and its standard error, over settings."""
    off = one - other
    return float(off.mean()), float(off.std(ddof=1) / len(off) ** 0.5)


class Search:
    """A search whose evaluations are on the disk."""

    def __init__(self, path, part, each, trials):
        self.path, self.trials = path, trials
        self.kept = json.loads(path.read_text()) if path.exists() else {"errors": {}}
        wanted = {"part": part, "each": each, "trials": trials}
        if {**self.kept, **wanted} != self.kept and self.kept["errors"]:
            raise SystemExit(f"{path} is of another search, {self.kept['part']}; give another file")
        self.kept.update(wanted)
        self.constants = [constant for constant in CONSTANTS if part in constant.axes]
        self.settings = list(settings_of(part, DOMAINS[part], SIGNALS, 0, each))

    def errors(self, point):
        """Those of a point, worked out if they are not kept."""
        key = " ".join(str(point[constant]) for constant in self.constants)
        if key not in self.kept["errors"]:
            self.kept["errors"][key] = np.round(errors_of(point, self.settings, self.trials), 6).tolist()
            self.path.write_text(json.dumps(self.kept))
        return np.array(self.kept["errors"][key])

    def go(self, point, passes):
        """Go down, constant by constant; the point where a pass changes nothing."""
        for number in range(1, passes + 1):
            moved = False
            for constant in self.constants:
                down = True
                while down:
                    down = False
                    for step in (1, -1):
                        rung = point[constant] + step
                        if not 0 <= rung < len(constant.ladder):
                            continue
                        off, spread = compared(self.errors({**point, constant: rung}), self.errors(point))
                        word = "taken" if off < -spread else "left"
                        if word == "taken":
                            point, moved, down = {**point, constant: rung}, True, True
                        sys.stdout.write(
                            f"pass {number}  {constant.name:16} {constant.ladder[rung]!s:60.60} "
                            f"{np.exp(off):.3f} +- {spread:.3f} {word}\n"
                        )
                        sys.stdout.flush()
                        if down:
                            break
            if not moved:
                break
        return point


def search(chosen):
    """Search, then say what was found beside what is shipped."""
    work = Search(Path(chosen.out), chosen.part, chosen.each, chosen.trials)
    shipped = {constant: constant.shipped for constant in work.constants}
    start = shipped if chosen.start == "shipped" else dict.fromkeys(work.constants, 0)
    found = work.go(start, chosen.passes)
    work.kept["found"] = {constant.name: rung for constant, rung in found.items()}
    work.path.write_text(json.dumps(work.kept))
    print(f"\n{len(work.settings)} settings, {work.trials} runs each, {len(work.kept['errors'])} candidates\n")
    print("| constant | found | shipped | shipped over found with this alone |\n|---|---|---|---|")
    for constant in work.constants:
        mine, theirs = constant.ladder[found[constant]], constant.ladder[shipped[constant]]
        off, spread = compared(work.errors({**found, constant: shipped[constant]}), work.errors(found))
        ratio = "the same" if mine == theirs else f"{np.exp(off):.3f} +- {spread:.3f}"
        print(f"| {constant.name} | {mine} | {theirs} | {ratio} |")
    for words, point in (("shipped", shipped), ("start", start)):
        off, spread = compared(work.errors(point), work.errors(found))
        print(f"\n{words} over found, on the shapes of the search: {np.exp(off):.3f} +- {spread:.3f}")


def score(chosen):
    """What was found against what is shipped, where the search has not been."""
    kept = json.loads(Path(chosen.file).read_text())
    constants = [constant for constant in CONSTANTS if kept["part"] in constant.axes]
    found = {constant: kept["found"][constant.name] for constant in constants}
    shipped = {constant: constant.shipped for constant in constants}
    part, many = kept["part"], chosen.each
    print("| held out | settings | shipped over found |\n|---|---|---|")
    for words, domains, signals in (
        ("instances", DOMAINS[part], SIGNALS),
        ("and sizes and aspect ratios", OTHERS[part], SIGNALS),
        ("and signals", DOMAINS[part], OTHER_SIGNALS),
    ):
        settings = list(settings_of(part, domains, signals, HELD_OUT, many))
        off, spread = compared(*(errors_of(point, settings, chosen.trials) for point in (shipped, found)))
        print(f"| {words} | {len(settings)} | {np.exp(off):.3f} +- {spread:.3f} |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    verbs = parser.add_subparsers(required=True)
    verb = verbs.add_parser("search")
    verb.add_argument("part", choices=("line", "plane"))
    verb.add_argument("--out", required=True, metavar="FILE.json")
    verb.add_argument("--start", choices=("first", "shipped"), default="first", help="rung of every ladder (first)")
    verb.add_argument("--passes", type=int, default=4, metavar="N")
    verb.set_defaults(act=search)
    other = verbs.add_parser("score")
    other.add_argument("file")
    other.set_defaults(act=score)
    for each in (verb, other):
        each.add_argument("--each", type=int, default=2, metavar="N", help="instances of every family (2)")
        each.add_argument("--trials", type=int, default=2, metavar="N", help="runs per setting (2)")
    chosen = parser.parse_args()
    chosen.act(chosen)


if __name__ == "__main__":
    main()
