from dataclasses import fields

import numpy as np
import pytest

from dpbench.errors import UnknownName
from dpbench.interpreting import baselines, bias_shares, error_cells, in_records, regret, time_spent
from dpbench.results import Results
from dpbench.standards import Standards
from store.rows import make

NAMES = ("Identity", "Uniform", "Hb", "Mine")


def study(seed=0):
    """Four algorithms, a stranger's among them, on three datasets and two scales."""
    rng = np.random.default_rng(seed)
    level = {(name, data, scale): rng.uniform(0.5, 3) for name in NAMES for data in "abc" for scale in (100, 1000)}
    return Results._from_rows(
        make(algorithm=name, dataset=data, scale=scale, sample=sample, trials=6, l2=rng.lognormal(0, 0.2, 6) * mean)
        for (name, data, scale), mean in level.items()
        for sample in range(3)
    )


def means(results, **wanted):
    """Mean error by dataset and scale of one algorithm, by a plain loop."""
    return {(each.dataset, each.scale): np.mean(each.values) for each in results.where(**wanted)}


def test_regret_agrees_with_a_slow_version():
    """The geometric mean over places of error over the lowest error there, overall and by scale."""
    results = study()
    by_name = {name: means(results, algorithm=name) for name in NAMES}
    for found in [*regret(results), *regret(results, ("scale",))]:
        wanted = dict(found.where).get("scale")
        ratios = [
            error / min(other[place] for other in by_name.values())
            for place, error in by_name[found.algorithm].items()
            if wanted in (None, place[1])
        ]
        assert found.regret == pytest.approx(np.exp(np.mean(np.log(ratios))))
        assert found.low <= found.regret <= found.high
        assert (found.settings, found.missing) == (len(ratios), 0)


def test_the_interval_of_regret_is_over_datasets():
    """Two datasets whose places agree among themselves give the ends of the interval, however many scales there are."""
    rows = [
        make(algorithm=name, dataset=data, scale=scale, l2=[error] * 3)
        for scale in (1, 2, 3, 4)
        for name, data, error in (("Best", "a", 1.0), ("Best", "b", 1.0), ("Mine", "a", 2.0), ("Mine", "b", 8.0))
    ]
    best, mine = regret(Results._from_rows(rows))
    assert (best.algorithm, best.regret, best.low, best.high) == ("Best", 1.0, 1.0, 1.0)
    assert (mine.regret, mine.low, mine.high) == pytest.approx((4.0, 2.0, 8.0))


def test_regret_says_what_is_missing():
    """Who lacks places comes last and says how many; an unknown part of a place is refused."""
    rows = [make(algorithm="A"), make(algorithm="A", dataset="b"), make(algorithm="B")]
    found = regret(Results._from_rows(rows))
    assert [(each.algorithm, each.settings, each.missing) for each in found] == [("A", 2, 0), ("B", 1, 1)]
    with pytest.raises(UnknownName):
        regret(Results._from_rows(rows), ("scales",))


def test_baselines_agree_with_a_slow_version():
    """Ratio of means over datasets, and on how many datasets scipy's test finds a difference."""
    from scipy.stats import ttest_ind

    results = study(1)
    found = baselines(results)
    assert len(found) == 2 * 2 * 3
    for each in found:
        own, base = (results.where(algorithm=name, scale=each.scale) for name in (each.algorithm, each.baseline))
        pairs = list(zip(own, base, strict=True))
        ratio = np.mean([one.values.mean() for one in own]) / np.mean([one.values.mean() for one in base])
        assert each.ratio == pytest.approx(ratio)
        assert each.beats == (ratio < 1)
        tests = [ttest_ind(one.values, two.values, equal_var=False) for one, two in pairs]
        assert each.better == sum(test.pvalue < 0.05 / 3 and test.statistic < 0 for test in tests)
        assert each.worse == sum(test.pvalue < 0.05 / 3 and test.statistic > 0 for test in tests)


def test_a_baseline_is_taken_in_the_form_of_the_algorithm():
    """A published form meets the published baseline where there is one."""
    rows = [make(algorithm=name, variant=form) for name in ("Identity", "Hb") for form in ("private", "published")]
    found = {each.algorithm: each.baseline for each in baselines(Results._from_rows(rows), ("Identity",))}
    assert found["Hb"] == "Identity"
    assert found["Hb [published]"] == "Identity [published]"


def test_errors_in_records_are_those_of_the_answers():
    """The root mean squared error of a query, from the answers themselves."""
    error = np.random.default_rng(2).normal(1.0, 4.0, (3, 50))
    row = make(
        l2=(np.linalg.norm(error, axis=1) / (1000 * 50)).tolist(),
        queries=50,
        squared_bias=float((error.mean(axis=0) ** 2).mean()),
        variance=float(error.var(axis=0, ddof=1).mean()),
    )
    (found,) = in_records(Results._from_rows([row]))
    assert found.records == pytest.approx(np.sqrt((error**2).mean(axis=1)).mean())
    assert found.percent == pytest.approx(found.records / 10)


@pytest.mark.parametrize(
    ("loss", "order", "whole"),
    [("L1", 1, lambda each: np.abs(each).mean()), ("Linf", np.inf, lambda e: np.abs(e).max())],
)
def test_errors_in_people_by_other_losses(loss, order, whole):
    """The mean absolute, or the largest, error of a query, from its scaled norm."""
    error = np.random.default_rng(8).normal(size=(3, 64)) * 5
    scaled = np.linalg.norm(error, order, axis=1) / (1000 * 64)
    results = Results._from_rows([make()])
    columns = {**results.columns, "queries": np.array([64])}
    (found,) = in_records(Results(columns, scaled.reshape(1, 1, 3), standards=Standards(loss=loss)))
    assert found.records == pytest.approx(np.mean([whole(each) for each in error]))
    assert in_records(Results(columns, scaled.reshape(1, 1, 3), standards=Standards(loss="mine"))) == []


def test_a_baseline_is_the_plain_form_or_a_label():
    """Of several parameter settings the defaults, in the form of the algorithm; a label names one of them."""
    rows = [
        make(algorithm=name, variant=variant, parameters=parameters, l2=[error] * 3)
        for name, variant, parameters, error in (
            ("Hb", "private", "{}", 2.0),
            ("Hb", "private", '{"root": false}', 4.0),
            ("Hb", "published", "{}", 8.0),
            ("Mine", "private", "{}", 1.0),
            ("Mine", "published", "{}", 1.0),
        )
    ]
    results = Results._from_rows(rows)
    ratios = {each.algorithm: each.ratio for each in baselines(results, ["Hb"])}
    assert (ratios["Mine"], ratios["Mine [published]"], ratios["Hb(root=false)"]) == (0.5, 0.125, 2.0)
    named = {each.algorithm: each.ratio for each in baselines(results.read_by(Standards(baselines=["Hb(root=false)"])))}
    assert (named["Mine"], named["Hb"]) == (0.25, 0.5)


def test_bias_is_a_share_of_the_squared_error():
    """Bias squared over bias squared plus variance, after the correction."""
    (found,) = bias_shares(Results._from_rows([make(squared_bias=5.0, variance=6.0)]))
    assert found.share == pytest.approx(3.0 / 9.0)
    assert found.bias == pytest.approx(np.sqrt(3.0))


def test_errors_are_averaged_over_datasets_and_failures_are_counted():
    """A failed dataset is left out of the mean and told."""
    rows = [make(l2=[1.0, 3.0, 2.0]), make(dataset="b", l2=[4.0, 4.0, 4.0]), make(dataset="c", failure="broke")]
    (cell,) = error_cells(Results._from_rows(rows))
    assert (cell.mean, cell.datasets, cell.failed) == (3.0, 2, 1)
    assert cell.standard_error == pytest.approx(np.std([1, 3, 2], ddof=1) / np.sqrt(3) / 2)


def test_a_strangers_algorithm_is_treated_as_any_other():
    """Renaming an algorithm changes its name in every table and no number."""
    own = study(3)
    columns = {**own.columns, "algorithm": np.where(own.columns["algorithm"] == "Hb", "Zoe", own.columns["algorithm"])}
    other = Results(columns, own.errors)

    def numbers(results, table):
        """Every number of a table by algorithm, with names made the same."""
        rows = [[getattr(row, each.name) for each in fields(row)] for row in table(results)]
        return sorted(str([("Hb" if cell == "Zoe" else cell) for cell in row]) for row in rows)

    for table in (regret, baselines, error_cells):
        assert numbers(own, table) == numbers(other, table)


def test_time_is_summed_by_algorithm_and_domain():
    """Small domains first, with its share of the whole."""
    rows = [make(seconds=3.0), make(dataset="b", seconds=1.0), make(domain="64x64", seconds=4.0)]
    found = time_spent(Results._from_rows(rows))
    assert [(each.domain, each.seconds, each.share, each.trials) for each in found] == [
        ("64", 4.0, 0.5, 6),
        ("64x64", 4.0, 0.5, 3),
    ]
