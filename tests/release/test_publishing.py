"""A release from spec to files, its refusals, and what they leave behind."""

import json
import os
import subprocess
import sys
import tomllib
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import dpbench as dpb
import dpbench.release.publishing as publishing
from dpbench.cli import main
from dpbench.errors import InvalidSpec, InvalidTable, ReleaseFailed, Unsupported
from dpbench.privacy.exact_channel import Exact, NoDraws
from dpbench.releasable import NOT_RELEASED, RELEASED, why_not
from dpbench.release import check, publish
from release.office import counts_of, office


def charges(folder):
    return tomllib.loads((folder / "people.budget.toml").read_text()).get("charge", [])


def small_workload(algorithm):
    return dpb.workloads.Prefix(16) if algorithm.supports(16) else dpb.workloads.RandomRange("8x8", queries=20, seed=0)


SHAPES = [np.zeros(64), np.arange(64), np.full(64, 10**6), np.where(np.arange(64) == 9, 10**12, 0), np.arange(64) % 2]


@pytest.mark.parametrize("budget", [{"epsilon": Fraction(1, 3)}, {"rho": Fraction(1, 50)}], ids=["pure", "zCDP"])
@pytest.mark.parametrize("name", RELEASED)
def test_every_released_algorithm_draws_exactly_whatever_the_counts(name, budget):
    """Empty, even, rough and lopsided tables of up to 10^12 records; no noise but exact noise is there to be drawn."""
    algorithm = dpb.algorithms.get(name)
    if "rho" in budget and "zCDP" not in algorithm.notions:
        pytest.skip(f"{name} has pure differential privacy alone")
    for axes in ("64", "8x8"):
        if not algorithm.supports(axes):
            continue
        domain = dpb.Domain.of(axes)
        workload = dpb.workloads.RandomRange(domain, queries=20, seed=0)
        for shape in SHAPES:
            counts = shape.astype(np.int64).reshape(domain.shape)
            outcome = algorithm._outcome(counts, workload, noise=NoDraws(), channel=Exact(), **budget)
            assert outcome.ledger.private
            assert np.isfinite(outcome.estimate).all()


@pytest.mark.parametrize("name", NOT_RELEASED)
def test_the_others_say_why_they_are_not_released(name):
    """An exact channel refuses them, and the catalogue knows it."""
    algorithm = dpb.algorithms.get(name)
    workload = small_workload(algorithm)
    budget = {"epsilon": 1} if "pure" in algorithm.notions else {"rho": 1}
    counts = np.arange(workload.domain.size).reshape(workload.domain.shape)
    with pytest.raises(Unsupported, match="cannot be released"):
        algorithm._outcome(counts, workload, noise=NoDraws(), channel=Exact(), **budget)
    assert why_not(name)


def test_every_algorithm_is_in_one_of_the_two_lists():
    """Nothing new is released, or refused, without a word."""
    assert {*RELEASED, *NOT_RELEASED} == {*dpb.algorithms.ours()}
    assert not {*RELEASED} & {*NOT_RELEASED}


def test_exact_draws_have_the_error_that_is_expected():
    """Hb, HbW and HDMM by exact noise: the mean squared error over 200 runs is that of expected_error.

    False alarms: beyond 4 standard errors less than once in 10,000.
    """
    workload = dpb.workloads.Prefix(64)
    counts = np.arange(64)
    for name in ("Hb", "HbW", "HDMM"):
        algorithm = dpb.algorithms.get(name)
        noise = Exact(exact_noise(11))
        runs = [algorithm._outcome(counts, workload, 0.5, noise=NoDraws(), channel=noise).estimate for _ in range(200)]
        errors = [np.mean((workload.answer(run)[0] - workload.answer(counts)) ** 2) for run in runs]
        ratio = np.mean(errors) / algorithm.expected_error(workload, 0.5)
        assert abs(ratio - 1) < 4 * np.std(errors) / np.mean(errors) / np.sqrt(len(errors)), name


def exact_noise(seed):
    from dpbench.privacy.exact_noise import ExactNoise

    return ExactNoise(np.random.default_rng(seed).bytes)


@pytest.mark.parametrize(("algorithm", "axes"), [("Hb", 1), ("Cascade", 1), ("Cascade", 2), ("AGrid", 2), ("HDMM", 2)])
def test_a_release_writes_everything_that_it_promises(algorithm, axes, tmp_path, capsys):
    """Whole numbers, certificate, picture, statement, answers; one line on stdout, nothing on stderr."""
    spec = office(tmp_path, algorithm=algorithm, axes=axes)
    spec.write_text(spec.read_text() + "\n[ranges.young]\nage = [0, 32]\n")
    assert main(["release", str(spec)]) == 0
    said = capsys.readouterr()
    assert said.err == ""
    assert said.out.count("\n") == 1
    assert "it cost epsilon 1/2; epsilon 1/2 is left" in said.out
    names = {each.name for each in (tmp_path / "out").iterdir()}
    wide = {"histogram-wide.csv"} if axes == 2 else set()
    files = {"histogram.csv", "histogram.parquet", "certificate.json", "error.txt", "error.json", "answers.csv"}
    assert names == files | wide | {"picture.png", "picture.svg"}
    counts = counts_of(tmp_path / "out")
    assert len(counts) == 16**axes
    assert (counts >= 0).all()
    assert pq.read_table(tmp_path / "out/histogram.parquet")["count"].to_pylist() == counts.tolist()
    certificate = json.loads((tmp_path / "out/certificate.json").read_text())
    assert certificate["charge"] == charges(tmp_path)[0]["id"]
    assert main(["release", "--verify", str(tmp_path / "out")]) == 0
    assert capsys.readouterr().out.count("ok  ") == 9
    rows = (tmp_path / "out/answers.csv").read_text().splitlines()
    assert rows[0] == "range,answer,low,high,guaranteed,guaranteed_low,guaranteed_high"
    assert [row.split(",")[0] for row in rows[1:]] == ["everything", "young"]
    assert int(rows[1].split(",")[1]) == counts.sum()
    if algorithm == "AGrid":
        assert "depends on the data" in (tmp_path / "out/error.txt").read_text()


def test_gaussian_noise_and_several_records_per_person(tmp_path, capsys):
    """delta is charged too; k records of a person divide epsilon by k, and rho by k squared."""
    (tmp_path / "people.budget.toml").write_text('dataset = "people"\nepsilon = "2"\ndelta = "1e-6"\n')
    assert main(["release", str(office(tmp_path, more='delta = "1e-7"\nrecords_per_person = 3'))]) == 0
    certificate = json.loads((tmp_path / "out/certificate.json").read_text())
    assert certificate["per_record"]["unit"] == "rho"
    assert (
        Fraction(certificate["per_record"]["amount"]) * 9
        == dpb.privacy.ZCDP.within(Fraction(1, 2), Fraction(1, 10**7)).rho
    )
    assert certificate["calls"][0]["mechanism"] == "gaussian"
    assert main(["release", str(office(tmp_path, more="records_per_person = 4"))]) == 0
    certificate = json.loads((tmp_path / "out-2/certificate.json").read_text())
    assert certificate["per_record"]["amount"] == "1/8"
    assert "up to 4 records" in certificate["promise"]
    assert [each.get("delta") for each in charges(tmp_path)] == ["1/10000000", None]
    assert main(["release", "--verify", str(tmp_path / "out")]) == 0
    assert main(["release", "--verify", str(tmp_path / "out-2")]) == 0
    assert main(["release", str(office(tmp_path, more='delta = "1e-6"'))]) == 1
    assert "delta 9e-07 left" in capsys.readouterr().err


def test_frames_and_counts_in_place_of_a_file(tmp_path, capsys):
    """From Python a frame; from a database the result of its GROUP BY."""
    import pandas as pd

    spec = office(tmp_path, budget="100", epsilon="50")
    released = publish(spec, pd.DataFrame({"age": [1.0, 1, 1, 9, None]}))
    assert counts_of(released.folder)[:3].tolist() == [3, 0, 1]
    assert "released 16 cells of 'people' by Hb" in str(released)
    pq.write_table(pa.table({"age_cell": [0, 5], "count": [7, 2]}), tmp_path / "counted.parquet")
    spec.write_text(spec.read_text().replace('table = "people.csv"', 'counts = "counted.parquet"'))
    assert counts_of(publish(spec).folder)[[0, 5]].tolist() == [7, 2]
    with pytest.raises(dpb.errors.ReleaseRefused, match="epsilon 0 left"):
        publish(spec)


def test_a_second_release_never_writes_over_the_first(tmp_path):
    """OUT, OUT-2; each with a charge of its own, and then there is no budget."""
    spec = office(tmp_path)
    assert [main(["release", str(spec)]) for _ in range(3)] == [0, 0, 1]
    assert sorted(each.name for each in tmp_path.iterdir() if each.is_dir()) == ["out", "out-2"]
    assert len(charges(tmp_path)) == 2


def refused_before_the_charge(folder, words, capsys, spec=None):
    """Exit code 1, one line, no charge, no folder."""
    before = (folder / "people.budget.toml").read_bytes() if (folder / "people.budget.toml").exists() else b""
    assert main(["release", str(spec or folder / "spec.toml")]) == 1
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.count("\n") == 1
    assert words in said.err
    after = (folder / "people.budget.toml").read_bytes() if (folder / "people.budget.toml").exists() else b""
    assert after == before
    assert not [each for each in folder.iterdir() if each.is_dir()]


@pytest.mark.parametrize(
    ("others", "words"),
    [
        ({"algorithm": "PrivTree"}, "PrivTree cannot be released: the chances of its cuts are no powers of e alone"),
        ({"algorithm": "recommended"}, 'algorithm = "recommended" needs records = N'),
        ({"algorithm": "recommended", "more": "records = 0"}, "records is 0"),
        ({"algorithm": "recommended", "more": "records = 100\ndelta = 0.001"}, "leave delta out"),
        ({"algorithm": "Hbb"}, "did you mean"),
        ({"algorithm": "AGrid"}, "AGrid runs on 2-D domains"),
        ({"epsilon": "2"}, "the release costs epsilon 2 and the budget of 'people' has epsilon 1 left"),
        ({"epsilon": "0"}, "line 3: epsilon is '0'"),
        ({"epsilon": "1/100000000000000000000"}, "take a larger epsilon, or fewer cells"),
        (
            {"table": "nowhere.csv"},
            "nowhere.csv; give the path of a .csv or .parquet file, or of a folder; nothing was charged",
        ),
        ({"table": "people.xlsx"}, "there is no table"),
        ({"out": "."}, "line 6: out is '.'; give the name of a new folder"),
        ({"more": "typo = 3"}, "line 7: there is no key 'typo'"),
        ({"more": "delta = 1e-9"}, "has epsilon 1 left"),
        ({"missing": "refuse"}, "known: drop, cell"),
    ],
)
def test_refusals_come_before_the_charge(others, words, tmp_path, capsys):
    """A spec that cannot be released, in one line."""
    office(tmp_path, **others)
    refused_before_the_charge(tmp_path, words, capsys)


@pytest.mark.parametrize("key", ["dataset", "table", "epsilon", "algorithm", "budget", "out"])
def test_what_a_release_needs(key, tmp_path, capsys):
    """Every key that is left out is named."""
    spec = office(tmp_path)
    spec.write_text("\n".join(line for line in spec.read_text().splitlines() if not line.startswith(key)))
    refused_before_the_charge(tmp_path, f"needs {'a table' if key == 'table' else f'the key {key}'}", capsys)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (None, "there is no budget file"),
        ("dataset = people", "is damaged: it is not valid TOML"),
        ('dataset = "others"\nepsilon = "1"\n', "is the budget of 'others', and the spec is about 'people'"),
        ('epsilon = "1"\n', "it names no dataset"),
        ('dataset = "people"\n', "a value of epsilon is no number above 0"),
        ('dataset = "people"\nepsilon = "much"\n', "a value of epsilon is no number above 0"),
        ('dataset = "people"\nepsilon = "1"\nspent = "0"\n', "it has a key 'spent'"),
        ('dataset = "people"\nepsilon = "1"\n[[charge]]\nid = "a"\nepsilon = "-1"\n', "a value of epsilon is"),
        ('dataset = "people"\nepsilon = "1"\n[[charge]]\nepsilon = "1/2"\n', "a charge has unknown keys, or no id"),
        ('dataset = "people"\nepsilon = "1"\n[[charge]]\nid = "a"\nepsilon = "2"\n', "more than its budget"),
        ('dataset = "people"\nepsilon = "1"\ncharge = 3\n', "its charges are no tables"),
        ('dataset = "people"\nepsilon = "1/3"\n', "has epsilon 1/3 left"),
        (b"\xff\xfe", "it is not UTF-8 text"),
    ],
)
def test_a_budget_file_that_cannot_pay(text, words, tmp_path, capsys):
    """Absent, damaged, of another dataset, too small."""
    office(tmp_path)
    budget = tmp_path / "people.budget.toml"
    budget.unlink()
    if text is not None:
        budget.write_bytes(text if isinstance(text, bytes) else text.encode())
    refused_before_the_charge(tmp_path, words, capsys)


@pytest.mark.skipif(os.geteuid() == 0, reason="root writes everywhere")
def test_a_folder_without_permission(tmp_path, capsys):
    """Found before the charge."""
    (tmp_path / "locked").mkdir(mode=0o500)
    office(tmp_path, out="locked/out")
    assert main(["release", str(tmp_path / "spec.toml")]) == 1
    assert "cannot be written" in capsys.readouterr().err
    assert not charges(tmp_path)


def test_a_folder_that_cannot_be_made(tmp_path, capsys):
    """A file stands where a folder should be: found before the charge."""
    office(tmp_path, out="people.csv/out")
    refused_before_the_charge(tmp_path, "cannot be written", capsys)


def test_check_says_what_would_be_released(tmp_path, capsys):
    """Statement and cost, and nothing is charged or made."""
    assert main(["release", str(office(tmp_path)), "--check"]) == 0
    said = capsys.readouterr().out
    assert said.startswith("ready to release 16 cells of 'people' by Hb, at epsilon 1/2; nothing was charged\n")
    assert "records (root mean square), whatever the data" in said
    assert not charges(tmp_path)


# --- after the charge ---------------------------------------------------------------------------------


def fails_at(monkeypatch, step, error):
    """A step of a release that raises."""

    def fails(*given, **named):
        raise error

    monkeypatch.setattr(publishing, step, fails)


def rehearsed(monkeypatch, error):
    """Noise is drawn in the rehearsal, and raises in the release."""
    draws, calls = publishing.draw, iter(range(9))

    def fails(*given, **named):
        if next(calls):
            raise error
        return draws(*given, **named)

    monkeypatch.setattr(publishing, "draw", fails)


def said_after_the_charge(spec):
    """What a release says that fails after its charge: in one line, with nothing behind it, and with nothing left."""
    with pytest.raises(ReleaseFailed) as caught:
        publish(spec)
    assert caught.value.__context__ is None
    assert len(charges(spec.parent)) == 1
    assert not [each for each in spec.parent.iterdir() if each.is_dir()]
    return str(caught.value)


def test_text_that_no_file_can_hold_is_refused_before_the_charge(tmp_path):
    """Half of a pair of surrogates, which only Python can write: files would be where it is found out."""
    office(tmp_path)
    spec = {"dataset": "people", "epsilon": "1", "algorithm": "Hb", "out": str(tmp_path / "out")}
    spec["budget"] = str(tmp_path / "people.budget.toml")
    bins = {"low": 0, "high": 2, "bins": 2}
    for columns, ranges in (
        ({"\ud800": bins}, {}),
        ({"a": {"categories": ["x", "\ud800"]}}, {}),
        ({"a": bins}, {"\ud800": {"a": [0, 1]}}),
    ):
        with pytest.raises((InvalidTable, InvalidSpec)):
            publish({**spec, "columns": columns, "ranges": ranges}, {name: [1] for name in columns})
    assert not charges(tmp_path)


class Panic(BaseException):
    """As libraries in other languages raise it."""


SILENT = "the release failed after its charge, which stays; why is not said, since that may follow from the rows"
PRIVATE = [
    Panic("500 rows"),
    ValueError("there were 500 rows"),
    OSError(28, "500 rows"),
    MemoryError("500 rows"),
    ImportError("500 rows"),
]


@pytest.mark.parametrize("error", PRIVATE, ids=lambda error: type(error).__name__)
@pytest.mark.parametrize("step", ["histogram", "draw", "released_counts"])
def test_a_failure_that_may_follow_from_rows_says_nothing(step, error, tmp_path, monkeypatch):
    """Whatever is raised while rows are read or noise is drawn, with a count in its words, is one fixed sentence.

    Afterwards too, but for the kind of an error of the machine: its words are never passed on.
    """
    if step == "draw":
        rehearsed(monkeypatch, error)
    else:
        fails_at(monkeypatch, step, error)
    said = said_after_the_charge(office(tmp_path, algorithm="AHP"))
    if step == "released_counts" and isinstance(error, MemoryError | ImportError):
        assert said != SILENT
        assert "500" not in said
    else:
        assert said == SILENT


@pytest.mark.parametrize(("algorithm", "words"), [("Hb", "memory ran out"), ("AHP", "why is not said")])
def test_memory_that_the_domain_alone_asks_for_is_no_secret(algorithm, words, tmp_path, monkeypatch):
    """Where an algorithm depends on the data, so may what it asks for."""
    rehearsed(monkeypatch, MemoryError())
    assert words in said_after_the_charge(office(tmp_path, algorithm=algorithm))


@pytest.mark.parametrize(("owner", "name"), [(Path, "open"), (os, "fsync"), (Path, "rename")])
def test_a_disk_that_is_full_is_named(owner, name, tmp_path, monkeypatch):
    """While the files are written everything in them is public, and so is what the disk says."""
    put = publishing._put

    def fails(*given, **named):
        raise OSError(28, "No space left on device")

    def writes(files, staging, out):
        with monkeypatch.context() as patch:
            patch.setattr(owner, name, fails)
            return put(files, staging, out)

    monkeypatch.setattr(publishing, "_put", writes)
    assert said_after_the_charge(office(tmp_path)) == (
        "the release failed after its charge, which stays: its files cannot be written (No space left on device); "
        "look at the disk"
    )


def test_a_package_that_is_missing_is_named(tmp_path, monkeypatch):
    """By its name alone."""
    fails_at(monkeypatch, "png", ModuleNotFoundError("500 rows", name="zlib"))
    assert said_after_the_charge(office(tmp_path)).endswith("the package zlib cannot be imported; install it")


def test_reading_is_rehearsed_before_the_charge(tmp_path, monkeypatch):
    """What counts rows is imported and run on a table without any: if it is missing, that costs nothing."""
    monkeypatch.setitem(sys.modules, "dpbench.mathematics.kernels.binning", None)
    with pytest.raises(ImportError):
        publish(office(tmp_path))
    assert not charges(tmp_path)


def test_a_release_whose_folder_is_complete_has_not_failed(tmp_path, monkeypatch, capsys):
    """Its name cannot be pushed to the disk: there is one release, and a warning."""
    fails_at(monkeypatch, "sync_folder", OSError(5, "Input/output error"))
    assert main(["release", str(office(tmp_path))]) == 0
    said = capsys.readouterr()
    assert said.err.startswith("warning: ")
    assert "out is complete, but a power failure may lose it (Input/output error)" in said.err
    assert [each.name for each in tmp_path.iterdir() if each.is_dir()] == ["out"]


def test_a_cluster_is_left_where_no_folder_can_be_made(tmp_path, monkeypatch):
    """It was asked for before the folder was."""
    closed = []

    class Client:
        def close(self):
            closed.append(self)

    monkeypatch.setattr(publishing, "connected", lambda address: Client())
    with pytest.raises(dpb.errors.ReleaseRefused, match="cannot be written"):
        publish(office(tmp_path, out="people.csv/out"), dask="local")
    assert len(closed) == 1


# --- what a release left behind -----------------------------------------------------------------------

HOLDS = """
import os, sys
from pathlib import Path
from dpbench.release.folder import unfinished

with unfinished(Path(sys.argv[1])) as folder:
    (folder / "histogram.csv").write_text("half")
    print(folder, flush=True)
    sys.stdin.read()
"""


@pytest.mark.skipif(os.name == "nt", reason="folders are not locked there")
def test_what_a_killed_release_left_behind_is_removed_and_a_live_one_is_not(tmp_path):
    """Two processes have folders; one is killed by the system. The next release with that output removes its folder."""
    words = [sys.executable, "-c", HOLDS, str(tmp_path / "out")]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    with subprocess.Popen(words, **pipes) as live, subprocess.Popen(words, **pipes) as killed:
        folders = [Path(each.stdout.readline().strip()) for each in (live, killed)]
        other = tmp_path / ".others.0123456789ab.unfinished"
        other.mkdir()
        killed.kill()
        killed.wait()
        assert [each.is_dir() for each in folders] == [True, True]
        publish(office(tmp_path))
        assert [each.is_dir() for each in (*folders, other)] == [True, False, True]
        live.communicate("")
    assert sorted(each.name for each in tmp_path.iterdir() if each.is_dir()) == [other.name, "out"]


# --- what seems odd ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("records", "total", "odd"),
    [(300, 100, False), (301, 100, True), (100, 300, False), (100, 301, True), (5, 0, True), (None, 0, False)],
)
def test_a_total_far_from_the_guess_is_odd(records, total, odd):
    """Beyond a factor of 3 in either direction."""
    spec = dpb.tables.read_spec({"columns": {"a": {"low": 0, "high": 1, "bins": 1}}, "records": records or 1})
    found = publishing._doubts(replace(spec, records=records), total)
    assert len(found) == odd
    assert not odd or f"the published total is {total:,} and the spec says records = {records:,}" in found[0]


def test_a_warning_about_a_table_that_was_not_read(tmp_path, capsys):
    """2,000 days in a form that is none of ours: one line beside the release, in Python and in JSON too."""
    spec = office(tmp_path, budget="9", more="records = 2000")
    spec.write_text(spec.read_text().replace("low = 0\nhigh = 64", "low = 2020-01-01\nhigh = 2021-01-01"))
    (tmp_path / "people.csv").write_text("age\n" + "the 3rd of May\n" * 2000)
    assert main(["release", str(spec)]) == 0
    said = capsys.readouterr()
    assert said.err.startswith("warning: the published total is ")
    assert "and the spec says records = 2,000: they are more than a factor of 3 apart" in said.err
    assert said.err.count("\n") == 1
    assert main(["release", str(spec), "--json"]) == 0
    said = capsys.readouterr()
    assert f"warning: {json.loads(said.out)['warnings'][0]}\n" == said.err
    assert publish(spec).warnings
    (tmp_path / "people.csv").write_text("age\n" + "2020-05-03\n" * 2000)
    assert not publish(spec).warnings


def test_a_tampered_output_is_noticed(tmp_path, capsys):
    """Another count, another charge, another promise, a file too many: each fails its own line."""
    publish(office(tmp_path, algorithm="Cascade", axes=2))
    out = tmp_path / "out"
    sound = (out / "certificate.json").read_text()

    def fails(words):
        assert main(["release", "--verify", str(out)]) == 1
        said = capsys.readouterr().out
        (out / "certificate.json").write_text(sound)
        return [line for line in said.splitlines() if line.startswith("FAIL") and words in line]

    for old, new, words in [
        ('"amount": "1/2"', '"amount": "1/4"', "the charges add up"),
        ('"epsilon": "1/2"', '"epsilon": "1/3"', "promise to a person"),
        ('"mechanism": "laplace"', '"mechanism": "gut feeling"', "exact one"),
        ('"certificate": 1', '"certificate": 2', "certificate"),
        ('"cells": 16', '"cells": 17', "one whole, non-negative number per cell"),
    ]:
        assert old in sound
        (out / "certificate.json").write_text(sound.replace(old, new, 1))
        assert fails(words), words
    (out / "notes.txt").write_text("")
    assert fails("every file is the one that was written")
    (out / "notes.txt").unlink()
    (out / "histogram.csv").write_text((out / "histogram.csv").read_text() + "0,4,0,7,-1\n")
    assert fails("every file")
    assert main(["release", "--verify", str(tmp_path)]) == 1
    assert "holds no certificate.json" in capsys.readouterr().err


def test_the_catalogue_says_what_can_be_released(capsys):
    """And why not."""
    assert main(["list", "algorithms", "--json"]) == 0
    rows = {row["name"]: row for row in json.loads(capsys.readouterr().out)}
    assert rows["Cascade"]["release"] is True
    assert rows["DAWA"]["release"] is True
    assert rows["EFPA"]["release"] is False
    assert rows["EFPA"]["not_released"] == NOT_RELEASED["EFPA"]


def test_a_comparison_on_ones_own_file_says_that_it_is_a_use_of_the_data(tmp_path, capsys):
    """One line on stderr, also where it is quiet; not for data that are public."""
    np.save(tmp_path / "private.npy", np.arange(64))
    plan = ["run", "demo", "--algorithm", "Identity", "--store", str(tmp_path / "s"), "--dry-run", "--quiet"]
    assert main([*plan, "--dataset", str(tmp_path / "private.npy"), "--domain", "64"]) == 0
    assert "a comparison on private data is itself a use of them" in capsys.readouterr().err
    assert main(plan) == 0
    assert "private data" not in capsys.readouterr().err


def test_a_recommended_algorithm(tmp_path):
    """The one that the advice names for public facts alone; what the study says is in the statement."""
    folder = publish(office(tmp_path, algorithm="recommended", bins=256, more="records = 1000")).folder
    advice = dpb.recommend(256, 0.5, 1000, exact=True)
    certificate = json.loads((folder / "certificate.json").read_text())
    assert certificate["algorithm"]["name"] == advice.algorithm
    assert str(advice) in (folder / "error.txt").read_text()
    assert json.loads((folder / "error.json").read_text())["advice"][0]["expected"] == advice.expected


def test_a_guess_of_the_rows_makes_a_statement(tmp_path):
    """Of the algorithm that is named, where the study knows it."""
    folder = publish(office(tmp_path, algorithm="AHP", bins=256, more="records = 1000")).folder
    assert "AHP, for all prefixes on 256 cells" in (folder / "error.txt").read_text()
    folder = publish(office(tmp_path, algorithm="AHP", bins=16, more="records = 1000")).folder
    assert "for all prefixes on 16 cells" not in (folder / "error.txt").read_text()


def test_without_a_guess_the_statement_is_for_every_order_of_magnitude(tmp_path):
    """As far as the study goes; an algorithm whose error is known beforehand needs none of it."""
    said = str(check(office(tmp_path, algorithm="AHP", bins=256)).statement)
    assert [line.split()[0] for line in said.splitlines()[2:]] == [
        "1,000",
        "10,000",
        "100,000",
        "1,000,000",
        "10,000,000",
    ]
    assert "by the number of rows" not in str(check(office(tmp_path, bins=256)).statement)
