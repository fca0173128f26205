"""Rows for tests of stores."""

from dpbench.store import Row


def make(**changes):
    """A row of three trials, or with whatever is changed; other losses are as L2 unless they are given."""
    trials = changes.pop("trials", 3)
    first = changes.get("first_trial", 0)
    errors = changes.get("l2", [0.5 + trial for trial in range(first, first + trials)])
    plain = {
        "task": "small",
        "dataset": "bimodal",
        "domain": "64",
        "workload": "Prefix",
        "scale": 1000,
        "epsilon": 0.1,
        "algorithm": "Identity",
        "variant": "private",
        "side_information": "",
        "parameters": "{}",
        "sample": 0,
        "seed": 0,
        "first_trial": 0,
        "key": "k" * 32,
        "algorithm_source": "a" * 16,
        "dataset_source": "d" * 16,
        "generator_source": "g" * 16,
        "run": "run",
    }
    values = {} if changes.get("failure") else dict.fromkeys(("l2", "l1", "linf", "population_l2"), errors)
    return Row(**(plain | values | changes))
