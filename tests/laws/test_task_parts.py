"""Every part of a task has an effect: change it, and what ``dpbench run`` tells and stores changes as it must.

The tests of the standards for interpreting error (alpha, baselines, test) stand beside this one.
"""

import json

import numpy as np
import pytest

from dpbench.cli import main
from dpbench.results import Results
from dpbench.store import Store

PLAN = {
    "base": "RANGE_1D",
    "datasets": ["bimodal"],
    "algorithms": ["Identity"],
    "domains": [64],
    "scales": [1000],
    "samples": 2,
    "trials": 6,
}
GRID = {
    "base": "RANGE_2D",
    "datasets": ["clusters"],
    "algorithms": ["UGrid"],
    "domains": ["16x16"],
    "workloads": [{"name": "Identity"}],
    "scales": [1000],
    "samples": 2,
    "trials": 6,
}


class Told:
    """What a plan told as JSON, and what it stored."""

    def __init__(self, json_text, folder):
        self.facts = json.loads(json_text)
        self.errors = self.facts["errors"]
        self.store = Store(folder)
        self.rows = sorted(self.store.rows(), key=lambda row: row.identity)
        self.results = Results.from_store(self.store)

    @property
    def mean(self):
        """The one mean error."""
        (row,) = self.errors
        return row["mean_error"]

    def column(self, name):
        """A column of errors of all rows, one after the other."""
        return np.concatenate([getattr(row, name) for row in self.rows])


@pytest.fixture
def run(tmp_path, capsys):
    """Runs a plan with some parts changed, in a store of its own unless one is named."""
    numbers = iter(range(100))

    def made(*words, base=PLAN, store=None, **parts):
        folder = tmp_path / (store or f"store{next(numbers)}")
        path = tmp_path / "plan.toml"
        path.write_text("\n".join(f"{key} = {toml(value)}" for key, value in (base | parts).items()))
        assert main(["run", str(path), "--store", str(folder), "--jobs", "0", "--quiet", "--json", *words]) == 0
        return Told(capsys.readouterr().out, folder)

    return made


def toml(value):
    """A value as TOML has it, which is JSON but for tables."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key} = {toml(each)}" for key, each in value.items()) + "}"
    return f"[{', '.join(map(toml, value))}]" if isinstance(value, list) else json.dumps(value)


def test_workloads(run):
    """Single cells have smaller errors than prefixes, which add them up; their number of queries is stored."""
    prefix, cells = run(), run(workloads=[{"name": "Identity"}])
    assert cells.mean < prefix.mean
    assert [told.rows[0].workload for told in (prefix, cells)] == ["Prefix", "Identity"]
    both = run(workloads=[{"name": "Prefix"}, {"name": "RandomRange", "queries": 7}])
    assert [row["table"].split(" on ")[0] for row in both.errors] == ["Prefix", "RandomRange(queries=7)"]
    assert [row.queries for row in both.rows] == [64, 64, 7, 7]


def test_datasets(run):
    """One more dataset is one more in the mean; Uniform is exact on the uniform shape alone but for sampling."""
    both = run(datasets=["uniform", "spikes-1"], algorithms=["Uniform"])
    alone = [run(datasets=[name], algorithms=["Uniform"]) for name in ("uniform", "spikes-1")]
    assert [row["datasets"] for row in both.errors] == [2]
    assert alone[0].mean < both.mean < alone[1].mean
    assert both.mean == pytest.approx(np.mean([told.mean for told in alone]))


def test_algorithms(run):
    """Each has its own row, and its errors do not depend on who else runs."""
    both, alone = run(algorithms=["Identity", "Hb"]), run(algorithms=["Hb"])
    assert {row["algorithm"] for row in both.errors} == {"Identity", "Hb"}
    assert [row["mean_error"] for row in both.errors if row["algorithm"] == "Hb"] == [alone.mean]
    assert [row.l2 for row in both.rows if row.algorithm == "Hb"] == [row.l2 for row in alone.rows]


class TestLoss:
    """L."""

    @pytest.mark.parametrize(("loss", "column"), [("L2", "l2"), ("L1", "l1"), ("Linf", "linf")])
    def test_the_table_is_by_the_loss(self, run, loss, column):
        """Its values are those of the stored column; a plan's loss and --loss are the same."""
        for told in (run(loss=loss), run("--loss", loss)):
            assert (told.facts["loss"], told.errors[0]["loss"]) == (loss, loss)
            assert told.mean == pytest.approx(told.column(column).mean(), rel=1e-12)
            assert told.results.standards.loss == loss
            assert np.array_equal(told.results.errors.ravel(), told.column(column))

    def test_losses_order_as_norms_do(self, run):
        """The largest error of a query is at most the root of the sum of squares, and that at most the sum."""
        l1, l2, linf = (run(loss=loss).mean for loss in ("L1", "L2", "Linf"))
        assert linf < l2 < l1

    def test_a_loss_of_the_relative_kind_is_stored_per_trial(self, run):
        """The higher its floor, the smaller the error; with all records for a floor it is L1."""
        low, high, whole = (run(loss={"name": "relative", "floor": floor}) for floor in (0.001, 0.1, 1.0))
        assert low.mean > high.mean > whole.mean
        assert whole.mean == pytest.approx(whole.column("l1").mean())
        assert low.facts["loss"] == "relative"
        assert high.facts["loss"] == "relative:floor=0.1"
        stored = np.concatenate([row.other_losses["relative:floor=0.1"] for row in high.rows])
        assert high.mean == pytest.approx(stored.mean())

    def test_the_same_store_is_read_by_the_last_loss_that_was_asked_for(self, run):
        """L1 is there already; a relative error makes the trials run again, with the same noise."""
        first = run(store="one")
        second = run("--loss", "L1", store="one")
        third = run("--loss", "relative", store="one")
        assert [told.facts["units_run"] for told in (first, second, third)] == [2, 0, 2]
        assert [told.results.standards.loss for told in (first, second, third)] == ["L2", "L1", "relative"]
        assert np.array_equal(first.column("l2"), third.column("l2"))
        assert run(store="one").errors == first.errors

    def test_the_table_for_people_names_its_loss_and_percentile(self, run, tmp_path, capsys):
        """In its caption."""
        run(loss="L1", percentile=80, store="one")
        assert (
            main(["run", str(tmp_path / "plan.toml"), "--store", str(tmp_path / "one"), "--quiet", "--jobs", "0"]) == 0
        )
        assert "scaled L1 error, mean and 80th percentile, over 1 dataset\n" in capsys.readouterr().out


def test_domains(run):
    """Prefixes of four times as many cells carry about twice the noise; every domain has its table."""
    both = run(domains=[64, 256], loss="L1", samples=4)
    small, large = (row["mean_error"] for row in both.errors)
    assert [row["table"].split(", ")[0] for row in both.errors] == ["Prefix on 64", "Prefix on 256"]
    assert small < large < 4 * small


def test_scales(run):
    """Identity has the same error in records at every scale, so that the scaled one falls as the scale grows."""
    both = run(scales=[100, 10_000], samples=4)
    low, high = (row["mean_error"] for row in both.errors)
    assert [row["scale"] for row in both.errors] == [100, 10_000]
    assert low / 1000 < high < low / 10


def test_epsilons(run):
    """Ten times the budget, about a tenth of the error."""
    both = run(epsilons=[0.1, 1.0], samples=4)
    little, much = (row["mean_error"] for row in both.errors)
    assert little / 30 < much < little / 3
    assert [row["table"].split(", ")[1] for row in both.errors] == ["epsilon 0.1", "epsilon 1"]


def test_samples(run):
    """More data vectors are more rows; the first ones stay what they are."""
    few, many = run(samples=2), run(samples=5)
    assert [row.sample for row in many.rows] == [0, 1, 2, 3, 4]
    assert [row.l2 for row in many.rows[:2]] == [row.l2 for row in few.rows]
    assert many.mean != few.mean
    assert many.results[0].errors.shape == (5, 6)


def test_seed(run):
    """Another study: other data and other noise; the same seed is the same study, bit for bit."""
    one, again, other = run(seed=1), run(seed=1), run(seed=2)
    assert one.errors == again.errors
    assert not set(one.column("l2")) & set(other.column("l2"))


def test_side_information(run):
    """A public scale leaves all of epsilon to the estimate, and is told as what it is."""
    estimated, public = run(base=GRID), run(base=GRID, side_information="public")
    assert {row.side_information for row in estimated.rows} == {"estimated"}
    assert {row.side_information for row in public.rows} == {"public"}
    assert public.errors[0]["algorithm"] != estimated.errors[0]["algorithm"]
    spent = [json.loads(told.rows[0].ledger)["charges"] for told in (estimated, public)]
    assert [[charge["amount"] for charge in charges] for charges in spent] == [["1/200", "19/200"], ["0", "1/10"]]


def test_rho_total(run):
    """The share of epsilon that an estimate of the scale gets is in the ledger, and costs the rest."""
    little, much = run(base=GRID), run(base=GRID, rho_total=0.9)
    assert little.mean < much.mean
    spent = [json.loads(told.rows[0].ledger)["charges"][0]["amount"] for told in (little, much)]
    assert spent == ["1/200", "9/100"]


def test_trials(run):
    """More runs on each data vector; the first ones stay what they are."""
    few, many = run(trials=2), run(trials=8)
    assert [row.trials for row in few.rows] == [2, 2]
    assert [row.l2[:2] for row in many.rows] == [row.l2 for row in few.rows]
    assert (few.facts["trials"], many.facts["trials"]) == (4, 16)


def test_percentile(run):
    """The higher, the larger; the mean stays, and nothing is run again."""
    half, high = run(percentile=50, store="one"), run(percentile=95, store="one")
    assert [told.errors[0]["percentile"] for told in (half, high)] == [50, 95]
    assert half.errors[0]["percentile_error"] < high.errors[0]["percentile_error"]
    assert half.mean == high.mean
    assert (half.facts["units_run"], high.facts["units_run"]) == (2, 0)
    for told, level in ((half, 50), (high, 95)):
        assert told.errors[0]["percentile_error"] == pytest.approx(np.percentile(told.column("l2"), level))
        assert told.results.standards.percentile == level
        assert told.results.measured.percentile.tolist() == [told.errors[0]["percentile_error"]]
