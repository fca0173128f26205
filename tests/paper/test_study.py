"""Studies: sorted into settings, packed into files, read back, exported."""

from __future__ import annotations

import csv
from dataclasses import replace

import numpy as np
import pytest

from dpbench import algorithms
from dpbench.domain import Domain
from dpbench.errors import InvalidStore
from dpbench.paper import Study, pack, verdicts
from dpbench.paper.page import page
from dpbench.paper.price import prices
from dpbench.paper.reported import authors_code, expected_errors, numbers, plotted, points
from dpbench.paper.resampling import deviations, resamples
from dpbench.paper.study import export_study, sort_settings
from dpbench.results import Results
from dpbench.standards import Standards
from dpbench.store import Store
from dpbench.store.schema import ERRORS
from dpbench.workloads import Identity, Prefix
from paper.synthetic import flat, rows

SMALL = {"names": {1: ("Identity", "Hb", "MWEM")}, "dimensions": (1,), "scales": (1000,), "datasets": ("MEDCOST",)}


COUNTS = {"published": 3, "private": 3, "gaussian": 2, "extras": 1}


def mixed():
    """The three settings, and a row of a small suite."""
    published, private = rows(flat, **SMALL), rows(flat, variant="private", **SMALL)
    gaussian = [replace(row, task="gaussian-1d", delta=1e-9) for row in private[:2]]
    extra = replace(published[0], task="truncation", parameters='{"truncate": false}')
    return [*published, *private, *gaussian, extra]


def test_a_study_is_read_by_the_papers_standards(tmp_path):
    """Whatever loss a plan asked for; a packed file holds the paper's loss alone."""
    made = Store(tmp_path / "store", create=True)
    made.record_run("run", {"tasks": [{"name": "paper-1d", "loss": "L1", "measuring": {"percentile": 50}}]})
    made.append([replace(row, l1=[9.0] * 6) for row in rows(flat, **SMALL)], "run")
    assert Results.from_store(made, baselines=()).standards.percentile == 50
    part = Study.from_stores([made.folder]).published.results
    pack([made.folder], tmp_path / "packed")
    packed = Results.read(tmp_path / "packed" / "published.parquet")
    for results in (part, packed):
        assert results.standards == Standards()
        assert (results.errors < 1).all()
    assert packed.losses == {}
    assert (packed.columns["l1_mean"] == 9).all()


def test_settings_are_sorted_by_what_they_are_for():
    """Published with a public scale, private with an estimated one, by notion; small suites apart, others nowhere."""
    odd = replace(mixed()[0], variant="private", side_information="public")
    parts = sort_settings(Results._from_rows([*mixed(), odd]))
    assert {name: len(part) for name, part in parts.items()} == COUNTS
    assert set(parts["private"].columns["delta"].tolist()) == {0.0}
    assert set(parts["gaussian"].columns["delta"].tolist()) == {1e-9}


def test_a_packed_study_reads_as_its_stores(tmp_path):
    """The summary files give the same verdicts as the store that they were packed from."""
    store = Store(tmp_path / "store", create=True)
    store.append(mixed(), "run")
    assert pack([tmp_path / "store"], tmp_path / "files") == COUNTS
    files = sorted((tmp_path / "files").iterdir())

    def told(paths):
        found = verdicts(Study.from_stores(paths), lambda group: group in {"figure 2", "finding 3"})
        return [(each.ours, each.verdict, each.why) for each in found]

    assert told(files) == told([tmp_path / "store"])


def test_the_export_has_a_row_for_each_setting(tmp_path):
    """Named columns, one row per setting, the kinds kept apart; other losses are columns, empty where not measured."""
    first, *others = mixed()
    measured = replace(first, other_losses={"relative": [0.5] * first.trials})
    study = Study.of(Results._from_rows([measured, *others]))
    assert export_study(study, tmp_path / "study.csv") == 9
    read = list(csv.DictReader((tmp_path / "study.csv").read_text().splitlines()))
    assert [row["setting"] for row in read] == ["paper"] * 3 + ["private"] * 3 + ["gaussian"] * 2 + ["extra"]
    assert list(read[0])[:12] == [
        *("setting", "dim", "dataset", "domain", "scale", "epsilon", "algorithm", "variant", "side_information"),
        *("mean", "sd", "p95"),
    ]
    assert [row["delta"] for row in read] == [""] * 6 + ["1e-09"] * 2 + [""]
    assert sorted(row["relative_mean"] for row in read) == [""] * 8 + ["0.5"]
    assert all(float(row["l1_mean"]) > 0 for row in read)
    wanted = {"dim", "dataset", "domain", "scale", "epsilon", "algorithm", "variant", "side_information", "mean", "sd"}
    assert wanted | {"p95", "trials"} <= set(read[0])


def test_the_price_of_privacy_is_private_over_published():
    """A private form with three times the error has the price 3."""
    dear = rows(lambda *at: 3 * flat(*at), variant="private", noise=0.0, **SMALL)
    study = Study.of(Results._from_rows([*rows(flat, noise=0.0, **SMALL), *dear]))
    found = prices(study, ("4096",))
    assert {each.algorithm: each.ratio for each in found} == pytest.approx({"Identity": 3, "Hb": 3, "MWEM": 3})


def test_no_results_are_told(tmp_path):
    """No store at all is one line of advice."""
    with pytest.raises(InvalidStore, match="name a store"):
        Study.from_stores([])


class TestReported:
    def test_every_value_of_the_plots_is_there(self):
        """33 + 33 means over datasets, 144 + 45 values on datasets."""
        assert [len(points(name)) for name in ("1a", "1b", "2a", "2b")] == [33, 33, 144, 45]

    def test_the_plots_differ_from_the_text_as_known(self):
        """MWEM over MWEM* is 1.31 and 1.22 in the plots, 1.799 and 1.063 in the text."""
        values = plotted("1a")
        ratios = [values["MWEM", "", scale] / values["MWEM*", "", scale] for scale in (10**3, 10**5)]
        assert ratios == pytest.approx([1.31, 1.22], abs=0.01)
        assert [numbers()["rounds"][scale] for scale in ("1000", "100000")] == [1.799, 1.063]

    def test_truncation_in_the_authors_code(self):
        """The released code is worse with its truncation on GOWALLA at 10^4."""
        key = ("DAWA", "128x128", "GOWALLA", 10**4)
        assert authors_code()[key].mean > authors_code("truncate=False")[key].mean

    @pytest.mark.parametrize("name", ["Identity", "Hb", "Privelet", "H"])
    @pytest.mark.parametrize("kind", [Prefix, Identity])
    def test_expected_errors_are_those_of_the_algorithms(self, name, kind):
        """The kept table is what the algorithms say of themselves."""
        kept = {each[:3]: each[3] for each in expected_errors()}
        workload = kind(Domain.of(4096))
        assert kept["4096", workload.name, name] == pytest.approx(algorithms.get(name).expected_error(workload, 0.1))


class TestResampling:
    def test_settings_of_one_place_share_their_data_vectors(self):
        """Errors that are the number of the data vector stay equal for two algorithms at one place."""
        made = [
            replace(row, sample=sample, **dict.fromkeys(ERRORS, [float(sample)] * 6))
            for row in rows(flat, **SMALL)
            for sample in range(5)
        ]
        again = next(resamples(Results._from_rows(made), 1, np.random.default_rng(1))).errors
        assert np.array_equal(again[0], again[1])
        assert len(np.unique(again[0])) > 1

    def test_the_order_of_settings_makes_no_difference(self):
        """A study that is packed in another order says the same."""
        results = Results._from_rows(rows(flat, noise=0.5, **SMALL))
        mixed_up = results.take(np.random.default_rng(0).permutation(len(results)))
        of_means = [deviations(each, lambda one: one.grid.spread(one.measured.mean)) for each in (results, mixed_up)]
        np.testing.assert_allclose(*of_means, rtol=1e-12)

    def test_a_count_that_cannot_change_has_no_deviation(self):
        """A constant deviates by 0, a mean of errors by more."""
        results = Results._from_rows(rows(flat, noise=0.5, **SMALL))
        assert deviations(results, lambda each: np.ones((len(each.grid.places), 1)))[0] == 0
        assert (deviations(results, lambda each: each.grid.spread(each.measured.mean)) > 0).all()


def test_the_page_of_findings_names_all_ten():
    """A row for each finding, whatever could be decided."""
    text = page(Study.of(Results._from_rows(mixed())))
    assert all(f"\n| {number} | " in text for number in range(1, 11))


def test_the_page_in_the_documentation_is_current(request):
    """docs/findings.md is what dpbench paper --page writes from the shipped study."""
    written = (request.config.rootpath / "docs" / "findings.md").read_text(encoding="utf-8")
    assert written == page(Study.shipped()), "run: dpbench paper --page docs/findings.md"
