"""How an outcome is drawn, given the question and a source of noise."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpbench.privacy.noise import NoiseSource
from dpbench.privacy.transcript import Question


def laplace(question: Question, noise: NoiseSource) -> NDArray[np.float64]:
    """The truth plus Laplace noise, ``(trials, *shape)``."""
    noisy = noise.laplace(question.shape)
    noisy *= question.noise
    noisy += question.truth
    return noisy


def choose(question: Question, noise: NoiseSource) -> NDArray[np.int64]:
    """Gumbel-max; the best score is subtracted before scaling, so nothing overflows. ``(trials,)``."""
    scores = question.truth - question.truth.max(axis=-1, keepdims=True)
    return np.asarray(np.argmax(scores * question.rate + noise.gumbel(question.shape), axis=-1))


def choose_each(question: Question, noise: NoiseSource) -> NDArray[np.int64]:
    """Gumbel-max within every group, ``(trials, groups)``."""
    starts = np.array(question.detail, dtype=np.int64)
    sizes, candidates = np.diff(starts), question.shape[0]
    best = np.repeat(np.maximum.reduceat(question.truth, starts[:-1], axis=-1), sizes, axis=-1)
    perturbed = (question.truth - best) * question.rate + noise.gumbel(question.shape)
    highest = np.repeat(np.maximum.reduceat(perturbed, starts[:-1], axis=1), sizes, axis=1)
    place = np.where(perturbed == highest, np.arange(candidates), candidates)
    return np.asarray(np.minimum.reduceat(place, starts[:-1], axis=1) - starts[:-1])


def partition(question: Question, noise: NoiseSource) -> NDArray[np.bool_]:
    """An exact draw from all allowed partitions, ``(trials, n + 1)``."""
    from dpbench.kernels.partition import backward, forward

    *lengths, penalty = question.detail
    allowed = np.array(lengths, dtype=np.int64)
    logits = np.ascontiguousarray(-question.rate * question.truth - penalty)
    uniforms = noise.uniform((question.shape[1] - 1,))
    return np.asarray(backward(forward(logits, allowed), logits, allowed, uniforms))


def draw(question: Question, noise: NoiseSource) -> NDArray[Any]:
    """The outcome of a question of any kind."""
    return DRAWS[question.kind](question, noise)


DRAWS = {"laplace": laplace, "choose": choose, "choose each": choose_each, "partition": partition}
