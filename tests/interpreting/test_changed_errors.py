"""Two results side by side."""

from dataclasses import replace

import numpy as np
import pytest

from dpbench.cli import main
from dpbench.interpreting import differences
from dpbench.paper import Study


@pytest.fixture(scope="module")
def study():
    return Study.shipped().private.results.where(algorithm=["Hb", "Identity"], domain="256", dataset="ADULT")


def test_equal_results_are_equal(study):
    """Nothing is called different."""
    for each in differences(study, study):
        assert (each.verdict, each.same, each.ratio) == ("equal", each.settings, 1.0)


def test_a_larger_error_is_found_and_its_direction_said(study):
    """Of one algorithm, by a factor of two."""
    doubled = np.where((study.columns["algorithm"] == "Hb")[:, None, None], 2.0, 1.0) * study.errors
    found = {each.algorithm: each for each in differences(study, replace(study, errors=doubled))}
    assert found["Identity"].verdict == "equal"
    assert (found["Hb"].verdict, found["Hb"].worse, found["Hb"].better) == ("differ", found["Hb"].settings, 0)
    assert found["Hb"].ratio == pytest.approx(2.0)


def test_a_change_within_chance_is_no_difference(study):
    """Errors in another order among data vectors have the same mean."""
    moved = replace(study, errors=study.errors[:, ::-1, ::-1])
    assert {each.verdict for each in differences(study, moved)} == {"changed"}


def test_settings_that_one_lacks_are_counted(study):
    """On the side that has them."""
    found = {each.algorithm: each for each in differences(study, study.where(algorithm="Hb"))}
    assert found["Identity"].verdict == "only in one"
    assert (found["Identity"].only_first, found["Identity"].only_second) == (6, 0)


def test_the_command_says_what_changed(study, tmp_path, capsys):
    """Exit code 0 for equal results, 1 where anything differs."""
    study.write(tmp_path / "a.parquet")
    replace(study, errors=study.errors * 1.5).write(tmp_path / "b.parquet")
    assert main(["store", "diff", str(tmp_path / "a.parquet"), str(tmp_path / "a.parquet")]) == 0
    assert "differ" not in capsys.readouterr().out.replace("different", "")
    assert main(["store", "diff", str(tmp_path / "a.parquet"), str(tmp_path / "b.parquet")]) == 1
    assert "differ" in capsys.readouterr().out
