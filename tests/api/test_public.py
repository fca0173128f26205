"""The promise of the API for every public name, found by looking: a call works, or raises a DPBenchError of one line.

What does not fit the signature is Python's own TypeError. 3,000 random calls by default, 40,000 by
``pytest -m slow tests/api/test_public.py``.
"""

from __future__ import annotations

import inspect
import random
import sys
from itertools import islice
from pathlib import Path

import numpy as np
import pytest

import dpbench as dpb
from api import public
from api.calls import bounded
from api.odd import ODD, Hostile
from dpbench.errors import DPBenchError

GONE = {"release", "to_toml", "buy_scale"}
"""Names of 0.1, whose AttributeError says where they are."""


@pytest.fixture(autouse=True)
def reachable(monkeypatch, tmp_path):
    """The module of the reference page, and files in a folder of its own."""
    monkeypatch.syspath_prepend(str(Path(__file__).parents[2] / "docs"))
    monkeypatch.chdir(tmp_path)
    public.files(tmp_path)
    yield
    sys.modules.pop("reference_pages", None)


def chosen(rng, name):
    """What is given for an argument, and its name in a report."""
    if public.RIGHT.get(name) and rng.random() < 0.6:
        value = rng.choice(public.RIGHT[name])
        made = value() if inspect.isfunction(value) or inspect.isclass(value) or value is public.study else value
        return made, f"{name} right"
    odd = rng.choice(sorted(ODD))
    return ODD[odd](), f"{name}=<{odd}>"


def arguments(rng, signature):
    """Arguments that fit a signature."""
    positional, named, words = [], {}, []
    for each in signature.parameters.values():
        if each.kind is each.VAR_POSITIONAL:
            some = [chosen(rng, each.name) for _ in range(rng.randrange(3))]
            positional += [value for value, _ in some]
        elif each.kind is each.VAR_KEYWORD:
            keys = rng.sample(["abc", "scale", "domain", "algorithm", "loss", "queries", "root"], rng.randrange(2))
            some = [chosen(rng, key) for key in keys]
            named |= {key: value for key, (value, _) in zip(keys, some, strict=True)}
        elif each.default is each.empty or rng.random() < 0.35:
            some = [chosen(rng, each.name)]
            if each.kind is each.POSITIONAL_ONLY:
                positional.append(some[0][0])
            else:
                named[each.name] = some[0][0]
        else:
            some = []
        words += [word for _, word in some]
    return positional, named, words


def keeps_the_promise(call):
    """Whether a call works or refuses in one line; the exception that it raises otherwise."""
    try:
        with bounded():
            result = call()
            if inspect.isgenerator(result) or isinstance(result, zip):
                list(islice(result, 5))
    except DPBenchError as refusal:
        text = str(refusal)
        return None if text.strip() and len(text.splitlines()) == 1 and len(text) < 1000 else refusal
    except Exception as error:
        return error
    return None


def broken(seed, number):
    """So many random calls: those that break the promise, one of each kind."""
    rng, every, found = random.Random(seed), list(public.entries()), {}
    for _ in range(number):
        entry = rng.choice(every)
        if entry.label.rpartition(".")[2] in GONE:
            continue
        call, words = entry.reached, []
        try:
            method = entry.reached()
        except DPBenchError:
            continue
        except Exception:  # a property that raises: looked at below
            method = None
        if callable(method) and not isinstance(method, dpb.domain.Domain):
            positional, named, words = arguments(rng, inspect.signature(method))
            call = lambda method=method, positional=positional, named=named: method(*positional, **named)  # noqa: E731
        error = keeps_the_promise(call)
        if error is not None:
            found.setdefault((entry.label, type(error).__name__), f"{words}: {str(error)[:100]!a}")
    return found


def test_every_class_has_an_instance():
    """So that a new one is looked at from its first day on."""
    classes = {name for name, value in public.public().items() if inspect.isclass(value)}
    mechanisms = {name for name in classes if public.is_mechanism(public.public()[name])}
    assert classes - mechanisms == set(public.SOME) | set(public.NOT_CALLED)
    assert len(list(public.entries())) > 500


def test_random_calls_of_every_name_keep_the_promise():
    """The same ones every time."""
    assert broken(0, 3000) == {}


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(1, 11))
def test_40000_calls_keep_the_promise(seed):
    """Others."""
    assert broken(seed, 4000) == {}


PLAN = {"algorithms": ["Identity"], "datasets": ["bimodal"], "domains": ["64"], "scales": [1000], "samples": 1} | {
    "trials": 1,
    "jobs": 0,
    "store": "store",
}
SHORT = {
    dpb.run_plan: {"plan": "demo", **PLAN},
    dpb.page.figures: {"results": None, "out": "figures"},
    dpb.testing.audit: {"algorithm": "Identity"},
    dpb.testing.audit_function: {"function": 5},
    dpb.testing.check_algorithm: {"algorithm": "Identity"},
    dpb.testing.check_mechanism: {
        "mechanism": dpb.privacy.Laplace(public.cells()),
        "loss": 1,
        "counts": [1, 2, 3, 4],
        "other": [1, 2, 3, 5],
    },
}
NAMES = ("samples", "trials", "seed", "loss", "variant", "side_information", "abc")
"""Of the arguments that ``run_plan`` passes on."""


def test_what_takes_long_has_its_arguments_checked_first():
    """Each argument of each wrong in three ways; an audit says as well that what it is given is no algorithm."""
    for function, right in SHORT.items():
        names = [each.name for each in inspect.signature(function).parameters.values() if each.kind != each.VAR_KEYWORD]
        for name in [*names, *(NAMES if function is dpb.run_plan else ())]:
            for wrong in (Hostile(), -1, float("nan")):
                error = keeps_the_promise(lambda: function(**{**right, name: wrong}))  # noqa: B023
                assert error is None, (function.__name__, name, type(wrong).__name__)


def test_public_arguments_stand_in_the_promised_order():
    """By position as in the contracts, and everything else by name."""
    algorithm, runs = dpb.Algorithm, ("self", "x", "workload", "epsilon", "trials", "seed")
    for function, order in (
        (algorithm.run, runs),
        (algorithm.outcome, runs),
        (algorithm.expected_error, ("self", "workload", "epsilon")),
        (dpb.limit, ("workload", "epsilon")),
    ):
        parameters = inspect.signature(function).parameters.values()
        assert tuple(each.name for each in parameters if each.kind == each.POSITIONAL_OR_KEYWORD) == order
        assert not {"noise", "channel", "keep"} & {each.name for each in parameters}


def test_an_epsilon_of_any_wrong_kind_is_refused():
    """Wherever there is one."""
    hb, workload = dpb.algorithms.get("Hb"), dpb.workloads.Prefix(4)
    for call in (
        lambda epsilon: hb.run([3, 0, 5, 8], workload, epsilon, seed=0),
        lambda epsilon: hb.outcome([3, 0, 5, 8], workload, epsilon, seed=0),
        lambda epsilon: hb.explain(4, workload, epsilon),
        lambda epsilon: hb.expected_error(workload, epsilon),
        lambda epsilon: dpb.limit(workload, epsilon),
        lambda epsilon: dpb.recommend(4, epsilon, 1000),
    ):
        for name, make in ODD.items():
            assert keeps_the_promise(lambda: call(make())) is None, name  # noqa: B023


def test_no_message_quotes_a_count():
    """A refusal says what is wrong with the counts and shows none of them."""
    hb, workload, secret = dpb.algorithms.get("Hb"), dpb.workloads.Prefix(4), 987654321
    for x in (
        [secret, 0.5, 1, 1],
        [secret, -1, 1, 1],
        [secret, np.nan, 1, 1],
        [secret, 1],
        [[secret, 1], [1, 1]],
        [secret, None, 1, 1],
        [secret, "a", 1, 1],
        [secret, 1j, 1, 1],
        np.array([secret, 1, 1, 2**62], dtype=np.uint64),
        [secret, [1], 1, 1],
        {secret: 1},
        (secret,),
        str(secret),
    ):
        for call in (hb.run, hb.outcome):
            with pytest.raises(DPBenchError) as caught:
                call(x, workload, 1.0, seed=0)
            assert str(secret)[:6] not in str(caught.value)
