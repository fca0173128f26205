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
print(dpb.algorithms.get("Privelet").run(x, dpb.workloads.Prefix(4), epsilon=1, seed=0).sum())
"""


@pytest.mark.parametrize(
    ("nothing", "said"),
    [
        (False, "kernels cannot be kept, so they"),
        pytest.param(True, "are compiled in memory", marks=pytest.mark.slow),
    ],
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


def test_kernels_are_warm_once_each_module_was_compiled_after_its_last_change(monkeypatch, tmp_path):
    """By names and times of files alone: numba is not asked."""
    kernels, kept = tmp_path / "kernels", tmp_path / "kept" / "below"
    kernels.mkdir()
    kept.mkdir(parents=True)
    monkeypatch.setattr(kernel_cache, "KERNELS", kernels)
    monkeypatch.setattr(kernel_cache, "_usual", lambda: [tmp_path / "kept"])
    monkeypatch.delenv(kernel_cache.IN_MEMORY, raising=False)
    version = f"py{sys.version_info.major}{sys.version_info.minor}"
    for name in ("one", "two"):
        (kernels / f"{name}.py").write_text("@njit(cache=True)")
    (kernels / "inlined.py").write_text('@njit(inline="always")')  # others compile it into their own; nothing is kept
    (kept / f"one.f-1.{version}.nbi").write_text("")
    assert not kernel_cache.is_warm()
    (kept / f"two.g-1.{version}.nbi").write_text("")
    assert kernel_cache.is_warm()
    os.utime(kernels / "two.py", (2e9, 2e9))
    assert not kernel_cache.is_warm()


def test_a_kernel_is_compiled_again_when_what_it_inlines_has_changed(tmp_path, monkeypatch):
    """Its stamp follows the modules that it imports from, directly or through another, and no others."""
    from numba.core.caching import InTreeCacheLocator

    import dpbench.mathematics.kernels  # noqa: F401  # which settles where kernels are kept

    monkeypatch.setattr(kernel_cache, "KERNELS", tmp_path)
    monkeypatch.setattr("numba.core.caching._hash_source_file", lambda path, *_: Path(path).read_text("utf-8"))
    start = "from dpbench.mathematics.kernels."
    for name, text in (("a", f"{start}b import b\n"), ("b", f"{start}c import c\n"), ("c", ""), ("d", "")):
        (tmp_path / f"{name}.py").write_text(text, encoding="utf-8")
    stamps = []
    for changed in ("", "c", "d"):
        if changed:
            (tmp_path / f"{changed}.py").write_text("x = 1\n", encoding="utf-8")
        locator = InTreeCacheLocator.__new__(InTreeCacheLocator)
        locator._py_file = str(tmp_path / "a.py")
        stamps.append(locator.get_source_stamp())
    assert stamps[0] != stamps[1] == stamps[2]
    assert [path.stem for path in kernel_cache.inlined(tmp_path / "a.py")] == ["b", "c"]
    assert kernel_cache.inlined(Path(__file__)) == []
