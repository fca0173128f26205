"""Standards for interpreting error (the paper's E_I): who is competitive, what baselines say, what a choice costs."""

from dpbench.interpreting.baselines import BASELINES, Baseline, baselines
from dpbench.interpreting.bias import BiasShare, bias_shares
from dpbench.interpreting.competitive import CompetitiveSets, competitive, competitive_sets
from dpbench.interpreting.errors_table import ErrorCell, error_cells
from dpbench.interpreting.people import InRecords, in_records
from dpbench.interpreting.regret import Regret, regret
from dpbench.interpreting.significance import blocked_p_value, paired_p_value, percentile_p_value, unpaired_p_value
from dpbench.interpreting.time_spent import TimeSpent, time_spent

__all__ = [
    "BASELINES",
    "Baseline",
    "BiasShare",
    "CompetitiveSets",
    "ErrorCell",
    "InRecords",
    "Regret",
    "TimeSpent",
    "baselines",
    "bias_shares",
    "blocked_p_value",
    "competitive",
    "competitive_sets",
    "error_cells",
    "in_records",
    "paired_p_value",
    "percentile_p_value",
    "regret",
    "time_spent",
    "unpaired_p_value",
]
