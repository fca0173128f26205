import json

import numpy as np
import pytest

from chaos.small import study
from dpbench.errors import AlgorithmFailed
from dpbench.experiment.bench import Bench, ledger_json
from dpbench.experiment.unit import describe
from dpbench.experiment.vectors import losses
from dpbench.loss import scaled_error
from dpbench.privacy import Ledger
from dpbench.workloads import Prefix, RandomRange


def test_errors_are_the_papers():
    """L2 is what dpb.loss says; bias and variance split the squared error over trials."""
    rng = np.random.default_rng(0)
    workload = RandomRange((8, 8), queries=30)
    x = rng.integers(0, 9, (8, 8))
    estimate = x + rng.normal(size=(6, 8, 8))
    measured = losses(workload, x, x / x.sum(), estimate, int(x.sum()))
    for order in ("L2", "L1"):
        assert measured[order.lower()] == pytest.approx(scaled_error(workload, x, estimate, order).tolist())
    squared = (np.array(measured["l2"]) * x.sum() * 30) ** 2
    assert measured["squared_bias"] + measured["variance"] * 5 / 6 == pytest.approx(squared.mean() / 30)
    assert measured["population_l2"] == pytest.approx(measured["l2"])


def test_an_error_that_overflows_is_a_failure():
    """No infinity reaches a store."""
    with pytest.raises(AlgorithmFailed, match="not a number"):
        losses(Prefix(4), np.ones(4, dtype=np.int64), np.full(4, 0.25), np.full((2, 4), 1e200), 4)


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
