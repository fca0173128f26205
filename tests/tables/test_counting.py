"""Every source of rows gives the same histogram, and every value has a rule."""

import datetime as dt
import gzip

import numpy as np
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest

from dpbench.errors import InvalidTable
from dpbench.tables import Categories, Numbers, Times, histogram
from dpbench.tables.sources import BATCH

ROWS = 5000


@pytest.fixture(scope="module")
def records():
    """Numbers with missing and odd ones, texts, and moments."""
    rng = np.random.default_rng(0)
    delay = rng.normal(20, 60, ROWS).round(1)
    delay[:40] = np.nan
    delay[40:60] = [np.inf, -np.inf] * 10
    start = np.datetime64("2013-01-01T00:00:00")
    moments = start + rng.integers(0, 400 * 86400, ROWS).astype("timedelta64[s]")
    carrier = rng.choice(np.array(["UA", "AA", "B6", "??"], dtype=object), ROWS)
    carrier[::97] = None
    return pa.table(
        {
            "delay": pa.array(delay, from_pandas=True),
            "carrier": pa.array(carrier),
            "left": pa.array(moments, pa.timestamp("us")),
            "unused": pa.array(np.arange(ROWS)),
        }
    )


AXES = [
    Numbers("delay", -60, 180, bins=24, missing="cell"),
    Categories("carrier", ["AA", "B6", "UA"], outside="cell"),
    Times("left", dt.date(2013, 1, 1), dt.date(2014, 1, 1), bins=12, outside="drop"),
]


def obvious(table):
    """The same by a loop over rows."""
    counts = np.zeros([axis.cells for axis in AXES], dtype=np.int64)
    breaks = [AXES[0].breaks, AXES[2].breaks]
    for row in table.select(["delay", "carrier", "left"]).to_pylist():
        delay, carrier, left = row.values()
        if carrier is None:
            continue
        first = 24 if delay is None else int(np.clip(np.searchsorted(breaks[0], delay, side="right") - 1, 0, 23))
        second = {"AA": 0, "B6": 1, "UA": 2}.get(carrier, 3)
        micro = (left - dt.datetime(1970, 1, 1)) // dt.timedelta(microseconds=1)
        if micro > breaks[1][-1]:
            continue
        counts[first, second, min(int(np.searchsorted(breaks[1], micro, side="right")) - 1, 11)] += 1
    return counts


def as_csv(table, path, opener=open):
    import csv

    with opener(path, "wt", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(table.column_names)
        writer.writerows(["" if each is None else each for each in row.values()] for row in table.to_pylist())
    return path


def every_source(table, folder):
    """Name and source, for each kind that is read."""
    import pandas as pd
    import polars as pl

    pq.write_table(table, folder / "t.parquet", row_group_size=700)
    many = folder / "many"
    many.mkdir()
    pq.write_table(table.slice(0, 2000), many / "a.parquet")
    as_csv(table.slice(2000), many / "b.csv.gz", gzip.open)
    (many / "_SUCCESS").write_text("")
    yield "parquet", folder / "t.parquet"
    yield "csv", as_csv(table, folder / "t.csv")
    yield "csv.gz", as_csv(table, folder / "t.csv.gz", gzip.open)
    yield "folder", many
    yield "dataset", ds.dataset(folder / "t.parquet")
    yield "reader", table.to_reader(max_chunksize=333)
    yield "table", table
    yield "dictionary", table.set_column(1, "carrier", table["carrier"].dictionary_encode())
    frame = table.to_pandas()
    yield "pandas", frame
    yield "pandas objects", frame.astype({"carrier": object})
    yield "polars", pl.from_arrow(table)
    yield "lazy", pl.from_arrow(table).lazy()
    yield "lazy scan", pl.scan_parquet(folder / "t.parquet")
    yield "mapping", {name: table[name].to_pylist() for name in table.column_names}
    assert isinstance(frame, pd.DataFrame)


def test_every_source_gives_the_histogram_of_a_plain_loop(records, tmp_path):
    """CSV, Parquet, folders, Arrow, pandas, polars and mappings: cell for cell, with the same tallies."""
    wanted = obvious(records)
    for name, source in every_source(records, tmp_path):
        found = histogram(source, AXES)
        np.testing.assert_array_equal(found.counts, wanted, err_msg=name)
        assert found.rows == ROWS, name
        assert found.rows - found.dropped == wanted.sum(), name
        assert found.missing["delay"] == 40, name


def test_duckdb_relations_are_read(records):
    """Through the Arrow C stream."""
    duckdb = pytest.importorskip("duckdb", reason="duckdb is not installed")
    connection = duckdb.connect()
    connection.register("records", records)
    np.testing.assert_array_equal(histogram(connection.sql("FROM records"), AXES).counts, obvious(records))


def test_a_table_longer_than_a_batch(tmp_path):
    """Batches add up, and the last one is shorter."""
    values = np.arange(2 * BATCH + 17) % 10
    pq.write_table(pa.table({"a": values}), tmp_path / "t.parquet")
    counts = histogram(tmp_path / "t.parquet", [Numbers("a", 0, 10, bins=10)]).counts
    np.testing.assert_array_equal(counts, np.bincount(values))


@pytest.mark.parametrize(
    "axis",
    [
        Numbers("a", 0, 1, bins=10),
        Numbers("a", -0.3, 0.7, bins=7),
        Numbers("a", edges=[0, 0.1, 0.35, 2.5]),
        Numbers("a", 1e-300, 2e-300, bins=3),
        Numbers("a", -1e300, 1e300, bins=5),
    ],
)
def test_bins_hold_their_left_ends_and_the_last_both(axis):
    """Rounding decides nothing: values at edges, beside them and far away go where searchsorted puts them."""
    edges = axis.breaks
    values = np.concatenate([edges, np.nextafter(edges, np.inf), np.nextafter(edges, -np.inf), [-1e308, 1e308, 0.5]])
    wanted = np.clip(np.searchsorted(edges, values, side="right") - 1, 0, axis.cells - 1)
    np.testing.assert_array_equal(histogram({"a": values}, [axis]).counts, np.bincount(wanted, minlength=axis.cells))


def test_text_that_is_no_value_is_missing(tmp_path):
    """Words, odd bytes, nothing, a cut row: none of them is refused, and none is counted."""
    (tmp_path / "t.csv").write_bytes(
        b'a,b\n1,x\n 2.5 ,y\n,x\nword,x\n\xff\xfe,x\n7\n8,x,x\n+3,"y"\n1e0,\xff\nnan,x\n3\n'
    )
    axes = [Numbers("a", 0, 4, bins=4), Categories("b", ["x", "y"])]
    found = histogram(tmp_path / "t.csv", axes)
    np.testing.assert_array_equal(found.counts, [[0, 0], [1, 0], [0, 1], [0, 1]])


def test_a_header_with_spaces_or_a_byte_order_mark(tmp_path):
    """Names are read as people mean them."""
    (tmp_path / "t.csv").write_bytes(b"\xef\xbb\xbfb, a ,a_low\nx,1,2\ny,3,4\n")
    found = histogram(tmp_path / "t.csv", [Numbers("a", 0, 4, bins=2), Categories("b", ["x", "y"])])
    np.testing.assert_array_equal(found.counts, np.eye(2, dtype=int))


@pytest.mark.parametrize(
    ("low", "high", "values", "text"),
    [
        (dt.date(2020, 1, 1), dt.date(2020, 1, 5), [dt.date(2020, 1, 2)], ["2020-01-02", "2020-01-02T13:00:00.5"]),
        (dt.time(0), dt.time(20), [dt.time(6, 1)], ["06:01:00", "06:01"]),
        (
            dt.datetime(2020, 1, 1, tzinfo=dt.UTC),
            dt.datetime(2020, 1, 5, tzinfo=dt.UTC),
            [dt.datetime(2020, 1, 2, 1, tzinfo=dt.UTC)],
            ["2020-01-02T01:00:00Z", "2020-01-02T03:00:00+02:00"],
        ),
    ],
)
def test_days_times_and_moments(low, high, values, text, tmp_path):
    """From Arrow and from text, with other rows that hold no such thing."""
    axis = Times("t", low, high, bins=4)
    np.testing.assert_array_equal(histogram({"t": [*values, None]}, [axis]).counts, [0, 1, 0, 0])
    for rows in (text, [*text, "", "soon"]):
        (tmp_path / "t.csv").write_text("\n".join(["t", *rows]) + "\n")
        np.testing.assert_array_equal(histogram(tmp_path / "t.csv", [axis]).counts, [0, len(text), 0, 0])
    assert axis.label(0)[0] == {"time": "00:00:00", "zoned": "2020-01-01T00:00:00Z", "moment": "2020-01-01"}[axis.kind]


@pytest.mark.parametrize(
    ("table", "axis", "words"),
    [
        ({"b": [1]}, Numbers("a", 0, 1, bins=1), "has no column named 'a'"),
        (pa.table({"a": pa.array([dt.date(2020, 1, 1)])}), Numbers("a", 0, 1, bins=1), "is of kind date32"),
        (pa.table({"a": [1]}), Times("a", dt.date(2020, 1, 1), dt.date(2021, 1, 1), bins=1), "is of kind int64"),
        (
            pa.table({"a": pa.array([dt.datetime(2020, 1, 1, tzinfo=dt.UTC)])}),
            Times("a", dt.date(2020, 1, 1), dt.date(2021, 1, 1), 1),
            "UTC",
        ),
        (pa.table({"a": pa.array([[1]])}), Numbers("a", 0, 1, bins=1), "is of kind list"),
        ({"a": 3}, Numbers("a", 0, 1, bins=1), "cannot read a table from dict"),
        (pa.table({"a": [1]}), Categories("a", ["x"]), "is of kind int64"),
        (7, Numbers("a", 0, 1, bins=1), "cannot read a table from int"),
        ("nowhere.csv", Numbers("a", 0, 1, bins=1), "there is no table"),
        (__file__, Numbers("a", 0, 1, bins=1), "cannot recognise the format"),
    ],
)
def test_what_is_no_table_or_of_another_kind_is_refused_by_its_schema(table, axis, words):
    """One line, from names and kinds alone."""
    with pytest.raises(InvalidTable, match=words):
        histogram(table, [axis])


def test_objects_have_no_kind_that_a_row_could_change():
    """Lists and columns of objects are read value by value: one odd value in them changes its own row and no other."""
    import pandas as pd

    axes = [Numbers("a", 0, 4, bins=4), Categories("b", [1, 2])]
    values, labels = [0, 1.5, None, 3, float("nan")], [1, 2, 1, 1, 1]
    for odd in ("word", b"3", object(), [1], dt.date(2020, 1, 1), 10**400):
        for make in (dict, lambda columns: pd.DataFrame(columns, dtype=object)):
            found = histogram(make({"a": [*values, odd], "b": [*labels, 1]}), axes).counts
            base = histogram(make({"a": values, "b": labels}), axes).counts
            more = np.abs(found - base)
            np.testing.assert_array_equal(base, [[1, 0], [0, 1], [0, 0], [1, 0]])
            assert more.sum() == (odd in (10**400, b"3"))  # those that are numbers; the first is clamped
            labelled = histogram(make({"a": [*values, 2], "b": [*labels, odd]}), axes).counts
            np.testing.assert_array_equal(labelled, base)


def test_a_file_that_ends_too_early_is_refused_without_a_row(tmp_path):
    """A damaged file is no table: one line that quotes nothing."""
    pq.write_table(
        pa.table({"a": np.arange(100_000)}), tmp_path / "t.parquet", compression="none", use_dictionary=False
    )
    content = bytearray((tmp_path / "t.parquet").read_bytes())
    content[4:400] = b"\xff" * 396
    (tmp_path / "t.parquet").write_bytes(content)
    with pytest.raises(InvalidTable, match="cannot be read to its end; write it again") as caught:
        histogram(tmp_path / "t.parquet", [Numbers("a", 0, 1, bins=1)])
    assert caught.value.__context__ is None
    (tmp_path / "e.csv").write_bytes(b"")
    with pytest.raises(InvalidTable, match="no CSV file"):
        histogram(tmp_path / "e.csv", [Numbers("a", 0, 1, bins=1)])


def test_a_cluster_counts_the_files_of_a_folder(tmp_path, capsys):
    """The same counts and tallies, from the command and in a release; "local" is threads of this process."""
    pytest.importorskip("distributed")
    from dpbench.cli import main

    (tmp_path / "t").mkdir()
    for part in range(3):
        (tmp_path / "t" / f"{part}.csv").write_text("age\n" + f"{part}\n" * (part + 1) + "x\n")
    (tmp_path / "budget.toml").write_text('dataset = "t"\nepsilon = "100"\n')
    (tmp_path / "spec.toml").write_text(
        'dataset = "t"\ntable = "t"\nepsilon = "50"\nalgorithm = "Identity"\nbudget = "budget.toml"\nout = "out"\n'
        "[columns.age]\nlow = 0\nhigh = 4\nbins = 4\n"
    )
    assert main(["table", str(tmp_path / "spec.toml"), "--dask", "local"]) == 0
    said = capsys.readouterr()
    assert [line.split(",")[-1] for line in said.out.splitlines()] == ["count", "1", "2", "3", "0"]
    assert "9 rows, 3 dropped" in said.err
    assert main(["release", str(tmp_path / "spec.toml"), "--dask", "local"]) == 0
    said = capsys.readouterr()
    assert said.err == ""
    rows = (tmp_path / "out/histogram.csv").read_text().splitlines()
    assert [row.split(",")[-1] for row in rows] == ["count", "1", "2", "3", "0"]


def test_times_between_edges():
    """Months, which have no common length; the same kinds and rules as equal bins."""
    month = [dt.date(2020, number, 1) for number in (1, 2, 3, 4)]
    axis = Times("d", edges=month)
    values = ["2020-01-31", "2020-02-29", "2020-03-01", "2019-01-01", None, "junk"]
    assert histogram({"d": values}, [axis]).counts.tolist() == [2, 1, 1]
    assert axis.label(1) == ["2020-02-01", "2020-03-01"]
    for bad in ([month[0]], [month[0], dt.time(3)], month[::-1]):
        with pytest.raises(InvalidTable):
            Times("d", edges=bad)
