"""Advice for those who may not look at their data: public facts in, an algorithm and its error out.

Nothing here can read a table, and an import contract proves it: what it knows is the shipped study, condensed
(:mod:`~dpbench.advice.experience`), and the errors that depend on no data (:mod:`dpbench.data_independent`).
"""
