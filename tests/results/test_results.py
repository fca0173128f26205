import json
from contextlib import suppress
from dataclasses import replace

import numpy as np
import pytest

from dpbench.errors import DPBenchError, InvalidStore, UnknownName
from dpbench.paper.study import shipped_file
from dpbench.results import Results, export_csv
from dpbench.standards import Standards
from dpbench.store import Store
from store.rows import make

LEDGER = json.dumps({"epsilon": "1/10", "charges": [{"kind": "laplace", "amount": "1/20", "times": 2}]})


def small():
    """Two algorithms on two data vectors of two datasets."""
    return [
        make(algorithm=name, dataset=data, sample=sample, l2=[0.1 + sample, 0.7, 0.2], ledger=LEDGER)
        for name in ("Hb", "Identity")
        for data in ("a", "b")
        for sample in (0, 1)
    ]


def test_a_setting_holds_the_errors_of_all_its_data_vectors():
    """One record for each setting, errors as samples x trials."""
    results = Results._from_rows(small())
    assert len(results) == 4
    setting = results[0]
    assert (setting.algorithm, setting.dataset, setting.failed, setting.accounted) == ("Hb", "a", 0, True)
    assert setting.errors.tolist() == [[0.1, 0.7, 0.2], [1.1, 0.7, 0.2]]
    assert not setting.ragged


def test_the_order_of_rows_leaves_no_trace():
    """Settings are sorted as exports are, and samples stand by their number."""
    one, other = Results._from_rows(small()), Results._from_rows(small()[::-1])
    assert np.array_equal(one.errors, other.errors)
    for name, column in one.columns.items():
        np.testing.assert_array_equal(column, other.columns[name], err_msg=name)


def test_missing_trials_are_told():
    """A data vector with fewer trials, or none, makes the setting ragged; nothing is filled in."""
    results = Results._from_rows([make(sample=0, trials=3), make(sample=2, trials=2)])
    assert results[0].trials.tolist() == [3, 0, 2]
    assert results[0].ragged
    assert len(results[0].values) == 5


def test_a_trial_that_two_runs_hold_counts_once():
    """Rows that overlap give each trial one place, and further trials of a sample follow."""
    rows = [make(trials=2), make(trials=3, run="again"), make(first_trial=3, trials=2)]
    assert Results._from_rows(rows)[0].values.tolist() == [0.5, 1.5, 2.5, 3.5, 4.5]


def test_a_failed_setting_is_a_record_with_its_cause():
    """Failures stay visible, with how many units failed; a repaired unit is no failure."""
    results = Results._from_rows([make(failure="it broke"), make(algorithm="Hb"), make(algorithm="Hb", failure="then")])
    broken, repaired = results.where(algorithm="Identity")[0], results.where(algorithm="Hb")[0]
    assert (broken.failure, broken.failed, broken.values.tolist()) == ("it broke", 1, [])
    assert (repaired.failure, repaired.failed) == ("", 0)
    assert results.whole.tolist() == [True, False]


def test_bias_is_corrected_for_the_number_of_trials():
    """Over t trials the mean of the answers carries variance / t, which is no bias."""
    (setting,) = Results._from_rows(
        [make(squared_bias=5.0, variance=6.0), make(sample=1, squared_bias=3.0, variance=0.0)]
    )
    assert setting.squared_bias == pytest.approx((3.0 + 3.0) / 2)
    assert setting.variance == pytest.approx(3.0)


def test_a_single_trial_knows_no_variance():
    """One trial on each data vector tells neither bias nor variance."""
    (setting,) = Results._from_rows([make(trials=1, squared_bias=5.0)])
    assert np.isnan(setting.squared_bias)
    assert np.isnan(setting.variance)


def test_the_number_of_queries_is_what_the_rows_say():
    """A failed unit does not know it; the others of its setting do."""
    (setting,) = Results._from_rows([make(queries=37), make(sample=1, failure="it broke")])
    assert setting.queries == 37


@pytest.mark.parametrize(
    ("workload", "domain", "queries"),
    [
        ("Prefix", "64", 64),
        ("RandomRange(queries=2000)", "8x8", 2000),
        ("RandomRange(queries=30, seed=4)", "8x8", 30),
        ("AllRange", "3", 6),
        ("Ranges(file=mine.csv)", "64", 0),
        ("Prefix", "8x8", 0),
        ("Mine(a=b)", "64", 0),
        ("Prefix(", "64", 0),
    ],
)
def test_an_older_store_names_workloads_and_does_not_count_their_queries(workload, domain, queries):
    """The label tells, where it builds a workload without any file; 0 stands for unknown."""
    assert Results._from_rows([make(workload=workload, domain=domain)])[0].queries == queries


def test_a_ledger_that_does_not_add_up_is_told():
    """A setting is accounted for where the charges of every unit are epsilon exactly."""
    short = json.dumps({"epsilon": "1/10", "charges": [{"kind": "laplace", "amount": "1/20", "times": 1}]})
    results = Results._from_rows([make(ledger=LEDGER), make(sample=1, ledger=short)])
    assert not results[0].accounted


def test_where_selects_by_any_column():
    """One value or several, domains in any spelling; an unknown column is refused."""
    results = Results._from_rows([*small(), make(domain="8x8", dataset="a")])
    assert len(results.where(dimensions=2)) == 1
    assert len(results.where(domain=(8, 8))) == 1
    assert len(results.where(domain=64, dataset=["a", "b"], algorithm="Hb")) == 2
    assert len(results.where(dataset="no such")) == 0
    with pytest.raises(UnknownName, match="scale"):
        results.where(scales=3)


def test_settings_stand_in_a_grid_of_places_and_algorithms():
    """Every algorithm has a column, every place a row; a gap is a gap."""
    results = Results._from_rows(small()[:-2])
    grid = results.grid
    assert [place.dataset for place in grid.places] == ["a", "b"]
    assert grid.labels == ("Hb", "Identity")
    assert (grid.index >= 0).tolist() == [[True, True], [True, False]]
    assert grid.spread(results.columns["scale"]).tolist()[0] == [1000.0, 1000.0]


def test_a_summary_comes_back_as_it_was(tmp_path):
    """Errors of trials to 7 digits, other measurements to 4, and where they come from, survive the file."""
    rows = [*small(), make(algorithm="Slow", failure="too slow"), make(algorithm="One", trials=1)]
    results = Results._from_rows(rows).described(command="dpbench run small")
    results.write(tmp_path / "summary.parquet")
    again = Results.open(tmp_path / "summary.parquet")
    np.testing.assert_allclose(again.errors, results.errors, rtol=1e-7)
    assert again.metadata == results.metadata
    assert again.standards == results.standards
    assert again.losses.keys() == results.losses.keys() == {"L1", "Linf"}
    for label, errors in results.losses.items():
        np.testing.assert_allclose(again.losses[label], errors, rtol=1e-7)
    for name, column in results.columns.items():
        if column.dtype.kind == "f":
            np.testing.assert_allclose(again.columns[name], column, rtol=2**-13)
        else:
            assert again.columns[name].tolist() == column.tolist()


def test_a_summary_keeps_standards_and_other_losses(tmp_path):
    """Errors under whatever label, NaN where a setting has none; one loss alone where only that is asked for."""
    rows = [make(other_losses={"relative:floor=0.1": [1.0, 2.0, 3.0], "errors": [4.0, 5.0, 6.0]}), make(algorithm="Hb")]
    standards = Standards(loss="L1", percentile=80, baselines=("Hb",), alpha=0.01, test="paired")
    results = Results._from_rows(rows).read_by(standards)
    path = tmp_path / "summary.parquet"
    results.write(path)
    again = Results.read(path)
    assert again.standards == standards
    assert again.losses.keys() == {"L2", "Linf", "relative:floor=0.1", "errors"}
    for label, errors in results.losses.items():
        assert np.array_equal(again.losses[label], errors, equal_nan=True)
    assert np.isnan(again.losses["errors"][0]).all()
    assert Results.open(path, loss="errors", percentile=50).errors[1].tolist() == [[4.0, 5.0, 6.0]]
    results.write(path, losses=False)
    assert Results.read(path).losses == {}
    assert np.array_equal(Results.read(path).errors, results.losses["L2"])


def test_summaries_of_the_former_format_are_read():
    """The shipped study: one loss, and the paper's standards."""
    results = Results.read(shipped_file("private"))
    assert (results.standards, results.losses) == (Standards(), {})
    assert np.isfinite(results.columns["l1_mean"]).all()
    lacking = np.full(len(results), np.nan)
    former = replace(results, columns={**results.columns, "l1_sd": lacking})
    with pytest.raises(UnknownName, match="by the loss L2 and not by 'L1', nor its mean"):
        former.read_by(Standards(loss="L1"))


def test_a_store_and_its_rows_give_the_same_results(tmp_path):
    """Results.open takes a store as well, and knows its runs."""
    store = Store(tmp_path / "store", create=True)
    store.record_run("run", {"plan": "small", "tasks": [{"generator": {"seed": 0}}]})
    store.append(small(), "run")
    results = Results.open(tmp_path / "store")
    assert np.array_equal(results.errors, Results._from_rows(small()).errors)
    assert results.metadata["origin"]["seeds"] == [0]


def test_other_files_are_refused(tmp_path):
    """A file that is no summary is reported in one line."""
    (tmp_path / "x.parquet").write_bytes(b"no")
    with pytest.raises(InvalidStore, match="not a Parquet file"):
        Results.read(tmp_path / "x.parquet")
    with pytest.raises(InvalidStore, match="no store"):
        Results.open(tmp_path / "nowhere")


def test_a_newcomer_joins_a_study():
    """Settings of both, whatever their numbers of trials; the first one's where both have one."""
    study, new = Results._from_rows(small()), Results._from_rows([make(algorithm="Mine", trials=5), *small()[:2]])
    both = study.joined(new)
    assert len(both) == 5
    assert both.errors.shape == (5, 2, 5)
    assert both.where(algorithm="Mine")[0].values.tolist() == [0.5, 1.5, 2.5, 3.5, 4.5]


def test_joined_results_tell_where_both_come_from():
    """Each fact once, the first one's facts first."""
    one = Results._from_rows(small()[:1]).described(origin={"runs": ["a"], "seeds": [0]})
    other = Results._from_rows(small()[2:3]).described(origin={"runs": ["b"], "seeds": [0], "plans": ["p"]})
    assert one.joined(other).metadata == {"origin": {"runs": ["a", "b"], "seeds": [0], "plans": ["p"]}}


def test_the_csv_file_has_one_row_a_setting(tmp_path):
    """Settings with measures and provenance; what is not known is empty."""
    import csv

    assert export_csv(Results._from_rows([*small(), make(algorithm="Bad", failure="broke")]), tmp_path / "x.csv") == 5
    rows = list(csv.DictReader((tmp_path / "x.csv").read_text().splitlines()))
    assert [row["mean"] for row in rows if row["algorithm"] == "Bad"] == [""]
    assert [row["failure"] for row in rows if row["algorithm"] == "Bad"] == ["broke"]
    assert float(rows[0]["mean"]) == pytest.approx(0.5)
    assert rows[0]["trials"] == "6"
    assert (rows[0]["loss"], rows[0]["percentile_level"]) == ("L2", "95")


def test_an_empty_store_gives_no_results(tmp_path):
    """Nothing stored is nothing found, and no error."""
    results = Results.from_store(Store(tmp_path / "store", create=True))
    assert len(results) == 0
    assert results.grid.places == ()


def test_results_show_themselves():
    """One line in a shell; in a notebook the mean over datasets by algorithm and scale, names as text."""
    results = Results._from_rows([*small(), make(algorithm="<b>", l2=[0.5, 0.5, 0.5])])
    assert repr(results) == "<Results: 5 settings: 3 algorithms, 3 datasets, 1 domain, 1 scale, 1 epsilon>"
    told = results._repr_html_()
    assert "5 settings" in told
    assert "mean scaled L2 error" in told
    assert "<td>Hb</td><td>5.00e-01</td>" in told
    assert "<td>&lt;b&gt;</td><td>5.00e-01</td>" in told


def test_interpreted_tables_show_themselves():
    """Lists of records and competitive sets are tables in a notebook; long lists are cut and say so."""
    from dpbench.interpreting import competitive_sets, error_cells, regret
    from dpbench.results.display import ROWS, Records

    results = Results._from_rows(small())
    cells = error_cells(results)
    assert f"<td>{cells[0].mean:.4g}</td>" in cells._repr_html_()
    assert "<td>scale 1000</td>" in regret(results, by=["scale"])._repr_html_()
    assert "<td>Hb</td><td>2</td>" in competitive_sets(results)._repr_html_()
    many = Records(cells * ROWS)
    assert f"and {len(many) - ROWS} more" in many._repr_html_()
    assert Records()._repr_html_().count("<td>") == 0


class TestLosses:
    """Errors by several losses, one of which the results are read by."""

    def test_every_loss_of_every_trial_is_there(self):
        """Those of every row, and others by label; NaN where a trial was not measured by one."""
        rows = [
            make(l1=[1.0, 2.0, 3.0], linf=[4.0, 5.0, 6.0], other_losses={"relative": [7.0, 8.0, 9.0]}),
            make(sample=1, first_trial=1, trials=1, l1=[0.1], linf=[0.2]),
        ]
        results = Results._from_rows(rows)
        assert set(results.losses) == {"L1", "Linf", "relative"}
        nan = np.nan
        expected = {
            "L1": [[1, 2, 3], [nan, 0.1, nan]],
            "Linf": [[4, 5, 6], [nan, 0.2, nan]],
            "relative": [[7, 8, 9], [nan, nan, nan]],
        }
        for label, errors in expected.items():
            np.testing.assert_array_equal(results.losses[label][0], np.array(errors, dtype=float))

    def test_another_loss_takes_the_place_of_the_present_one(self):
        """Whatever its spelling; what is measured follows, and nothing is lost."""
        results = Results._from_rows([make(other_losses={"relative:floor=0.1": [7.0, 8.0, 9.0]})])
        relative = results.read_by(Standards(loss="relative:floor=1e-1", percentile=50))
        assert relative.standards.loss == "relative:floor=0.1"
        assert relative.errors.tolist() == [[[7.0, 8.0, 9.0]]]
        assert (relative.measured.mean.tolist(), relative.measured.percentile.tolist()) == ([8.0], [8.0])
        assert set(relative.losses) == {"L2", "L1", "Linf"}
        back = relative.read_by(Standards())
        assert np.array_equal(back.errors, results.errors)

    def test_a_loss_that_is_not_there_is_refused(self):
        """With those that are."""
        with pytest.raises(UnknownName, match="by the loss L2, L1, Linf and not by 'relative'"):
            Results._from_rows([make()]).read_by(Standards(loss="relative"))

    def test_joined_results_are_read_by_one_loss(self):
        """That of the first; losses that only one of them has are not kept."""
        one = Results._from_rows([make(l1=[1.0, 2.0, 3.0], other_losses={"relative": [7.0, 8.0, 9.0]})])
        other = Results._from_rows([make(algorithm="Hb", l1=[4.0, 5.0, 6.0])])
        both = one.read_by(Standards(loss="L1")).joined(other)
        assert both.errors[:, 0].tolist() == [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]
        assert set(both.losses) == {"L2", "Linf"}


def test_other_losses_are_summed_up_in_every_setting():
    """Mean and 95th percentile of L1 and L-infinity, over all trials of all data vectors."""
    rows = [
        make(sample=0, l1=[1.0, 2.0, 3.0], linf=[4.0, 5.0, 6.0]),
        make(sample=1, l1=[4.0, 5.0, 6.0], linf=[7.0, 8.0, 9.0]),
    ]
    (found,) = Results._from_rows(rows)
    assert (found.l1_mean, found.linf_mean) == (3.5, 6.5)
    assert found.l1_p95 == pytest.approx(np.percentile([1, 2, 3, 4, 5, 6], 95))
    assert found.linf_p95 == pytest.approx(np.percentile([4, 5, 6, 7, 8, 9], 95))


@pytest.mark.parametrize("gap", [False, True])
def test_some_settings_have_the_measurements_that_were_made_of_all(gap):
    """What was measured of all settings goes with those that are taken, and is what is measured of them afresh."""
    rng = np.random.default_rng(0)
    rows = [make(algorithm=name, dataset=data, l2=rng.random(9).tolist()) for name in ("Hb", "H") for data in "abcd"]
    rows += [make(algorithm="H", dataset="e", l2=[0.5, 0.25])] if gap else []
    whole = Results._from_rows(rows)
    _ = whole.measured.percentile, whole.measured.deviation, whole.labels
    chosen = np.array([5, 0, 7, len(whole) - 1])
    taken, afresh = whole.take(chosen), Results._from_rows(rows).take(chosen)
    assert "measured" in vars(taken)
    assert "measured" not in vars(afresh)
    made = ("samples", "trials", "mean", "deviation", "percentile", "standard_error", "deviation_error", "ordered")
    for name in made:
        np.testing.assert_array_equal(getattr(taken.measured, name), getattr(afresh.measured, name), err_msg=name)
    assert taken.labels.tolist() == afresh.labels.tolist()
    for name in whole.columns:
        np.testing.assert_array_equal(taken.columns[name], whole.columns[name][chosen], err_msg=name)


@pytest.mark.parametrize("each", [499, pytest.param(1, marks=pytest.mark.slow)])
def test_a_damaged_summary_is_read_or_refused_in_one_line(each, tmp_path):
    """A summary has no hash, so that a flipped bit of a number is not noticed; of anything else it is no traceback."""
    path = tmp_path / "small.parquet"
    Results._from_rows([make(), make(sample=1), make(algorithm="Hb")]).write(path)
    whole = path.read_bytes()
    for bit in range(0, 8 * len(whole), each):
        place = bit // 8
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 1 << bit % 8]) + whole[place + 1 :])
        with suppress(DPBenchError):
            read = Results.open(path)
            assert len(read.measured.mean) == len(read.whole) == len(read.labels)
