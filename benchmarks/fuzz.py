"""Malformed plans and CSV files: ``python -m benchmarks.fuzz [NUMBER] [SEED]``.

Each case is a good plan, histogram or list of ranges with something broken in it. A refusal must be one line that
names the file and the reason; a traceback, a hang or a wordless refusal ends the command with exit code 1. A case that
turns out to be still valid is run as far as --dry-run goes, and does not count.
"""

from __future__ import annotations

import contextlib
import io
import random
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType

from dpbench.cli import main as dpbench

SECONDS = 20
"""A case that takes longer hangs."""

PLAN = """\
name = "fuzzed"
base = "RANGE_1D"
datasets = ["bimodal", "own.csv"]
algorithms = ["Identity", {name = "Hb", variant = "published"}]
loss = "L2"

[generator]
domains = ["64", 32]
scales = [1000, 1e5]
epsilons = [0.1]
samples = 2
seed = 0

[measuring]
trials = 3

[repair]
side_information = "estimated"
rho_total = 0.05

[[workloads]]
name = "Prefix"

[[workloads]]
name = "Ranges"
file = "ranges.csv"
"""
HISTOGRAM = "".join(f"{(7 * cell) % 11}\n" for cell in range(64))
RANGES = "lower0,upper0,weight\n" + "".join(f"{low},{low + 3},1\n" for low in range(0, 24, 3))
VALUES = (
    "-1", "0", "1e400", "nan", "-inf", "true", '""', "[]", "{}", "[[]]", "[1, 1]", "1979-05-27", "'x'", "9" * 21,
    "[0.1, 'a']", '"../../etc"', '"\\u0000"', '"\\ud800"', "{name = 1}", "[{}]", "07:32:00", "0x", "1_000_", '"128x"',
    "'64x64'", '"99999999999x99999999999"', "1e300", "-0.0", '"ÄÖ☃"', "[" * 40 + "]" * 40, '"own.npy"', '"nowhere.csv"',
    '"broken.py:Mine"', '["Identity", "Identity"]', '{name = "Hb", rot = 1}', '{name = "Hb", variant = "puplished"}',
    '"IDENTIDY"', '"MEDCOSTS"', "10000000000000", "[1000, -5]", '[{name = "RandomRange", queries = 0}]', '"a.csv"',
)  # fmt: skip
CELLS = (
    "x",
    "-1",
    "nan",
    "inf",
    "1.5",
    "",
    "1e400",
    "1,2",
    ";",
    "\x00",
    "ÿ",
    "1e30",
    "0x10",
    '"3"',
    "--",
    "\u0661",
    " ",
    "9" * 400,
)


def mutated_plan(rng: random.Random) -> bytes:
    """A plan with one to three things wrong."""
    lines = PLAN.splitlines()
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        kind = rng.randrange(7)
        number = rng.randrange(len(lines))
        key, equals, _ = lines[number].partition("=")
        if kind <= 1 and equals:
            lines[number] = f"{key}= {rng.choice(VALUES)}"
        elif kind == 2 and equals:
            lines[number] = _typo(key.rstrip(), rng) + " " + lines[number][len(key.rstrip()) :].lstrip()
        elif kind == 3:
            lines.insert(number, f"{_typo(rng.choice(('samples', 'trials', 'domains', 'foo', 'alpha')), rng)} = 3")
        elif kind == 4:
            lines[number] = _typo(lines[number], rng)
        elif kind == 5:
            lines.insert(number, lines[rng.randrange(len(lines))])
        else:
            del lines[number]
        lines = lines or [""]
    return _mangled("\n".join(lines).encode("utf-8", "surrogateescape"), rng)


def mutated_table(good: str) -> Callable[[random.Random], bytes]:
    """The same for a CSV file."""

    def mutate(rng: random.Random) -> bytes:
        lines = good.splitlines()
        for _ in range(rng.choice((1, 1, 2))):
            number = rng.randrange(len(lines))
            kind = rng.randrange(5)
            if kind <= 1:
                cells = lines[number].split(",")
                cells[rng.randrange(len(cells))] = rng.choice(CELLS)
                lines[number] = ",".join(cells)
            elif kind == 2:
                lines[number] = _typo(lines[number], rng)
            elif kind == 3:
                lines[number] += "," + rng.choice(CELLS)
            else:
                lines = lines[: rng.randrange(len(lines))] or [""]
        return _mangled("\n".join(lines).encode(), rng)

    return mutate


def _typo(text: str, rng: random.Random) -> str:
    place = rng.randrange(len(text) + 1)
    return (
        text[:place] + rng.choice(("", "x", "=", "[", '"', "é", " ", "#", "\t", "}")) + text[place + rng.randrange(3) :]
    )


def _mangled(content: bytes, rng: random.Random) -> bytes:
    """Now and then damage that knows nothing of lines."""
    kind = rng.randrange(20)
    if kind == 0:
        return content[: rng.randrange(len(content) + 1)]
    if kind == 1:
        return rng.randbytes(rng.randrange(200))
    if kind == 2:
        return b"a = " + b"[" * 5000
    if kind == 3:
        place = rng.randrange(len(content) + 1)
        return content[:place] + rng.randbytes(3) + content[place:]
    return content


CASES = {"plan.toml": mutated_plan, "own.csv": mutated_table(HISTOGRAM), "ranges.csv": mutated_table(RANGES)}


def cases(rng: random.Random, folder: Path) -> Iterator[str]:
    """Write one broken set of files after the other into a folder; the name of the broken file."""
    while True:
        for name, good in (("plan.toml", PLAN), ("own.csv", HISTOGRAM), ("ranges.csv", RANGES)):
            (folder / name).write_text(good)
        broken = rng.choice(("plan.toml", "plan.toml", "own.csv", "ranges.csv"))
        (folder / broken).write_bytes(CASES[broken](rng))
        yield broken


class Hang(BaseException):
    """A case that took too long; not an Exception, so that nobody catches it on the way."""


def _alarm(number: int, frame: FrameType | None) -> None:  # noqa: ARG001  (as signal calls it)
    raise Hang


def examine(folder: Path, broken: str) -> tuple[str, str]:
    """Run one case: "refused", "valid" or a fault, and what was said."""
    said, told = io.StringIO(), io.StringIO()
    signal.signal(signal.SIGALRM, _alarm)
    signal.alarm(SECONDS)
    try:
        with contextlib.redirect_stderr(said), contextlib.redirect_stdout(told):
            code = dpbench(["run", str(folder / "plan.toml"), "--dry-run", "--store", str(folder / "store")])
    except Hang:
        return "hang", broken
    except BaseException as error:
        return "traceback", f"{broken}: {type(error).__name__}: {error}"
    finally:
        signal.alarm(0)
    text = said.getvalue()
    if code == 0:
        return "valid", text
    one_line = text.startswith("dpbench: ") and text.count("\n") == 1 and text.endswith("\n")
    names = str(folder) in text
    return ("refused" if code == 2 and one_line and names else "bad refusal"), text


def fuzz(number: int, seed: int, folder: Path) -> tuple[Counter[str], list[str]]:
    """Examine cases until ``number`` were refused; the counts and what is wrong."""
    rng = random.Random(seed)
    found: Counter[str] = Counter()
    wrong: list[str] = []
    reasons: set[str] = set()
    for broken in cases(rng, folder):
        verdict, text = examine(folder, broken)
        found[verdict] += 1
        reasons.add(text.replace(str(folder), "")[:60])
        if verdict not in {"refused", "valid"}:
            kept = Path(tempfile.gettempdir()) / f"dpbench-fuzz-{len(wrong)}-{broken}"
            kept.write_bytes((folder / broken).read_bytes())
            wrong.append(f"{verdict}: {text.strip()} (see {kept})")
        if found["refused"] + len(wrong) >= number:
            break
    found["different reasons"] = len(reasons)
    return found, wrong


def main(arguments: list[str]) -> int:
    """Fuzz, print what was found."""
    number, seed = (int(text) for text in (arguments + ["2000", "0"][len(arguments) :]))
    begin = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="dpbench-fuzz-") as name:
        found, wrong = fuzz(number, seed, Path(name))
    for line in wrong[:20]:
        print(line)
    counts = ", ".join(f"{count} {what}" for what, count in sorted(found.items()))
    print(f"{'FAILED' if wrong else 'passed'}: {counts}, in {time.monotonic() - begin:.0f} s")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
