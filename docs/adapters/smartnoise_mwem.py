"""SmartNoise's MWEM, on a line. It takes the number of records, and the first and last cell that has one, as public."""

import random

import numpy as np
from snsynth.mwem import MWEMSynthesizer
from snsynth.transform.table import NoTransformer


def mwem(x, workload, epsilon, rng):
    """Ten rounds on 400 random ranges."""
    random.seed(int(rng.integers(2**31)))
    np.random.seed(int(rng.integers(2**31)))  # it draws from the global generators
    records = np.repeat(np.arange(len(x)), x).reshape(-1, 1)
    made = MWEMSynthesizer(epsilon=epsilon, iterations=10, q_count=400, add_ranges=True)
    made.fit(records, transformer=NoTransformer())
    estimate, first = np.zeros(len(x)), int(records.min())
    shown = np.ravel(made.synthetic_histograms[0][0])
    estimate[first : first + len(shown)] = shown
    return estimate
