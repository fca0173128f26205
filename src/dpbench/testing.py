"""The audit under the name that authors of algorithms call it by: ``dpbench.testing.check_algorithm(algorithm)``.

>>> import dpbench as dpb
>>> dpb.testing.check_algorithm(dpb.algorithms.get("Identity"), cases=48)  # nothing is wrong, so nothing is said
"""

from dpbench.audit import AuditReport, Layer, audit, audit_function, check_algorithm, check_mechanism

__all__ = ["AuditReport", "Layer", "audit", "audit_function", "check_algorithm", "check_mechanism"]
