"""Algorithms that try to have results that are not theirs, or to spoil the results of others."""

import builtins
import contextlib
import gc
import json
import os
import pickle
import resource
import signal
import stat
import struct
import sys
import threading
import time
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path

import numpy as np

from chaos.hostile import Hostile
from dpbench.errors import RunStopped

CLOCK = time.process_time


class Zero(np.ndarray):
    """Every difference is nothing, and so is every error."""

    def __array_ufunc__(self, ufunc, method, *inputs, **options):
        plain = [np.asarray(each) for each in inputs]
        out = getattr(ufunc, method)(*plain, **{name: value for name, value in options.items() if name != "out"})
        return np.zeros_like(out) if ufunc is np.subtract else out


class Bomb:
    """Whoever unpickles it writes a file that says so."""

    def __reduce__(self):
        return (exec, (f"import os; open({str(Path.cwd() / 'bomb')!r}, 'a').write(str(os.getpid()))",))


def channels():
    """Whatever this process could speak to another one through."""
    found = []
    for number in range(3, 256):
        try:
            mode = os.fstat(number).st_mode
        except OSError:
            continue
        if stat.S_ISSOCK(mode) or stat.S_ISFIFO(mode):
            found.append(number)
    return found


def send_everywhere(content):
    """Into every channel, with the length before it as Python's own pipes have it."""
    for number in channels():
        try:
            os.set_blocking(number, False)
            os.write(number, content)
        except OSError:
            continue
        finally:
            os.set_blocking(number, True)


def framed(thing):
    content = pickle.dumps(thing)
    return struct.pack("!i", len(content)) + content


@dataclass(frozen=True, kw_only=True)
class Subclass(Hostile):
    """Returns an array with an arithmetic of its own."""

    name = "Subclass"

    def estimate(self, data, workload):
        return self.good(data).view(Zero)


@dataclass(frozen=True, kw_only=True)
class SendsBomb(Hostile):
    """Sends something that runs code where it is unpickled."""

    name = "SendsBomb"

    def estimate(self, data, workload):
        send_everywhere(framed(Bomb()))
        return self.good(data)


@dataclass(frozen=True, kw_only=True)
class ForgesRow(Hostile):
    """Sends a row without errors in the place of its own, by the pipe that it finds in memory."""

    name = "ForgesRow"

    def estimate(self, data, workload):
        from dpbench.store.schema import Row

        good = [each for each in gc.get_objects() if isinstance(each, Row)]
        forged = Row(
            **dict.fromkeys(("task", "dataset", "workload", "algorithm", "variant", "parameters"), "forged"),
            **dict.fromkeys(("side_information", "key", "algorithm_source", "dataset_source"), "forged"),
            **dict.fromkeys(("generator_source", "run"), "forged"),
            domain="64",
            scale=1,
            epsilon=1.0,
            sample=0,
            seed=0,
            first_trial=0,
            l2=[0.0],
            l1=[0.0],
            linf=[0.0],
            population_l2=[0.0],
            ledger=str(len(good)),
        )
        for each in gc.get_objects():
            if isinstance(each, Connection) and not each.closed:
                with contextlib.suppress(OSError):
                    each.send(forged)
        send_everywhere(framed(forged))
        return self.good(data)


@dataclass(frozen=True, kw_only=True)
class Garbage(Hostile):
    name = "Garbage"

    def estimate(self, data, workload):
        send_everywhere(bytes(range(256)) * 4)
        return self.good(data)


@dataclass(frozen=True, kw_only=True)
class ClaimsMuch(Hostile):
    """Announces an answer of many gigabytes."""

    name = "ClaimsMuch"

    def estimate(self, data, workload):
        send_everywhere(b"\x7f" * 64)
        time.sleep(0.2)
        return self.good(data)


@dataclass(frozen=True, kw_only=True)
class Drips(Hostile):
    """Begins an answer and never ends it."""

    name = "Drips"

    def estimate(self, data, workload):
        send_everywhere(b"\0\0\1")
        time.sleep(60)


@dataclass(frozen=True, kw_only=True)
class ChildAnswersToo(Hostile):
    """Forks, and both go on as if nothing had happened."""

    name = "ChildAnswersToo"

    def estimate(self, data, workload):
        if os.fork():
            time.sleep(0.5)
        return self.good(data)


@dataclass(frozen=True, kw_only=True)
class ChildAnswers(Hostile):
    """Forks, and only the child goes on."""

    name = "ChildAnswers"

    def estimate(self, data, workload):
        if os.fork():
            time.sleep(60)
        return self.good(data)


@dataclass(frozen=True, kw_only=True)
class PatchesLoss(Hostile):
    name = "PatchesLoss"

    def estimate(self, data, workload):
        import dpbench.loss
        import dpbench.run.bench
        import dpbench.run.data_vectors as vectors

        nothing = {"queries": 64, **{name: [0.0] * data.trials for name in ("l2", "l1", "linf", "population_l2")}}
        nothing |= {"squared_bias": 0.0, "variance": 0.0, "other_losses": {}}
        vectors.losses = dpbench.run.bench.losses = lambda *given: dict(nothing)
        for kind in vectors.ALWAYS.values():
            type(kind).errors = lambda self, answers: np.zeros(len(answers.error))
        return self.good(data)


@dataclass(frozen=True, kw_only=True)
class PatchesNumpy(Hostile):
    name = "PatchesNumpy"

    def estimate(self, data, workload):
        estimate = self.good(data)
        for name in ("sqrt", "mean", "square", "max"):
            setattr(np, name, lambda *given, **options: 0.0)
        return estimate


@dataclass(frozen=True, kw_only=True)
class PatchesNoise(Hostile):
    """Takes the noise away, from itself and from whoever comes after it in the process."""

    name = "PatchesNoise"

    def estimate(self, data, workload):
        from dpbench.privacy import RandomNoise

        RandomNoise.laplace = lambda self, truth, scale, *rest: (
            np.asarray(truth, dtype=float) + np.zeros((data.trials, *np.shape(truth)[-1:]))
        )
        return self.good(data)


@dataclass(frozen=True, kw_only=True)
class PatchesWorkload(Hostile):
    name = "PatchesWorkload"

    def estimate(self, data, workload):
        estimate = self.good(data)
        for kind in type(workload).__mro__[:-1]:
            kind.answer = lambda self, counts: np.zeros((*np.shape(counts)[:-1], self.queries))
        return estimate


@dataclass(frozen=True, kw_only=True)
class PatchesUnit(Hostile):
    """Lets every row that is made from now on say something else."""

    name = "PatchesUnit"

    def estimate(self, data, workload):
        from dpbench.run.units import Unit

        honest = Unit.row
        Unit.row = lambda self, **outcome: honest(self, **{**outcome, "l2": [0.0] * self.trials})
        return self.good(data)


@dataclass(frozen=True, kw_only=True)
class ForgesLedger(Hostile):
    """Spends nothing and says that it has spent."""

    name = "ForgesLedger"

    def estimate(self, data, workload):
        import dpbench.run.bench as bench
        from dpbench.privacy import Ledger

        Ledger.close = lambda self: None
        bench.ledger_json = lambda ledger: json.dumps({"epsilon": "7", "charges": []})
        return np.zeros((data.trials, *data.domain.shape))


@dataclass(frozen=True, kw_only=True)
class PatchesBuiltins(Hostile):
    name = "PatchesBuiltins"

    def estimate(self, data, workload):
        estimate = self.good(data)
        builtins.sum = builtins.max = builtins.min = lambda *given, **options: 0
        return estimate


@dataclass(frozen=True, kw_only=True)
class StopsRun(Hostile):
    name = "StopsRun"

    def estimate(self, data, workload):
        raise RunStopped("everything is over")


@dataclass(frozen=True, kw_only=True)
class Interrupts(Hostile):
    name = "Interrupts"

    def estimate(self, data, workload):
        raise KeyboardInterrupt


@dataclass(frozen=True, kw_only=True)
class ShowsCounts(Hostile):
    """Puts the counts, and what a terminal obeys, into its exception."""

    name = "ShowsCounts"

    def estimate(self, data, workload):
        counts = " ".join(map(str, data._PrivateData__counts))
        raise ValueError(f"\x1b[31mcounts\x07\u202e {counts}" + "x" * 10**6)


@dataclass(frozen=True, kw_only=True)
class NamedLikeCounts(Hostile):
    """The name of its exception holds the counts."""

    name = "NamedLikeCounts"

    def estimate(self, data, workload):
        counts = "_".join(map(str, data._PrivateData__counts))
        raise type(f"\x1b[2JError{counts}", (Exception,), {})


@dataclass(frozen=True, kw_only=True)
class RudeException(Hostile):
    """An exception that cannot be described."""

    name = "RudeException"

    def estimate(self, data, workload):
        class Rude(Exception):
            def __str__(self):  # noqa: PLE0307
                os._exit(5)

        raise Rude


@dataclass(frozen=True, kw_only=True)
class BigEndian(Hostile):
    name = "BigEndian"

    def estimate(self, data, workload):
        return self.good(data).astype(">f8")


@dataclass(frozen=True, kw_only=True)
class Objects(Hostile):
    """An array of objects that say that they are numbers."""

    name = "Objects"

    def estimate(self, data, workload):
        return self.good(data).astype(object)


@dataclass(frozen=True, kw_only=True)
class ChangesLater(Hostile):
    """A thread goes on writing into what was returned."""

    name = "ChangesLater"

    def estimate(self, data, workload):
        estimate = self.good(data)

        def change():
            for _ in range(2000):
                estimate[...] = 0
                time.sleep(0.001)

        copy = estimate.copy()
        threading.Thread(target=change, daemon=True).start()
        return copy


@dataclass(frozen=True, kw_only=True)
class Fortran(Hostile):
    """Not contiguous, and right all the same."""

    name = "Fortran"

    def estimate(self, data, workload):
        return np.asfortranarray(self.good(data))


@dataclass(frozen=True, kw_only=True)
class ClosesFiles(Hostile):
    name = "ClosesFiles"

    def estimate(self, data, workload):
        os.closerange(3, 256)
        return self.good(data)


@dataclass(frozen=True, kw_only=True)
class FakesTime(Hostile):
    """Works and says that it took no time."""

    name = "FakesTime"

    def estimate(self, data, workload):
        import dpbench.run.bench

        begin = CLOCK()
        while CLOCK() - begin < 0.2:
            pass
        time.process_time = dpbench.run.bench.CLOCK = lambda: 0.0
        return self.good(data)


@dataclass(frozen=True, kw_only=True)
class SpoilsProcess(Hostile):
    """Environment, limits, recursion, signals, collector: all that a process shares with itself."""

    name = "SpoilsProcess"

    def estimate(self, data, workload):
        estimate = self.good(data)
        os.environ.clear()
        os.umask(0o777)
        resource.setrlimit(resource.RLIMIT_NOFILE, (16, 16))
        sys.setrecursionlimit(60)
        sys.stdout = sys.stderr = None
        gc.disable()
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        signal.setitimer(signal.ITIMER_REAL, 1.0)
        sys.path.clear()
        return estimate


@dataclass(frozen=True, kw_only=True)
class WritesStore(Hostile):
    """Puts a file of its own among the shards of every store that it finds here."""

    name = "WritesStore"

    def estimate(self, data, workload):
        for shards in Path.cwd().glob("**/shards"):
            (shards / "zz-00000-0123456789abcdef.parquet").write_bytes(b"nothing")
        return self.good(data)


FORGERS = {
    "SendsBomb": "something else than an answer",
    "ForgesRow": "something else than an answer",
    "Garbage": "something else than an answer",
    "ClaimsMuch": "something else than an answer",
    "Drips": "took longer than 8 s",
    "ChildAnswersToo": "a process that it forked",
    "ChildAnswers": "a process that it forked",
    "ForgesLedger": "ledger",
    "StopsRun": "RunStopped: everything is over",
    "Interrupts": "KeyboardInterrupt",
    "ShowsCounts": "ValueError",
    "NamedLikeCounts": "Error",
    "RudeException": "ended 2 workers (exit code 5)",
    "BigEndian": "returned shape",
    "Objects": "returned shape",
    "ClosesFiles": "ended 2 workers",
    "PatchesBuiltins": "ended 2 workers",
}
"""Those that fail, with part of the reason that is recorded."""
SCORED = (
    "Subclass",
    "PatchesLoss",
    "PatchesNumpy",
    "PatchesWorkload",
    "PatchesUnit",
    "ChangesLater",
    "Fortran",
    "FakesTime",
    "SpoilsProcess",
)
"""Those whose good estimate is scored as what it is: their errors are Honest's."""
