"""Whatever happens to the bytes of a manifest or a record: readings are right or one line, and verify misses none."""

import os
import random
from contextlib import suppress

import pytest

from dpbench.cli import main
from dpbench.errors import DPBenchError
from dpbench.results import Results
from dpbench.store import Store, manifest
from dpbench.store.transfer import merge
from store.rows import make

RUNS = [f"2026010{day}T000000.000000-0000000{day}" for day in (1, 2)]
CURRENT = {"algorithm": "Identity", "variant": "private", "parameters": "{}"}
VERSIONS = ["b" * 16, "a" * 16]
"""Version a is shown, since the second run asked for it."""


@pytest.fixture
def store(tmp_path, monkeypatch):
    """Two versions of an algorithm in two shards, and a third shard of the version that is shown."""
    monkeypatch.setattr(os, "fsync", lambda _: None)  # half of the time of these tests
    store = Store(tmp_path / "store", create=True)
    for day, (run, version) in enumerate(zip(RUNS, VERSIONS, strict=True)):
        task = {"name": "small", "loss": "L2", "measuring": {"percentile": 90 + day}, "interpreting": {"alpha": 0.01}}
        record = {"plan": "small", "machine": {"cpu": "one"}, "started": run, "tasks": [task], "losses": {}}
        store.record_run(run, record | {"versions": [CURRENT | {"version": version}]})
        store.append([make(algorithm_source=version, run=run, l2=[day + 1.0] * 3)], run)
    store.append([make(sample=1, algorithm_source=VERSIONS[1], run=RUNS[1])], RUNS[1])
    return store


def truth(folder):
    """What every reading of the store says."""
    store = Store(folder)
    results = Results.open(folder)
    read = [results.standards, results.errors.tolist(), results.metadata]
    return [store.rows(), store.rows(every_version=True), store.versions(), store.runs(), store.index(), *read]


def told(read):
    """What a reading says, or its refusal."""
    try:
        return read()
    except DPBenchError as error:
        return error


def insist(folder, right, what):
    """The readings of the store are right, or a refusal in one line of which verify finds the cause."""
    read = told(lambda: truth(folder))
    wrong = told(lambda: Store(folder).verify())  # itself a refusal where the marker is damaged
    if isinstance(read, DPBenchError):
        assert "\n" not in str(read), what
        assert wrong, what
    else:
        assert read == right, what


def changed(content, seed, each):
    """The content with each of its bits flipped (one of ``each``), and with each of its ends cut off."""
    rng = random.Random(seed)
    for bit in range(rng.randrange(each), 8 * len(content), each):
        place = bit // 8
        yield f"bit {bit}", content[:place] + bytes([content[place] ^ 1 << bit % 8]) + content[place + 1 :]
    for length in range(rng.randrange(each), len(content), max(each // 8, 1)):
        yield f"length {length}", content[:length]


@pytest.mark.parametrize("each", [401, pytest.param(1, marks=pytest.mark.slow)])
@pytest.mark.parametrize("name", [manifest.NAME, "store.json", f"runs/{RUNS[0]}.json", f"runs/{RUNS[1]}.json"])
def test_no_flipped_bit_and_no_cut_end_is_read(name, each, store):
    """Of the manifest, the marker and each record."""
    right, path = truth(store.folder), store.folder / name
    whole = path.read_bytes()
    for what, content in changed(whole, 0, each):
        path.write_bytes(content)
        insist(store.folder, right, what)
    path.write_bytes(whole)
    assert truth(store.folder) == right


@pytest.mark.parametrize("lines", range(10))
def test_a_manifest_cut_short_loses_nothing(lines, store, tmp_path, capsys):
    """Every verb refuses in one line, verify exits 1, and the rows are there again after a repair."""
    right, path, folder = truth(store.folder), store.folder / manifest.NAME, str(store.folder)
    path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[:lines]))
    verbs = {
        "verify": [],
        "info": [],
        "versions": [],
        "export": ["--out", str(tmp_path / "out.csv")],
        "merge": ["--out", str(tmp_path / "all")],
        "diff": [folder],
    }
    for verb, options in verbs.items():
        code = main(["store", verb, folder, *options])
        heard = capsys.readouterr()
        if lines < 9:  # the last line says only that the last shard came to be
            assert code == (1 if verb == "verify" else 2), verb
            assert "dpbench store repair" in (heard.out if verb == "verify" else heard.err)
            assert heard.err.count("\n") == (verb != "verify")
        else:
            assert code == 0, verb
    assert main(["store", "repair", folder]) == 0
    assert truth(store.folder) == right


def test_a_manifest_that_is_damaged_is_made_again(store, capsys):
    """Put aside, and made of what is there; records keep the hash that they have now."""
    right, path = truth(store.folder), store.folder / manifest.NAME
    path.write_bytes(b"[" + path.read_bytes())
    assert main(["store", "repair", str(store.folder)]) == 0
    assert "5 files listed again" in capsys.readouterr().out
    assert truth(store.folder) == right
    record = store.folder / "runs" / f"{RUNS[0]}.json"
    record.write_bytes(record.read_bytes().replace(b"one", b"two"))
    assert [damage.path for damage in store.verify()] == [record]


@pytest.mark.parametrize(
    "line",
    [
        "[]",
        '"file"',
        '{"file": 5, "sha256": ""}',
        '{"file": "shards/../store.json", "sha256": ""}',
        '{"file": "shards/a\\u0000.parquet", "sha256": ""}',
        '{"file": "shards/%s.parquet", "sha256": ""}' % ("a" * 300),
        '{"file": "shards/a.parquet", "sha256": 7}',
        '{"file": "shards/a.parquet", "sha256": "", "rows": 1e999}',
        '{"file": "shards/a.parquet", "sha256": "", "rows": "many"}',
        '{"kept": []}',
        '{"gone": {}}',
        "[" * 100_000,
    ],
)
def test_a_line_of_another_kind_is_damage(line, store):
    """Whatever is valid JSON is not a line."""
    with (store.folder / manifest.NAME).open("a") as file:
        file.write(f"{line}\n")
    with pytest.raises(DPBenchError, match=r"line 11 of .* is damaged"):
        store.rows()
    assert store.verify()[0].path.name == manifest.NAME


ODD = [None, 5, "x", {}, [5], {"a": 5}, [{"name": []}], [{"version": "a"}], [CURRENT | {"version": []}]]
PARTS = ["plan", "machine", "started", "tasks", "versions", "losses", "identity", "code", "command"]


@pytest.mark.parametrize("part", [*PARTS, "tasks.measuring", "tasks.interpreting", "tasks.loss", "tasks.workloads"])
def test_a_record_of_another_kind_is_read_or_refused(part, store):
    """Listed with its hash, as a program of another version could have written it."""
    for odd in [*ODD, {"percentile": "x"}, {"percentile": []}, {"test": []}, {"alpha": 7}]:
        name, _, inner = part.partition(".")
        given = [{"name": "small", inner: odd}] if inner else odd
        store.record_run(RUNS[1], {name: given})
        for read in (lambda: truth(store.folder), lambda: Results._readings(store)):
            with suppress(DPBenchError):
                read()
    with suppress(DPBenchError):
        merge([store], store)
    store.verify()


def test_answers_are_read_as_they_were_kept(store):
    """A file of answers that was changed, cut or replaced is one line."""
    import numpy as np

    from dpbench.store.store import answers_path

    row = make(sample=7, key="7" * 32)
    path = answers_path(store.folder, row.key, 0)
    path.parent.mkdir()
    np.save(path, np.ones((3, 4)))
    store.append([row], RUNS[1])
    assert store.answers(row).sum() == 12
    whole = path.read_bytes()
    for content in (b"", whole[:20], whole[:-1] + b"\x01", b"PK\x03\x04", b"\x80\x04N."):
        path.write_bytes(content)
        with pytest.raises(DPBenchError, match="damaged"):
            store.answers(row)


def test_a_record_that_is_being_replaced_is_there_all_the_time(store, monkeypatch):
    """A writer that is killed between announcing and writing leaves the record that was there."""

    def killed(*_):
        raise KeyboardInterrupt

    before = store.runs()
    monkeypatch.setattr("dpbench.store.store.write_whole", killed)
    with pytest.raises(KeyboardInterrupt):
        store.record_run(RUNS[0], {"plan": "other"})
    assert store.runs() == before
    assert store.verify() == []
