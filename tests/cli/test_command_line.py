"""What every verb has to have: an example that parses, mistakes in one line, JSON, completion."""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys

import pytest

from dpbench.cli import build_parser, main
from dpbench.cli.arguments import BY_NAME, write_json

PARSERS = {}
"""Every command by its path, such as "dpbench store info"."""


def _collect(parser):
    PARSERS[parser.prog] = parser
    for action in parser._actions:
        if action.nargs == "A...":
            for below in action.choices.values():
                _collect(below)


_collect(build_parser())
LEAVES = [path for path, parser in PARSERS.items() if parser.get_default("run")]

BAD = """
frobnicate | no verb named 'frobnicate'
rnu | did you mean run?
run | required: SUITE|PLAN.toml
run nosuch | known: demo, quick
run bad.toml | not valid TOML
run nosuch.toml | check the path
run demo --algorithm Identidy | did you mean Identity?
run demo --dataset nosuch | no dataset named
run demo --domain x | write for example
run demo --scale -1 | --scale is -1; give a positive whole number
run demo --scale many | --scale is 'many'; give a positive whole number
run demo --epsilon 0 | --epsilon is 0; give a positive finite number
run demo --trials 0 | --trials is 0; give a positive whole number
run demo --samples | --samples needs a value
run demo --delta 2 | --delta is 2; give a number from 0
run demo --seed -1 | --seed is -1; give a whole number that is not negative
run demo --json=yes | --json takes no value
run demo --jobs -1 | give a whole number
run demo --timeout 0 | --timeout is 0; give a positive
run demo --shard 5/4 | write for example 1/4
run demo --store notes.txt --algorithm Identity | give an empty or a new folder
run demo --with plain.py:Mine | plain.py named 'Mine'; there are none
run demo --variant other | known: private, published
run demo --varient private | did you mean --variant?
run demo --quie | did you mean --quiet?
run demo --alg Identity | did you mean --algorithm?
run demo --s 1 | did you mean --scale or --samples or --seed?
run demo --nothing-like-it | unrecognized arguments: --nothing-like-it; see
list | required: catalogue
list things | no catalogue named 'things'; known:
new | required: FILE.py
new notes.txt | is not a Python file
new nosuch/mine.py | No such file
new plain.py | exists, and is kept
recommend | required: --cells
recommend --cells x --epsilon 1 --records 10 | write for example
recommend --cells 16 --epsilon small --records 10 | --epsilon is 'small'; give a number
recommend --cells 16 --epsilon 0 --records 10 | give a finite number greater than 0
recommend --cells 16 --epsilon 1 --records 0 | --records is 0; give a positive whole number
recommend --cells 16 --epsilon 1 --records 10 --workload Prefixes | did you mean Prefix
recommend --cells 16 --epsilon 1 --records 10 --risk worst | no risk named 'worst'
recommend --cells 16 --epsilon 1 --records 10 --delta 2 | delta
strategies | required: --domain
strategies --domain x | write for example
strategies --domain 16 --workload Prefixes | did you mean Prefix
strategies --domain 16 --workload nosuch.csv | check the path
strategies --domain 16 --workload RandomRange(queries=100000000000000) | set DPBENCH_MEMORY
strategies --domain 1000000000000 | set DPBENCH_MEMORY
strategies --domain 16 --rho 1 --delta 0.1 | give rho alone
paper --store nosuch | make one with
paper --finding 11 | no value of --finding named 11; known: 1, 2
paper --store store --page nosuch/x.md | nosuch/x.md: No such file
paper --store store --csv nosuch/x.csv | give a file in a folder that exists
paper --store store --pack notes.txt | notes.txt: File exists
paper --pack packed | name a store
compare | required: FILE.py:Class
compare Identity --study nosuch | make one with
compare Identity --study store --dataset nosuch | no such settings
compare Identity --study store --jobs -1 | give a whole number
report nosuch --out page | make one with
report notes.txt --out page | not a Parquet file
report store --out notes.txt | give a folder that can be written to
figures nosuch --out figures | make one with
figures store --out notes.txt | give a folder that can be written to
figures store --out figures --authors a.csv --tables-only | leave one of them out
interpret empty | make one with
interpret notes.txt | not a Parquet file
interpret store --dataset nosuch | dpbench store info
interpret store --csv nosuch/x.csv | give a file in a folder that exists
interpret store --what nothing | no value of --what named 'nothing'
principles nosuch | make one with
properties Identidy | did you mean Identity?
store | required: COMMAND
store info nosuch | make one with
store info notes.txt | not a store
store verify nosuch | make one with
store repair nosuch | make one with
store merge nosuch --out merged | make one with
store export store --out trials.xls | .csv, .json or .parquet
store export store --out nosuch/trials.csv | give a file in a folder that exists
store versions nosuch | make one with
store versions store --drop nosuch | no version named
store diff store nosuch | make one with
store diff store store@nosuch | no version named
leaderboard nosuch.parquet | there is no file nosuch.parquet
leaderboard notes.txt | notes.txt is no submission
leaderboard store | store is no submission
compare Identity --study store --submit mine.parquet | leave out --study
compare Identity --submit nosuch/mine.parquet | give a file in a folder that exists
check Identidy | did you mean Identity?
check nosuch.py:Mine | there is no file
check Identity --cases 0 | --cases is 0; give a positive whole number
check Identity --jobs two | --jobs is 'two'; give a whole number
release | SPEC.toml --verify is required
table | required: SPEC.toml
table nosuch.toml | check the path
table bad.toml | not valid TOML
tune | required: NAME|FILE.py:Class, -o/--out
tune Identity --out x.json | name one with --grid
tune MWEM --out x.json --grid rounds | write for example rounds=4,8,16
tune MWEM --out x.json --dataset MEDCOST | train on synthetic shapes
tune MWEM --out x.json --domain x | write for example
tune MWEM --out x.json --signal 8 1 | give the lower first
tune MWEM --out x.json --jobs two | give a whole number
repair | required: COMMAND
repair side Identity | leave it out
repair side MWEM --share 2 | write for example --share 0.05
repair side MWEM --jobs -1 | give a whole number
repair findings nosuch | make one with
data | required: COMMAND
data pull NOSUCH | no dataset named
data pull --mirror nosuch --folder here MEDCOST | give a folder that has 1D/ and 2D/, or a URL
data verify --fodler here | did you mean --folder?
data path here | unrecognized arguments
completion | required: shell
completion tcsh | no shell named 'tcsh'; did you mean zsh
"""
CASES = [tuple(part.rsplit(" | ", 1)) for part in BAD.strip().splitlines()]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with a small store and files that are not what a command wants."""
    made = tmp_path_factory.mktemp("bad")
    (made / "notes.txt").write_text("hello")
    (made / "bad.toml").write_text("base = [")
    (made / "plain.py").write_text("mine = 1\n")
    (made / "empty").mkdir()
    small = "--algorithm Identity --algorithm Uniform --scale 1000 --domain 16 --samples 1 --trials 2 --quiet --jobs 0"
    assert main(["run", "demo", "--store", str(made / "store"), *small.split()]) == 0
    return made


@pytest.mark.parametrize(("command", "told"), CASES, ids=[case[0] for case in CASES])
def test_a_mistake_is_told_in_one_line_that_says_what_to_do(command, told, folder, monkeypatch, capsys):
    """Exit code 2, nothing on stdout, one line on stderr."""
    monkeypatch.chdir(folder)
    try:
        code = main(command.split())
    except SystemExit as ended:
        code = ended.code
    caught = capsys.readouterr()
    assert (code, caught.out) == (2, "")
    assert caught.err.startswith("dpbench: ")
    assert caught.err.count("\n") == 1
    assert told in caught.err


def test_every_command_has_a_mistake_in_the_list():
    """A new verb is not forgotten above."""
    tried = [f"dpbench {command} " for command, _ in CASES]
    assert [path for path in LEAVES if not any(each.startswith(f"{path} ") for each in tried)] == []


def examples(path):
    """The commands that the help of a command shows, without redirections and explanations."""
    shown = re.search(r"example:\n(.*)", PARSERS[path].epilog or "", flags=re.DOTALL)
    return re.findall(r"dpbench (?:(?!  |>|\)).)+", shown.group(1)) if shown else []


@pytest.mark.parametrize("path", [path for path in PARSERS if path != "dpbench"])
def test_every_help_ends_with_an_example_that_parses(path):
    """The example is a command of that verb, and the command line accepts it."""
    found = examples(path)
    assert any(example.startswith(path) for example in found)
    for example in found:
        assert callable(build_parser().parse_args(shlex.split(example)[1:]).run)


def test_every_command_speaks_json():
    """All but completion, whose output is for a shell, and new, whose output is a file."""
    silent = {path for path in LEAVES if not any("--json" in each.option_strings for each in PARSERS[path]._actions)}
    assert silent == {"dpbench completion", "dpbench new"}


@pytest.mark.parametrize(
    ("command", "key"),
    [
        (
            "run demo --store store --algorithm Identity --scale 1000 --domain 16 --samples 1 --trials 2 --dry-run",
            "units",
        ),
        ("run demo --store store --algorithm H --domain 4x4 --domain 16 --list-skipped", None),
        ("run demo --store new --algorithm Hb --domain 16 --samples 1 --trials 1 --quiet --jobs 0", "errors"),
        ("store info store", "settings"),
        ("store verify store", "damaged"),
        ("store merge store --out merged", "units_added"),
        ("store export store --out trials.csv", "rows"),
        ("store versions store", None),
        ("store diff store store", None),
        ("list algorithms", None),
        ("list datasets", None),
        ("list losses", None),
        ("check Identity --cases 8 --quiet --jobs 0", "samplers"),
        ("interpret store", "errors"),
        ("principles store", None),
        ("recommend --cells 64 --epsilon 1 --records 1e4", "algorithm"),
        ("strategies --domain 16", "strategies"),
        ("compare Hb --study store --store own --jobs 0 --quiet", "regrets"),
        ("paper --finding 1", None),
        ("data path", "folder"),
        ("data verify --folder empty", "datasets"),
        (
            "tune MWEM --grid rounds=2,4 --domain 16 --signal 2 3 --samples 1 --trials 1 --jobs 1 --quiet --out t.json",
            "rows",
        ),
    ],
)
def test_json_is_one_value_on_stdout(command, key, folder, monkeypatch, capsys):
    """A program can read all of stdout at once."""
    monkeypatch.chdir(folder)
    main([*command.split(), "--json"])
    told = json.loads(capsys.readouterr().out)
    assert told
    assert key is None or key in told
    assert [each for each in keys_of(told) if not re.fullmatch("[a-z0-9]+(_[a-z0-9]+)*", each)] == []


def keys_of(value):
    """The keys within a value; names of algorithms, of their parameters and of settings are not among them."""
    if isinstance(value, list):
        return [key for each in value for key in keys_of(each)]
    if not isinstance(value, dict):
        return []
    own = [key for key in value if not re.search("[A-Z]", key)]
    return own + [key for name, each in value.items() for key in ([] if name in BY_NAME else keys_of(each))]


def test_keys_are_words_and_names_stay(capsys):
    """A stranger's algorithm may be called what looks like a key."""
    write_json({"units added": 1, "paper's % zero": 2, "regrets": {"my-own": 3, "power law": {"95 % low": 4}}})
    told = json.loads(capsys.readouterr().out)
    assert told == {
        "units_added": 1,
        "paper_percent_zero": 2,
        "regrets": {"my-own": 3, "power law": {"95_percent_low": 4}},
    }


def test_the_package_runs_as_a_module():
    """``python -m dpbench`` is the command."""
    done = subprocess.run([sys.executable, "-m", "dpbench", "--version"], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("dpbench 0.")


def test_exit_codes(folder, monkeypatch, capsys):
    """0 success, 1 a check failed, 2 bad input; 130 is tested with interruptions."""
    monkeypatch.chdir(folder)
    assert main(["store", "verify", "store"]) == 0
    assert main(["data", "verify", "--folder", "empty"]) == 1
    assert main(["store", "verify", "empty"]) == 2


def written(shell, folder, capsys):
    """The completion script for a shell."""
    assert main(["completion", shell]) == 0
    script = folder / f"dpbench.{shell}"
    script.write_text(capsys.readouterr().out)
    return script


def completed(shell, script, line):
    """What a shell offers at the end of a line, without asking a terminal."""
    words = " ".join(shlex.quote(word) for word in line.split(" "))
    code = {
        "bash": f". {script}; COMP_WORDS=({words}); COMP_CWORD=$((${{#COMP_WORDS[@]}}-1)); _shtab_dpbench\n"
        'printf "%s\\n" "${COMPREPLY[@]}"',
        "fish": f"source {script}; complete -C {shlex.quote(line)}",
    }[shell]
    options = {"bash": ["--norc"], "fish": ["--no-config"]}[shell]
    home = {**os.environ, "HOME": str(script.parent)}
    done = subprocess.run([shell, *options, "-c", code], capture_output=True, text=True, check=True, env=home)
    assert done.stderr == ""
    return [each.split("\t")[0] for each in done.stdout.splitlines()]


@pytest.mark.parametrize("shell", ["bash", "fish"])
def test_completion_offers_what_fits(shell, tmp_path, capsys):
    """Verbs, commands below a verb, options, and names of the catalogues, stars included."""
    if shutil.which(shell) is None:
        pytest.skip(f"there is no {shell} here")
    script = written(shell, tmp_path, capsys)
    assert {"run", "list", "completion"} <= set(completed(shell, script, "dpbench "))
    assert "info" in completed(shell, script, "dpbench store in")
    assert "--json" in completed(shell, script, "dpbench store info --")
    assert "quick" in completed(shell, script, "dpbench run q")
    assert "DAWA" in completed(shell, script, "dpbench run demo --algorithm D")
    assert "MEDCOST" in completed(shell, script, "dpbench run demo --dataset M")
    assert "published" in completed(shell, script, "dpbench check Hb --variant p")
    assert "MEDCOST" in completed(shell, script, "dpbench data pull M")
    assert "128x128" in completed(shell, script, "dpbench run demo --domain 1")
    assert "AHP*" in completed(shell, script, "dpbench properties A")
    assert "Linf" in completed(shell, script, "dpbench run demo --loss L")
    assert "relative" in completed(shell, script, "dpbench interpret store --loss r")
    assert "paired" in completed(shell, script, "dpbench compare mine.py:Mine --test p")
    assert "Identity" in completed(shell, script, "dpbench report store --baseline I")


def test_completion_offers_files_where_files_fit(tmp_path, capsys, monkeypatch):
    """Stores, plans and files of code; not where a name or a number is wanted, and no options among them."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.py").touch()
    (tmp_path / "store").mkdir()
    script = written("bash", tmp_path, capsys)
    here = {"mine.py", "store", "dpbench.bash"}
    assert set(completed("bash", script, "dpbench report ")) == here
    assert set(completed("bash", script, "dpbench report store --out s")) == {"store"}
    assert {"mine.py", "MWEM"} <= set(
        completed("bash", script, "dpbench check m") + completed("bash", script, "dpbench check M")
    )
    assert {"quick", "mine.py"} <= set(completed("bash", script, "dpbench run "))
    assert completed("bash", script, "dpbench run demo --with mi") == ["mine.py"]
    assert not here & set(completed("bash", script, "dpbench run demo --trials "))
    assert not here & set(completed("bash", script, "dpbench list "))


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_every_shell_gets_every_name_and_option(shell, tmp_path, capsys):
    """Also where the shell is not here to ask; in zsh no word has a colon of its own, which would end it."""
    text = written(shell, tmp_path, capsys).read_text()
    for path, parser in PARSERS.items():
        assert all(word in text for word in path.split())
        for action in parser._actions:
            flags = [each.lstrip("-") if shell == "fish" else each for each in action.option_strings]
            assert all(flag in text for flag in flags)
    assert all(name in text for name in ("quick", "MEDCOST", "128x128", "power-law", "DAWA"))
    assert ("'AHP*'" if shell != "bash" else " AHP* ") in text
    values = [line for line in text.splitlines() if shell == "zsh" and line.startswith('  "') and "]:" in line]
    assert [line for line in values if re.search(r"\]:\w+:[^:]*\"$", line) is None] == []


@pytest.mark.parametrize("redirected", ["| head -0", ">&-", "2>&-", ">&- 2>&-"])
def test_nobody_has_to_listen(redirected):
    """A pipe that is closed, or no stdout at all, is no reason for a traceback."""
    command = f"{shlex.quote(sys.executable)} -m dpbench list algorithms {redirected}"
    shell = [shutil.which("bash") or "/bin/bash", "-c", f"set -o pipefail; {command}"]
    done = subprocess.run(shell, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_the_parser_of_one_verb_is_that_of_the_whole_command_line():
    """A command builds the part that its verb needs: the same options, the same words."""
    whole = _verbs(build_parser())
    for verb, parser in whole.items():
        (alone,) = _verbs(build_parser(verb)).items()
        assert alone == (verb, alone[1])
        assert alone[1].format_help() == parser.format_help()


def _verbs(parser):
    return next(action.choices for action in parser._actions if action.choices)
