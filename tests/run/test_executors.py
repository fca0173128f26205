import signal

import pytest

from dpbench.run.executors import executor_for
from dpbench.run.executors.contained import exit_words
from dpbench.run.executors.processes import Processes
from dpbench.run.executors.serial import Serial


def test_no_jobs_are_this_process_and_any_number_are_workers():
    """Limits go to worker processes."""
    assert isinstance(executor_for(0, timeout=1.0, memory=2), Serial)
    workers = executor_for(3, timeout=1.0, memory=2**30)
    assert isinstance(workers, Processes)
    assert (workers.jobs, workers.timeout, workers.memory) == (3, 1.0, 2**30)


@pytest.mark.parametrize(
    ("code", "words"), [(0, "exit code 0"), (7, "exit code 7"), (-signal.SIGSEGV, "signal SIGSEGV"), (-99, "signal 99")]
)
def test_an_exit_code_is_said_in_words(code, words):
    """Signals by their names, where they have one."""
    assert exit_words(code) == words
