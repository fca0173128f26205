"""Errors over the limit."""

import pytest

from dpbench.interpreting import above_limits
from dpbench.measuring.yardstick import Yardstick
from dpbench.standards import Standards
from page.study import results


@pytest.fixture(scope="module")
def study():
    return results(
        algorithms=("Identity", "Hb"), datasets=("bimodal",), domains=("256", "32x32"), variants=("private",)
    )


def test_errors_stand_over_the_limit_at_every_scale(study):
    """Mean error over sqrt(limit / q) / scale."""
    groups = {place.group for place in study.grid.places}
    known = {group: Yardstick(4.0, "Laplace", 16.0, "HDMM") for group in groups if group.domain == "256"}
    found = above_limits(study, known)
    assert {(each.domain, each.algorithm, each.scale) for each in found} == {
        ("256", name, scale) for name in ("Identity", "Hb") for scale in (1000, 100_000)
    }
    for each in found:
        assert each.limit == pytest.approx((4 / 256) ** 0.5 / each.scale)
        assert each.over_limit == pytest.approx(each.mean / each.limit)
        assert each.over_best == pytest.approx(each.over_limit / 2)


def test_another_loss_has_no_limit(study):
    """The limit is on squared errors."""
    other = study.__class__(study.columns, study.errors, standards=Standards(loss="L1"))
    known = {place.group: Yardstick(4.0, "Laplace", 16.0, "HDMM") for place in other.grid.places}
    assert above_limits(other, known) == []
