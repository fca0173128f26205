from __future__ import annotations

import os

import numpy as np
import pytest

from dpbench import datasets
from dpbench.datasets import files
from dpbench.errors import CorruptData, DatasetUnavailable


def test_counts_come_back_as_int64(nowhere, second):
    """Whole floats in a file become a fresh int64 array that the caller may change."""
    second.put(nowhere)
    counts = datasets.load(second.dataset)
    assert counts.dtype == np.int64
    assert np.array_equal(counts, second.counts)
    counts[0] = 99
    assert np.array_equal(datasets.load(second.dataset), second.counts)


@pytest.mark.parametrize("flat", [False, True])
def test_named_folder_is_used(nowhere, monkeypatch, tmp_path, first, flat):
    """DPBENCH_DATA may point at a folder laid out as the source is, or flat."""
    first.put(tmp_path / "room", flat=flat)
    monkeypatch.setenv("DPBENCH_DATA", str(tmp_path / "room"))
    assert datasets.path() == tmp_path / "room"
    assert np.array_equal(datasets.load(first.dataset), first.counts)


def test_cache_is_the_second_place(nowhere, monkeypatch, tmp_path, first):
    """What the folder of DPBENCH_DATA lacks is taken from the cache."""
    first.put(nowhere)
    (tmp_path / "room").mkdir()
    monkeypatch.setenv("DPBENCH_DATA", str(tmp_path / "room"))
    assert np.array_equal(datasets.load(first.dataset), first.counts)


def test_given_folder_is_the_only_place(nowhere, tmp_path, first):
    """A folder given by argument is used instead of all others."""
    first.put(nowhere)
    with pytest.raises(DatasetUnavailable, match=r"has no 1D/first\.npy"):
        datasets.load(first.dataset, folder=tmp_path)


def test_absent_file_says_how_to_get_it(nowhere):
    """Without files, the error names the command and the variable, in one line."""
    with pytest.raises(DatasetUnavailable) as caught:
        datasets.load("MEDCOST")
    text = str(caught.value)
    assert "MEDCOST" in text
    assert "`dpbench data pull`" in text
    assert "DPBENCH_DATA" in text
    assert "\n" not in text


def test_named_folder_that_does_not_exist_is_said(nowhere, monkeypatch, tmp_path):
    """An error for an absent file says that DPBENCH_DATA names no folder, if so."""
    monkeypatch.setenv("DPBENCH_DATA", str(tmp_path / "gone"))
    with pytest.raises(DatasetUnavailable, match=r"DPBENCH_DATA is '.*gone', which is not a folder"):
        datasets.load("MEDCOST")


def test_named_folder_that_lacks_the_file_is_said(nowhere, monkeypatch, tmp_path):
    """An error for an absent file says that the folder of DPBENCH_DATA lacks it, if so."""
    monkeypatch.setenv("DPBENCH_DATA", str(tmp_path))
    with pytest.raises(DatasetUnavailable, match=r"which has no 1D/MEDCOST\.n4096\.npy"):
        datasets.load("MEDCOST")


def test_changed_file_is_refused(nowhere, first):
    """One flipped bit is found by the checksum, and the file is named."""
    content = bytearray(first.content)
    content[-1] ^= 1
    file = first.put(nowhere, bytes(content))
    with pytest.raises(CorruptData) as caught:
        datasets.load(first.dataset)
    assert str(file) in str(caught.value)
    assert "dpbench data pull" in str(caught.value)


def test_nothing_is_unpickled(nowhere, make):
    """A file of pickled objects is refused even when its checksum is right."""
    made = make("OBJECTS", np.array([{}, {}], dtype=object))
    made.put(nowhere)
    with pytest.raises(CorruptData, match=r"is not a \.npy file of numbers"):
        datasets.load(made.dataset)


@pytest.mark.parametrize(
    ("array", "fault"),
    [
        (np.array([1.0, 2.5]), "not counts"),
        (np.array([1.0, -1.0]), "not counts"),
        (np.array([1.0, np.nan]), "not counts"),
        (np.array([1.0, np.inf]), "not counts"),
        (np.array([1.0, 2.0**60]), "not counts"),
        (np.array(["a", "b"]), "array of numbers"),
    ],
)
def test_what_is_no_count_is_refused(nowhere, make, array, fault):
    """Cells that are fractional, negative, not finite or no numbers are refused."""
    made = make("ODD", array)
    made.put(nowhere)
    with pytest.raises(CorruptData, match=fault):
        datasets.load(made.dataset)


def test_wrong_shape_is_refused(nowhere, make):
    """An array of another shape than the catalogue says is refused."""
    made = make("ODD", np.arange(4), shape=(2, 2))
    made.put(nowhere)
    with pytest.raises(CorruptData, match="shape"):
        datasets.load(made.dataset)


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="permissions do not bind this user")
def test_unreadable_file_is_said(nowhere, first):
    """A file that may not be read is an error in one line."""
    first.put(nowhere).chmod(0)
    with pytest.raises(DatasetUnavailable, match="cannot read"):
        datasets.load(first.dataset)


def test_verify_tells_ok_missing_corrupt(tmp_path, make, first, second):
    """Verification tells what is good, what is absent and what differs."""
    third = make("THIRD", np.arange(3))
    first.put(tmp_path)
    second.put(tmp_path, b"something else")
    asked = [first.dataset, second.dataset, third.dataset]
    states = datasets.verify(asked, folder=tmp_path)
    assert states == list(zip(asked, ["ok", "corrupt", "missing"], strict=True))


def test_verify_covers_the_catalogue(tmp_path):
    """Without names, every histogram of the catalogue is looked for."""
    states = datasets.verify(folder=tmp_path)
    assert [dataset.name for dataset, _ in states] == datasets.names()
    assert {status for _, status in states} == {"missing"}


@pytest.mark.parametrize("name", datasets.names())
def test_published_histograms_match_the_catalogue(histograms, name):
    """Each published file has the checksum, length, shape, scale and share of zeros that the catalogue states."""
    dataset = datasets.get(name)
    assert files.status(dataset) == "ok"
    assert files.locate(dataset).stat().st_size == dataset.bytes
    counts = datasets.load(name)
    assert counts.dtype == np.int64
    assert counts.shape == dataset.shape
    assert counts.sum() == dataset.scale
    assert round(100 * float(np.mean(counts == 0)), 2) == pytest.approx(dataset.percent_zero, abs=0.005)
