"""Mechanisms, one file each: values that know their truth, their claim, their draw, their loss and their cost."""

from dpbench.privacy.mechanisms.above_threshold import AboveThreshold
from dpbench.privacy.mechanisms.exponential import Exponential
from dpbench.privacy.mechanisms.gaussian import Gaussian
from dpbench.privacy.mechanisms.grouped import GroupedExponential
from dpbench.privacy.mechanisms.laplace import Laplace
from dpbench.privacy.mechanisms.mechanism import Mechanism
from dpbench.privacy.mechanisms.noisy_max import NoisyMax
from dpbench.privacy.mechanisms.partition import Partition
from dpbench.privacy.mechanisms.permute_and_flip import PermuteAndFlip
from dpbench.privacy.mechanisms.priv_tree import PrivTree

__all__ = [
    "AboveThreshold",
    "Exponential",
    "Gaussian",
    "GroupedExponential",
    "Laplace",
    "Mechanism",
    "NoisyMax",
    "Partition",
    "PermuteAndFlip",
    "PrivTree",
]
