"""A small study with errors of known size, for tests of what readers see."""

import numpy as np

from dpbench.gallery import algorithm_cards, dataset_cards, examples
from dpbench.page.cards import Gallery
from dpbench.results import Results
from store.rows import make

HOSTILE = '<img src=x onerror="window.pwned=1">{{DATA}}</script><script>window.pwned=2</script>=1+1|$x$&'
ALGORITHMS = ("Identity", "Hb", "DAWA", "Uniform", HOSTILE)
DOMAINS = ("256", "1024", "32x32", "64x64")
SCALES = (1000, 100_000)
DATASETS = ("bimodal", "stairs", HOSTILE)


def rows(algorithms=ALGORITHMS, datasets=DATASETS, domains=DOMAINS, variants=("published", "private")):
    """Rows of a study; errors are near 1 over the scale, each algorithm with its own factor."""
    rng = np.random.default_rng(7)
    return [
        make(
            task=f"small-{domain.count('x') + 1}d",
            algorithm=algorithm,
            variant=variant,
            private=variant == "private",
            dataset=dataset,
            domain=domain,
            workload="Prefix" if "x" not in domain else "RandomRange(queries=2000)",
            scale=scale,
            sample=sample,
            variance=2.0,
            seconds=0.01 * (place + 1),
            **errors(rng, (1 + place * (1 + number)) * (2 if variant == "private" else 1), scale, queries_on(domain)),
        )
        for domain in domains
        for variant in variants
        for place, algorithm in enumerate(algorithms)
        for number, dataset in enumerate(datasets)
        for scale in SCALES
        for sample in (0, 1)
    ]


def queries_on(domain):
    """Of the workloads of this study."""
    return 2000 if "x" in domain else int(domain)


def errors(rng, size, scale, queries):
    """Four trials under every loss, and the bias that goes with them if their variance is 2."""
    l2 = size / scale * rng.uniform(0.8, 1.2, 4)
    losses = {"l2": l2.tolist(), "l1": (3 * l2).tolist(), "linf": (5 * l2).tolist(), "population_l2": l2.tolist()}
    return losses | {"squared_bias": queries * scale**2 * float((l2**2).mean()) - 2.0 * 3 / 4}


def results(**changes):
    """The study as results."""
    return Results._from_rows(rows(**changes))


def gallery(algorithms=ALGORITHMS):
    """Cards, and synthetic histograms as where there is no copy of the public ones."""
    shown = examples(names=())
    names = {each.algorithm for example in shown for each in example.estimates}
    return Gallery(algorithm_cards(names=names.union(algorithms)), dataset_cards(["MEDCOST"]), shown)
