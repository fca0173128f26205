from __future__ import annotations

import subprocess
import sys
from collections import Counter
from pathlib import PurePosixPath

import pytest

from dpbench import datasets
from dpbench.errors import UnknownName


def test_holds_the_papers_datasets():
    """The catalogue has the paper's 18 1-D and 9 2-D histograms, and TWITTER."""
    assert len(datasets.names(1)) == 18
    assert len(datasets.names(2, in_paper=True)) == 9
    assert set(datasets.names()) - set(datasets.names(in_paper=True)) == {"TWITTER"}
    assert datasets.names()[0] == "ADULT"
    assert datasets.names()[-1] == "TWITTER"


@pytest.mark.parametrize("dataset", datasets.DATASETS.values(), ids=lambda dataset: dataset.name)
def test_entries_are_complete(dataset):
    """Every entry has a checksum, the paper's largest domain, and words about itself."""
    assert len(dataset.sha256) == 64
    assert int(dataset.sha256, 16)
    assert 8 * dataset.domain.size < dataset.bytes < 8 * dataset.domain.size + 1000
    assert dataset.shape in {(4096,), (256, 256)}
    assert dataset.file.startswith(f"{dataset.ndim}D/")
    assert dataset.domain.shape == dataset.shape
    assert dataset.scale > 0
    assert 0 <= dataset.percent_zero < 100
    assert dataset.about
    assert dataset.origin


@pytest.mark.parametrize(
    ("given", "name"),
    [
        ("medcost", "MEDCOST"),
        ("Bj_Cabs_S", "BJ-CABS-S"),
        ("NETTRACE", "TRACE"),
        ("searchlogs", "SEARCH"),
        ("HEPTH", "HEPPH"),
        ("checkin", "GOWALLA"),
        ("LOAN", "LC-2D"),
        ("checkin_256_256", "GOWALLA"),
        ("ADULTFRANK.n4096", "ADULT"),
        ("RejectStats_4_4096_no_outliers", "LC-DTIR-ALL"),
        (" adult-2d ", "ADULT-2D"),
    ],
)
def test_other_names_are_known(given, name):
    """Case, '_' for '-', file stems and other names in use all find the paper's name."""
    assert datasets.get(given).name == name


@pytest.mark.parametrize("dataset", datasets.DATASETS.values(), ids=lambda dataset: dataset.name)
def test_every_spelling_finds_its_dataset(dataset):
    """The name, each alias and the file's stem find the entry that they belong to."""
    for spelling in (dataset.name, *dataset.aliases, PurePosixPath(dataset.file).stem):
        assert datasets.get(spelling) is dataset
    assert datasets.get(dataset) is dataset


def test_no_spelling_is_ambiguous():
    """No spelling belongs to two datasets."""
    spellings = Counter(each for dataset in datasets.DATASETS.values() for each in dataset.spellings)
    assert set(spellings.values()) == {1}


@pytest.mark.parametrize("name", ["MEDCOSTS", "", "nonsense", None, 7])
def test_unknown_name_is_refused_in_one_line(name):
    """A name that nothing has is refused in one line."""
    with pytest.raises(UnknownName) as caught:
        datasets.get(name)
    assert "\n" not in str(caught.value)


def test_unknown_name_tells_the_nearest():
    """A misspelt name is answered with the nearest one."""
    with pytest.raises(UnknownName, match="did you mean MEDCOST"):
        datasets.get("MEDCOSTS")


def test_import_is_light():
    """Importing the datasets imports no package for downloads, frames or progress."""
    heavy = "{'platformdirs', 'ssl', 'rich', 'pandas', 'polars', 'pyarrow'}"
    code = f"import sys, dpbench.datasets, dpbench.cli.data; print({heavy} & set(sys.modules))"
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.strip() == "set()"
