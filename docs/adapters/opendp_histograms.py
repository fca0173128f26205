"""OpenDP's histogram and its b-ary tree, on a line. Its randomness is the operating system's: no seed repeats it."""

import numpy as np
import opendp.prelude as odp

odp.enable_features("contrib")


def _space(cells):
    return odp.vector_domain(odp.atom_domain(T=int), size=cells), odp.l1_distance(T=int)


def histogram(x, workload, epsilon, rng):
    """Discrete Laplace noise on every cell."""
    noisy = odp.m.make_laplace(*_space(len(x)), scale=1 / epsilon)
    return np.array(noisy(x.tolist()), dtype=float)


def tree(x, workload, epsilon, rng):
    """Noise on all nodes of a tree, made consistent by least squares."""
    branching = odp.t.choose_branching_factor(size_guess=len(x))
    nodes = odp.t.make_b_ary_tree(*_space(len(x)), leaf_count=len(x), branching_factor=branching)
    noisy = nodes >> odp.m.then_laplace(scale=nodes.map(1) / epsilon)
    consistent = odp.t.make_consistent_b_ary_tree(branching_factor=branching)
    return np.array(consistent(noisy(x.tolist())), dtype=float)[: len(x)]
