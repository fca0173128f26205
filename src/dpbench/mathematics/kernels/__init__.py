"""Compiled loops: arrays in, arrays out, no randomness; a slow obvious twin of each is in the tests.

Every kernel has few signatures and is cached on disk, so it compiles once. ``python -m dpbench.mathematics.kernels``
compiles all of them and says what it is doing.
"""
