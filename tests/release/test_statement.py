"""What a release says of its error."""

import numpy as np
import pytest

import dpbench as dpb
from dpbench.privacy import PureDP
from dpbench.release.publishing import draw
from dpbench.release.statement import intervals, named_ranges, state, usual_workload

RUNS = 400


@pytest.mark.parametrize(("name", "epsilon"), [("Identity", "23/10"), ("Identity", "1/2"), ("Hb", "2"), ("HbW", "5")])
def test_intervals_hold_nine_times_in_ten(name, epsilon):
    """By exact noise, at scales where whole numbers matter: single cells, a range, everything.

    400 releases each; a coverage of 0.9 falls below 0.84 less than once in 10,000.
    """
    from fractions import Fraction

    algorithm, domain = dpb.algorithms.get(name), dpb.Domain.of(16)
    workload, _ = usual_workload(domain)
    names, ranges = named_ranges(domain, {"one": ((3, 4),), "some": ((2, 9),)})
    counts = np.arange(16)
    truth = ranges.answer(counts)
    held = np.zeros(len(names))
    for _ in range(RUNS):
        found = intervals(draw(algorithm, counts, workload, PureDP(Fraction(epsilon))), ranges)
        assert found.guaranteed.all()
        held += (found.ends[:, 0] <= truth) & (truth <= found.ends[:, 1])
    assert (held / RUNS > 0.84).all(), dict(zip(names, held / RUNS, strict=True))


def test_statements_are_made_from_public_facts():
    """A data-independent algorithm states its own error; others that of Hb, for comparison."""
    workload, words = usual_workload(dpb.Domain.of("8x8"))
    assert words == "2,000 random ranges"
    known = state(dpb.algorithms.get("Hb"), workload, words, PureDP(1))
    assert known.root_mean_square == pytest.approx(dpb.algorithms.get("Hb").expected_error(workload, 1) ** 0.5)
    assert "whatever the data" in str(known)
    unknown = state(dpb.algorithms.get("AGrid"), workload, words, PureDP(1))
    assert unknown.root_mean_square is None
    assert unknown.known_alternative == known.root_mean_square
    assert "depends on the data" in str(unknown)


def test_an_algorithm_without_intervals_says_so():
    """AGrid's error depends on the counts in a way that it cannot know."""
    domain = dpb.Domain.of("4x4")
    workload, _ = usual_workload(domain)
    outcome = draw(dpb.algorithms.get("AGrid"), np.ones((4, 4), dtype=np.int64), workload, PureDP(1))
    assert intervals(outcome, named_ranges(domain, {})[1]) is None
