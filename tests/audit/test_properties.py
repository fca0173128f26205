from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest

from dpbench import Algorithm, algorithms
from dpbench.audit.properties import measured_catalogue, measured_properties
from dpbench.paper.reported import measured_properties as shipped_properties
from dpbench.paper.reported import numbers


@dataclass(frozen=True, kw_only=True)
class Fixed(Algorithm):
    """Noise of Identity and one record more in every cell: neither consistent nor exchangeable."""

    name: ClassVar[str] = "Fixed"
    dimensions: ClassVar[tuple[int, ...] | None] = (1,)
    more: float = 1.0

    def estimate(self, data, workload):
        return type(algorithms.get("Identity"))().estimate(data, workload) + self.more


def test_identity_has_both_properties():
    """Exact at large epsilon, and exchangeable draw for draw, as the paper says."""
    found = measured_properties(type(algorithms.get("Identity")))
    assert (found.consistent, found.exchangeable) == (True, "draw for draw")


@pytest.mark.parametrize("name", ["Uniform", "MWEM", "PHP"])
def test_inconsistent_algorithms_keep_their_bias(name):
    """The paper's counterexamples leave an error at any epsilon."""
    found = measured_properties(type(algorithms.get(name)))
    assert not found.consistent
    assert found.remaining > 1
    assert found.exchangeable == "draw for draw"


def test_a_strangers_algorithm_is_measured_like_ours():
    """A constant that does not scale is found by both measurements, and the paper has no word on it."""
    found = measured_properties(Fixed, more=20.0)
    assert not found.consistent
    assert found.remaining >= 20
    assert found.exchangeable == "no"


def test_a_difference_of_draws_alone_is_no_difference_in_distribution():
    """An offset that no distribution shows leaves the algorithm exchangeable in distribution."""
    found = measured_properties(Fixed, more=1e-6)
    assert found.exchangeable == "in distribution"
    assert found.p_value > 1e-6


def test_the_paper_speaks_of_algorithms_that_exist():
    """Table 1 has the catalogue's names, all but HybridTree and those that came after the paper."""
    later = {"HDMM", "HbW", "TopDown", "Cascade", "PrivTree", "MWEM-D"}
    assert set(algorithms.names()) - set(numbers()["table1"]) == {"HybridTree", *later}
    assert set(numbers()["table1"]) <= set(algorithms.names())


def test_what_cannot_run_is_a_failure_with_its_cause():
    """An algorithm that returns nonsense is told, not measured."""

    @dataclass(frozen=True, kw_only=True)
    class Broken(Fixed):
        name: ClassVar[str] = "Broken"

        def estimate(self, data, workload):
            return np.zeros(3)

    found = measured_properties(Broken)
    assert "shape" in found.failure
    assert not found.consistent


@pytest.mark.parametrize(("name", "variant"), [("Uniform", "private"), ("GreedyH", "published")])
def test_the_shipped_properties_are_what_is_measured(name, variant):
    """Table 1 of ``dpbench paper`` reads a file; the file is what the code does."""
    found = measured_properties(type(algorithms.get(name)), variant)
    assert shipped_properties()[name, variant] == _told(found)


@pytest.mark.slow
def test_all_shipped_properties_are_what_is_measured():
    """The same for every algorithm and form."""
    measured = {(each.algorithm, each.variant): _told(each) for each in measured_catalogue()}
    assert shipped_properties() == measured


def _told(found):
    return "yes" if found.consistent else "no", "no" if found.exchangeable == "no" else "yes"


@pytest.mark.parametrize("name", ["Privelet", "Uniform"])
def test_properties_under_zcdp_are_those_of_pure_noise(name):
    """At the rho of equal noise: consistency is the same, and Gaussian noise scales as Laplace noise does."""
    kind = type(algorithms.get(name))
    pure, other = measured_properties(kind), measured_properties(kind, notion="zCDP")
    assert (pure.notion, other.notion, other.failure) == ("pure", "zCDP", "")
    assert (other.consistent, other.exchangeable) == (pure.consistent, pure.exchangeable)
