"""Shards whose hash is right and whose content is not ours: one line each, from every reader."""

import pyarrow as pa
import pytest

from dpbench.cli import main
from dpbench.errors import InvalidStore
from dpbench.store import Store
from dpbench.store.schema import to_table
from store.rows import make


def _with(name, values, kind):
    def changed(table):
        return table.set_column(table.column_names.index(name), name, pa.array(values, kind))

    return changed


STRANGE = {
    "unknown column": (lambda table: table.append_column("mood", pa.array(["good"])), "the column 'mood'"),
    "schema 2": (lambda table: table.replace_schema_metadata({"dpbench_schema": "2"}), "has schema '2'"),
    "no algorithm": (lambda table: table.drop_columns(["algorithm"]), "no column 'algorithm'"),
    "other kind": (_with("scale", ["many"], pa.string()), "string in the column 'scale' in place of int64"),
    "null name": (_with("algorithm", [None], pa.string()), "an empty cell in the column 'algorithm'"),
    "null task": (_with("task", [None], pa.string()), "an empty cell in the column 'task'"),
    "null error": (_with("l2", [[0.5, None, 2.5]], pa.list_(pa.float64())), "one error per trial in the column 'l2'"),
    "few errors": (_with("l1", [[0.5]], pa.list_(pa.float64())), "one error per trial in the column 'l1'"),
    "negative": (_with("sample", [-1], pa.int64()), "a number below 0 in the column 'sample'"),
    "deep JSON": (_with("ledger", ["[" * 100_000], pa.string()), "JSON object in the column 'ledger'"),
    "a list": (_with("parameters", ["[1]"], pa.string()), "JSON object in the column 'parameters'"),
}


@pytest.fixture
def store(tmp_path, monkeypatch):
    """Makes a store with one shard that is changed before it is written."""

    def made(change):
        store = Store(tmp_path / "store", create=True)
        with monkeypatch.context() as patch:
            patch.setattr("dpbench.store.store.to_table", lambda rows: change(to_table(rows)))
            store.append([make()], "run")
        return store

    return made


@pytest.mark.parametrize("what", STRANGE)
def test_what_no_row_of_ours_holds_is_refused_in_one_line(what, store, tmp_path, capsys):
    """By readings, by exports, and by verify with exit code 1; nothing is a traceback."""
    change, cause = STRANGE[what]
    made = store(change)
    with pytest.raises(InvalidStore) as refused:
        made.rows()
    assert cause in str(refused.value)
    assert made.shards()[0].name in str(refused.value)
    assert "\n" not in str(refused.value)
    for words in (["store", "info"], ["store", "export", "--out", str(tmp_path / "x.csv")], ["interpret"]):
        assert main([*words, str(made.folder)]) == 2
        error = capsys.readouterr().err
        assert error.count("\n") == 1
    assert main(["store", "verify", str(made.folder)]) == 1
    assert cause in capsys.readouterr().out


@pytest.mark.parametrize(
    "ledger", ['{"epsilon": "1/0", "charges": []}', '{"charges": 3}', '{"epsilon": [], "charges": [{}]}']
)
def test_a_ledger_that_cannot_be_added_up_does_not_add_up(ledger, store):
    """It is a JSON object, and no account of a budget."""
    from dpbench.results import Results

    made = store(_with("ledger", [ledger], pa.string()))
    assert not Results.from_store(made).columns["accounted"].any()


def test_parameters_may_be_nested(store, tmp_path, capsys):
    """Whatever a stranger's parameters are, as long as they are JSON."""
    made = store(_with("parameters", ['{"a": {"b": [1, {"c": null}]}}'], pa.string()))
    for words in (["store", "info"], ["store", "export", "--out", str(tmp_path / "x.csv")], ["interpret"]):
        assert main([*words, str(made.folder)]) == 0
    assert capsys.readouterr().err == ""


class TestTwoResultsUnderOneKey:
    """Equal ones may stand twice; different ones are an error that names both."""

    def test_both_shards_are_named(self, tmp_path, capsys):
        """By readings, by verify and by the index that a run begins with."""
        store = Store(tmp_path / "store", create=True)
        one = store.append([make()], "run1")
        other = store.append([make(l2=[0.5, 1.5, 2.25])], "run2")
        for read in (store.rows, store.index):
            with pytest.raises(InvalidStore) as refused:
                read()
            for words in ("two different results of Identity", "trial 2", "2.5", "2.25", one.name, other.name):
                assert words in str(refused.value)
            assert "\n" not in str(refused.value)
        assert main(["store", "verify", str(store.folder)]) == 1
        assert "two different results of Identity on bimodal" in capsys.readouterr().out

    def test_last_digits_of_another_machine_are_no_difference(self, tmp_path):
        """Sums in another order."""
        store = Store(tmp_path / "store", create=True)
        store.append([make()], "run1")
        store.append([make(l2=[0.5, 1.5 * (1 + 1e-13), 2.5])], "run2")
        assert store.rows() == [make()]

    def test_later_trials_and_other_versions_are_other_results(self, tmp_path):
        """They share a setting and no trial."""
        store = Store(tmp_path / "store", create=True)
        store.append([make(), make(first_trial=3, trials=2)], "run1")
        store.append([make(l2=[9.0, 9.0, 9.0], algorithm_source="b" * 16, key="l" * 32)], "run2")
        assert len(store.rows(every_version=True)) == 3
        assert store.verify() == []

    def test_other_losses_count_as_well(self, tmp_path):
        """By their labels and versions."""
        store = Store(tmp_path / "store", create=True)
        store.append([make(other_losses={"a": [1.0, 2.0, 3.0]})], "run1")
        store.append([make(first_trial=2, l2=[2.5], other_losses={"a": [4.0]})], "run2")
        with pytest.raises(InvalidStore, match="trial 2.*a is 3 in .* and 4 in "):
            store.rows()
