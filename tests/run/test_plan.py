import textwrap

import numpy as np
import pytest

from chaos.small import study
from dpbench.errors import CorruptData, DatasetUnavailable, InvalidPlan, UnknownName
from dpbench.run.suites import SUITES, load_plan
from dpbench.task.task import RANGE_1D

MINE = '''
from dataclasses import dataclass
import dpbench as dpb
from dpbench.mathematics.cells import Cells


@dataclass(frozen=True, kw_only=True)
class Mine(dpb.Algorithm):
    """Identity under another name."""

    name = "{name}"
    data_dependent = False
    size: int = 1

    def estimate(self, data, workload):
        return data.laplace(Cells(data.domain), data.epsilon, "cells")
'''


@pytest.fixture
def mine(tmp_path):
    """Writes a plug-in; its reference."""

    def write(name="Mine", file="mine.py", folder=tmp_path):
        folder.mkdir(exist_ok=True)
        (folder / file).write_text(MINE.format(name=name))
        return f"{folder / file}:Mine"

    return write


@pytest.fixture
def plan(tmp_path):
    """Writes a plan; its path."""

    def write(text):
        path = tmp_path / "plan.toml"
        path.write_text('base = "RANGE_1D"\ndomains = [64]\nscales = [100]\n' + textwrap.dedent(text))
        return str(path)

    return write


def test_a_plan_is_the_product_of_its_axes():
    """Every dataset, scale, sample and algorithm makes one unit, each with a key of its own."""
    units, skipped = study().work
    assert len(units) == 24
    assert len({unit.key for unit in units}) == 24
    assert skipped == []


def test_combinations_that_cannot_run_have_a_reason():
    """A 1-D dataset on a domain that does not divide it, or a 2-D algorithm in 1-D, is skipped and listed."""
    units, skipped = study(["Identity", "QuadTree"], domains=["64"]).work
    assert {unit.algorithm.name for unit in units} == {"Identity"}
    assert {(skip.algorithm, skip.reason) for skip in skipped} == {
        ("QuadTree", "QuadTree runs on 2-D domains; 64 has 1 axes")
    }


def test_a_file_that_a_domain_does_not_divide_is_skipped_with_the_reason(tmp_path):
    """One's own histogram runs where it fits."""
    np.save(tmp_path / "own.npy", np.arange(96))
    units, skipped = study(["Identity"], datasets=[str(tmp_path / "own.npy")], domains=["32", "64"]).work
    assert {unit.domain for unit in units} == {"32"}
    assert "64 does not divide 96" in skipped[0].reason


def test_a_histogram_that_is_not_on_the_machine_stops_the_plan(monkeypatch, tmp_path):
    """A named dataset that is absent is never skipped: the message says what to run."""
    monkeypatch.setenv("DPBENCH_DATA", str(tmp_path))
    monkeypatch.setattr("platformdirs.user_cache_path", lambda project: tmp_path / "cache")
    with pytest.raises(DatasetUnavailable, match="dpbench data pull"):
        _ = study(datasets=["bimodal", "MEDCOST"]).work


def test_a_histogram_that_is_damaged_stops_the_plan(monkeypatch, tmp_path):
    """A file under a published name that is not the published one is an error, not a reason to skip."""
    monkeypatch.setenv("DPBENCH_DATA", str(tmp_path))
    (tmp_path / "MEDCOSTfrank.n4096.npy").write_bytes(b"x")
    from dpbench.datasets import get

    (tmp_path / get("MEDCOST").file.rsplit("/", 1)[-1]).write_bytes(b"x")
    with pytest.raises(CorruptData):
        _ = study(datasets=["MEDCOST"], domains="1024").work


@pytest.mark.parametrize(
    ("text", "line", "hint"),
    [
        ('datasets = ["bimodal", "MEDCOTS"]', 4, "did you mean MEDCOST"),
        ('datasets = ["nowhere.csv"]', 4, "nowhere.csv"),
        ('datasets = ["bimodal"]\nalgorithms = ["Identity", "Privlet"]', 5, "did you mean Privelet"),
        ('datasets = ["bimodal"]\n[[algorithms]]\nname = "Hb"\n[[algorithms]]\nname = "H"\nbranch = 3', 7, "branch"),
        ('datasets = ["bimodal"]\nalgorithms = ["nowhere.py:Mine"]', 5, "there is no file"),
        ('datasets = ["bimodal"]\nsampels = 2', 5, "did you mean samples"),
        ('datasets = ["bimodal"]\n[measuring]\ntrails = 2', 6, "did you mean trials"),
    ],
)
def test_mistakes_in_a_plan_are_refused_with_the_line_and_the_nearest_name(text, line, hint, plan):
    """Unknown keys and names of every kind."""
    path = plan(text)
    with pytest.raises(Exception, match=hint) as refused:
        load_plan(path)
    assert f"{path}, line {line}: " in str(refused.value)


def test_an_unknown_suite_names_the_nearest():
    """What is neither a suite nor a file is refused with advice."""
    with pytest.raises(UnknownName, match=r"did you mean demo\?.*FILE.toml"):
        load_plan("deno")


def test_files_in_a_plan_are_relative_to_it(plan, mine, tmp_path, monkeypatch):
    """A plan may be run from anywhere."""
    mine()
    (tmp_path / "own.csv").write_text("\n".join(["1"] * 64))
    path = plan('datasets = ["own.csv"]\nalgorithms = ["mine.py:Mine"]')
    monkeypatch.chdir("/")
    units, _ = load_plan(path).work
    assert {(unit.data.name, unit.algorithm.name) for unit in units} == {("own", "Mine")}
    assert units[0].reference == f"{tmp_path / 'mine.py'}:Mine"


def test_the_path_of_a_plug_in_is_no_part_of_its_results(mine, tmp_path):
    """The same class in another folder, or named by another path, has the same name, key and noise."""
    one = study([mine()]).work[0][0]
    other = study([mine(folder=tmp_path / "elsewhere")]).work[0][0]
    assert one.reference != other.reference
    assert (one.key, one.algorithm) == (other.key, other.algorithm)
    assert one.row().algorithm == "Mine"


@pytest.mark.parametrize("name", ["Identity", "identity"])
def test_a_plug_in_with_a_name_of_the_catalogue_is_refused(name, mine):
    """Two algorithms of one name would be one in every table."""
    with pytest.raises(InvalidPlan, match="as one in the catalogue is"):
        _ = study([mine(name)]).work


def test_a_plug_in_without_a_name_is_refused(mine):
    """Rows need a name."""
    with pytest.raises(InvalidPlan, match="give the class a name"):
        _ = study([mine("")]).work


def test_two_plug_ins_or_files_of_one_name_are_refused(mine, tmp_path):
    """They could not be told apart in a store."""
    with pytest.raises(InvalidPlan, match="two algorithms of the plan are named Mine"):
        _ = study([mine(), mine(file="other.py")]).work
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        np.save(tmp_path / folder / "own.npy", np.arange(64))
    files = [str(tmp_path / folder / "own.npy") for folder in ("a", "b")]
    with pytest.raises(InvalidPlan, match="two datasets of the plan are named own"):
        _ = study(datasets=files).work


def test_a_plug_in_that_cannot_be_made_is_told(mine, tmp_path):
    """A class that raises when it is built is a refusal of the plan, not a traceback."""
    reference = mine()
    path = tmp_path / "mine.py"
    path.write_text(path.read_text() + "\n    def __post_init__(self):\n        1 / 0\n")
    with pytest.raises(InvalidPlan, match="ZeroDivisionError"):
        _ = study([reference]).work


def test_more_units_than_can_be_are_refused():
    """A slip of the finger in samples is told at once."""
    with pytest.raises(InvalidPlan, match="ask for fewer samples"):
        _ = study(samples=10**9).work


def test_a_domain_that_fits_no_memory_is_skipped_with_the_reason():
    """Nothing is allocated to find that out."""
    units, skipped = study(["Identity"], domains=["64", str(10**15)]).work
    assert {unit.domain for unit in units} == {"64"}
    assert "fit into memory" in skipped[0].reason


def test_narrowing_replaces_and_adds(mine):
    """--algorithm narrows, in any spelling, and keeps what the plan says of it; --with adds; numbers replace."""
    whole = study([{"name": "Hb", "root": True}, "Identity"])
    narrowed = whole.narrowed(algorithm=["hb"], added=[mine(), "HB"], scale=[5.0], samples=1, trials=7, seed=3)
    units, _ = narrowed.work
    assert {unit.algorithm.label for unit in units} == {"Hb(root=True)", "Mine"}
    assert {(unit.scale, unit.trials, unit.seed) for unit in units} == {(5, 7, 3)}


def test_a_dataset_goes_to_the_tasks_of_its_axes():
    """Narrowing the demo to a 2-D shape leaves the 2-D task."""
    plan = load_plan("demo").narrowed(dataset=["clusters"], algorithm=["Identity"])
    assert [task.name for task in plan.tasks] == ["demo-2d"]
    with pytest.raises(InvalidPlan, match="nothing is left"):
        load_plan("demo").narrowed(dataset=["clusters"], domain=["64"])


def test_where_the_scale_comes_from_is_one_thing_however_it_is_said():
    """A choice for the task, for the algorithm or on the command line gives the same keys and noise."""
    part = {"name": "UGrid", "side_information": "public"}
    common = {"datasets": ["clusters"], "domains": "8x8", "dimensions": 2, "workloads": ["Identity"]}
    ways = (
        study([part], **common),
        study(["UGrid"], **common, side_information="public"),
        study(["UGrid"], **common).narrowed(side_information="public"),
    )
    assert len({way.work[0][0].key for way in ways}) == 1
    assert len({way.work[0][0].algorithm for way in ways}) == 1
    assert study(["UGrid"], **common).work[0][0].key != ways[0].work[0][0].key


def test_side_information_means_nothing_to_algorithms_that_declare_none():
    """Identity is Identity, wherever scales come from."""
    keys = {study(["Identity"]).narrowed(side_information=way).work[0][0].key for way in ("public", "estimated", None)}
    assert len(keys) == 1


def test_the_content_of_a_workload_file_is_part_of_the_key(tmp_path):
    """Other ranges under the same name are another setting of the same label; the folder does not matter."""
    keys = []
    for folder, upper in (("a", 3), ("b", 3), ("c", 4)):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "ranges.csv").write_text(f"lower0,upper0\n0,{upper}\n")
        own = [{"name": "Ranges", "file": str(tmp_path / folder / "ranges.csv")}]
        unit = study(["Identity"], workloads=own).work[0][0]
        keys.append(unit.key)
        assert unit.row().workload == "Ranges(file=ranges.csv)"
    assert keys[0] == keys[1] != keys[2]


@pytest.mark.parametrize("name", SUITES)
def test_every_suite_makes_a_plan(name):
    """Suites are plans of valid tasks."""
    assert load_plan(name).tasks


def test_the_paper_suites_have_the_papers_sizes():
    """18 datasets on 5 domains and 9 on 4, at 6 scales, 5 samples, 10 trials."""
    one, two = load_plan("paper").tasks
    for task, datasets, domains in ((one, 18, 5), (two, 9, 4)):
        sizes = (len(task.datasets), len(task.generator.domains), len(task.generator.scales))
        assert sizes == (datasets, domains, 6)
        assert (task.generator.samples, task.measuring.trials) == (5, 10)
    assert one.datasets == RANGE_1D.datasets
