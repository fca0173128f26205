"""What is done in a process of its own, and how such a process may end."""

import os
import signal
import time

import pytest

from dpbench.audit import fresh as fresh_module
from dpbench.audit.fresh import TooSlow, fresh
from dpbench.errors import CheckFailed, Unsupported


def test_an_alarm_that_rings_while_the_parent_is_suspended_means_too_slow(monkeypatch):
    def suspended(reading, seconds):
        time.sleep(3)  # longer than the child's alarm, which is set to two seconds more than it may wait
        return b""

    monkeypatch.setattr(fresh_module, "WAITING", 1.0)
    monkeypatch.setattr(fresh_module, "_read", suspended)
    with pytest.raises(TooSlow):
        fresh(lambda: time.sleep(60), 0.5)


def test_an_alarm_that_the_code_sends_itself_ends_its_process():
    with pytest.raises(CheckFailed, match="it ended its process"):
        fresh(lambda: os.kill(os.getpid(), signal.SIGALRM), 5.0)


def test_what_takes_too_long_on_the_processor_is_too_slow():
    def busy():
        while True:
            pass

    with pytest.raises(TooSlow):
        fresh(busy, 0.2)


def test_where_no_process_can_be_forked_one_line_says_so(monkeypatch):
    monkeypatch.delattr(os, "fork")
    with pytest.raises(Unsupported, match="a check needs a system that can fork"):
        fresh(lambda: 1, 1.0)
