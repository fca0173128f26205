import json

import pytest

from dpbench.paper.principles import judge
from dpbench.results import Results
from store.rows import make

LEDGER = json.dumps({"epsilon": "1/10", "charges": [{"kind": "laplace", "amount": "1/10"}]})


def study(**changes):
    """A study that keeps every principle, or breaks the one that is changed."""
    plain = {"names": ("Identity", "Uniform", "Hb"), "scales": (100, 1000), "datasets": "ab", "domains": ("16", "64")}
    chosen = plain | {key: value for key, value in changes.items() if key in plain}
    rest = {key: value for key, value in changes.items() if key not in plain}
    level = {"Identity": 2.0, "Uniform": 3.0}
    return Results._from_rows(
        make(
            **{
                "algorithm": name,
                "dataset": data,
                "domain": domain,
                "scale": scale,
                "ledger": LEDGER,
                "l2": [level.get(name, 1.0), 1.1, 1.2],
                **rest,
            }
        )
        for name in chosen["names"]
        for data in chosen["datasets"]
        for domain in chosen["domains"]
        for scale in chosen["scales"]
    )


def verdicts(results, **known):
    """Verdict by number of the principle."""
    return {each.number: each.verdict for each in judge(results, **known)}


PASSED = {"Identity": "", "Uniform": "", "Hb": ""}


def test_a_study_that_keeps_all_ten():
    """Diverse inputs, audited algorithms, variability, bias and baselines."""
    assert set(verdicts(study(), audited=PASSED).values()) == {"kept"}


@pytest.mark.parametrize(
    ("number", "changes"),
    [
        (2, {"scales": (100,)}),
        (3, {"datasets": "a"}),
        (4, {"domains": ("16", "4x4")}),
        (5, {"private": False}),
        (5, {"ledger": ""}),
        (7, {"side_information": "public"}),
        (8, {"trials": 1, "l2": [0.5]}),
        (9, {"trials": 1, "l2": [0.5]}),
        (10, {"l2": [1.0, 1.0, 1.0]}),
        (10, {"epsilon": 50.0}),
    ],
)
def test_each_principle_can_be_broken(number, changes):
    """One change, and the principle is broken."""
    assert verdicts(study(**changes), audited=PASSED)[number] == "broken"


def test_one_epsilon_needs_exchangeability():
    """Scales stand for epsilons only where the algorithms are exchangeable: declared, measured, or not known."""
    assert verdicts(study())[1] == "kept"
    assert verdicts(study(), exchangeable={("Hb", "private"): "no"})[1] == "broken"
    assert verdicts(study(names=("Identity", "Mine")))[1] == "cannot be decided"
    assert verdicts(study(names=("Identity", "Mine")), exchangeable={("Mine", "private"): "draw for draw"})[1] == "kept"


def test_what_the_store_does_not_say_is_not_decided():
    """Privacy without an audit, a stranger's parameters, parameters set by hand, no baseline."""
    assert verdicts(study())[5] == "cannot be decided"
    assert verdicts(study(), audited=PASSED | {"Hb": "it leaks"})[5] == "broken"
    assert verdicts(study(names=("Identity", "Uniform", "Mine")), audited=PASSED)[5] == "cannot be decided"
    assert verdicts(study(names=("Identity", "Uniform", "Mine")))[6] == "cannot be decided"
    assert verdicts(study(parameters='{"branching": 4}'))[6] == "cannot be decided"
    assert verdicts(study(names=("Hb",)))[10] == "cannot be decided"
