"""The only package where private counts live: budget, ledger, handle, noise, transcript."""

from dpbench.privacy.budget import evenly, exact, read_epsilon, split
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
from dpbench.privacy.noise import NoiseSource, NoNoise, RandomNoise, seed_sequence
from dpbench.privacy.notions import ZCDP, Notion, PureDP, read_budget
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
from dpbench.privacy.transcript import Recording, Replay

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
    "NoNoise",
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
    "RandomNoise",
    "Recording",
    "Replay",
    "Score",
    "Statistic",
    "Strategy",
    "Total",
    "evenly",
    "exact",
    "read_budget",
    "read_epsilon",
    "seed_sequence",
    "split",
]
