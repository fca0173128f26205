"""Compiled loops: arrays in, arrays out, no randomness; a slow obvious twin of each is in the tests.

Every kernel has few signatures and is cached on disk, so it compiles once. ``python -m dpbench.mathematics.kernels``
compiles all of them and says what it is doing. Where nothing can be written beside this package or in the user's cache,
as in some containers, kernels are kept in a temporary folder, or in memory where there is none; one line says so.
"""

from dpbench.mathematics.kernel_cache import settle

settle()
