"""HDMM: the strategy that a search finds best for the workload."""

from __future__ import annotations

import os
import subprocess
import sys
import warnings

import numpy as np
import pytest

from dpbench import algorithms, fitted
from dpbench.algorithms import hdmm
from dpbench.errors import InvalidEpsilon, InvalidInput, InvalidWorkload, Unsupported
from dpbench.mathematics import p_identity_fit, p_identity_known
from dpbench.mathematics.moments import grouped_axes
from dpbench.privacy import Recording
from dpbench.workloads import AllRange, Identity, Prefix, RandomRange, RandomSmall, Ranges
from reference import p_identity as reference
from reference.sampling import standard_errors

HDMM = algorithms.get("HDMM")

LINES = {
    Prefix: {256: 53.64, 1024: 90.75, 4096: 143.70},
    AllRange: {64: 30.829, 256: 64.87, 1024: 121.39, 4096: 205.02},
    RandomRange: {32: 23.689, 64: 35.813, 128: 52.390, 256: 73.505, 1024: 132.18, 4096: 220.04},
    RandomSmall: {256: 17.0, 1024: 41.14, 4096: 83.30},
}
SQUARES = {
    # side: random ranges as a distribution, the 2000 of seed 0, and all ranges
    32: (280.59, 277.12, None),
    64: (641.28, 646.18, 475.2),
    128: (1372.35, 1363.02, None),
    256: (2701.51, 2685.33, 2104.0),
}


@pytest.fixture
def searches(monkeypatch, tmp_path):
    """The moments that are searched for, from empty caches."""
    made = []

    def counted(moment, **effort):
        made.append(moment)
        return p_identity_fit.fit_axis(moment, **effort)

    monkeypatch.setenv("DPBENCH_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(p_identity_known, "fit_axis", counted)
    forget()
    yield made
    forget()


def forget():
    hdmm._solver.cache_clear()
    p_identity_known.axis_strategy.cache_clear()


def made(kind, domain):
    return kind(domain, queries=None) if kind in (RandomRange, RandomSmall) else kind(domain)


def asked(workload, algorithm=HDMM):
    """The one question that a run asks."""
    recording = Recording()
    algorithm._outcome(np.zeros(workload.domain.shape, dtype=int), workload, 0.5, channel=recording, seed=0)
    ((question, _),) = recording.exchanges
    return question


@pytest.mark.parametrize(("kind", "n"), [(kind, n) for kind in LINES for n in LINES[kind]], ids=str)
def test_errors_on_one_axis(kind, n, searches):
    """Those of the specification within one per cent, or less, from the strategies that come with the package."""
    assert HDMM.expected_error(made(kind, n), 1) < 1.01 * LINES[kind][n]
    assert not searches


@pytest.mark.parametrize("side", SQUARES)
def test_errors_on_squares(side, searches):
    """The same within two per cent."""
    distribution, listed, every = SQUARES[side]
    assert HDMM.expected_error(RandomRange((side, side), queries=None), 1) < 1.02 * distribution
    assert HDMM.expected_error(RandomRange((side, side)), 1) < 1.02 * listed
    if every is not None:
        assert HDMM.expected_error(AllRange((side, side)), 1) < 1.02 * every
    assert not searches


def test_it_is_far_below_hb():
    """By a third on 256 prefixes, by three quarters on random ranges of 256 x 256."""
    hb = algorithms.get("Hb")
    for workload, share in ((Prefix(256), 0.67), (Prefix(4096), 0.65), (RandomRange((256, 256)), 0.24)):
        assert HDMM.expected_error(workload, 1) < share * hb.expected_error(workload, 1)


@pytest.mark.parametrize(
    ("workload", "trials"),
    [(Prefix(256), 1000), (Prefix(4096), 200), (RandomRange((32, 32)), 600), (AllRange((64, 64)), 100)],
    ids=repr,
)
def test_sampled_errors(workload, trials):
    """The mean squared error of runs on nothing is within 4 standard errors of what is expected.

    False alarms: 4 comparisons at 6.3e-5 each, so one choice of seeds in 4000.
    """
    noise = HDMM.run(np.zeros(workload.domain.shape, dtype=int), workload, 1, trials=trials, seed=2018)
    assert abs(standard_errors(workload.mean_squared(noise), HDMM.expected_error(workload, 1))) < 4


@pytest.mark.parametrize("workload", [Prefix(4096), RandomRange((128, 128))], ids=repr)
def test_answers_without_noise_are_exact(workload):
    """To 1e-7 of the largest count: at epsilon 10^12 noise is a tenth of a billionth of a record."""
    x = np.random.default_rng(0).integers(0, 10**6, size=workload.domain.shape)
    np.testing.assert_allclose(HDMM.run(x, workload, 10**12, seed=0)[0], x, atol=0.1, rtol=0)


@pytest.mark.parametrize(
    "workload",
    [
        Prefix(30),
        AllRange((5, 7)),
        RandomRange((9, 6), queries=4),
        RandomRange((3, 4, 5)),
        Ranges(50, [3, 3, 20], [20, 40, 40], [1, -3, 0]),
        Ranges((20, 30), [[0, 0], [5, 0], [0, 10]], [[20, 30], [6, 30], [20, 12]], [1, 2, 3]),
    ],
    ids=repr,
)
def test_the_expected_error_is_the_dense_trace(workload):
    """2 / epsilon^2 trace(W (A^T A)^+ W^T) / q for the strategy that is asked, whose columns add up to 1."""
    strategy = hdmm._solver(workload, HDMM.starts, HDMM.iterations).strategy
    dense = reference.matrix(strategy)
    np.testing.assert_allclose(np.abs(dense).sum(axis=0), 1, rtol=0, atol=1e-12)
    expected = 8 * reference.mean_variance(dense, workload.matrix())
    assert HDMM.expected_error(workload, 0.5) == pytest.approx(expected, rel=1e-9)
    assert asked(workload).sensitivity == 1
    assert asked(workload).shape == strategy.shape


@pytest.mark.parametrize("shape", [(1,), (1, 1), (1, 1, 1)])
def test_one_cell_gets_noise_of_one_over_epsilon(shape):
    """No rows, one answer."""
    question = asked(AllRange(shape))
    assert question.sensitivity == 1
    assert question.shape == shape
    assert HDMM.expected_error(AllRange(shape), 1) == 2


@pytest.mark.parametrize("workload", [Prefix(2), Identity(30), Identity((4, 5)), RandomSmall(256)], ids=repr)
def test_plain_cells_are_kept_where_nothing_is_better(workload):
    """The same estimates as Identity's, draw for draw, and the same expected error."""
    identity, x = algorithms.get("Identity"), np.arange(workload.domain.size).reshape(workload.domain.shape)
    np.testing.assert_allclose(HDMM.run(x, workload, 1, 2, 7), identity.run(x, workload, 1, 2, 7), rtol=1e-12)
    assert HDMM.expected_error(workload, 1) == pytest.approx(identity.expected_error(workload, 1), rel=1e-12)


def test_cells_that_no_box_tells_apart_are_measured_as_one():
    """Two boxes of one's own are two numbers, whose error is that of one cell each."""
    workload = Ranges(1000, [0, 400], [400, 1000])
    assert asked(workload).shape == (2,)
    assert HDMM.expected_error(workload, 1) == pytest.approx(2)
    estimate = HDMM.run(np.arange(1000), workload, 10**9, seed=0)[0]
    np.testing.assert_allclose(estimate[:400], np.arange(400).mean(), atol=1e-6)


def test_the_axes_of_a_list_are_fitted_in_turn(monkeypatch):
    """Full rows and full columns: weighing boxes by their variance along the other axis gains a fifth."""
    rng = np.random.default_rng(0)
    length = np.stack([rng.integers(1, 65, 200), np.full(200, 64)], axis=1)
    length[100:] = length[100:, ::-1]
    lower = rng.integers(0, 65 - length)
    workload = Ranges((64, 64), lower, lower + length)
    in_turn = HDMM.expected_error(workload, 1)
    monkeypatch.setattr(hdmm, "SWEEPS", 0)
    hdmm._solver.cache_clear()
    assert in_turn < 0.8 * HDMM.expected_error(workload, 1)
    hdmm._solver.cache_clear()


def test_a_search_is_made_once_and_kept(searches, tmp_path):
    """In memory, and on the disk for later processes; both axes and all seeds share it."""
    HDMM._prepare(RandomRange((20, 20), seed=1))
    HDMM.run(np.ones((20, 20)), RandomRange((20, 20), seed=2), 1, seed=0)
    assert len(searches) == 1
    forget()
    before = HDMM.expected_error(RandomRange((20, 20), queries=None), 1)
    assert len(searches) == 1
    (kept,) = (tmp_path / "cache").iterdir()
    kept.write_bytes(b"nonsense")
    forget()
    assert HDMM.expected_error(RandomRange((20, 20), queries=None), 1) == before
    assert len(searches) == 2
    algorithms.get("HDMM", iterations=5)._prepare(RandomRange((20, 20)))
    assert len(searches) == 3


def test_a_folder_that_cannot_be_written_costs_time_alone(searches, tmp_path, monkeypatch):
    """Here the cache is inside a file."""
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("DPBENCH_CACHE", str(tmp_path / "file" / "cache"))
    assert HDMM.expected_error(Prefix(20), 1) > 2
    assert len(searches) == 1


def test_the_archive_of_the_package_holds_strategies():
    """Under 2 MB; each for the moment that its name says; results depend on it."""
    assert fitted.SHIPPED.stat().st_size < 2_000_000
    assert HDMM.files == (str(fitted.SHIPPED),)
    for workload in (Prefix(512), RandomRange(64, queries=None)):
        ((_, moment),) = hdmm.grouped_axes(workload)
        assert p_identity_known.from_arrays(moment, fitted.shipped(moment.key)).side == moment.side
    assert fitted.shipped("no such strategy") is None


def test_arrays_that_are_no_strategy_are_not_read():
    """Missing, of another side, negative, without weight left for the cell, of another number of axes."""
    ((_, moment),) = hdmm.grouped_axes(Prefix(2))
    good = {"rows": np.zeros((2, 1), dtype=np.uint16), "units": np.ones((2, 1), dtype=np.uint16)}
    assert p_identity_known.from_arrays(moment, good) is not None
    bad = (
        {"rows": good["rows"]},
        {**good, "units": np.ones(2)},
        {**good, "units": np.full((2, 1), 2**16)},
        {**good, "rows": np.full((2, 1), -1)},
    )
    assert [p_identity_known.from_arrays(moment, arrays) for arrays in bad] == [None] * 4
    assert p_identity_known.from_arrays(hdmm.grouped_axes(Prefix(3))[0].moment, good) is None


def test_long_axes_get_tents_and_say_so(searches, monkeypatch):
    """Above 16,384 cells; here the bound is lower, so that the test is quick."""
    monkeypatch.setattr(hdmm, "LONGEST_SEARCH", 50)
    monkeypatch.setattr(p_identity_fit, "LONGEST_SEARCH", 50)
    assert asked(Prefix(60)).why == "p-Identity rows, tents only above 50 cells"
    tents = algorithms.get("HDMM", iterations=0).expected_error(Prefix(60), 1)
    assert HDMM.expected_error(Prefix(60), 1) == tents
    assert asked(Prefix(40)).why == "p-Identity rows"


def test_longer_axes_are_refused():
    """In one line that says what to use."""
    with pytest.raises(Unsupported, match=r"^HDMM fits axes of up to 32,768 cells; 40000 has one of 40,000; use HbW$"):
        HDMM.expected_error(Prefix(40_000), 1)
    assert HDMM.expected_error(Ranges(40_000, [0], [20_000]), 1) == pytest.approx(2)


def test_bad_input_is_refused():
    """Parameters, a budget and a workload without weight: one line each."""
    with pytest.raises(InvalidInput, match="starts is 0; give a whole number of at least 1"):
        algorithms.get("HDMM", starts=0)
    with pytest.raises(InvalidInput, match="iterations is -1; give a whole number of at least 0"):
        algorithms.get("HDMM", iterations=-1)
    with pytest.raises(InvalidEpsilon):
        HDMM.expected_error(Prefix(3), "much")
    with pytest.raises(InvalidWorkload, match="every query of .* has weight 0"):
        HDMM.run(np.ones(5), Ranges(5, [0], [3], [0]), 1, seed=0)


def test_the_published_form_is_the_private_one():
    """Nothing differs."""
    published = algorithms.get("HDMM", variant="published")
    x = np.arange(40)
    assert published.is_private
    np.testing.assert_array_equal(published.run(x, Prefix(40), 1, 2, 3), HDMM.run(x, Prefix(40), 1, 2, 3))


@pytest.mark.parametrize(
    ("side", "iterations"), [(4096, hdmm.ITERATIONS), pytest.param(1500, 20, marks=pytest.mark.slow)]
)
def test_the_bytes_do_not_depend_on_the_threads_of_a_library(side, iterations, tmp_path):
    """Nor on the process: a run with a strategy that comes with the package, and one with a search before it."""
    code = (
        "import hashlib, sys\n"
        "import numpy as np\n"
        "from dpbench import algorithms\n"
        "from dpbench.workloads import Prefix\n"
        f"hdmm = algorithms.get('HDMM', iterations={iterations})\n"
        f"found = hdmm.run(np.arange({side}), Prefix({side}), 1, seed=0)\n"
        "sys.stdout.write(hashlib.sha256(found.tobytes()).hexdigest())\n"
    )
    found = set()
    for threads in ("1", "3"):
        settings = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), threads)
        environment = {**os.environ, **settings, "DPBENCH_CACHE": str(tmp_path / threads)}
        done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
        found.add(done.stdout)
    assert len(found) == 1


@pytest.mark.parametrize("weight", [1e100, 1e-100])
def test_weights_far_from_1_are_searched_like_others(weight):
    """With no warning, and the same strategy to rounding: the unit of weights does not matter."""
    far, near = (grouped_axes(Ranges(4, [0, 1], [4, 2], [each, -each]))[0].moment for each in (weight, 1.0))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = p_identity_fit.fit_axis(far, starts=1, iterations=400)
    expected = p_identity_fit.fit_axis(near, starts=1, iterations=400)
    np.testing.assert_allclose(p_identity_fit.trace(near, found), p_identity_fit.trace(near, expected), rtol=1e-3)
