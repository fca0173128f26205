"""Tasks, as values and as files."""

from __future__ import annotations

import json
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dpbench as dpb
from dpbench.errors import InvalidDomain, InvalidTask
from dpbench.loss import L1, L2, Linf, Relative
from dpbench.standards import Standards
from dpbench.task.parts import AlgorithmPart, Generator, InvalidPart, Measuring, WorkloadPart
from dpbench.task.task import RANGE_1D, RANGE_2D, TASKS, Task
from dpbench.workloads import Prefix, RandomRange, Ranges

THREE_D = {
    "dimensions": 3,
    "domains": ["16x16x16"],
    "workloads": [{"name": "RandomRange", "queries": 500}],
}


def test_the_papers_tasks_are_the_papers():
    """18 and 9 datasets, 15 and 14 algorithms, scales 10^3 to 10^8, epsilon 0.1."""
    assert [str(d) for d in RANGE_1D.generator.domains] == ["256", "512", "1024", "2048", "4096"]
    assert [str(d) for d in RANGE_2D.generator.domains] == ["32x32", "64x64", "128x128", "256x256"]
    assert (len(RANGE_1D.datasets), len(RANGE_1D.algorithms)) == (18, 15)
    assert (len(RANGE_2D.datasets), len(RANGE_2D.algorithms)) == (9, 14)
    for task in TASKS.values():
        assert task.generator.scales == tuple(10**k for k in range(3, 9))
        assert task.generator.epsilons == (0.1,)
        assert (task.generator.samples, task.measuring.trials, task.measuring.percentile) == (5, 10, 95)
        assert (task.repair.side_information, task.repair.rho_total) == ("estimated", 0.05)
        assert (task.interpreting.baselines, task.interpreting.alpha) == (("Identity", "Uniform"), 0.05)
    assert RANGE_1D.build_workloads(1024) == (Prefix(1024),)
    assert RANGE_2D.build_workloads("64x64") == (RandomRange((64, 64), queries=2000, seed=0),)


def test_three_dimensions_are_a_task_like_any_other():
    """Dimensions, domains and workloads are all that it takes."""
    task = Task.from_dict(THREE_D)
    (workload,) = task.build_workloads("16x16x16")
    assert workload == RandomRange((16, 16, 16), queries=500)
    assert task.algorithms == ()
    assert task.measuring == Measuring()


def test_parts_stand_in_their_groups_or_on_their_own():
    """Settings have unique names, so both ways mean the same."""
    flat = Task.from_dict({**THREE_D, "trials": 20, "epsilons": [1], "alpha": 0.01})
    grouped = Task.from_dict(
        {
            **{key: THREE_D[key] for key in ("dimensions", "workloads")},
            "generator": {"domains": ["16x16x16"], "epsilons": [1.0]},
            "measuring": {"trials": 20},
            "interpreting": {"alpha": 0.01},
        }
    )
    built = Task(
        dimensions=3,
        workloads=(WorkloadPart("RandomRange", (("queries", 500),)),),
        generator=Generator(domains=("16x16x16",), epsilons=(1,)),
    ).replace(trials=20, alpha=0.01)
    assert flat == grouped == built
    assert hash(flat) == hash(grouped)


def test_any_part_can_be_replaced():
    """The rest stays, and the original too."""
    task = RANGE_1D.replace(scales=1000, loss="L1", datasets="ADULT", workloads=["Identity"], name="mine")
    assert task.generator.scales == (1000,)
    assert task.generator.domains == RANGE_1D.generator.domains
    assert task.datasets == ("ADULT",)
    assert task.workloads == (WorkloadPart("Identity"),)
    assert (RANGE_1D.loss, task.loss) == (L2(), L1())
    assert Task.from_dict({"base": "RANGE_1D", "scales": [1e3]}).generator.scales == (1000,)
    assert Task.from_dict({"base": "RANGE_2D"}) == RANGE_2D
    assert RANGE_1D.replace(measuring=Measuring(trials=3)).measuring.trials == 3


@pytest.mark.parametrize(
    ("parts", "says"),
    [
        ({"bass": "RANGE_1D"}, "did you mean base"),
        ({"base": "RANGE_3D"}, "RANGE_2D"),
        ({"base": None}, "known|did you mean"),
        ({"scals": [1]}, "did you mean scales"),
        ({"generator": {"scals": [1]}}, "did you mean scales"),
        ({"generator": {"trials": 1}}, "generator setting"),
        ({"generator": 5}, "settings by name"),
        ({"trials": 3, "measuring": {"trials": 4}}, "twice"),
        ({"loss": "L3"}, "did you mean L2|known: L2|L1"),
        ({"loss": 2}, "L2"),
        ({"workloads": ["Prefx"]}, "did you mean Prefix"),
        ({"workloads": []}, "at least one"),
        ({"workloads": [{"queries": 3}]}, "no name"),
        ({"workloads": 5}, "no name"),
        ({"workloads": [{"name": "RandomRange", "queris": 3}]}, "queries, seed"),
        ({"workloads": [{"name": "RandomRange", "queries": "many"}]}, "whole number"),
        ({"workloads": [{"name": "RandomRange", "queries": None}]}, "number or a text"),
        ({"workloads": [WorkloadPart("RandomRange", (("queries", None),))]}, "queries=2000"),
        ({"workloads": [{"name": "RandomRange", "queries": [3]}]}, "number or a text"),
        ({"workloads": ["Prefix", "Prefix"]}, "twice"),
        ({"dimensions": 2}, "256 has 1 axes in a task of 2 dimensions"),
        ({"dimensions": 0}, "positive whole"),
        ({"dimensions": True}, "positive whole"),
        ({"dimensions": 2, "domains": ["8x8"]}, "Prefix is defined on 1-D"),
        ({"domains": ["16x"]}, "cannot read the domain"),
        ({"domains": []}, "at least one"),
        ({"domains": {"a": 1}}, "give a list"),
        ({"scales": [0]}, "positive whole"),
        ({"scales": [1000.5]}, "positive whole"),
        ({"scales": [1000, 1000]}, "1000 twice"),
        ({"scales": ["many"]}, "positive whole"),
        ({"epsilons": [-0.1]}, "positive finite"),
        ({"epsilons": [0]}, "positive finite"),
        ({"epsilons": [float("inf")]}, "positive finite"),
        ({"epsilons": [float("nan")]}, "positive finite"),
        ({"samples": 0}, "positive whole"),
        ({"trials": 2.5}, "positive whole"),
        ({"percentile": 100}, "between 0 and 100"),
        ({"alpha": 5}, "between 0 and 1"),
        ({"rho_total": 1}, "between 0 and 1"),
        ({"side_information": "publik"}, "did you mean public"),
        ({"free_parameters": "tables"}, "no part of a task named 'free_parameters'"),
        ({"repair": {"free_parameters": "tables"}}, "no repair setting named 'free_parameters'"),
        ({"test": "sign"}, "unpaired"),
        ({"test": ["unpaired"]}, "unpaired"),
        ({"loss": {"name": "relative", "flor": 0.1}}, "did you mean floor"),
        ({"loss": {"name": "relative", "floor": 2}}, "floor of the relative loss is 2"),
        ({"loss": {"floor": 0.1}}, "L2"),
        ({"loss": "relative:floor"}, "relative:floor=0.01"),
        ({"datasets": [3]}, "name in quotes"),
        ({"datasets": ["ADULT", "ADULT"]}, "ADULT twice"),
        ({"algorithms": [""]}, "algorithm's name is ''; write"),
        ({"algorithms": [{"name": "Hb", "variant": "publishd"}]}, "did you mean published"),
        ({"algorithms": ["Hb", "Hb"]}, "Hb is given twice"),
        ({"algorithms": [{"name": "Hb", "root": [1]}]}, "parameter root"),
        ({"baselines": 4}, "name in quotes"),
        ({"name": ""}, "name in quotes"),
    ],
)
def test_what_does_not_fit_is_refused_in_one_line(parts, says):
    """Keys and values are checked, with the nearest name where there is one."""
    given_base = {} if "bass" in parts else {"base": "RANGE_1D"}
    with pytest.raises(InvalidTask, match=says) as refusal:
        Task.from_dict({**given_base, **parts})
    assert "\n" not in str(refusal.value)


@pytest.mark.parametrize(
    ("parts", "says"),
    [
        *(({"algorithms": each}, r"holds the names of its algorithms and no objects, and .*Hb.* is no name; write")
          for each in (dpb.algorithms.get("Hb"), [dpb.algorithms.get("Hb")], [type(dpb.algorithms.get("Hb"))])),
        ({"algorithms": [len]}, "names of its algorithms and no objects, and <built-in function len> is no name"),
        ({"algorithms": [("Hb",)]}, r"\('Hb',\) is no name"),
        ({"algorithms": {"Hb"}}, r"algorithms is \{'Hb'\}; give a list"),
        ({"algorithms": iter(["Hb"])}, "algorithms is <list_iterator.*; give a list"),
        ({"algorithms": np.array(["Hb"])}, "algorithms is array.*; give a list"),
        ({"algorithms": None}, "algorithms is None; give a list"),
        ({"algorithms": [{"name": 5}]}, "the algorithm's name is 5; write for example 'Hb'"),
        ({"algorithms": [{"nme": "Hb"}]}, r"the algorithm \{'nme': 'Hb'\} has no name"),
        ({"algorithms": [{"name": "Hb", 5: 3}]}, "a parameter of algorithm Hb is called 5; write its name in quotes"),
        ({"workloads": [dpb.workloads.Prefix(64)]}, r"its workloads and no objects, and Prefix\(64\) is no name"),
        ({"workloads": [dpb.workloads.Prefix]}, "no objects, and <class .*Prefix'> is no name; write"),
        ({"workloads": {"Prefix"}}, r"workloads is \{'Prefix'\}; give a list"),
        ({"workloads": [{"name": "Prefix", 3: 1}]}, "a parameter of workload Prefix is called 3; write its name"),
        ({"workloads": [""]}, "the workload's name is ''"),
        ({"loss": L2}, "loss is <class .*L2'>; write its name, for example 'L2', or give an object of the loss"),
        ({"loss": {"nme": "L2"}}, r"the loss \{'nme': 'L2'\} has no name"),
    ],
)  # fmt: skip
def test_the_reason_of_a_refusal_is_true(parts, says):
    """What has a name is not told that it has none, and what is no list is not taken for one value."""
    with pytest.raises(InvalidTask, match=says):
        RANGE_1D.replace(**parts)


def test_numbers_of_other_libraries_are_numbers():
    """Whole numbers of numpy, and exact fractions."""
    task = RANGE_1D.replace(scales=[np.int64(100)], epsilons=Fraction(1, 10), trials=np.int32(3), samples=np.uint8(2))
    assert task == RANGE_1D.replace(scales=[100], epsilons=0.1, trials=3, samples=2)
    assert type(task.generator.scales[0]) is type(task.measuring.trials) is int


def test_what_is_missing_is_named():
    """Without a base, three things must be said."""
    with pytest.raises(InvalidTask, match="dimensions, workloads, domains"):
        Task.from_dict({"scales": [10]})
    with pytest.raises(InvalidTask, match="a mapping"):
        Task.from_dict([1])
    with pytest.raises(InvalidTask, match=r"Task\.from_dict"):
        Task(dimensions=1, workloads=("Prefix",), generator={"domains": [4]})


def test_workloads_are_built_for_domains_of_the_task_only():
    """A 2-D domain does not fit a 1-D task."""
    with pytest.raises(InvalidTask, match="give a domain with 1"):
        RANGE_1D.build_workloads("4x4")
    with pytest.raises(InvalidDomain):
        RANGE_1D.build_workloads("a")


def save(tmp_path, content, name="plan.toml"):
    path = tmp_path / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


EVERY_PART = {
    **THREE_D,
    "name": 'a "name"\twith \\ and \x01',
    "datasets": ["ADULT", "mine.csv"],
    "algorithms": ["Identity", {"name": "MWEM", "variant": "published", "rounds": 7}, {"name": "Hb", "root": True}],
    "workloads": [{"name": "RandomRange", "queries": 500, "seed": 3}, "AllRange"],
    "scales": [1000],
    "epsilons": [1e-12, 0.1],
    "trials": 3,
    "baselines": ["Uniform"],
    "alpha": 0.01,
}


@pytest.mark.parametrize("parts", [{"base": "RANGE_1D"}, {"base": "RANGE_2D"}, THREE_D, EVERY_PART])
def test_a_task_survives_as_plain_values(parts):
    """to_dict and from_dict are inverse, also through JSON, in which stores keep plans."""
    task = Task.from_dict(parts)
    assert Task.from_dict(task.to_dict()) == task
    assert Task.from_dict(json.loads(json.dumps(task.to_dict()))) == task


@pytest.mark.parametrize("given", ["Linf", "relative:floor=0.25", {"name": "relative", "floor": 0.25}])
def test_a_loss_survives_with_its_parameters(tmp_path, given):
    """In plain values, in JSON and in a file."""
    task = RANGE_1D.replace(name="plan", loss=given)
    assert task.loss in {Linf(), Relative(floor=0.25)}
    assert Task.from_dict(json.loads(json.dumps(task.to_dict()))) == task
    written = f'"{given}"' if isinstance(given, str) else '{name = "relative", floor = 0.25}'
    assert Task.from_toml(save(tmp_path, f'base = "RANGE_1D"\nloss = {written}\n')) == task


def test_standards_are_parts_of_the_task():
    """L, E_M and E_I, for whoever reads results; a test has its former name too."""
    assert RANGE_1D.standards == Standards()
    parts = {"percentile": 80, "alpha": 0.01, "baselines": ("Hb",), "test": "paired"}
    assert RANGE_1D.replace(loss="relative:floor=0.5", **parts).standards == Standards(
        loss="relative:floor=0.5", **parts
    )
    assert RANGE_1D.replace(test="unpaired t, Bonferroni").interpreting.test == "unpaired"


@settings(max_examples=40, deadline=None)
@given(st.text(min_size=1).filter(str.strip), st.floats(1e-12, 1e12), st.floats(0.001, 99))
def test_any_name_and_number_survive_as_plain_values(name, epsilon, percentile):
    """Whatever characters a name has, and however small a number is."""
    task = RANGE_1D.replace(name=name, epsilons=[epsilon], percentile=percentile)
    assert Task.from_dict(json.loads(json.dumps(task.to_dict()))) == task


def test_a_file_starts_from_a_base(tmp_path):
    """Only what differs needs to be said; the name is the file's."""
    task = Task.from_toml(save(tmp_path, 'base = "RANGE_1D"\nscales = [1e4]\n[measuring]\ntrials = 3\n'))
    assert task == RANGE_1D.replace(name="plan", scales=[10_000], trials=3)


def test_a_file_of_ranges_is_found_beside_the_plan(tmp_path):
    """A relative path is relative to the plan, not to the current folder."""
    save(tmp_path, "lower0,upper0\n0,3\n", "mine.csv")
    plan = save(tmp_path, 'dimensions = 1\ndomains = [8]\nworkloads = [{name = "Ranges", file = "mine.csv"}]\n')
    assert Task.from_toml(plan).build_workloads(8) == (Ranges(8, [0], [3]),)


@pytest.mark.parametrize(
    ("content", "line", "says"),
    [
        ('base = "RANGE_1D"\n\nscals = [1]\n', 3, "did you mean scales"),
        ('# plan\nbase = "RANGE_9D"\n', 2, "RANGE_1D"),
        ('base = "RANGE_1D"\n[generator]\nsamples = 2\nscales = [-1]\n', 4, "positive whole"),
        ('base = "RANGE_1D"\n[measurin]\ntrials = 2\n', 2, "did you mean measuring"),
        ('base = "RANGE_1D"\n[measuring]\ntrails = 2\n', 3, "did you mean trials"),
        ('base = "RANGE_1D"\nmeasuring = { trails = 2 }\n', 2, "did you mean trials"),
        ('base = "RANGE_1D"\n[[workloads]]\nname="Prefix"\n[[workloads]]\nname="Prefx"\n', 4, "Prefix"),
        ('base = "RANGE_1D"\nloss = "L1"\nworkloads = [{name="Prefx"}]\n', 3, "Prefix"),
        ('base = "RANGE_1D"\n"loss" = "L9"\n', 2, "L2|L1"),
        ('base = "RANGE_1D"\n\nloss = {name = "relative", flor = 1}\n', 3, "floor"),
        ('base = "RANGE_1D"\n[loss]\nname = "relative"\nfloor = 3\n', 2, "floor"),
        ('[[workloads]]\nname = "Prefix"\n[generator]\ndomains = [8]\n[name]\na = 1\n', None, "dimensions"),
        ('base = "RANGE_1D"\n[[workloads]]\nname = "Prefix"\n[generator]\ndomains = ["8x8"]\n', 5, "2 axes"),
        ('base = "RANGE_1D"\nmeasuring.trials = 0\n', 2, "positive whole"),
    ],
)
def test_a_mistake_in_a_file_is_refused_with_its_line(tmp_path, content, line, says):
    """The file, the line of the key, and what to do."""
    with pytest.raises(InvalidTask, match=says) as refusal:
        Task.from_toml(save(tmp_path, content))
    message = str(refusal.value)
    assert "\n" not in message
    assert (f"plan.toml, line {line}: " if line else "plan.toml: ") in message


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ("base = \n", "line 1"),
        ("a = 1\na = 2\n", "not valid TOML"),
        (b"\xff\xfe\x00", "UTF-8"),
        ("", "does not say"),
    ],
)
def test_a_file_that_is_no_task_is_refused(tmp_path, content, says):
    """Bad TOML, binary and empty files get one line."""
    with pytest.raises(InvalidTask, match=says) as refusal:
        Task.from_toml(save(tmp_path, content))
    assert "\n" not in str(refusal.value)
    assert "plan.toml" in str(refusal.value)


def test_a_missing_file_is_refused(tmp_path):
    """What cannot be opened is named."""
    with pytest.raises(InvalidTask, match=r"none.toml: No such file"):
        Task.from_toml(tmp_path / "none.toml")


@pytest.mark.parametrize(
    "plain", ["Prefix", {"name": "RandomRange", "queries": 500, "seed": 3}, {"name": "P", "a": 0.5}]
)
def test_a_workload_is_read_from_its_label(plain):
    """What results call it; a file only by its name."""
    part = WorkloadPart.of(plain)
    assert WorkloadPart.from_label(part.label) == part
    assert WorkloadPart.of({"name": "Ranges", "file": "/some/where/own.csv"}).label == "Ranges(file=own.csv)"


@pytest.mark.parametrize("label", ["", "Prefix(3)", "Prefix(", "Prefix()", "(a=1)", "Prefix(a=1"])
def test_what_is_no_label_of_a_workload_is_refused(label):
    """In one line that shows how one is written."""
    with pytest.raises(InvalidTask, match="cannot be read; write a name"):
        WorkloadPart.from_label(label)


@pytest.mark.parametrize("name", [3, None, "", b"Hb"])
def test_a_part_without_a_name_is_refused(name):
    """However it was made: a run would ask for it by name."""
    with pytest.raises(InvalidPart, match="the name of an algorithm is .*; write a name in quotes"):
        AlgorithmPart(name)
