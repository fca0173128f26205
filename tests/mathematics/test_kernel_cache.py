"""Kernels where little or nothing can be written, as in containers."""

import os
import pickle
import shutil
import subprocess
import sys
from importlib import import_module, reload
from pathlib import Path

import numba
import numpy as np
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


def _flipped(content):
    """With one bit flipped in the middle."""
    middle = len(content) // 2
    return content[:middle] + bytes([content[middle] ^ 1]) + content[middle + 1 :]


DAMAGES = {
    "empty": lambda path: path.write_bytes(b""),
    "half": lambda path: path.write_bytes(path.read_bytes()[: path.stat().st_size // 2]),
    "garbage": lambda path: path.write_bytes(bytes(range(256)) * 20),
    "a flipped bit": lambda path: path.write_bytes(_flipped(path.read_bytes())),
    "another pickle": lambda path: path.write_bytes(pickle.dumps(numba.__version__) + pickle.dumps([1, 2])),
    "a pickle that fails": lambda path: path.write_bytes(b"cos\nno_such_function\n."),
    "missing": lambda path: path.unlink(),
    "a folder": lambda path: (path.unlink(), path.mkdir()),
}


@pytest.mark.parametrize("ending", ["nbi", "nbc"])
@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_file_is_compiled_again(ending, damage, kept):
    """Of the index, or of the code: whatever is wrong with it, the kernel is what it is, and is kept anew."""
    module, folder = kept
    (path,) = folder.rglob(f"*.{ending}")
    DAMAGES[damage](path)
    scores = np.zeros((1, 2))
    reload(module).score(np.array([1.0, 2.0]), np.array([[3.0, 5.0]]), np.ones(2), np.array([[0]]), scores)
    assert scores.tolist() == [[-np.inf, 3.0]]
    if damage != "a folder":
        assert [each.is_file() and kernel_cache._is_whole(each) for each in folder.rglob(f"*.{ending}")] == [True]
        assert reload(module).score.stats.cache_hits


@pytest.fixture(scope="module")
def compiled(tmp_path_factory):
    """A folder in which the one kernel of a module is kept."""
    from dpbench.mathematics.kernels import worst_answered

    folder = tmp_path_factory.mktemp("compiled")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(numba.core.config, "CACHE_DIR", str(folder))
        assert not reload(worst_answered).score.stats.cache_hits
    return folder


@pytest.fixture
def kept(compiled, tmp_path, monkeypatch):
    """The module, and a copy of that folder, which it finds its kernel in."""
    from dpbench.mathematics.kernels import worst_answered

    folder = Path(shutil.copytree(compiled, tmp_path / "kept"))
    monkeypatch.setattr(numba.core.config, "CACHE_DIR", str(folder))
    assert reload(worst_answered).score.stats.cache_hits
    return worst_answered, folder


def test_a_folder_that_cannot_be_written_any_more_is_no_fault(kept, monkeypatch):
    """Where a kernel cannot be kept it is compiled in memory."""
    module, folder = kept

    def refuse(*_):
        raise PermissionError(13, "Permission denied")

    for path in folder.rglob("*.nbi"):
        path.unlink()
    monkeypatch.setattr(numba.core.caching.IndexDataCacheFile, "_save_index", refuse)
    assert not reload(module).score.stats.cache_hits
    monkeypatch.setattr(numba.core.caching.CompileResultCacheImpl, "_locator_classes", [])
    assert reload(module).score(np.ones(1), np.ones((1, 1)), np.ones(1), np.zeros((1, 0), int), np.ones((1, 1))) is None


def test_kernels_of_others_are_kept_as_they_keep_them(tmp_path, monkeypatch):
    """What another package compiles with numba in this process has no hash of ours behind it."""
    import dpbench.mathematics.kernels  # noqa: F401

    monkeypatch.setattr(numba.core.config, "CACHE_DIR", str(tmp_path / "kept"))
    (tmp_path / "others.py").write_text(
        "from numba import njit\n@njit('int64(int64)', cache=True)\ndef one(x):\n return x\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    assert import_module("others").one(3) == 3
    (index,) = (tmp_path / "kept").rglob("others*.nbi")
    assert not kernel_cache._is_whole(index)
