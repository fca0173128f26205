"""Where pure differential privacy beats Gaussian noise, and where it does not: docs/pure-or-gaussian.md is made here.

python -m benchmarks.border --out docs/pure-or-gaussian.md     two minutes of one core
"""

import argparse
from functools import cache
from math import exp, log, sqrt
from pathlib import Path

from dpbench.data_independent import expected_errors
from dpbench.limits import limit
from dpbench.privacy.conversion import gaussian_sigma
from dpbench.workloads import Prefix, RandomRange

EPSILONS = (0.01, 0.1, 0.5, 1.0, 2.0, 5.0)
DELTAS = (1e-6, 1e-9)
LEAST, MOST = 1e-100, 0.5
"""Deltas between which the border is looked for."""
CERTIFIED = 1024
"""Cells of the longest axis whose Gaussian optimum is computed with a certificate; beyond it is bounded from below."""
WORKLOADS = (
    *(Prefix(n) for n in (64, 256, 1024, 4096)),
    *(RandomRange(n, queries=None) for n in (64, 256, 1024, 4096)),
    *(RandomRange((n, n), queries=None) for n in (16, 32, 64, 128, 256)),
    *(RandomRange((n, n, n), queries=None) for n in (8, 16, 32, 64)),
)
HEAD = """\
# Pure differential privacy or Gaussian noise?

Made by `python -m benchmarks.border --out docs/pure-or-gaussian.md`; do not edit. Every number was computed.

A delta above 0 allows Gaussian noise, whose size follows the L2 sensitivity of what is measured and not the larger L1
sensitivity. That is often taken for a gain in itself. Whether it is one depends on epsilon, delta, the number of cells
and the number of axes, and can be computed: expected errors of data-independent strategies need no data and no run.
Here the best pure algorithm of the catalogue, with Laplace noise, is set against **every** unbiased strategy with
Gaussian noise: `dpb.limit` says what none of them is below. The noise of an (epsilon, delta) is calibrated by the exact
formula for one Gaussian measurement.

Prefix is the paper's 1-D workload. RandomRange is the distribution of ranges whose length and position are uniform
along each axis, in place of a list drawn from it. `dpbench strategies` gives the errors on any workload:

```
dpbench strategies --domain 1024 --epsilon 1
dpbench strategies --domain 1024 --epsilon 1 --delta 1e-6
```
"""
ERRORS_HEAD = """\
## Errors at epsilon 1

Root of the expected squared error per query. "Gaussian" is the least that a strategy with Gaussian noise can have: up
to {longest:,} cells per axis GaussianOptimal attains it to a millionth, on longer axes it is a lower bound. The last
column says which of the two is lower.

| workload | domain | pure, best of the catalogue | {heads} | lower |
|---|---|---|{rules}---|
"""
BORDER_HEAD = """\
## The border

For each epsilon the delta at which both errors are equal. With a smaller delta the pure algorithm has less error than
every strategy with Gaussian noise; with a larger one some strategy with Gaussian noise has less error (on axes above
{longest:,} cells: may have). A delta should be far below one over the number of records; where the border is
above that, Gaussian noise gives a weaker promise and more error.

| workload | domain | {heads} |
|---|---|{rules}
"""
TAIL = """\
## Reading it

The error of a pure strategy grows with 1 / epsilon^2 at every epsilon. Gaussian noise of an (epsilon, delta) grows more
slowly for small epsilon, so the border falls with epsilon: strict budgets favour Gaussian noise. It also falls with the
number of axes and, slowly, with the number of cells: a strategy with Gaussian noise may put every cell into many
overlapping measurements, and L2 sensitivity makes that cheap; the product over axes multiplies the gain.
"""


def border(workload, epsilon):
    """The delta at which the pure error meets the least Gaussian one; the ends of the interval where it does not."""
    wanted = pure(workload).error / epsilon**2

    def over(delta):
        return gaussian_error(workload, epsilon, delta) > wanted

    low, high = log(LEAST), log(MOST)
    if not over(LEAST):
        return LEAST
    if over(MOST):
        return MOST
    while high - low > 1e-3:
        middle = (low + high) / 2
        low, high = (middle, high) if over(exp(middle)) else (low, middle)
    return exp(low)


@cache
def pure(workload):
    """The best data-independent algorithm with Laplace noise, at epsilon 1."""
    return expected_errors(workload, 1)[0]


def gaussian_error(workload, epsilon, delta):
    """The least expected squared error per query that a strategy with Gaussian noise can have."""
    return float(gaussian_sigma(epsilon, delta)) ** 2 * gaussian(workload).unit


@cache
def gaussian(workload):
    """The limit at epsilon 1, of which only the noise differs at other budgets."""
    return limit(workload, 1, method="dual" if max(workload.domain) <= CERTIFIED else "svd")


def error_row(workload):
    """Roots at epsilon 1, and what is lower."""
    best = pure(workload)
    noisy = [gaussian_error(workload, 1, delta) for delta in DELTAS]
    lower = ["pure" if best.error < each else "Gaussian" for each in noisy]
    words = lower[0] if len(set(lower)) == 1 else ", ".join(f"{d:g}: {w}" for d, w in zip(DELTAS, lower, strict=True))
    roots = " | ".join(f"{sqrt(each):.4g}" for each in noisy)
    return f"| {workload.name} | {workload.domain} | {sqrt(best.error):.4g} ({best.algorithm}) | {roots} | {words} |"


def border_row(workload):
    """The border at each epsilon."""
    cells = [border(workload, epsilon) for epsilon in EPSILONS]
    words = ["below 1e-100" if each == LEAST else "always pure" if each == MOST else f"{each:.1e}" for each in cells]
    return f"| {workload.name} | {workload.domain} | {' | '.join(words)} |"


def document():
    """The whole text."""
    errors = ERRORS_HEAD.format(
        longest=CERTIFIED, heads=" | ".join(f"Gaussian, delta {d:g}" for d in DELTAS), rules="---|" * len(DELTAS)
    )
    borders = BORDER_HEAD.format(
        longest=CERTIFIED, heads=" | ".join(f"epsilon {e:g}" for e in EPSILONS), rules="---|" * len(EPSILONS)
    )
    return "\n".join(
        [
            HEAD,
            errors + "\n".join(map(error_row, WORKLOADS)) + "\n",
            borders + "\n".join(map(border_row, WORKLOADS)) + "\n",
            TAIL,
        ]
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, required=True)
    parser.parse_args().out.write_text(document(), encoding="utf-8")


if __name__ == "__main__":
    main()
