"""Ledgers that would take for ever to add up: from a store, and from a plug-in.

Some went on for hours before they were refused, so they are read in processes that have a minute.
"""

import json
import subprocess
import sys

import pytest

from dpbench.results import Results
from dpbench.store import Store
from dpbench.store.schema import LONGEST_LEDGER, MOST_CHARGES
from store.rows import make

GOOD = {"kind": "laplace", "why": "cells", "amount": "1/10", "times": 1}
HOSTILE = {
    "a power of ten": {"epsilon": "1/10", "charges": [{**GOOD, "amount": "1e-999999999"}]},
    "a budget of such": {"epsilon": "1e999999999", "charges": [GOOD]},
    "thousands of digits": {
        "epsilon": "1/10",
        "charges": [{**GOOD, "amount": f"1/{9 * 10**4200 + odd}"} for odd in range(99)],
    },
    "sums with a million digits": {
        "epsilon": "1/10",
        "charges": [{**GOOD, "amount": f"1/{10**3900 + odd}"} for odd in range(1, 1401, 2)],
    },
    "too many charges": {
        "epsilon": "1/10",
        "charges": [{**GOOD, "amount": f"1/{10 * MOST_CHARGES + 10}"}] * (MOST_CHARGES + 1),
    },
    "too long": {"epsilon": "1/10", "charges": [{**GOOD, "why": "x" * LONGEST_LEDGER}]},
    "no number of times": {"epsilon": "1/10", "charges": [{**GOOD, "times": 1.0}]},
    "a denominator of 0": {"epsilon": "1/10", "charges": [{**GOOD, "amount": "1/0"}]},
    "no list": {"epsilon": "1/10", "charges": {"amount": 1}},
    "too deep": "[" * 10**5,
}
READ = "import sys; from dpbench.results import Results; print(Results.open(sys.argv[1]).columns['accounted'].tolist())"
MINE = """
from dataclasses import dataclass
from pathlib import Path
import dpbench as dpb
import dpbench.run.bench
from dpbench.mathematics.cells import Cells


@dataclass(frozen=True, kw_only=True)
class Mine(dpb.Algorithm):
    name = "Mine"

    def estimate(self, data, workload):
        dpbench.run.bench.ledger_json = lambda _: Path({path!r}).read_text()
        return data.laplace(Cells(data.domain), data.epsilon, "cells")
"""
RUN = "run demo --epsilon 0.1 --domain 64 --scale 1000 --dataset bimodal --samples 1 --trials 2 --jobs 0 --quiet"


def text(ledger):
    return ledger if isinstance(ledger, str) else json.dumps(ledger)


def test_a_store_with_such_ledgers_is_read(tmp_path):
    """They count as not accounted, each, and the others as before."""
    store = Store(tmp_path / "store", create=True)
    ledgers = [text({"epsilon": "1/10", "charges": [GOOD]}), *map(text, HOSTILE.values())]
    rows = [make(algorithm=f"A{number:02d}", ledger=ledger) for number, ledger in enumerate(ledgers)]
    store.append([row for row in rows if row.ledger != HOSTILE["too deep"]], "run")
    done = subprocess.run(
        [sys.executable, "-c", READ, str(store.folder)], capture_output=True, text=True, timeout=60, check=True
    )
    assert json.loads(done.stdout.lower()) == [True] + [False] * (len(HOSTILE) - 1)
    assert not Results._from_rows(rows[-1:])[0].accounted


@pytest.mark.parametrize(
    ("ledger", "cause"),
    [
        ("a power of ten", "an amount that is no fraction"),
        ("sums with a million digits", "amounts whose sum has thousands of digits"),
        ("too many charges", f"more than {MOST_CHARGES} charges"),
    ],
)
def test_an_algorithm_that_sends_one_has_failed(ledger, cause, tmp_path):
    """Its unit is recorded with the cause, long before the time that a unit may take."""
    (tmp_path / "ledger.json").write_text(text(HOSTILE[ledger]))
    (tmp_path / "mine.py").write_text(MINE.format(path=str(tmp_path / "ledger.json")))
    command = [sys.executable, "-m", "dpbench.cli", *RUN.split(), "--store", "store", "--algorithm", "mine.py:Mine"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, timeout=60, check=False)
    assert done.returncode == 1, done.stderr
    (row,) = Store(tmp_path / "store").rows()
    assert row.failure.startswith(f"its ledger has {cause}")
