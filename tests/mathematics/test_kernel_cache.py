"""Kernels where little or nothing can be written, as in containers."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from dpbench.mathematics import kernel_cache

CODE = """
import sys, tempfile
from pathlib import Path
from dpbench.mathematics import kernel_cache
kernel_cache._usual = lambda: [Path("/proc/no-such-folder")]
if {nothing}:
    def refuse(**options):
        raise OSError("read-only")
    tempfile.mkdtemp = refuse
import dpbench as dpb
x = [3, 0, 5, 8]
print(dpb.algorithms.get("Hb").run(x, dpb.workloads.Prefix(4), epsilon=1, seed=0).sum())
print(dpb.algorithms.get("MWEM").run(x, dpb.workloads.Prefix(4), epsilon=1, seed=0).sum())
"""


@pytest.mark.parametrize(
    ("nothing", "said"), [(False, "kernels cannot be kept, so they"), (True, "are compiled in memory")]
)
def test_without_a_place_to_keep_kernels_one_line_says_so(nothing, said, tmp_path):
    """The numbers are the same, one line is on stderr, and the temporary folder is gone in the end."""
    environment = {key: value for key, value in os.environ.items() if key != kernel_cache.VARIABLE}
    environment["TMPDIR"] = str(tmp_path)
    code = CODE.format(nothing=nothing)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("\n") == 1
    assert said in done.stderr
    usual = "\n".join(line for line in code.splitlines() if "_usual" not in line)
    same = subprocess.run(
        [sys.executable, "-c", usual.replace("if True", "if False")], capture_output=True, text=True, check=True
    )
    assert done.stdout == same.stdout
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_cannot_be_made_is_not_writable(tmp_path):
    """It is tried, not asked."""
    (tmp_path / "file").write_text("")
    assert kernel_cache._is_writable(tmp_path / "new")
    assert not kernel_cache._is_writable(tmp_path / "file" / "below")
    assert not kernel_cache._is_writable(Path("/proc/no-such-folder"))
