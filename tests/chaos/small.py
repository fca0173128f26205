"""A small study for tests, as a plan in memory or in a file, and what its store exports."""

from pathlib import Path

from dpbench.run.plan import Plan
from dpbench.store import Store
from dpbench.store.transfer import export
from dpbench.task.task import RANGE_1D

ALGORITHMS = ("Identity", "Hb", "Uniform")
TOML = """\
base = "RANGE_1D"
datasets = ["bimodal", "power-law"]
algorithms = [{algorithms}]
domains = [64]
scales = [100, 1000]
samples = 2
trials = {trials}
"""


def study(algorithms=ALGORITHMS, **changes):
    """2 datasets, 2 scales, 2 samples, 3 trials on 64 cells: 8 units for each algorithm."""
    parts = {"datasets": ["bimodal", "power-law"], "domains": "64", "scales": [100, 1000], "samples": 2, "trials": 3}
    task = RANGE_1D.replace(name="small", algorithms=list(algorithms), **(parts | changes))
    return Plan(name="small", tasks=(task,))


def plan_file(folder: Path, algorithms=ALGORITHMS, trials=3, name="small.toml"):
    """The same study as a file."""
    path = folder / name
    path.write_text(TOML.format(algorithms=", ".join(f'"{each}"' for each in algorithms), trials=trials))
    return str(path)


def canonical(store, algorithms=None):
    """The canonical export of a store, of some algorithms only if asked."""
    store = store if isinstance(store, Store) else Store(store)
    path = store.folder / "canonical.csv"
    export(store, path, canonical=True)
    lines = path.read_text().splitlines()
    path.unlink()
    return [line for line in lines if algorithms is None or any(f",{name},private" in line for name in algorithms)]
