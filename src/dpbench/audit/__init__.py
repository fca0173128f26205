"""The audit, for our algorithms and for anybody's.

``check_algorithm(algorithm)`` returns nothing when all is well and raises ``CheckFailed`` with the cause in words;
``audit(algorithm)`` returns a report with every layer's verdict and figures; ``audit_function(f)`` does what can be
done for a plain function that knows nothing of this package; ``check_mechanism(mechanism, ...)`` examines one
mechanism.
"""

from dpbench.audit.layers import audit, check_algorithm
from dpbench.audit.mechanism_laws import check_mechanism
from dpbench.audit.plain_functions import audit_function
from dpbench.audit.report import AuditReport, Layer

__all__ = ["AuditReport", "Layer", "audit", "audit_function", "check_algorithm", "check_mechanism"]
