"""The audit under the name that authors of algorithms call it by: ``dpbench.testing.check_algorithm(algorithm)``."""

from dpbench.audit import AuditReport, Layer, audit, audit_function, check_algorithm, check_mechanism

__all__ = ["AuditReport", "Layer", "audit", "audit_function", "check_algorithm", "check_mechanism"]
