import json

import numpy as np
import pyarrow.parquet as pq
import pytest

from dpbench.errors import InvalidStore
from dpbench.store import Store
from dpbench.store.store import answers_path
from dpbench.store.transfer import CANONICAL, export, merge, trial_rows
from store.rows import make


@pytest.fixture
def stores(tmp_path):
    """Makes stores that hold given rows."""
    numbers = iter(range(100))

    def made(*rows, machine=None):
        number = next(numbers)
        store = Store(tmp_path / f"store{number}", create=True)
        if rows:
            store.append(list(rows), f"run{number}")
        store.record_run(f"run{number}", {"machine": machine or {"cpu": "one", "numpy": "2.4"}})
        return store

    return made


def test_a_merge_holds_what_its_parts_held(stores):
    """Rows and records of all stores, each once; a second merge adds nothing."""
    one, two, out = stores(make(), make(sample=1)), stores(make(sample=1), make(sample=2)), stores()
    assert merge([one, two], out) == (3, [])
    assert {row.sample for row in out.rows()} == {0, 1, 2}
    assert set(out.runs()) == {"run0", "run1", "run2"}
    assert merge([one, two], out) == (0, [])
    assert len(out.shards()) == 1


def test_a_merge_takes_results_for_failures_and_more_trials_for_fewer(stores):
    """What one store failed at, or has fewer trials of, another completes."""
    out = stores(make(failure="it broke"), make(sample=1, trials=2))
    added, _ = merge([stores(make(), make(sample=1, trials=5))], out)
    assert added == 2
    assert [(row["sample"], row["trial"], row["failure"]) for row in trial_rows(out)] == [
        *((0, trial, "") for trial in range(3)),
        *((1, trial, "") for trial in range(5)),
    ]


@pytest.mark.parametrize(
    ("changes", "what"),
    [
        ({"sample": 5, "dataset_source": "e" * 16}, "the dataset bimodal"),
        ({"sample": 5, "dataset_source": "shapes-r1"}, "then, shapes-r1 now"),
        ({"sample": 5, "generator_source": "h" * 16}, "data vectors and errors"),
        ({"key": "l" * 32}, "rho_total"),
    ],
)
def test_results_on_different_data_are_not_merged(changes, what, stores):
    """The refusal is one sentence that says what differs, even where no setting is in both; nothing is written."""
    out = stores()
    with pytest.raises(InvalidStore, match=what) as refused:
        merge([stores(make()), stores(make(**changes))], out)
    assert "\n" not in str(refused.value)
    assert out.rows() == []


def test_a_merge_tells_where_machines_differ(stores):
    """CPU and versions that differ between runs are named with their values."""
    other = {"cpu": "two", "numpy": "2.4"}
    _, differences = merge([stores(make()), stores(make(sample=1), machine=other)], stores())
    assert differences == ["cpu: one, two"]


def test_a_merge_brings_answers_along(stores):
    """Answers that were kept are found in the merged store."""
    one, out = stores(make()), stores()
    path = answers_path(one.folder, make().key, 0)
    path.parent.mkdir()
    np.save(path, np.ones((3, 64)))
    merge([one], out)
    answers = out.answers(make())
    assert answers is not None
    assert (answers == 1).all()


def test_exports_have_one_row_a_trial_in_a_fixed_order(stores, tmp_path):
    """The order in which rows were stored leaves no trace; a failure is a row without errors."""
    rows = [
        make(sample=1),
        make(failure="it, broke"),
        make(scale=10, trials=1),
        make(sample=1, first_trial=3, trials=1),
    ]
    texts = []
    for order in (rows, rows[::-1]):
        path = tmp_path / "out.csv"
        assert export(stores(*order), path, canonical=True) == 6
        texts.append(path.read_bytes())
    assert texts[0] == texts[1]
    lines = texts[0].decode().splitlines()
    assert lines[0] == ",".join(CANONICAL)
    assert lines[2].endswith(',0,0,,,,,"it, broke",,')
    assert lines[3].endswith(",1,0,0.5,0.5,0.5,0.5,,,")


def test_other_losses_are_columns_after_all_others(stores, tmp_path):
    """Named by their labels, empty where a row does not hold them; without any, the columns are what they were."""
    path = tmp_path / "out.csv"
    rows = [make(other_losses={"b": [7.0, 8.0, 9.0]}), make(sample=1, trials=1), make(sample=2, failure="it broke")]
    export(stores(*rows, make(sample=3, trials=1, other_losses={"a": [5.0]})), path, canonical=True)
    lines = path.read_text().splitlines()
    assert lines[0] == ",".join([*CANONICAL, "a", "b"])
    assert [line.split(",")[-2:] for line in lines[1:]] == [
        *(["", value] for value in ("7.0", "8.0", "9.0")),
        ["", ""],
        ["", ""],
        ["5.0", ""],
    ]
    export(stores(make()), path, canonical=True)
    assert path.read_text().splitlines()[0] == ",".join(CANONICAL)


def test_a_merge_brings_losses_along(stores):
    """Also of trials that the target holds already; a second merge adds nothing."""
    more = stores(make(other_losses={"a": [1.0, 2.0, 3.0]}))
    out = stores(make(), make(sample=1))
    assert merge([more], out) == (1, [])
    assert [row.other_losses for row in out.rows()] == [{"a": [1.0, 2.0, 3.0]}, {}]
    assert merge([more], out) == (0, [])


@pytest.mark.parametrize("ending", ["csv", "json", "parquet"])
def test_every_format_holds_the_same(ending, stores, tmp_path):
    """CSV, JSON and Parquet agree with each other, for full and for empty stores."""
    path = tmp_path / f"out.{ending}"
    full = [make(), make(sample=1, failure="it broke"), make(sample=2, other_losses={"a": [1.0, 2.0, 3.0]})]
    for store in (stores(*full), stores()):
        rows = trial_rows(store)
        assert export(store, path) == len(rows)
        if ending == "json":
            assert json.loads(path.read_text()) == rows
        elif ending == "parquet":
            table = pq.read_table(path)
            assert table.to_pylist() == rows
            assert str(table.schema.field("l2").type) == "double"
        else:
            assert len(path.read_text().splitlines()) == len(rows) + 1


def test_a_place_that_cannot_be_written_is_told(stores, tmp_path):
    """A missing folder or an unknown ending is a refusal with the name."""
    with pytest.raises(InvalidStore, match="No such file"):
        export(stores(make()), tmp_path / "nowhere" / "out.csv")
    with pytest.raises(InvalidStore, match=r"'out.xls'.*\.csv, \.json or \.parquet"):
        export(stores(make()), tmp_path / "out.xls")
