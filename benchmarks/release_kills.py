"""Kill -9 of releases at random moments: ``python -m benchmarks.release_kills [KILLS] [SEED]``.

One budget file serves all of them, and every release writes to the same name. After each kill: no output without a
charge, no two outputs for one charge, no charge that is gone. Exit code 1 otherwise.
"""

from __future__ import annotations

import json
import random
import subprocess
import sys
import tempfile
import time
import tomllib
from collections import Counter
from pathlib import Path

SPEC = """\
dataset = "people"
table = "people.csv"
epsilon = "1/1000"
algorithm = "Hb"
budget = "budget.toml"
out = "out"
[columns.age]
low = 0
high = 64
bins = 64
"""


def main(kills: int = 100, seed: int = 0) -> int:
    rng = random.Random(seed)
    ends: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "people.csv").write_text("age\n" + "\n".join(str(row % 70) for row in range(200_000)) + "\n")
        (folder / "spec.toml").write_text(SPEC)
        (folder / "budget.toml").write_text('dataset = "people"\nepsilon = "1"\n')
        start = time.perf_counter()
        _released(folder).wait()
        whole = time.perf_counter() - start
        charged = _charges(folder)
        for _ in range(kills):
            process = _released(folder)
            # most of the time a release only loads; the steps that matter come at its end
            moment = whole * (rng.uniform(0.0, 1.1) if rng.random() < 0.3 else rng.uniform(0.6, 1.1))
            try:
                process.wait(moment)
                ends["finished first"] += 1
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
                now, outputs = _charges(folder), _outputs(folder)
                made = len(now) - len(charged)
                written = len([each for each in outputs if each in now[len(charged) :]])
                ends[f"{'charged' if made else 'nothing charged'}, {'an output' if written else 'no output'}"] += 1
            now, outputs = _charges(folder), _outputs(folder)
            if now[: len(charged)] != charged or len(now) > len(charged) + 1:
                print("a charge is gone, or there are too many")
                return 1
            if len(set(outputs)) != len(outputs) or not set(outputs) <= set(now):
                print("an output without a charge, or two for one")
                return 1
            if len(list(folder.rglob("histogram.csv"))) > len(now):
                print("more histograms than charges")
                return 1
            charged = now
        finished = len(list(folder.glob("out*/certificate.json")))
    print(f"{kills} releases, killed at random moments of {whole:.1f} s: {dict(ends)}")
    print(f"{len(charged)} charges, {finished} outputs, none without a charge, no two for one, no charge gone")
    return 0


def _released(folder: Path) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "dpbench", "release", "spec.toml"]
    return subprocess.Popen(command, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)  # noqa: S603


def _charges(folder: Path) -> list[str]:
    return [each["id"] for each in tomllib.loads((folder / "budget.toml").read_text()).get("charge", [])]


def _outputs(folder: Path) -> list[str]:
    """The charges of all outputs, under any name."""
    found = []
    for path in folder.rglob("certificate.json"):
        text = path.read_text()
        if text.endswith("}\n"):  # else it was killed while it wrote this
            found.append(json.loads(text)["charge"])
    return found


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:])))
