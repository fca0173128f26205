import json
from textwrap import dedent

import pytest

from dpbench.cli import main
from dpbench.errors import InvalidInput, InvalidTraining
from dpbench.repair.table import read_table
from dpbench.run.execution import agenda, execute
from dpbench.run.executors.serial import Serial
from dpbench.run.tuning import Training, refuse_evaluation_data, signals
from dpbench.store import Store

SMALL = ["--domain", "64", "--signal", "1", "2", "--samples", "2", "--trials", "2", "--jobs", "1", "--quiet"]
ROUNDS = ["--grid", "rounds=1,2,4"]

MINE = """\
from dataclasses import dataclass
from dpbench import Algorithm
from dpbench.mathematics.cells import Cells

@dataclass(frozen=True, kw_only=True)
class Shrunk(Algorithm):
    name = "Shrunk"
    free = {"keep": (1.0, 0.5, 0.0)}
    exchangeable = %s
    keep: float = 1.0

    def estimate(self, data, workload):
        return self.keep * data.laplace(Cells(data.domain), data.epsilon, "cells").reshape(-1, *data.domain.shape)
"""


def tune(tmp_path, *arguments, store="store", out="table.json"):
    folder = ["--store", str(tmp_path / store), "--out", str(tmp_path / out)]
    return main(["tune", *arguments, *folder]), tmp_path / out


@pytest.mark.slow
def test_training_is_reproducible_from_its_seed(tmp_path):
    """Two trainings write the same bytes; another seed writes others."""
    _, first = tune(tmp_path, "MWEM", *ROUNDS, *SMALL, store="a", out="a.json")
    _, again = tune(tmp_path, "MWEM", *ROUNDS, *SMALL, store="b", out="b.json")
    _, other = tune(tmp_path, "MWEM", *ROUNDS, *SMALL, "--seed", "1", store="c", out="c.json")
    assert first.read_bytes() == again.read_bytes()
    assert json.loads(first.read_text())["rows"] != json.loads(other.read_text())["rows"]


def test_the_table_says_where_it_comes_from(tmp_path):
    """Seed, shapes, grid, version, errors with standard errors; the command in it makes it again."""
    code, path = tune(tmp_path, "MWEM", *ROUNDS, *SMALL)
    assert code == 0
    table = read_table(path.read_text(), "table", "MWEM", ("rounds",))
    told = dict(table.provenance)
    assert {"seed", "shapes", "samples", "trials", "grid", "version", "code", "command"} <= set(told)
    assert "power-law" in told["shapes"]
    assert told["command"].startswith("dpbench tune MWEM --grid rounds=1,2,4 --domain 64 --signal 1 2")
    _, again = tune(tmp_path, *told["command"].split()[2:], "--jobs", "1", "--quiet", store="again", out="again.json")
    assert again.read_bytes() == path.read_bytes()
    assert all(row.regret >= 1.0 and row.standard_error >= 0.0 for row in table.rows)
    rounds = [dict(row.parameters)["rounds"] for row in table.rows]
    assert rounds == sorted(rounds)


def test_training_goes_on_where_it_stopped(tmp_path):
    """A store with half of the units gives the table of a training that was never interrupted."""
    training = Training.of(
        "MWEM", grid={"rounds": [1, 2, 4]}, domains=["64"], log10_products=signals(1, 2), samples=2, trials=2
    )
    store = Store(tmp_path / "half", create=True)
    units = training.shared_noise(agenda(training.plan(), store).missing)
    execute(units[: len(units) // 2], store, Serial(), plan=training.plan())
    _, resumed = tune(tmp_path, "MWEM", *ROUNDS, *SMALL, store="half", out="resumed.json")
    _, whole = tune(tmp_path, "MWEM", *ROUNDS, *SMALL, store="whole", out="whole.json")
    assert resumed.read_bytes() == whole.read_bytes()


@pytest.mark.slow
def test_a_cluster_trains_the_same_table(tmp_path):
    """Workers of dask, this process and processes of our own write the same bytes."""
    pytest.importorskip("distributed", reason="distributed is not installed (extra: cluster)")
    _, ours = tune(tmp_path, "MWEM", *ROUNDS, *SMALL, store="ours", out="ours.json")
    _, dask = tune(tmp_path, "MWEM", *ROUNDS, *SMALL, "--dask", "local", store="dask", out="dask.json")
    _, here = tune(tmp_path, "MWEM", *ROUNDS, *SMALL, "--jobs", "0", store="here", out="here.json")
    assert ours.read_bytes() == dask.read_bytes() == here.read_bytes()


def test_all_parameters_are_tried_with_the_same_noise():
    """One name for the noise of every setting, so that differences between parameters are not luck."""
    training = Training.of("MWEM", domains=["64"])
    units = training.shared_noise(training.plan().work[0])
    assert {unit.noise_name for unit in units} == {"training MWEM"}


def test_training_needs_no_dataset(tmp_path, monkeypatch):
    """No file of the evaluation is opened: it works where there is none."""
    monkeypatch.setenv("DPBENCH_DATA", str(tmp_path / "nowhere"))
    code, _ = tune(tmp_path, "AHP", "--grid", "rho=0.5,0.8", *SMALL)
    assert code == 0


@pytest.mark.parametrize("exchangeable", [True, False])
def test_a_stranger_s_algorithm_is_trained(tmp_path, exchangeable):
    """From a file; where it is not exchangeable epsilon is a key of its own."""
    path = tmp_path / "mine.py"
    path.write_text(dedent(MINE % exchangeable))
    code, out = tune(tmp_path, f"{path}:Shrunk", *SMALL)
    assert code == 0
    table = read_table(out.read_text(), "table", "Shrunk", ("keep",))
    assert dict(table.provenance)["command"].startswith("dpbench tune mine.py:Shrunk --domain 64")
    assert {row.epsilon for row in table.rows} == ({None} if exchangeable else {0.01, 0.1, 1.0})
    from dpbench.domain import Domain

    assert set(table.look_up(Domain((64,)), 10.0, 0.9)) == {"keep"}


def test_bad_trainings_are_told_in_one_line(tmp_path, capsys):
    """A dataset of the evaluation, an empty grid, an unknown parameter, nothing to train, no domain that fits."""
    for arguments, cause in (
        (["MWEM", "--dataset", "MEDCOST"], "MEDCOST is a dataset of the evaluation"),
        (["MWEM", "--grid", "rounds="], "names no values"),
        (["MWEM", "--grid", "depth=1,2"], "no parameter 'depth'"),
        (["Hb"], "no free parameter"),
        (["MWEM", "--signal", "3", "1"], "give the lower first"),
        (["MWEM", "--domain", "4x4x4"], "training shapes for 1 and 2 axes"),
        (["Nobody"], "no algorithm named"),
    ):
        code, _ = tune(tmp_path, *arguments, *SMALL[-3:])
        told = capsys.readouterr().err
        assert code == 2
        assert cause in told
        assert told.count("\n") == 1


def test_refusals_from_python():
    """The same from a script."""
    with pytest.raises(InvalidTraining, match="empty"):
        Training.of("MWEM", grid={"rounds": []})
    with pytest.raises(InvalidInput, match="no parameter"):
        Training.of("MWEM", grid={"depth": [1]})
    with pytest.raises(InvalidTraining, match="evaluation"):
        refuse_evaluation_data(["adult"])
    refuse_evaluation_data(["power-law"])
