"""An algorithm that is a plain function ``f(x, workload, epsilon, rng)``: the black box, the scale and determinism.

Such a function sees the counts, so there is no ledger to read and nothing to replay.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpbench.audit.black_box import PURE, Promise, Sampler, usual_pairs
from dpbench.audit.fresh import TooSlow, fresh
from dpbench.audit.layers import TOO_SLOW, black_box_layer
from dpbench.audit.report import AuditReport, Layer
from dpbench.audit.side_effects import deeds
from dpbench.audit.subject import in_words, workload_for
from dpbench.audit.suspects import suspicious_pairs
from dpbench.domain import Domain
from dpbench.errors import CheckFailed, InvalidInput, shown
from dpbench.given import whole
from dpbench.workloads import Workload

Plain = Callable[[NDArray[np.int64], Workload, float, np.random.Generator], Any]

SECONDS = 22.0
"""Time of the processor for the black box where no number of runs is given."""
LONGEST = 60.0
"""Seconds of the processor for a few calls in a process of their own."""
PROMISES: tuple[Promise, ...] = ((0.1, 0.0), *PURE)
"""A small one too: where epsilon is 1, noise of scale epsilon is as good as noise of scale 1 / epsilon."""
SUSPECTS = 3
"""Pairs found by a search that are tested beside the usual ones, for each workload and epsilon from 1 on."""
DOMAINS = (("4", "12"), ("2x2", "12x3"))
"""On one axis and on two."""
EARLIER = 90
"""Calls on other counts and domains after which the same generator still gives the same."""
TWO_RESULTS = "{} gives two results for one generator: draw from rng alone"


def audit_function(function: Plain, *, runs: int | None = None, seed: int = 0) -> AuditReport:
    """What can be found out about a plain function, with ``runs`` a side or as many as take some seconds."""
    if not callable(function):
        raise InvalidInput(f"what is examined is {shown(function)}; give a function f(x, workload, epsilon, rng)")
    if runs is not None:
        whole(runs, "the runs of the black box", 0)
    whole(seed, "the seed", 0)
    started, name = time.perf_counter(), getattr(function, "__name__", "function")
    layers = []
    try:
        _check_memory(function, name)  # first: nothing has run here that it could remember
        domains = _domains(function, name)
        for domain in domains:
            _check_determinism(function, name, domain)
        layers.append(Layer("conformance", "pass", "", {"determinism": "one generator, one output"}))
        leak = next(filter(None, (_scale_leak(function, domain) for domain in domains)), "")
    except CheckFailed as failure:
        layers = [Layer("conformance", "fail", str(failure))]
        domains, leak = [], ""
    nothing = "a plain function has no handle; subclass dpbench.Algorithm to have this examined"
    layers += [Layer(layer, "not run", nothing) for layer in ("ledger", "sensitivity", "replay")]
    layers += [_black_box(function, name, domains, runs, seed, leak), Layer("mechanisms", "not run", nothing)]
    slow = any(layer.cause == TOO_SLOW for layer in layers)
    notes = (f"no black box, so nothing was looked at that bears on privacy: {TOO_SLOW}",) if slow else ()
    return AuditReport(name, "plain function", None, tuple(layers), time.perf_counter() - started, notes)


def _black_box(function: Plain, name: str, domains: list[Domain], runs: int | None, seed: int, leak: str) -> Layer:
    """The black box, in which a leak of the scale counts as a finding."""
    if not domains:
        return Layer("black box", "not run", "there is nothing to run")
    if leak:
        return Layer("black box", "fail", f"{name} is not private: {leak}", {"scale leak": True})
    sampler = _runs_of(function)

    @cache
    def suspects(workload: Workload) -> list[tuple[NDArray[np.int64], NDArray[np.int64]]]:
        return suspicious_pairs(sampler, workload, 1.0, seed, SUSPECTS)

    def pairs(workload: Workload, epsilon: float) -> list[tuple[NDArray[np.int64], NDArray[np.int64]]]:
        return usual_pairs(workload, epsilon) + (suspects(workload) if epsilon >= 1 else [])

    workloads = [workload_for(domain) for domain in domains]
    layer = black_box_layer(name, sampler, workloads, runs, seed, PROMISES, pairs, SECONDS)
    return replace(layer, missing=layer.cause == TOO_SLOW)  # nothing else looks at its privacy


def _call(function: Plain, x: NDArray[np.int64], workload: Workload, epsilon: float, rng: np.random.Generator) -> Any:
    """One run on a copy, whose output has to be numbers of the same shape."""
    output = np.asarray(function(x.copy(), workload, epsilon, rng), dtype=np.float64)
    if output.shape != x.shape:
        raise ValueError(f"it returned shape {output.shape}; wanted an estimate of shape {x.shape}")
    if not np.isfinite(output).all():
        raise ValueError("it returned NaN or infinity; an estimate has to be finite")
    return output


def _runs_of(function: Plain) -> Sampler:
    def outputs(
        x: NDArray[np.int64], workload: Workload, promise: Promise, runs: int, seed: np.random.SeedSequence
    ) -> NDArray[np.float64]:
        rng = np.random.default_rng(seed)
        return np.stack([_call(function, x, workload, promise[0], rng) for _ in range(runs)])

    return outputs


def _check_memory(function: Plain, name: str) -> None:
    """The same output whatever it was run on before; each history in a process of its own.

    A function that draws from somewhere else than its generator differs after no history at all.
    """
    for domain in (Domain.of(texts[-1]) for texts in DOMAINS):
        x, workload = np.arange(domain.size).reshape(domain.shape) % 7, workload_for(domain)
        some = [domain, *(Domain.of(text) for texts in DOMAINS for text in texts)]
        several = (
            some[number % 3 // 2 * (1 + number // 3 % 4)] for number in range(EARLIER)
        )  # two in three on its own
        many = [(number + np.arange(each.size).reshape(each.shape)) % 9 for number, each in enumerate(several)]
        histories: tuple[list[NDArray[np.int64]], ...] = ([], [], [0 * x], [x + 1], [x], [x * 1000, x // 2], many)

        def after(history: list[NDArray[np.int64]]) -> bytes:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                for number, counts in enumerate(history):
                    with suppress(Exception):  # it need not run on every domain
                        its = workload_for(Domain(counts.shape))
                        _call(function, counts, its, 1.0, np.random.default_rng(3 + number % 5))
                outputs = [_call(function, x, workload, 1.0, np.random.default_rng(3)) for _ in range(2)]  # noqa: B023
            return b"".join({bytes(output.tobytes()): 0 for output in outputs})  # once, where both are the same

        outputs = list[bytes]()
        with suppress(CheckFailed, TooSlow):  # what does not run is for the other checks
            outputs = [fresh(lambda: after(history), LONGEST, silent=True) for history in histories]  # noqa: B023
        if outputs and outputs[0] != outputs[1]:
            raise CheckFailed(TWO_RESULTS.format(name))
        if len(set(outputs)) > 1:
            raise CheckFailed(
                f"{name} gives another result after it has run on other counts: it keeps something between runs"
            )


def _domains(function: Plain, name: str) -> list[Domain]:
    """Domains on which the function runs; the larger one of two axes where it runs on one axis too."""
    found, reasons = list[Domain](), list[str]()
    for texts in DOMAINS:
        domains = [Domain.of(text) for text in texts]
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                for domain in domains:
                    x = np.ones(domain.shape, dtype=np.int64)
                    _call(function, x, workload_for(domain), 1.0, np.random.default_rng(0))
        except (Exception, SystemExit) as error:
            reasons.append(in_words(error))
        else:
            found += domains[1:] if found else domains
    if not found:
        raise CheckFailed(f"{name} runs neither on one axis nor on two as f(x, workload, epsilon, rng): {reasons[0]}")
    return found


def _check_determinism(function: Plain, name: str, domain: Domain) -> None:
    """One generator one output, two generators two; the input stays as it was; nothing is opened."""
    x, workload = np.arange(domain.size).reshape(domain.shape) % 7, workload_for(domain)
    first, again, other = (_call(function, x, workload, 1.0, np.random.default_rng(seed)) for seed in (3, 3, 4))
    if not np.array_equal(first, again):
        raise CheckFailed(TWO_RESULTS.format(name))
    if np.array_equal(first, other):
        raise CheckFailed(f"{name} gives one result for two generators: no noise, or a seed that it made from the data")
    given = x.copy()
    function(given, workload, 1.0, np.random.default_rng(3))
    if not np.array_equal(given, x):
        raise CheckFailed(f"{name} changes its input")
    with deeds() as done:
        _call(function, x, workload, 1.0, np.random.default_rng(3))
    if done:
        raise CheckFailed(f"{name} {done[0]} whenever it runs; an estimate may rest on its arguments alone")


def _scale_leak(function: Plain, domain: Domain) -> str:
    """Whether the output gives the true total away, or follows it without noise."""
    workload, rng = workload_for(domain), np.random.default_rng(8)
    sums = []
    for total in (57, 58):
        x = np.zeros(domain.size, dtype=np.int64)
        x[: total % domain.size] += 1
        x += total // domain.size
        outputs = [_call(function, x.reshape(domain.shape), workload, 1.0, rng).sum() for _ in range(20)]
        sums.append((total, np.array(outputs)))
    if all(np.allclose(outputs, total, rtol=1e-9) for total, outputs in sums):
        return "the output adds up to the true total, which nothing pays for"
    one, other = (float(outputs[0]) for _, outputs in sums)
    exact = all(np.ptp(outputs) <= 1e-9 * (1 + abs(outputs[0])) for _, outputs in sums)
    if exact and abs(one - other) > 1e-6 * (1 + abs(one)):
        return "the sum of the output has no noise and changes with the number of records"
    return ""
