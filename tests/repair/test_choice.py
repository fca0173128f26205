from itertools import product

import numpy as np
import pytest

from dpbench.errors import InvalidInput
from dpbench.repair.choice import TableKey, best_rows

GRID = tuple((("rounds", value),) for value in (1, 2, 4, 8))


def errors_of(table, samples=3, jitter=0.0):
    """Errors by place (signal), shape and grid value, from a table signal -> shape -> [error for each value]."""
    rng = np.random.default_rng(0)
    result = {}
    for signal, shapes in table.items():
        for shape, values in shapes.items():
            for parameters, value in zip(GRID, values, strict=True):
                noise = np.exp(jitter * rng.normal(size=samples))
                result[TableKey(1, 16, float(signal)), shape, parameters] = list(value * noise)
    return result


def chosen(rows):
    return [dict(row.parameters)["rounds"] for row in rows]


def test_the_least_geometric_mean_of_regrets_wins():
    """A shape with large errors counts no more than one with small ones."""
    rows = best_rows(errors_of({1: {"big": [100, 200, 400, 800], "small": [0.8, 0.1, 0.4, 0.8]}}), GRID)
    assert chosen(rows) == [2]
    assert rows[0].regret == pytest.approx(np.sqrt(2 * 1))


def test_ties_go_to_the_simpler_value():
    """Within one standard error of the best the first of the grid is taken."""
    rows = best_rows(errors_of({1: {"a": [1.0005, 1.0, 1.3, 2.0]}}, samples=5, jitter=0.05), GRID)
    assert chosen(rows) == [1]


def test_without_noise_the_best_is_taken():
    """A clear difference is not a tie."""
    assert chosen(best_rows(errors_of({1: {"a": [1.1, 1.0, 1.3, 2.0]}}), GRID)) == [2]


def test_monotone_paths_are_the_best_of_all():
    """The nondecreasing path with the least total regret, compared with every such path."""
    rng = np.random.default_rng(1)
    for _ in range(20):
        table = {
            signal: {"a": rng.uniform(1, 3, 4).tolist(), "b": rng.uniform(1, 3, 4).tolist()} for signal in range(4)
        }
        errors = errors_of(table)
        rows = best_rows(errors, GRID, monotone=True)
        costs = []
        for signal in range(4):
            logs = np.log([table[signal]["a"], table[signal]["b"]])
            costs.append((logs - logs.min(axis=1, keepdims=True)).mean(axis=0))
        paths = [path for path in product(range(4), repeat=4) if list(path) == sorted(path)]
        best = min(sum(costs[s][i] for s, i in enumerate(path)) for path in paths)
        found = [[1, 2, 4, 8].index(value) for value in chosen(rows)]
        assert found == sorted(found)
        assert sum(costs[s][i] for s, i in enumerate(found)) == pytest.approx(best)


def test_only_one_parameter_can_be_monotone():
    """Two parameters have no order."""
    grid = ((("a", 1), ("b", 2)),)
    with pytest.raises(InvalidInput, match="single parameter"):
        best_rows({(TableKey(1, 4, 1.0), "s", grid[0]): [1.0]}, grid, monotone=True)
