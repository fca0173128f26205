"""Our exact samplers beside OpenDP's: two independent programs for one law."""

from fractions import Fraction

import numpy as np
import pytest

from dpbench.privacy.exact_noise import ExactNoise

DRAWS = 20_000
SCALES = [Fraction(1, 2), Fraction(7, 2), Fraction(40)]


@pytest.fixture(scope="module")
def opendp():
    dp = pytest.importorskip("opendp.prelude", reason="opendp is not installed")
    dp.enable_features("contrib")
    return dp


def same_law(ours, theirs):
    """A chi-squared test of two samples; false alarms once in 100,000 each (OpenDP takes no seed)."""
    from scipy.stats import chi2_contingency

    edges = np.unique(np.quantile(np.concatenate([ours, theirs]), np.linspace(0, 1, 30)))
    counts = [np.histogram(each, bins=np.concatenate([[-np.inf], edges, [np.inf]]))[0] for each in (ours, theirs)]
    table = np.array(counts)
    return chi2_contingency(table[:, table.sum(axis=0) >= 20]).pvalue > 1e-5


@pytest.mark.parametrize("scale", SCALES, ids=str)
def test_discrete_laplace_is_that_of_opendp(scale, opendp):
    """The same law, and the same loss for one record."""
    space = opendp.vector_domain(opendp.atom_domain(T="i64")), opendp.l1_distance(T="i64")
    measurement = opendp.m.make_laplace(*space, scale=float(scale))
    assert measurement.map(1) == pytest.approx(float(1 / scale))
    assert same_law(ExactNoise().discrete_laplace(scale, DRAWS), np.array(measurement([0] * DRAWS)))


@pytest.mark.parametrize("deviation", SCALES, ids=str)
def test_discrete_gaussian_is_that_of_opendp(deviation, opendp):
    """The same law, and the same rho for one record."""
    space = opendp.vector_domain(opendp.atom_domain(T="i64")), opendp.l2_distance(T="i64")
    measurement = opendp.m.make_gaussian(*space, scale=float(deviation))
    assert measurement.map(1) == pytest.approx(float(1 / (2 * deviation**2)))
    assert same_law(ExactNoise().discrete_gaussian(deviation**2, DRAWS), np.array(measurement([0] * DRAWS)))


def test_the_comparison_can_fail(opendp):
    """A tenth more noise is noticed."""
    assert not same_law(ExactNoise().discrete_laplace(5, DRAWS), ExactNoise().discrete_laplace(Fraction(11, 2), DRAWS))


def test_a_release_by_the_noise_of_opendp(opendp, tmp_path):
    """The same steps with another sampler, which the certificate names; the laws agree."""
    import json

    from dpbench.privacy.opendp_noise import OpenDPNoise, root_above, rounded_up
    from dpbench.release import publish, verify
    from release.office import office

    assert same_law(
        ExactNoise().discrete_laplace(Fraction(10, 3), DRAWS), OpenDPNoise().discrete_laplace(Fraction(10, 3), DRAWS)
    )
    assert same_law(ExactNoise().discrete_gaussian(Fraction(7), DRAWS), OpenDPNoise().discrete_gaussian(7, DRAWS))
    assert Fraction(rounded_up(Fraction(1, 3))) >= Fraction(1, 3)
    assert Fraction(root_above(Fraction(2))) ** 2 >= 2
    (tmp_path / "people.budget.toml").write_text('dataset = "people"\nepsilon = "1"\ndelta = "1e-6"\n')
    for more, kind in [("", "Laplace"), ("\ndelta = 1e-9", "Gaussian")]:
        folder = publish(office(tmp_path, algorithm="HDMM", more=f'sampler = "opendp"{more}')).folder
        assert not any(fault for _, fault in verify(folder))
        call = json.loads((folder / "certificate.json").read_text())["calls"][0]
        assert call["sampler"] == f"discrete {kind} of OpenDP, its scale rounded up to a float"
