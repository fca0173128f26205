"""Nothing leaves a release but what noise has passed through.

Two neighbouring tables, and the answers of every mechanism held fixed: then everything that leaves is the same, byte
for byte. What leaves: stdout, stderr, the exit code, names, sizes and bytes of files, the budget file, exceptions.
The answers are fixed, so they say nothing of the rows; what each mechanism was shown of either table is compared too,
and may differ by no more than the noise was paid for.
"""

import csv
import gzip
import io
import sys
import warnings
from datetime import UTC, datetime

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import dpbench.release.publishing as publishing
from dpbench.cli import main
from dpbench.privacy.exact_channel import Exact
from dpbench.release import budget_file

DEFAULT, SLOW = 24, 200
ONE_AXIS = (
    "Identity",
    "Hb",
    "HbW",
    "HDMM",
    "Cascade",
    "TopDown",
    "AHP*",
    "DPCube",
    "Uniform",
    "Privelet",
    "H",
    "GreedyH",
    "DAWA",
)
PLANE = ("DAWA", "AGrid", "UGrid", "QuadTree", "Cascade", "HybridTree", "Hb", "AHP", "TopDown")
ODD = [
    "",
    "nan",
    "inf",
    "-inf",
    "1e400",
    "-5",
    "1000",
    "word",
    "3.99999999999999999",
    "4",
    "64",
    "0x10",
    "1_0",
    "٣",
    '"',
    "a,b",
]
DAYS = ["2001-02-03", "1999-12-31T23:59:59", "0000-01-01", "2010-06-01", "1900-01-01 00:00:00.5+01:00"]
ODD_DAYS = ["", "n/a", "1/2/2003", "0000-01-01", "9999-12-31T23:59:59-23:59", "20010203", "2001-W01-1", "2001-02-30"]


class Recorded(Exact):
    """Draws, and keeps every truth and its outcome on a tape."""

    def __init__(self, tape):
        super().__init__()
        self.tape = tape

    def drawn(self, mechanism, material, loss):
        outcome = super().drawn(mechanism, material, loss)
        self.tape.append((mechanism.exact_truth(material), mechanism.truth(material), outcome))
        return outcome.copy()


class Forced(Exact):
    """Computes what a release computes, and answers from a tape; notes truths that are further apart than was paid."""

    def __init__(self, tape, apart):
        super().__init__()
        self.tape, self.apart = tape, apart

    def drawn(self, mechanism, material, loss):
        own = super().drawn(mechanism, material, loss)
        exact, truth, outcome = self.tape.pop(0)
        assert own.shape == outcome.shape
        if not np.array_equal(exact, mechanism.exact_truth(material)):
            level, other = mechanism.level(loss), mechanism.truth(material)
            told = (mechanism.largest_loss if mechanism.pure else mechanism.divergence)(truth, other, level)
            if not told <= float(loss) * (1 + 1e-9):
                self.apart.append(mechanism.label)
        return outcome.copy()


def rows_of(rng, many, odd=0.1):
    """Rows of three columns, some of them odd."""
    ages = [str(value) for value in rng.integers(-2, 70, many)]
    sexes = [str(value) for value in rng.choice(["f", "m"], many)]
    born = [str(value) for value in rng.choice(DAYS, many)]
    for row in np.flatnonzero(rng.random(many) < odd):
        ages[row] = str(rng.choice(ODD))
        sexes[row] = str(rng.choice(["", "x", "f", "\ud7ff"]))
        born[row] = str(rng.choice(ODD_DAYS))
    return list(zip(ages, sexes, born, strict=True))


def write(folder, rows, kind):
    """The rows as a table; as Parquet their numbers are numbers, with nulls."""
    if kind == "parquet":

        def number(text):
            try:
                return float(text)
            except ValueError:
                return None

        columns = {
            "age": pa.array([number(age) for age, _, _ in rows], pa.float64()),
            "sex": pa.array([sex or None for _, sex, _ in rows], pa.string()),
            "born": pa.array([born for _, _, born in rows], pa.string()),
        }
        pq.write_table(pa.table(columns), folder / "people.parquet")
        return
    text = io.StringIO(newline="")
    writer = csv.writer(text)
    writer.writerows([["age", "sex", "born"], *rows])
    content = text.getvalue().encode()
    (folder / f"people.{kind}").write_bytes(gzip.compress(content, mtime=0) if kind.endswith("gz") else content)


def neighbours(rng):
    """Rows, and the same rows but for one."""
    rows = rows_of(rng, int(rng.choice([0, 1, 2, 30, 400])), odd=float(rng.choice([0, 0.1])))
    other = list(rows)
    if rows and rng.random() < 0.5:
        other.pop(int(rng.integers(len(rows))))
    else:
        other.insert(int(rng.integers(len(rows) + 1)), rows_of(rng, 1, odd=0.7)[0])
    return rows, other


def spec_of(rng, kind):
    """A spec: one axis or two, any rules, ranges or none."""
    axes = int(rng.integers(1, 3))
    algorithm = str(rng.choice(ONE_AXIS if axes == 1 else PLANE))
    text = (
        f'dataset = "people"\ntable = "people.{kind}"\nepsilon = "{rng.choice(["1/2", "3", "1/50"])}"\n'
        f'algorithm = "{algorithm}"\nbudget = "budget.toml"\nout = "out"\nrecords_per_person = {rng.integers(1, 3)}\n'
    )
    if algorithm not in ("HybridTree", "DAWA") and rng.random() < 0.25:
        text += 'delta = "1e-9"\n'
    born = rng.random() < 0.4
    bounds = "low = 1900-01-01\nhigh = 2020-01-01" if born else "low = 0\nhigh = 64"
    text += f"[columns.{'born' if born else 'age'}]\n{bounds}\nbins = {rng.choice([8, 16])}\n"
    text += f'outside = "{rng.choice(["clamp", "drop"])}"\nmissing = "{rng.choice(["drop", "cell"])}"\n'
    if axes == 2:
        text += (
            f'[columns.sex]\ncategories = ["f", "m"]\noutside = "{rng.choice(["drop", "cell"])}"\nmissing = "cell"\n'
        )
    return text + ("[ranges.young]\nage = [0, 32]\n" if rng.random() < 0.5 and not born else "")


def leaves(folder, rows, kind, spec, channel, monkeypatch):
    """Everything that leaves one release, run in a folder of its own under the same names."""
    folder.mkdir()
    write(folder, rows, kind)
    (folder / "spec.toml").write_text(spec)
    (folder / "budget.toml").write_text('dataset = "people"\nepsilon = "3"\ndelta = "1e-6"\n')
    numbers = iter(range(100))
    out, err = io.StringIO(), io.StringIO()
    with monkeypatch.context() as patch:
        patch.setattr(publishing, "exact_channel", channel)
        patch.setattr(publishing.secrets, "token_hex", lambda many: f"{next(numbers):x}")
        patch.setattr(budget_file, "now", lambda: datetime(2026, 1, 1, tzinfo=UTC))
        patch.setattr(sys, "stdout", out)
        patch.setattr(sys, "stderr", err)
        patch.chdir(folder)
        with warnings.catch_warnings(record=True) as warned:
            try:
                code, raised = main(["release", "spec.toml"]), ""
            except BaseException as error:  # an exception leaves too
                code, raised = None, f"{type(error)} {error} {error.__context__!r}"
    files = {
        str(path.relative_to(folder)): path.read_bytes() if path.is_file() else None
        for path in sorted(folder.rglob("*"))
        if path.name != f"people.{kind}"
    }
    return {
        "out": out.getvalue(),
        "err": err.getvalue(),
        "code": code,
        "raised": raised,
        "files": files,
        "warned": len(warned),
    }


def differences(seed, folder, monkeypatch):
    """What differs between the two releases of a random pair; nothing should."""
    rng = np.random.default_rng([2026, seed])
    kind = str(rng.choice(["csv", "csv.gz", "parquet"]))
    return compared(*neighbours(rng), kind, spec_of(rng, kind), folder, monkeypatch)


def compared(one, other, kind, spec, folder, monkeypatch):
    """What leaves first; and what differs, "truths" where they are further apart than the noise was paid for."""
    tape, apart = [], []
    first = leaves(folder / "a", one, kind, spec, lambda: Recorded(tape), monkeypatch)
    second = leaves(folder / "b", other, kind, spec, lambda: Forced(tape, apart), monkeypatch)
    assert not tape, "the second release asked fewer questions"
    return first, [key for key in first if first[key] != second[key]] + ["truths"] * bool(apart)


def assert_silent(seed, folder, monkeypatch):
    first, different = differences(seed, folder, monkeypatch)
    assert (first["code"], first["err"], first["raised"]) == (0, "", "")
    assert not different


@pytest.mark.parametrize("seed", range(DEFAULT))
def test_neighbouring_tables_and_fixed_answers_leave_the_same(seed, tmp_path, monkeypatch):
    """A few dozen pairs of random tables with odd rows, specs and algorithms."""
    assert_silent(seed, tmp_path, monkeypatch)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(DEFAULT, SLOW))
def test_neighbouring_tables_and_fixed_answers_leave_the_same_at_length(seed, tmp_path, monkeypatch):
    """The rest of two hundred pairs."""
    assert_silent(seed, tmp_path, monkeypatch)


def test_a_row_that_no_date_can_be_read_from_changes_no_truth(tmp_path, monkeypatch):
    """Five hundred rows of the year 0 are counted beside one that is no date as they are without it."""
    spec = (
        'dataset = "people"\ntable = "people.csv"\nepsilon = "1"\nalgorithm = "Identity"\nbudget = "budget.toml"\n'
        'out = "out"\n[columns.born]\nlow = 1900-01-01\nhigh = 2020-01-01\nbins = 4\n'
    )
    rows = [("1", "f", "0000-01-01")] * 500
    _, different = compared(rows, [*rows, ("1", "f", "n/a")], "csv", spec, tmp_path, monkeypatch)
    assert not different


def _counting(seen):
    """Reading that remembers what it should not."""
    count = publishing.histogram

    def reads(table, axes):
        found = count(table, axes)
        seen.append(found)
        return found

    return reads


def in_the_line(patch, seen):
    said = publishing.Released.__str__
    patch.setattr(publishing.Released, "__str__", lambda self: f"{said(self)} ({seen[-1].rows} rows)")


def in_a_message(patch, seen):
    put = publishing._put

    def writes(files, staging, out):
        sys.stderr.write(f"read {seen[-1].rows} rows\n")
        return put(files, staging, out)

    patch.setattr(publishing, "_put", writes)


def in_the_certificate(patch, seen):
    made = publishing.certificate
    patch.setattr(publishing, "certificate", lambda *given: {**made(*given), "dropped": seen[-1].dropped})


def in_the_size_of_a_file(patch, seen):
    drawn = publishing.png
    patch.setattr(publishing, "png", lambda counts: drawn(counts) + b"\0" * seen[-1].rows)


def in_the_name_of_a_file(patch, seen):
    put = publishing._put
    patch.setattr(
        publishing,
        "_put",
        lambda files, staging, out: put({**files, f"{seen[-1].counts.sum()}.log": b""}, staging, out),
    )


def in_a_failure(patch, seen):
    made = publishing.released_counts

    def refuses(outcome):
        if seen[-1].rows % 2:
            raise ValueError("an odd number of rows")
        return made(outcome)

    patch.setattr(publishing, "released_counts", refuses)


def in_the_rows(patch, seen):
    """One row more changes how all are read, and nothing shows it but the counts."""
    count = publishing.histogram

    def reads(table, axes):
        found = count(table, axes)
        found.counts[...] *= 1 + found.rows % 2
        return found

    patch.setattr(publishing, "histogram", reads)


MUTANTS = [
    in_the_rows,
    in_the_line,
    in_a_message,
    in_the_certificate,
    in_the_size_of_a_file,
    in_the_name_of_a_file,
    in_a_failure,
]


@pytest.mark.parametrize("slips", MUTANTS)
def test_a_count_slipped_into_one_place_is_noticed(slips, tmp_path, monkeypatch):
    """One of the pairs of the default run shows it."""
    for seed in range(DEFAULT):
        (tmp_path / str(seed)).mkdir()
        with monkeypatch.context() as patch:
            seen = []
            patch.setattr(publishing, "histogram", _counting(seen))
            slips(patch, seen)
            try:
                _, different = differences(seed, tmp_path / str(seed), patch)
            except AssertionError:
                return
        if different:
            return
    pytest.fail("nothing was noticed")
