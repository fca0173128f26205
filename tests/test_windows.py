"""Windows, as far as it can be had elsewhere: its modules are there, those that it lacks cannot be imported.

Libraries, and what of the standard library is made for one system, are loaded first; then this package believes that
it runs there. Only ``os.name`` stays, by which paths are made.
"""

import subprocess
import sys

import pytest

BEFORE = """
import os, signal, sys, types
import asyncio, concurrent.futures.process, ctypes.util, multiprocessing.connection, multiprocessing.pool
import multiprocessing.popen_spawn_posix, platform, selectors, shutil, socket, subprocess, tempfile, uuid
import numba, numpy, platformdirs, pyarrow.parquet, rich.console, rich.progress, scipy.optimize, scipy.stats
for name in ("fcntl", "grp", "posix", "pty", "pwd", "readline", "resource", "syslog", "termios", "tty"):
    sys.modules[name] = None
for name in ("fork", "getuid", "geteuid", "killpg", "setsid", "sched_getaffinity", "sysconf"):
    delattr(os, name)
for name in ("SIGKILL", "SIGALRM", "SIGHUP"):
    delattr(signal, name)
locks = {"LK_LOCK": 1, "LK_NBLCK": 2, "LK_UNLCK": 0, "locking": lambda number, how, size: None}
sys.modules["msvcrt"] = types.SimpleNamespace(**locks)
sys.platform = "win32"
import dpbench as dpb
from dpbench.cli import main
"""
"""What a process does before it uses the package."""


def run(code, folder):
    """Run code there, in a folder."""
    words = [sys.executable, "-c", BEFORE + code]
    done = subprocess.run(words, capture_output=True, text=True, check=False, cwd=folder, timeout=300)
    assert "Traceback" not in done.stderr, done.stderr
    return done


def test_what_is_looked_at_and_run_in_one_process_works(tmp_path):
    """The catalogue, advice, a small run and its page."""
    small = "--algorithm Identity --algorithm Hb --dataset bimodal --domain 64 --scale 1000 --samples 1 --trials 2"
    verbs = [
        "list algorithms",
        "recommend --cells 64 --epsilon 1 --records 10000",
        f"run demo {small} --store store --jobs 0 --quiet",
        "interpret store --what errors",
        "store verify store",
        "store export store --canonical --out trials.csv",
        "report store --out page",
    ]
    done = run(f"print([main(words.split()) for words in {verbs}])", tmp_path)
    assert done.stdout.splitlines()[-1] == str([0] * len(verbs))
    assert (tmp_path / "page" / "index.html").stat().st_size > 10_000


def test_a_histogram_is_released(tmp_path):
    """The budget file is locked by what Windows has."""
    (tmp_path / "people.csv").write_text("age\n34\n")
    (tmp_path / "budget.toml").write_text('dataset = "people"\nepsilon = "2"\n')
    (tmp_path / "people.toml").write_text(
        'dataset = "people"\ntable = "people.csv"\nepsilon = "1/2"\nalgorithm = "Hb"\nbudget = "budget.toml"\n'
        'out = "out"\n[columns.age]\nlow = 0\nhigh = 16\nbins = 16\noutside = "clamp"\n'
    )
    assert run("sys.exit(main(['release', 'people.toml']))", tmp_path).returncode == 0
    assert (tmp_path / "out" / "certificate.json").is_file()


@pytest.mark.parametrize("words", ["run demo --with mine.py:Mine", "check mine.py:Mine", "check Identity"])
def test_what_needs_a_fork_is_refused_in_one_line(words, tmp_path):
    """A stranger's code, and an audit, are given processes of their own."""
    (tmp_path / "mine.py").write_text("import dpbench as dpb\nclass Mine(dpb.Algorithm):\n    name = 'Mine'\n")
    done = run(f"sys.exit(main('{words} --quiet'.split()))", tmp_path)
    assert done.returncode in {1, 2}
    assert "use Linux, macOS or WSL" in done.stderr
