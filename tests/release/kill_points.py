"""Run in a process of its own: releases that are killed at given steps, each in a child."""

import os
import signal
import sys
from pathlib import Path

import dpbench.release.publishing as publishing
from dpbench.release import budget_file, folder


def die(*given, **named):
    os.kill(os.getpid(), signal.SIGKILL)


def after(function):
    def calls(*given, **named):
        function(*given, **named)
        die()

    return calls


POINTS = {
    "before the charge": lambda: setattr(publishing, "charge", die),
    "while the charge is written": lambda: setattr(budget_file, "write_whole", die),
    "before the charge has its name": lambda: setattr(Path, "replace", die),
    "after the charge": lambda: setattr(publishing, "charge", after(publishing.charge)),
    "while the table is read": lambda: setattr(publishing, "histogram", die),
    "after the noise": lambda: setattr(publishing, "released_counts", die),
    "while files are written": lambda: setattr(os, "fsync", after_files(os.fsync)),
    "before the folder has its name": lambda: setattr(folder, "sync_folder", die),
    "after the folder has its name": lambda: setattr(publishing, "_put", after(publishing._put)),
}


def after_files(fsync):
    many = iter(range(100))

    def pushes(number):
        fsync(number)
        if next(many) == 5:
            die()

    return pushes


if __name__ == "__main__":
    root = Path(sys.argv[1])
    for name in [*POINTS, "never"]:
        child = os.fork()
        if not child:
            os.chdir(root / name.replace(" ", "-"))
            POINTS.get(name, lambda: None)()
            publishing.publish("spec.toml")
            os._exit(0)
        _, status = os.waitpid(child, 0)
        print(name, "killed" if os.WIFSIGNALED(status) else os.waitstatus_to_exitcode(status), sep="\t")
