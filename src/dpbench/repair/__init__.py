"""Repair functions (the paper's R): free parameters from tables trained on synthetic shapes, never on a dataset.

Side information (R_side) is estimated by the handle, with part of the budget, for every algorithm that declares it.
Here are the tables that map epsilon, scale and domain to parameters (R_param), how they are learned, and the two
algorithms that use them.
"""
