"""Hb: a hierarchy whose branching factor fits the domain."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from dpbench import algorithms
from dpbench.algorithms.hb import branching_factor
from dpbench.domain import Domain
from dpbench.mathematics.tree import complete_tree
from dpbench.privacy import Recording
from dpbench.workloads import AllRange, Prefix, RandomRange
from reference import tree as reference

HB = algorithms.get("Hb")
PUBLISHED = algorithms.get("Hb", variant="published")

TABLE_1D = [(256, 16, 2, 256), (512, 23, 2, 529), (1024, 32, 2, 1024), (2048, 46, 2, 2116), (4096, 16, 3, 4096)]
TABLE_2D = [(32, 6, 2, 36), (64, 8, 2, 64), (128, 12, 2, 144), (256, 7, 3, 343)]


def asked(algorithm, shape):
    """The one question that a run asks."""
    recording = Recording()
    algorithm._outcome(np.zeros(shape, dtype=int), RandomRange(shape, queries=1), 0.5, channel=recording, seed=0)
    ((question, _),) = recording.exchanges
    return question


class TestBranching:
    @pytest.mark.parametrize(("n", "b", "h", "padded"), TABLE_1D)
    def test_one_axis(self, n, b, h, padded):
        """The branching, height and padded size of the table; the root is measured in the published form only."""
        assert HB._branching(Domain((n,))) == branching_factor(n, 1) == b
        assert b**h == padded
        nodes = sum(b**level for level in range(1, h + 1))
        assert asked(HB, (n,)).shape == (nodes,)
        assert asked(HB, (n,)).sensitivity == h
        assert asked(PUBLISHED, (n,)).shape == (1 + nodes,)
        assert asked(PUBLISHED, (n,)).sensitivity == h + 1

    @pytest.mark.parametrize(("n", "b", "h", "padded"), TABLE_2D)
    def test_two_axes(self, n, b, h, padded):
        """The same for squares, where neither form measures the root."""
        assert HB._branching(Domain((n, n))) == branching_factor(n, 2) == b
        assert b**h == padded
        nodes = sum(b ** (2 * level) for level in range(1, h + 1))
        assert asked(HB, (n, n)).shape == (nodes,)
        assert asked(HB, (n, n)).sensitivity == asked(PUBLISHED, (n, n)).sensitivity == h
        assert asked(PUBLISHED, (n, n)).shape == (nodes,)

    def test_short_axes_are_flat(self):
        """On one axis b = n exactly for n from 2 to 212 and from 226 to 228."""
        flat = [n for n in range(2, 400) if branching_factor(n, 1) == n]
        assert flat == [*range(2, 213), 226, 227, 228]

    @pytest.mark.parametrize(("axes", "largest"), [(1, 300), (2, 150), (3, 60), (4, 30)])
    def test_the_rule_in_whole_numbers(self, axes, largest):
        """Evaluated exactly for every b, with the smallest b winning ties; floats choose the same."""
        for side in range(1, largest):
            assert branching_factor(side, axes) == _exact_branching(side, axes)

    @pytest.mark.parametrize(
        ("shape", "mean_side"),
        [((16, 64), 32), ((5, 12), 7), ((4, 6, 3), 4), ((5, 5, 5), 5), ((8, 8, 8), 8)],
    )
    def test_unequal_sides_count_by_their_geometric_mean(self, shape, mean_side):
        """Rounded down to a whole side; 5 x 5 x 5 counts as 5, although 125 ** (1 / 3) is below."""
        assert HB._branching(Domain(shape)) == branching_factor(mean_side, len(shape))

    def test_axes_of_one_cell_do_not_count(self):
        """1 x 4096 has the tree of 4096, not that of a padded square."""
        assert HB._branching(Domain((1, 4096, 1))) == HB._branching(Domain((4096,)))
        assert asked(HB, (1, 4096)).shape == asked(HB, (4096,)).shape

    @pytest.mark.parametrize("shape", [(16, 64), (5, 12), (4, 6, 3)])
    def test_the_longest_side_sets_the_height(self, shape):
        """The least height at which b^h covers every side."""
        b = HB._branching(Domain(shape))
        height = next(h for h in range(1, 12) if b**h >= max(shape))
        assert asked(HB, shape).sensitivity == height
        assert asked(HB, shape).shape == (sum(b ** (len(shape) * level) for level in range(1, height + 1)),)


def _exact_branching(side, axes):
    def variance(b):
        h = next(h for h in range(20) if b**h >= side)
        if axes == 1:
            return (b - 1) * h**3 - Fraction(2, 3) * (b + 1) * h**2
        if axes == 2:
            return Fraction(b * (side - 1) * h**2)
        return Fraction(h**2 * (b - 1) * b ** (axes - 1) * (side ** (axes - 1) - 1), b ** (axes - 1) - 1)

    return min(range(2, max(side, 2) + 1), key=lambda b: (variance(b), b))


@pytest.mark.parametrize("shape", [(1,), (1, 1), (1, 1, 1)])
def test_one_cell_gets_noise_of_one_over_epsilon(shape):
    """A single node, measured though it is the root."""
    question = asked(HB, shape)
    assert question.sensitivity == 1
    assert question.shape == (1,)
    assert HB.expected_error(AllRange(shape), 1) == pytest.approx(2)


@pytest.mark.parametrize("n", [2, 3, 100, 212, 227])
def test_a_flat_tree_is_identity(n):
    """One measured level of cells: the same estimates, draw for draw, and the same expected error."""
    identity, x, workload = algorithms.get("Identity"), np.arange(n), Prefix(n)
    np.testing.assert_allclose(HB.run(x, workload, 1, 2, 7), identity.run(x, workload, 1, 2, 7), rtol=1e-12)
    assert HB.expected_error(workload, 1) == pytest.approx(identity.expected_error(workload, 1), rel=1e-12)


@pytest.mark.parametrize("root", [False, True])
@pytest.mark.parametrize(
    "workload",
    [Prefix(1), Prefix(30), Prefix(230), RandomRange((3, 5), 30), AllRange((3, 3)), RandomRange((3, 4, 2), 20)],
    ids=repr,
)
def test_the_expected_error_is_the_dense_trace(workload, root):
    """2 levels^2 / epsilon^2 trace(W (A^T A)^+ W^T) / q; several axes never measure the root."""
    domain = workload.domain
    hb = algorithms.get("Hb", root=root)
    b = hb._branching(domain)
    height = next(h for h in range(9) if b**h >= max(domain))
    weights = np.ones(height + 1)
    if height and not (root and domain.ndim == 1):
        weights[0] = 0
    tree = complete_tree(domain, b, weights)
    expected = 2 * weights.sum() ** 2 / 0.25 * reference.mean_variance(tree, workload.matrix())
    assert hb.expected_error(workload, 0.5) == pytest.approx(expected, rel=1e-10)
