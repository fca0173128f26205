"""The table of exact errors, typed from the specification: expected squared error per query at epsilon = 1.

Closed forms must give its digits, and sampling must agree with it.
"""

from __future__ import annotations

import numpy as np
import pytest

from dpbench import algorithms
from dpbench.mathematics.least_squares import complete_tree_variance
from dpbench.workloads import AllRange, Prefix, RandomRange
from reference.sampling import standard_errors

HALF_A_DIGIT = 0.00501
"""The table has two decimals (or is exact): half of the last one, and rounding."""

ALGORITHMS = {
    "Identity": algorithms.get("Identity"),
    "Privelet": algorithms.get("Privelet"),
    "H": algorithms.get("H"),
    "Hb": algorithms.get("Hb"),
    "Hb with root": algorithms.get("Hb", root=True),
    "GreedyH gram": algorithms.get("GreedyH", objective="gram"),
    "GreedyH workload": algorithms.get("GreedyH", objective="workload"),
}

PREFIX = {
    # n: Identity, Privelet, H, Hb, Hb with root, GreedyH gram, GreedyH workload
    256: (257, 171.32, 173.23, 80.47, 95.84, 83.39, 86.37),
    512: (513, 227.97, 230.43, 114.74, 139.32, 142.13, 147.25),
    1024: (1025, 295.90, 298.93, 165.58, 191.91, 205.07, 207.23),
    2048: (2049, 376.07, 379.72, 234.42, 279.72, 344.69, 368.42),
    4096: (4097, 469.49, 473.79, 222.43, 245.33, 501.80, 504.51),
}
ALL_RANGES = {
    256: (172.00, 221.13, 264.78, 79.23, 135.40),
    512: (342.67, 305.95, 360.40, 114.30, 197.57),
    1024: (684.00, 410.29, 476.55, 164.29, 279.19),
    2048: (1366.67, 536.14, 615.23, 235.04, 404.89),
    4096: (2732.00, 685.47, 778.44, 261.97, 390.65),
}
RECTANGLES = {
    # side: Identity, Privelet, Hb, QuadTree geometric, QuadTree uniform
    32: (544.5, 2795.41, 492.90, 724.70, 1553.47),
    64: (2112.5, 6901.92, 1325.16, 1836.69, 4475.30),
    128: (8320.5, 15254.46, 4118.65, 4395.37, 12115.09),
    256: (33024.5, 30802.97, 11583.75, 10076.25, 31337.62),
}


def rows(table, names, sizes=None):
    """(algorithm, size, error) of every entry."""
    return [
        pytest.param(name, size, error, id=f"{name}-{size}")
        for size, errors in table.items()
        if sizes is None or size in sizes
        for name, error in zip(names, errors, strict=False)
    ]


@pytest.mark.parametrize(("name", "n", "error"), rows(PREFIX, ALGORITHMS))
def test_prefixes(name, n, error):
    """Every entry of the table for Prefix, to its last digit."""
    assert ALGORITHMS[name].expected_error(Prefix(n), 1) == pytest.approx(error, abs=HALF_A_DIGIT)


@pytest.mark.parametrize(("name", "n", "error"), rows(ALL_RANGES, ALGORITHMS, {256, 512, 1024}))
def test_all_ranges(name, n, error):
    """Every entry for all ranges up to 1024 cells, to its last digit."""
    assert ALGORITHMS[name].expected_error(AllRange(n), 1) == pytest.approx(error, abs=HALF_A_DIGIT)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "n", "error"), rows(ALL_RANGES, ALGORITHMS, {2048, 4096}))
def test_all_ranges_of_long_domains(name, n, error):
    """The rest: eight million ranges each."""
    assert ALGORITHMS[name].expected_error(AllRange(n), 1) == pytest.approx(error, abs=HALF_A_DIGIT)


@pytest.mark.parametrize(("name", "side", "error"), rows(RECTANGLES, ["Identity", "Privelet", "Hb"]))
def test_random_rectangles(name, side, error):
    """Every entry for random rectangles of a square, to its last digit."""
    workload = RandomRange((side, side), queries=None)
    assert ALGORITHMS[name].expected_error(workload, 1) == pytest.approx(error, abs=HALF_A_DIGIT)


@pytest.mark.parametrize("side", RECTANGLES)
def test_quadtrees(side):
    """A complete tree of fan-out 4 with budgets that grow by 2^(1/3) a level, or equal ones, has the table's error."""
    depth = np.arange(side.bit_length())
    geometric = 2 ** (depth / 3) / (2 ** (depth / 3)).sum()
    equal = np.full(len(depth), 1 / len(depth))
    workload = RandomRange((side, side), queries=None)
    for weights, error in zip((geometric, equal), RECTANGLES[side][3:], strict=True):
        assert 2 * complete_tree_variance(workload, 2, weights) == pytest.approx(error, abs=HALF_A_DIGIT)


def test_the_best_branching_of_a_large_square():
    """On 256 x 256 a branching of 16, which the rule does not choose, has an error of 10812."""
    workload = RandomRange((256, 256), queries=None)
    assert 2 * 2**2 * complete_tree_variance(workload, 16, np.array([0.0, 1.0, 1.0])) == pytest.approx(10812, abs=0.5)


def noise_alone(name, workload, trials):
    """Estimates of nothing, ``(trials, *domain)``: the error itself, which no data change."""
    return ALGORITHMS[name].run(np.zeros(workload.domain.shape, dtype=int), workload, 1, trials=trials, seed=2016)


@pytest.mark.parametrize(("name", "n", "error"), rows(PREFIX, ALGORITHMS, {256, 512, 1024}))
def test_sampled_errors_on_one_axis(name, n, error):
    """The mean of 1000 runs is within 4 standard errors, on Prefix and on all ranges.

    False alarms: 36 comparisons at 6.3e-5 each, so one choice of seeds in 440.
    """
    noise = noise_alone(name, Prefix(n), 1000)
    assert abs(standard_errors(Prefix(n).mean_squared(noise), error)) < 4
    columns = dict(zip(ALGORITHMS, ALL_RANGES[n], strict=False))
    if name in columns:
        assert abs(standard_errors(AllRange(n).mean_squared(noise), columns[name])) < 4


@pytest.mark.parametrize(("name", "side", "error"), rows(RECTANGLES, ["Identity", "Privelet", "Hb"], {32, 64}))
def test_sampled_errors_on_squares(name, side, error):
    """The mean over 600 runs of the exact expectation over rectangles is within 4 standard errors.

    False alarms: 6 comparisons at 6.3e-5 each, so one choice of seeds in 2600.
    """
    workload = RandomRange((side, side), queries=None)
    assert abs(standard_errors(workload.mean_squared(noise_alone(name, workload, 600)), error)) < 4
