"""The task (the paper's T): the nine parts of a benchmark as plain values, from Python or TOML."""

from dpbench.task.task import RANGE_1D, RANGE_2D, TASKS, Task

__all__ = ["RANGE_1D", "RANGE_2D", "TASKS", "Task"]
