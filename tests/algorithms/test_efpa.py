"""EFPA: the first Fourier coefficients, as many as the noise leaves worth keeping."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from dpbench import algorithms
from dpbench.audit import check_algorithm
from dpbench.errors import CheckFailed, UnknownName, Unsupported
from dpbench.mathematics.fourier import coordinates, cutoffs, sensitivities, synthesis
from dpbench.privacy import NoNoise, Recording
from dpbench.workloads import Prefix, RandomRange
from reference import efpa as reference
from reference.sampling import standard_errors

EFPA = algorithms.get("EFPA")
PUBLISHED = algorithms.get("EFPA", variant="published")
SIZES = [1, 2, 3, 4, 5, 8, 13, 16, 20]
RULES = ["exact", "tight", "sqrtk"]


def recorded(algorithm, counts, epsilon, trials=1, seed=0):
    """The two exchanges of a run, selection and measurement, and its estimate."""
    recording = Recording()
    release = algorithm._outcome(counts, Prefix(len(counts)), epsilon, trials, seed, channel=recording)
    return *recording.exchanges, release.estimate


class TestBasis:
    @pytest.mark.parametrize("n", SIZES)
    def test_is_the_one_written_out(self, n):
        """Coordinates are those of the explicit matrix, which is orthonormal; synthesis is their inverse."""
        matrix = reference.basis(n)
        x = np.random.default_rng(n).normal(size=(3, n))
        assert np.allclose(matrix @ matrix.T, np.eye(n), atol=1e-13)
        assert np.allclose(coordinates(x), x @ matrix.T, atol=1e-13)
        assert np.allclose(synthesis(x), x @ matrix, atol=1e-13)

    @pytest.mark.parametrize("n", [*SIZES, 100, 257, 360])
    def test_sensitivities_bound_every_column_and_little_more(self, n):
        """The exact rule is the largest column sum, never below it; the tight one is above, sqrt(k) above that."""
        sums = np.abs(np.cumsum(np.abs(reference.basis(n)), axis=0)).max(axis=1)[cutoffs(n) - 1]
        exact, tight = sensitivities(n, exact=True), sensitivities(n, exact=False)
        assert (exact >= sums).all()
        assert np.allclose(exact, sums, rtol=1e-11)
        assert (tight * (1 + 1e-12) >= exact).all()
        assert (np.sqrt(cutoffs(n)) * (1 + 1e-12) >= tight).all()

    def test_two_values_of_the_tight_rule(self):
        """1.061 for three coordinates of eight cells; 3.70 is exact for all of sixteen."""
        assert sensitivities(8, exact=False)[1] == pytest.approx(3 / np.sqrt(8))
        assert sensitivities(16, exact=True)[-1] == pytest.approx(3.70, abs=0.005)

    @pytest.mark.parametrize("n", SIZES)
    def test_cutoffs_part_no_pair(self, n):
        """1, 3, 5, ... and n."""
        assert cutoffs(n).tolist() == reference.kept(n)


class TestPrivate:
    @pytest.mark.parametrize("rule", RULES)
    @pytest.mark.parametrize("n", SIZES)
    def test_scores_are_those_of_the_definition(self, n, rule):
        """Minus the length of the tail minus the length of the noise; sensitivity 1, half of epsilon."""
        counts = np.random.default_rng(n).integers(0, 30, n)
        (asked, _), _, _ = recorded(algorithms.get("EFPA", noise=rule), counts, 0.5)
        assert asked.truth == pytest.approx(reference.scores(counts, 0.5, rule), rel=1e-9)
        assert (asked.amount, asked.sensitivity, asked.level) == (Fraction(1, 4), 1, 0.125)

    def test_a_sinusoid_keeps_three_coordinates(self):
        """A constant and one frequency: never fewer than three at a large scale, three most often, more by the softmax.

        The noise of one more pair costs a constant number of nats, whatever epsilon and the scale. Chi-square of
        20,000 draws in 8 classes, false alarm 1e-4 (7 degrees: 29.9).
        """
        counts = np.rint(10**6 * (1 + 0.5 * np.cos(2 * np.pi * np.arange(32) / 32))).astype(int)
        (_, chosen), _, _ = recorded(EFPA, counts, 1, trials=20_000)
        logits = reference.scores(counts, 1, "exact") / 4
        weights = np.exp(logits - logits.max())
        expected = 20_000 * weights / weights.sum()
        seen = np.bincount(chosen, minlength=17)
        assert seen[0] == 0
        assert seen.argmax() == 1
        classes = np.append(expected[1:8], expected[8:].sum()), np.append(seen[1:8], seen[8:].sum())
        assert ((classes[1] - classes[0]) ** 2 / classes[0]).sum() < 29.9

    @pytest.mark.parametrize("rule", RULES)
    def test_variance_of_a_cell_for_every_number_of_coordinates(self, rule):
        """The mean variance of a cell is 2 k (2 sensitivity / epsilon)^2 / n; 4 standard errors, false alarm 6e-5."""
        n, algorithm = 16, algorithms.get("EFPA", noise=rule)
        (_, chosen), _, estimate = recorded(algorithm, np.zeros(n, dtype=int), 2, trials=10_000)
        for place, k in enumerate(cutoffs(n)):
            mine = chosen == place
            if mine.sum() > 500:
                expected = 2 * k * reference.sensitivity(n, k, rule) ** 2 / n
                assert abs(standard_errors((estimate[mine] ** 2).mean(axis=1), expected)) < 4
        assert (np.bincount(chosen) > 500).sum() >= 2

    def test_all_coordinates_by_the_publications_rule(self):
        """With k = n and sqrt(k), a cell has the variance 2 n / (epsilon / 2)^2."""
        counts = 10**9 * (np.arange(8) % 2)
        algorithm = algorithms.get("EFPA", noise="sqrtk")
        (_, chosen), _, estimate = recorded(algorithm, counts, 1, trials=10_000)
        assert (chosen == 4).all()
        assert abs(standard_errors(((estimate - counts) ** 2).mean(axis=1), 2 * 8 / 0.25)) < 4

    def test_coordinates_beyond_the_cutoff_are_not_asked(self):
        """The measured answers are the kept coordinates over their sensitivity, then zeros."""
        counts = np.random.default_rng(0).integers(0, 50, 13)
        (_, chosen), (measured, _), _ = recorded(EFPA, counts, 1, trials=30)
        f = reference.basis(13) @ counts
        for place, answers in zip(chosen, measured.truth, strict=True):
            k = cutoffs(13)[place]
            assert answers[:k] * reference.sensitivity(13, k, "exact") == pytest.approx(f[:k], abs=1e-9)
            assert (answers[k:] == 0).all()

    def test_without_noise_the_kept_part_comes_back(self):
        """The estimate is the projection on the kept coordinates."""
        counts = np.random.default_rng(1).integers(0, 50, 16)
        estimate = EFPA._outcome(counts, Prefix(16), 1e6, noise=NoNoise(1)).estimate
        assert np.allclose(estimate, counts, atol=1e-9)

    def test_phases_of_a_neighbour_are_possible(self):
        """The phases of the output are not those of the counts: with them a neighbour could be told for certain."""
        counts = np.random.default_rng(2).integers(0, 50, 16)
        estimate = EFPA.run(counts, Prefix(16), 10, trials=20, seed=0)
        true, seen = np.angle(np.fft.rfft(counts)[1:8]), np.angle(np.fft.rfft(estimate)[:, 1:8])
        assert (np.abs(np.sin(seen - true)) > 1e-6).all(axis=1).sum() > 10

    def test_empty_data_keep_few_coordinates(self):
        """On zeros one coordinate is the most frequent choice: 0.26 against 0.21 for two, six deviations apart."""
        (_, chosen), _, _ = recorded(EFPA, np.zeros(256, dtype=int), 0.1, trials=10_000)
        assert np.bincount(chosen).argmax() == 0


class TestPublished:
    @pytest.mark.parametrize("n", SIZES[1:])
    def test_scores_are_those_of_the_authors(self, n):
        """Tails of coefficients that are not normalised, sqrt(2) k / (epsilon / 2) for the noise."""
        counts = np.random.default_rng(n).integers(0, 30, n)
        (asked, _), _, _ = recorded(PUBLISHED, counts, 0.5)
        assert asked.truth == pytest.approx(reference.published_scores(counts, 0.5), rel=1e-9, abs=1e-6)

    def test_phases_are_the_true_ones(self):
        """Modulo a half turn, the phases of the output are those of the counts."""
        counts = np.random.default_rng(2).integers(0, 50, 16)
        estimate = PUBLISHED.run(counts, Prefix(16), 10**4, trials=5, seed=0)
        turned = np.fft.rfft(estimate)[:, 1:8] / np.exp(1j * np.angle(np.fft.rfft(counts)[1:8]))
        assert np.abs(turned.imag).max() < 1e-9

    def test_noise_of_a_cell(self):
        """At k = n a cell has the variance 2 / (epsilon / 2)^2, n times less than by the publication's rule."""
        counts = 10**9 * (np.arange(256) % 2) + np.random.default_rng(3).integers(0, 10**8, 256)
        (_, chosen), _, estimate = recorded(PUBLISHED, counts, 10, trials=400)
        assert (chosen == 128).all()
        assert ((estimate - counts) ** 2).mean() == pytest.approx(0.08, rel=0.05)

    def test_not_private_and_says_why(self):
        """The check names the phases, and the ledger is marked."""
        with pytest.raises(CheckFailed, match="true phases"):
            check_algorithm(PUBLISHED)
        assert not PUBLISHED.outcome(np.arange(8), Prefix(8), 1, seed=0).ledger.private


def test_an_unknown_rule_is_quoted():
    """The rules are named."""
    with pytest.raises(UnknownName, match="'loose'"):
        algorithms.get("EFPA", noise="loose")


def test_one_axis_only():
    """Two axes are refused."""
    with pytest.raises(Unsupported, match="1-D"):
        EFPA.run(np.ones((4, 4)), RandomRange((4, 4), queries=2), 1, seed=0)
