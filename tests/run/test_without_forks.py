"""A system without forks and limits, as Windows is: simulated by taking them away before anything is loaded."""

import subprocess
import sys

import pytest

BEFORE = """
import os, signal, sys
sys.modules["resource"] = None
del os.fork, os.sysconf, signal.SIGKILL
from dpbench.cli import main
"""
SMALL = "--algorithm Identity --domain 64 --scale 1000 --samples 1 --trials 2"


def run(code, folder):
    return subprocess.run(
        [sys.executable, "-c", BEFORE + code], capture_output=True, text=True, check=False, cwd=folder, timeout=120
    )


def test_every_module_can_be_imported(tmp_path):
    """Nothing asks for what is missing when it is loaded."""
    done = run(
        "import importlib, pkgutil, dpbench\n"
        "for each in pkgutil.walk_packages(dpbench.__path__, 'dpbench.'):\n"
        "    if not each.name.endswith('__main__') and '.kernels.' not in each.name:\n"
        "        importlib.import_module(each.name)\n",
        tmp_path,
    )
    assert done.returncode == 0, done.stderr


def test_our_algorithms_run_in_one_process(tmp_path):
    """Without any option."""
    done = run(f"sys.exit(main('run demo {SMALL} --store store --quiet'.split()))", tmp_path)
    assert done.returncode == 0, done.stderr
    assert "Identity" in done.stdout


@pytest.mark.parametrize("words", ["--with mine.py:Mine", "--jobs 2"])
def test_what_needs_a_fork_is_refused_in_one_line(words, tmp_path):
    """A stranger's code is never run beside ours."""
    (tmp_path / "mine.py").write_text("import dpbench as dpb\nclass Mine(dpb.Algorithm):\n    name = 'Mine'\n")
    done = run(f"sys.exit(main('run demo {SMALL} {words} --store store --quiet'.split()))", tmp_path)
    assert done.returncode in {1, 2}
    assert "use Linux, macOS or WSL" in done.stderr
    assert "Traceback" not in done.stderr
