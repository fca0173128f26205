"""Algorithms that behave badly, each in its own way; `dpbench run ... --with tests/chaos/hostile.py:Raises`."""

import ctypes
import itertools
import os
import signal
import sys
import time
from dataclasses import dataclass

import numpy as np

import dpbench as dpb
from dpbench.mathematics.cells import Cells


@dataclass(frozen=True, kw_only=True)
class Hostile(dpb.Algorithm):
    """What they share: a good estimate that they could have given."""

    data_dependent = False

    def good(self, data):
        return data.laplace(Cells(data.domain), data.epsilon, "cells")


@dataclass(frozen=True, kw_only=True)
class Raises(Hostile):
    name = "Raises"

    def estimate(self, data, workload):
        raise ValueError("no \udcff way\nover two lines")


@dataclass(frozen=True, kw_only=True)
class Exits(Hostile):
    name = "Exits"

    def estimate(self, data, workload):
        sys.exit(3)


@dataclass(frozen=True, kw_only=True)
class Vanishes(Hostile):
    name = "Vanishes"

    def estimate(self, data, workload):
        os._exit(7)


@dataclass(frozen=True, kw_only=True)
class Segfaults(Hostile):
    name = "Segfaults"

    def estimate(self, data, workload):
        ctypes.string_at(0)


@dataclass(frozen=True, kw_only=True)
class Loops(Hostile):
    name = "Loops"

    def estimate(self, data, workload):
        while True:
            pass


@dataclass(frozen=True, kw_only=True)
class LoopsInC(Hostile):
    name = "LoopsInC"

    def estimate(self, data, workload):
        return sum(itertools.repeat(0))  # in C, with the interpreter's lock, for ever


@dataclass(frozen=True, kw_only=True)
class Eats(Hostile):
    name = "Eats"

    def estimate(self, data, workload):
        return np.ones(50 * 2**30 // 8)


@dataclass(frozen=True, kw_only=True)
class NotANumber(Hostile):
    name = "NotANumber"

    def estimate(self, data, workload):
        return self.good(data) * np.nan


@dataclass(frozen=True, kw_only=True)
class Infinite(Hostile):
    name = "Infinite"

    def estimate(self, data, workload):
        return self.good(data) + np.inf


@dataclass(frozen=True, kw_only=True)
class Overflows(Hostile):
    name = "Overflows"

    def estimate(self, data, workload):
        return np.full_like(self.good(data), 1e200)


@dataclass(frozen=True, kw_only=True)
class Misshapen(Hostile):
    name = "Misshapen"

    def estimate(self, data, workload):
        return self.good(data)[:, :-1]


@dataclass(frozen=True, kw_only=True)
class WritesInput(Hostile):
    name = "WritesInput"

    def estimate(self, data, workload):
        data._PrivateData__counts[...] = 0
        return self.good(data)


@dataclass(frozen=True, kw_only=True)
class WritesWorkload(Hostile):
    name = "WritesWorkload"

    def estimate(self, data, workload):
        lower = workload.ranges().lower
        lower.setflags(write=True)
        lower[...] = 0
        return self.good(data)


@dataclass(frozen=True, kw_only=True)
class Floods(Hostile):
    """Prints a flood, at the level of Python and below, and then gives a good estimate."""

    name = "Floods"

    def estimate(self, data, workload):
        for _ in range(200):
            sys.stdout.write("flood " * 2000)
            os.write(1, b"flood " * 2000)
            os.write(2, b"flood " * 2000)
        return self.good(data)


@dataclass(frozen=True, kw_only=True)
class WantsScale(Hostile):
    name = "WantsScale"

    def estimate(self, data, workload):
        return self.good(data) + data.scale


@dataclass(frozen=True, kw_only=True)
class LeavesChild(Hostile):
    """Dies and leaves a child behind that holds every open file, the pipe too."""

    name = "LeavesChild"

    def estimate(self, data, workload):
        if os.fork() == 0:
            time.sleep(15)
            os._exit(0)
        os.kill(os.getpid(), signal.SIGKILL)


@dataclass(frozen=True, kw_only=True)
class Spoils(Hostile):
    """Changes what the whole process shares, and gives a good estimate."""

    name = "Spoils"

    def estimate(self, data, workload):
        np.seterr(all="raise")
        np.random.seed(0)  # noqa: NPY002
        os.chdir("/")
        return self.good(data)


CONTAINED = {
    "Raises": "ValueError: no ? way over two lines",
    "Exits": "SystemExit: 3",
    "Vanishes": "ended 2 workers (exit code 7)",
    "Segfaults": "ended 2 workers (signal SIGSEGV)",
    "Loops": "took longer than 8 s (--timeout)",
    "LoopsInC": "took longer than 8 s (--timeout)",
    "Eats": "MemoryError",
    "NotANumber": "returned NaN or infinity",
    "Infinite": "returned NaN or infinity",
    "Overflows": "so large that its squared error is not a number",
    "Misshapen": "returned shape",
    "WritesInput": "read-only",
    "WritesWorkload": "changed the workload",
    "WantsScale": "UndeclaredSideInformation",
    "LeavesChild": "ended 2 workers (signal SIGKILL)",
}
"""Part of the reason that is recorded for each."""
HARMLESS = ("Floods", "Spoils")
