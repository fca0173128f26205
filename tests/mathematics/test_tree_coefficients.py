"""Passes over the nodes of a tree, against numpy level by level and loops node by node."""

from __future__ import annotations

import numpy as np
import pytest

from dpbench.mathematics.kernels import tree_coefficients as kernels


def random_tree(seed, fanouts=(0, 1, 2, 3, 4, 9, 40, 300), most=2_000):
    """Breadth-first ``first_child`` and weights of a random tree; the root has children and may be unmeasured."""
    stream = np.random.default_rng(seed)
    children, level = [], 1
    while level:
        chances = stream.choice(fanouts, level)
        if not children:
            chances = np.maximum(chances, 2)
        if sum(map(len, children)) + chances.sum() > most:
            chances = np.zeros(level, dtype=np.int64)
        children.append(chances)
        level = int(chances.sum())
    fanout = np.concatenate(children)
    weight = stream.uniform(0.01, 1, len(fanout))
    weight[0] *= stream.integers(0, 2)
    return 1 + np.concatenate([[0], np.cumsum(fanout)]), weight


def levels_of(first_child):
    """Nodes of equal depth, root first."""
    spans, first, last = [], 0, 1
    while first < last:
        spans.append((first, last))
        first, last = int(first_child[first]), int(first_child[last])
    return spans


@pytest.mark.parametrize("seed", range(12))
def test_recurrence_is_numpys_bit_for_bit(seed):
    """Level by level with numpy.add.reduceat gives the same bits, whatever the number of children."""
    first_child, weight = random_tree(seed)
    precision, variance = weight**2, np.zeros(len(weight))
    for first, last in reversed(levels_of(first_child)):
        inner = first + np.flatnonzero(np.diff(first_child[first : last + 1]) > 0)
        if len(inner):
            begin, end = first_child[inner[0]], first_child[inner[-1] + 1]
            variance[inner] = np.add.reduceat(1.0 / precision[begin:end], first_child[inner] - begin)
            precision[inner] = weight[inner] ** 2 + 1.0 / variance[inner]
    found = kernels.recurrence(weight, first_child)
    np.testing.assert_array_equal(found[0], variance)
    np.testing.assert_array_equal(found[1], precision)


@pytest.mark.parametrize("seed", range(6))
def test_coefficients_are_their_formulas(seed):
    """Own w / P, children's sum 1 / (k P), share 1 / P / k of the parent; 1 / P for the root."""
    first_child, weight = random_tree(seed)
    variance, precision = kernels.recurrence(weight, first_child)
    own, below, share = kernels.coefficients(weight, first_child, variance, precision)
    inner = variance > 0
    parent = np.concatenate([[0], np.repeat(np.arange(len(weight)), np.diff(first_child))])
    np.testing.assert_array_equal(own, weight / precision)
    np.testing.assert_array_equal(below[inner], 1.0 / (variance[inner] * precision[inner]))
    assert not below[~inner].any()
    assert share[0] == 1 / precision[0]
    np.testing.assert_array_equal(share[1:], 1.0 / precision[1:] / variance[parent[1:]])


@pytest.mark.parametrize("seed", range(6))
def test_heaviest_path_is_that_of_a_walk(seed):
    """The largest sum of weights over all walks from the root to a leaf, added up from the root."""
    first_child, weight = random_tree(seed, fanouts=(0, 1, 2, 3), most=300)

    def heaviest(node, above):
        total = weight[node] + above
        return max([heaviest(c, total) for c in range(first_child[node], first_child[node + 1])], default=total)

    assert kernels.heaviest_path(weight, first_child) == heaviest(0, 0.0)


@pytest.mark.parametrize("seed", range(6))
def test_totals_and_cells_of_intervals(seed):
    """Weighted counts and numbers of cells of random intervals of a line with padding, added up one by one."""
    stream = np.random.default_rng(seed)
    order = stream.permutation(np.concatenate([np.arange(30), np.full(9, -1)]))
    counts = stream.integers(0, 2**40, 30)
    ends = np.sort(stream.integers(0, 40, (25, 2)), axis=1)
    start, stop = (np.ascontiguousarray(column) for column in ends.T)
    weight = stream.random(25)
    spans = [[int(cell) for cell in order[a:b] if cell >= 0] for a, b in ends]
    for skipped in (0, 1):
        found = kernels.weighted_totals(counts, order, start, stop, weight, skipped)
        exact = [float(w) * sum(int(counts[cell]) for cell in span) for w, span in zip(weight, spans, strict=True)]
        assert found.tolist() == exact[skipped:]
    assert kernels.cells_inside(order, start, stop).tolist() == [len(span) for span in spans]
