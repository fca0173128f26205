import json

import numpy as np
import pytest

from chaos.small import study
from dpbench.domain import Domain
from dpbench.errors import AlgorithmFailed, InvalidInput
from dpbench.generator import generate
from dpbench.loss import L1, Relative, scaled_error
from dpbench.privacy import Ledger
from dpbench.run.bench import Bench, ledger_json
from dpbench.run.data_vectors import draw_vector, drift_of, losses, shape_on
from dpbench.run.seeds import seed_for
from dpbench.run.units import describe
from dpbench.workloads import Prefix, RandomRange


def test_errors_are_the_papers():
    """L2 is what dpb.loss says; bias and variance split the squared error over trials."""
    rng = np.random.default_rng(0)
    workload = RandomRange((8, 8), queries=30)
    x = rng.integers(0, 9, (8, 8))
    estimate = x + rng.normal(size=(6, 8, 8))
    measured = losses(workload, x, drift_of(workload, x, x / x.sum(), int(x.sum())), estimate, int(x.sum()))
    for order in ("L2", "L1", "Linf"):
        assert measured[order.lower()] == scaled_error(workload, x, estimate, order).tolist()
    assert (measured["queries"], measured["other_losses"]) == (30, {})
    squared = (np.array(measured["l2"]) * x.sum() * 30) ** 2
    assert measured["squared_bias"] + measured["variance"] * 5 / 6 == pytest.approx(squared.mean() / 30)
    assert measured["population_l2"] == pytest.approx(measured["l2"])


def test_a_wanted_loss_is_measured_beside_the_others():
    """By its label; those that every row holds are not held twice."""
    rng = np.random.default_rng(0)
    x = rng.integers(0, 9, 16)
    estimate = x + rng.normal(size=(3, 16))
    wanted = (L1(), Relative(floor=0.1))
    drift = drift_of(Prefix(16), x, x / x.sum(), int(x.sum()))
    measured = losses(Prefix(16), x, drift, estimate, int(x.sum()), wanted)
    expected = scaled_error(Prefix(16), x, estimate, "relative:floor=0.1").tolist()
    assert measured["other_losses"] == {"relative:floor=0.1": expected}


@pytest.mark.parametrize("gives", [np.ones(2), np.ones((3, 1)), 1.0, np.array([1.0, np.nan, 1.0])])
def test_a_loss_that_is_not_one_number_per_trial_is_refused(gives, monkeypatch):
    """It would spoil a store."""
    monkeypatch.setattr(Relative, "errors", lambda self, answers: gives)
    with pytest.raises(InvalidInput, match="the loss relative gave .* return one finite number per trial"):
        losses(Prefix(4), np.ones(4, dtype=np.int64), np.zeros(4), np.ones((3, 4)), 4, (Relative(),))


def test_a_shape_is_coarsened_once_for_a_domain(tmp_path, monkeypatch):
    """Whatever the number of scales and samples; what is drawn is what the generator draws from the histogram."""
    histogram = np.random.default_rng(0).integers(0, 99, 256)
    np.save(tmp_path / "own.npy", histogram)
    units, _ = study(["Identity"], datasets=[str(tmp_path / "own.npy")], domains=["64", "32"]).work
    calls, plain = [], Domain.coarsen
    monkeypatch.setattr(Domain, "coarsen", lambda self, *to: calls.append(to) or plain(self, *to))
    bench = Bench()
    assert [bench.run(unit).failure for unit in units] == [""] * 8
    assert len(calls) == 2
    shape = shape_on(histogram, "32")
    seed = seed_for(0, "data", "own", "32", 1000, 1)
    assert (draw_vector(shape, "own", "32", 1000, 1, 0) == generate(shape, 1000, "32", seed)).all()


def test_an_error_that_overflows_is_a_failure():
    """No infinity reaches a store."""
    with pytest.raises(AlgorithmFailed, match="not a number"):
        losses(Prefix(4), np.ones(4, dtype=np.int64), np.zeros(4), np.full((2, 4), 1e200), 4)


def test_a_bench_remembers_only_what_does_not_matter():
    """A unit gives the same row on a fresh bench and on a used one, apart from times."""
    units, _ = study().work
    used = Bench()
    for unit in units:
        one, other = (bench.run(unit) for bench in (used, Bench()))
        assert (one.l2, one.variance, one.ledger) == (other.l2, other.variance, other.ledger)


def test_a_row_says_where_epsilon_went():
    """The ledger in a row is JSON, with equal charges in a row folded into one."""
    (unit, *_), _ = study(["Hb"]).work
    ledger = json.loads(Bench().run(unit).ledger)
    assert ledger["epsilon"] == "1/10"
    assert sum(charge["times"] for charge in ledger["charges"]) >= 1
    assert json.loads(ledger_json(Ledger(1)))["charges"] == []


def test_every_exception_is_described_in_one_line():
    """Without text, with too much, with what cannot be encoded, and with a text that raises."""

    class Rude(Exception):
        def __str__(self):
            raise RuntimeError

    assert describe(ValueError()) == "ValueError"
    assert describe(ValueError("a\n  b\udcff")) == "ValueError: a b?"
    assert len(describe(ValueError("x" * 10**6))) < 400
    assert describe(Rude()) == "Rude"
