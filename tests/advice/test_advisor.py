"""Advice from public facts: the words are those of the numbers, and the numbers those of the study."""

import json

import numpy as np
import pytest

import dpbench as dpb
from dpbench.advice import experience
from dpbench.advice.advisor import WORST, Fixed
from dpbench.advice.experience import AfterRelease, Experience
from dpbench.cli import main
from dpbench.mathematics.postprocess import apply_steps
from dpbench.releasable import STEPS, why_not

KEYS = [
    *("algorithm", "domain", "workload", "budget", "records", "expected", "low", "high", "bad_run", "coverage"),
    *("bad_run_coverage", "unseen", "alternatives", "releasable", "notes", "text"),
]
"""Of the JSON, in order: what scripts rely on."""
STUDIED = [
    ("256", 1.0, 10**3),
    ("1000", 0.1, 10**5),
    ("4096", 2.0, 10**6),
    ("32x32", 0.5, 10**4),
    ("100x150", 0.1, 10**7),
]


@pytest.mark.parametrize(("cells", "epsilon", "records"), STUDIED)
def test_numbers_are_in_order_and_in_the_text(cells, epsilon, records):
    """Least, expected, largest, bad run; an alternative that is known beforehand; what it rests on."""
    advice = dpb.recommend(cells, epsilon=epsilon, records=records)
    assert 0 < advice.low <= advice.expected <= advice.high <= advice.bad_run
    assert 0.85 <= advice.coverage <= 1
    assert advice.alternatives
    assert advice.algorithm in str(advice).splitlines()[0]
    assert "costs no privacy" in str(advice)


def test_errors_follow_epsilon_at_one_signal():
    """Twice the budget on half the records: half the error."""
    one, other = dpb.recommend("64x64", 0.5, 100_000), dpb.recommend("64x64", 1.0, 50_000)
    assert other.algorithm == one.algorithm
    assert other.expected == pytest.approx(one.expected / 2)


@pytest.mark.parametrize(
    ("facts", "words"),
    [
        ({"cells": "100", "epsilon": 1, "records": 10**4}, "The study has 256 to 4096 cells"),
        ({"cells": "32x256", "epsilon": 1, "records": 10**4}, "The study has squares of 32 to 256 cells"),
        ({"cells": "16x16x16", "epsilon": 1, "records": 10**4}, "The study has one and two dimensions"),
        ({"cells": "1024", "epsilon": 1, "records": 10**9}, "epsilon times records from 100 to 10,000,000"),
        ({"cells": "1024", "epsilon": 0.001, "records": 10}, "epsilon times records from 100 to 10,000,000"),
    ],
)
def test_beyond_the_study_errors_are_those_that_depend_on_no_data(facts, words):
    """It says so, and the bound on the mean is the expected error of the algorithm that it names."""
    advice = dpb.recommend(**facts)
    workload = dpb.workloads.Prefix(facts["cells"]) if "x" not in facts["cells"] else None
    assert words in str(advice)
    assert advice.coverage == 1
    if workload is not None:
        expected = dpb.algorithms.get(advice.algorithm).expected_error(workload, facts["epsilon"])
        assert advice.expected == pytest.approx(np.sqrt(expected))
    assert advice.expected <= advice.high <= advice.bad_run


def test_a_bad_run_that_depends_on_no_data_is_what_runs_show():
    """On a table unlike an empty one."""
    advice = dpb.recommend("128", epsilon=1.0, records=10**6)
    workload, x = dpb.workloads.Prefix(128), np.arange(128) * 100
    estimate = dpb.algorithms.get(advice.algorithm).run(x, workload, epsilon=1.0, trials=2000, seed=1)
    errors = np.sqrt(((workload.answer(estimate) - workload.answer(x)) ** 2).mean(axis=1))
    assert advice.low <= errors.mean() <= advice.high
    assert (errors > advice.bad_run).mean() < 0.08  # 200 runs made the bound, a release may widen it: sd 0.016
    released = apply_steps(estimate, STEPS)
    whole = np.sqrt(((workload.answer(released) - workload.answer(x)) ** 2).mean(axis=1))
    assert advice.low <= whole.mean() <= advice.high
    assert (whole > advice.bad_run).mean() < 0.08


def test_a_workload_of_ones_own():
    """Only what needs no study is advised on, at its error on these ranges."""
    ranges = dpb.workloads.Identity(1024)
    advice = dpb.recommend(1024, epsilon=1.0, records=10**5, workload=ranges)
    assert "The study has other ranges" in str(advice)
    assert advice.algorithm == "Identity"
    assert advice.expected == pytest.approx(np.sqrt(2))


@pytest.mark.parametrize(("queries", "seed", "studied"), [(1000, 5, True), (2000, 0, True), (100, 0, False)])
def test_other_random_ranges_in_the_plane(queries, seed, studied):
    """Many ranges by another seed are like those of the study; few are not."""
    ranges = dpb.workloads.RandomRange("64x64", queries=queries, seed=seed)
    advice = dpb.recommend("64x64", 0.5, 100_000, workload=ranges)
    assert ("The study has other ranges" not in str(advice)) == studied
    assert not studied or advice.expected == dpb.recommend("64x64", 0.5, 100_000).expected
    small = dpb.recommend("64x64", 0.5, 100_000, workload=dpb.workloads.RandomSmall("64x64", queries=2000))
    assert "The study has other ranges" in str(small)


def test_whole_numbers_count_where_errors_are_small():
    """At a large epsilon the noise is less than a record, and rounding is not."""
    fine, coarse = dpb.recommend("64x64", 100, 10_000), dpb.recommend("64x64", 1, 1_000_000)
    assert fine.expected == pytest.approx(coarse.expected / 100)
    assert fine.high > 1.5 * coarse.high / 100


def test_what_a_release_adds_is_said():
    """Of an error that is known whatever the data, if it is more than a little."""
    advice = dpb.recommend("128x128", 0.5, 300_000)
    (other,) = advice.alternatives
    assert other.released > other.expected
    assert f"records ({other.released:,.0f} after a release)." in str(advice)


def test_delta_allows_gaussian_noise():
    """Where that is better, which is said; nowhere is it worse than without."""
    facts = {"cells": "128x128", "epsilon": 1.0, "records": 10**8}
    without, beside = dpb.recommend(**facts), dpb.recommend(**facts, delta=1e-4)
    assert beside.expected < without.expected
    assert "epsilon 1, delta 0.0001" in str(beside)
    tiny = dpb.recommend("1024", epsilon=1.0, records=10**5, delta=1e-12)
    assert tiny == dpb.recommend("1024", epsilon=1.0, records=10**5)


def test_more_ranges_than_can_be_simulated():
    """A bad run is then bounded by Markov's inequality, and nothing runs out of memory."""
    advice = dpb.recommend("200x200", epsilon=1.0, records=10**8, workload=dpb.workloads.AllRange("200x200"))
    assert np.sqrt(20) * advice.expected <= advice.bad_run <= 3 * np.sqrt(20) * advice.expected


@pytest.mark.parametrize(
    ("facts", "words"),
    [
        ({"records": True}, "records is True"),
        ({"records": "many"}, "records is 'many'"),
        ({"epsilon": "small"}, "epsilon"),
        ({"cells": "x"}, "write for example"),
        ({"workload": "Prefix"}, "give a Workload"),
        ({"workload": dpb.workloads.Prefix(32)}, "on 32 cells"),
        ({"risk": "worst"}, "no risk named"),
    ],
)
def test_bad_input(facts, words):
    """One line each."""
    with pytest.raises(dpb.errors.DPBenchError, match=words) as failure:
        dpb.recommend(**({"cells": "64", "epsilon": 1.0, "records": 100} | facts))
    assert "\n" not in str(failure.value)


MANY = ["10000000", "9007199254740992x9007199254740992", "1000000x1000000x1000000"]


@pytest.mark.parametrize("cells", MANY)
@pytest.mark.parametrize("verb", [["recommend", "--records", "1000", "--cells"], ["strategies", "--domain"]])
def test_more_cells_than_fit_into_memory_are_refused_beforehand(cells, verb, capsys):
    """In one line that says the limit and what to do."""
    assert main([*verb, cells, "--epsilon", "1"]) == 2
    told = capsys.readouterr().err
    assert told.count("\n") == 1
    assert f"the domain {cells} would take about" in told
    assert "the limit is 4 GB; ask for less, or set DPBENCH_MEMORY to the gigabytes" in told


@pytest.mark.parametrize("name", ["Identity", "Privelet", "Hb", "H", "GreedyH", "HbW", "HDMM"])
def test_an_expected_error_that_takes_too_much_memory_is_refused(name):
    """Whichever algorithm is asked, before it begins."""
    with pytest.raises(dpb.errors.DPBenchError, match=r"ask for less|use HbW"):
        dpb.algorithms.get(name).expected_error(dpb.workloads.Prefix(10**8), 1)


def test_an_algorithm_that_pads_many_axes_is_left_out():
    """Hb pads every axis to the longest: the others are advised on all the same."""
    ranges = dpb.workloads.RandomRange("5x6x7x6x4x64", queries=20)
    with pytest.raises(dpb.errors.NotEnoughMemory, match="to which the domain 5x6x7x6x4x64 is padded"):
        dpb.algorithms.get("Hb").expected_error(ranges, 1)
    advice = dpb.recommend(ranges.domain, 1, 10**5, workload=ranges)
    assert advice.expected > 0
    assert "Hb" not in (advice.algorithm, *(each.algorithm for each in advice.alternatives))


def test_boxes_of_many_axes_count_by_their_corners(monkeypatch):
    """A box of twelve axes has 4,096 of them: 200 runs of 2,000 boxes are not simulated."""
    domain = dpb.Domain((2,) * 12)
    ranges = dpb.workloads.RandomRange(domain, queries=2000)
    monkeypatch.setattr(type(dpb.algorithms.get("Identity")), "run", None)
    seen = Fixed("Identity", 3.0, ranges, 1.0, 0.0).range
    assert (seen.expected, seen.low, seen.bad_run) == (3.0, 0.0, 3.0 * WORST**0.5)


def test_json(capsys):
    """The same numbers, and the text."""
    assert main(["recommend", "--cells", "64x64", "--epsilon", "0.5", "--records", "100000", "--json"]) == 0
    plain, advice = json.loads(capsys.readouterr().out), dpb.recommend("64x64", 0.5, 100_000)
    assert plain["algorithm"] == advice.algorithm
    assert (plain["low"], plain["high"], plain["bad_run"]) == (advice.low, advice.high, advice.bad_run)
    assert plain["text"] == str(advice)
    assert list(plain) == KEYS


def table(errors: dict[str, np.ndarray], families: str) -> Experience:
    shape = (2, 3, len(families))
    logs = {name: np.broadcast_to(np.log(each), shape).copy() for name, each in errors.items()}
    return Experience((10, 1000), (10.0, 100.0, 1000.0), tuple(families), tuple(families), logs, logs)


def test_interpolation_is_linear_in_logarithms():
    """Half way between two sizes and two signals; beyond the ends, the ends."""
    errors = np.arange(1.0, 7.0).reshape(2, 3, 1)
    known = table({"A": np.exp(errors)}, "a")
    assert known.at(known.mean["A"], 100, 10**1.5) == pytest.approx([3.0])
    assert known.at(known.mean["A"], 10, 1) == pytest.approx([1.0])
    assert known.at(known.mean["A"], 1000, 10**9) == pytest.approx([6.0])


def test_widening_is_what_the_neediest_family_needs():
    """Three families with errors 1, 2 and 8: without the third, the largest is 2, and it needs four times that."""
    known = table({"A": np.array([1.0, 2.0, 8.0])}, "abc")
    wider = known.widening["A"]
    assert (wider.low, wider.high, wider.bad_run) == pytest.approx((2.0, 4.0, 4.0))
    found = known.range("A", 100, 100)
    assert (found.low, found.high) == pytest.approx((0.5, 32.0))
    assert found.expected == pytest.approx(16 ** (1 / 3))


def test_a_release_widens_and_never_narrows():
    """Factors of 0.5 and 2 at the weakest signal, none at the strongest; a guess off by three is allowed for."""
    known = table({"A": np.array([1.0, 1.0])}, "ab")
    ends = {"low": np.log([0.5, 1.0]), "high": np.log([2.0, 0.8]), "bad_run": np.log([3.0, 0.8])}
    released = Experience(**(vars(known) | {"after": {"A": AfterRelease((10.0, 1000.0), **ends)}}))
    weak, strong = released.range("A", 10, 10), released.range("A", 10, 10**5)
    assert (weak.low, weak.high, weak.bad_run) == pytest.approx((0.5, 2.0, 3.0))
    assert (strong.low, strong.high, strong.bad_run) == pytest.approx((1.0, 1.0, 1.0))
    assert weak.in_records(2.0, 1.0).high == pytest.approx(np.hypot(1.0, 1.0))


def test_a_family_counts_once():
    """However many members it has."""
    known = Experience(**(vars(table({"A": np.array([1.0, 1.0, 4.0])}, "xyz")) | {"families": ("a", "a", "b")}))
    assert known.range("A", 10, 10).expected == pytest.approx(2.0)


def test_the_shipped_table_is_condensed_from_the_shipped_study():
    """Made anew, it is the same, and so is what is said about how good the advice is."""
    from benchmarks.advice import made

    assert json.loads(json.dumps(made([]))) == experience.shipped()


def test_how_it_did_on_data_that_it_had_not_seen_is_said():
    """The printed numbers are those of the table, and the table has all that was fixed beforehand."""
    from benchmarks.unseen_data import GENERATORS, TABLES

    tried = experience.shipped(experience.TRIED)["unseen"]
    advice = dpb.recommend("64x64", 0.5, 100_000)
    assert advice.unseen == (tried["2"]["mean"]["interval"], tried["2"]["mean"]["bad_run"])
    assert f"not made with, in {advice.unseen[0]:.0%} and {advice.unseen[1]:.0%}." in str(advice)
    assert len(GENERATORS[1]) + len(GENERATORS[2]) >= 12
    assert len(TABLES) >= 8
    assert [tried[d]["mean"]["data"] for d in "12"] == [len(GENERATORS[d]) + len(TABLES) for d in (1, 2)]


def test_only_what_can_be_released():
    """With ``exact`` every algorithm that is named has an exact sampler, and the text says so."""
    for cells, epsilon, records in STUDIED:
        advice = dpb.recommend(cells, epsilon, records, exact=True)
        named = {advice.algorithm, *(each.algorithm for each in advice.alternatives)}
        assert not [name for name in named if why_not(name)]
        assert set(advice.releasable) == named
    assert "Exactly releasable: HDMM." in str(dpb.recommend("64x64", 0.5, 100_000, among=["MWEM*", "HDMM"]))
    assert "Exactly releasable: both." in str(dpb.recommend("64x64", 0.5, 100_000, among=["DAWA", "HDMM"]))


def test_among():
    """One algorithm: what is known of it; none that is known: one line."""
    assert dpb.recommend("64x64", 0.5, 100_000, among=["AGrid"]).algorithm == "AGrid"
    assert dpb.recommend("64x64", 0.5, 100_000, among=["HDMM"]).coverage == 1
    with pytest.raises(dpb.errors.Unsupported, match="nothing is known beforehand of AGrid"):
        dpb.recommend("8x8", 0.5, 100_000, among=["AGrid"])
