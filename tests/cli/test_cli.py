import json
import subprocess
import sys

import pytest

from dpbench import algorithms
from dpbench.cli import main

TOY = '''
from dataclasses import dataclass
import dpbench as dpb
from dpbench.mathematics.cells import Cells


@dataclass(frozen=True, kw_only=True)
class Toy(dpb.Algorithm):
    """Identity under another name."""

    name = "Toy"
    data_dependent = False

    def estimate(self, data, workload):
        return data.laplace(Cells(data.domain), data.epsilon{cheat}, "cells"){leak}
'''


@pytest.fixture
def toy(tmp_path):
    def write(cheat="", leak=""):
        path = tmp_path / "toy.py"
        path.write_text(TOY.format(cheat=cheat, leak=leak))
        return f"{path}:Toy"

    return write


def test_help_shows_verbs_examples_and_exit_codes(capsys):
    """--help teaches: what there is, an example each, what the exit codes mean."""
    with pytest.raises(SystemExit) as ended:
        main(["--help"])
    text = capsys.readouterr().out
    assert ended.value.code == 0
    assert all(word in text for word in ("run", "list", "check", "data", "examples:", "exit codes:"))


@pytest.mark.parametrize("verb", ["run", "list", "check", "data", "store"])
def test_every_verb_has_an_example(verb, capsys):
    """The help of each verb ends with an example."""
    with pytest.raises(SystemExit):
        main([verb, "--help"])
    assert f"example:\n  dpbench {verb}" in capsys.readouterr().out


@pytest.mark.parametrize("what", ["algorithms", "datasets", "workloads", "suites"])
def test_lists_come_as_text_and_as_json(what, capsys):
    """Every name in the JSON stands in the text as well."""
    assert main(["list", what, "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert main(["list", what]) == 0
    text = capsys.readouterr().out
    assert rows
    assert all(row["name"] in text for row in rows)


def test_all_datasets_are_listed(capsys):
    """27 histograms of the paper and one more."""
    main(["list", "datasets", "--json"])
    assert len(json.loads(capsys.readouterr().out)) == 28


def test_check_passes_a_good_algorithm_from_a_file(toy, capsys):
    """A stranger's class in a file is checked without being installed."""
    assert main(["check", toy(), "--cases", "16", "--runs", "1000"]) == 0
    assert any(
        line.startswith("Toy ") and line.endswith(" nothing found") for line in capsys.readouterr().out.splitlines()
    )


def test_check_fails_a_bad_one_with_exit_code_1(toy, capsys):
    """The cause stands on one line."""
    assert main(["check", toy(cheat=" / 2"), "Identity", "--cases", "16"]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert lines[2].startswith("Toy ")
    assert lines[2].endswith(" leak or fault found")
    assert lines[3].startswith("Identity ")
    assert lines[3].endswith(" nothing found")
    assert lines[4].startswith("FAIL  ledger: Toy does not spend epsilon")


@pytest.mark.parametrize(
    ("arguments", "cause"),
    [
        (["check", "Identidy"], "did you mean Identity"),
        (["check", "nowhere.py:Toy"], "there is no file"),
        (["check", "nowhere.py"], "FILE.py:Class"),
    ],
)
def test_bad_input_is_one_line_and_exit_code_2(arguments, cause, capsys):
    """What was given, what is wanted, no traceback."""
    assert main(arguments) == 2
    error = capsys.readouterr().err
    assert error.startswith("dpbench: ")
    assert cause in error
    assert error.count("\n") == 1


def test_a_file_that_cannot_be_imported_is_told(tmp_path, capsys):
    """A syntax error in a plug-in, or a missing class, is bad input and not a traceback."""
    broken = tmp_path / "broken.py"
    broken.write_text("def (:")
    assert main(["check", f"{broken}:Toy"]) == 2
    assert "SyntaxError" in capsys.readouterr().err
    broken.write_text("class Other: pass")
    assert main(["check", f"{broken}:Oter"]) == 2
    assert "did you mean Other" in capsys.readouterr().err
    assert main(["check", f"{broken}:Other"]) == 2
    assert "subclass dpbench.Algorithm" in capsys.readouterr().err


def test_a_new_file_is_in_the_catalogue_at_once(monkeypatch, tmp_path, capsys, toy):
    """One file beside the others makes an algorithm appear in the list, and nothing else is edited."""
    toy()
    monkeypatch.setattr(algorithms, "__path__", [*algorithms.__path__, str(tmp_path)])
    forget_the_catalogue()
    try:
        assert main(["list", "algorithms"]) == 0
        assert "\nToy " in capsys.readouterr().out
        assert main(["check", "Toy", "--cases", "16", "--jobs", "0"]) == 0
    finally:
        forget_the_catalogue()
        sys.modules.pop("dpbench.algorithms.toy", None)


def forget_the_catalogue():
    """As a new process would find it."""
    algorithms.ours.cache_clear()
    algorithms.everything.cache_clear()
    algorithms._ours_folded.cache_clear()


def test_the_demo_prints_tables(capsys, monkeypatch, tmp_path):
    """Every algorithm has a row, winners have a star, and results lie in dpbench-store/demo."""
    monkeypatch.chdir(tmp_path)
    names = ("Identity", "Hb", "Uniform")
    chosen = [word for name in names for word in ("--algorithm", name)]
    assert main(["run", "demo", *chosen, "--samples", "1", "--trials", "2", "--quiet", "--jobs", "0"]) == 0
    text = capsys.readouterr().out
    assert all(text.count(f"\n{name} ") == 2 for name in names)
    assert "*" in text
    assert (tmp_path / "dpbench-store" / "demo" / "store.json").exists()


def test_interruption_ends_with_130(monkeypatch, capsys, tmp_path):
    """Ctrl-C is one line that says how to go on, one more, and the exit code that shells expect."""

    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("dpbench.run.execution.execute", interrupted)
    assert main(["run", "demo", "--algorithm", "Identity", "--quiet", "--jobs", "0"]) == 130
    lines = capsys.readouterr().err.splitlines()
    assert "run the same command to go on" in lines[-2]
    assert lines[-1] == "dpbench: interrupted"


def test_the_command_is_installed():
    """The console script runs and knows its version."""
    done = subprocess.run(
        [sys.executable, "-m", "dpbench.cli", "--version"], capture_output=True, text=True, check=True
    )
    assert done.stdout.startswith("dpbench 0.")


def test_a_file_that_exits_is_told(tmp_path, capsys):
    """A plug-in that ends Python while it is imported is bad input, not a silent success."""
    gone = tmp_path / "gone.py"
    gone.write_text("import sys\nsys.exit(0)\n")
    assert main(["check", f"{gone}:Mine"]) == 2
    assert "SystemExit" in capsys.readouterr().err
