"""Fingerprints: a digest of what each built-in algorithm, workload, loss, shape and the generator answers.

python -m benchmarks.fingerprints           compares with fingerprints.json, and prints what moved
python -m benchmarks.fingerprints --write   writes the file; refuses what moved without a new revision

Results are identified by the ``revision`` of the code that made them. A fingerprint that moves means that the answers
are others: raise ``revision`` where the code is, and write the file. One that moves by mistake is a fault to mend.
A digest is three sums over the answers on fixed inputs and seeds, so that another processor agrees within rounding.
"""

import argparse
import json
import re
import sys
from importlib.metadata import version
from inspect import signature
from pathlib import Path

import numpy as np

import dpbench as dpb
from dpbench import algorithms
from dpbench.datasets import shapes
from dpbench.domain import Domain
from dpbench.loss import LOSSES, Answers
from dpbench.mathematics import p_identity_known
from dpbench.mathematics.moments import grouped_axes
from dpbench.mathematics.p_identity_fit import fit_axis
from dpbench.run import data_vectors
from dpbench.run.identity import is_built_in
from dpbench.workloads import catalogue

FILE = Path(__file__).with_name("fingerprints.json")
TOLERANCE = 1e-8
"""Part of the sum of all sizes by which processors may differ; a changed answer moves a digest by more."""
CASES = (("64", 200), ("64", 20_000), ("4096", 100_000), ("16x16", 200), ("16x16", 20_000), ("128x128", 1_000_000))
"""Domains and numbers of records."""
RAMPS = (("100", 3000), ("20x12", 3000))
"""Further ones, of sides that no tree halves evenly; their counts rise evenly from 0 to far above the noise."""
BUDGETS = {"pure": {"epsilon": 1.0}, "zCDP": {"rho": 0.5}}


def table_of(domain, records):
    """Counts that are sparse in places and large in others, or a ramp; fixed for a domain and a number of records."""
    rng = np.random.default_rng([2016, records])
    shape = Domain.of(domain).shape
    if (domain, records) in RAMPS:
        ramp = np.arange(int(np.prod(shape)))
        return rng.multinomial(records, ramp / ramp.sum()).reshape(shape)
    return rng.multinomial(records, rng.dirichlet(np.full(int(np.prod(shape)), 0.3))).reshape(shape)


def workload_of(domain):
    """All prefixes of a line, some random ranges in the plane and on a ramp."""
    cells, on_ramp = Domain.of(domain), domain in dict(RAMPS)
    return (
        dpb.workloads.Prefix(cells)
        if cells.ndim == 1 and not on_ramp
        else dpb.workloads.RandomRange(cells, queries=500, seed=0)
    )


def digest(values):
    """The sum of sizes, and two sums with weights that tell the values apart."""
    flat = np.asarray(values, dtype=np.float64).ravel()
    place = np.arange(len(flat))
    return [float(each) for each in (np.abs(flat).sum(), flat @ np.cos(place), flat @ np.cos(place * 0.3711 + 1))]


def of_algorithm(name):
    """Answers of an algorithm by case, notion and variant."""
    found = {}
    for domain, records in (*CASES, *RAMPS):
        workload = workload_of(domain)
        for variant in ("private", "published"):
            algorithm = algorithms.get(name, variant=variant)
            if not algorithm.supports(Domain.of(domain)):
                continue
            every = variant == "private" and (domain, records) not in RAMPS
            for notion in algorithm.notions if every else [each for each in algorithm.notions if each == "pure"]:
                options = {"trials": 2 if domain in ("64", "16x16") else 1, "seed": 7, **BUDGETS[notion]}
                answers = algorithm.run(table_of(domain, records), workload, **options)
                found[f"{domain}, {records} records, {notion}, {variant}"] = digest(answers)
    return found


def of_workload(name):
    """Answers of a workload on the small domains that it has."""
    found = {}
    for domain in ("64", "16x16"):
        kind = catalogue.CATALOGUE[name]
        fixed = {"queries": 50, "seed": 0} if "queries" in signature(kind).parameters else {}
        try:
            workload = kind(domain, **fixed)
        except dpb.errors.DPBenchError:
            continue
        if workload.queries is not None:
            found[domain] = digest(workload.answer(table_of(domain, 20_000)))
    return found


def of_loss(name):
    """Errors by a loss with its usual parameters."""
    workload, counts = workload_of("64"), table_of("64", 20_000)
    error = np.random.default_rng(5).normal(size=(4, 64)) * 30
    return {"64": digest(LOSSES[name]().errors(Answers(workload, counts, error, 20_000)))}


def of_generator():
    """Data vectors, streams of noise and errors."""
    shape = data_vectors.shape_on(table_of("128x128", 1_000_000), "16x16")
    counts = data_vectors.draw_vector(shape, "some", "16x16", 1000, 3, 0)
    workload = workload_of("16x16")
    streams = [
        data_vectors.noise_seed(("some", "16x16", 1000, 3), 0, workload, budget, "Hb", "public").generate_state(4)
        for budget in ({"epsilon": 0.1}, {"epsilon": 1.0, "delta": 1e-9}, {"rho": 0.1})
    ]
    drift = data_vectors.drift_of(workload, counts, shape, 1000)
    errors = data_vectors.losses(workload, counts, drift, counts + np.linspace(-3, 5, 512).reshape(2, 16, 16), 1000)
    numbers = [value for key, value in sorted(errors.items()) if key != "other_losses"]
    return {
        "data vector": digest(counts),
        "streams of noise": digest(streams),
        "errors": digest(np.concatenate([np.atleast_1d(each) for each in numbers])),
    }


def of_shapes():
    """The probabilities of every shape."""
    found = {}
    for name in shapes.names():
        domain = {1: "256", 2: "32x32"}[shapes.find(name).ndim]
        found[f"{name}, {domain}"] = digest(shapes.get(name, domain))
    return found


def of_search():
    """Strategies that a short search finds for all prefixes and for all ranges."""
    found = {}
    for workload in (dpb.workloads.Prefix(48), dpb.workloads.AllRange(48)):
        (axis,) = grouped_axes(workload)
        strategy = fit_axis(axis.moment, starts=2, iterations=5)
        found[workload.name] = digest(np.concatenate([strategy.rows.ravel(), strategy.units.ravel()]))
    return found


def everything():
    """Each part by name: its revision, and the function that makes its fingerprint."""
    ours = {name: kind for name, kind in algorithms.ours().items() if is_built_in(kind)}
    losses = {name: kind for name, kind in LOSSES.items() if is_built_in(kind)}
    parts = {f"algorithm {name}": (kind.revision, lambda name=name: of_algorithm(name)) for name, kind in ours.items()}
    for name, kind in catalogue.CATALOGUE.items():
        parts[f"workload {name}"] = kind.revision, lambda name=name: of_workload(name)
    for name, kind in losses.items():
        parts[f"loss {name}"] = kind.revision, lambda name=name: of_loss(name)
    parts["generator"] = data_vectors.REVISION, of_generator
    parts["shapes"] = shapes.REVISION, of_shapes
    parts["search for strategies"] = p_identity_known.REVISION, of_search
    return parts


def moved(kept, found):
    """The cases in which two fingerprints differ, those that only one of them has included."""
    return [
        case
        for case in sorted({*kept, *found})
        if case not in kept
        or case not in found
        or np.abs(np.subtract(kept[case], found[case])).max() > TOLERANCE * max(kept[case][0], found[case][0])
    ]


def verdict(name, revision, kept, found):
    """An empty string if a fingerprint agrees with the kept one, else what is wrong and what to do, in one line."""
    if kept is None:
        return f"{name} has no fingerprint yet; write it: python -m benchmarks.fingerprints --write"
    cases = moved(kept["answers"], found)
    if kept["revision"] != revision:
        was = kept["revision"]
        return (
            f"{name} is revision {revision} and its fingerprint is of {was}: python -m benchmarks.fingerprints --write"
        )
    if cases:
        return (
            f"{name} answers differently in {len(cases)} of {len(found)} cases ({cases[0]}); if that is meant, "
            f"raise its revision from {revision} to {revision + 1} and run: python -m benchmarks.fingerprints --write"
        )
    return ""


def main(arguments=None, file=FILE):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true", help="write new fingerprints and those of raised revisions")
    chosen = parser.parse_args(arguments)
    kept = json.loads(file.read_text())["parts"] if file.exists() else {}
    written, wrong = {}, 0
    for name, (revision, make) in everything().items():
        found = make()
        said = verdict(name, revision, kept.get(name), found)
        new = name not in kept or kept[name]["revision"] < revision
        written[name] = {"revision": revision, "answers": found} if new else kept[name]
        if said and not (new and chosen.write):
            wrong += 1
            print(said)
        elif new:
            print(f"{name}: revision {revision}, written")
    gone = sorted(kept.keys() - written.keys())
    if chosen.write and not wrong:
        made_with = {package: version(package) for package in ("numpy", "numba", "scipy")}
        text = json.dumps({"made with": made_with, "parts": written}, indent=1)
        file.write_text(re.sub(r"\[\s+(\S+)\s+(\S+)\s+(\S+)\s+\]", r"[\1 \2 \3]", text) + "\n")  # a line per case
    print(f"{len(written)} fingerprints, {wrong} to look at" + (f"; gone: {', '.join(gone)}" if gone else ""))
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
