"""The grammars by which text is read, beside slow obvious twins, and values that came and went with other rows."""

import csv
import datetime as dt
import re

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from dpbench.errors import InvalidTable
from dpbench.tables import Categories, Numbers, Times, group_by, histogram
from dpbench.tables.sources import batches
from dpbench.tables.values import mixed, numbers_of, read_numbers

NUMBER = re.compile(r"[+-]?(([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?|inf|infinity)", re.IGNORECASE | re.ASCII)
EPOCH = dt.datetime(1970, 1, 1)
DAYS = Times("a", dt.date(2020, 1, 1), dt.date(2021, 1, 1), bins=366)
TIME = Times("a", dt.time(0), dt.time(23), bins=23)


def written(rng, letters, most=14):
    return "".join(rng.choice(list(letters), int(rng.integers(1, most))))


def as_number(text):
    text = text.strip(" \t\n\v\f\r")
    if text.lower() in ("true", "false"):
        return float(text.lower() == "true")
    return float(text) if NUMBER.fullmatch(text) else float("nan")


def test_numbers_are_read_by_their_grammar_and_rounded_right():
    """Python's float where the grammar lets it, bit for bit; missing elsewhere."""
    rng = np.random.default_rng(1)
    listed = [
        "",
        " ",
        "-",
        ".",
        "e5",
        "1e",
        "1e+",
        "1_0",
        "٣",
        "0x1",
        "nan",
        "-inf",
        "+Infinity",
        "True",
        "FALSE",
        "truee",
    ]
    listed += [
        "9007199254740993",
        "1e22",
        "1e23",
        "4.35",
        "0.1e-6",
        "1e400",
        "-1e-400",
        "9" * 400,
        "0." + "1" * 30,
        "5.",
        ".5",
    ]
    listed += [written(rng, "0123456789.eE+- ") for _ in range(4000)]
    listed += [repr(float(each)) for each in rng.normal(0, 1e5, 2000)]
    listed += [f"{each:.{digits}e}" for each in 10 ** rng.uniform(-300, 300, 500) for digits in (2, 14, 17)]
    found = read_numbers(pa.array(listed))
    np.testing.assert_array_equal(found, [as_number(each) for each in listed])
    assert np.isfinite(found).sum() > 3000


def as_moment(text):
    """Python's reading of ISO 8601, for texts in one of the forms that are read."""
    text = text.strip()
    form = r"\d{4}(-\d\d-\d\d|\d{4})([Tt ]\d\d(:\d\d(:\d\d([.,]\d+)?)?)?( ?([Zz]|[+-]\d\d(:?\d\d)?))?)?"
    if not re.fullmatch(form, text, re.ASCII) or text.startswith("0000"):
        return float("nan")
    try:
        read = dt.datetime.fromisoformat(re.sub(r" (?=[Zz+-])", "", text).upper())
    except ValueError:
        return float("nan")
    away = (read.utcoffset() or dt.timedelta()) // dt.timedelta(microseconds=1)
    return float((read.replace(tzinfo=None) - EPOCH) // dt.timedelta(microseconds=1) - away)


def test_moments_are_read_by_their_grammar():
    """As Python reads ISO 8601, whatever else stands in the column; the year 0 is one like others."""
    rng = np.random.default_rng(2)
    listed = []
    for _ in range(3000):
        day = f"{rng.integers(1, 9999):04}-{rng.integers(0, 14):02}-{rng.integers(0, 33):02}"
        day = day if rng.random() < 0.8 else day.replace("-", "")
        clock = f"{rng.integers(0, 25):02}:{rng.integers(0, 61):02}:{rng.integers(0, 61):02}"[
            : int(rng.choice([2, 5, 8, 8]))
        ]
        clock += f".{rng.integers(0, 10**7)}" if len(clock) == 8 and rng.random() < 0.5 else ""
        zone = str(rng.choice(["", "", "Z", "+02:00", "-1130", "+00", " +05:00", "+24:00"]))
        listed.append(day + (f"{rng.choice(['T', ' ', 't'])}{clock}{zone}" if rng.random() < 0.8 else ""))
    listed += [each[: int(rng.integers(len(each)))] + written(rng, "0T:-+.Z ", 3) for each in listed[:500]]
    wanted = np.array([as_moment(each) for each in listed])
    found = numbers_of(DAYS, pa.array(listed))
    np.testing.assert_array_equal(found, wanted)
    assert 1000 < np.isfinite(found).sum() < 2500
    leap = numbers_of(DAYS, pa.array(["0000-02-29", "0000-03-01", "1900-02-29", "2000-02-29", "0000-01-01"]))
    assert leap[1] - leap[0] == 86_400_000_000
    assert np.isnan(leap[2])
    assert leap[4] == -62_167_219_200_000_000


@pytest.mark.parametrize(
    ("form", "fits", "others"),
    [
        (
            "%d.%m.%Y",
            ["14.03.2020", "1.3.2020", " 14.03.2020 "],
            ["14/03/2020", "31.02.2020", "14.03.20", "2020-03-14", ""],
        ),
        ("%m/%d/%Y", ["03/14/2020", "3/1/2020"], ["14/03/2020", "03/14/2020 10:00", "03/00/2020"]),
        ("%Y/%m/%d", ["2020/01/01"], ["2020-01-01", "20/01/01"]),
        ("%Y%m%d", ["20200314"], ["2020314", "202003140", "20200230"]),
        ("%d%m%y", ["140320", "010169", "010168"], ["14320"]),
        ("%Y-%j", ["2020-366", "2021-001"], ["2021-366", "2020-000"]),
        (
            "%m/%d/%Y %I:%M %p",
            ["03/14/2020 12:05 AM", "03/14/2020 02:30 pm"],
            ["03/14/2020 13:00 PM", "03/14/2020 0:00 AM"],
        ),
        (
            "%Y-%m-%dT%H:%M:%S.%f%z",
            ["2020-03-14T01:02:03.5+0200", "2020-03-14T01:02:03.000001Z"],
            ["2020-03-14T01:02:03.5"],
        ),
        ("100%% %Y", ["100% 2020"], ["100 2020", "100%% 2020"]),
    ],
)
def test_a_format_reads_what_strptime_reads(form, fits, others, tmp_path):
    """From any source; what does not fit is missing and nothing else is."""
    axis = Times("a", dt.date(1960, 1, 1), dt.date(2030, 1, 1), bins=70, missing="cell", format=form)
    wanted = [dt.datetime.strptime(each.strip(), form) for each in fits]
    np.testing.assert_array_equal(numbers_of(axis, mixed(fits)), numbers_of(DAYS, mixed(wanted)))
    assert np.isnan(numbers_of(axis, pa.array(others))).all()
    (tmp_path / "t.csv").write_text("\n".join(["a", *fits, *others]) + "\n")
    found = histogram(tmp_path / "t.csv", [axis])
    assert found.missing["a"] == len(others)
    np.testing.assert_array_equal(found.counts, histogram(pd.DataFrame({"a": [*fits, *others]}), [axis]).counts)


@pytest.mark.parametrize(
    ("form", "words"),
    [
        ("%d. %B %Y", "with '%B'; known: %Y, %y"),
        ("%Y-%", "with '%'; known"),
        ("%Y %y", "say each part once"),
        ("%Y %Y", "say each part once"),
        ("%Y %I", "say each part once, %I with %p"),
        ("%H:%M", "give one with a year"),
        ("", "give a text like"),
        (3, "give a text like"),
    ],
)
def test_a_format_that_says_no_day_is_refused(form, words):
    """When the axis is made, in one line."""
    with pytest.raises(InvalidTable, match=re.escape(words)):
        Times("a", dt.date(2020, 1, 1), dt.date(2021, 1, 1), bins=1, format=form)
    with pytest.raises(InvalidTable, match="an hour and without a day"):
        Times("a", dt.time(1), dt.time(2), bins=1, format="%Y %H")


def test_a_database_is_given_no_format():
    """It reads its own dates; the two would count different cells."""
    axis = Times("a", dt.date(2020, 1, 1), dt.date(2021, 1, 1), bins=1, format="%Y")
    with pytest.raises(InvalidTable, match="leave format out"):
        group_by([axis], "t")


def test_offsets_are_converted_whether_bounds_have_a_zone_or_not(tmp_path):
    """A moment with an offset is one in UTC, and one without is taken as it stands."""
    rows = ["2020-01-02T00:30:00+02:00", "2020-01-02T00:30:00", "2020-01-01 23:00:00-05:00"]
    (tmp_path / "t.csv").write_text("\n".join(["a", *rows]))
    aware = [dt.datetime.fromisoformat(each) for each in rows]
    for zone in (None, dt.UTC):
        axis = Times("a", edges=[dt.datetime(2020, 1, day, tzinfo=zone) for day in (1, 2, 3)])
        for table in (
            tmp_path / "t.csv",
            {"a": aware},
            pd.DataFrame({"a": aware}),
            pd.DataFrame({"a": aware}, dtype=object),
        ):
            assert histogram(table, [axis]).counts.tolist() == [1, 2]


def one_more(table_of, values, odd, axis):
    """How many counts differ with one row more."""
    before, after = (histogram(table_of(each), [axis]).counts for each in (values, [*values, odd]))
    return int(np.abs(after - before).sum()), int(before.sum())


def test_rows_do_not_change_with_a_row_that_cannot_be_read(tmp_path):
    """The year 0 in text, and columns of a frame whose kind changes: all stay counted."""

    def in_a_file(rows):
        (tmp_path / "t.csv").write_text("\n".join(["a", *rows]) + "\n")
        return tmp_path / "t.csv"

    def in_a_frame(rows):
        return pd.DataFrame([{"a": row} for row in rows])

    ages = Times("a", dt.date(1900, 1, 1), dt.date(2020, 1, 1), bins=4)
    zoned = Times("a", *(dt.datetime(year, 1, 1, tzinfo=dt.UTC) for year in (1900, 2020)), bins=4)
    assert one_more(in_a_file, ["0000-01-01"] * 500, "n/a", ages) == (0, 500)
    assert one_more(in_a_file, ["0001-01-01T00:00:00+02:00"] * 500, "n/a", zoned) == (0, 500)
    truths, labels = Numbers("a", 0, 1, bins=2), Categories("a", [0, 1])
    for values, odd in [([True, False] * 50, None), ([1.0, 0.0] * 50, "x"), ([1, 0] * 50, None), ([1, 0] * 50, "x")]:
        for axis in (truths, labels, Categories("a", ["0", "1"]), Categories("a", [False, True])):
            assert one_more(in_a_frame, values, odd, axis) == (0, 100)
    assert one_more(in_a_frame, [dt.datetime(2000, 1, 1)] * 9, 3, ages) == (0, 9)
    assert one_more(in_a_frame, [dt.datetime(2000, 1, 1)] * 9, dt.datetime(2000, 1, 1, tzinfo=dt.UTC), ages) == (1, 9)


@pytest.mark.parametrize("odd", ['"', '"a', 'x"y,"', '1,"', "1", "1,2,3", "", '"1"",2', "1,2\r", '"1",2'])
def test_an_open_quote_swallows_no_other_line(odd, tmp_path):
    """A record is a line: what one says about quotes ends with it, at the border of a block too."""
    lines = [f"{row % 4},{row}" for row in range(50)]
    axis = Numbers("a", 0, 4, bins=4)
    for place in (0, 1, 25, 50):
        (tmp_path / "t.csv").write_text("\n".join(["a,b", *lines[:place], odd, *lines[place:], ""]), newline="")
        found = histogram(tmp_path / "t.csv", [axis])
        assert found.counts.sum() - 50 == (odd in ("1,2\r", '"1",2'))


def test_lines_are_split_as_python_splits_each_alone(tmp_path):
    """Cell by cell, for lines of quotes and commas; Python's reader is given one line at a time."""
    rng = np.random.default_rng(4)
    lines = [written(rng, '"",,ab ', 12) for _ in range(3000)]
    (tmp_path / "t.csv").write_text("\n".join(["a,b", *lines]))
    wanted = []
    for line in lines:
        rows = list(csv.reader([line, "next"]))  # an open quote takes the next line too
        if len(rows) == 2 and len(rows[0]) == 2:
            wanted.append([cell or None for cell in rows[0]])
    axes = [Numbers("b", 0, 1, bins=1), Numbers("a", 0, 1, bins=1)]
    found = [row for batch in batches(tmp_path / "t.csv", axes) for row in batch.to_pylist()]
    assert [[row[name] and row[name].decode() for name in "ab"] for row in found] == wanted
    assert len(wanted) > 500


def test_blocks_of_a_file_are_no_borders(tmp_path, monkeypatch):
    """Wherever a file is cut, the lines are the same; one that is too long is passed over, and no other."""
    from dpbench.tables import sources

    rng = np.random.default_rng(3)
    rows = [f'{rng.integers(0, 4)},"{written(rng, "ab, ")}"' for _ in range(300)]
    rows[7] = f"1,{'x' * 3000}"
    (tmp_path / "t.csv").write_bytes("\r\n".join(["a,b", *rows]).encode())
    wanted = np.bincount([int(row[0]) for row in rows], minlength=4) - np.array([0, 1, 0, 0])
    monkeypatch.setattr(sources, "LONGEST_LINE", 1000)
    for block in (1, 7, 64, 1000, 10**6):
        monkeypatch.setattr(sources, "BLOCK", block)
        np.testing.assert_array_equal(histogram(tmp_path / "t.csv", [Numbers("a", 0, 4, bins=4)]).counts, wanted)


def test_a_value_that_no_library_can_convert_is_no_refusal():
    """Half of a character, objects that raise: their own row is missing, and no table is refused."""

    class Raises:
        def __str__(self):
            raise ValueError("secret")

    for odd in ("\ud800", Raises(), 10**5000, float("nan"), [1]):
        assert histogram({"a": [1, 2, odd]}, [Categories("a", [1, 2])]).counts.tolist() == [1, 1]
        assert histogram(pd.DataFrame({"a": [1, 2, odd]}), [Categories("a", [1, 2])]).counts.tolist() == [1, 1]


def test_units_of_moments_are_rounded_down_and_never_wrap():
    """Before 1970 too, of columns of any unit, and far beyond all calendars."""
    axis = Times("a", edges=[dt.date(1800, 1, 1), dt.date(1970, 1, 1), dt.date(2020, 1, 1)])
    for unit in ("Y", "M", "W", "D", "h", "m", "s", "ms", "us", "ns", "ps"):
        values = np.array([-1, 0, 1], dtype=f"M8[{unit}]")
        assert histogram({"a": values}, [axis]).counts.tolist() == [1, 2], unit
        assert histogram({"a": list(values)}, [axis]).counts.tolist() == [1, 2], unit
    far = np.array([2**62, -(2**62)], dtype="M8[s]")
    assert histogram({"a": far}, [axis]).counts.tolist() == [1, 1]
    assert histogram(pa.table({"a": pa.array(far)}), [axis]).counts.tolist() == [1, 1]


def test_one_number_is_one_category_however_it_is_written(tmp_path):
    """A text that is a category as it stands comes first."""
    numbers, texts = Categories("a", [1, 2], outside="cell", missing="cell"), Categories("a", ["01", "1", "x"])
    rows = ["1", "1.0", " 2 ", "true", "x", "nan"]
    assert histogram({"a": rows}, [numbers]).counts.tolist() == [3, 1, 2, 0]
    assert histogram({"a": [1, 1.0, True, np.int8(2), None, float("nan")]}, [numbers]).counts.tolist() == [3, 1, 0, 2]
    assert histogram({"a": ["1", "01", "1.0", "x", "y"]}, [texts]).counts.tolist() == [2, 1, 1]
    pq.write_table(pa.table({"a": pa.array([1, 2, None], pa.int32())}), tmp_path / "t.parquet")
    assert histogram(tmp_path / "t.parquet", [numbers]).counts.tolist() == [1, 1, 0, 1]
    with pytest.raises(InvalidTable, match="the same as floats"):
        Categories("a", [2**53, 2**53 + 1])
