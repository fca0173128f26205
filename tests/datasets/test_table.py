from __future__ import annotations

import traceback
from decimal import Decimal

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpbench.datasets import Column, from_table
from dpbench.domain import Domain
from dpbench.errors import InvalidTable

AGES = [0, 9.5, 10, 35, 40]
SEXES = ["f", "m", "f", "f", "m"]
COLUMNS = [Column("age", 0, 40, bins=4), Column("sex", categories=["f", "m"])]
COUNTS = [[1, 1], [1, 0], [0, 0], [1, 1]]


def as_csv(columns, folder):
    lines = [",".join(columns), *(",".join(map(str, row)) for row in zip(*columns.values(), strict=True))]
    file = folder / "people.csv"
    file.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return file


def as_parquet(columns, folder):
    parquet = pytest.importorskip("pyarrow.parquet")
    parquet.write_table(as_arrow(columns, folder), folder / "people.parquet")
    return folder / "people.parquet"


def as_arrow(columns, folder):
    return pytest.importorskip("pyarrow").table(columns)


def as_batch(columns, folder):
    return pytest.importorskip("pyarrow").RecordBatch.from_pydict(columns)


def as_stream(columns, folder):
    """Two batches, which can be read once."""
    pa = pytest.importorskip("pyarrow")
    whole = pa.table(columns)
    half = len(whole) // 2
    batches = [*whole.slice(0, half).to_batches(), *whole.slice(half).to_batches()]
    return pa.RecordBatchReader.from_batches(whole.schema, batches)


def as_stranger(columns, folder):
    """An object that nobody knows, and that speaks Arrow."""

    class Stranger:
        def __init__(self, table):
            self._table = table

        def __arrow_c_stream__(self, requested_schema=None):
            return self._table.__arrow_c_stream__(requested_schema)

    return Stranger(as_arrow(columns, folder))


def as_struct(columns, folder):
    """An array of structures, which speaks Arrow in one piece."""
    return as_batch(columns, folder).to_struct_array()


def as_pandas(columns, folder):
    return pytest.importorskip("pandas").DataFrame(columns)


def as_polars(columns, folder):
    return pytest.importorskip("polars").DataFrame(columns, strict=False)


def as_mapping(columns, folder):
    return columns


KINDS = [as_csv, as_parquet, as_arrow, as_batch, as_stream, as_stranger, as_struct, as_pandas, as_polars, as_mapping]
every_kind = pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__[3:])


def refused(table, columns, **options):
    """The one line with which a table is refused; nothing that Python prints with it is longer-lived."""
    with pytest.raises(InvalidTable) as caught:
        from_table(table, columns, **options)
    assert "\n" not in str(caught.value)
    return str(caught.value), "".join(traceback.format_exception_only(caught.value)), caught.value


@every_kind
def test_every_kind_of_table_gives_the_same_counts(kind, tmp_path):
    """The same rows give the same histogram, whatever holds them."""
    result = from_table(kind({"age": AGES, "sex": SEXES}, tmp_path), COLUMNS)
    assert result.counts.dtype == np.int64
    assert result.counts.tolist() == COUNTS
    assert result.domain == Domain((4, 2))
    assert dict(result.outside) == {"age": 0, "sex": 0}


@every_kind
def test_order_of_columns_is_the_order_of_axes(kind, tmp_path):
    """The axes follow the columns as given, not as the table has them."""
    result = from_table(kind({"age": AGES, "sex": SEXES}, tmp_path), COLUMNS[::-1])
    assert result.counts.tolist() == np.transpose(COUNTS).tolist()


@every_kind
def test_values_outside_are_refused_by_default(kind, tmp_path):
    """A value outside the bounds is refused, by column, without value or count."""
    text, _, _ = refused(kind({"age": [1, 2, 777, 888, 999]}, tmp_path), [Column("age", 0, 40, bins=4)])
    assert "'age'" in text
    assert "outside='clamp'" in text
    assert not any(secret in text for secret in ("777", "888", "999", "3 values"))


@every_kind
def test_values_outside_are_clamped_and_counted(kind, tmp_path):
    """With clamping, values outside count in the end bins, and how many is an attribute."""
    table = kind({"age": [-5, -0.1, 0, 40, 40.1, float("inf")]}, tmp_path)
    result = from_table(table, [Column("age", 0, 40, bins=4)], outside="clamp")
    assert result.counts.tolist() == [3, 0, 0, 3]
    assert dict(result.outside) == {"age": 4}


@every_kind
def test_missing_values_are_refused(kind, tmp_path):
    """A missing number or category is refused even with clamping."""
    for column, values in (
        (Column("age", 0, 40, bins=4), [1.0, None, 3.0]),
        (Column("age", 0, 40, bins=4), [1.0, float("nan"), 3.0]),
        (Column("age", categories=["a", "b"]), ["a", None, "b"]),
    ):
        written = ["" if value is None else value for value in values] if kind is as_csv else values
        text, _, _ = refused(kind({"age": written}, tmp_path), [column], outside="clamp")
        assert "'age'" in text
        if kind is not as_mapping:  # a list with None among numbers holds no numbers
            assert "missing" in text
        elif column.categories is None:
            assert "missing" in text or "numbers only" in text


@every_kind
def test_unlisted_categories_are_refused(kind, tmp_path):
    """A value that is no category is refused even with clamping, and not quoted."""
    text, _, _ = refused(kind({"sex": ["f", "secret"]}, tmp_path), COLUMNS[1:], outside="clamp")
    assert "none of its categories" in text
    assert "secret" not in text


@every_kind
def test_text_is_no_number(kind, tmp_path):
    """Text in a column with bounds is refused, and neither message nor chained exceptions quote it."""
    _, _, error = refused(kind({"age": ["secret", "secret"]}, tmp_path), [Column("age", 0, 40, bins=4)])
    whole = "".join(str(each) for each in (error, error.__cause__, error.__context__))
    assert "secret" not in whole
    assert "number" in whole


@every_kind
def test_integer_categories(kind, tmp_path):
    """Categories may be whole numbers; in a CSV file they are compared as text."""
    result = from_table(kind({"zone": [3, 1, 3]}, tmp_path), [Column("zone", categories=[1, 2, 3])])
    assert result.counts.tolist() == [1, 0, 2]


@every_kind
def test_booleans_are_numbers_or_categories(kind, tmp_path):
    """True and False can be counted as categories."""
    table = kind({"flag": [True, False, True]}, tmp_path)
    assert from_table(table, [Column("flag", categories=[False, True])]).counts.tolist() == [1, 2]


@every_kind
def test_absent_column_is_refused(kind, tmp_path):
    """A column that the table lacks is refused by name."""
    text, _, _ = refused(kind({"age": AGES}, tmp_path), [Column("height", 0, 3, bins=3)])
    assert "'height'" in text


@every_kind
def test_table_without_rows_gives_zeros(kind, tmp_path):
    """A table without rows gives a histogram of zeros."""
    empty = {"age": np.array([], dtype=np.float64)}
    assert from_table(kind(empty, tmp_path), [Column("age", 0, 40, bins=4)]).counts.tolist() == [0, 0, 0, 0]


def test_bounds_are_not_inferred_from_private_data():
    """A column without bounds is refused, and so is one without categories."""
    for column in (Column("age", bins=4), Column("age")):
        text, _, _ = refused({"age": AGES}, [column])
        assert "public=True" in text


@every_kind
def test_bounds_are_inferred_from_public_data(kind, tmp_path):
    """Of data that are declared public, bounds and categories may be inferred, and are told."""
    table = kind({"age": AGES, "sex": SEXES}, tmp_path)
    result = from_table(table, [Column("age", bins=4), Column("sex")], public=True)
    assert result.counts.tolist() == COUNTS
    assert result.columns == (Column("age", 0, 40, 4), Column("sex", categories=("f", "m")))


def test_public_data_must_allow_inference():
    """Bounds cannot be inferred from one value, none, or values that cannot be sorted."""
    for values in ([5, 5, 5], []):
        assert "give low and high" in refused({"age": np.array(values)}, [Column("age", bins=4)], public=True)[0]
    mixed = np.array(["a", 1], dtype=object)
    assert "cannot be sorted" in refused({"age": mixed}, [Column("age")], public=True)[0]


def test_counts_are_not_shown():
    """The repr tells the columns, and neither counts nor how many were outside."""
    result = from_table({"age": [1] * 4321}, [Column("age", 2, 4, bins=2)], outside="clamp")
    assert result.outside["age"] == 4321
    assert "4321" not in repr(result)
    assert "age" in repr(result)


def test_edges_are_left_closed_and_the_last_bin_closed():
    """An edge belongs to the bin on its right, the last edge to the last bin."""
    result = from_table({"x": [0, 1, 1.999, 2, 10]}, [Column("x", edges=[0, 1, 2, 10])])
    assert result.counts.tolist() == [1, 2, 2]


@given(
    st.floats(-1e6, 1e6),
    st.floats(1e-3, 1e6),
    st.integers(1, 50),
    st.lists(st.floats(0, 1), min_size=1, max_size=30),
)
@settings(max_examples=150, deadline=None, derandomize=True)
def test_bins_hold_their_left_ends(low, width, bins, shares):
    """Every value lies between the edges of the bin that counts it, and every value is counted."""
    column = Column("x", low, low + width, bins)
    edges = column.breaks()
    assert edges[0] == low
    assert edges[-1] == low + width
    values = [*np.clip(low + np.array(shares) * width, low, low + width), *edges]
    whole = from_table({"x": values}, [column])
    assert whole.counts.sum() == len(values)
    for value in values:
        code = int(np.argmax(from_table({"x": [value]}, [column]).counts))
        assert edges[code] <= value
        assert value < edges[code + 1] or (code == bins - 1 and value == edges[-1])


@pytest.mark.parametrize("bits", [np.float16, np.float32, np.int8, np.uint64])
def test_narrow_numbers_meet_exact_edges(bits):
    """Numbers of few bits are compared with the edges in double precision."""
    values = np.array([0, 1, 2, 3], dtype=bits)
    assert from_table({"x": values}, [Column("x", 0, 3, 3)]).counts.tolist() == [1, 1, 2]


def test_decimals_are_numbers():
    """Decimals, as databases give them, are numbers."""
    values = np.array([Decimal("0.5"), Decimal("1.5")], dtype=object)
    assert from_table({"x": values}, [Column("x", 0, 2, 2)]).counts.tolist() == [1, 1]


def test_mixed_lists_keep_their_kinds():
    """A list that mixes text and numbers is not turned into text."""
    result = from_table({"x": [1, "a", "a"]}, [Column("x", categories=[1, "a"])])
    assert result.counts.tolist() == [1, 2]


def test_masked_values_are_missing():
    """A masked array with masked values is refused."""
    values = np.ma.masked_array([1.0, 2.0], mask=[False, True])
    assert "missing" in refused({"x": values}, [Column("x", 0, 3, 3)])[0]


@pytest.mark.parametrize("dtype", ["Int64", "Float64", "category", "string"])
def test_pandas_extension_types(dtype):
    """Pandas' own types for numbers and categories are read."""
    pandas = pytest.importorskip("pandas")
    numeric = dtype in {"Int64", "Float64"}
    values = [1, 2, 2] if numeric else ["a", "b", "b"]
    column = Column("x", 0, 3, 3) if numeric else Column("x", categories=["c", "a", "b"])
    series = pandas.Series(values, dtype=dtype)
    assert from_table(pandas.DataFrame({"x": series}), [column]).counts.tolist() == [0, 1, 2]


def test_dates_are_categories_but_no_numbers():
    """Dates are refused where numbers are wanted, and found among categories."""
    pandas = pytest.importorskip("pandas")
    days = pandas.to_datetime(["2020-01-01", "2020-01-02"])
    frame = pandas.DataFrame({"day": days.astype("datetime64[ns]")})
    assert "numbers only" in refused(frame, [Column("day", 0, 1, 2)])[0]
    categories = [day.to_pydatetime() for day in days]
    assert from_table(frame, [Column("day", categories=categories)]).counts.tolist() == [1, 1]


def test_pandas_columns_of_mixed_kinds():
    """They have categories, but are no numbers; one that is not asked for does not matter."""
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"x": np.array([1, "a", "a"], dtype=object), "y": [0.5, 1.5, 1.5]})
    assert from_table(frame, [Column("x", categories=[1, "a"])]).counts.tolist() == [1, 2]
    assert from_table(frame, [Column("y", 0, 2, 2)]).counts.tolist() == [1, 2]
    assert "numbers only" in refused(frame, [Column("x", 0, 3, 3)])[0]


def test_batches_are_counted_together(tmp_path, monkeypatch):
    """However many rows are held at a time, counts, tallies and inferred cells are those of the whole."""
    people = {"age": [0, 9.5, 10, 35, 40, 50, -1], "sex": [*"fmffm", "x", "f"]}
    whole = {"age": [1, 1, 1, 2, 2, 0], "sex": [*"abcabd"]}
    for rows in (1, 2, 3, 100):
        monkeypatch.setattr("dpbench.datasets.frames.BATCH", rows)
        for kind in (as_csv, as_parquet):
            columns = [COLUMNS[0], Column("sex", categories=["f", "m", "x"])]
            result = from_table(kind(people, tmp_path), columns, outside="clamp")
            assert result.counts.tolist() == [[2, 1, 0], [1, 0, 0], [0, 0, 0], [1, 1, 1]]
            assert dict(result.outside) == {"age": 2, "sex": 0}
            inferred = from_table(kind(whole, tmp_path), [Column("age", bins=2), Column("sex")], public=True)
            assert inferred.columns == (Column("age", 0, 2, 2), Column("sex", categories=tuple("abcd")))
            assert inferred.counts.sum() == 6


def test_lines_are_those_of_the_file_in_every_batch(tmp_path, monkeypatch):
    """A mistake far down is found with its own line."""
    monkeypatch.setattr("dpbench.datasets.frames.BATCH", 2)
    (tmp_path / "people.csv").write_text('age,note\n1,"two\nlines"\n\n2,\n3,\n4,\nsecret,\n')
    assert "line 8: column 'age' has no number" in refused(tmp_path / "people.csv", COLUMNS[:1])[0]
    (tmp_path / "people.csv").write_text('age,note\n1,a\n2,a\n3,a\n"4"4,a\n')
    assert "what follows line 4 is not CSV" in refused(tmp_path / "people.csv", COLUMNS[:1])[0]


def test_stream_that_breaks_off_is_refused():
    """What Arrow says of it is not passed on: it might quote a cell."""
    pa = pytest.importorskip("pyarrow")

    def broken():
        yield pa.record_batch({"age": [1.0]})
        raise pa.ArrowInvalid("secret")

    stream = pa.RecordBatchReader.from_batches(pa.schema([("age", pa.float64())]), broken())
    text, _, error = refused(stream, COLUMNS[:1])
    assert "RecordBatchReader cannot be read" in text
    assert (error.__cause__, error.__context__) == (None, None)


def test_several_values_in_a_row_are_refused():
    """A list of lists is no column, whatever holds it."""
    pa = pytest.importorskip("pyarrow")
    assert "give one" in refused(pa.table({"age": [[1, 2], [3]]}), COLUMNS[:1])[0]


def test_lazy_polars_frames_are_refused():
    """A frame that holds no rows yet is refused by the name of its type."""
    polars = pytest.importorskip("polars")
    assert "LazyFrame" in refused(polars.LazyFrame({"age": [1, 2]}), COLUMNS[:1])[0]


@pytest.mark.parametrize(
    ("content", "fault"),
    [
        ("age\n1\nsecret\n", "line 3: column 'age' has no number"),
        ('age,note\n1,"two\nlines"\nsecret,b\n', "line 4: column 'age' has no number"),
        ("age,sex\n1,f\n2\n", "line 3 has another number of cells"),
        ("age,age\n1,2\n", "more than one column"),
        ("", "has no column"),
        ("secret,f\n1,m\n", "has no column"),
        ("age\n1\n\x00\n", "line 3: column 'age' has no number|is not CSV"),
        ('age\n1\n"2"2\n', "is not CSV"),
        ("age,sex\n1,f\n\n ,f\n", "line 4: column 'age' has missing values"),
        ("age\n1\n\n2\n", "line 3: column 'age' has missing values"),
    ],
)
def test_bad_csv_names_the_place_and_not_the_cell(tmp_path, content, fault):
    """A bad CSV file is refused with file and line, without quoting any cell or the first line."""
    file = tmp_path / "people.csv"
    file.write_text(content, encoding="utf-8", newline="")
    with pytest.raises(InvalidTable, match=fault) as caught:
        from_table(file, COLUMNS[:1])
    assert "people.csv" in str(caught.value)
    assert "secret" not in str(caught.value)
    assert caught.value.__context__ is None


def test_csv_that_is_not_text_is_refused(tmp_path):
    """Bytes that are not UTF-8 are refused, and no chained exception carries them."""
    file = tmp_path / "people.csv"
    file.write_bytes(b"age\n1\n\xff\xfe\n")
    with pytest.raises(InvalidTable, match="is not UTF-8") as caught:
        from_table(file, COLUMNS[:1])
    assert caught.value.__context__ is None


def test_csv_as_spreadsheets_write_it(tmp_path):
    """A byte order mark, spaces around cells, quotes, blank lines and CRLF are all read."""
    file = tmp_path / "people.CSV"
    file.write_bytes(b'\xef\xbb\xbf"age", sex\r\n 1 , f \r\n\r\n"35",m\r\n')
    assert from_table(str(file), COLUMNS).counts.tolist() == [[1, 0], [0, 0], [0, 0], [0, 1]]


@pytest.mark.parametrize("name", ["absent.csv", "absent.parquet", "people.xlsx", "people"])
def test_unreadable_paths_are_refused(tmp_path, name):
    """A file that is absent or of another kind is refused, and the kinds that are read are told."""
    assert ".csv" in refused(tmp_path / name, COLUMNS)[0]


def test_false_parquet_is_refused(tmp_path):
    """A file that is no Parquet is refused."""
    pytest.importorskip("pyarrow")
    (tmp_path / "people.parquet").write_bytes(b"no parquet at all")
    assert "cannot be read as Parquet" in refused(tmp_path / "people.parquet", COLUMNS)[0]


@pytest.mark.parametrize(
    "table", [None, 5, [1, 2], {"age": [[1, 2]]}, {"age": 3}, {"age": [[1], [1, 2]]}, {"age": [1], "sex": []}]
)
def test_other_things_are_no_tables(table):
    """Anything else than a table is refused."""
    refused(table, COLUMNS if isinstance(table, dict) and "sex" in table else COLUMNS[:1])


@pytest.mark.parametrize(
    "arguments",
    [
        {"low": 0, "high": 1},
        {"low": 0, "bins": 2},
        {"low": 1, "high": 1, "bins": 2},
        {"low": 2, "high": 1, "bins": 2},
        {"low": 0, "high": float("inf"), "bins": 2},
        {"low": float("nan"), "high": 1, "bins": 2},
        {"low": -1.7e308, "high": 1.7e308, "bins": 2},
        {"low": "a", "high": "b", "bins": 2},
        {"low": 1, "high": 1 + 1e-15, "bins": 1000},
        {"low": 0, "high": 1, "bins": 0},
        {"low": 0, "high": 1, "bins": 2.5},
        {"low": 0, "high": 1, "bins": True},
        {"low": 0, "high": 1, "bins": 10**12},
        {"low": 0, "high": 1, "bins": 2, "edges": [0, 1]},
        {"edges": [0, 1], "categories": ["a"]},
        {"edges": [0]},
        {"edges": [0, 0, 1]},
        {"edges": [1, 0]},
        {"edges": [0, float("nan")]},
        {"edges": ["a", "b"]},
        {"categories": []},
        {"categories": ["a", "a"]},
        {"categories": ["a", None]},
        {"categories": [float("nan")]},
        {"categories": "abc"},
        {"categories": [[1], [2]]},
    ],
)
def test_bad_columns_are_refused(arguments):
    """Bounds, bins, edges or categories that make no cells are refused, in one line that names the column."""
    with pytest.raises(InvalidTable, match=r"^column 'age' .*; give|^column 'age' .*; list") as caught:
        Column("age", **arguments)
    assert "\n" not in str(caught.value)


def test_columns_are_values():
    """Two columns with equal cells are equal and hash alike, whatever sequence they came from."""
    assert Column("x", edges=np.array([0, 1])) == Column("x", edges=[0.0, 1.0])
    assert hash(Column("x", categories=["a"])) == hash(Column("x", categories=("a",)))


@pytest.mark.parametrize("columns", [[], ["age"], [COLUMNS[0], COLUMNS[0]]])
def test_bad_lists_of_columns_are_refused(columns):
    """No columns, names instead of columns, and one column twice are refused."""
    refused({"age": AGES}, columns)


def test_categories_that_look_alike_are_refused(tmp_path):
    """In a CSV file, the number 1 and the text '1' cannot be told apart."""
    table = as_csv({"x": ["1"]}, tmp_path)
    assert "look alike" in refused(table, [Column("x", categories=[1, "1"])])[0]


def test_unknown_way_with_outside_values_is_refused():
    """Only 'refuse' and 'clamp' are known."""
    assert "'refuse' or 'clamp'" in refused({"age": AGES}, COLUMNS[:1], outside="drop")[0]


def test_histogram_too_large_is_refused():
    """A product of bins that no memory holds is refused before anything is built."""
    columns = [Column(name, 0, 1, bins=10_000) for name in "abc"]
    table = {name: [0.5] for name in "abc"}
    assert "fewer bins" in refused(table, columns)[0]


def test_more_edges_than_anybody_writes_down_are_refused():
    """At once, however many more there would be."""
    with pytest.raises(InvalidTable, match="more than 1,000,000 edges"):
        Column("age", edges=range(10**12))


def test_categories_of_different_lengths_are_refused_in_words():
    """Lists in a list cannot be compared."""
    with pytest.raises(InvalidTable, match="cannot be compared"):
        Column("age", categories=[[1, 2], [3]])


class _NoNumber:
    def __index__(self):
        raise RuntimeError("hostile")


@pytest.mark.parametrize(
    "odd",
    [
        {"edges": np.ma.masked_array([0.0, 1.0, 2.0], [False, True, False])},
        {"edges": 3},
        {"low": 0, "high": 1, "bins": _NoNumber()},
    ],
    ids=["masked edges", "one edge", "hostile bins"],
)
def test_odd_edges_and_bins_are_refused_in_words(odd):
    """Whatever reading them as numbers raises, or warns of."""
    with pytest.raises(InvalidTable, match="column 'age' has"):
        Column("age", **odd)
