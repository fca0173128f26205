"""Mechanisms, one file each: values that know their truth, their claim, their draw, their loss and their cost."""

from dpbench.privacy.mechanisms.exponential import Exponential
from dpbench.privacy.mechanisms.gaussian import Gaussian
from dpbench.privacy.mechanisms.grouped import GroupedExponential
from dpbench.privacy.mechanisms.laplace import Laplace
from dpbench.privacy.mechanisms.mechanism import Mechanism
from dpbench.privacy.mechanisms.partition import Partition

__all__ = ["Exponential", "Gaussian", "GroupedExponential", "Laplace", "Mechanism", "Partition"]
