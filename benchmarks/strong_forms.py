"""Stronger forms of the catalogue's algorithms, as rivals of Cascade; they are not in the catalogue.

``NAME+top-down`` makes an estimate non-negative from the top. ``DAWA-HbW`` measures DAWA's buckets with HbW's hierarchy
in place of GreedyH's. ``NAME(parameter=number)`` replaces a parameter: ``MWEM-D(rounds=20)``.
"""

import ast
import re
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

import dpbench as dpb
from dpbench.algorithms.dawa import DAWA
from dpbench.domain import Domain
from dpbench.mathematics.block_tree import block_tree
from dpbench.mathematics.buckets import cells_along
from dpbench.mathematics.groups import GroupTotals
from dpbench.mathematics.least_squares import TreeLeastSquares
from dpbench.mathematics.top_down import top_down
from dpbench.mathematics.weighted_tree import fit_hierarchy
from dpbench.plugins import find

LADDER = 1.3
"""Hierarchies are fitted for numbers of buckets in steps of this factor: a fit takes a second, a partition none."""


def algorithm_of(name, own=None):
    """By its name in the catalogue or here; ``own`` has others, as FILE.py:Class."""
    if name in (own or {}):
        return find(own[name])()
    if name.endswith("+top-down"):
        return WithTopDown(algorithm_of(name.removesuffix("+top-down"), own))
    if name == "DAWA-HbW":
        return DAWAOnHbW()
    kind, _, given = re.fullmatch(r"([^(]+)(\((.*)\))?", name).groups()
    pairs = (each.split("=") for each in given.split(",")) if given else ()
    return dpb.algorithms.get(kind, **{key.strip(): ast.literal_eval(value) for key, value in pairs})


class WithTopDown:
    """An algorithm whose estimate is made non-negative from the top."""

    def __init__(self, algorithm):
        self.algorithm = algorithm

    def supports(self, domain):
        return self.algorithm.supports(domain)

    def run(self, *arguments, **named):
        return top_down(self.algorithm.run(*arguments, **named))


class OfBuckets:
    """Ask for a tree of counts over buckets of cells; a record is in one bucket, so the sensitivity is the tree's."""

    def __init__(self, labels, strategy):
        self.buckets = GroupTotals(labels, strategy.tree.domain.size)
        self.strategy = strategy
        self.sensitivity, self.shape = strategy.sensitivity, strategy.shape

    def answer(self, counts):
        return self.strategy.answer(self.buckets.answer(counts).astype(np.int64))


@dataclass(frozen=True, kw_only=True)
class DAWAOnHbW(DAWA):
    """DAWA's private partition; then HbW's hierarchy over the buckets along the line, as if all were asked alike."""

    name = "DAWA-HbW"

    def _counts(self, data, workload, edges, spend):
        solver = _solver(type(workload).__name__, len(edges) - 1)
        labels = np.empty(data.domain.size, dtype=np.int64)
        bucket = np.repeat(np.arange(len(edges) - 1), np.diff(edges))
        labels[cells_along(data.domain, False)] = bucket
        answers = data.laplace(OfBuckets(labels, solver.strategy), spend, "bucket counts")
        return (solver.solve(answers[None])[0] / np.diff(edges))[labels].reshape(data.domain.shape)


@lru_cache(maxsize=512)
def _solver(kind, buckets):
    """HbW's over a line of buckets, for prefixes or cells where these are asked, else for all ranges."""
    near = int(np.ceil(LADDER ** np.ceil(np.log(buckets) / np.log(LADDER))))
    hierarchy = _hierarchy(kind if kind in ("Prefix", "Identity") else "AllRange", near)
    sides = [side for side in hierarchy.sides if side < buckets or side == 1]
    weights = np.array([hierarchy.weights[0], *hierarchy.weights[1 + len(hierarchy.sides) - len(sides) :]])
    if buckets == 1:
        sides, weights = [], np.ones(1)
    return TreeLeastSquares(block_tree(Domain((buckets,)), sides, weights / weights.sum()))


@lru_cache(maxsize=128)
def _hierarchy(kind, cells):
    return fit_hierarchy(dpb.workloads.build(kind, Domain((cells,))))
