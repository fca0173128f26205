"""Broken algorithms: each must fail, and the message must name the cause."""

from dataclasses import dataclass, replace

import numpy as np
import pytest

from audit.few import some_of
from audit.mutants import (
    BudgetNotSplit,
    HalfNoise,
    OneLevelNotCharged,
    Smuggler,
    TrueTotalUsed,
    TrueZerosKept,
)
from dpbench import Algorithm, algorithms
from dpbench.algorithms.identity import Identity
from dpbench.audit import check_algorithm
from dpbench.audit.replay_layer import check_replay
from dpbench.audit.subject import Subject
from dpbench.errors import CheckFailed
from dpbench.mathematics.cells import Cells


@dataclass(frozen=True, kw_only=True)
class BudgetLeftOver(Identity):
    name = "budget left over"

    def estimate(self, data, workload):
        return data.laplace(Cells(data.domain), data.epsilon / 2, "cells")


@dataclass(frozen=True, kw_only=True)
class ScaleUndeclared(Identity):
    name = "scale undeclared"

    def estimate(self, data, workload):
        return data.laplace(Cells(data.domain), data.epsilon, "cells") + 0 * data.scale.sum()


@dataclass(frozen=True, kw_only=True)
class AsksTwiceUnlessEmpty(Identity):
    name = "asks twice unless empty"

    def estimate(self, data, workload):
        noisy = data.laplace(Smuggler(data.domain), data.epsilon / 2, "cells")
        if Smuggler.seen[0].sum() > 0:
            noisy = (noisy + data.laplace(Cells(data.domain), data.epsilon, "again")) / 2
        else:
            data.forfeit(data.epsilon, "no data")
        return noisy


@dataclass(frozen=True, kw_only=True)
class OwnRandomness(Identity):
    name = "own randomness"

    def estimate(self, data, workload):
        noisy = data.laplace(Cells(data.domain), data.epsilon, "cells")
        return noisy + np.random.default_rng().normal(size=noisy.shape)


@dataclass(frozen=True, kw_only=True)
class SharedNoise(Identity):
    name = "one noise for all trials"

    def estimate(self, data, workload):
        noisy = data.laplace(Cells(data.domain), data.epsilon, "cells")
        return np.broadcast_to(noisy[:1], noisy.shape).copy()


@dataclass(frozen=True, kw_only=True)
class FalselyConsistent(Identity):
    name = "falsely consistent"

    def estimate(self, data, workload):
        return data.laplace(Cells(data.domain), data.epsilon, "cells") / 2


@dataclass(frozen=True, kw_only=True)
class Rounded(Identity):
    name = "rounded"

    def estimate(self, data, workload):
        return np.rint(data.laplace(Cells(data.domain), data.epsilon, "cells"))


@dataclass(frozen=True, kw_only=True)
class WrongShape(Identity):
    name = "wrong shape"

    def estimate(self, data, workload):
        return data.laplace(Cells(data.domain), data.epsilon, "cells")[0]


@dataclass(frozen=True, kw_only=True)
class DividesByZero(Identity):
    name = "divides by zero"

    def estimate(self, data, workload):
        noisy = data.laplace(Cells(data.domain), data.epsilon, "cells")
        return noisy * (np.float64(1) / np.float64(data.domain.size - 1))


class Thawed(Identity):
    name = "thawed"


@dataclass(frozen=True, kw_only=True)
class NeedsArguments(Algorithm):
    name = "needs arguments"
    depth: int


MUTANTS = [
    (HalfNoise, r"'cells' claims a sensitivity of 0\.5, but one record moved what it asks by 1; .*factor 2"),
    (OneLevelNotCharged, r"'tree' claims a sensitivity of \d+, but one record moved what it asks by"),
    (TrueZerosKept, "true zeros are kept"),
    (TrueTotalUsed, "true scale is used"),
    (BudgetNotSplit, r"spends more than epsilon .*'second look' asks for 1/10, .*\(first look\) leaves 0"),
    (BudgetLeftOver, "does not spend epsilon .* unused"),
    (ScaleUndeclared, "asked for the scale without declaring it"),
    (AsksTwiceUnlessEmpty, "is not private .*(asked|did not ask) 'again'"),
    (OwnRandomness, "two results for one seed"),
    (SharedNoise, "adds no noise"),
    (FalselyConsistent, "declares consistency"),
    (Rounded, "declares exchangeability"),
    (WrongShape, "returned shape"),
    (DividesByZero, "returned NaN or infinity"),
    (Thawed, "not a dataclass"),
    (NeedsArguments, "cannot be built without arguments"),
]


@pytest.mark.parametrize(("mutant", "cause"), MUTANTS, ids=[mutant.name for mutant, _ in MUTANTS])
def test_a_broken_algorithm_fails_and_the_cause_is_named(mutant, cause):
    """Each deliberately broken algorithm is caught, in one line that says what is wrong."""
    with pytest.raises(CheckFailed, match=cause) as caught:
        check_algorithm(mutant, cases=200)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("name", some_of(list(algorithms.everything()), 13))
def test_no_private_form_of_the_catalogue_is_refuted_by_a_few_cases(name):
    """Eight random cases each; ``python -m benchmarks.audit_cases`` runs ten thousand."""
    figures = check_replay(Subject(algorithms.get(name), cases=8))
    assert figures["cases"] >= 4


@pytest.mark.parametrize("name", ["Identity", "UGrid"])
def test_an_algorithm_of_the_catalogue_has_every_property(name):
    """All checks, with few random cases."""
    check_algorithm(algorithms.get(name), cases=16)


@pytest.mark.slow
@pytest.mark.parametrize("variant", ["private", "published"])
@pytest.mark.parametrize("name", algorithms.everything())
def test_every_algorithm_of_the_catalogue_passes(name, variant):
    """Every algorithm in the catalogue has every property, in each form that is private."""
    algorithm = algorithms.get(name, variant=variant)
    if variant == "published" and algorithm == replace(algorithms.get(name), variant=variant) and algorithm.is_private:
        return  # nothing differs: it is the private form under another name, which is checked beside
    if algorithm.is_private:
        check_algorithm(algorithm)
    else:
        with pytest.raises(CheckFailed):
            check_algorithm(algorithm)


@pytest.mark.parametrize("name", algorithms.names())
def test_every_claim_of_privacy_has_its_paragraph(name):
    """The docstring of every algorithm says which call spends what, at which sensitivity, and why."""
    text = algorithms.catalogue()[name].__doc__ or ""
    assert "Privacy\n    -------" in text


def test_something_that_is_no_algorithm_is_refused():
    """A class of another kind is told what it has to be."""
    with pytest.raises(CheckFailed, match="subclass dpbench.Algorithm"):
        check_algorithm(int)
