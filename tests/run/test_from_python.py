"""A plan from Python, and plans written out as files."""

import pytest

import dpbench as dpb
from dpbench.cli import main
from dpbench.errors import DPBenchError
from dpbench.run.suites import SUITES, load_plan
from dpbench.task.file import tasks_toml

SMALL = {"algorithms": ["Identity", "Hb"], "domains": ["64"], "scales": [1000], "samples": 1, "trials": 2}
WORDS = "--algorithm Identity --algorithm Hb --domain 64 --scale 1000 --samples 1 --trials 2 --jobs 0 --quiet"


def test_a_plan_from_python_gives_the_bytes_of_the_command(tmp_path):
    """The same settings, the same errors; a second call runs nothing."""
    results = dpb.run_plan("demo", tmp_path / "python", datasets=["bimodal"], jobs=0, **SMALL)
    assert main(["run", "demo", "--dataset", "bimodal", "--store", str(tmp_path / "command"), *WORDS.split()]) == 0
    for name in ("python", "command"):
        assert (
            main(["store", "export", str(tmp_path / name), "--canonical", "--out", str(tmp_path / f"{name}.csv")]) == 0
        )
    assert (tmp_path / "python.csv").read_bytes() == (tmp_path / "command.csv").read_bytes()
    runs = len(list((tmp_path / "python" / "shards").iterdir()))
    again = dpb.run_plan("demo", tmp_path / "python", datasets=["bimodal"], jobs=0, **SMALL)
    assert len(list((tmp_path / "python" / "shards").iterdir())) == runs
    assert (again.errors == results.errors).all()


def test_a_task_is_a_plan(tmp_path):
    """A task made in Python runs as it is."""
    task = dpb.RANGE_1D.replace(datasets=["bimodal"], algorithms=["Identity"], domains="64", scales=[1000], samples=1)
    assert len(dpb.run_plan(task, tmp_path / "store", jobs=0)) == 1


@pytest.mark.parametrize("wrong", [3, None, ["demo"], "nosuch"])
def test_what_is_no_plan_is_refused(wrong, tmp_path):
    """One line, and no folder."""
    with pytest.raises(DPBenchError):
        dpb.run_plan(wrong, tmp_path / "store")
    assert not (tmp_path / "store").exists()


def test_a_name_where_a_list_belongs_is_refused(tmp_path):
    """A text would be read letter by letter."""
    with pytest.raises(DPBenchError, match="algorithms is 'Hb'; give a list of names"):
        dpb.run_plan("demo", tmp_path / "store", algorithms="Hb")


@pytest.mark.parametrize(
    ("parts", "says"),
    [
        ({"domains": None}, "domains is None; give a list"),
        ({"scales": {1000}}, r"scales is \{1000\}; give a list"),
        ({"algorithms": None}, "algorithms is None; give a list"),
        (
            {"algorithms": [dpb.algorithms.get("Hb")]},
            "algorithms holds Hb.*, which is no name; write names, or FILE.py:Class",
        ),
    ],
)
def test_the_reason_of_a_refusal_is_true(parts, says, tmp_path):
    """Objects, and what is no list."""
    with pytest.raises(DPBenchError, match=says):
        dpb.run_plan("demo", tmp_path / "store", **parts)


@pytest.mark.parametrize("domains", ["64", 64, [(64,)], dpb.Domain((64,))])
def test_domains_are_read_as_everywhere(domains, tmp_path):
    """One or several, in any form."""
    small = SMALL | {"domains": domains, "algorithms": ["Identity"]}
    assert len(dpb.run_plan("demo", tmp_path / "store", datasets=["bimodal"], jobs=0, **small)) == 1


@pytest.mark.parametrize("suite", SUITES)
def test_a_suite_written_out_is_the_same_plan(suite, tmp_path):
    """Every task of the file is the suite's, so it has the same settings and the same seeds."""
    path = tmp_path / "plan.toml"
    path.write_text(tasks_toml(load_plan(suite).tasks), encoding="utf-8")
    assert load_plan(str(path)).tasks == load_plan(suite).tasks


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("tasks = 3", "write each task below a line"),
        ("tasks = []", "write each task below a line"),
        ("seed = 1\n[[tasks]]\nbase = 'RANGE_1D'", "seed stands beside the tasks"),
        ("[[tasks]]\nname = 'one'\nbase = 'RANGE_1D'\nscales = [-1]", "task one"),
    ],
)
def test_mistakes_in_a_file_of_several_tasks_are_named(text, said, tmp_path):
    """One line that says where."""
    path = tmp_path / "plan.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(DPBenchError, match=said):
        load_plan(str(path))


def test_print_toml_writes_what_the_options_leave(tmp_path, capsys):
    """The narrowed plan, ready to run."""
    assert main(["run", "demo", "--print-toml", "--dataset", "bimodal", *WORDS.split()]) == 0
    path = tmp_path / "plan.toml"
    path.write_text(capsys.readouterr().out, encoding="utf-8")
    (task,) = load_plan(str(path)).tasks
    assert (task.datasets, task.generator.scales, task.measuring.trials) == (("bimodal",), (1000,), 2)
