"""MWEM: multiplicative weights, taught by the queries that it answers worst."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from dpbench import algorithms, query_selection
from dpbench.audit import check_algorithm
from dpbench.errors import CheckFailed, InvalidInput, InvalidWorkload, Unsupported
from dpbench.mathematics import maximum_entropy
from dpbench.privacy import NoNoise, Recording, Replay
from dpbench.privacy.mechanisms.exponential import Exponential, GumbelMax
from dpbench.workloads import AllRange, Identity, Prefix, RandomRange, Ranges
from reference import maximum_entropy as dense_entropy
from reference import mwem as dense

MWEM = algorithms.get("MWEM")
REPLAYS = algorithms.get("MWEM", inference="replays")
ENTROPY = algorithms.get("MWEM", inference="maximum entropy")
WEIGHTED = Ranges(9, [0, 2, 4, 1, 0], [9, 5, 6, 8, 3], [1.0, -3.0, 0.5, 2.0, 0.0])
WORKLOADS = [
    Prefix(1),
    Prefix(32),
    AllRange(6),
    Identity(12),
    WEIGHTED,
    RandomRange((4, 8), 30),
    RandomRange((2, 3, 4), 25),
]


def recorded(algorithm, x, workload, epsilon, trials=1, seed=0, **options):
    """A run and what it was told: the scale, the chosen queries and the noisy box totals, by trial."""
    recording = Recording()
    release = algorithm._outcome(x, workload, epsilon, trials, seed, channel=recording, **options)
    exchanges = recording.exchanges
    estimated = exchanges[0][0].why.startswith("scale")
    scale = np.maximum(exchanges[0][1], 1 / float(epsilon)) if estimated else np.full(trials, float(np.sum(x)))
    rest = exchanges[1:] if estimated else exchanges
    return release, scale, rest[0::2], rest[1::2]


class TestTheDenseTwin:
    @pytest.mark.parametrize("average", [False, True])
    @pytest.mark.parametrize("epsilon", [0.01, 1, 1000])
    @pytest.mark.parametrize("workload", WORKLOADS, ids=repr)
    def test_every_score_and_the_estimate_are_the_dense_ones(self, workload, epsilon, average):
        """With the same random numbers: scores |W x - W xhat| of every round, and the last estimate or the mean."""
        algorithm = algorithms.get("MWEM", rounds=7, inference="replays", replays=9, average=average)
        x = np.random.default_rng(1).integers(0, 40, size=workload.domain.shape)
        release, scale, choices, answers = recorded(algorithm, x, workload, epsilon, trials=3)
        matrix = workload.matrix()
        scaled = matrix / max(1.0, np.abs(matrix).max())
        coefficients = workload.ranges().weights / max(1.0, np.abs(matrix).max())
        for trial in range(3):
            chosen = [int(outcome[trial]) for _, outcome in choices]
            told = [coefficients[j] * outcome[trial] for j, (_, outcome) in zip(chosen, answers, strict=True)]
            iterates = dense.rounds(scale[trial], scaled, chosen, told, 9)
            for number, (question, _) in enumerate(choices):
                expected = dense.scores(x.reshape(-1), iterates[number], matrix, chosen[:number])
                np.testing.assert_allclose(question.truth[trial], expected, rtol=1e-9, atol=1e-9 * scale[trial])
            expected = np.mean(iterates[1:], axis=0) if average else iterates[-1]
            found = release.estimate[trial].reshape(-1)
            np.testing.assert_allclose(found, expected, rtol=1e-9, atol=3e-13 * scale[trial])
            assert found.sum() == pytest.approx(scale[trial], rel=1e-9)

    def test_the_whole_update_history_at_the_defaults(self):
        """Ten rounds of a hundred replays, to 3e-13 of the scale."""
        x = np.random.default_rng(2).integers(0, 40, size=32)
        release, scale, choices, answers = recorded(REPLAYS, x, Prefix(32), 1)
        chosen = [int(outcome[0]) for _, outcome in choices]
        told = [outcome[0] for _, outcome in answers]
        expected = dense.rounds(scale[0], Prefix(32).matrix(), chosen, told, 100)[-1]
        np.testing.assert_allclose(release.estimate[0], expected, rtol=0, atol=3e-13 * scale[0])


class TestMaximumEntropy:
    @pytest.mark.parametrize("notion", [{"epsilon": 2}, {"epsilon": None, "rho": 0.05}], ids=["pure", "zCDP"])
    @pytest.mark.parametrize("average", [False, True])
    @pytest.mark.parametrize("workload", [each for each in WORKLOADS if each.domain.ndim < 3], ids=repr)
    def test_every_score_and_the_estimate_are_the_dense_ones(self, workload, average, notion, monkeypatch):
        """Solved to the end: scores |W x - W xhat| of every round, and the last estimate or the mean."""
        monkeypatch.setattr(maximum_entropy, "STEPS", 300)
        monkeypatch.setattr(maximum_entropy, "LAST_STEPS", 300)
        monkeypatch.setattr(maximum_entropy, "TOLERANCE", 1e-11)
        monkeypatch.setattr(maximum_entropy, "LAST_TOLERANCE", 1e-11)
        algorithm = algorithms.get("MWEM", rounds=6, inference="maximum entropy", average=average)
        x = np.random.default_rng(1).integers(0, 40, size=workload.domain.shape)
        recording = Recording()
        release = algorithm._outcome(x, workload, trials=2, seed=0, channel=recording, **notion)
        choices, answers = recording.exchanges[1::2], recording.exchanges[2::2]
        least = 1 / release.ledger.notion._as_epsilon(release.ledger.budget)
        scale = np.maximum(recording.exchanges[0][1], least)
        share = answers[0][0].amount
        deviation = np.sqrt(2) / release.ledger.notion._as_epsilon(share)
        matrix, boxes = workload.matrix(), (workload.matrix() != 0).astype(float)
        boxes[workload.ranges().weights == 0] = Ranges(
            workload.domain, workload.ranges().lower, workload.ranges().upper
        ).matrix()[workload.ranges().weights == 0]
        for trial in range(2):
            chosen = [int(outcome[trial]) for _, outcome in choices]
            shares = np.array([outcome[trial] for _, outcome in answers]) / scale[trial]
            iterates = [np.full(x.size, scale[trial] / x.size)]
            for number in range(1, len(chosen) + 1):
                penalty = maximum_entropy.PENALTY * deviation / scale[trial]
                solved = dense_entropy.shares(boxes[chosen[:number]], shares[:number], penalty)
                iterates.append(scale[trial] * solved)
            for number, (question, _) in enumerate(choices):
                expected = dense.scores(x.reshape(-1), iterates[number], matrix, chosen[:number])
                np.testing.assert_allclose(question.truth[trial], expected, rtol=1e-6, atol=1e-6 * scale[trial])
            expected = np.mean(iterates[1:], axis=0) if average else iterates[-1]
            np.testing.assert_allclose(release.estimate[trial].reshape(-1), expected, atol=1e-6 * scale[trial])

    @pytest.mark.parametrize(("rounds", "inference"), [(20, "replays"), (21, "maximum entropy")])
    def test_few_rounds_are_replayed(self, rounds, inference):
        """By default: up to 20, of those that take place."""
        x = np.arange(40)
        for workload in (Prefix(40), RandomRange(40, 50)):
            found = algorithms.get("MWEM", rounds=rounds).run(x, workload, 1, 3, seed=0)
            other = algorithms.get("MWEM", rounds=rounds, inference=inference).run(x, workload, 1, 3, seed=0)
            np.testing.assert_array_equal(found, other)
        few = [algorithms.get("MWEM", rounds=30, inference=each) for each in ("by rounds", "replays")]
        np.testing.assert_array_equal(*(each.run(np.arange(9), Prefix(9), 1, 3, seed=0) for each in few))

    def test_more_than_two_axes_are_replayed(self):
        """There the grid of the boxes' sides has too many cells; the ledger need not say so, since it always holds."""
        x, workload = np.arange(24).reshape(2, 3, 4), RandomRange((2, 3, 4), 25)
        found = ENTROPY.run(x, workload, 1, 3, seed=0)
        np.testing.assert_array_equal(found, REPLAYS.run(x, workload, 1, 3, seed=0))

    @pytest.mark.parametrize("batch", [2**22, 1], ids=["together", "one by one"])
    def test_the_ledger_says_what_was_replayed(self, batch, monkeypatch):
        """Where the last round fails: notes, and an estimate that adds up to the scale."""
        assert ENTROPY.outcome(np.arange(30), Prefix(30), 1, 3, seed=0).ledger.notes == ()
        monkeypatch.setattr(query_selection, "LARGEST_BATCH", batch)
        monkeypatch.setattr(maximum_entropy, "FAR", -1.0)
        release, scale, *_ = recorded(ENTROPY, np.arange(30), Prefix(30), 1, trials=3)
        notes = release.ledger.notes
        assert notes
        assert all("was replayed: maximum entropy did not converge" in words for words in notes)
        assert "note: trial 1 of" in str(release.ledger)
        np.testing.assert_allclose(release.estimate.sum(axis=1), scale, rtol=1e-9)

    @pytest.mark.parametrize("notion", [{"epsilon": 2}, {"epsilon": None, "rho": 0.05}], ids=["pure", "zCDP"])
    @pytest.mark.parametrize("workload", [Prefix(40), RandomRange(40, 60), RandomRange((6, 7), 50)], ids=repr)
    def test_the_same_answers_give_the_same_estimate_on_a_neighbour(self, workload, notion):
        """25 rounds, one record more in any cell: bit for bit, at a loss within the budget under pure DP."""
        algorithm = algorithms.get("MWEM", rounds=25)
        x = np.random.default_rng(0).integers(0, 9, size=workload.domain.shape)
        recording = Recording()
        told = algorithm._outcome(x, workload, trials=4, seed=0, channel=recording, **notion).estimate
        for cell in (0, 17, 39):
            more = x.copy()
            more.reshape(-1)[cell] += 1
            replay = Replay(recording)
            found = algorithm._outcome(more, workload, trials=4, noise=NoNoise(4), channel=replay, **notion).estimate
            np.testing.assert_array_equal(found, told)
            if "rho" not in notion:
                assert (np.abs(replay.total(4)[0]) <= 2).all()

    def test_a_box_is_learned_whatever_its_weight(self):
        """The number of records in it was measured; weights are for scores alone."""
        workload = Ranges(4, [0, 1], [2, 4], [0, 0])
        release, _, _, answers = recorded(ENTROPY, [90, 0, 5, 5], workload, 100, side_information="public")
        assert [float(outcome[0]) for _, outcome in answers] != [50, 75]
        assert release.estimate[0, 0] == pytest.approx(90, abs=3)


class TestSelection:
    def test_no_query_is_measured_twice(self):
        """With as many rounds as queries every query is chosen exactly once."""
        algorithm = algorithms.get("MWEM", rounds=8, replays=2)
        _, _, choices, _ = recorded(algorithm, np.arange(8), Prefix(8), 0.1, trials=50)
        np.testing.assert_array_equal(np.sort([outcome for _, outcome in choices], axis=0).T, [np.arange(8)] * 50)

    def test_the_first_choice_follows_the_exponential_mechanism(self):
        """Frequencies against exp(epsilon u / (4 T)) by chi-square: the 1e-4 quantile at 5 degrees is 25.7."""
        x, epsilon, trials = np.array([9, 0, 4, 1, 0, 7]), 2.0, 20_000
        algorithm = algorithms.get("MWEM", rounds=2, replays=1)
        _, _, choices, _ = recorded(algorithm, x, Prefix(6), epsilon, trials, seed=4, side_information="public")
        score = np.abs(np.cumsum(x - x.mean()))
        expected = np.exp(epsilon * score / 8)
        expected *= trials / expected.sum()
        observed = np.bincount(choices[0][1], minlength=6)
        assert ((observed - expected) ** 2 / expected).sum() < 25.7

    def test_without_noise_the_worst_answered_query_is_measured(self):
        """Argmax of |W x - W xhat| against the uniform start."""
        x = np.array([0, 0, 50, 0, 0, 0])
        recording = Recording()
        MWEM._outcome(x, Identity(6), 1e4, noise=NoNoise(1), channel=recording, side_information="public")
        assert recording.exchanges[0][1].tolist() == [2]

    def test_the_largest_weight_is_the_sensitivity(self):
        """Of the score; the box that is measured counts records, which one record moves by 1."""
        _, _, choices, answers = recorded(MWEM, np.arange(9), WEIGHTED, 1)
        assert {question.sensitivity for question, _ in choices} == {3}
        assert {question.sensitivity for question, _ in answers} == {1}

    def test_weights_all_zero_are_no_error(self):
        """Replays learn nothing from them, and the estimate stays uniform."""
        estimate, scale, *_ = recorded(REPLAYS, np.arange(4), Ranges(4, [0, 1], [2, 4], [0, 0]), 1)
        np.testing.assert_allclose(estimate.estimate[0], scale[0] / 4)


class TestBudget:
    def test_each_round_spends_the_same_on_both_halves(self):
        """epsilon / 20 goes to the scale; then 2 T charges of equal size."""
        release, *_ = recorded(MWEM, np.arange(40), Prefix(40), Fraction(1, 10))
        amounts = [charge.amount for charge in release.ledger.charges]
        assert amounts == [Fraction(1, 200), *[Fraction(19, 200) / 20] * 20]

    def test_the_share_selects(self):
        """share of a round on the selection, the rest on the answer."""
        algorithm = algorithms.get("MWEM", rounds=2, share=0.25)
        release, *_ = recorded(algorithm, np.arange(40), Prefix(40), 1, side_information="public")
        spent = [charge.amount for charge in release.ledger.charges if charge.kind != "public"]
        assert spent == [Fraction(1, 8), Fraction(3, 8)] * 2

    @pytest.mark.parametrize("n", [1, 3])
    def test_fewer_queries_than_rounds_are_all_measured(self, n):
        """T = min(T, q), and the budget is shared by the rounds that take place."""
        release, _, choices, _ = recorded(MWEM, np.arange(n), Prefix(n), 1)
        assert len(choices) == n
        assert release.ledger.spent == 1

    def test_batches_and_single_trials_agree(self, monkeypatch):
        """Where the scores of all trials would be too many, trials are run one by one, with the same draws."""
        x, workload = np.arange(30), RandomRange(30, 20)
        together = MWEM.run(x, workload, 0.5, trials=3, seed=0)
        monkeypatch.setattr(query_selection, "LARGEST_BATCH", 20)
        np.testing.assert_array_equal(MWEM.run(x, workload, 0.5, trials=3, seed=0), together)
        released = MWEM.outcome(x, workload, 0.5, trials=3, seed=0).ledger
        assert released.charges[-1].kind == "trials"


class TestEdges:
    def test_one_cell_gets_the_scale(self):
        """Whatever is measured, the total is kept."""
        release, scale, *_ = recorded(MWEM, [70], Prefix(1), 0.5, trials=4)
        np.testing.assert_allclose(release.estimate[:, 0], scale, rtol=1e-12)

    def test_no_records_and_a_public_scale_give_zeros(self):
        """Where the authors' code divides by zero."""
        published = algorithms.get("MWEM", variant="published")
        np.testing.assert_array_equal(
            published.run(np.zeros(9, dtype=int), Prefix(9), 0.1, 3, seed=0), np.zeros((3, 9))
        )

    @pytest.mark.parametrize("algorithm", [REPLAYS, ENTROPY], ids=["replays", "maximum entropy"])
    @pytest.mark.parametrize("side_information", ["estimated", "public"])
    @pytest.mark.parametrize("epsilon", [1e-6, 1e6])
    def test_extreme_epsilons_stay_finite(self, epsilon, side_information, algorithm):
        """Answers a million times the scale overflow in the authors' code; here exponents are clipped."""
        x = np.arange(40)
        release, scale, *_ = recorded(algorithm, x, Prefix(40), epsilon, 5, side_information=side_information)
        np.testing.assert_allclose(release.estimate.sum(axis=1), scale, rtol=1e-9)
        assert (release.estimate >= 0).all()

    def test_it_is_biased_for_ever(self):
        """The paper's example: the Identity workload, x_i = i, fewer rounds than cells."""
        x = np.arange(40)
        estimate = algorithms.get("MWEM", rounds=20).run(x, Identity(40), 1e9, trials=2, seed=0)
        assert (np.abs(estimate - x).max(axis=1) > 1).all()
        assert not MWEM.consistent

    @pytest.mark.parametrize("inference", ["maximum entropy", "replays"])
    def test_many_rounds_and_replays_find_positive_counts(self, inference):
        """T = q = n without noise to speak of."""
        x = np.array([3, 9, 1, 4, 7, 2])
        algorithm = algorithms.get("MWEM", rounds=6, inference=inference, replays=3000)
        np.testing.assert_allclose(algorithm.run(x, Prefix(6), 1e9, seed=0)[0], x, rtol=1e-5)

    def test_heavy_weights_do_not_make_the_updates_overshoot(self):
        """A workload times 10 is measured as badly and learned as well."""
        ranges = RandomRange(20, 15).ranges()
        heavy = Ranges(20, ranges.lower, ranges.upper, np.full(15, 10.0))
        x = np.arange(20)
        np.testing.assert_allclose(MWEM.run(x, heavy, 0.5, 3, seed=0), MWEM.run(x, ranges, 0.5, 3, seed=0), rtol=1e-9)


class TestPublished:
    published = algorithms.get("MWEM", variant="published")

    def test_it_is_told_the_scale(self):
        """And adds up to it."""
        x = np.arange(30)
        found = self.published.run(x, Prefix(30), 0.1, 3, seed=0)
        np.testing.assert_allclose(found.sum(axis=1), x.sum(), rtol=1e-9)

    def test_it_replays_and_selects_as_the_study_did(self):
        """A hundred replays, and a Gumbel draw per candidate; the private form draws once."""
        assert (self.published.inference, self.published.replays) == ("replays", 100)
        assert MWEM.inference == "by rounds"
        for algorithm, kind in ((self.published, GumbelMax), (MWEM, Exponential)):
            _, _, choices, _ = recorded(algorithm, np.arange(9), Prefix(9), 1, side_information="public")
            assert {type(question.mechanism) for question, _ in choices} == {kind}

    def test_the_starred_form_takes_its_variant_along(self):
        """MWEM* as published replays; with the same rounds it is MWEM as published."""
        x = np.arange(30)
        starred = algorithms.get("MWEM*", variant="published")
        rounds = starred._parameters_for(Prefix(30).domain, 0.1 * x.sum())
        plain = algorithms.get("MWEM", variant="published", **rounds)
        np.testing.assert_array_equal(
            starred.run(x, Prefix(30), 0.1, 3, seed=0), plain.run(x, Prefix(30), 0.1, 3, seed=0)
        )

    def test_it_is_not_private(self):
        """The check says why."""
        assert not self.published.is_private
        with pytest.raises(CheckFailed, match="knows the true scale"):
            check_algorithm(self.published)


class TestRefusals:
    def test_a_distribution_has_no_list(self):
        """Nothing can be selected from it."""
        with pytest.raises(Unsupported, match="selects from a list of queries and RandomRange.* is a distribution"):
            MWEM.run(np.arange(9), RandomRange(9, queries=None), 1, seed=0)

    def test_too_long_a_list(self):
        """All ranges of a large domain are never listed."""
        with pytest.raises(InvalidWorkload, match="at most 5000000 are listed"):
            MWEM.run(np.arange(4096), AllRange(4096), 1, seed=0)

    @pytest.mark.parametrize(
        ("bad", "words"),
        [
            ({"rounds": 0}, "rounds is 0;"),
            ({"rounds": 2.5}, r"rounds is 2\.5;"),
            ({"replays": 0}, "replays is 0;"),
            ({"share": 0}, "share is 0;"),
            ({"share": 1.0}, r"share is 1\.0;"),
        ],
    )
    def test_bad_parameters_are_quoted(self, bad, words):
        """With the range that is wanted."""
        with pytest.raises(InvalidInput, match=words):
            algorithms.get("MWEM", **bad)
