from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import pytest

import dpbench as dpb
from dpbench.errors import (
    AlgorithmFailed,
    DPBenchError,
    InvalidDomain,
    InvalidEpsilon,
    InvalidInput,
    UnknownName,
    Unsupported,
)
from dpbench.mathematics.cells import Cells

X = np.arange(8)
PREFIX = dpb.workloads.Prefix(8)


@dataclass(frozen=True, kw_only=True)
class OneByOne(dpb.Algorithm):
    """Identity, written for a single trial."""

    name = "OneByOne"
    data_dependent = False

    def estimate_once(self, data, workload):
        return data.laplace(Cells(data.domain), data.epsilon, "cells")


@dataclass(frozen=True, kw_only=True)
class Scaled(dpb.Algorithm):
    """Spreads the scale that it is told."""

    name = "Scaled"
    side_information = ("scale",)

    def estimate(self, data, workload):
        noisy = data.laplace(Cells(data.domain), data.epsilon, "cells")
        return np.broadcast_to((data.scale / data.domain.size)[:, None], noisy.shape) + 0 * noisy


def test_the_contract_of_the_readme():
    """generate, get, run and scaled_error fit together as documented."""
    shape = dpb.datasets.shapes.get("normal", 4096)
    x = dpb.generate(shape, scale=100_000, domain=1024, seed=0)
    workload = dpb.workloads.Prefix(1024)
    estimate = dpb.algorithms.get("Hb").run(x, workload, epsilon=0.1, trials=50, seed=0)
    errors = dpb.loss.scaled_error(workload, x, estimate)
    assert (x.dtype, x.sum(), estimate.shape, estimate.dtype) == (np.int64, 100_000, (50, 1024), np.float64)
    assert errors.shape == (50,)
    assert workload.answer(estimate).shape == (50, 1024)


def test_a_single_trial_method_is_enough():
    """An algorithm that implements one trial gives the same bits as one that implements the batch."""
    batch = dpb.algorithms.get("Identity").run(X, PREFIX, 0.1, trials=4, seed=0)
    assert np.array_equal(OneByOne().run(X, PREFIX, 0.1, trials=4, seed=0), batch)


@pytest.mark.parametrize("bad", [0, -1, float("nan"), float("inf"), "0.1", None])
def test_bad_epsilon(bad):
    """A bad epsilon is refused in one line by run, explain and expected_error."""
    identity = dpb.algorithms.get("Identity")
    for call in (
        lambda: identity.run(X, PREFIX, epsilon=bad, seed=0),
        lambda: identity.explain(8, PREFIX, epsilon=bad),
        lambda: identity.expected_error(PREFIX, epsilon=bad),
    ):
        with pytest.raises(InvalidEpsilon):
            call()


@pytest.mark.parametrize("bad", [0, -3, 1.5, "10", True])
def test_bad_trials(bad):
    """The number of trials is a whole positive number."""
    with pytest.raises(InvalidInput, match="trials is"):
        dpb.algorithms.get("Identity").run(X, PREFIX, 0.1, trials=bad, seed=0)


def test_counts_and_workload_must_share_a_domain():
    """A workload over another domain is refused with both domains named."""
    with pytest.raises(InvalidDomain, match="shape 8 .* over 16"):
        dpb.algorithms.get("Identity").run(X, dpb.workloads.Prefix(16), 0.1, seed=0)


def test_an_unsupported_dimension_is_told():
    """A 1-D algorithm on a 2-D domain says which dimensions it runs on."""
    with pytest.raises(Unsupported, match="H runs on 1-D domains; 2x4 has 2 axes"):
        dpb.algorithms.get("H").run(X.reshape(2, 4), dpb.workloads.Identity((2, 4)), 0.1, seed=0)
    with pytest.raises(Unsupported, match="GreedyH runs on 1-D or 2-D domains"):
        dpb.algorithms.get("GreedyH").run(X.reshape(2, 2, 2), dpb.workloads.Identity((2, 2, 2)), 0.1, seed=0)


def test_unknown_names_come_with_the_nearest():
    """A misspelt algorithm, variant, step or parameter is refused with what exists."""
    with pytest.raises(UnknownName, match="did you mean Privelet"):
        dpb.algorithms.get("Privlet")
    with pytest.raises(UnknownName, match="published"):
        dpb.algorithms.get("Hb", variant="publish")
    with pytest.raises(UnknownName, match="non-negative"):
        dpb.algorithms.get("Hb").run(X, PREFIX, 0.1, postprocess=["nonnegative"], seed=0)
    with pytest.raises(InvalidInput, match="Hb has no parameter 'rooot'; its parameters: root"):
        dpb.algorithms.get("Hb", rooot=True)
    with pytest.raises(UnknownName, match="estimated"):
        dpb.algorithms.get("Hb").run(X, PREFIX, 0.1, side_information="estimate", seed=0)


def test_names_are_found_whatever_their_case():
    """greedyh is GreedyH."""
    assert dpb.algorithms.get("greedyh").name == "GreedyH"


def test_parameters_out_of_range_are_quoted():
    """A bad parameter is refused with its value and the range wanted."""
    for name, parameters in (
        ("H", {"branching": 1}),
        ("GreedyH", {"steps": 0}),
        ("GreedyH", {"branching": 0}),
        ("Privelet", {"small_identity": -1}),
    ):
        with pytest.raises(InvalidInput, match=f"{next(iter(parameters))} is .*at least"):
            dpb.algorithms.get(name, **parameters)


def test_variants_are_accepted_by_every_name():
    """Every algorithm has a published form; where nothing differs it is the private one."""
    for name in dpb.algorithms.names():
        published = dpb.algorithms.get(name, variant="published")
        assert published.variant == "published"
        domain = dpb.Domain((32,) if published.supports(dpb.Domain((32,))) else (4, 8))
        workload = dpb.workloads.RandomRange(domain, queries=20)
        assert published.run(np.arange(32).reshape(domain.shape), workload, 0.1, seed=0).shape == (1, *domain.shape)
    assert dpb.algorithms.get("Hb", variant="published").root is True
    assert dpb.algorithms.get("Hb").root is False
    assert dpb.algorithms.get("GreedyH", variant="published", truncate=False).truncate is False


def test_explain_shows_where_epsilon_goes_without_data():
    """The explanation is a ledger: reason, share, sensitivity and noise."""
    text = str(dpb.algorithms.get("H").explain(domain=1024, workload=dpb.workloads.Prefix(1024), epsilon=0.1))
    assert "H on 1024, epsilon 1/10: spent 1/10, forfeited 0" in text
    assert "100.0 %  laplace  tree, all levels alike, sensitivity 11, Laplace noise of scale 110" in text


def test_replacement_is_refused_with_the_factor():
    """Only adding or removing a record is supported; the refusal names the factor 2."""
    identity = dpb.algorithms.get("Identity")
    for call in (
        lambda: identity.run(X, PREFIX, 0.1, neighbours="replace one record", seed=0),
        lambda: identity.explain(8, PREFIX, 0.1, neighbours="replace"),
    ):
        with pytest.raises(Unsupported, match="factor 2"):
            call()


def test_side_information_is_estimated_or_public():
    """The default estimates the scale with a twentieth of epsilon; public takes the true one for free."""
    release = Scaled().outcome(X, PREFIX, 1, trials=20, seed=0)
    assert [charge.amount for charge in release.ledger.charges] == [Fraction(1, 20), Fraction(19, 20)]
    assert len({row[0] for row in release.estimate}) == 20
    public = Scaled().outcome(X, PREFIX, 1, trials=20, side_information="public", seed=0)
    assert [(charge.kind, charge.amount) for charge in public.ledger.charges] == [("public", 0), ("laplace", 1)]
    assert not public.ledger.private
    assert np.allclose(public.estimate, X.sum() / 8)


def test_a_data_dependent_algorithm_has_no_expected_error():
    """Uniform's error depends on the data, and it says so."""
    with pytest.raises(Unsupported, match="depends on the data"):
        dpb.algorithms.get("Uniform").expected_error(PREFIX, 0.1)


@pytest.mark.parametrize("name", ["Identity", "H", "Hb", "HbW", "GreedyH", "HDMM", "Privelet"])
def test_an_expected_error_beyond_floats_is_refused(name):
    """Infinity is no error."""
    heavy = dpb.workloads.Ranges(4, [0, 1], [4, 2], [1e100, -1e100])
    with pytest.raises(InvalidInput, match="^the expected error is too large for floats; give smaller weights"):
        dpb.algorithms.get(name).expected_error(heavy, 1e-100)


@pytest.mark.parametrize("returned", [None, [1.0], np.full((1, 8), np.nan), np.zeros((1, 8), dtype=np.float32)])
def test_a_bad_estimate_is_an_error(returned):
    """None, a list, NaN or float32 in place of an estimate is refused."""

    @dataclass(frozen=True, kw_only=True)
    class Bad(dpb.Algorithm):
        name = "Bad"

        def estimate(self, data, workload):
            data.forfeit(data.epsilon, "nothing asked")
            return returned

    with pytest.raises(AlgorithmFailed, match="Bad returned"):
        Bad().run(X, PREFIX, 0.1, seed=0)


def test_every_exception_is_ours():
    """Everything in errors derives from DPBenchError."""
    kinds = [kind for kind in vars(dpb.errors).values() if isinstance(kind, type) and issubclass(kind, Exception)]
    assert len(kinds) > 15
    assert all(issubclass(kind, DPBenchError) for kind in kinds)


def test_post_processing_is_off_by_default_and_free():
    """Without it negative cells stay; with it cells are whole, non-negative, and keep their total."""
    raw = dpb.algorithms.get("Identity").run(np.zeros(64), dpb.workloads.Prefix(64), 0.1, trials=5, seed=0)
    neat = dpb.algorithms.get("Identity").run(
        np.full(64, 30), dpb.workloads.Prefix(64), 0.1, trials=5, postprocess=("non-negative", "integral"), seed=0
    )
    assert (raw < 0).any()
    assert (neat >= 0).all()
    assert np.array_equal(neat, np.rint(neat))
