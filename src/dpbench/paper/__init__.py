"""The paper beside what was measured: its tables, figures and findings, each with a verdict."""

from dpbench.paper.all_claims import verdicts
from dpbench.paper.study import Study, pack
from dpbench.paper.verdict import Verdict

__all__ = ["Study", "Verdict", "pack", "verdicts"]
