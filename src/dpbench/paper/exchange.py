"""Exchangeability where it is in doubt: errors at one product of epsilon and scale, made of different factors."""

from __future__ import annotations

import numpy as np

from dpbench.interpreting import find_test
from dpbench.paper.study import Part
from dpbench.paper.verdict import Answer, Claim, Undecided

ALPHA = 0.05


def behaves_exchangeable(part: Part, name: str) -> Answer:
    """Whether errors at epsilon 0.01 and 1 differ at the same product with the scale, Bonferroni over all settings."""
    results = part.suite("epsilon").where(algorithm=name, variant=part.setting)
    numbers: dict[tuple[str, int], dict[float, int]] = {}
    for number, setting in enumerate(results):
        signal = round(setting.scale * setting.epsilon)
        numbers.setdefault((setting.dataset, signal), {})[setting.epsilon] = number
    pairs = [(at[min(at)], at[max(at)]) for at in numbers.values() if len(at) > 1]
    if not pairs:
        raise Undecided(f"{name} was not run at several epsilons")
    one, other = np.array(pairs).T
    p_values = find_test("unpaired").p_values(results, one, other)
    means = results.measured.mean
    ratio = np.exp(np.mean(np.log(means[one] / means[other])))
    number = int((p_values < ALPHA / len(pairs)).sum())
    told = f"{number} of {len(pairs)} settings differ significantly; error at the least epsilon {ratio:.3f} times"
    return Answer(told, number == 0, "" if number == 0 else f"{number} differ", {"ratio": float(ratio)})


def claims() -> list[Claim]:
    """SF as the paper says it, and DPCube, whose published form is in doubt."""
    return [
        Claim("not shown", "SF is not exchangeable but behaves so", "footnote", "behaves so",
              lambda part: behaves_exchangeable(part, "SF")),
        Claim("not shown", "DPCube is exchangeable", "Table 1", "yes",
              lambda part: behaves_exchangeable(part, "DPCube")),
    ]  # fmt: skip
