"""Expected errors under Gaussian noise: the table of strategies for Prefix, and a run."""

from __future__ import annotations

from functools import partial
from math import pi, sin

import numpy as np
import pytest
from scipy import optimize

from dpbench.algorithms.hb import Hb
from dpbench.domain import Domain
from dpbench.mathematics.expected_error import mean_over_queries, squared_overlaps
from dpbench.mathematics.gaussian_error import unit_error
from dpbench.mathematics.gaussian_optimal import GaussianOptimal
from dpbench.mathematics.haar import range_energy
from dpbench.mathematics.least_squares import complete_tree_variance
from dpbench.mathematics.square_root import SquareRoot
from dpbench.privacy.conversion import gaussian_sigma
from dpbench.workloads import Prefix, RandomRange
from reference.sampling import standard_errors

TABLE = {
    # singular values, square root, circulant, weighted Haar (and best tree), Haar, H with two branches, Hb
    256: (6.108045, 7.12240, 7.54242, 8.8614, 9.5176, 9.6239, 20.1176),
    1024: (8.465681, 9.67079, 10.16090, 12.6230, 13.4498, 13.5878, 41.3939),
    4096: (11.221903, 12.61168, 13.16883, 17.0563, 18.0571, 18.2226, 37.0714),
}


def singular_values(n):
    return (sum(1 / (2 * sin((2 * i - 1) * pi / (4 * n + 2))) for i in range(1, n + 1)) / n) ** 2


def circulant(n):
    return np.abs(np.fft.fft(np.repeat([1.0, 0.0], n))).mean() ** 2


def haar(n):
    """log2(n) + 1 coefficients move by 1 each: that is the squared L2 sensitivity."""
    levels = n.bit_length() - 1
    return (levels + 1) * mean_over_queries(Prefix(n), [partial(range_energy, levels=levels)])


def weighted_haar(n):
    """Weights w per level cost sum w^2 and give sum v / w^2; the best product is (sum sqrt(v))^2."""
    levels = n.bit_length() - 1
    upto = [mean_over_queries(Prefix(n), [partial(range_energy, levels=level)]) for level in range(levels + 1)]
    lengths = [
        mean_over_queries(Prefix(n), [lambda low, up, m=m: ((up - low) / 2.0**m) ** 2]) for m in range(levels + 1)
    ]
    # range_energy of m levels is the total's part at 2^m cells, plus the parts of m levels of differences
    details = np.diff([energy - total for energy, total in zip(upto, lengths, strict=True)])
    return (np.sqrt(details).sum() + np.sqrt(lengths[-1])) ** 2


def tree(n, branching, root):
    height = 0
    while branching**height < n:
        height += 1
    weights = np.ones(height + 1)
    weights[0] = root
    return weights.sum() * complete_tree_variance(Prefix(n), branching, weights)


def weighted_tree(n):
    """Binary trees with the best weights: (sum w^2) (sum over levels k of E_k / lambda_k), convex in w^2."""
    height = n.bit_length() - 1
    blocks = 2.0 ** np.arange(height, -1, -1)
    energy = np.array([mean_over_queries(Prefix(n), [squared_overlaps(int(block))]) for block in blocks]) / blocks
    details = np.diff(energy, prepend=0)

    def error(logs):
        squares = np.exp(logs)
        lambdas = np.cumsum((squares * blocks)[::-1])[::-1]
        return squares.sum() * (details / lambdas).sum()

    found = optimize.minimize(error, np.zeros(height + 1), method="BFGS", options={"gtol": 1e-9})
    return found.fun


@pytest.mark.parametrize("n", sorted(TABLE))
def test_the_table_of_strategies_for_prefixes(n):
    """Unit errors under Gaussian noise, to all digits given."""
    svd, root, circular, best_haar, plain_haar, binary, hb = TABLE[n]
    assert singular_values(n) == pytest.approx(svd, abs=6e-7)
    assert unit_error(SquareRoot(Domain((n,))), Prefix(n)) == pytest.approx(root, abs=6e-6)
    assert circulant(n) == pytest.approx(circular, abs=6e-6)
    assert haar(n) == pytest.approx(plain_haar, abs=6e-5)
    assert weighted_haar(n) == pytest.approx(best_haar, abs=6e-5)
    assert weighted_tree(n) == pytest.approx(best_haar, abs=6e-5)
    assert tree(n, 2, root=1) == pytest.approx(binary, abs=6e-5)
    assert tree(n, Hb._branching(Domain((n,))), root=0) == pytest.approx(hb, abs=6e-5)


@pytest.mark.parametrize(
    ("strategy", "workload"),
    [
        (SquareRoot(Domain((64,))), Prefix(64)),
        (GaussianOptimal.of(Prefix(64)), Prefix(64)),
        (GaussianOptimal.of(RandomRange((8, 16), queries=None)), RandomRange((8, 16), queries=300)),
    ],
    ids=["square root", "optimal on a line", "optimal on a plane"],
)
def test_the_error_of_a_run_is_the_expected_one(strategy, workload):
    """2,000 runs at rho = 1/2 on random counts: mean squared error within 4 standard errors (false alarm 6e-5)."""
    rng = np.random.default_rng(0)
    x = rng.integers(0, 1000, size=workload.domain.shape)
    noise = rng.normal(scale=float(strategy.squared_l2_sensitivity) ** 0.5, size=(2000, *strategy.shape))
    error = workload.mean_squared(strategy.reconstruct(strategy.answer(x) + noise) - x)
    assert abs(standard_errors(error, unit_error(strategy, workload))) < 4


@pytest.mark.parametrize(
    ("n", "root_6", "root_9"), [(256, 11.275, 14.666), (1024, 13.138, 17.089), (4096, 15.003, 19.515)]
)
def test_the_root_mean_square_error_at_a_delta(n, root_6, root_9):
    """The square root on prefixes at epsilon 1, delta 1e-6 and 1e-9, with the exact Gaussian formula."""
    error = unit_error(SquareRoot(Domain((n,))), Prefix(n))
    for delta, expected in ((1e-6, root_6), (1e-9, root_9)):
        assert float(gaussian_sigma(1, delta)) * error**0.5 == pytest.approx(expected, abs=6e-4)


def test_the_optimal_error_at_a_delta():
    """On prefixes of 256 cells, and on random boxes of 32 x 32 and 64 x 64 cells."""
    strategy = GaussianOptimal.of(Prefix(256))
    for delta, expected in ((1e-6, 10.665), (1e-9, 13.872)):
        error = float(gaussian_sigma(1, delta)) * unit_error(strategy, Prefix(256)) ** 0.5
        assert error == pytest.approx(expected, abs=6e-4)
    for side, expected in ((32, 354), (64, 591)):
        boxes = RandomRange((side, side), queries=None)
        error = float(gaussian_sigma(1, 1e-6)) ** 2 * unit_error(GaussianOptimal.of(boxes), boxes)
        assert error == pytest.approx(expected, abs=0.6)
