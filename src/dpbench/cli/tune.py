"""``dpbench tune``: learn free parameters on synthetic shapes (R_param)."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING, Any

from dpbench import __version__
from dpbench.cli.arguments import add_jobs, add_json, add_out, add_quiet, add_verb, seed, whole, write_json

if TYPE_CHECKING:
    from dpbench.cli.arguments import Subparsers
    from dpbench.run.tuning import Training

_ABOUT = """\
Learn the free parameters of an algorithm as functions of epsilon * scale and the domain, on synthetic power
laws and normals, never on a dataset of the evaluation. The result is a table that a person can read, with where
it came from. Training is a run like any other: it goes on where it was interrupted.
"""


def add_parser(subparsers: Subparsers) -> None:
    """Add ``tune``."""
    parser = add_verb(
        subparsers,
        "tune",
        "learn free parameters on synthetic shapes",
        _ABOUT,
        "dpbench tune MWEM --out mwem.json\n"
        "  dpbench tune mine.py:Mine --grid depth=2,4,8 --domain 1024 --out mine.json",
    )
    add = parser.add_argument
    add("algorithm", metavar="NAME|FILE.py:Class", help="whose parameters")
    add_out(parser, "FILE.json", "where the table goes")
    add("--grid", action="append", default=[], metavar="NAME=V,V,...", help="values to try (default: the algorithm's)")
    add("--domain", action="append", default=[], metavar="N|NxM", help="train here; repeatable (4096 and 128x128)")
    add("--dataset", action="append", default=[], help=argparse.SUPPRESS)
    add("--signal", type=float, nargs=2, default=(1.0, 8.0), metavar=("LOW", "HIGH"), help="log10(epsilon*scale) (1 8)")
    add("--samples", type=whole, default=3, metavar="N", help="data vectors for each shape and signal (3)")
    add("--trials", type=whole, default=10, metavar="N", help="runs on each (10)")
    add("--seed", type=seed, default=0, metavar="N", help="seed of the training (0)")
    add("--store", metavar="DIR", help="where the errors are kept (dpbench-store/tune-NAME)")
    add_jobs(parser)
    add("--dask", metavar="local|tcp://HOST:PORT", help="run on a dask cluster (extra: cluster)")
    add_quiet(parser)
    add_json(parser)
    parser.set_defaults(run=run_tune)


def run_tune(chosen: argparse.Namespace) -> int:
    """Train and write the table."""
    from pathlib import Path

    from dpbench.cli.running import fill
    from dpbench.run.tuning import TRAINING_SHAPES, Training, refuse_evaluation_data, signals
    from dpbench.store.disk import write_whole

    refuse_evaluation_data(chosen.dataset)
    training = Training.of(
        chosen.algorithm,
        grid=_grid(chosen.grid),
        domains=chosen.domain or ("4096", "128x128"),
        log10_products=signals(*chosen.signal),
        samples=chosen.samples,
        trials=chosen.trials,
        seed=chosen.seed,
    )
    store, _, _ = fill(training.plan(), chosen, training.shared_noise)
    shapes = sorted({name for domain in training.domains for name in TRAINING_SHAPES[domain.ndim]})
    provenance = {
        "seed": str(training.seed),
        "shapes": ", ".join(shapes),
        "samples": str(training.samples),
        "trials": str(training.trials),
        "grid": "; ".join(f"{name}: {values}" for name, values in (_grid(chosen.grid) or training.facts.free).items()),
        "code": training.facts.source,
        "version": __version__,
        "command": _command(training, chosen),
    }
    table = training.table(store, provenance)
    write_whole(Path(chosen.out), table.to_json().encode())
    if chosen.json:
        write_json({"file": chosen.out, "rows": len(table.rows), "store": str(store.folder)})
    else:
        sys.stdout.write(f"{len(table.rows)} rows written to {chosen.out}\n")
    return 0


def _command(training: Training, chosen: argparse.Namespace) -> str:
    """What to type to get the same table again, beside the file where the algorithm comes from one."""
    from pathlib import Path

    from dpbench.plugins import is_file_reference

    domains = " ".join(f"--domain {domain}" for domain in training.domains)
    grid = "".join(f" --grid {each}" for each in chosen.grid)
    low, high = chosen.signal
    named = Path(training.reference).name if is_file_reference(training.reference) else training.facts.name
    return (
        f"dpbench tune {named}{grid} {domains} --signal {low:g} {high:g} "
        f"--samples {training.samples} --trials {training.trials} --seed {training.seed}"
    )


def _grid(written: list[str]) -> dict[str, list[Any]] | None:
    """``name=1,2,4`` as values; numbers where they are numbers."""
    from dpbench.errors import InvalidTraining
    from dpbench.task.parts import number_or_text

    grid: dict[str, list[Any]] = {}
    for each in written:
        name, equals, values = each.partition("=")
        if not equals or not name or not values:
            raise InvalidTraining(f"--grid {each!r} names no values; write for example rounds=4,8,16")
        grid[name] = [number_or_text(value) for value in values.split(",")]
    return grid or None
