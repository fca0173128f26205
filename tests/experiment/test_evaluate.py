import numpy as np

from dpbench import algorithms, workloads
from dpbench.experiment.demo import SCALES, run_demo
from dpbench.experiment.evaluate import Setting, evaluate
from dpbench.experiment.seeds import seed_for


def test_seeds_follow_from_names():
    """The same names give the same stream; any other name another one."""
    state = lambda *names: tuple(seed_for(*names).generate_state(4))  # noqa: E731
    assert state(0, "data", "A", 1) == state(0, "data", "A", 1)
    others = [(1, "data", "A", 1), (0, "noise", "A", 1), (0, "data", "A", "1"), (0, "data", "A1"), (0, "dataA", 1)]
    assert len({state(*names) for names in [(0, "data", "A", 1), *others]}) == 6


def test_errors_are_reproducible_and_have_their_shape():
    """Errors come as (samples, trials) and depend on the seed alone."""
    setting = Setting(dataset="flat", scale=1000, epsilon=0.1, workload=workloads.Prefix(16))
    identity, shape = algorithms.get("Identity"), np.ones(16)
    errors = evaluate(identity, setting, shape, samples=3, trials=4)
    assert errors.shape == (3, 4)
    assert np.array_equal(errors, evaluate(identity, setting, shape, samples=3, trials=4))
    assert np.array_equal(errors[:2, :3], evaluate(identity, setting, shape, samples=2, trials=3))
    assert not np.array_equal(errors, evaluate(identity, setting, shape, samples=3, trials=4, seed=1))


def test_the_demo_covers_every_algorithm_that_fits():
    """Each table has a positive error for every algorithm of its dimension, and a winner at every scale."""
    tables = list(run_demo(samples=1, trials=2))
    assert [table.workload.domain.ndim for table in tables] == [1, 2]
    for table in tables:
        fitting = [name for name in algorithms.names() if algorithms.get(name).supports(table.workload.domain)]
        assert table.algorithms == fitting
        assert all(error > 0 for error in table.errors.values())
        for scale in SCALES:
            assert sum(table.wins[name, scale] for name in fitting) >= len(table.shapes)
