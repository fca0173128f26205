"""Algorithms that leave something running behind them, or strike at what runs them."""

import ctypes
import os
import signal
import subprocess
import sys
import threading
import time
from dataclasses import dataclass
from pathlib import Path

from chaos.hostile import Hostile

SLEEP = [sys.executable, "-c", "import time; time.sleep(120)  # dpbench-escaper"]
"""What a test finds by its command line if it survives."""


def become_sleeper():
    """In a forked child: sleep under a command line that a test can find."""
    os.execv(SLEEP[0], SLEEP)  # noqa: S606


@dataclass(frozen=True, kw_only=True)
class Forks(Hostile):
    name = "Forks"

    def estimate(self, data, workload):
        if os.fork() == 0:
            become_sleeper()
        return self.good(data)


@dataclass(frozen=True, kw_only=True)
class DoubleForks(Hostile):
    """As daemons do: a session of its own, and a parent that is gone."""

    name = "DoubleForks"

    def estimate(self, data, workload):
        child = os.fork()
        if child == 0:
            os.setsid()
            if os.fork() == 0:
                become_sleeper()
            os._exit(0)
        os.waitpid(child, 0)
        return self.good(data)


@dataclass(frozen=True, kw_only=True)
class Opens(Hostile):
    """A command in a session of its own that keeps whatever it is given open."""

    name = "Opens"

    def estimate(self, data, workload):
        subprocess.Popen(SLEEP, start_new_session=True, close_fds=False)
        return self.good(data)


@dataclass(frozen=True, kw_only=True)
class OpensWithout(Hostile):
    """The same without an environment, and deaf to polite signals."""

    name = "OpensWithout"

    def estimate(self, data, workload):
        deaf = "import signal; [signal.signal(n, signal.SIG_IGN) for n in (1, 2, 15)]; "
        subprocess.Popen([SLEEP[0], "-c", deaf + SLEEP[2]], start_new_session=True, close_fds=False, env={})
        return self.good(data)


@dataclass(frozen=True, kw_only=True)
class Herd(Hostile):
    """Twenty at once, each of which has a child."""

    name = "Herd"

    def estimate(self, data, workload):
        for _ in range(10):
            if os.fork() == 0:
                os.fork()
                become_sleeper()
        return self.good(data)


@dataclass(frozen=True, kw_only=True)
class Threads(Hostile):
    """A thread that never ends and is no daemon."""

    name = "Threads"

    def estimate(self, data, workload):
        threading.Thread(target=time.sleep, args=(120,)).start()
        return self.good(data)


@dataclass(frozen=True, kw_only=True)
class KillsParent(Hostile):
    name = "KillsParent"

    def estimate(self, data, workload):
        os.kill(os.getppid(), signal.SIGKILL)
        time.sleep(60)


@dataclass(frozen=True, kw_only=True)
class TerminatesParent(Hostile):
    name = "TerminatesParent"

    def estimate(self, data, workload):
        os.kill(os.getppid(), signal.SIGTERM)
        time.sleep(60)


@dataclass(frozen=True, kw_only=True)
class InterruptsParent(Hostile):
    """Ctrl-C for its parent, and then a good estimate."""

    name = "InterruptsParent"

    def estimate(self, data, workload):
        os.kill(os.getppid(), signal.SIGINT)
        return self.good(data)


@dataclass(frozen=True, kw_only=True)
class StopsParent(Hostile):
    name = "StopsParent"

    def estimate(self, data, workload):
        os.kill(os.getppid(), signal.SIGSTOP)
        return self.good(data)


@dataclass(frozen=True, kw_only=True)
class SignalsGroup(Hostile):
    name = "SignalsGroup"

    def estimate(self, data, workload):
        os.killpg(0, signal.SIGTERM)
        time.sleep(60)


@dataclass(frozen=True, kw_only=True)
class ForksAndKills(Hostile):
    """Leaves a sleeper and kills its parent, so that nobody is left to look after it."""

    name = "ForksAndKills"

    def estimate(self, data, workload):
        if os.fork() == 0:
            os.setsid()
            become_sleeper()
        time.sleep(0.1)
        os.kill(os.getppid(), signal.SIGKILL)
        time.sleep(60)


@dataclass(frozen=True, kw_only=True)
class HidesAndKills(Hostile):
    """A daemon that cannot be told by its environment, its session or its parent: the worker above it is killed."""

    name = "HidesAndKills"

    def estimate(self, data, workload):
        subprocess.Popen(SLEEP, start_new_session=True, env={})
        os.kill(os.getppid(), signal.SIGKILL)
        time.sleep(60)


@dataclass(frozen=True, kw_only=True)
class Traced(Hostile):
    """A daemon of its own traces it: its parent cannot reap it before the daemon has ended."""

    name = "Traced"

    def estimate(self, data, workload):
        if "TracerPid:\t0" not in Path("/proc/self/status").read_text():
            return self.good(data)
        itself = os.getpid()
        child = os.fork()
        if child == 0:
            os.setsid()
            if os.fork() == 0:
                time.sleep(0.1)  # what it traces would stop at the signal that the child's end is
                ctypes.CDLL(None).ptrace(0x4206, itself, None, None)  # PTRACE_SEIZE
                ctypes.CDLL(None).prctl(15, b"dpbench-escaper")
                time.sleep(120)
            os._exit(0)
        os.waitpid(child, 0)
        time.sleep(0.3)
        return self.good(data)


STRIKERS = {
    "KillsParent": "ended 2 workers",
    "TerminatesParent": "ended 2 workers",
    "StopsParent": "took longer than",
    "SignalsGroup": "ended 2 workers",
    "ForksAndKills": "ended 2 workers",
    "HidesAndKills": "ended 2 workers",
}
"""Those that fail, with part of the reason that is recorded."""
LEAVERS = ("Forks", "DoubleForks", "Opens", "OpensWithout", "Herd", "Threads", "Traced", "InterruptsParent")
"""Those whose good estimate is scored, and of which nothing is left."""
