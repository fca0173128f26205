"""What the header shows costs nothing: it is looked at before the charge, and without a look at rows."""

import bz2
import gzip
import itertools
import os
import threading
import tomllib

import numpy as np
import pyarrow as pa
import pyarrow.dataset
import pyarrow.parquet as pq
import pytest

import dpbench as dpb
import dpbench.release.publishing as publishing
from dpbench.cli import main
from dpbench.errors import DPBenchError, InvalidTable, ReleaseFailed, ReleaseRefused
from dpbench.release import check, publish
from dpbench.tables import header, sources
from release.office import counts_of, office


def charges(folder):
    return tomllib.loads((folder / "people.budget.toml").read_text()).get("charge", [])


def parquet_without_footer(path):
    pq.write_table(pa.table({"age": [1.0, 2.0]}), path)
    path.write_bytes(path.read_bytes()[:-8])


def write_parquet(**columns):
    return lambda path: pq.write_table(pa.table(columns), path)


def write(content):
    return lambda path: path.write_bytes(content)


def write_both(path):
    path.mkdir()
    (path / "1.csv").write_text("age\n1\n")
    (path / "2.csv").write_text("years\n1\n")


COUNTS = ('table = "people.csv"', 'counts = "people.csv"')
DAYS = ("low = 0\nhigh = 64\nbins = 16", "low = 2020-01-01\nhigh = 2021-01-01\nbins = 16")
KINDS = ("low = 0\nhigh = 64\nbins = 16", 'categories = ["f", "m"]')
FAULTS = {
    "misspelled": ("people.csv", write(b"aeg,income\n3,4\n"), (), "has no column named 'age'; correct the spec"),
    "semicolons": ("people.csv", write(b"age;income\n3;4\n"), (), "it looks separated by semicolons: write it with"),
    "tabs": ("people.csv", write(b"age\tincome\n3\t4\n"), (), "it looks separated by tabs: write it with commas"),
    "UTF-16": ("people.csv", write("age,income\n3,4\n".encode("utf-16")), (), "is UTF-16 text, or no CSV file"),
    "UTF-16 without mark": ("people.csv", write("age,x\n3,4\n".encode("utf-16-be")), (), "is UTF-16 text, or no CSV"),
    "twice": ("people.csv", write(b"age,age\n3,4\n"), (), "has 2 columns named 'age'; give each its own name"),
    "no bytes": ("people.csv", write(b""), (), "its first line is empty"),
    "blank line": ("people.csv", write(b"\nage\n3\n"), (), "its first line is empty"),
    "open quote": ("people.csv", write(b'"age,income\n3,4\n'), (), "is no CSV file with a header"),
    "no gzip": ("people.csv.gz", write(b"age\n3\n"), (), "the header of"),
    "no bytes of gzip": ("people.csv.gz", write(b""), (), "its first line is empty"),
    "no footer": ("people.parquet", parquet_without_footer, (), "cannot be read as Parquet"),
    "no bytes of Parquet": ("people.parquet", write(b""), (), "cannot be read as Parquet"),
    "no column of Parquet": ("people.parquet", write_parquet(years=[1]), (), "has no column named 'age'"),
    "kind": ("people.parquet", write_parquet(age=[1.5]), DAYS, "is of kind double"),
    "categories": ("people.parquet", write_parquet(age=[1, 2]), KINDS, "is of kind int64"),
    "one of two files": ("people", write_both, (), "2.csv has no column named 'age'"),
    "counts": ("people.csv", write(b"age,count\n0,3\n"), COUNTS, "has no column named 'age_cell'"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_of_the_header_costs_nothing(fault, tmp_path, capsys):
    """One line, exit code 1, no charge, no folder; from --check the same."""
    name, make, (old, new), words = FAULTS[fault][0], FAULTS[fault][1], FAULTS[fault][2] or ("", ""), FAULTS[fault][3]
    spec = office(tmp_path)
    spec.write_text(spec.read_text().replace(old, new).replace("people.csv", name))
    (tmp_path / "people.csv").unlink()
    make(tmp_path / name)
    before = (tmp_path / "people.budget.toml").read_bytes()
    for more in ([], ["--check"]):
        assert main(["release", str(spec), *more]) == 1
        said = capsys.readouterr()
        assert said.out == ""
        assert said.err.count("\n") == 1
        assert words in said.err
        assert said.err.endswith("; nothing was charged\n")
    assert (tmp_path / "people.budget.toml").read_bytes() == before
    assert not [each for each in tmp_path.iterdir() if each.name.startswith((".out", "out"))]


def frames_with_faults():
    import pandas as pd
    import polars as pl

    yield "pandas", pd.DataFrame({"years": [1.0]}), "DataFrame has no column named 'age'"
    yield "pandas twice", pd.DataFrame([[1, 2]], columns=["age", "age"]), "has 2 columns named 'age'"
    yield "polars", pl.DataFrame({"years": [1.0]}), "DataFrame has no column named 'age'"
    yield "lazy", pl.LazyFrame({"years": [1.0]}), "LazyFrame has no column named 'age'"
    yield "Arrow", pa.table({"years": [1.0]}), "Table has no column named 'age'"
    yield "Arrow kind", pa.table({"age": pa.array([1], pa.date32())}), "is of kind date32"
    yield "reader", pa.table({"years": [1.0]}).to_reader(), "has no column named 'age'"
    yield "dataset", pa.dataset.dataset(pa.table({"years": [1.0]})), "has no column named 'age'"
    yield "mapping", {"years": [1.0]}, "dict has no column named 'age'"
    yield "mapping of numbers", {"age": 3}, "cannot read a table from dict"


@pytest.mark.parametrize("number", range(10))
def test_a_frame_without_the_column_costs_nothing(number, tmp_path):
    """Names of any frame, and kinds of those with an Arrow schema."""
    pytest.importorskip("polars", reason="polars is not installed")
    _, table, words = list(frames_with_faults())[number]
    spec = office(tmp_path)
    for looks in (publish, check):
        with pytest.raises(ReleaseRefused, match=words) as caught:
            looks(spec, table)
        assert str(caught.value).endswith("; nothing was charged")
    assert not charges(tmp_path)


def test_a_database_is_not_asked_before_the_charge(tmp_path):
    """A query that fails because of a row would say so for nothing; the names of its columns are known without it."""
    duckdb = pytest.importorskip("duckdb", reason="duckdb is not installed")
    spec = office(tmp_path)
    with pytest.raises(ReleaseRefused, match="has no column named 'age'; correct the spec; nothing was charged"):
        publish(spec, duckdb.sql("SELECT 1 AS years"))
    fails = duckdb.sql("SELECT CAST(word AS INTEGER) AS age FROM (VALUES ('12'), ('twelve')) AS words(word)")
    assert check(spec, fails)
    with pytest.raises(ReleaseFailed):
        publish(spec, fails)
    assert len(charges(tmp_path)) == 1


class Stream:
    """A table that says nothing of itself before it is run."""

    def __init__(self):
        self.asked = 0

    def __arrow_c_stream__(self, requested_schema=None):
        self.asked += 1
        return pa.table({"age": [1.0]}).__arrow_c_stream__(requested_schema)


def test_a_stream_is_run_after_the_charge_alone(tmp_path):
    """Whatever it does then may follow from its rows."""
    stream, spec = Stream(), office(tmp_path)
    check(spec, stream)
    assert stream.asked == 0
    publish(spec, stream)
    assert stream.asked == 1


def test_kinds_that_follow_from_rows_refuse_nothing_before_the_charge(tmp_path):
    """A column of pandas, polars or a mapping has its kind from its rows; so has one of a dataset of CSV files."""
    pd = pytest.importorskip("pandas")
    pl = pytest.importorskip("polars", reason="polars is not installed")
    spec = office(tmp_path)
    days = np.array(["2020-01-01"], dtype="datetime64[us]")
    (tmp_path / "days.csv").write_text("age\n2020-01-01\n")
    frames = [
        pd.DataFrame({"age": days}),
        pl.DataFrame({"age": days}),
        pl.LazyFrame({"age": days}),
        {"age": days},
        pa.dataset.dataset(tmp_path / "days.csv", format="csv"),
    ]
    for frame in frames:
        assert check(spec, frame)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs pipes")
@pytest.mark.parametrize("ending", ["csv", "csv.gz", "csv.bz2", "csv.zst"])
def test_the_header_is_read_and_not_a_byte_more(ending, tmp_path):
    """Out of a pipe into which only the header has been written: asking for more would wait for ever.

    A decompressor has its block of rows by then, as every program has that reads such a file.
    """
    path = tmp_path / f"t.{ending}"
    os.mkfifo(path)
    head = b'age,"two, one ""name""",x\n'
    packed = {"csv": bytes, "csv.gz": gzip.compress, "csv.bz2": bz2.compress, "csv.zst": pa.Codec("zstd").compress}
    content = bytes(packed[ending](head)) if ending != "csv.zst" else pa.compress(head, "zstd", asbytes=True)
    read, found = threading.Event(), []

    def writes():
        with path.open("wb", buffering=0) as pipe:
            pipe.write(content.ljust(-(-len(content) // header.DRIP) * header.DRIP, b"\0") if ending != "csv" else head)
            read.wait(60)

    writer = threading.Thread(target=writes)
    writer.start()
    found.append(header.csv_names(path))
    read.set()
    writer.join()
    assert found == [["age", 'two, one "name"', "x"]]


def test_only_the_footer_of_parquet_is_read(tmp_path):
    """Its pages overwritten, the look finds the same."""
    path = tmp_path / "t.parquet"
    pq.write_table(pa.table({"age": np.arange(10_000.0)}), path)
    content = bytearray(path.read_bytes())
    footer = int.from_bytes(content[-8:-4], "little") + 8
    content[4:-footer] = b"\xff" * (len(content) - 4 - footer)
    path.write_bytes(content)
    assert sources.look_at_header(path, [dpb.tables.Numbers("age", 0, 1, bins=2)]) is None
    with pytest.raises(InvalidTable, match="as Parquet|cannot be read to its end"):
        dpb.tables.histogram(path, [dpb.tables.Numbers("age", 0, 1, bins=2)])


ROWS = [b"", b"1,2\n", b"\xff\xfe\x00", b'"never closed', b"1\n1,2,3\n", b"9" * 2**23, b"\n\n\n", b'"","\r\n"\n' * 999]
HEADS = [
    b"age,income",
    b'"age","in\ncome"',
    b"\xef\xbb\xbfage",
    b"age;income",
    b"Age",
    b"age,age",
    b"\xff\xfea\x00",
    b'a"ge,b',
    b'"a"ge,b',
    b'"age"""',
    b'x,"age"\t',
]


@pytest.mark.parametrize("packed", ["", ".gz"])
@pytest.mark.parametrize("head", HEADS)
def test_what_the_look_finds_follows_from_the_header_alone(head, packed, tmp_path):
    """Rows that are none, are damaged, have no end: message and outcome are the same for all of them."""
    axes, path = [dpb.tables.Numbers("age", 0, 64, bins=2)], tmp_path / f"t.csv{packed}"
    for ends in ((b"\n", b"\r\n"), (b"\r",)):
        found = set()
        for rows, end in itertools.product(ROWS, ends):
            if (rows[:1], end) == (b"\n", b"\r"):
                continue  # which is CR LF
            content = head + end + rows
            path.write_bytes(gzip.compress(content, 1) if packed else content)
            try:
                found.add(sources.look_at_header(path, axes))
            except InvalidTable as error:
                found.add(str(error))
        assert len(found) == 1


def test_the_look_and_the_reader_have_the_same_header(tmp_path):
    """Random first lines of quotes, commas and letters, each as a row too: its cells are the names."""
    rng, path, seen = np.random.default_rng(0), tmp_path / "t.csv", 0
    for _ in range(1000):
        line = "".join(rng.choice(list('ab,"" '), rng.integers(1, 12)))
        path.write_text(f"{line}\n{line}\n")
        try:
            names = header.csv_names(path)
        except InvalidTable:
            continue
        if len(set(names)) < len(names):
            continue  # of columns of one name none can be asked for
        seen += 1
        (row,) = [row for batch in sources._csv_batches(path, names) for row in batch.to_pylist()]
        assert [(row[name] or b"").decode().strip() for name in names] == names, line
    assert seen > 400


def test_a_header_without_rows_is_released_like_any_table(tmp_path):
    """From every kind of file; that there are no rows is no fault."""
    spec = office(tmp_path, budget="100", epsilon="50", table="people.csv")
    text = spec.read_text()
    (tmp_path / "people.csv").write_text("age,income\n")
    (tmp_path / "people.csv.gz").write_bytes(gzip.compress(b"income,age"))  # not even the end of a line
    pq.write_table(pa.table({"age": pa.array([], pa.float64())}), tmp_path / "people.parquet")
    for name in ("people.csv", "people.csv.gz"):
        spec.write_text(text.replace("people.csv", name))
        assert not counts_of(publish(spec).folder).any()
    (tmp_path / "people.budget.toml").write_text('dataset = "people"\nepsilon = "100"\n')
    spec.write_text(text.replace("people.csv", "people.parquet"))
    assert not counts_of(publish(spec).folder).any()


def test_a_header_that_never_ends_is_given_up(tmp_path, monkeypatch):
    """Within a bound, whatever the file holds."""
    path = tmp_path / "t.csv"
    monkeypatch.setattr(header, "LONGEST", 1000)
    path.write_bytes(b"x" * 1000 + b"\n")
    with pytest.raises(InvalidTable, match="has no header that ends within 1,000 bytes"):
        header.csv_names(path)


def test_a_file_that_becomes_another_after_the_look_fails_after_the_charge(tmp_path, monkeypatch):
    """The charge is made by then, and stays."""
    spec = office(tmp_path)
    charge = publishing.charge

    def charges_and_swaps(*given):
        left = charge(*given)
        (tmp_path / "people.csv").write_text("years\n1\n")
        return left

    monkeypatch.setattr(publishing, "charge", charges_and_swaps)
    with pytest.raises(DPBenchError, match="has no column named 'age'.* any row was read, and stays") as caught:
        publish(spec)
    assert isinstance(caught.value, ReleaseFailed)
    assert len(charges(tmp_path)) == 1
    assert not [each for each in tmp_path.iterdir() if each.is_dir()]
