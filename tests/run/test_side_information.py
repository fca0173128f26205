import math

import pytest

from dpbench.errors import InvalidInput
from dpbench.repair.side_prices import best_shares, side_prices
from dpbench.results import Results
from dpbench.run.execution import agenda, execute
from dpbench.run.executors.serial import Serial
from dpbench.run.side_information import SideComparison
from dpbench.store import Store


def priced(tmp_path, **options):
    comparison = SideComparison.of(
        ["UGrid"], datasets=["normal-2d"], domains=["16x16"], scales=[100, 100_000], trials=20, **options
    )
    store = Store(tmp_path / "store", create=True)
    plan = comparison.plan()
    execute(comparison.shared_noise(agenda(plan, store).missing), store, Serial(), plan=plan)
    return side_prices(Results._from_rows(store.rows()))


def test_an_estimated_scale_costs_and_a_large_share_costs_more(tmp_path):
    """At a large scale the share is lost to the counts: half of epsilon doubles the error."""
    prices = priced(tmp_path, shares=[0.05, 0.5])
    large = {price.share: price for price in prices if price.scale == 100_000}
    assert large[0.5].ratio > 1.5 > 1.2 > large[0.05].ratio > 0.8
    assert large[0.5].estimated_error / large[0.5].public_error == pytest.approx(large[0.5].ratio)  # one dataset
    assert all(0 < price.uncertainty < 0.5 for price in prices)


def test_the_best_share_is_the_one_with_the_least_mean_log_error(tmp_path):
    """Regret is 1 at the best share, and the geometric mean over scales elsewhere."""
    prices = priced(tmp_path, shares=[0.05, 0.5])
    (choice,) = best_shares(prices)
    means = {s: sum(math.log(p.ratio) for p in prices if p.share == s) / 2 for s in (0.05, 0.5)}
    assert choice.best == min(means, key=means.get)
    assert dict(choice.regret)[0.5] == pytest.approx(math.exp(means[0.5] - means[choice.best]))


def test_bad_comparisons_are_refused():
    """Who needs no scale, and a share that is none."""
    with pytest.raises(InvalidInput, match="Hb needs no scale"):
        SideComparison.of(["Hb"])
    with pytest.raises(InvalidInput, match="not between 0 and 1"):
        SideComparison.of(["UGrid"], shares=[1.0])
    with pytest.raises(InvalidInput, match="no dataset fits"):
        SideComparison.of(["UGrid"], datasets=["normal-2d"], domains=["64"]).plan()
