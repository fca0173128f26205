"""A newcomer against a study whose errors are chosen, so that what has to be said is known."""

from dataclasses import dataclass
from functools import partial

import numpy as np
import pytest

from dpbench.algorithms.hb import Hb
from dpbench.algorithms.identity import Identity
from dpbench.errors import AlgorithmFailed, InvalidInput
from dpbench.paper.comparison import against, ratio_interval
from dpbench.paper.exact_ratios import exact_ratios, expected_errors
from dpbench.results import Results
from dpbench.standards import Standards
from dpbench.workloads import Prefix
from store.rows import make

LEVEL = {"Identity": 2.0, "Uniform": 8.0, "Hb": 1.0}


def rows(algorithm, level, datasets="abc", scales=(100, 1000), seed=0, **more):
    """Errors with 2 % of noise around a level that may depend on dataset and scale."""
    rng = np.random.default_rng([seed, *algorithm.encode()])
    error = level if callable(level) else lambda data, scale: level
    return [
        make(
            algorithm=algorithm,
            dataset=data,
            scale=scale,
            sample=sample,
            l2=(error(data, scale) * rng.normal(1, 0.02, 6)).tolist(),
            **more,
        )
        for data in datasets
        for scale in scales
        for sample in range(2)
    ]


def study(**more):
    """Three algorithms of the catalogue on three datasets and two scales."""
    return [row for name, level in LEVEL.items() for row in rows(name, level, **more)]


def mixed(data, scale):
    """Better than Hb at the small scale, worse at the large one, and worst on c."""
    return (0.5 if scale == 100 else 2.0) * (2.0 if data == "c" else 1.0)


def test_directions_are_told_apart():
    """Half as large at one scale, twice at the other: better in two, worse in three, equal to Hb in one setting."""
    found = against(Results._from_rows(study()), Results._from_rows(rows("Mine", mixed)))
    rival = found.rivals["Hb"]
    assert (rival.settings, rival.better, rival.worse) == (6, 2, 3)
    assert found.different["Hb"] == 5
    assert found.rivals["Uniform"].worse == 0


def test_the_ratio_is_a_geometric_mean_with_an_interval_over_datasets():
    """As computed by hand from the mean error of every setting."""
    from scipy.stats import t

    ours, theirs = Results._from_rows(rows("Mine", mixed)), Results._from_rows(study())
    logs = {
        (one.dataset, one.scale): np.log(one.values.mean() / other.values.mean())
        for one, other in zip(ours, theirs.where(algorithm="Identity"), strict=True)
    }
    by_dataset = [np.mean([value for (name, _), value in logs.items() if name == data]) for data in "abc"]
    reach = t.ppf(0.975, 2) * np.std(by_dataset, ddof=1) / np.sqrt(3)
    rival = against(theirs, ours).rivals["Identity"]
    assert rival.ratio == pytest.approx(np.exp(np.mean(list(logs.values()))))
    assert (rival.low, rival.high) == pytest.approx(
        (np.exp(np.mean(by_dataset) - reach), np.exp(np.mean(by_dataset) + reach))
    )


def test_intervals_hold_the_truth_as_often_as_they_claim():
    """Ten datasets with unequal numbers of settings: 95 % of 2000 intervals, 4 standard errors allowed."""
    rng = np.random.default_rng(3)
    datasets = np.repeat(np.arange(10), [1, 2, 2, 2, 3, 3, 2, 2, 1, 2])
    held = 0
    for _ in range(2000):
        logs = rng.normal(0, 0.5, 10)[datasets] + rng.normal(0, 0.2, len(datasets))
        low, _, high = ratio_interval(logs, datasets)
        held += low <= 1 <= high
    assert held / 2000 == pytest.approx(0.95, abs=0.02)


def test_one_dataset_has_no_interval():
    """Nothing is known over datasets; a ratio of 0 has no interval either."""
    low, ratio, high = ratio_interval(np.log([2.0, 2.0]), np.array(["a", "a"]))
    assert (np.isnan(low), ratio, np.isnan(high)) == (True, pytest.approx(2.0), True)
    assert ratio_interval(np.array([-np.inf, 0.0]), np.array(["a", "b"]))[1] == 0


def test_only_settings_of_both_count():
    """A rival with one dataset is compared there, and ranked nowhere."""
    few = rows("AGrid", 1.0, datasets="a")
    found = against(Results._from_rows([*study(), *few]), Results._from_rows(rows("Mine", 0.5)))
    assert {name: each.settings for name, each in found.rivals.items()} == {
        "AGrid": 2,
        "Hb": 6,
        "Identity": 6,
        "Uniform": 6,
    }
    assert found.different["AGrid"] == found.rivals["AGrid"].better == 2
    assert "AGrid" not in found.regrets
    assert found.family == "among n = 4 to 5 algorithms; unpaired t-test, level 0.05/(n - 1)"


def test_parameters_and_forms_stay_apart():
    """Two settings of one algorithm are two rivals, under labels that tell them apart."""
    other = rows("Hb", 4.0, parameters='{"root": false}')
    public = rows("Hb", 3.0, side_information="public")
    found = against(Results._from_rows([*study(), *other, *public]), Results._from_rows(rows("Mine", 2.0)))
    ratios = {name: found.rivals[name].ratio for name in ("Hb", "Hb(root=false)", "Hb [public scale]")}
    assert ratios == pytest.approx({"Hb": 2.0, "Hb(root=false)": 0.5, "Hb [public scale]": 2 / 3}, rel=0.02)
    assert set(found.regrets) == {"Hb(root=false)", "Hb", "Hb [public scale]", "Identity", "Uniform", "Mine"}


def test_failures_are_told_and_left_out():
    """Some: the others are compared. All: one line with the cause."""
    broken = [make(algorithm="Mine", dataset="a", scale=scale, failure="it broke") for scale in (100, 1000)]
    found = against(Results._from_rows(study()), Results._from_rows([*rows("Mine", 0.5, datasets="bc"), *broken]))
    assert (found.settings, found.competitive, found.failures) == (4, 4, {"it broke": 2})
    assert "in 4 of 4 settings" in found.sentence
    assert "failed in 2 of 6" in found.sentence
    assert found.regret == 1.0
    with pytest.raises(InvalidInput, match="Mine failed in every setting: it broke"):
        against(Results._from_rows(study()), Results._from_rows(broken))


def test_an_older_version_of_the_newcomer_is_no_rival():
    """Results that the study has under its label are not compared with it."""
    found = against(Results._from_rows([*study(), *rows("Mine", 9.0, seed=1)]), Results._from_rows(rows("Mine", 0.5)))
    assert "Mine" not in found.rivals
    assert found.regret == 1.0


def test_the_sentence_says_what_is_meant():
    """Baselines by name, and of how many pairs; few pairs are named."""
    base = Results._from_rows(study())
    poor, good = (against(base, Results._from_rows(rows("Mine", level))).sentence for level in (3.0, 0.5))
    assert poor.endswith(
        "; by mean over datasets it fails to beat at least one of the two baselines (Identity, Uniform) in 2 of 2 "
        "(domain, scale) pairs: 64 at 100, 64 at 1,000."
    )
    assert good.endswith("it beats the two baselines (Identity, Uniform) in all 2 (domain, scale) pairs.")
    assert "by mean scaled L2 error (among 4 algorithms; unpaired t-test, level 0.05/3)" in good
    without = base.where(algorithm="Hb")
    assert "baseline" not in against(without, Results._from_rows(rows("Mine", 3.0))).sentence


def test_several_epsilons_stay_apart():
    """Ratios to baselines are those of one epsilon each."""
    both = [*study(), *study(epsilon=1.0)]
    ours = [*rows("Mine", 1.0), *rows("Mine", 4.0, epsilon=1.0)]
    found = against(Results._from_rows(both), Results._from_rows(ours))
    ratios = {(row.epsilon, row.scale): row.over["Identity"] for row in found.rows}
    assert ratios == pytest.approx({(0.1, 100): 0.5, (0.1, 1000): 0.5, (1.0, 100): 2, (1.0, 1000): 2}, rel=0.02)
    assert found.several == ("epsilon",)
    assert "2 of 4 (domain, epsilon, scale) tuples: 64 at 100, epsilon 1.0, " in found.sentence


class TestExactRatios:
    def test_the_root_of_the_ratio_of_expected_squared_errors(self):
        """Between data-independent algorithms, by domain; parameters count."""
        both = [*study(), *rows("Hb", 1.0, parameters='{"root": true}'), *rows("DAWA", 1.0)]
        results = Results._from_rows([*both, *study(domain="16")])
        workloads = {("Prefix", str(size)): Prefix(size) for size in (16, 64)}
        found = exact_ratios(partial(expected_errors, Hb()), results, workloads)
        assert found["Hb"] == {"16": 1.0, "64": 1.0}
        for size in (16, 64):
            squared = Hb().expected_error(Prefix(size), 0.1) / Identity().expected_error(Prefix(size), 0.1)
            assert found["Identity"][str(size)] == pytest.approx(squared**0.5)
        assert set(found) == {"Hb", "Hb(root=true)", "Identity"}
        comparison = against(results, Results._from_rows(rows("Mine", 1.0)), found)
        assert comparison.rivals["Identity"].exact == found["Identity"]
        assert comparison.rivals["Uniform"].exact == {}

    def test_a_failing_expected_error_is_told_in_one_line(self):
        """Of whoever wrote it, with its cause."""

        @dataclass(frozen=True, kw_only=True)
        class Mine(Hb):
            name = "Mine"

            def expected_error(self, workload, epsilon):
                raise ZeroDivisionError("no\ncells")

        with pytest.raises(AlgorithmFailed, match="expected_error of Mine failed on 64: ZeroDivisionError: no cells"):
            exact_ratios(partial(expected_errors, Mine()), Results._from_rows(study()), {("Prefix", "64"): Prefix(64)})

    def test_there_is_none_by_another_loss_or_on_other_workloads(self):
        """Expected errors are squared, and of the workloads that are given."""
        results = Results._from_rows(study())
        assert exact_ratios(partial(expected_errors, Hb()), results, {}) == {}
        other = Results(results.columns, results.errors, standards=Standards(loss="L1"))
        assert exact_ratios(partial(expected_errors, Hb()), other, {("Prefix", "64"): Prefix(64)}) == {}
