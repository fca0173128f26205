"""From errors on training shapes to a table: which parameters are best for each signal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dpbench.errors import InvalidInput
from dpbench.repair.table import TrainedRow

Parameters = tuple[tuple[str, float], ...]


@dataclass(frozen=True)
class TableKey:
    """What a row of a table is for."""

    dimensions: int
    cells: int
    log10_product: float
    epsilon: float | None = None
    """Part of the key only where the product is not enough."""

    @property
    def order(self) -> tuple[float, ...]:
        """Where its row stands in a table."""
        return self.dimensions, self.cells, self.epsilon or 0.0, self.log10_product


def best_rows(
    errors: Mapping[tuple[TableKey, str, Parameters], Sequence[float]],
    grid: Sequence[Parameters],
    monotone: bool = False,
) -> list[TrainedRow]:
    """One row per key: least geometric mean over shapes of error over the best of that shape; ties to the simpler.

    ``errors`` has per key, shape and parameters one mean error for each data sample. ``grid`` is in the order of
    simplicity: among parameters within one standard error of the best the first is taken. With ``monotone`` the first
    parameter never decreases with the signal (isotonic in its logarithm, weighted alike).
    """
    keys = sorted({key for key, _, _ in errors}, key=lambda key: key.order)
    rows = [_row(key, errors, grid) for key in keys]
    return _monotone(rows, errors, grid) if monotone else rows


def _logs(
    key: TableKey, errors: Mapping[tuple[TableKey, str, Parameters], Sequence[float]], grid: Sequence[Parameters]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Mean log regret of each choice, ``(grid,)``, and log errors by shape and sample, ``(grid, shapes, samples)``."""
    shapes = sorted({shape for at, shape, _ in errors if at == key})
    table = np.log([[np.asarray(errors[key, shape, theta]) for shape in shapes] for theta in grid])
    by_shape = table.mean(axis=2)
    regret = by_shape - by_shape.min(axis=0)
    return regret.mean(axis=1), table


def _row(
    key: TableKey, errors: Mapping[tuple[TableKey, str, Parameters], Sequence[float]], grid: Sequence[Parameters]
) -> TrainedRow:
    regret, table = _logs(key, errors, grid)
    best = int(np.argmin(regret))
    spread = (table - table[best]).mean(axis=1)
    samples = spread.shape[1]
    deviation = spread.std(axis=1, ddof=1) / np.sqrt(samples) if samples > 1 else np.zeros(len(grid))
    chosen = next(index for index in range(len(grid)) if regret[index] <= regret[best] + deviation[index])
    return _made(key, grid[chosen], regret[chosen], float(table[chosen].mean(axis=0).std() / np.sqrt(samples)))


def _made(key: TableKey, parameters: Parameters, regret: float, standard_error: float) -> TrainedRow:
    return TrainedRow(
        key.dimensions,
        key.cells,
        key.log10_product,
        parameters,
        float(np.exp(regret)),
        standard_error,
        key.epsilon,
    )


def _monotone(
    rows: list[TrainedRow],
    errors: Mapping[tuple[TableKey, str, Parameters], Sequence[float]],
    grid: Sequence[Parameters],
) -> list[TrainedRow]:
    """Replace the chosen parameters by the nondecreasing path through the grid with the least total regret.

    A dynamic programme over signals and grid: exact, and it stays in the grid.
    """
    if len(grid[0]) != 1:
        raise InvalidInput(f"only a single parameter can be monotone; the grid has {len(grid[0])}")
    order = sorted(range(len(grid)), key=lambda index: grid[index][0][1])
    result = []
    for group in sorted({(row.dimensions, row.cells, row.epsilon or 0.0) for row in rows}):
        members = [row for row in rows if (row.dimensions, row.cells, row.epsilon or 0.0) == group]
        keys = [TableKey(row.dimensions, row.cells, row.log10_product, row.epsilon) for row in members]
        costs = np.array([_logs(key, errors, grid)[0][order] for key in keys])
        best, choice = costs[0].copy(), []
        for cost in costs[1:]:
            least = np.minimum.accumulate(best)
            choice.append([int(np.argmin(best[: index + 1])) for index in range(len(best))])
            best = least + cost
        path = [int(np.argmin(best))]
        for step in reversed(choice):
            path.append(step[path[-1]])
        for key, index, row in zip(keys, reversed(path), members, strict=True):
            regret = costs[keys.index(key)][index]
            result.append(_made(key, grid[order[index]], regret, row.standard_error))
    return result
