"""Kernels of ours that cannot be loaded stop a run; no algorithm is to blame."""

import os
import subprocess
import sys

import pytest

from dpbench.store import Store

BROKEN = """
import sys
from importlib.machinery import PathFinder, SourceFileLoader
from importlib.util import spec_from_file_location


class Broken(SourceFileLoader):
    def get_code(self, name):
        return compile("raise MemoryError('LLVM\\\\nhas none left')", self.path, "exec")


class Finder:
    def find_spec(self, name, path, target=None):
        if name == "dpbench.mathematics.kernels.haar":
            found = PathFinder.find_spec(name, path).origin
            return spec_from_file_location(name, found, loader=Broken(name, found))


sys.meta_path.insert(0, Finder())
"""
MINE = """
from dataclasses import dataclass
import dpbench as dpb


@dataclass(frozen=True, kw_only=True)
class Mine(dpb.Algorithm):
    name = "Mine"

    def estimate(self, data, workload):
        from dpbench.mathematics.kernels.haar import invert_axis  # noqa: F401

        raise RuntimeError("never came here")
"""
LIAR = """
from dataclasses import dataclass
import dpbench as dpb
from dpbench.mathematics import kernel_cache


@dataclass(frozen=True, kw_only=True)
class Liar(dpb.Algorithm):
    name = "Liar"

    def estimate(self, data, workload):
        raise ImportError("a lie", name=f"{kernel_cache.PACKAGE}.haar")
"""
RUN = "run demo --domain 64 --scale 1000 --samples 1 --trials 2 --store store --quiet".split()  # noqa: SIM905


@pytest.mark.parametrize(
    "options", ["--jobs 0 --algorithm Privelet", "--jobs 1 --algorithm Privelet", "--algorithm mine.py:Mine"]
)
def test_the_run_stops_with_one_line(options, tmp_path):
    """In this process, in a worker, and where a plug-in needs them; nothing is recorded as failed."""
    (tmp_path / "sitecustomize.py").write_text(BROKEN)
    (tmp_path / "mine.py").write_text(MINE)
    done = subprocess.run(
        [sys.executable, "-m", "dpbench.cli", *RUN, *options.split()],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path), *sys.path])},
        check=False,
    )
    assert done.returncode == 2
    assert "the kernels haar cannot be loaded (MemoryError: LLVM has none left)" in done.stderr
    assert done.stderr.count("\n") == 1
    assert not [row for row in Store(tmp_path / "store").rows() if row.failure]


def test_a_command_that_runs_nothing_says_so_in_one_line_too(monkeypatch, capsys):
    """An exception from elsewhere stays what it is."""
    from dpbench.cli import catalogue, main
    from dpbench.mathematics import kernel_cache

    for error in (ImportError("gone", name=f"{kernel_cache.PACKAGE}.haar"), ValueError("other")):

        def fail(_, error=error):
            raise RuntimeError("another") from error

        monkeypatch.setattr(catalogue, "run_list", fail)
        if isinstance(error, ImportError):
            assert main(["list", "suites"]) == 2
            assert capsys.readouterr().err.startswith(
                "dpbench: the kernels haar cannot be loaded (RuntimeError: another"
            )
        else:
            with pytest.raises(RuntimeError, match="another"):
                main(["list", "suites"])


def test_who_says_so_without_cause_has_failed(tmp_path, monkeypatch, capsys):
    """The process that runs no foreign code loads them itself before it believes it."""
    from dpbench.cli import main

    monkeypatch.chdir(tmp_path)
    (tmp_path / "liar.py").write_text(LIAR)
    assert main([*RUN, "--jobs", "0", "--algorithm", "liar.py:Liar"]) == 1
    assert {row.failure for row in Store("store").rows()} == {"ImportError: a lie"}
