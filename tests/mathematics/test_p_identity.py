"""p-Identity strategies."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from dpbench.domain import Domain
from dpbench.errors import InvalidInput
from dpbench.mathematics.p_identity import UNIT, AxisStrategy, PIdentity
from reference import p_identity as reference


def random_axis(side, count, width, seed=0):
    """Rows and weights at random, each row used."""
    rng = np.random.default_rng(seed)
    rows = np.stack([rng.permutation(count)[:width] for _ in range(side)]) if count else np.zeros((side, 0), dtype=int)
    rows[0] = np.arange(count)[-width:] if count else rows[0]
    return AxisStrategy(side, rows.astype(np.int64), rng.integers(0, UNIT // (width + 1), size=rows.shape))


def strategy_on(shape, edges=None):
    edges = edges or [np.arange(side + 1) for side in shape]
    axes = [
        random_axis(len(each) - 1, min(3, len(each) - 1), 2 if len(each) > 2 else 1, at)
        for at, each in enumerate(edges)
    ]
    return PIdentity(Domain(shape), tuple(edges), tuple(axes))


STRATEGIES = [
    strategy_on((1,)),
    strategy_on((12,)),
    strategy_on((5, 7)),
    strategy_on((3, 1, 4)),
    strategy_on((9, 6), [np.array([0, 2, 3, 9]), np.array([0, 5, 6])]),
]


@pytest.mark.parametrize("strategy", STRATEGIES, ids=lambda each: str(each.domain))
def test_answers_are_those_of_the_kronecker_product(strategy):
    """Groups added up, then one matrix per axis."""
    x = np.random.default_rng(4).integers(0, 1000, size=strategy.domain.shape)
    answers = strategy.answer(x)
    assert answers.shape == strategy.shape
    np.testing.assert_allclose(answers.reshape(-1), reference.matrix(strategy) @ x.reshape(-1), rtol=1e-14)


@pytest.mark.parametrize("strategy", STRATEGIES, ids=lambda each: str(each.domain))
def test_every_column_adds_up_to_one_exactly(strategy):
    """So the sensitivity is 1, and its square in L2 the largest sum of squares: in fractions, without rounding."""
    columns = []
    for cell in range(strategy.domain.size):
        unit = np.zeros(strategy.domain.size, dtype=np.int64)
        unit[cell] = 1
        columns.append([Fraction(float(each)) for each in strategy.answer(unit.reshape(strategy.domain.shape)).flat])
    assert {sum(column) for column in columns} == {1}
    assert strategy.sensitivity == 1
    assert strategy.squared_l2_sensitivity == max(sum(each**2 for each in column) for column in columns)


def test_answers_of_whole_counts_on_one_axis_are_exact():
    """Weights are multiples of 2^-16, so the answers to counts up to 10^8 are, too."""
    axis = random_axis(50, 4, 3)
    x = np.random.default_rng(1).integers(0, 10**8, size=50)
    answers = PIdentity(Domain((50,)), (np.arange(51),), (axis,)).answer(x)
    exact = [
        sum(
            int(u) * int(c)
            for u, c, r in zip(axis.units.ravel(), np.repeat(x, 3), axis.rows.ravel(), strict=True)
            if r == row
        )
        for row in range(4)
    ]
    assert [Fraction(float(each)) * UNIT for each in answers[50:]] == exact


def test_plain_cells_are_the_identity():
    """No wide rows, all weight on the cells."""
    plain = AxisStrategy.cells(6)
    assert plain.count == 0
    np.testing.assert_array_equal(reference.axis_matrix(plain), np.eye(6))
    assert plain.squared_l2 == 1


@pytest.mark.parametrize(
    ("rows", "units"),
    [
        ([[0], [0]], [[UNIT], [1]]),
        ([[0], [0]], [[-1], [1]]),
        ([[-1], [0]], [[1], [1]]),
        ([[0], [0]], [[1, 2], [1, 2]]),
        ([[0]], [[1]]),
    ],
)
def test_what_is_no_strategy_is_refused(rows, units):
    """A cell needs part of its weight, weights are not negative, and there are as many as rows."""
    with pytest.raises(InvalidInput, match="no p-Identity strategy of 2 cells; each cell needs"):
        AxisStrategy(2, np.array(rows), np.array(units))
