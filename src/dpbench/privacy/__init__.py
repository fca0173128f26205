"""The only package where private counts live: budget, ledger, handle, noise, transcript.

What is imported under its own name is for the rest of this package and for tests; the others are public.
"""

from dpbench.privacy.budget import evenly, split
from dpbench.privacy.budget import exact as exact
from dpbench.privacy.budget import read_epsilon as read_epsilon
from dpbench.privacy.data import PrivateData
from dpbench.privacy.ledger import Charge, Ledger
from dpbench.privacy.mechanisms import (
    AboveThreshold,
    Exponential,
    Gaussian,
    GroupedExponential,
    Laplace,
    Mechanism,
    NoisyMax,
    Partition,
    PermuteAndFlip,
    PrivTree,
)
from dpbench.privacy.noise import NoiseSource
from dpbench.privacy.noise import NoNoise as NoNoise
from dpbench.privacy.noise import RandomNoise as RandomNoise
from dpbench.privacy.noise import seed_sequence as seed_sequence
from dpbench.privacy.notions import ZCDP, Notion, PureDP
from dpbench.privacy.notions import read_budget as read_budget
from dpbench.privacy.protocols import (
    GroupedScore,
    NestedCounts,
    PartitionCost,
    Queries,
    Score,
    Statistic,
    Strategy,
    Total,
)
from dpbench.privacy.transcript import Recording as Recording
from dpbench.privacy.transcript import Replay as Replay

__all__ = [
    "ZCDP",
    "AboveThreshold",
    "Charge",
    "Exponential",
    "Gaussian",
    "GroupedExponential",
    "GroupedScore",
    "Laplace",
    "Ledger",
    "Mechanism",
    "NestedCounts",
    "NoiseSource",
    "NoisyMax",
    "Notion",
    "Partition",
    "PartitionCost",
    "PermuteAndFlip",
    "PrivTree",
    "PrivateData",
    "PureDP",
    "Queries",
    "Score",
    "Statistic",
    "Strategy",
    "Total",
    "evenly",
    "split",
]
