"""How the advice is evaluated: unseen data, a private selection, and the charts."""

import numpy as np
import pytest
from benchmarks.private_selection import block_counts, learned, noisy_features, shape_features
from benchmarks.unseen import summary
from benchmarks.unseen_data import DOMAINS, GENERATORS, Column, Table, generated

from dpbench.datasets import families
from dpbench.domain import Domain


@pytest.mark.parametrize("dimensions", [1, 2])
def test_generators_are_distributions_that_the_package_lacks(dimensions):
    """Defined on every size that they are wanted at, the same every time, under names of their own."""
    for name in GENERATORS[dimensions]:
        assert name not in families.names()
        for size in DOMAINS[dimensions]:
            weights = generated(dimensions, name, Domain.of(size))
            assert weights.shape == Domain.of(size).shape
            assert weights.min() >= 0
            assert 0 < weights.sum() < np.inf
            assert np.array_equal(weights, generated(dimensions, name, Domain.of(size)))


def test_a_table_is_counted_within_its_bounds(tmp_path):
    """Rows without numbers are left out, values beyond the bounds are clamped."""
    (tmp_path / "t.csv").write_text("a,b\n0.1,1\n9,3\nNA,2\n-4,2\n")
    table = Table("t", "t.csv", Column("a", 0, 1), (Column("a", 0, 1), Column("b", 0, 4)))
    assert table.histogram(tmp_path, Domain.of(2)).tolist() == [2, 1]
    assert table.histogram(tmp_path, Domain.of("2x2")).tolist() == [[1, 1], [0, 1]]


def case(data, means, low, high, tail):
    said = {"algorithm": "A", "studied": True, "low": low, "high": high, "bad_run": 2.0, "mean": means[0], "tail": tail}
    return {"data": data, "means": dict(zip("AB", means, strict=True)), "mean": said}


def test_what_is_said_must_hold_as_it_comes_and_after_a_release():
    """Two kinds of data: one holds both ways, the other only as it comes; regret is against the best of all."""
    held = case("x", ([1.0, 1.2], [0.5, 1.2]), 0.9, 1.5, [1.9, 2.0])
    not_held = case("y", ([1.0, 1.6], [1.0, 1.6]), 0.9, 1.5, [1.9, 2.1])
    found = summary([held, not_held], "mean")
    assert (found["interval"], found["bad_run"]) == (0.5, 0.5)
    assert found["regret"] == pytest.approx(np.sqrt(2), abs=0.001)
    assert found["regret_released"] == 1.0


def test_a_tree_of_rules_finds_the_feature_that_decides():
    """The first algorithm is good where the second feature is small, the second elsewhere."""
    stream = np.random.default_rng(0)
    features = stream.uniform(size=(200, 3))
    better = features[:, 1] > 0.4
    regrets = np.stack([better * 1.0, ~better * 1.0], axis=1)
    rule = learned(features, regrets, 5)
    assert [rule.choose(row) for row in features] == better.astype(int).tolist()
    assert learned(features, np.zeros((200, 2)), 5).below is None


def test_features_of_what_is_seen():
    """Blocks keep the total; with much signal, a flat table is even and has no peak."""
    x = np.full(256, 10**6)
    assert block_counts(x.astype(float), (64,)).sum() == x.sum()
    cells, signal, apart, steps, peak, occupied = noisy_features(x, 1.0, np.random.default_rng(0))
    assert (cells, occupied) == (8, 1)
    assert signal == pytest.approx(np.log10(256e6), abs=0.01)
    assert max(apart, steps) < 0.01
    assert peak == pytest.approx(1 / 64, rel=0.01)
    flat, single = shape_features(x.astype(float)), shape_features(np.eye(1, 256)[0])
    assert (flat["even"], flat["peak"], flat["uneven within blocks"]) == pytest.approx((1, 0, 0), abs=1e-9)
    assert (single["occupied"], single["rough"]) == (1 / 256, 0.5)
    assert single["uneven within blocks"] == pytest.approx(0.75)
