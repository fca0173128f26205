"""A slice of a study that is run again gives the same errors."""

import json
from dataclasses import replace

import numpy as np
import pytest

from dpbench import algorithms
from dpbench.cli import main
from dpbench.domain import Domain
from dpbench.paper import Study
from dpbench.paper.rerun import compare_rerun, same_errors
from dpbench.paper.study import FILES, shipped_file
from dpbench.results import Results
from dpbench.run.identity import IDENTITY, algorithm_version
from dpbench.store.schema import ERRORS
from paper.synthetic import flat, rows

SMALL = {"names": {1: ("Identity", "Hb", "MWEM")}, "dimensions": (1,), "scales": (1000,), "datasets": ("MEDCOST",)}
QUICK = 1024
"""Cells up to which a setting is quick for every algorithm."""
SHIPPED = [name for name in ("published", "private", "gaussian") if shipped_file(name).is_file()]


def test_same_errors_are_told_from_others():
    """Equal to 32 bits is the same; one trial off, or a setting of another study, is not."""
    before = rows(flat, **SMALL)
    nudged = replace(before[0], l2=[value * (1 + 1e-12) for value in before[0].l2])
    changed = replace(before[1], l2=[*before[1].l2[:-1], 1.0])
    strange = replace(before[2], dataset="ADULT")
    found = compare_rerun(Study.of(Results._from_rows(before)), Results._from_rows([nudged, changed, strange]))
    assert (found.same, len(found.different), found.absent) == (1, 1, 1)
    assert found.different[0].startswith("Hb")
    assert str(found).startswith("1 settings give the errors of the study bit for bit, 1 do not; 1 are not in it")


def test_a_number_at_the_border_of_two_of_32_bits_may_round_to_either():
    """Another processor's last bit is no difference; one of 32 bits anywhere else is."""
    kept = np.array([1.0, 3e-5], dtype=np.float32)
    up = np.nextafter(kept, np.float32(1e9), dtype=np.float32)
    border = (kept.astype(np.float64) + up) / 2
    for again in (kept, border * (1 - 1e-12), border * (1 + 1e-12)):
        assert same_errors(kept, again.astype(np.float64))
        assert np.array_equal(again, kept) or same_errors(up, again)
    assert not same_errors(kept, up.astype(np.float64))
    assert not same_errors(kept, border * (1 + 1e-8))
    assert not same_errors(kept, np.array([1.0, np.nan]))


def test_another_revision_is_not_compared_and_is_named(tmp_path, monkeypatch, capsys):
    """A revision differs on purpose; the same difference of an unchanged algorithm is a failure."""
    before = rows(flat, **SMALL)
    study = Study.of(Results._from_rows(before))
    different = [replace(row, l2=[value * 2 for value in row.l2]) for row in before]
    raised = [replace(row, algorithm_source="Hb-r2") if row.algorithm == "Hb" else row for row in different]
    found = compare_rerun(study, Results._from_rows(raised))
    assert (found.same, sorted(each.split()[0] for each in found.different)) == (0, ["Identity", "MWEM"])
    ((why, settings),) = found.skipped
    assert why.startswith("Hb [published] is Hb-r2, in the study ")
    assert settings == 1
    monkeypatch.setattr("dpbench.paper.Study.shipped", lambda: study)
    Results._from_rows([each for each in raised if each.algorithm == "Hb"]).write(tmp_path / "again.parquet")
    assert main(["paper", "--same", str(tmp_path / "again.parquet")]) == 1  # nothing was compared
    assert "1 settings were not compared: Hb [published] is Hb-r2" in capsys.readouterr().out


@pytest.mark.parametrize("name", FILES)
def test_the_shipped_rows_are_of_the_revisions_that_the_code_has(name):
    """Every algorithm and variant; a raised revision asks for its rows to be run again."""
    results = Results.read(shipped_file(name))
    assert results.metadata["origin"]["identity"] == [IDENTITY]
    columns = [results.columns[each].tolist() for each in ("algorithm", "variant", "parameters", "algorithm_source")]
    for algorithm, variant, parameters, stored in sorted(set(zip(*columns, strict=True))):
        built = algorithms.get(algorithm, variant=variant, **json.loads(parameters))
        assert algorithm_version(type(built), built.files) == stored


def test_a_slice_of_the_gaussian_setting_is_compared_with_it():
    """The same errors under another delta are another setting."""
    private = rows(flat, variant="private", **SMALL)
    gaussian = [replace(row, task="gaussian-1d", delta=1e-9) for row in private]
    study = Study.of(Results._from_rows([*private, *gaussian]))
    other = replace(gaussian[2], delta=1e-6)
    found = compare_rerun(study, Results._from_rows([gaussian[0], private[1], other]))
    assert (found.same, found.different, found.absent) == (2, (), 1)


def test_more_trials_than_the_study_has_are_not_the_same():
    """Nothing can be said of trials that the study has not."""
    before = rows(flat, **SMALL)[:1]
    more = replace(before[0], **{name: [*before[0].l2, 0.5] for name in ERRORS})
    assert compare_rerun(Study.of(Results._from_rows(before)), Results._from_rows([more])).same == 0


def rerun(part, number, most_cells, seed, folder):
    """Some settings of a part of the shipped study, chosen at random and run again from the command line."""
    columns = part.results.columns
    sizes = np.array([Domain.of(each).size for each in columns["domain"].tolist()])
    chosen_from = np.flatnonzero(sizes <= most_cells)
    for chosen in np.random.default_rng(seed).choice(chosen_from, number, replace=False):
        at = part.results[int(chosen)]
        form = ["--variant", "published", "--side-information", "public"] if part.setting == "published" else []
        suite = "gaussian" if part.setting == "gaussian" else "paper"
        place = ["--dataset", at.dataset, "--domain", at.domain, "--scale", str(at.scale), "--algorithm", at.algorithm]
        assert main(["run", suite, *form, *place, "--store", str(folder), "--jobs", "0", "--quiet"]) == 0
    return folder


@pytest.mark.usefixtures("histograms")
@pytest.mark.parametrize("setting", SHIPPED)
def test_settings_chosen_at_random_give_the_shipped_errors(setting, tmp_path, capsys):
    """Small domains, so that it is quick."""
    store = rerun(getattr(Study.shipped(), setting), 8, QUICK, 20261116, tmp_path)
    capsys.readouterr()
    assert main(["paper", "--same", str(store)]) == 0
    assert capsys.readouterr().out == "8 settings give the errors of the study bit for bit, 0 do not\n"


@pytest.mark.slow
@pytest.mark.usefixtures("histograms")
@pytest.mark.parametrize("setting", SHIPPED)
def test_settings_of_any_size_give_the_shipped_errors(setting, tmp_path):
    """On all domains, large ones too."""
    found = compare_rerun(
        Study.shipped(), Results.open(rerun(getattr(Study.shipped(), setting), 40, 10**9, 7, tmp_path))
    )
    assert (found.same, found.different) == (40, ())
