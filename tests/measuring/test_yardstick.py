"""Expected squared errors beside means of norms."""

import numpy as np
import pytest

from dpbench import algorithms, loss
from dpbench.measuring.yardstick import Yardstick
from dpbench.workloads import Prefix
from reference.sampling import standard_errors


def test_a_line_is_the_root_mean_square_of_the_benchmarks_error():
    """The mean of the squared L2 error of 2,000 runs is the line's square within 4 standard errors; the mean is lower.

    By a tenth here, which is nine standard errors. False alarms: one comparison at 6.3e-5.
    """
    workload, x = Prefix(64), np.full(64, 5)
    hb = algorithms.get("Hb")
    known = Yardstick(1.0, "Laplace", hb.expected_error(workload, 0.5), "Hb")
    line = known.scaled_best(x.sum(), workload.queries)
    errors = loss.scaled_error(workload, x, hb.run(x, workload, 0.5, trials=2000, seed=16))
    assert abs(standard_errors(errors**2, line**2)) < 4
    assert standard_errors(errors, line) < -4


def test_lines_follow_scale_and_queries():
    """sqrt(error / q) / scale."""
    known = Yardstick(8.0, "Gaussian", 32.0, "HDMM")
    assert known.scaled_limit(100, 2) == pytest.approx(0.02)
    assert known.scaled_best(100, 2) == pytest.approx(0.04)
