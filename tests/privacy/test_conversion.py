"""zCDP to (epsilon, delta), and Gaussian noise exactly, against computations of another kind."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise
from math import exp, log, sqrt

import numpy as np
import pytest
from scipy import integrate, optimize, special, stats

from dpbench.errors import InvalidEpsilon, InvalidInput
from dpbench.privacy.conversion import gaussian_delta, gaussian_sigma, zcdp_delta, zcdp_epsilon, zcdp_rho

TABLE = [
    # epsilon, delta, exact sigma, its square times epsilon^2, sigma through zCDP, through rho + 2 sqrt(rho ln 1/delta)
    (1, 1e-6, 4.22468, 17.8479, 4.53088, 5.3500),
    (1, 1e-9, 5.49527, 30.1980, 5.77869, 6.5146),
    (0.1, 1e-6, 36.30469, 13.1803, 39.46392, 52.6602),
    (0.1, 1e-9, 50.20982, 25.2103, 53.12863, 64.4566),
    (0.01, 1e-6, 306.35038, 9.3851, 338.68259, 525.7473),
    (0.01, 1e-9, 458.50850, 21.0230, 488.48133, 643.8675),
]
GRID = [(epsilon, delta) for epsilon in (1e-6, 1e-3, 1.0, 10.0, 100.0) for delta in (1e-300, 1e-30, 1e-9, 0.01, 0.5)]


@pytest.mark.parametrize(("epsilon", "delta", "exact", "squared", "through_zcdp", "loose"), TABLE)
def test_the_table_of_calibrations(epsilon, delta, exact, squared, through_zcdp, loose):
    """Noise for sensitivity 1: exact, through the tight conversion, and through the loose one, to all digits given."""
    sigma = float(gaussian_sigma(epsilon, delta))
    assert sigma == pytest.approx(exact, abs=6e-6)
    assert (sigma * epsilon) ** 2 == pytest.approx(squared, abs=6e-5)
    assert sqrt(1 / (2 * zcdp_rho(epsilon, delta))) == pytest.approx(through_zcdp, abs=6e-6)
    rho = (sqrt(log(1 / delta) + epsilon) - sqrt(log(1 / delta))) ** 2
    assert sqrt(1 / (2 * rho)) == pytest.approx(loose, abs=6e-5)


def hockey_stick(sigma, epsilon):
    """The integral of max(0, p - e^epsilon q) for two Gaussians a distance of 1 apart, by quadrature."""

    def excess(x):
        return stats.norm.pdf(x, 1, sigma) - exp(epsilon) * stats.norm.pdf(x, 0, sigma)

    # p exceeds e^epsilon q beyond this point
    begin = epsilon * sigma**2 + 0.5
    pieces = [begin, *(begin + sigma * np.array([1, 3, 8, 40]))]
    return sum(integrate.quad(excess, a, b, epsabs=0, epsrel=1e-11)[0] for a, b in pairwise(pieces))


@pytest.mark.parametrize(
    ("sigma", "epsilon"), [(0.3, 2.0), (1.0, 0.5), (1.0, 3.0), (4.22468, 1.0), (20.0, 0.1), (0.5, 10.0), (7.0, 0.001)]
)
def test_the_delta_of_gaussian_noise_is_the_hockey_stick_divergence(sigma, epsilon):
    """The closed form and the integral agree; 1e-8 is the quadrature's."""
    assert gaussian_delta(sigma, epsilon) == pytest.approx(hockey_stick(sigma, epsilon), rel=1e-8)


@pytest.mark.parametrize(("epsilon", "delta"), GRID)
def test_sigma_is_the_least_that_keeps_the_promise(epsilon, delta):
    """At sigma the promise holds, and a part of 1e-10 below it does not; the delta is that of a formula by erfcx."""
    sigma = gaussian_sigma(epsilon, delta)
    assert gaussian_delta(sigma, epsilon) <= delta
    if delta > 1e-300:  # the least delta that is reported
        assert gaussian_delta(sigma * (1 - Fraction(1, 10**10)), epsilon) > delta
    # delta = phi(near) (M(near) - M(far)), M the Mills ratio: it does not underflow, but its difference cancels;
    # near^2 / 2 feels the twelfth digit of sigma at up to 2e-9
    s = float(sigma)
    near, far = epsilon * s - 1 / (2 * s), epsilon * s + 1 / (2 * s)
    difference = special.erfcx(near / sqrt(2)) - special.erfcx(far / sqrt(2))
    lost = special.erfcx(near / sqrt(2)) / difference * 1e-14
    assert -(near**2) / 2 + log(difference / 2) == pytest.approx(log(delta), abs=lost + 1e-8)


@pytest.mark.parametrize(
    ("rho", "epsilon"),
    [(1e-4, 0.05), (1e-4, 0.4), (0.01, 0.01), (0.01, 1.0), (1.0, 0.01), (1.0, 20.0), (20.0, 30.0), (20.0, 100.0)],
)
def test_the_conversion_is_the_best_bound_over_orders(rho, epsilon):
    """By brute force: E max(0, 1 - e^(epsilon - L)) <= c E e^((a - 1)(L - epsilon)), c = max_y (1 - e^-y) e^-((a-1) y).

    The last expectation is at most e^((a - 1)(a rho - epsilon)). The maximum over y and the minimum over a are both
    searched for numerically; 1e-6 is what the search may be off by.
    """

    def log_bound(log_t):
        t = exp(log_t)
        y = optimize.minimize_scalar(
            lambda log_y: -(log(-np.expm1(-exp(log_y))) - t * exp(log_y)), bounds=(-25, 5), method="bounded"
        )
        return t * ((1 + t) * rho - epsilon) - y.fun

    grid = np.linspace(-12, 12, 97)
    start = grid[np.argmin([log_bound(place) for place in grid])]
    found = optimize.minimize_scalar(
        log_bound, bounds=(start - 0.3, start + 0.3), method="bounded", options={"xatol": 1e-7}
    ).fun
    assert log(zcdp_delta(rho, epsilon)) == pytest.approx(min(found, 0), abs=1e-6)


@pytest.mark.parametrize(("epsilon", "delta"), GRID)
def test_rho_epsilon_and_delta_belong_together(epsilon, delta):
    """The largest rho keeps (epsilon, delta), and a part of 1e-10 above it does not; epsilon comes back."""
    rho = zcdp_rho(epsilon, delta)
    assert zcdp_delta(rho, epsilon) <= delta
    assert 0 <= epsilon - zcdp_epsilon(rho, delta) <= 1e-9 * max(epsilon, 1)
    more = rho * (1 + Fraction(1, 10**10))
    assert zcdp_epsilon(more, delta) > Fraction(repr(epsilon))
    if delta > 1e-300:
        assert zcdp_delta(more, epsilon) > delta


@pytest.mark.parametrize(("epsilon", "delta"), GRID)
def test_gaussian_noise_is_better_than_its_rho_says(epsilon, delta):
    """The exact formula never asks for more noise than the detour through rho."""
    assert gaussian_sigma(epsilon, delta) ** 2 <= 1 / (2 * zcdp_rho(epsilon, delta))


def test_results_are_exact_fractions_of_twelve_digits():
    """Rounded towards the weaker promise: rho and sigma are decimals, and the next ones would promise too much."""
    rho, sigma = zcdp_rho(1, 1e-6), gaussian_sigma(1, 1e-6)
    assert (rho, sigma) == (Fraction("0.0243559703595"), Fraction("4.22467888933"))
    assert zcdp_delta(rho + Fraction(1, 10**13), 1) > 1e-6 >= zcdp_delta(rho, 1)
    assert gaussian_delta(sigma - Fraction(1, 10**11), 1) > 1e-6 >= gaussian_delta(sigma, 1)


def test_promises_beyond_the_range_are_the_weaker_ones():
    """A delta below 1e-300 is reported as 1e-300; no delta is above 1; a large delta needs no epsilon."""
    assert zcdp_delta(1e-12, 100) == gaussian_delta(1e9, 1) == 1e-300
    assert zcdp_delta(1e6, 1e-6) == gaussian_delta(1e-9, 1) == 1.0
    assert zcdp_epsilon(1e-12, 0.5) == 0


@pytest.mark.parametrize("bad", [0, 0.0, -1e-9, 1, 1.5, 0.6, 1e-301, float("nan"), "1e-9", None, True])
def test_a_bad_delta_is_refused_in_one_line(bad):
    """Zero, one, text, not a number: one line that quotes what was given."""
    for ask in (lambda: zcdp_rho(1, bad), lambda: zcdp_epsilon(1, bad), lambda: gaussian_sigma(1, bad)):
        with pytest.raises(InvalidInput) as caught:
            ask()
        assert f"delta is {bad!r}" in str(caught.value)
        assert "\n" not in str(caught.value)


@pytest.mark.parametrize("bad", [0, -1, 1e-10, 1001, float("inf"), "1", None, True])
def test_a_bad_epsilon_is_refused_in_one_line(bad):
    """Whatever is not a number from 1e-9 to 1000."""
    for ask in (lambda: zcdp_rho(bad, 1e-9), lambda: zcdp_delta(1, bad), lambda: gaussian_delta(1, bad)):
        with pytest.raises(InvalidEpsilon) as caught:
            ask()
        assert f"epsilon is {bad!r}" in str(caught.value)


@pytest.mark.parametrize("bad", [0, -1, float("inf"), "1", None, True])
def test_a_bad_rho_or_sigma_is_refused_in_one_line(bad):
    """Whatever is not a positive finite number."""
    with pytest.raises(InvalidEpsilon, match="rho is"):
        zcdp_delta(bad, 1)
    with pytest.raises(InvalidInput, match="sigma is"):
        gaussian_delta(bad, 1)
