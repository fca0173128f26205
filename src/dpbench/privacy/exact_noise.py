"""Exact samplers: noise and selections whose laws are the published ones, with no rounding anywhere.

Noise in double precision is drawn from a set of numbers that depends on the truth, which reveals counts. Here
every draw is a whole number, and every decision compares random bits from the operating system with the true binary
digits of its chance (:mod:`dpbench.privacy.expansion`), as many as it takes. There are three steps to it.

1. *A coin of fixed chance p.* Draw 16 random bits; if they are below the first digit of p the coin is 1, above it 0,
   and where they are equal the next 16 bits decide by the next digit. That is the comparison of a uniform number with
   p, so the chance is p itself; 1 in 65,536 coins needs a second digit.
2. *A coin of chance exp(-a r) for a whole number a.* With a = sum of 2^j over its binary ones, the chance is the
   product of exp(-2^j r): it is 1 where every one of these coins of fixed chance is 1.
3. *A geometric number*, P(g) = (1 - e) e^g with e = exp(-r). Its binary digits are independent, digit j being 1 with
   chance 1 / (1 + exp(2^j r)), because e^g is the product of e^(2^j) over the binary ones of g. The digits from J on
   form a geometric number with e^(2^J) in place of e, which is nearly always 0.

The difference of two geometric numbers is discrete Laplace. The discrete Gaussian is made from it by rejection, after
Canonne, Kamath and Steinke (The discrete Gaussian for differential privacy, NeurIPS 2020).

All chances in a batch are fixed beforehand, so a batch is a few comparisons of arrays of whole numbers. The numbers
are int64, which is the only limit. A geometric number stops at 2^62 and stands there for all that are larger; at the
largest scale allowed, 2^50, that has a chance below exp(-4000), and it costs no privacy, being a function of the exact
draw. A Gaussian number beyond 2^61 is never drawn; its chance is below exp(-10^6).

Time is not protected: how long a draw takes, and how many random bytes it reads, depends on what is drawn.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from itertools import pairwise
from math import isqrt, lcm, prod
from numbers import Rational
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpbench.errors import InvalidInput, shown
from dpbench.privacy.budget import Number, exact
from dpbench.privacy.conversion import read_positive
from dpbench.privacy.expansion import Expansion, exponential, logistic, ratio

Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]
Source = Callable[[int], bytes]
"""From a number of bytes to so many random bytes."""
Exponents = Sequence[tuple[Ints, Fraction]]
"""Whole numbers a and a rate r for each of several arrays; together they say sum of a r for each element."""

Scores = Sequence[int | Fraction] | Ints
"""One score per candidate, exact: whole numbers or fractions."""

LARGEST_SCALE = 2**50
"""The largest scale of Laplace, and standard deviation of Gaussian noise."""
RARE = 16
"""Binary digits of a geometric number are drawn one by one up to a power of two that is passed with chance exp(-16)."""
LIMB = 62
"""Bits of a whole number that are kept in one int64."""


class ExactNoise:
    """Exact draws from one source of random bytes, the operating system's unless another is given.

    A source made from a seed gives the same draws every time: for tests, never for a release.
    """

    def __init__(self, source: Source = os.urandom) -> None:
        self._source = source

    def bernoulli(self, chance: Number, shape: int | Sequence[int]) -> Bools:
        """Coins that are True with a rational chance from 0 to 1."""
        p = exact(chance, "the chance of a coin")
        if not 0 <= p <= 1:
            raise InvalidInput(f"the chance of a coin is {shown(chance)}; give a number from 0 to 1")
        n, form = _form(shape)
        return (np.ones(n, dtype=np.bool_) if p == 1 else self._flip(ratio(p), n)).reshape(form)

    def bernoulli_exp(self, x: Number, shape: int | Sequence[int]) -> Bools:
        """Coins that are True with chance exp(-x), x rational and at least 0."""
        exponent = exact(x, "the exponent of a coin")
        if exponent < 0:
            raise InvalidInput(f"the exponent of a coin is {shown(x)}; give a number of at least 0")
        n, form = _form(shape)
        return (np.ones(n, dtype=np.bool_) if exponent == 0 else self._flip(exponential(exponent), n)).reshape(form)

    def discrete_laplace(self, scale: Number, shape: int | Sequence[int]) -> Ints:
        """Whole numbers k with chance proportional to exp(-|k| / scale): the difference of two geometric numbers.

        P(g - h = k) is the sum over h of (1 - e)^2 e^(|k| + 2 h) = e^|k| (1 - e) / (1 + e).
        """
        width = read_positive(scale, "the scale of discrete Laplace noise")
        if width > LARGEST_SCALE:
            raise InvalidInput(f"the scale of discrete Laplace noise is {shown(scale)}; give at most 2^50")
        n, form = _form(shape)
        return self._laplace(1 / width, n).reshape(form)

    def discrete_gaussian(self, variance: Number, shape: int | Sequence[int]) -> Ints:
        """Whole numbers k with chance proportional to exp(-k^2 / (2 variance)).

        A Laplace proposal y of chance proportional to exp(-|y| c / v) is kept with chance exp(-(|y| - c)^2 / (2 v)):
        the product is exp(-y^2 / (2 v)) times a constant, for any c > 0. c is near the standard deviation and a
        multiple of 1/q, so that (q |y| - c q)^2 is a whole number a, and the chance exp(-a r) with r = 1 / (2 v q^2).
        About 3 in 4 are kept. ``variance`` is the parameter; the draws have a little less, by a part of at most 1e-6
        from 1 on.
        """
        v = read_positive(variance, "the variance of discrete Gaussian noise")
        if v > LARGEST_SCALE**2:
            raise InvalidInput(f"the variance of discrete Gaussian noise is {shown(variance)}; give at most 2^100")
        q = 1
        while q * q * v < 16:
            q *= 2
        centre = isqrt(int(q * q * v))
        proposal, rate = centre / (q * v), 1 / (2 * v * q * q)
        n, form = _form(shape)
        kept, found = [np.empty(0, dtype=np.int64)], 0
        while found < n:
            y = self._laplace(proposal, 3 * (n - found) // 2 + 16)
            # beyond this the square of the distance would not fit; at a deviation of 2^50 it is 2^11 deviations away
            y = y[np.abs(y) < (1 << LIMB - 1) // q]
            kept.append(y[self._survives(_squared(np.abs(np.abs(y) * q - centre), rate))])
            found += len(kept[-1])
        return np.concatenate(kept)[:n].reshape(form)

    def choose(self, scores: Scores, rate: Number) -> int:
        """A candidate, i with chance proportional to exp(rate * scores[i]): the exponential mechanism."""
        return int(self.choose_each(scores, [0, len(scores)], rate)[0])

    def choose_each(self, scores: Scores, starts: Sequence[int] | Ints, rate: Number) -> Ints:
        """A candidate of every group by the exponential mechanism, numbered from the group's first; ``(groups,)``.

        Group g has the candidates ``starts[g] ... starts[g + 1] - 1``. A candidate drawn uniformly is accepted with
        chance exp(-rate * (best - score)); the first one accepted has the law wanted. In each round every group that
        is still open makes as many trials as it has candidates; the best is always accepted, so at least 63 % of the
        groups close.
        """
        begin, sizes = _groups(scores, starts)
        gaps = _gaps(scores, begin, read_positive(rate, "the rate of a selection"))
        chosen = np.full(len(sizes), -1, dtype=np.int64)
        while (opened := np.flatnonzero(chosen < 0)).size:
            group = np.repeat(opened, sizes[opened])
            candidate = begin[group] + self._below(sizes[group])
            accepted = np.flatnonzero(self._survives([(gap[candidate], unit) for gap, unit in gaps]))
            closed, first = np.unique(group[accepted], return_index=True)
            chosen[closed] = candidate[accepted[first]] - begin[closed]
        return chosen

    def choose_scaled(self, weights: Sequence[tuple[int, int]], depth: int) -> int:
        """A candidate, i with chance proportional to its weight m 2^x, given as whole numbers (m, x).

        Weights are whole multiples of a unit, ``depth`` bits below the largest, but for a rest below one unit each.
        Draw among the whole units and one more for each rest; in a unit that stands for a rest, accept with the chance
        that the rest has of it, or begin again. So exponents may be any distance apart, and nothing is rounded.
        """
        unit = max(x + m.bit_length() for m, x in weights if m) - depth
        units = [m << x - unit if x >= unit else m >> unit - x for m, x in weights]
        rests = [number for number, (_, x) in enumerate(weights) if x < unit]
        whole = sum(units)
        while True:
            place = self._below_any(whole + len(rests))
            if place >= whole:
                chosen = rests[place - whole]
                m, x = weights[chosen]
                if self._part(m, unit - x):
                    return chosen
                continue
            for number, many in enumerate(units):
                if place < many:
                    return number
                place -= many

    def permute_and_flip(self, scores: Scores, rate: Number) -> int:
        """A candidate by permute-and-flip (McKenna, Sheldon, NeurIPS 2020)."""
        return int(self.permute_and_flip_each(scores, [0, len(scores)], rate)[0])

    def permute_and_flip_each(self, scores: Scores, starts: Sequence[int] | Ints, rate: Number) -> Ints:
        """A candidate of every group by permute-and-flip, numbered from the group's first; ``(groups,)``.

        The mechanism walks through a group in random order and takes the first candidate whose coin, of chance
        exp(-rate * (best - score)), shows heads. The coins do not depend on the order: flip them all, and the first in
        random order among the heads is a uniform choice of them. The best one's coin always shows heads.
        """
        begin, sizes = _groups(scores, starts)
        heads = np.flatnonzero(self._survives(_gaps(scores, begin, read_positive(rate, "the rate of a selection"))))
        many = np.bincount(np.repeat(np.arange(len(sizes)), sizes)[heads], minlength=len(sizes))
        return np.asarray(heads[np.cumsum(many) - many + self._below(many)] - begin[:-1])

    def _words(self, n: int, kind: str) -> NDArray[Any]:
        """Uniform whole numbers of a kind such as "<u2", the same from the same bytes on every machine."""
        size = n * np.dtype(kind).itemsize
        given = self._source(size)
        if len(given) != size:
            raise InvalidInput(f"a source of random bytes gave {len(given)} of {size}; give all that are asked for")
        return np.frombuffer(given, dtype=kind)

    def _flip(self, chance: Expansion, n: int) -> Bools:
        """Coins of one chance: a uniform number against its digits, one digit at a time while they are equal."""
        words = self._words(n, "<u2")
        heads = words < chance.digit(0)
        tied = np.flatnonzero(words == chance.digit(0))
        place = 1
        while tied.size:
            words, digit = self._words(len(tied), "<u2"), chance.digit(place)
            heads[tied] = words < digit
            tied = tied[words == digit]
            place += 1
        return np.asarray(heads)

    def _geometric(self, rate: Fraction, n: int) -> Ints:
        """Whole numbers g >= 0 with chance proportional to exp(-g rate), by their independent binary digits."""
        low = 0
        while rate * (1 << low) < RARE:
            low += 1
        value = np.zeros(n, dtype=np.int64)
        for j in range(low):
            value += self._flip(logistic(rate * (1 << j)), n).astype(np.int64) << j
        top, counting = exponential(rate * (1 << low)), np.arange(n)
        for _ in range((1 << LIMB - low) - 1):
            counting = counting[self._flip(top, len(counting))]
            if not counting.size:
                break
            value[counting] += 1 << low
        return value

    def _laplace(self, rate: Fraction, n: int) -> Ints:
        both = self._geometric(rate, 2 * n)
        return np.asarray(both[:n] - both[n:])

    def _survives(self, exponents: Exponents) -> Bools:
        """Coins of chance exp(-sum of a r), the largest powers of two first: where one fails the rest need no flip."""
        alive = np.ones(len(exponents[0][0]), dtype=np.bool_)
        for a, rate in reversed(exponents):
            for j in reversed(range(int(a.max(initial=0)).bit_length())):
                asked = np.flatnonzero(alive & ((a >> j & 1) == 1))
                if asked.size:
                    alive[asked] = self._flip(exponential(rate * (1 << j)), len(asked))
        return alive

    def _bits(self, many: int) -> int:
        """A uniform whole number of so many bits."""
        size = -(-many // 8)
        return int.from_bytes(self._words(size, "u1").tobytes(), "little") >> 8 * size - many

    def _below_any(self, bound: int) -> int:
        """A uniform whole number below a bound of any size."""
        while (value := self._bits((bound - 1).bit_length())) >= bound:
            pass
        return value

    def _part(self, m: int, places: int) -> bool:
        """A coin of chance (m modulo 2^places) / 2^places, its leading zeros first, some at a time."""
        part = m if m.bit_length() <= places else m & (1 << places) - 1
        zeros = places - part.bit_length()
        while zeros > 0:
            some = min(zeros, 64)
            if self._bits(some):
                return False
            zeros -= some
        return self._bits(part.bit_length()) < part

    def _below(self, bounds: Ints) -> Ints:
        """A uniform whole number below each bound: as many random bits as the bound has, until they are below it."""
        last = (bounds - 1).astype(np.uint64)
        mask = last.copy()
        for shift in (1, 2, 4, 8, 16, 32):
            mask |= mask >> np.uint64(shift)
        value = np.zeros(len(bounds), dtype=np.uint64)
        waiting = np.arange(len(bounds))
        while waiting.size:
            value[waiting] = self._words(len(waiting), "<u8") & mask[waiting]
            waiting = waiting[value[waiting] > last[waiting]]
        return value.astype(np.int64)


def _form(shape: int | Sequence[int]) -> tuple[int, tuple[int, ...]]:
    """How many draws, and their shape."""
    form = (int(shape),) if isinstance(shape, int | np.integer) else tuple(int(side) for side in shape)
    if any(side < 0 for side in form):
        raise InvalidInput(f"draws of shape {form} were asked for; give whole numbers of at least 0")
    return prod(form), form


def _squared(distance: Ints, rate: Fraction) -> Exponents:
    """distance^2 * rate, in whole numbers that fit: the square of (high 2^31 + low) by its three terms."""
    high, low = distance >> 31, distance & (1 << 31) - 1
    return [(low * low, rate), (high * low, rate * (1 << 32)), (high * high, rate * (1 << 62))]


def _groups(scores: Scores, starts: Sequence[int] | Ints) -> tuple[Ints, Ints]:
    """Where groups of candidates begin, and their sizes."""
    begin = np.asarray(starts, dtype=np.int64)
    sizes = np.diff(begin)
    if not sizes.size or (sizes < 1).any() or begin[0] != 0 or begin[-1] != len(scores):
        raise InvalidInput(f"{len(scores)} scores do not fall into {len(sizes)} groups; give each group at least one")
    if isinstance(scores, np.ndarray) and scores.ndim != 1:
        raise InvalidInput(f"scores of shape {scores.shape} were given; give one score per candidate")
    return begin, sizes


def _gaps(scores: Scores, starts: Ints, rate: Fraction) -> Exponents:
    """How far each score is below the best of its group, times ``rate``, exactly, whatever the scores are.

    Nothing may be refused because of its value: that would answer a question about the data. Scores are brought to
    a common denominator, and gaps that need more than 62 bits are cut into several whole numbers.
    """
    if isinstance(scores, np.ndarray) and scores.dtype.kind in "iu":
        if int(scores.max()) - int(scores.min()) < 1 << LIMB:
            wide = scores.astype(np.uint64 if scores.dtype.kind == "u" else np.int64)
            best = np.repeat(np.maximum.reduceat(wide, starts[:-1]), np.diff(starts))
            return [((best - wide).astype(np.int64), rate)]
        whole, unit = scores.tolist(), 1
    elif all(isinstance(score, Rational) and not isinstance(score, bool) for score in scores):
        fractions = [exact(score, "a score") for score in scores]
        unit = lcm(*(score.denominator for score in fractions))
        whole = [int(score * unit) for score in fractions]
    else:
        raise InvalidInput("scores hold something that is no fraction; give whole numbers or fractions, not floats")
    gaps: list[int] = []
    for first, last in pairwise(starts.tolist()):
        best_of_group = max(whole[first:last])
        gaps += [best_of_group - score for score in whole[first:last]]
    return [*_limbs(gaps, rate / unit)]


def _limbs(numbers: list[int], rate: Fraction) -> Iterable[tuple[Ints, Fraction]]:
    """Whole numbers of any size as int64 parts, each with the rate that belongs to it."""
    while True:
        yield np.array([number & (1 << LIMB) - 1 for number in numbers], dtype=np.int64), rate
        numbers, rate = [number >> LIMB for number in numbers], rate * (1 << LIMB)
        if not any(numbers):
            return
