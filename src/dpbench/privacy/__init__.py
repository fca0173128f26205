"""The only room where private counts live: budget, ledger, handle, noise, transcript."""

from dpbench.privacy.asking import GroupedScore, PartitionCost, Score, Statistic, Strategy, Total
from dpbench.privacy.budget import evenly, exact, read_epsilon, split
from dpbench.privacy.data import PrivateData
from dpbench.privacy.ledger import Charge, Ledger
from dpbench.privacy.noise import NoiseSource, NoNoise, RandomNoise, seed_sequence
from dpbench.privacy.transcript import Recording, Replay

__all__ = [
    "Charge",
    "GroupedScore",
    "Ledger",
    "NoNoise",
    "NoiseSource",
    "PartitionCost",
    "PrivateData",
    "RandomNoise",
    "Recording",
    "Replay",
    "Score",
    "Statistic",
    "Strategy",
    "Total",
    "evenly",
    "exact",
    "read_epsilon",
    "seed_sequence",
    "split",
]
