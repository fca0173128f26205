"""Standards for interpreting error (the paper's E_I): competitive sets, baselines, what a choice costs."""

from dpbench.interpreting.against_baselines import Baseline, baselines
from dpbench.interpreting.bias import BiasShare, bias_shares
from dpbench.interpreting.changed_errors import Difference, differences
from dpbench.interpreting.competitiveness import CompetitiveSets, competitive, competitive_sets
from dpbench.interpreting.errors_table import ErrorCell, error_cells
from dpbench.interpreting.limit_ratios import AboveLimit, above_limits
from dpbench.interpreting.people import PER_QUERY, InRecords, in_records
from dpbench.interpreting.regrets import Regret, regret
from dpbench.interpreting.seconds import TimeSpent, time_spent
from dpbench.significance import (
    TESTS,
    SignificanceTest,
    blocked_p_value,
    find_test,
    paired_p_value,
    percentile_p_value,
    unpaired_p_value,
)

__all__ = [
    "PER_QUERY",
    "TESTS",
    "AboveLimit",
    "Baseline",
    "BiasShare",
    "CompetitiveSets",
    "Difference",
    "ErrorCell",
    "InRecords",
    "Regret",
    "SignificanceTest",
    "TimeSpent",
    "above_limits",
    "baselines",
    "bias_shares",
    "blocked_p_value",
    "competitive",
    "competitive_sets",
    "differences",
    "error_cells",
    "find_test",
    "in_records",
    "paired_p_value",
    "percentile_p_value",
    "regret",
    "time_spent",
    "unpaired_p_value",
]
