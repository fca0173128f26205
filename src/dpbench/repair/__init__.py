"""Repair functions (the paper's R): free parameters from tables trained on synthetic shapes, never on a dataset.

Side information (R_side) is bought by the handle for every algorithm that declares it; here are the tables that map
epsilon, scale and domain to parameters (R_param), how they are learned, and the two algorithms that use them.
"""
