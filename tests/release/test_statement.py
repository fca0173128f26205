"""What a release says of its error."""

import numpy as np
import pytest

import dpbench as dpb
from dpbench.datasets import shapes
from dpbench.privacy import ZCDP, PureDP
from dpbench.privacy.exact_channel import Exact
from dpbench.privacy.exact_noise import ExactNoise
from dpbench.release.publishing import draw, released_counts
from dpbench.release.statement import Answers, answered, intervals, named_ranges, state, usual_workload

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
        outcome = draw(algorithm, counts, workload, PureDP(Fraction(epsilon)))
        found = intervals(outcome, ranges, answered(ranges, released_counts(outcome)))
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
    answers = Answers.of({}, released_counts(outcome), outcome)
    assert answers.bars is None
    assert answers.lines()[-1] == "The algorithm has no intervals for its answers."


def seeded(seed):
    """Exact draws that are the same in each run of the tests."""
    return Exact(ExactNoise(np.random.default_rng(seed).bytes))


@pytest.mark.parametrize("notion", [PureDP(1), ZCDP(0.1)], ids=["pure", "zCDP"])
@pytest.mark.parametrize(("shape", "rows"), [("towns/1", 10**4), ("roads/1", 10**6), ("coast/2", 10**4)])
def test_the_stated_error_is_that_of_published_numbers(shape, rows, notion):
    """HDMM in 2-D: beyond the estimate's error, within what is stated, on shapes that the statement was not made with.

    Released as a release does it, exactly, forty times.
    """
    algorithm, domain = dpb.algorithms.get("HDMM"), dpb.Domain.of("32x32")
    workload, words = usual_workload(domain)
    counts = dpb.generate(shapes.get(shape, domain), scale=rows, domain=domain, seed=0)
    stated = state(algorithm, workload, words, notion)
    channel = seeded(1)
    runs = [released_counts(draw(algorithm, counts, workload, notion, channel=channel)) for _ in range(40)]
    published = np.sqrt(workload.mean_squared(np.array(runs) - counts).mean())
    assert 1.1 * stated.root_mean_square < published
    assert stated.published.low <= published <= stated.published.high
    assert f"to {stated.published.high:.3g} records; that was tried and not proved" in str(stated)


def test_a_guess_of_the_rows_narrows_what_is_stated(monkeypatch):
    """What was tried is for about so many rows; nothing is tried on more cells than there is time for."""
    algorithm, domain = dpb.algorithms.get("Hb"), dpb.Domain.of("16x16")
    workload, words = usual_workload(domain)
    wide = state(algorithm, workload, words, PureDP(1)).published
    near = state(algorithm, workload, words, PureDP(1), records=3000).published
    assert (wide.fewest, wide.most) == (10**3, 10**8)
    assert (near.fewest, near.most) == (1000, 9000)
    assert near.high - near.low < wide.high - wide.low
    monkeypatch.setattr("dpbench.release.statement.MOST_CELLS", 300)
    assert state(algorithm, workload, words, PureDP(2)).published.tables < wide.tables
    unknown = state(algorithm, *usual_workload(dpb.Domain.of(301)), PureDP(1))
    assert unknown.published is None
    assert "was not tried on so many cells" in str(unknown)


@pytest.mark.parametrize("domain", ["1", "1x1", "3x1", "1x7", "5x2x4"])
def test_every_domain_has_synthetic_tables(domain):
    """Single cells, thin rectangles, three axes."""
    stated = state(dpb.algorithms.get("Identity"), *usual_workload(dpb.Domain.of(domain)), PureDP(1))
    assert 0 <= stated.published.low <= stated.published.high < 100


def test_no_published_answer_is_outside_of_its_interval():
    """HDMM in 2-D, 20 releases of a sparse table: some would be outside; widened, intervals hold truth and answer.

    40 ranges and everything: 820 intervals, correlated within a release; 0.9 is expected and 0.85 asked for.
    """
    algorithm, domain, rng = dpb.algorithms.get("HDMM"), dpb.Domain.of("16x16"), np.random.default_rng(4)
    workload, _ = usual_workload(domain)
    counts = dpb.generate(shapes.get("towns/0", domain), scale=1000, domain=domain, seed=0)
    ends = np.sort([[rng.choice(17, 2, replace=False) for _ in domain] for _ in range(40)], axis=-1)
    _, ranges = named_ranges(domain, {str(at): tuple(map(tuple, box)) for at, box in enumerate(ends.tolist())})
    truth, channel = answered(ranges, counts), seeded(2)
    held, outside = [], 0
    for _ in range(20):
        outcome = draw(algorithm, counts, workload, PureDP(1), channel=channel)
        published = answered(ranges, released_counts(outcome))
        before = outcome.intervals(ranges, 0.9)[0]
        outside += ((published < np.floor(before[:, 0])) | (np.ceil(before[:, 1]) < published)).sum()
        found = intervals(outcome, ranges, published)
        for low, high in (found.ends.T, found.sure.T):
            assert ((low <= published) & (published <= high)).all()
        held.append((found.ends[:, 0] <= truth) & (truth <= found.ends[:, 1]))
    assert outside > 20
    assert np.mean(held) > 0.85


def test_a_range_that_the_model_misses_has_a_guaranteed_interval_beside():
    """Cascade on terraces: one fixed range is held in less than half of 25 releases, and both intervals are told apart.

    Of 25 guaranteed intervals fewer than 18 hold the truth less than once in 100.
    """
    algorithm, domain = dpb.algorithms.get("Cascade"), dpb.Domain.of(256)
    workload, _ = usual_workload(domain)
    counts = dpb.generate(shapes.get("terraces/0", domain), scale=10**4, domain=domain, seed=0)
    names, ranges = named_ranges(domain, {"steps": ((50, 74),)})
    truth, held = answered(ranges, counts)[1], np.zeros(2)
    for seed in range(25):
        outcome = algorithm.outcome(counts, workload, 0.1, seed=seed)
        bars = intervals(outcome, ranges, answered(ranges, released_counts(outcome)))
        held += [low <= truth <= high for low, high in (bars.ends[1], bars.sure[1])]
    assert names == ["everything", "steps"]
    assert held[0] < 12
    assert held[1] >= 18
    assert not bars.guaranteed[1]
    (low, high), (least, most) = bars.ends[1].tolist(), bars.sure[1].tolist()
    assert f"between {least:,} and {most:,} with probability 0.9 or more, whatever the table" in bars.words(1)
    assert f"by a model it is between {low:,} and {high:,}, which held for 9 of 10 ranges" in bars.words(1)
    assert "of the time" not in bars.words(1)
