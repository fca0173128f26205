"""What a release does to errors, and errors that depend on no data: ``python -m benchmarks.after_release``.

Every algorithm runs on synthetic shapes (one instance of each family) at the signals of the study; each estimate is
measured as it comes and after the steps of a release. The study keeps errors as they come, so `dpbench recommend`
widens its intervals by the least and largest ratios that are seen here. Writes ``after`` and ``fixed`` of
``tried.json``. About two minutes of one core.
"""

from __future__ import annotations

import argparse
import json
import warnings
from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np

import dpbench as dpb
from dpbench import advice, algorithms
from dpbench.advice.advisor import Facts, usual
from dpbench.advice.experience import TRIED
from dpbench.datasets import families, shapes
from dpbench.domain import Domain
from dpbench.mathematics.postprocess import apply_steps
from dpbench.releasable import STEPS

OUT = Path(advice.__file__).parent / TRIED
SIZES = {1: "1024", 2: "64x64"}
SIDES = {1: (256, 512, 1024, 2048, 4096), 2: (32, 64, 128, 256)}
SIGNALS = tuple(10.0**power for power in range(2, 8))
EPSILON = 0.1
TRIALS = 8
INSTANCE = 0


def measured(dimensions: int, names: list[str], signals: tuple[float, ...], trials: int) -> dict[str, Any]:
    """Ratios after over before, by algorithm and signal, over the families of shapes."""
    domain = Domain.of(SIZES[dimensions])
    workload = usual(domain)
    ratios: dict[str, dict[float, list[tuple[float, float]]]] = {name: {} for name in names}
    for shape in families.instances(dimensions, INSTANCE + 1):
        weights = shapes.get(shape, domain)
        for signal in signals:
            scale = round(signal / EPSILON)
            x = dpb.generate(weights, scale=scale, domain=domain, seed=0)
            truth = workload.answer(x[None])
            for name in names:
                seed = crc32(f"after release {shape} {signal:g} {name}".encode())
                estimate = algorithms.get(name).run(x, workload, EPSILON, trials, seed)
                both = [
                    np.sqrt(((workload.answer(each) - truth) ** 2).mean(axis=1))
                    for each in (estimate, apply_steps(estimate, STEPS))
                ]
                means, tails = ([f(each) for each in both] for f in (np.mean, lambda e: np.quantile(e, 0.95)))
                ratios[name].setdefault(signal, []).append((means[1] / means[0], tails[1] / tails[0]))
    ends: dict[str, Any] = {}
    for name, by_signal in ratios.items():
        pairs = [np.array(by_signal[signal]) for signal in signals]
        ends[name] = {
            "low": [_digits(each[:, 0].min()) for each in pairs],
            "high": [_digits(each[:, 0].max()) for each in pairs],
            "bad_run": [_digits(each[:, 1].max()) for each in pairs],
        }
    return {"signals": list(signals), "algorithms": ends}


def fixed(dimensions: int, sides: tuple[int, ...]) -> dict[str, Any]:
    """The two best algorithms whose error depends on no data, by side, at epsilon 1."""
    best = []
    for side in sides:
        facts = Facts.of((side,) * dimensions, 1, 10**6, None, None, list(algorithms.ours()))
        rows = []
        for each in facts.fixed[:2]:
            own = each.range
            rows.append({"algorithm": each.algorithm, "error": _digits(own.expected), "low": _digits(own.low),
                         "bad_run": _digits(own.bad_run)})  # fmt: skip
        best.append(rows)
    return {"sides": list(sides), "best": best}


def _digits(value: float) -> float:
    return float(f"{value:.4g}")


def main() -> None:
    """Measure, and write both parts beside what the file holds already."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", default=str(OUT), metavar="FILE")
    parser.add_argument("--trials", type=int, default=TRIALS)
    chosen = parser.parse_args()
    warnings.simplefilter("ignore")
    path = Path(chosen.out)
    found = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
    found["after"], found["fixed"] = {}, {}
    for dimensions in (1, 2):
        domain = Domain.of(SIZES[dimensions])
        names = [name for name in algorithms.names() if algorithms.get(name).supports(domain)]
        found["after"][str(dimensions)] = measured(dimensions, names, SIGNALS, chosen.trials)
        found["fixed"][str(dimensions)] = fixed(dimensions, SIDES[dimensions])
    for dimensions, each in found["after"].items():
        for name, own in each["algorithms"].items():
            print(f"{dimensions}-D {name:10} {min(own['low']):.2f} to {max(own['high']):.2f}")
    path.write_text(json.dumps(found, separators=(",", ":")) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
