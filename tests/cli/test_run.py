import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from chaos.small import canonical, plan_file
from dpbench.cli import main
from dpbench.store import Store

SLEEPER = '''
from dataclasses import dataclass
import time
import dpbench as dpb
from dpbench.mathematics.cells import Cells


@dataclass(frozen=True, kw_only=True)
class Sleeper(dpb.Algorithm):
    """Identity after a pause."""

    name = "Sleeper"

    def estimate(self, data, workload):
        time.sleep({seconds})
        return data.laplace(Cells(data.domain), data.epsilon, "cells")
'''


@pytest.fixture
def plan(tmp_path, monkeypatch):
    """A small plan in an empty folder, which is the current one."""
    monkeypatch.chdir(tmp_path)
    return plan_file(tmp_path)


def run(*words):
    return main(["run", *words, "--jobs", "0"])


def test_a_run_of_less_than_it_takes_to_start_a_worker_starts_none(plan, monkeypatch, tmp_path):
    """Unless workers, their time or their memory were asked for; what is stored is the same."""
    from dpbench.run import executors

    asked = []
    whole = executors.executor_for

    def noting(jobs, **limits):
        asked.append(jobs)
        return whole(jobs, **limits)

    monkeypatch.setattr(executors, "executor_for", noting)
    for store, options in {"a": [], "b": ["--jobs", "1"], "c": ["--timeout", "60"]}.items():
        assert main(["run", plan, "--quiet", "--store", store, "--algorithm", "Identity", *options]) == 0
    assert asked[:2] == [0, 1]
    assert asked[2] > 0
    assert canonical(tmp_path / "a") == canonical(tmp_path / "b") == canonical(tmp_path / "c")


def test_a_dry_run_counts_and_writes_nothing(plan, capsys, tmp_path):
    """Settings, units, trials, what is done and an estimate of the time; no folder is made."""
    assert run(plan, "--dry-run", "--quiet") == 0
    told = capsys.readouterr().out
    assert "small: 12 settings, 24 units, 72 trials; 0 units are done; 24 units, 72 trials to run, about 0 s" in told
    assert os.listdir(tmp_path) == ["small.toml"]  # noqa: PTH208
    assert run(plan, "--quiet", "--algorithm", "Hb", "--store", "s") == 0
    capsys.readouterr()
    assert run(plan, "--dry-run", "--store", "s") == 0
    assert "8 units are done; 16 units, 48 trials to run" in capsys.readouterr().out


def test_a_run_goes_into_a_folder_named_after_the_plan(plan, capsys):
    """Results lie in dpbench-store/PLAN, tables go to stdout, progress to stderr."""
    assert run(plan) == 0
    told = capsys.readouterr()
    assert len(Store("dpbench-store/small").rows()) == 24
    assert "Prefix on 64, epsilon 0.1: scaled L2 error, mean and 95th percentile, over 2 datasets" in told.out
    assert "24/24 units" in told.err
    assert "store: dpbench-store/small" in told.err


@pytest.mark.parametrize(
    ("name", "folder"), [("../../out", "out"), ("/etc/x", "etc-x"), ("Größe ☃", "Größe"), ("..", "plan")]
)
def test_a_plan_cannot_choose_a_folder_elsewhere(name, folder, plan, tmp_path, capsys):
    """Whatever a plan calls itself, the default store is inside the current folder."""
    path = Path(plan)
    path.write_text(f"name = '{name}'\n" + path.read_text())
    assert run(str(path), "--dry-run") == 0
    assert f"store: dpbench-store/{folder}\n" in capsys.readouterr().out


def test_a_second_run_has_nothing_to_do(plan, capsys):
    """Finished settings are recognised; the tables are printed all the same."""
    run(plan, "--quiet")
    first = capsys.readouterr().out
    assert run(plan) == 0
    told = capsys.readouterr()
    assert told.out == first
    assert "24 units are done; 0 units, 0 trials to run" in told.err
    assert len(Store("dpbench-store/small").runs()) == 1


def test_quiet_is_quiet(plan, capsys):
    """Nothing but the tables."""
    assert run(plan, "--quiet") == 0
    assert capsys.readouterr().err == ""


def test_skipped_combinations_are_listed(plan, capsys, tmp_path):
    """With their reasons, without making a store, and also where nothing can run."""
    assert run(plan, "--list-skipped", "--algorithm", "QuadTree") == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines == [
        f"QuadTree on {name} at 64: QuadTree runs on 2-D domains; 64 has 1 axes" for name in ("bimodal", "power-law")
    ]
    assert os.listdir(tmp_path) == ["small.toml"]  # noqa: PTH208
    assert run(plan, "--dry-run", "--algorithm", "QuadTree", "--algorithm", "Hb") == 0
    assert "2 combinations cannot run (--list-skipped)" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--algorithm", "QuadTree", "--algorithm", "Hb"], "QuadTree (QuadTree runs on 2-D domains; 64 has 1 axes)"),
        (["--with", "QuadTree"], "QuadTree (QuadTree runs on 2-D domains; 64 has 1 axes)"),
        (
            ["--domain", "64", "--domain", "8x8"],
            "8x8 (no task of the plan has the axes of the domain 8x8 and a dataset with as many)",
        ),
        (
            ["--dataset", "bimodal", "--dataset", "clusters"],
            "clusters (no task of the plan has the axes of the dataset",
        ),
        (
            ["--dataset", "own.npy", "--dataset", "bimodal", "--domain", "64", "--domain", "48"],
            "own at 64 (domain 48 cannot be coarsened to 64",
        ),
    ],
)
def test_what_was_asked_for_by_name_and_cannot_run_is_told(words, told, plan, capsys):
    """In one line, also where it is quiet, and by the exit code."""
    np.save("own.npy", np.arange(48))
    assert run(plan, "--quiet", *words) == 1
    *warned, error = capsys.readouterr().err.splitlines()
    assert error.startswith("dpbench: asked for and not run: ")
    assert told in error
    assert len(warned) == ("own.npy" in words)  # that a comparison on a file of one's own is a use of it


def test_what_a_plan_names_itself_is_asked_for_by_name(plan, capsys):
    """A file that lists an algorithm asks for it, unless the command line asks for others."""
    path = Path(plan)
    path.write_text(path.read_text().replace('"Hb"', '"Hb", "QuadTree"'))
    assert run(str(path), "--quiet") == 1
    assert "asked for and not run: QuadTree (QuadTree runs on 2-D domains" in capsys.readouterr().err
    assert run(str(path), "--quiet", "--algorithm", "Hb") == 0
    assert capsys.readouterr().err == ""


OWN = '''
from dataclasses import dataclass
import dpbench as dpb
from dpbench.mathematics.cells import Cells


def plain(x, workload, epsilon, rng):
    return x + rng.laplace(scale=1 / epsilon, size=x.shape)


@dataclass(frozen=True, kw_only=True)
class Small(dpb.Algorithm):
    """Noisy cells of a table of at most 32."""

    name = "Small (at most 32) [cells]"
    step: int = 1

    def supports(self, domain):
        return domain.size <= 32

    def estimate(self, data, workload):
        return data.laplace(Cells(data.domain), data.epsilon, "cells")
'''


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (
            ["--with", "own.py:plain", "--delta", "1e-6", "--algorithm", "Hb"],
            "plain (unaudited) (plain (unaudited) (private) has pure differential privacy alone)",
        ),
        (
            ["--with", "own.py:Small", "--algorithm", "Hb"],
            "Small (at most 32) [cells] (Small (at most 32) [cells] does not run on 64)",
        ),
        (
            ["--dataset", "a [1] (b).npy", "--dataset", "bimodal"],
            "a [1] (b) (domain 48 cannot be coarsened to 64: 64 does not divide 48; choose divisors of 48)",
        ),
        (  # the dataset that does not fit is no reason of the algorithm's
            ["--dataset", "a [1] (b).npy", "--dataset", "bimodal", "--algorithm", "QuadTree", "--algorithm", "Hb"],
            "QuadTree (QuadTree runs on 2-D domains; 64 has 1 axes)",
        ),
        (
            ["--dataset", "bimodal", "--dataset", "clusters", "--domain", "64"],
            "clusters (no task of the plan has the axes of the dataset clusters and a domain with as many)",
        ),
    ],
)
def test_the_reason_is_that_of_what_was_named(words, told, plan, capsys):
    """Names and labels with brackets are compared whole, and a reason of something else is none."""
    Path("own.py").write_text(OWN)
    np.save("a [1] (b).npy", np.arange(48))
    assert run(plan, "--quiet", "--trials", "1", "--samples", "1", *words) == 1
    assert told in capsys.readouterr().err.splitlines()[-1]


def test_an_algorithm_with_parameters_is_told_by_its_name(plan, capsys):
    """A plan's own parameters are part of the label, and the reason is found all the same."""
    Path("own.py").write_text(OWN)
    own = '{name = "own.py:Small", step = 2}, {name = "QuadTree", variant = "published"}'
    Path(plan).write_text(Path(plan).read_text().replace('"Hb"', f'"Hb", {own}'))
    assert run(plan, "--quiet", "--trials", "1", "--samples", "1") == 1
    told = capsys.readouterr().err
    assert "Small (at most 32) [cells] (Small (at most 32) [cells] does not run on 64)" in told
    assert "QuadTree (QuadTree runs on 2-D domains; 64 has 1 axes)" in told


def test_a_plan_without_datasets_says_so(plan, capsys):
    """Nothing was skipped, so there is nothing to list."""
    Path(plan).write_text(Path(plan).read_text().replace('["bimodal", "power-law"]', "[]"))
    assert run(plan) != 0
    assert "nothing that can run (it names no dataset); name one" in capsys.readouterr().err


def test_what_was_not_named_may_be_skipped(tmp_path, monkeypatch, capsys):
    """A named algorithm that runs in another task of the suite is nothing amiss."""
    monkeypatch.chdir(tmp_path)
    small = ["--scale", "1000", "--samples", "1", "--trials", "1", "--domain", "64", "--domain", "8x8"]
    assert run("demo", "--quiet", "--algorithm", "QuadTree", "--algorithm", "PHP", *small) == 0
    assert capsys.readouterr().err == ""


def test_somebodys_own_algorithm_and_data_join(plan, tmp_path, capsys):
    """--with adds a class from a file, --algorithm narrows to one, --dataset takes a file."""
    (tmp_path / "sleeper.py").write_text(SLEEPER.format(seconds=0))
    np.save(tmp_path / "own.npy", np.arange(64))
    assert run(plan, "--with", "sleeper.py:Sleeper", "--dataset", "own.npy", "--quiet", "--store", "a") == 0
    rows = Store("a").rows()
    assert {row.algorithm for row in rows} == {"Identity", "Hb", "Uniform", "Sleeper"}
    assert {row.dataset for row in rows} == {"own"}
    assert run(plan, "--algorithm", "sleeper.py:Sleeper", "--quiet", "--store", "b") == 0
    assert {row.algorithm for row in Store("b").rows()} == {"Sleeper"}


def test_a_failed_unit_is_told_and_gives_exit_code_1(plan, tmp_path, capsys):
    """Also when the next run finds it failed; the rest has its table."""
    (tmp_path / "bad.py").write_text(SLEEPER.format(seconds="'x'"))
    assert run(plan, "--with", "bad.py:Sleeper", "--quiet") == 1
    told = capsys.readouterr()
    assert "failed 8 times: Sleeper: TypeError" in told.err
    assert "Identity" in told.out
    assert run(plan, "--with", "bad.py:Sleeper") == 1
    assert "8 failed before (--retry-failed)" in capsys.readouterr().err
    assert run(plan, "--with", "bad.py:Sleeper", "--retry-failed", "--quiet") == 1
    assert Store("dpbench-store/small").table().num_rows == 40


def test_a_single_trial_can_be_run(plan, capsys):
    """One trial has a mean error, and no star."""
    assert run(plan, "--quiet", "--samples", "1", "--trials", "1") == 0
    assert "*10" not in capsys.readouterr().out


def test_kept_answers_lie_in_the_store(plan, capsys):
    """--keep-answers keeps every trial's answers by key; the canonical export is the same without."""
    assert run(plan, "--quiet", "--keep-answers", "--store", "with") == 0
    assert run(plan, "--quiet", "--store", "without") == 0
    store = Store("with")
    assert all(store.answers(row).shape == (3, 64) for row in store.rows())
    assert canonical("with") == canonical("without")
    assert not Path("without/answers").exists()


def test_damage_is_put_aside_and_run_again(plan, capsys):
    """A damaged shard is named, kept under another name, and its settings come back."""
    run(plan, "--quiet")
    whole = canonical("dpbench-store/small")
    (shard,) = Store("dpbench-store/small").shards()
    shard.write_bytes(shard.read_bytes()[:100])
    capsys.readouterr()
    assert main(["store", "verify", "dpbench-store/small"]) == 1
    assert main(["store", "export", "dpbench-store/small", "--out", "x.csv"]) == 2
    assert "damaged" in capsys.readouterr().err
    assert run(plan, "--quiet") == 0
    assert f"put aside as {shard.stem}.damaged" in capsys.readouterr().err
    assert canonical("dpbench-store/small") == whole


@pytest.mark.parametrize(
    ("words", "cause"),
    [
        (["nowhere.toml"], "cannot read the task in nowhere.toml"),
        (["deno"], "did you mean demo"),
        (["small.toml", "--algorithm", "Identidy"], "did you mean Identity"),
        (["small.toml", "--dataset", "nowhere.csv"], "nowhere.csv"),
        (["small.toml", "--dataset", "MEDCOST", "--domain", "1024"], "dpbench data pull"),
        (["small.toml", "--domain", "8x"], "8x"),
        (["small.toml", "--scale", "-5"], "-5"),
        (["small.toml", "--epsilon", "nan"], "nan"),
        (["small.toml", "--samples", "0"], "samples"),
        (["small.toml", "--loss", "l1"], "did you mean L1"),
        (["small.toml", "--loss", "relative:floor=2"], "at most 1"),
        (["small.toml", "--timeout", "0"], "--timeout"),
        (["small.toml", "--memory", "-1"], "--memory"),
        (["small.toml", "--store", "small.toml"], "is not a store"),
        (["small.toml", "--store", "small.toml/x"], "small.toml/x"),
        (["small.toml", "--store", "."], "is not a store"),
        (["small.toml", "--store", "/proc/nothing"], "/proc/nothing"),
        (["small.toml", "--with", "nowhere.py:Mine"], "there is no file"),
        (["small.toml", "--algorithm", "QuadTree"], "nothing that can run"),
    ],
)
def test_bad_input_is_one_line_and_leaves_no_store(words, cause, plan, tmp_path, capsys, monkeypatch):
    """Exit code 2, what is wrong and what to do; nothing is written."""
    monkeypatch.setenv("DPBENCH_DATA", str(tmp_path))
    monkeypatch.setattr("platformdirs.user_cache_path", lambda project: tmp_path / "cache")
    try:
        code = run(*words)
    except SystemExit as ended:
        code = ended.code
    assert code == 2
    error = capsys.readouterr().err
    assert error.startswith("dpbench: ")
    assert cause in error
    assert error.count("\n") == 1
    assert os.listdir(tmp_path) == ["small.toml"]  # noqa: PTH208


@pytest.mark.parametrize("text", ["0/3", "4/3", "x", "1/", "/2", "-1/2"])
def test_a_part_of_a_whole_is_written_i_of_k(text, plan, capsys):
    """--shard takes 1/3, 2/3 and 3/3."""
    with pytest.raises(SystemExit) as ended:
        run(plan, f"--shard={text}")
    assert ended.value.code == 2
    assert "write for example 1/4" in capsys.readouterr().err


def test_dask_that_is_not_there_is_told(plan, capsys, monkeypatch):
    """Without the extra, --dask says what to install."""
    monkeypatch.setitem(sys.modules, "distributed", None)
    assert main(["run", plan, "--dask", "local", "--quiet"]) == 2
    assert "dpbench-range[cluster]" in capsys.readouterr().err


def test_ctrl_c_keeps_what_is_finished_and_says_how_to_go_on(plan, tmp_path):
    """SIGINT to a real run with a worker that hangs: exit code 130 soon, rows kept, no process left."""
    hanging = f"600 if __import__('os').path.exists({str(tmp_path / 'hang')!r}) else 0.3"
    (tmp_path / "sleeper.py").write_text(SLEEPER.format(seconds=hanging))
    command = [sys.executable, "-m", "dpbench.cli", "run", plan, "--with", "sleeper.py:Sleeper", "--jobs", "2"]
    terminal = {"start_new_session": True, "preexec_fn": lambda: signal.signal(signal.SIGINT, signal.SIG_DFL)}
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, cwd=tmp_path, **terminal) as process:
        deadline = time.monotonic() + 60
        while not list(tmp_path.glob("dpbench-store/small/shards/*.parquet")) and time.monotonic() < deadline:
            time.sleep(0.05)
        (tmp_path / "hang").touch()
        time.sleep(0.2)
        children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
        workers = [child for child in children if b"spawn_main" in Path(f"/proc/{child}/cmdline").read_bytes()]
        os.killpg(process.pid, signal.SIGINT)  # as a terminal does: to the workers too
        said = process.stderr.read()
        assert process.wait(20) == 130
    assert "everything finished is stored: run the same command to go on" in said
    assert "Traceback" not in said
    assert said.endswith("dpbench: interrupted\n")
    assert workers
    assert not [worker for worker in workers if Path(f"/proc/{worker}").exists()]
    kept = len(Store(tmp_path / "dpbench-store/small").rows())
    assert kept >= 1
    assert run(plan, "--quiet") == 0
    assert sum(row.algorithm != "Sleeper" for row in Store(tmp_path / "dpbench-store/small").rows()) == 24
