"""``python -m benchmarks.big_page``: how long a page of 200 algorithms and 100 datasets takes to open in a browser.

Needs Chromium and Playwright (``requirements-browser.lock``). The shipped study is repeated under other names.
"""

from __future__ import annotations

import argparse
import shutil
import tempfile
import time
from dataclasses import replace
from pathlib import Path

import numpy as np

from dpbench.page import page
from dpbench.paper.study import shipped_file
from dpbench.results import Results


def tiled(algorithms: int, datasets: int) -> Results:
    """Settings of the study on 4,096 cells, repeated until there are so many algorithms and datasets."""
    study = Results.open(shipped_file("private")).where(domain="4096")
    known = {name: np.unique(study.columns[name]) for name in ("algorithm", "dataset", "scale")}
    at = {
        key: row
        for row, key in enumerate(
            zip(*(study.columns[name].tolist() for name in ("algorithm", "dataset", "scale")), strict=True)
        )
    }
    wanted = [
        (who, where, scale)
        for who in range(algorithms)
        for where in range(datasets)
        for scale in known["scale"].tolist()
    ]
    rows = [
        at[
            known["algorithm"][who % len(known["algorithm"])],
            known["dataset"][where % len(known["dataset"])],
            scale,
        ]
        for who, where, scale in wanted
    ]
    results = study.take(np.array(rows))
    names = {
        "algorithm": np.array([f"Algorithm {who}" for who, _, _ in wanted], dtype=object),
        "dataset": np.array([f"Dataset {where}" for _, where, _ in wanted], dtype=object),
    }
    return replace(results, columns={**results.columns, **names})


def seconds_to_open(path: Path, times: int = 3) -> list[float]:
    """Wall seconds until the page says that it is drawn."""
    from playwright.sync_api import sync_playwright

    found = []
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        for _ in range(times):
            window = browser.new_page()
            start = time.perf_counter()
            window.goto(path.resolve().as_uri())
            window.wait_for_function("document.body.dataset.ready === 'yes'", timeout=120_000)
            found.append(time.perf_counter() - start)
            window.close()
        browser.close()
    return found


def main() -> None:
    """Make the page, open it three times, and print the seconds."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--algorithms", type=int, default=200)
    parser.add_argument("--datasets", type=int, default=100)
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        results = tiled(chosen.algorithms, chosen.datasets)
        path = page(results, folder, title="A large study")
        opened = ", ".join(f"{seconds:.2f}" for seconds in seconds_to_open(path))
        print(f"{len(results):,} settings, {path.stat().st_size / 1e6:.1f} MB: opened in {opened} s")


if __name__ == "__main__":
    main()
