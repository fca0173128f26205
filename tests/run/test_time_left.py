"""The time left, by a clock that is simulated."""

import heapq
from dataclasses import replace

import numpy as np
import pytest

from chaos.small import study
from dpbench.run.costs import UNITS as UNITS_OF
from dpbench.run.costs import TimeLeft, chunks, seconds_of

ALGORITHMS = ("Identity", "Hb", "Uniform", "DAWA", "Privelet", "MWEM")
UNITS = study(ALGORITHMS, domains=["64", "1024", "4096"], samples=5, scales=[100, 1000, 10_000]).work[0]
"""540 units, those of the domains in the ratio of 1 to 64."""


def simulated(durations, jobs):
    """The row of each unit with the moment at which it ends, in order, of workers that take portions as a run does."""
    free = [(0.0, number) for number in range(jobs)]
    rows = []
    for portion in chunks(UNITS, jobs=jobs):
        now, worker = heapq.heappop(free)
        for unit in portion:
            took = durations[unit.key]
            now += took
            rows.append((now, unit.row(seconds=took)))
        heapq.heappush(free, (now, worker))
    return sorted(rows, key=lambda each: each[0])


def estimates(rows, jobs):
    """(how much is done, the estimate, the truth) wherever there is an estimate."""
    left, end = TimeLeft(UNITS, jobs=jobs), rows[-1][0]
    left.start(0.0)
    for number, (now, row) in enumerate(rows):
        left.add(row, now)
        said = left.seconds(now) if number % 5 == 0 else None
        if said is not None and now < end:
            yield now / end, said, end - now


def slow_start(durations, jobs, longer):
    """The first unit of each worker takes so many seconds more, as one that compiles does."""
    first = [portion[0] for portion in chunks(UNITS, jobs=jobs)[:jobs]]
    return durations | {unit.key: durations[unit.key] + longer for unit in first}


def pattern(name, total):
    """Seconds of every unit, which add up to a total."""
    rng = np.random.default_rng(0)
    cost = {unit.key: seconds_of(unit) for unit in UNITS}
    match name:
        case "algorithms are alike":  # the table is wrong by up to 80
            same = {unit.domain: cost[unit.key] for unit in UNITS if unit.algorithm.name == "DAWA"}
            cost = {unit.key: same[unit.domain] for unit in UNITS}
        case "domains are alike":  # small units are as slow as large ones
            cost = {unit.key: UNITS_OF[unit.algorithm.name] for unit in UNITS}
        case "noisy":
            cost = {key: each * rng.lognormal(0, 0.7) for key, each in cost.items()}
        case "one algorithm is slow":
            slow = {unit.key for unit in UNITS if unit.algorithm.name == "Hb"}
            cost = {key: each * (30 if key in slow else 1) for key, each in cost.items()}
        case "a busy machine":
            cost = {key: each * rng.choice([1, 4]) for key, each in cost.items()}
    whole = sum(cost.values())
    return {key: each * total / whole for key, each in cost.items()}


@pytest.mark.parametrize("jobs", [1, 4])
@pytest.mark.parametrize("longer", [0, 60])
@pytest.mark.parametrize(
    "name",
    [
        "as in the table",
        "algorithms are alike",
        "domains are alike",
        "noisy",
        "one algorithm is slow",
        "a busy machine",
    ],
)
def test_what_is_said_is_within_a_factor_of_three(name, longer, jobs):
    """From the first estimate on, which comes early, until little is left."""
    rows = simulated(slow_start(pattern(name, 600.0 * jobs), jobs, longer), jobs)
    said = list(estimates(rows, jobs))
    assert said[0][0] < 0.5
    assert 1 / 2.5 < said[0][1] / said[0][2] < 2.5
    for done, left, truth in said:
        assert done > 0.9 or truth / 3 < left < truth * 3, (done, left, truth)


def test_a_first_unit_that_compiles_does_not_make_hours():
    """One of a minute, then 539 of a quarter of a second: two minutes are left, and never more than six are said."""
    durations = dict.fromkeys([unit.key for unit in UNITS], 0.25)
    rows = simulated(slow_start(durations, 1, 60), 1)
    assert max(left for _, left, _ in estimates(rows, 1)) < 360


def test_units_that_fail_at_once_say_nothing_of_the_others():
    """An algorithm that fails in no time, beside one that takes its time."""
    durations = {unit.key: 1e-4 if unit.algorithm.name == "MWEM" else 1.0 for unit in UNITS}
    failing = {unit.key for unit in UNITS if unit.algorithm.name == "MWEM"}
    rows = [
        (now, replace(row, failure="it broke", seconds=0.0) if row.key in failing else row)
        for now, row in simulated(durations, 1)
    ]
    for done, left, truth in estimates(rows, 1):
        assert done > 0.9 or truth / 3 < left < truth * 3


def test_nothing_is_said_before_enough_is_known():
    """Neither of the first units nor in the first seconds; a row that was not asked for is no fault."""
    left = TimeLeft(UNITS[:100], jobs=2)
    left.start(0.0)
    for number, unit in enumerate(UNITS[:7], 1):
        left.add(unit.row(seconds=1.0), float(number))
        assert (left.seconds(float(number)) is None) == (number < 7)
    left.add(replace(UNITS[0].row(), key="unknown"), 8.0)
    assert left.seconds(8.0) > 0
