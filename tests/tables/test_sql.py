"""The GROUP BY counts what the reader counts."""

import datetime as dt

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from dpbench.tables import Categories, Numbers, Times, from_counts, group_by, histogram

AXES = [
    Numbers('de"lay', -60.5, 180, bins=37, missing="cell"),
    Numbers("weight", edges=[0, 0.1, 0.30000000000000004, 5], outside="drop"),
    Categories("carrier", ["it's", "AA"], outside="cell", missing="cell"),
    Times("left", dt.date(2013, 1, 1), dt.date(2014, 1, 1), bins=7),
]


@pytest.fixture
def records():
    rng = np.random.default_rng(1)
    rows = 4000
    delay = np.concatenate([AXES[0].breaks, rng.normal(20, 90, rows - 38)])
    weight = np.concatenate([AXES[1].breaks, [0.3, -1, 9], rng.random(rows - 7)])
    carrier = rng.choice(np.array(["it's", "AA", "", "ZZ", None], dtype=object), rows)
    left = np.datetime64("2012-12-01T00:00:00") + rng.integers(0, 450 * 86400, rows).astype("timedelta64[s]")
    masked = rng.random(rows) < 0.02
    columns = {'de"lay': pa.array(delay, mask=masked), "weight": weight, "carrier": carrier, "left": left}
    return pa.table(columns)


def test_duckdb_counts_the_same_cells(records, tmp_path):
    """Row for row at the edges of bins, with missing values, quotes and all rules; its result is taken as counts."""
    duckdb = pytest.importorskip("duckdb", reason="duckdb is not installed")
    connection = duckdb.connect()
    connection.register("my records", records)
    found = connection.sql(group_by(AXES, "my records").rstrip(";\n"))
    wanted = histogram(records, AXES)
    found.write_parquet(str(tmp_path / "c.parquet"))
    found.write_csv(str(tmp_path / "c.csv"))
    for name in ("c.parquet", "c.csv"):
        np.testing.assert_array_equal(from_counts(tmp_path / name, AXES), wanted.counts)
    assert wanted.outside["weight"] == 2
    assert wanted.missing["carrier"] > 0


def test_counts_of_other_cells_or_no_number_are_passed_over(tmp_path):
    """A file of counts has total rules too."""
    axes = [Numbers("a", 0, 3, bins=3)]
    rows = {"a_cell": [0, 1, 1, 7, -1, None, 2, 0.5], "count": [5.0, 2, 3, 9, 9, 9, -4, 9]}
    pq.write_table(pa.table(rows), tmp_path / "c.parquet")
    np.testing.assert_array_equal(from_counts(tmp_path / "c.parquet", axes), [5, 5, 0])
    (tmp_path / "c.csv").write_text("a_cell,count\n0,5\n1,many\n,3\n2,1e30\n")
    assert from_counts(tmp_path / "c.csv", axes)[0] == 5
    assert from_counts(tmp_path / "c.csv", axes).sum() <= 2**52


def test_sql_is_plain():
    """One statement that reads well enough to be checked."""
    text = group_by([Numbers("a", 0, 4, bins=2)], "t")
    assert 'CASE WHEN "a" IS NULL THEN NULL ELSE CASE WHEN "a" < 2 THEN 0 ELSE 1 END END AS "a_cell"' in text
    assert text.endswith('GROUP BY "a_cell"\nORDER BY "a_cell";\n')
