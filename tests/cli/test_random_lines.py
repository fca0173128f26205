"""1,000 random command lines: an exit code and at most one line of complaint, never a traceback.

Verbs that take long or a network are parsed and not run.
"""

import random

import pytest

from dpbench.cli import build_parser, main

ODD = [
    "",
    "0",
    "-1",
    "nan",
    "inf",
    "1e14",
    "1e400",
    "9" * 400,
    "x",
    "4x",
    "4x4",
    "10000000000000",
    "a\nb",
    "\ud800",
    "..",
    "/",
    "=",
    "é",
    "a" * 300,
]
FILES = ["notes.txt", "nosuch", "empty", "bad.toml", "own.npy", "plain.py:Mine", "nosuch.py:Mine", "ranges.csv"]
NAMES = [
    "demo",
    "Identity",
    "Hb",
    "MEDCOST",
    "uniform",
    "Prefix",
    "RandomRange(queries=5)",
    "RandomRange(queries=1e14)",
    "16",
    "8x8",
    "0.1",
    "1",
    "L1",
    "bash",
]
QUICK = [
    "list",
    "strategies",
    "report",
    "figures",
    "interpret",
    "principles",
    "store",
    "data",
    "completion",
    "run",
    "check",
    "tune",
    "repair",
    "paper",
]


def _parsers(parser, path=()):
    yield path, parser
    for action in parser._actions:
        if action.nargs == "A...":
            for name, below in action.choices.items():
                yield from _parsers(below, (*path, name))


LEAVES = [(path, parser) for path, parser in _parsers(build_parser()) if path and path[0] in QUICK]


def line(rng):
    """A verb with some of its options, each with a value that fits or not, and words that nobody asked for."""
    path, parser = rng.choice(LEAVES)
    words = list(path)
    options = [each for action in parser._actions for each in action.option_strings if each not in ("-h", "--help")]
    for option in rng.sample(options, min(len(options), rng.choice((0, 1, 1, 2, 3)))):
        words.append(option)
        if rng.random() < 0.8:
            words.append(rng.choice(rng.choice((ODD, FILES, NAMES))))
    words[len(path) : len(path)] = [
        rng.choice(rng.choice((ODD, FILES, NAMES))) for _ in range(rng.choice((0, 1, 1, 2)))
    ]
    if path[0] == "run":
        words += ["--dry-run"]
    if path[0] not in ("run", "list", "store", "completion", "principles"):  # these take long, or a network
        words += ["--no-such-option"]
    return words


@pytest.mark.parametrize("seed", range(10))
def test_random_command_lines_end_in_words(seed, tmp_path, monkeypatch, capsys):
    """100 of them at a time."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "notes.txt").write_text("hello")
    (tmp_path / "bad.toml").write_text("base = [")
    (tmp_path / "plain.py").write_text("mine = 1\n")
    (tmp_path / "own.npy").write_bytes(b"\x93NUMPY\x01\x00v\x00{'descr': ")
    (tmp_path / "ranges.csv").write_text("lower0,upper0\n0,5\n")
    (tmp_path / "empty").mkdir()
    rng = random.Random(seed)
    for _ in range(100):
        words = line(rng)
        try:
            code = main(words)
        except SystemExit as ended:
            code = ended.code
        caught = capsys.readouterr()
        assert code in (0, 1, 2, None), words
        if code == 2:
            assert caught.err.startswith("dpbench: "), words
            assert caught.err.count("\n") == 1, words
