"""Algorithms under zCDP and (epsilon, delta): expected errors, Monte Carlo, ledgers."""

import numpy as np
import pytest

import dpbench as dpb
from dpbench.errors import Unsupported
from dpbench.privacy import PureDP
from dpbench.privacy.conversion import gaussian_sigma, zcdp_rho
from dpbench.workloads import Prefix, RandomRange

UNIT = {
    ("Privelet", 256): 9.5176,
    ("Privelet", 1024): 13.4498,
    ("Privelet", 4096): 18.0571,
    ("H", 256): 9.6239,
    ("H", 1024): 13.5878,
    ("H", 4096): 18.2226,
    ("Hb", 256): 20.1176,
    ("Hb", 1024): 41.3939,
    ("Hb", 4096): 37.0714,
    ("HbW", 256): 8.8614,
    ("HbW", 1024): 12.6230,
    ("HbW", 4096): 17.0563,
    ("SquareRoot", 256): 7.12240,
    ("SquareRoot", 1024): 9.67079,
    ("SquareRoot", 4096): 12.61168,
    ("GaussianOptimal", 256): 6.372668,
}
"""Expected squared error per query of prefixes at rho = 1/2, where noise is as large as the L2 sensitivity."""
ONE_MEASUREMENT = ["Identity", "Privelet", "H", "Hb", "GreedyH", "HbW", "HDMM", "SquareRoot", "GaussianOptimal"]
BOTH = [name for name in dpb.algorithms.names("zCDP") if name not in {*ONE_MEASUREMENT, "QuadTree"}]


@pytest.mark.parametrize(("name", "n"), UNIT)
def test_expected_errors_are_those_of_the_table(name, n):
    """To four digits, as the literature and independent computations have them."""
    found = dpb.algorithms.get(name).expected_error(Prefix(n), rho=0.5)
    assert found == pytest.approx(UNIT[name, n], rel=5e-5)


@pytest.mark.parametrize("name", [*ONE_MEASUREMENT, "QuadTree"])
def test_monte_carlo_agrees_with_the_expected_error(name):
    """Within 4 standard errors of 1,500 runs, seed fixed: a false alarm has probability 6e-5 each."""
    algorithm = dpb.algorithms.get(name)
    workload = RandomRange("16x16", queries=60, seed=1) if name == "QuadTree" else Prefix(64)
    x = np.arange(workload.domain.size).reshape(workload.domain.shape)
    expected = algorithm.expected_error(workload, 1.0, delta=1e-6)
    estimate = algorithm.run(x, workload, 1.0, 1500, 7, delta=1e-6)
    squares = ((workload.answer(estimate) - workload.answer(x)) ** 2).mean(axis=1)
    assert abs(squares.mean() - expected) < 4 * squares.std() / np.sqrt(len(squares))


@pytest.mark.parametrize("name", ONE_MEASUREMENT)
def test_one_measurement_is_calibrated_by_the_exact_formula(name):
    """The ledger states epsilon and delta, the noise, and the rho that it implies; the noise is the formula's."""
    ledger = dpb.algorithms.get(name).outcome(np.arange(64), Prefix(64), 1.0, seed=0, delta=1e-9).ledger
    (charge,) = ledger.charges
    assert str(ledger).startswith("epsilon 1, delta 1e-09 (one Gaussian measurement, exactly; rho 0.0165574)")
    sigma = float(gaussian_sigma(1, 1e-9)) * float(charge.sensitivity)
    assert charge.noise == f"Gaussian noise of standard deviation {sigma:g}"


@pytest.mark.parametrize("name", BOTH)
def test_others_get_the_largest_rho_within_epsilon_and_delta(name):
    """By the tight conversion, and they spend all of it."""
    algorithm = dpb.algorithms.get(name)
    workload = Prefix(64) if algorithm.supports("64") else RandomRange("8x8", queries=30)
    x = np.arange(64).reshape(workload.domain.shape)
    ledger = algorithm.outcome(x, workload, 1.0, seed=0, delta=1e-9).ledger
    assert ledger.budget == zcdp_rho(1, 1e-9) == ledger.spent + ledger.forfeited
    assert ledger.notion.stated == (1, ledger.notion.stated[1])


@pytest.mark.parametrize("name", dpb.algorithms.names())
def test_pure_algorithms_refuse_what_they_do_not_have(name):
    """One line that says what to give; published forms have Laplace noise alone."""
    algorithm = dpb.algorithms.get(name)
    workload = Prefix(16) if algorithm.supports("16") else RandomRange("4x4", queries=9)
    x = np.ones(workload.domain.shape, dtype=int)
    if "zCDP" not in algorithm.notions:
        with pytest.raises(Unsupported, match=r"no zCDP differential privacy; give epsilon alone"):
            algorithm.run(x, workload, 1.0, delta=1e-6)
    with pytest.raises(Unsupported, match="published form"):
        dpb.algorithms.get(name, variant="published").run(x, workload, rho=0.1)


def test_what_needs_gaussian_noise_says_so():
    """SquareRoot and GaussianOptimal have no pure form."""
    for name in ("SquareRoot", "GaussianOptimal"):
        assert name not in dpb.algorithms.names()
        with pytest.raises(Unsupported, match="give a delta beside epsilon, or rho"):
            dpb.algorithms.get(name).run(np.arange(8), Prefix(8), 1.0)


def test_a_delta_of_nothing_is_pure():
    """``delta=0.0`` is how a caller says so in numbers."""
    hb = dpb.algorithms.get("Hb")
    assert hb.notion(0.5, 0.0) == hb.notion(0.5) == PureDP(0.5)
    assert hb.expected_error(Prefix(64), 1.0, delta=0.0) == hb.expected_error(Prefix(64), 1.0)
