"""Specs: every key is known or refused with its line."""

from fractions import Fraction

import pytest

from dpbench.errors import InvalidSpec
from dpbench.tables import Categories, Numbers, Times, read_spec

GOOD = """\
dataset = "flights"
table = "flights.parquet"
epsilon = "1/2"
algorithm = "Hb"
budget = "flights.budget.toml"
out = "out"
[columns.delay]
low = -60
high = 1440
bins = 128
outside = "clamp"
missing = "cell"
[columns.day]
low = 2013-01-01
high = 2014-01-01
bins = 365
[columns.carrier]
categories = ["UA", "AA"]
outside = "cell"
[ranges.spring]
day = [2013-03-01, 2013-06-01]
carrier = ["UA", "UA"]
"""


def written(folder, text):
    path = folder / "s.toml"
    path.write_text(text)
    return path


def test_a_spec_is_read_whole(tmp_path):
    """Axes, paths beside the file, exact numbers, ranges in cells."""
    spec = read_spec(written(tmp_path, GOOD))
    assert [type(axis) for axis in spec.axes] == [Numbers, Times, Categories]
    assert spec.domain.shape == (129, 365, 3)
    assert spec.epsilon == Fraction(1, 2)
    assert spec.records_per_person == 1
    assert spec.table == tmp_path / "flights.parquet"
    assert spec.ranges == {"spring": ((0, 129), (59, 151), (0, 1))}
    assert read_spec(written(tmp_path, GOOD.replace('"1/2"', "0.1"))).epsilon == Fraction(1, 10)


BAD = [
    ("dataset =", "datasett =", "line 1: there is no key 'datasett'; known: dataset, table"),
    ("bins = 128", "bin = 128", "line 10: there is no key 'bin' of .columns.delay.; known: low, high"),
    ("low = -60", "low = 2000", "line 7: column 'delay' has the bounds 2000 and 1440; give low below high"),
    ("bins = 128", "bins = 0", "line 7: bins of column 'delay' is 0"),
    ("bins = 128\n", "", "line 7: column 'delay' needs low, high and bins"),
    ('"clamp"', '"guess"', "line 7: .*'guess'; known: clamp, drop"),
    ('missing = "cell"', 'missing = "zero"', "line 7: .*known: drop, cell|line 7: .*missing"),
    ("high = 2014-01-01", "high = 12", "line 13: column 'day' has the bounds"),
    ('["UA", "AA"]', '["UA", "UA"]', "line 17: column 'carrier' has categories"),
    ('["UA", "AA"]', '["UA", 3]', "line 17: column 'carrier' has categories of several kinds"),
    ('"1/2"', '"small"', "line 3: epsilon is 'small'; give a number above 0"),
    ('"1/2"', '"-1"', "line 3: epsilon is '-1'"),
    ('"1/2"', '"1e999999999"', "line 3: epsilon is"),
    ('"1/2"', "true", "line 3: epsilon is True"),
    ("2013-03-01, 2013-06-01", "2013-03-01T01:00:00, 2013-06-01", "line 20: the range 'spring'"),
    ("2013-03-01, 2013-06-01", "2013-06-01, 2013-03-01", "the lower first"),
    ("day = [2013", "days = [2013", "line 21: there is no key 'days' of .ranges.spring.; known: delay, day, carrier"),
    ('["UA", "UA"]', '["UA", "DL"]', "line 20: the range 'spring'"),
    ('out = "out"', "out = 3", "line 6: out is 3; give a path"),
    ('out = "out"', "records_per_person = 0", "line 6: records_per_person is 0"),
    ('out = "out"', 'counts = "c.csv"', "line 6: a spec names both a table and counts"),
    ('out = "out"', 'delta = "2"', "line 6: delta is '2'; give a number between 0 and 1"),
    ("bins = 128", "bins = 100000000000", "line 7: bins of column 'delay'"),
    ("bins = 365", "bins = 9000000", "the columns span .* cells, more than"),
    ("dataset", "= dataset", "is not valid TOML"),
    (
        "bins = 365",
        'bins = 365\nformat = "%d. %B %Y"',
        "line 17: column 'day' has the format .* with '%B'; known: %Y, %y, %m",
    ),
    ("bins = 365", "bins = 365\nformat = 3", "line 17: column 'day' has the format 3; give a text"),
    ("bins = 128", 'bins = 128\nformat = "%Y"', "line 11: column 'delay' has a format, which is for times"),
    ('["UA", "AA"]', '["UA", "AA"]\nformat = "%Y"', "line 19: column 'carrier' has a format, which is for times"),
]


@pytest.mark.parametrize(("old", "new", "words"), BAD)
def test_a_mistake_is_one_line_with_its_place(old, new, words, tmp_path):
    """What was given, where, and what is wanted."""
    assert old in GOOD
    with pytest.raises(InvalidSpec, match=words) as caught:
        read_spec(written(tmp_path, GOOD.replace(old, new, 1)))
    assert "\n" not in str(caught.value)


def test_a_format_of_a_spec_is_that_of_its_axis_and_not_of_a_database(tmp_path, capsys):
    """Days as people write them are counted; --sql says what to do instead."""
    from dpbench.cli import main

    (tmp_path / "t.csv").write_text("born\n14.03.2020\n1.1.2020\n2020-03-14\n")
    text = '[columns.born]\nlow = 2020-01-01\nhigh = 2021-01-01\nbins = 2\nformat = "%d.%m.%Y"\n'
    spec = written(tmp_path, f'table = "t.csv"\n{text}')
    assert main(["table", str(spec)]) == 0
    assert [row.split(",")[-1] for row in capsys.readouterr().out.splitlines()] == ["count", "2", "0"]
    assert main(["table", str(spec), "--sql"]) == 2
    said = capsys.readouterr()
    assert (said.out, said.err.count("\n")) == ("", 1)
    assert "column 'born' has a format, and a database reads its dates by itself" in said.err


def test_a_spec_without_columns_or_a_file(tmp_path):
    """Nothing to count."""
    with pytest.raises(InvalidSpec, match="needs at least one column"):
        read_spec(written(tmp_path, 'dataset = "x"\n'))
    with pytest.raises(InvalidSpec, match="cannot read the spec"):
        read_spec(tmp_path / "none.toml")
    (tmp_path / "b.toml").write_bytes(b"\xff\xfe")
    with pytest.raises(InvalidSpec, match="UTF-8"):
        read_spec(tmp_path / "b.toml")
