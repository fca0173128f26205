"""The conformance and privacy suite, for our algorithms and for anybody's.

``check_algorithm(algorithm)`` returns nothing when all is well and raises ``CheckFailed`` with the cause in words.
"""

from dpbench.testing.conformance import check_algorithm

__all__ = ["check_algorithm"]
