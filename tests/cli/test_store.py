import json

import pytest

from dpbench.cli import main
from dpbench.store import Store
from store.rows import make


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A store with three rows, one of them failed, in the current folder."""
    monkeypatch.chdir(tmp_path)
    store = Store("results", create=True)
    store.append([make(), make(sample=1), make(algorithm="Mine", failure="it broke", private=False)], "run1")
    store.record_run("run1", {"machine": {"cpu": "one"}})
    return "results"


def test_info_counts(folder, capsys):
    """What a store holds, as text and as JSON."""
    assert main(["store", "info", folder]) == 0
    told = capsys.readouterr().out
    assert "runs: 1\n" in told
    assert "failed 1 times: Mine: it broke\n" in told
    assert main(["store", "info", folder, "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert facts["failures"] == [{"algorithm": "Mine", "reason": "it broke", "units": 1}]
    assert facts["runs"] == {"run1": {"cpu": "one"}}


def test_info_of_an_empty_store(tmp_path, capsys):
    """A store without results is no error."""
    Store(tmp_path / "new", create=True)
    assert main(["store", "info", str(tmp_path / "new")]) == 0
    assert "runs: 0" in capsys.readouterr().out


def test_verify_names_damage(folder, capsys):
    """Exit code 0 where all is whole, 1 with the names otherwise."""
    assert main(["store", "verify", folder]) == 0
    assert "1 of 1 shards are whole" in capsys.readouterr().out
    (shard,) = Store(folder).shards()
    shard.write_bytes(b"")
    assert main(["store", "verify", folder]) == 1
    told = capsys.readouterr().out
    assert shard.name in told
    assert "0 of 1 shards are whole" in told


def test_merge_tells_what_it_did_and_where_machines_differ(folder, capsys):
    """Units added, and one line for everything that differs."""
    other = Store("other", create=True)
    other.append([make(sample=7)], "run2")
    other.record_run("run2", {"machine": {"cpu": "two"}})
    assert main(["store", "merge", folder, "other", "--out", "all"]) == 0
    told = capsys.readouterr().out
    assert "4 units added to all\n" in told
    assert "the runs differ in cpu: one, two" in told


def test_merge_refuses_other_data(folder, capsys):
    """In one sentence, with exit code 2."""
    Store("other", create=True).append([make(sample=7, dataset_source="x" * 16)], "run2")
    assert main(["store", "merge", folder, "other", "--out", "all"]) == 2
    error = capsys.readouterr().err
    assert "the dataset bimodal" in error
    assert error.count("\n") == 1


def test_merge_keeps_versions_of_an_algorithm_apart(folder, capsys):
    """And says that there are several."""
    Store("other", create=True).append([make(sample=7, algorithm_source="x" * 16, run="run2")], "run2")
    assert main(["store", "merge", folder, "other", "--out", "all"]) == 0
    told = capsys.readouterr().out
    assert "4 units added to all\n" in told
    assert "several versions of Identity; the latest is shown (dpbench store versions all)\n" in told
    assert len(Store("all").rows()) == 2


@pytest.mark.parametrize(
    ("change", "code", "said"),
    [
        ({}, 0, "no change: 1 setting, all equal"),
        ({"l2": (0.25, 0.75)}, 1, "the results differ: 1 of 1 common settings changed, 0 of them beyond chance"),
        ({"seed": 5}, 1, "the results differ: only in the first: 1 setting; only in the second: 1 setting; "),
    ],
)
def test_diff_ends_with_what_it_comes_to(change, code, said, folder, capsys):
    """One line that says whether two stores differ, also where they have no setting in common."""
    for name, facts in (("one", {}), ("two", change)):
        Store(name, create=True).append([make(**facts)], "run1")
    assert main(["store", "diff", "one", "two"]) == code
    last = capsys.readouterr().out.splitlines()[-1]
    assert last.startswith(said)
    assert last.endswith("their seeds are 0 and 5") == ("seed" in change)


@pytest.mark.parametrize("ending", ["csv", "json", "parquet"])
def test_export_writes_a_file(ending, folder, tmp_path, capsys):
    """One row a trial."""
    assert main(["store", "export", folder, "--out", f"out.{ending}", "--canonical"]) == 0
    assert capsys.readouterr().out == f"7 rows written to out.{ending}\n"
    assert (tmp_path / f"out.{ending}").stat().st_size > 0


@pytest.mark.parametrize(
    ("words", "cause"),
    [
        (["info", "nowhere"], "there is no store at nowhere"),
        (["verify", "nowhere"], "there is no store at nowhere"),
        (["export", "nowhere", "--out", "x.csv"], "there is no store at nowhere"),
        (["merge", "nowhere", "--out", "all"], "there is no store at nowhere"),
        (["export", "results", "--out", "x.xls"], "x.xls"),
        (["export", "results", "--out", "no/where.csv"], "cannot write no/where.csv"),
    ],
)
def test_bad_input_is_one_line(words, cause, folder, capsys):
    """Exit code 2 and the reason."""
    assert main(["store", *words]) == 2
    error = capsys.readouterr().err
    assert cause in error
    assert error.count("\n") == 1


def test_verify_misses_a_deleted_shard(folder, capsys):
    """Exit code 1, the name, and what went with it; the others are whole."""
    (shard,) = Store(folder).shards()
    Store(folder).append([make(sample=5)], "run1")
    shard.unlink()
    assert main(["store", "verify", folder]) == 1
    told = capsys.readouterr().out
    assert f"{shard.name}: missing: it was there, and with it 3 results\n" in told
    assert "1 of 2 shards are whole" in told


def test_verify_says_what_it_cannot_know_of_an_earlier_store(folder, tmp_path, capsys):
    """Without a manifest nothing can be missed."""
    (tmp_path / folder / "manifest.jsonl").unlink()
    (tmp_path / folder / "store.json").write_text('{"dpbench_store": 1}')
    assert main(["store", "verify", folder]) == 0
    told = capsys.readouterr().out
    assert "no manifest, as in earlier versions" in told
    assert "1 of 1 shards are whole" in told
