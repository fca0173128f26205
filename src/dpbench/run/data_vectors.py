"""Data vectors, streams of noise and errors: what a result depends on besides dataset and algorithm.

Kept apart from everything else, because ``REVISION`` is part of the key of every result.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpbench.domain import Domain
from dpbench.errors import AlgorithmFailed, InvalidInput
from dpbench.generator import generate
from dpbench.loss import L1, L2, Answers, Linf, Loss
from dpbench.run.seeds import seed_for
from dpbench.workloads import Workload

Floats = NDArray[np.float64]
Counts = NDArray[np.int64]

REVISION = 1
"""Raised when the code here or the generator gives other data vectors, streams or errors."""
ALWAYS = {"l2": L2(), "l1": L1(), "linf": Linf()}
"""The losses that every row holds, by column."""


def shape_on(histogram: NDArray[Any], domain: str) -> Floats:
    """Probabilities of the cells of a domain, from a histogram that it coarsens."""
    coarse: NDArray[Any] = Domain(histogram.shape).coarsen(histogram, domain)
    return np.asarray(coarse / coarse.sum())


def draw_vector(shape: Floats, dataset: str, domain: str, scale: int, sample: int, seed: int) -> Counts:
    """The data vector of (dataset, domain, scale, sample): the same for every algorithm, workload and epsilon."""
    return generate(shape, scale, seed=seed_for(seed, "data", dataset, domain, scale, sample))


def noise_seed(
    vector: tuple[str, str, int, int],
    seed: int,
    workload: Workload,
    budget: Mapping[str, float],
    label: str,
    side_information: str,
) -> np.random.SeedSequence:
    """The stream of one algorithm's trials in one setting; any two settings of a study have independent ones."""
    pure = list(budget) == ["epsilon"]
    names = [budget["epsilon"]] if pure else [f"{name} {value!r}" for name, value in budget.items()]
    return seed_for(seed, "noise", *vector, *names, workload.key, label, side_information)


def drift_of(workload: Workload, x: Counts, shape: Floats, scale: int) -> Floats:
    """How far the answers of a data vector are from those of what it was drawn from."""
    return workload.answer(x - scale * shape)


def losses(
    workload: Workload, x: Counts, drift: Floats, estimate: Floats, scale: int, wanted: Sequence[Loss] = ()
) -> dict[str, Any]:
    """Errors of every trial by every loss, and bias and variance of the answers over trials."""
    queries = workload.queries or 1
    trials = len(estimate)
    error = workload.answer(estimate - x.astype(np.float64))
    answers = Answers(workload, x, error, scale)
    with np.errstate(over="ignore", invalid="ignore"):
        mean = error.mean(axis=0)
        squared_bias = float(mean @ mean) / queries
        spread = float(answers.squares.sum() / queries - trials * squared_bias) / max(trials - 1, 1)
        population_l2 = ALWAYS["l2"].errors(replace(answers, error=error + drift))
    if not np.isfinite([answers.squares.sum(), population_l2.sum(), squared_bias]).all():
        raise AlgorithmFailed("the estimate is so large that its squared error is not a number; return counts")
    return {
        "queries": queries,
        **{column: loss.errors(answers).tolist() for column, loss in ALWAYS.items()},
        "population_l2": population_l2.tolist(),
        "squared_bias": squared_bias,
        "variance": max(spread, 0.0),
        "other_losses": {loss.label: _one_per_trial(loss, answers) for loss in wanted if loss not in ALWAYS.values()},
    }


def _one_per_trial(loss: Loss, answers: Answers) -> list[float]:
    """The errors of somebody's loss, checked."""
    errors = np.asarray(loss.errors(answers), dtype=np.float64)
    if errors.shape != answers.error.shape[:1] or not np.isfinite(errors).all():
        raise InvalidInput(
            f"the loss {loss.label} gave an array of shape {errors.shape} for {len(answers.error)} trials, or numbers "
            f"that are not finite; return one finite number per trial"
        )
    return errors.tolist()  # type: ignore[no-any-return]
