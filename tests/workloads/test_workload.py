"""What holds for every workload."""

from __future__ import annotations

import pickle
import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpbench import workloads
from dpbench.errors import InvalidDomain, InvalidInput, InvalidWorkload, UnknownName
from dpbench.workloads import AllRange, Identity, Prefix, RandomRange, RandomSmall, Ranges, Workload
from reference import ranges as reference

SHAPES = [(1,), (2,), (7,), (16,), (1, 1), (3, 4), (1, 6), (5, 1), (2, 3, 4)]


def every_workload(shape):
    yield Identity(shape)
    yield AllRange(shape)
    yield RandomRange(shape, queries=11, seed=5)
    yield RandomSmall(shape, queries=6)
    yield Ranges(shape, [[0] * len(shape)] * 2, [shape, shape], weights=[-2.5, 0.5])
    if len(shape) == 1:
        yield Prefix(shape)


CASES = [workload for shape in SHAPES for workload in every_workload(shape)]


def dense(workload):
    listed = workload.ranges()
    return reference.dense_matrix(workload.domain.shape, listed.lower, listed.upper, listed.weights)


def differences(shape, trials=3, seed=0):
    return np.random.default_rng(seed).normal(scale=10, size=(trials, *shape))


@pytest.mark.parametrize("workload", CASES, ids=repr)
def test_answers_norms_and_sensitivity_are_those_of_the_dense_matrix(workload):
    """Whatever shortcut a workload takes, it computes what the matrix of its ranges says."""
    W = dense(workload)
    x = differences(workload.domain.shape)
    answers = x.reshape(len(x), -1) @ W.T
    np.testing.assert_allclose(workload.answer(x), answers, atol=1e-10)
    np.testing.assert_allclose(workload.answer(x[1]), answers[1], atol=1e-10)
    for order in ("L2", "L1", "Linf"):
        np.testing.assert_allclose(workload.norm(x, order), reference.norm(W, x, order), atol=1e-9)
        assert workload.norm(x[1], order) == pytest.approx(reference.norm(W, x, order)[1], abs=1e-9)
    np.testing.assert_allclose(workload.mean_squared(x), (answers**2).mean(axis=1), atol=1e-9)
    np.testing.assert_array_equal(workload.matrix(), W)
    assert workload.sensitivity == pytest.approx(np.abs(W).sum(axis=0).max())
    assert workload.ranges().sensitivity == pytest.approx(workload.sensitivity)
    assert workload.queries == len(W)


@pytest.mark.parametrize("workload", CASES, ids=repr)
def test_no_trials_give_no_answers(workload):
    """A batch of no trials is a batch."""
    nothing = np.zeros((0, *workload.domain.shape))
    assert workload.answer(nothing).shape == (0, workload.queries)
    assert workload.norm(nothing).shape == (0,)
    assert workload.norm(nothing, "L1").shape == (0,)
    assert workload.mean_squared(nothing).shape == (0,)


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_any_ranges_in_any_dimension_answer_as_the_dense_matrix(data):
    """The summed-area table is right for every box, weight and number of axes."""
    shape = tuple(data.draw(st.lists(st.integers(1, 6), min_size=1, max_size=4)))
    queries = data.draw(st.integers(1, 5))
    lower = [[data.draw(st.integers(0, side - 1)) for side in shape] for _ in range(queries)]
    upper = [[data.draw(st.integers(low + 1, side)) for low, side in zip(row, shape, strict=True)] for row in lower]
    weights = data.draw(
        st.lists(
            st.floats(-9, 9).filter(lambda weight: weight == 0 or abs(weight) >= 1e-100),
            min_size=queries,
            max_size=queries,
        )
    )
    workload = Ranges(shape, lower, upper, weights)
    W = reference.dense_matrix(shape, lower, upper, weights)
    x = np.random.default_rng(data.draw(st.integers(0, 99))).integers(-50, 50, size=(2, *shape))
    np.testing.assert_allclose(workload.answer(x), x.reshape(2, -1) @ W.T, atol=1e-8)
    assert workload.sensitivity == pytest.approx(np.abs(W).sum(axis=0).max(), abs=1e-9)


@pytest.mark.parametrize("kind", [Prefix, Identity, AllRange, RandomRange])
def test_whole_counts_are_answered_exactly(kind):
    """Integers stay int64, beyond what float64 can hold."""
    x = np.full(4, 2**53 + 1, dtype=np.int64)
    x[0] = 0
    answers = kind(4).answer(x)
    assert answers.dtype == np.int64
    listed = kind(4).ranges()
    exact = [sum(int(c) for c in x[low:up]) for low, up in zip(listed.lower[:, 0], listed.upper[:, 0], strict=True)]
    assert answers.tolist() == exact


@pytest.mark.parametrize("dtype", [np.uint8, np.int16, bool])
def test_small_integer_types_do_not_overflow(dtype):
    """A sum of narrow integers is made in int64."""
    x = np.full(300, 255).astype(dtype)
    assert Prefix(300).answer(x)[-1] == int(x.astype(int).sum())


def test_float32_is_summed_in_float64():
    """Counts near 10^8 keep their digits."""
    answers = Prefix(3).answer(np.array([1e8, 1, 1], dtype=np.float32))
    assert answers.dtype == np.float64
    assert answers[-1] == 1e8 + 2


@pytest.mark.parametrize("shape", [(5,), (2, 5), (3, 2, 4), (2, 2, 4, 4), ()])
def test_a_wrong_shape_is_refused_with_both_shapes(shape):
    """The message names what was given and what fits, on one line."""
    with pytest.raises(InvalidDomain) as refusal:
        Identity((4, 4)).answer(np.zeros(shape))
    message = str(refusal.value)
    assert str(shape) in message
    assert "(4, 4)" in message
    assert "\n" not in message


def test_text_is_not_an_estimate():
    """What cannot be summed is refused."""
    with pytest.raises(InvalidInput, match="real numbers"):
        Identity(2).answer(np.array(["a", "b"]))


def test_an_unknown_norm_is_refused():
    """The three norms are named."""
    with pytest.raises(UnknownName, match="L2"):
        Identity(2).norm(np.zeros(2), "L3")


def test_blocks_of_trials_change_nothing(monkeypatch):
    """Cutting the trial axis is invisible."""
    whole = [w.norm(differences((3, 4), 7), o) for w in every_workload((3, 4)) for o in ("L2", "L1", "Linf")]
    answers = [w.answer(differences((3, 4), 7)) for w in every_workload((3, 4))]
    monkeypatch.setattr("dpbench.workloads.summed_area.BLOCK", 1)
    monkeypatch.setattr("dpbench.workloads.all_range.BLOCK", 1)
    cut = [w.norm(differences((3, 4), 7), o) for w in every_workload((3, 4)) for o in ("L2", "L1", "Linf")]
    np.testing.assert_allclose(whole, cut, rtol=1e-12)
    for one, other in zip(answers, [w.answer(differences((3, 4), 7)) for w in every_workload((3, 4))], strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-12)


def test_a_large_matrix_is_refused():
    """Only small cases get a matrix."""
    with pytest.raises(InvalidWorkload, match=r"answer\(\)"):
        RandomRange((256, 256)).matrix()


def test_two_thousand_ranges_on_a_large_grid_need_little_memory():
    """The dense matrix would be 1 GB; the answers of 50 trials take less than 200 MB beyond the input."""
    workload = RandomRange((256, 256), queries=2000)
    x = np.zeros((50, 256, 256))
    tracemalloc.start()
    try:
        workload.answer(x)
        workload.norm(x)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 200e6


def test_keys_tell_every_difference():
    """Two different workloads never share a key."""
    different = [
        *(
            Prefix(8),
            Prefix(9),
            Identity(8),
            Identity((2, 4)),
            Identity((4, 2)),
            AllRange(8),
            AllRange((2, 4)),
        ),
        *(RandomRange(64, 10), RandomRange(64, 11), RandomRange(64, 10, seed=1), RandomSmall(64, 10)),
        *(RandomRange(64, None), RandomSmall(64, None), RandomRange(65, None)),
        *(RandomRange(1, 3, seed=0), RandomRange(1, 3, seed=1)),
        Ranges(8, [0, 1], [3, 4]),
        Ranges(9, [0, 1], [3, 4]),
        Ranges(8, [0, 1], [3, 5]),
        Ranges(8, [1, 0], [4, 3]),
        Ranges(8, [0, 1], [3, 4], weights=[1, 2]),
    ]
    assert len({workload.key for workload in different}) == len(different)
    assert len(set(different)) == len(different)


def test_equal_workloads_share_a_key_and_hash():
    """A key depends on the content alone."""
    assert RandomRange("8x8", 10, seed=3) == RandomRange((8, 8), 10, seed=3)
    assert hash(Prefix(8)) == hash(Prefix("8"))
    assert Ranges(8, [0], [3]) == Ranges(8, np.array([[0]], dtype=np.int32), [[3]], weights=[1.0])
    assert Prefix(8) != Prefix(8).ranges()
    assert Prefix(8) != "Prefix"


@pytest.mark.parametrize("workload", [Prefix(8), RandomRange((4, 4), 5), AllRange(5)], ids=repr)
def test_workloads_travel_between_processes(workload):
    """Pickling keeps the key."""
    assert pickle.loads(pickle.dumps(workload)) == workload  # noqa: S301 - our own bytes


def test_a_list_cannot_be_changed_after_the_fact():
    """A workload is a value, so its arrays are read-only and its own."""
    lower = np.array([[0]])
    workload = Ranges(4, lower, [[2]])
    lower[0] = 1
    assert workload.lower[0] == 0
    with pytest.raises(ValueError, match="read-only"):
        workload.upper[0] = 3


class Halves(Workload):
    """The two halves of a 1-D domain."""

    name = "Halves"

    def ranges(self):
        middle = self.domain.size // 2
        return Ranges(self.domain, [0, middle], [middle, self.domain.size])


def test_a_workload_of_ones_own_needs_only_its_ranges():
    """Everything else follows from the list."""
    halves = Halves(6)
    assert halves.answer(np.arange(6)).tolist() == [3, 12]
    assert halves.queries == 2
    assert halves.sensitivity == 1
    assert halves.norm(np.arange(6), "Linf") == 12
    assert halves.axes is None
    assert halves == Halves(6) != Halves(8)
    assert halves.describe() == "The two halves of a 1-D domain."


@pytest.mark.parametrize("name", workloads.names())
def test_every_name_builds_from_a_domain_alone(name):
    """The catalogue's names are the classes' names, each with a one-line description."""
    workload = workloads.build(name, 16)
    assert workload.name == name
    assert workload.describe().endswith(".")
    assert "\n" not in workload.describe()
    assert workload.domain.shape == (16,)


def test_build_passes_parameters_on():
    """Parameters are those of the class."""
    assert workloads.build("RandomRange", "8x8", queries=7, seed=2) == RandomRange((8, 8), 7, 2)


def test_build_reads_ranges_of_ones_own(tmp_path):
    """A plan can name a file."""
    path = tmp_path / "mine.csv"
    path.write_text("lower0,upper0\n1,3\n")
    assert workloads.build("Ranges", 4, file=str(path)) == Ranges(4, [1], [3])


@pytest.mark.parametrize(
    ("name", "parameters", "error", "says"),
    [
        ("Prefx", {}, UnknownName, "Prefix"),
        ("RandomRange", {"query": 3}, InvalidWorkload, "queries, seed"),
        ("Prefix", {"seed": 3}, InvalidWorkload, "no parameters"),
        ("Ranges", {}, InvalidWorkload, "ranges.csv"),
        ("Ranges", {"file": 3}, InvalidWorkload, "ranges.csv"),
    ],
)
def test_build_refuses_what_it_does_not_know(name, parameters, error, says):
    """A refusal names the nearest name or the accepted parameters."""
    with pytest.raises(error, match=says) as refusal:
        workloads.build(name, 16, **parameters)
    assert "\n" not in str(refusal.value)
