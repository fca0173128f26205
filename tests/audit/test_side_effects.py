"""What counts as a deed outside the handle, and what Python does by itself."""

from __future__ import annotations

import sys

from dpbench.audit.side_effects import deeds


def test_a_file_that_is_opened_is_a_deed(tmp_path):
    """By its path, whatever it is opened for."""
    path = tmp_path / "counts.txt"
    with deeds() as found:
        path.write_text("1")
        path.rename(tmp_path / "others.txt")
    assert found == [f"opens {str(path)!r}", f"calls os.rename on {str(path)!r}, {str(tmp_path / 'others.txt')!r}"]


def test_an_import_that_keeps_its_bytecode_is_no_deed(tmp_path, monkeypatch):
    """Python opens the file for it by its descriptor: the mode is not a path."""
    (tmp_path / "imported_once.py").write_text("NUMBER = 1\n")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    with deeds() as found:
        import imported_once  # noqa: F401
    assert list((tmp_path / "__pycache__").glob("imported_once.*.pyc"))
    assert found == []
