import pytest

from dpbench.repair.tuning_findings import rounds_ratios, tuning_spreads
from store.rows import make


def settings(algorithm, parameters, errors):
    return [
        make(algorithm=algorithm, parameters=parameters, dataset=dataset, scale=scale, l2=[error, error])
        for (dataset, scale), error in errors.items()
    ]


def test_only_parameters_that_are_the_best_somewhere_count():
    """c is nowhere the best, so its error on A does not count, however large."""
    rows = [
        *settings("X", '{"p": "a"}', {("A", 10): 1.0, ("B", 10): 4.0}),
        *settings("X", '{"p": "b"}', {("A", 10): 3.0, ("B", 10): 2.0}),
        *settings("X", '{"p": "c"}', {("A", 10): 9.0, ("B", 10): 9.0}),
    ]
    (spread,) = tuning_spreads(rows, "A", 10)
    assert (spread.ratio, spread.best, spread.worst) == (3.0, '{"p": "a"}', '{"p": "b"}')
    assert (spread.tried, spread.optimal_somewhere, spread.scenarios) == (3, 2, 2)


def test_both_averages_of_the_ratio_are_given():
    """Ratios 2 and 4 have the mean 3; means 5 and 2 have another ratio."""
    rows = [
        *settings("MWEM", "{}", {("A", 10): 2.0, ("B", 10): 8.0}),
        *settings("MWEM*", "{}", {("A", 10): 1.0, ("B", 10): 2.0}),
    ]
    (ratio,) = rounds_ratios(rows)
    assert (ratio.mean_of_ratios, ratio.datasets) == (3.0, 2)
    assert ratio.ratio_of_means == pytest.approx(10 / 3)


def test_a_store_without_them_decides_nothing():
    """No parameters, no pair: nothing."""
    rows = settings("Hb", "{}", {("A", 10): 1.0})
    assert tuning_spreads(rows, "A", 10) == []
    assert rounds_ratios(rows) == []
