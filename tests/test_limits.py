"""The limit that no unbiased strategy is below."""

from __future__ import annotations

import math

import pytest

import dpbench as dpb
from dpbench.errors import DPBenchError, InvalidEpsilon, InvalidInput, InvalidWorkload, UnknownName, Unsupported
from dpbench.limits import limit
from dpbench.workloads import AllRange, Prefix, RandomRange, RandomSmall, Ranges

LINES = {
    # n: 2 P2 and twice the bound by singular values
    (Prefix, 64): (8.8188, 8.3242),
    (Prefix, 256): (12.7453, 12.2161),
    (Prefix, 1024): (None, 16.9314),
    (Prefix, 4096): (None, 22.4438),
    (AllRange, 64): (10.6004, 10.3723),
    (AllRange, 256): (16.8367, 16.5469),
    (AllRange, 1024): (None, 24.3929),
    (AllRange, 4096): (None, 33.8487),
    (RandomRange, 64): (11.5113, 11.4725),
    (RandomRange, 256): (17.9397, 17.9125),
    (RandomRange, 1024): (None, 25.9377),
    (RandomSmall, 64): (3.9795, 3.9617),
    (RandomSmall, 256): (7.5761, 7.5258),
    (RandomSmall, 1024): (None, 12.8161),
}
SQUARES = {
    RandomRange: (39.6952, 66.2552, 105.4570, 160.9162),
    AllRange: (32.9628, 56.1839, 91.2534, 141.7365),
    RandomSmall: (3.9468, 7.9181, 15.4634, 28.6985),
}
GAUSSIAN = {
    (1, 1e-6): 4.22468,
    (1, 1e-9): 5.49527,
    (0.1, 1e-6): 36.30469,
    (0.1, 1e-9): 50.20982,
    (0.01, 1e-6): 306.35038,
    (0.01, 1e-9): 458.50850,
}


def made(kind, domain):
    return kind(domain, queries=None) if kind in (RandomRange, RandomSmall) else kind(domain)


@pytest.mark.parametrize(("kind", "n"), LINES, ids=str)
def test_the_limits_of_the_specification_on_one_axis(kind, n):
    """To its last digit, by either method."""
    best, bound = LINES[kind, n]
    assert float(limit(made(kind, n), 1)) == pytest.approx(bound, abs=5.1e-5)
    if best is not None and (n == 64 or kind is Prefix):
        assert float(limit(made(kind, n), 1, method="dual")) == pytest.approx(best, abs=1e-4)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("workload", "method", "value"),
    [
        (AllRange(256), "dual", 16.8367),
        (RandomRange(256, queries=None), "dual", 17.9397),
        (RandomSmall(256, queries=None), "dual", 7.5761),
        (RandomRange(4096, queries=None), "svd", 35.5048),
        (RandomSmall(4096, queries=None), "svd", 19.7760),
        (Prefix(1024), "dual", 17.4694),
        (AllRange(1024), "dual", 24.7116),
        (RandomRange(1024, queries=None), "dual", 25.9714),
        (RandomSmall(1024, queries=None), "dual", 12.9019),
    ],
    ids=str,
)
def test_the_limits_of_the_specification_on_long_axes(workload, method, value):
    """The same where it takes longer."""
    assert float(limit(workload, 1, method=method)) == pytest.approx(value, rel=1e-5)


@pytest.mark.parametrize("kind", SQUARES)
def test_the_limits_of_the_specification_on_squares(kind):
    """Sides 32, 64, 128 and 256, to the last digit."""
    for side, value in zip((32, 64, 128, 256), SQUARES[kind], strict=True):
        assert float(limit(made(kind, (side, side)), 1, method="dual")) == pytest.approx(value, rel=2e-6, abs=5.1e-5)


@pytest.mark.parametrize(("side", "value"), [(32, 36.725), pytest.param(64, 51.583, marks=pytest.mark.slow)])
def test_a_list_has_a_limit_of_its_own(side, value):
    """The 2000 boxes of seed 0, whose rank is at most 2000."""
    assert float(limit(RandomRange((side, side)), 1)) == pytest.approx(value, rel=2e-5)


@pytest.mark.slow
@pytest.mark.parametrize(("side", "value"), [(128, 60.300), (256, 64.969)])
def test_a_list_over_many_cells_has_a_limit_of_its_own(side, value):
    """The same; at 256 a few cells are in no box, and leaving them out gives 64.973."""
    assert float(limit(RandomRange((side, side)), 1)) == pytest.approx(value, rel=1e-4)


def test_a_limit_is_a_number_that_speaks():
    """It compares with numbers, and says what it bounds and what it does not."""
    found = dpb.limit(Prefix(256), 1.0)
    hb = dpb.algorithms.get("Hb").expected_error(Prefix(256), 1.0)
    assert (0 < found < hb) is True
    assert (found >= hb) is False
    assert found == float(found) == dpb.limit(Prefix(256), epsilon=1)
    assert found != "12"
    assert hash(found) == hash(float(found))
    assert found < dpb.limit(Prefix(256), 1.0, method="dual") < found.unit * 2.2
    assert str(found) == (
        "12.2161: at epsilon 1 no unbiased strategy with Laplace noise has a smaller expected squared error per query; "
        "biased and data-dependent algorithms may, by as much as structure in the data is worth"
    )
    assert "epsilon 1 and delta 1e-09 no unbiased strategy with Gaussian noise" in str(
        dpb.limit(Prefix(256), 1.0, delta=1e-9)
    )


def test_limits_scale_with_the_noise():
    """1 / epsilon^2 under Laplace noise, sigma^2 under Gaussian noise."""
    pure = limit(Prefix(64), 1)
    assert float(limit(Prefix(64), 0.1)) == pytest.approx(100 * float(pure))
    assert float(limit(Prefix(64), 1, delta=1e-6)) == pytest.approx(17.8479 * pure.unit, rel=1e-5)


def test_the_certificate_of_the_dual_bound():
    """The optimum lies between the bound and what a strategy attains; singular values say nothing from above."""
    found = limit(Prefix(64), 1, method="dual")
    assert found.unit <= found.attained <= 1.000001 * found.unit
    assert limit(Prefix(64), 1).attained == math.inf


def test_the_bound_for_any_noise_is_about_half():
    """P2 / (2 sinh(epsilon / 2))^2: half the limit of Laplace noise at small epsilon, less at large."""
    assert limit(Prefix(64), 1e-3).any_noise == pytest.approx(0.5 * float(limit(Prefix(64), 1e-3)), rel=1e-6)
    assert limit(Prefix(64), 5).any_noise < 0.1 * float(limit(Prefix(64), 5))
    with pytest.raises(Unsupported, match="holds for delta 0, and delta is 1e-06"):
        _ = limit(Prefix(64), 1, delta=1e-6).any_noise


def test_the_limit_of_a_rho():
    """P2 / (2 rho), in words; noise of any kind is bounded by P2 / (e^(2 rho) - 1), which it meets at small rho."""
    found = limit(Prefix(64), rho=0.25)
    assert float(found) == pytest.approx(2 * found.unit)
    assert str(found).startswith(
        f"{float(found):.6g}: at rho 0.25 no unbiased strategy with Gaussian noise has a smaller"
    )
    assert found.any_noise == pytest.approx(found.unit / math.expm1(0.5))
    assert limit(Prefix(64), rho=1e-4).any_noise == pytest.approx(float(limit(Prefix(64), rho=1e-4)), rel=2e-4)
    assert float(dpb.algorithms.get("GaussianOptimal").expected_error(Prefix(64), rho=0.25)) > found


@pytest.mark.parametrize(
    ("budget", "words"),
    [
        ({}, "epsilon"),
        ({"epsilon": 1, "rho": 1}, "rho was given together with epsilon or delta"),
        ({"rho": 0}, "rho"),
        ({"rho": "x"}, "rho"),
    ],
    ids=str,
)
def test_a_budget_of_the_wrong_notion_is_refused(budget, words):
    """In one line."""
    with pytest.raises(DPBenchError, match=words) as refusal:
        limit(Prefix(4), **budget)
    assert "\n" not in str(refusal.value)


@pytest.mark.parametrize("epsilon", [0, -1, math.nan, math.inf, "1", None, True, [1]])
def test_a_bad_epsilon_is_refused(epsilon):
    """As everywhere."""
    with pytest.raises(InvalidEpsilon):
        limit(Prefix(4), epsilon)


@pytest.mark.parametrize("delta", [-1e-9, 1, 2, math.nan, "0", None, True])
def test_a_bad_delta_is_refused(delta):
    """In one line."""
    with pytest.raises(InvalidInput, match=r"^delta is .*; give 0, or a number below 1 such as 1e-9$"):
        limit(Prefix(4), 1, delta=delta)


def test_other_bad_input_is_refused():
    """An unknown method, a workload that weighs nothing."""
    with pytest.raises(UnknownName, match="no method named 'sdv'; did you mean svd"):
        limit(Prefix(4), 1, method="sdv")
    with pytest.raises(InvalidWorkload, match="every query of .* has weight 0"):
        limit(Ranges(4, [0], [1], [0]), 1)
    with pytest.raises(TypeError):
        limit(Prefix(4), 1, 1e-9)
    assert issubclass(InvalidWorkload, DPBenchError)


@pytest.mark.parametrize("method", ["svd", "dual"])
@pytest.mark.parametrize("size", [2.0**-330, 2.0**-200, 2.0**200, 2.0**332])
def test_weights_far_from_1_scale_the_limit_by_their_square(size, method):
    """Neither an overflow nor a limit of 0, though fourth powers of such weights are not within floats."""
    near = limit(Ranges(4, [0, 1, 2], [4, 2, 3], [1, -0.5, 0]), 1, method=method)
    far = limit(Ranges(4, [0, 1, 2], [4, 2, 3], [size, -0.5 * size, 0]), 1, method=method)
    assert far.value == near.value * size**2
    assert far.attained == near.attained * size**2


@pytest.mark.parametrize("method", ["svd", "dual"])
def test_a_weight_that_is_nothing_beside_another_changes_no_limit(method):
    """The query of the least weight beside that of the largest."""
    alone = limit(Ranges(4, [0], [4], [1e100]), 1, method=method)
    both = limit(Ranges(4, [0, 1], [4, 2], [1e100, 1e-100]), 1, method=method)
    assert both.value == pytest.approx(alone.value / 2, rel=1e-9)  # the mean is over two queries


@pytest.mark.parametrize(("size", "epsilon"), [(1e100, 1e-100), (1e-100, 1e100)])
def test_a_limit_beyond_floats_is_refused(size, epsilon):
    """Neither infinity nor 0 is a limit."""
    with pytest.raises(InvalidInput, match="^the error is too large or too small for floats; give weights"):
        limit(Ranges(4, [0], [4], [size]), epsilon)
