import json

import pytest

from dpbench.domain import Domain
from dpbench.errors import InvalidTraining
from dpbench.repair.published import AHP_SHARES, MWEM_ROUNDS, published
from dpbench.repair.table import ParameterTable, TrainedRow, load_table, read_table


def row(dimensions, cells, signal, rounds):
    return TrainedRow(dimensions, cells, signal, (("rounds", rounds),), 1.0, 0.01)


TABLE = ParameterTable(
    "MWEM",
    (row(1, 256, 1.0, 2), row(1, 256, 2.0, 4), row(1, 4096, 1.0, 8), row(2, 4096, 1.0, 16), row(2, 4096, 3.0, 32)),
)


@pytest.mark.parametrize(
    ("shape", "product", "rounds"),
    [
        ((256,), 10, 2),
        ((256,), 40, 4),
        ((256,), 10**1.5, 2),
        ((256,), 1e-9, 2),
        ((256,), 1e9, 4),
        ((1024,), 10, 2),
        ((1025,), 10, 8),
        ((64, 64), 10, 16),
        ((64, 64), 5000, 32),
        ((16, 16, 16), 10, 16),
        ((256,), 0.0, 2),
    ],
)
def test_the_nearest_key_is_taken(shape, product, rounds):
    """Dimension first, then cells and signal by factor; ties go to the lower key, ends are held."""
    assert TABLE.look_up(Domain(shape), product) == {"rounds": rounds}


def test_a_table_survives_its_file(tmp_path):
    """What is written is read back, and a person can read it: one line a row."""
    path = tmp_path / "table.json"
    path.write_text(TABLE.to_json())
    again = load_table(str(path), "MWEM", ("rounds",))
    assert again.rows == TABLE.rows
    assert sum('"log10_product"' in line for line in path.read_text().splitlines()) == len(TABLE.rows)


@pytest.mark.parametrize(
    ("text", "cause"),
    [
        ("", "not a table"),
        ("[]", "not a table"),
        ('{"rows": []}', "not a table"),
        (json.dumps({"dpbench_table": 99, "algorithm": "MWEM", "rows": [1]}), "format 99"),
        (json.dumps({"dpbench_table": 1, "algorithm": "AHP", "rows": [1]}), "for AHP and not for MWEM"),
        (json.dumps({"dpbench_table": 1, "algorithm": "MWEM", "rows": []}), "no rows"),
        (json.dumps({"dpbench_table": 1, "algorithm": "MWEM", "rows": [{"cells": 1}]}), "a row without"),
    ],
)
def test_a_table_of_something_else_is_refused(text, cause):
    """Not JSON, another version, another algorithm, rows that lack a column: one line each."""
    with pytest.raises(InvalidTraining, match=cause) as caught:
        read_table(text, "file.json", "MWEM", ("rounds",))
    assert "file.json" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_missing_file_is_refused(tmp_path):
    """The refusal says how a table is made."""
    with pytest.raises(InvalidTraining, match="dpbench tune MWEM"):
        load_table(str(tmp_path / "none.json"), "MWEM", ("rounds",))


@pytest.mark.parametrize(
    ("product", "rounds"), [(0, 2), (100, 4), (1e3, 8), (1e4, 12), (5e4, 33), (1e5, 60), (1e7, 140), (1e12, 140)]
)
def test_the_authors_rounds(product, rounds):
    """Linear in the product and cut to a whole number: 33 at 5e4, between 12 and 60."""
    assert int(published(MWEM_ROUNDS, Domain((4096,)), product)["rounds"]) == rounds


def test_the_authors_shares():
    """Both parameters are interpolated by themselves."""
    assert published(AHP_SHARES, Domain((4096,)), 1000) == {"rho": 0.9, "eta": 0.1}
    assert published(AHP_SHARES, Domain((64, 64)), 1e7) == {"rho": 0.7, "eta": 0.9}
