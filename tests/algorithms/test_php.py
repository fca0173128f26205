"""PHP: the line cut in two, and again, where a cut makes the parts more even."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest

from dpbench import algorithms
from dpbench.audit import check_algorithm
from dpbench.errors import CheckFailed, InvalidInput, Unsupported
from dpbench.mathematics.deviation import Bisections, BisectionTrace, SortedLine
from dpbench.mathematics.kernels.bisection import deviation, parts_of_cuts, published_bisection
from dpbench.privacy import NoNoise, PrivateData, RandomNoise
from dpbench.workloads import Prefix, RandomRange
from reference import php as reference

PHP = algorithms.get("PHP")
PUBLISHED = algorithms.get("PHP", variant="published")
POWERS = 2 ** np.arange(15, -1, -1)


def lines():
    """Count vectors of every kind: short, long, with ties, with jumps over many distinct values, huge."""
    stream = np.random.default_rng(0)
    yield from (np.array(few) for few in ([7], [0, 0], [5, 0], [0, 3, 1], [1] * 9))
    for n in (8, 9, 13, 40, 150):
        yield stream.integers(0, 4, n)
        yield stream.integers(0, 10**6, n)
        yield np.where(stream.random(n) < 0.1, 10**8, stream.integers(0, 500, n))
    yield np.where(np.arange(180) % 2, np.arange(180), 10**9 * (np.arange(180) % 3))
    yield np.array([2**51 - 3, 1, 2**49, 0, 7, 2**49 + 1] * 2)


class First(NoNoise):
    """Uniform draws of 0, which choose the first of the candidates that have a chance."""

    def uniform(self, shape):
        return np.zeros((self.trials, *shape))

    def only(self, trial):
        return First(1)


def searched(counts, noise, epsilon=1, algorithm=PHP, price=None):
    """Decisions of the private search as (start, stop, cut)."""
    (one,) = PrivateData.open(counts, epsilon, noise).each_trial()
    decisions = algorithm._search(one, Fraction(epsilon) / 4, price or 2 / epsilon)
    return list(zip(decisions.first.tolist(), decisions.stop.tolist(), decisions.cut.tolist(), strict=True))


class TestDeviations:
    @pytest.mark.parametrize("counts", list(lines()), ids=lambda counts: f"n{len(counts)}")
    def test_every_cut_of_the_line(self, counts):
        """Uncut and for every cut, the deviations are those of the definition to 1e-15 of their size."""
        found = SortedLine(counts).bisection_scores(np.array([0]), np.array([len(counts)]), 0.0)
        exact = [float(score) for score in reference.split_scores(counts, 0, len(counts), 0)]
        assert np.allclose(found, exact, rtol=1e-15, atol=1e-9)

    def test_several_intervals_at_once(self):
        """Short and long intervals with gaps between them do not disturb one another."""
        counts = np.random.default_rng(1).integers(0, 30, 200)
        starts, stops = np.array([0, 4, 30, 31, 150]), np.array([3, 28, 31, 140, 158])
        found = SortedLine(counts).bisection_scores(starts, stops, 0.0)
        exact = [
            float(score)
            for start, stop in zip(starts, stops, strict=True)
            for score in reference.split_scores(counts, start, stop, 0)
        ]
        assert np.allclose(found, exact, rtol=1e-15, atol=1e-12)

    def test_what_is_remembered_changes_no_bit(self):
        """Searches one after another on one line find what a line that remembers nothing finds."""
        rng = np.random.default_rng(2)
        counts = rng.integers(0, 1000, 300) * (rng.random(300) < 0.7)
        line = SortedLine(counts)
        for _ in range(20):
            starts, stops = np.array([0]), np.array([300])
            for _ in range(6):
                fresh = SortedLine(counts)
                found, again = (each.bisection_scores(starts, stops, 2.5) for each in (line, fresh))
                assert (found == again).all()
                cuts = rng.integers(1, stops - starts)  # at least one cell on either side
                cuts[rng.random(len(cuts)) < 0.2] = 0
                _, starts, stops, _ = parts_of_cuts(starts, stops, cuts, 1, 1000)
                if len(starts) == 0:
                    break

    def test_one_record_moves_a_deviation_by_less_than_two(self):
        """2 - 2 / L is never exceeded, and is reached."""
        stream, largest = np.random.default_rng(2), 0.0
        for _ in range(300):
            counts = stream.integers(0, 6, stream.integers(2, 9))
            more = counts.copy()
            more[stream.integers(len(counts))] += 1
            change = abs(deviation(more, 0, len(more)) - deviation(counts, 0, len(counts)))
            assert change <= 2 - 2 / len(counts) + 1e-12
            largest = max(largest, change)
        assert deviation(np.array([0, 0, 0, 10]), 0, 4) - deviation(np.array([0, 0, 0, 9]), 0, 4) == 1.5
        assert largest > 1.4


class TestSelections:
    @pytest.mark.parametrize("n", [2, 3, 5, 8])
    def test_scores_are_the_enumerated_ones(self, n):
        """Leaving a cluster scores minus its deviation; a cut, minus those of its parts and the price."""
        counts = np.random.default_rng(n).integers(0, 20, n)
        score = Bisections(np.array([0]), np.array([n]), 0.25)
        exact = [float(value) for value in reference.split_scores(counts, 0, n, Fraction(1, 4))]
        assert score.score(SortedLine(counts)) == pytest.approx(exact, abs=1e-12)
        assert score.starts.tolist() == [0, n]

    def test_cuts_are_drawn_from_the_softmax(self):
        """100,000 draws on 6 cells match the exact softmax by chi-square, false alarm 1e-4 (5 degrees: 25.7)."""
        counts = np.array([3, 4, 0, 0, 9, 1])
        data = PrivateData.open(counts, 1, RandomNoise.seeded(0, 100_000))
        chosen = data.choose_each(Bisections(np.array([0]), np.array([6]), 2.0), 1)[:, 0]
        logits = np.array([float(score) for score in reference.split_scores(counts, 0, 6, 2)]) / 4
        expected = 100_000 * np.exp(logits) / np.exp(logits).sum()
        assert ((np.bincount(chosen, minlength=6) - expected) ** 2 / expected).sum() < 25.7

    def test_clusterings_of_the_trace_are_scored_by_their_definition(self):
        """Each entry is minus the deviations of all clusters of that moment, minus a price for each."""
        counts = np.random.default_rng(4).integers(0, 50, 60)
        decisions = searched(counts, RandomNoise.seeded(5, 1))
        trace = BisectionTrace(*(np.array(part) for part in zip(*decisions, strict=True)), 3.0)
        exact = [
            -float(sum(reference.deviation(counts, *span) for span in spans)) - 3.0 * len(spans)
            for spans in reference.clusterings(60, decisions)
        ]
        assert trace.score(SortedLine(counts)) == pytest.approx(exact, abs=1e-9)


class TestSearch:
    @pytest.mark.parametrize("seed", range(20))
    def test_parts_of_cuts_one_after_another(self, seed):
        """Cuts until there are enough clusters; parts with several cells go on, in order."""
        stream = np.random.default_rng(seed)
        ends = np.concatenate([[0], np.cumsum(stream.integers(2, 7, 15))])
        starts, stops = ends[:-1], ends[1:]
        chosen = stream.integers(0, stops - starts)
        clusters, most = 4, int(stream.integers(5, 25))
        cuts, parts = [], []
        for start, stop, choice in zip(starts.tolist(), stops.tolist(), chosen.tolist(), strict=True):
            cuts.append(start + choice if choice else 0)
            if choice:
                clusters += 1
                parts += [(start, start + choice), (start + choice, stop)]
            if clusters >= most:
                break
        parts = [(start, stop) for start, stop in parts if stop - start > 1]
        found = parts_of_cuts(starts, stops, chosen, 4, most)
        assert found[0].tolist() == cuts
        assert list(zip(found[1].tolist(), found[2].tolist(), strict=True)) == parts
        assert found[3] == clusters

    @pytest.mark.parametrize("counts", [c for c in lines() if 1 < len(c) <= 40 and c.max() < 2**45])
    @pytest.mark.parametrize("largest", [3, 2000])
    def test_order_is_first_come_first_served(self, counts, largest):
        """Depth by depth gives the decisions of a queue, in its order, and stops where it stops.

        At such a budget the best candidates alone have a chance.
        """
        algorithm = algorithms.get("PHP", largest=largest)
        depths = len(counts).bit_length() - 1
        expected = reference.search(counts, Fraction(2), depths, largest)
        assert searched(counts, First(1), 10**9, algorithm, price=2.0) == expected

    @pytest.mark.parametrize("n", [2, 3, 13, 64, 100])
    def test_clusterings_tile_the_line_and_refine(self, n):
        """Every clustering on the way tiles the domain; each is the one before or has one more cut."""
        counts = np.random.default_rng(n).integers(0, 9, n)
        for seed in range(20):
            trace = reference.clusterings(n, searched(counts, RandomNoise.seeded(seed, 1)))
            for spans in trace:
                assert [start for start, _ in spans] == [0, *(stop for _, stop in spans)][:-1]
                assert spans[-1][1] == n
            for before, after in pairwise(trace):
                assert len(after) - len(before) in (0, 1)
                assert len(set(before) - set(after)) == len(after) - len(before)

    def test_no_path_is_cut_more_often_than_paid(self):
        """A cell lies in at most floor(log2 n) clusters that were decided on."""
        for seed in range(30):
            seen = np.zeros(37, dtype=int)
            for start, stop, _ in searched(np.arange(37), RandomNoise.seeded(seed, 1)):
                seen[start:stop] += 1
            assert seen.max() <= 5

    def test_not_consistent(self):
        """On counts that halve from cell to cell, four depths cannot part all cells, whatever the budget."""
        decisions = reference.search(POWERS, Fraction(0), 4, 2000)
        clusters = 1 + sum(cut > 0 for *_, cut in decisions)
        estimate = PHP.run(POWERS, Prefix(16), 10**9, trials=20, seed=0)
        assert clusters < 16
        assert all(len(np.unique(row.round(3))) <= clusters for row in estimate)
        assert np.abs(estimate - POWERS).max() > 1
        assert not PHP.consistent


class TestBudget:
    def test_depths_that_are_not_reached_leave_their_budget_to_the_counts(self):
        """Search, selection and totals spend epsilon exactly; unused depths are in the totals."""
        early = 0
        for region in PHP.outcome(np.arange(16), Prefix(16), 1, trials=40, seed=0).ledger.charges[0].regions:
            *cuts, selection, totals = region.charges
            assert all(charge.amount == Fraction(1, 16) and charge.sensitivity == 2 for charge in cuts)
            assert (selection.amount, selection.sensitivity) == (Fraction(1, 4), 2)
            assert totals.amount == Fraction(1, 2) + (4 - len(cuts)) * Fraction(1, 16)
            early += len(cuts) < 4
        assert early > 0

    def test_output_is_constant_on_few_clusters_and_not_negative(self):
        """Cells of a cluster share its mean, negative means become 0."""
        estimate = PHP.run(np.zeros(64, dtype=int), Prefix(64), 0.1, trials=30, seed=0)
        assert (estimate >= 0).all()
        assert (estimate == 0).any()
        assert (estimate > 0).any()
        assert all(len(np.unique(row)) < 64 for row in estimate)

    def test_one_cell(self):
        """Nothing can be cut: all of epsilon measures the count."""
        release = PHP.outcome([50], Prefix(1), 1, trials=3, seed=0)
        assert [charge.amount for charge in release.ledger.charges[0].regions[0].charges] == [1]
        assert (np.abs(release.estimate - 50) < 20).all()


class TestPublished:
    @pytest.mark.parametrize("n", [2, 3, 5, 16, 33])
    def test_search_is_the_list_of_the_authors(self, n):
        """With the same uniform numbers the decisions are those of the slow twin, for every seed."""
        levels = n.bit_length() - 1
        for seed in range(25):
            stream = np.random.default_rng([n, seed])
            counts, uniforms = stream.integers(0, 8, n), stream.random(2 * n + 1)
            rate, largest = 10.0 ** stream.integers(-3, 2), int(stream.integers(2, 2 * n))
            found = published_bisection(counts, uniforms, rate, 1.5, levels, largest)
            decisions = list(zip(*(part.tolist() for part in found), strict=True))
            assert decisions == reference.published_search(counts, uniforms, rate, Fraction(3, 2), levels, largest)

    def test_closed_clusters_are_cut_without_limit(self):
        """The detector: on counts that halve, the authors' code reaches 15 clusters where four depths allow 9."""
        estimate = PUBLISHED.run(POWERS, Prefix(16), 10**9, trials=5, seed=0)
        assert [len(np.unique(row)) for row in estimate] == [15] * 5

    def test_not_private_and_says_why(self):
        """The check names the cause, and the ledger is marked and closes."""
        with pytest.raises(CheckFailed, match="closed clusters beyond the depth"):
            check_algorithm(PUBLISHED)
        ledger = PUBLISHED.outcome(np.arange(20), Prefix(20), 0.3, trials=2, seed=0).ledger
        assert ledger.spent == Fraction(3, 10)
        assert not ledger.private


class TestRefusals:
    @pytest.mark.parametrize(
        ("parameters", "message"), [({"share": 1.5}, "share is 1.5"), ({"largest": 0}, "largest is 0")]
    )
    def test_bad_parameters(self, parameters, message):
        """A parameter out of range is quoted."""
        with pytest.raises(InvalidInput, match=message):
            algorithms.get("PHP", **parameters)

    def test_one_axis_only(self):
        """Two axes are refused."""
        with pytest.raises(Unsupported, match="1-D"):
            PHP.run(np.ones((4, 4)), RandomRange((4, 4), queries=2), 1, seed=0)
