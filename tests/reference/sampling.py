"""Comparing a mean over trials with what it should be."""

from __future__ import annotations

import numpy as np


def standard_errors(sample, expected):
    """How many standard errors the mean over the first axis of a sample lies from the expectation.

    |z| > 4 happens by chance once in 16,000 comparisons (two-sided normal tail 6.3e-5).
    """
    sample = np.asarray(sample)
    return (sample.mean(axis=0) - expected) / (sample.std(axis=0, ddof=1) / np.sqrt(len(sample)))
