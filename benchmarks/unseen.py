"""The advice on data that it was not made with: ``python -m benchmarks.unseen --packages DIR``.

:mod:`benchmarks.unseen_data` has the generators and public tables, the sizes, budgets and wrong guesses of the number
of records; all were fixed before the advice was first evaluated here. For every setting the advice is asked for,
every algorithm of the catalogue runs, and the algorithm that was named runs more often: is its error, as it comes and
after the steps of a release, within what was said? Errors go to a file as they come, so an interrupted evaluation
goes on, and other advice on the same algorithms is evaluated by them (remove the file after a change of algorithms).
The summary goes to ``tried.json``, from where ``dpbench recommend`` prints it.
"""

from __future__ import annotations

import argparse
import json
import warnings
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

import dpbench as dpb
from benchmarks.after_release import OUT
from benchmarks.unseen_data import DOMAINS, EPSILON, EPSILONS, GENERATORS, GUESSES, RECORDS, TABLES, generated
from dpbench import algorithms
from dpbench.advice.advisor import usual
from dpbench.advice.experience import RISKS
from dpbench.domain import Domain
from dpbench.mathematics.postprocess import apply_steps
from dpbench.releasable import STEPS
from dpbench.workloads import Workload

TRIALS, MORE = 5, 30
"""Runs of every algorithm, and of the one that is named."""
Counts = NDArray[np.int64]


def settings(packages: Path | None) -> Iterator[tuple[str, Domain, Counts, float, float]]:
    """Name, domain, counts, epsilon, and what the guess of the records is off by; small domains first."""
    for sizes in zip(*DOMAINS.values(), strict=True):
        for domain in map(Domain.of, sizes):
            for name in GENERATORS[domain.ndim]:
                weights = generated(domain.ndim, name, domain)
                for records in RECORDS:
                    x = dpb.generate(weights, scale=records, domain=domain, seed=0)
                    yield name, domain, x, EPSILON, _off(name, domain, records, EPSILON)
            for table in TABLES if packages else ():
                x = table.histogram(packages, domain)  # type: ignore[arg-type]
                for epsilon in EPSILONS:
                    yield table.name, domain, x, epsilon, _off(table.name, domain, int(x.sum()), epsilon)


def _off(*names: object) -> float:
    return GUESSES[crc32(" ".join(map(str, names)).encode()) % len(GUESSES)]


def errors(name: str, x: Counts, workload: Workload, epsilon: float, trials: int, seed: int) -> list[NDArray[Any]]:
    """Root mean square errors of a range by run: as estimates come, and after the steps of a release."""
    estimate = algorithms.get(name).run(x, workload, epsilon, trials, seed)
    return [np.sqrt(workload.mean_squared(each - x)) for each in (estimate, apply_steps(estimate, STEPS))]


def measured(x: Counts, domain: Domain, epsilon: float, seed: int) -> dict[str, list[float]]:
    """Mean errors of every algorithm, both ways."""
    names = [name for name in algorithms.names() if algorithms.get(name).supports(domain)]
    return {
        name: [float(own.mean()) for own in errors(name, x, usual(domain), epsilon, TRIALS, seed)] for name in names
    }


def evaluated(known: dict[str, Any], x: Counts, domain: Domain, risk: str) -> dict[str, Any]:
    """What was said, and what came of it; runs of the algorithm that is named are kept with what is known."""
    epsilon = known["epsilon"]
    advice = dpb.recommend(domain, epsilon, max(round(known["records"] * known["off"]), 1), risk=risk)
    if advice.algorithm not in known["runs"]:
        both = errors(advice.algorithm, x, usual(domain), epsilon, MORE, known["seed"] + 1)
        ends = {"mean": [float(own.mean()) for own in both], "tail": [float(np.quantile(own, 0.95)) for own in both]}
        known["runs"][advice.algorithm] = ends
    said = {end: getattr(advice, end) for end in ("algorithm", "low", "expected", "high", "bad_run")}
    return said | {"studied": advice.coverage < 1} | known["runs"][advice.algorithm]


def summary(cases: list[Mapping[str, Any]], risk: str) -> dict[str, Any]:
    """Regret, and of what rests on experience coverage and width; every kind of data counts once.

    Where an algorithm is named whose error depends on no data, coverage is kept apart: a release alone can break it.
    """

    def over_data(values: Any, chosen: list[Mapping[str, Any]] = cases) -> float:
        by_data: dict[str, list[float]] = {}
        for case in chosen:
            by_data.setdefault(case["data"], []).append(values(case))
        return float(np.mean([np.mean(own) for own in by_data.values()])) if by_data else 1.0

    def regret(case: Mapping[str, Any], form: int) -> float:
        least = min(each[form] for each in case["means"].values())
        return float(np.log(case["means"][case[risk]["algorithm"]][form] / least))

    def inside(case: Mapping[str, Any]) -> bool:
        said = case[risk]
        return all(said["low"] <= mean <= said["high"] for mean in said["mean"])

    def bad(case: Mapping[str, Any]) -> bool:
        return bool(max(case[risk]["tail"]) <= case[risk]["bad_run"])

    chosen = [case[risk]["algorithm"] for case in cases]
    learned, known = ([case for case in cases if case[risk]["studied"] == kind] for kind in (True, False))
    return {
        "data": len({case["data"] for case in cases}),
        "settings": len(cases),
        "regret": round(float(np.exp(over_data(lambda case: regret(case, 0)))), 3),
        "regret_released": round(float(np.exp(over_data(lambda case: regret(case, 1)))), 3),
        "interval": round(over_data(inside, learned), 3),
        "bad_run": round(over_data(bad, learned), 3),
        "width": round(float(np.exp(over_data(lambda c: np.log(c[risk]["high"] / c[risk]["low"]), learned))), 2),
        "known_whatever_the_data": {
            "settings": len(known),
            "interval": round(over_data(inside, known), 3),
            "bad_run": round(over_data(bad, known), 3),
        },
        "chosen": {name: chosen.count(name) for name in sorted(set(chosen), key=chosen.count, reverse=True)},
    }


def _key(case: Mapping[str, Any]) -> tuple[Any, ...]:
    return tuple(case[name] for name in ("data", "domain", "records", "epsilon", "off"))


def main() -> None:
    """Evaluate what is missing, print the summary, write it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--packages", type=Path, metavar="DIR", help="where the packages with tables were installed")
    parser.add_argument(
        "--results", type=Path, default=Path("unseen.jsonl"), metavar="FILE", help="one line per setting"
    )
    parser.add_argument("--out", type=Path, default=OUT, metavar="FILE")
    parser.add_argument("--dry", action="store_true", help="print the summary and write it nowhere")
    chosen = parser.parse_args()
    warnings.simplefilter("ignore")
    lines = chosen.results.read_text().splitlines() if chosen.results.is_file() else []
    kept = {_key(case): case for case in map(json.loads, lines)}
    cases = []
    with chosen.results.open("a") as file:
        for name, domain, x, epsilon, off in settings(chosen.packages):
            case = {"data": name, "domain": str(domain), "records": int(x.sum()), "epsilon": epsilon, "off": off}
            seed = crc32(json.dumps(case).encode())
            known = kept.get(_key(case)) or case | {
                "seed": seed,
                "runs": {},
                "means": measured(x, domain, epsilon, seed),
            }
            before = len(known["runs"])
            cases.append(known | {risk: evaluated(known, x, domain, risk) for risk in RISKS})
            if len(known["runs"]) > before:
                file.write(json.dumps(known) + "\n")
                file.flush()
    found = {
        str(d): {risk: summary([c for c in cases if c["domain"].count("x") + 1 == d], risk) for risk in RISKS}
        for d in DOMAINS
    }
    print(json.dumps(found, indent=1))
    if not chosen.dry:
        tried = json.loads(chosen.out.read_text(encoding="utf-8"))
        chosen.out.write_text(json.dumps(tried | {"unseen": found}, separators=(",", ":")) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
