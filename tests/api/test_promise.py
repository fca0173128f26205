"""The promise of the API: any call with any arguments works, or raises a DPBenchError of one line.

It never raises anything else, gives a wrong number, runs on without end or takes the memory of the machine.
2,000 cases are tried by default, and 20,000 with ``pytest -m slow tests/api``.
"""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import dpbench as dpb
from api.calls import Fitting, bounded
from api.catalogue import GROUPS
from api.odd import ODD
from dpbench.domain import Domain
from dpbench.errors import DPBenchError


class Odd:
    """An odd value by name, so that a failing case can be read; :func:`made` makes the value."""

    def __init__(self, name):
        self.name = name

    def __repr__(self):
        return f"<{self.name}>"


odd = st.sampled_from(sorted(ODD)).map(Odd)


def made(value):
    """What a case stands for."""
    return ODD[value.name]() if isinstance(value, Odd) else value


def arguments_of(case):
    """The arguments that a case stands for, each made afresh; some fit the workload, if there is one."""
    given = {name: made(value) for name, value in case.items()}
    domain = getattr(given.get("workload"), "domain", Domain((4,)))
    return {name: value.on(domain) if isinstance(value, Fitting) else value for name, value in given.items()}


@st.composite
def cases(draw, calls):
    """A call and its arguments, all or most of them valid."""
    call = draw(st.sampled_from(calls))
    number = draw(st.sampled_from((0, 0, 0, 1, 1, 1, 1, 2)))
    wrong = draw(st.lists(st.sampled_from(sorted(call.valid)), min_size=number, max_size=number))
    arguments = {name: draw(odd) for name in wrong}
    for name, valid in call.valid.items():
        if name not in arguments and (name in call.always or draw(st.booleans())):
            arguments[name] = draw(valid)
    return call, arguments


def keeps_the_promise(case):
    """It works and the result is right, or one line says why not."""
    call, arguments = case
    given = arguments_of(arguments)
    try:
        with bounded():
            result = call.function(**given)
    except DPBenchError as refusal:
        text = str(refusal)
        assert text.strip()
        assert len(text.splitlines()) == 1
        assert len(text) < 1000
        text.encode("utf-8", "surrogatepass")
        return
    call.holds(result, arguments_of(arguments))


def trial(group, number, *, anew=False):
    """A test of so many cases of a group: the same ones every time, or others ``anew``."""

    @settings(
        max_examples=number,
        deadline=None,
        database=None,
        derandomize=not anew,
        suppress_health_check=list(HealthCheck),
        print_blob=False,
    )
    @given(case=cases(GROUPS[group]))
    def run(case):
        keeps_the_promise(case)

    return run


SHARES = {
    "domains": 100,
    "workloads": 350,
    "data": 250,
    "algorithms": 600,
    "losses": 200,
    "results": 200,
    "tasks": 150,
    "privacy": 150,
}


def test_there_are_2000_cases():
    """Of all groups together."""
    assert sum(SHARES.values()) == 2000
    assert SHARES.keys() == GROUPS.keys()


@pytest.mark.parametrize("group", SHARES)
def test_every_call_works_or_says_in_one_line_why_not(group, tmp_path, monkeypatch):
    """The default run."""
    monkeypatch.chdir(tmp_path)
    trial(group, SHARES[group])()


@pytest.mark.slow
@pytest.mark.parametrize("group", SHARES)
def test_20000_calls_work_or_say_in_one_line_why_not(group, tmp_path, monkeypatch):
    """Ten times as many."""
    monkeypatch.chdir(tmp_path)
    trial(group, 10 * SHARES[group], anew=True)()


@pytest.mark.parametrize("given", ["DAWA", None, 3, [1.0], float("nan"), object()])
def test_what_is_no_algorithm_or_mechanism_is_not_examined(given):
    """An audit takes seconds, so that it is not among the random calls; what cannot be audited is refused at once."""
    for refused in (
        lambda: dpb.testing.check_algorithm(given),
        lambda: dpb.testing.check_mechanism(given, 1, [1, 2], [1, 3]),
    ):
        with pytest.raises(DPBenchError) as caught:
            refused()
        assert len(str(caught.value).splitlines()) == 1
