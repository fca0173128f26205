"""The steps of a release, in the one order in which they are safe."""

from __future__ import annotations

import os
import secrets
import shutil
import warnings
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from json import dumps
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpbench.algorithm import Algorithm, Outcome
from dpbench.errors import AlgorithmFailed, DPBenchError, InvalidTable, ReleaseFailed, ReleaseRefused
from dpbench.mathematics.postprocess import apply_steps
from dpbench.privacy import ZCDP, Notion, PureDP
from dpbench.privacy.exact_channel import Exact, NoDraws
from dpbench.privacy.opendp_noise import OpenDPNoise
from dpbench.releasable import STEPS
from dpbench.release.algorithms import chosen
from dpbench.release.budget_file import Cost, affordable, charge
from dpbench.release.certificate import certificate
from dpbench.release.picture import png, svg
from dpbench.release.statement import LEVEL, Intervals, Statement, intervals, named_ranges, state, usual_workload
from dpbench.release.writing import as_table, csv_bytes, parquet_bytes, wide_csv
from dpbench.store.disk import sync_folder
from dpbench.tables import Spec, from_counts, histogram, read_spec
from dpbench.tables.cluster import connected, histogram_on_cluster
from dpbench.tables.counting import capped
from dpbench.tables.sources import batches, insist_on_a_table
from dpbench.workloads import Workload

Ints = NDArray[np.int64]

NEEDED = ("dataset", "epsilon", "algorithm", "budget", "out")
MOST_OUTPUTS = 10_000
"""Releases of one name."""
FAILED = "the release failed after its charge, which stays; why is not said, since that may follow from the rows"
STAYS = "the charge was made before the table was opened, and stays"


@dataclass(frozen=True)
class Released:
    """Where a release is, what it cost, and what is left."""

    folder: Path
    cost: Cost
    left: Cost
    words: str

    def __str__(self) -> str:
        return f"released {self.words} to {self.folder}; it cost {self.cost}; {self.left} is left"


@dataclass(frozen=True)
class Plan:
    """All that is known before anything is charged."""

    spec: Spec
    algorithm: Algorithm
    workload: Workload
    notion: Notion
    """What is paid for each record."""
    cost: Cost
    statement: Statement
    out: Path
    budget: Path
    dataset: str

    @property
    def words(self) -> str:
        """What is released, in a few words."""
        return f"{self.spec.domain} cells of {self.dataset!r} by {self.algorithm.name}"


def publish(
    spec: str | PathLike[str] | Mapping[str, Any], table: object = None, *, dask: str | None = None
) -> Released:
    """Release one histogram; ``table`` is a frame in place of the file that the spec names.

    With ``dask``, the address of a cluster, its workers count the files of the table; noise is drawn here.

    Raises :class:`ReleaseRefused` (or another error of the spec) before anything is charged or read, and
    :class:`ReleaseFailed` afterwards, when the charge stays.
    """
    plan = prepared(read_spec(spec), table, dask)
    cluster = None if dask is None else connected(dask)
    staging, identity = _folder_for(plan.out), secrets.token_hex(8)
    try:
        left = charge(
            plan.budget,
            plan.dataset,
            plan.cost,
            identity,
            plan.algorithm.name,
            plan.spec.out.name if plan.spec.out else "",
        )
    except BaseException:
        shutil.rmtree(staging, ignore_errors=True)
        if cluster is not None:
            cluster.close()
        raise
    # from here on the charge is on the disk, and only now is the table opened
    folder, failure = None, ""
    try:
        folder = _put(_files(plan, table, identity, cluster), staging, plan.out)
    except InvalidTable as error:  # names and kinds of columns, or a file that cannot be read: never a row
        failure = f"{error}; {STAYS}"
    except Exception:  # whatever it says may follow from a row
        failure = FAILED
    except BaseException:  # interrupted: the charge stays all the same
        shutil.rmtree(staging, ignore_errors=True)
        raise
    finally:
        if cluster is not None:
            cluster.close()
    if folder is None:
        shutil.rmtree(staging, ignore_errors=True)
        raise ReleaseFailed(failure)
    return Released(folder, plan.cost, left, plan.words)


def check(spec: str | PathLike[str] | Mapping[str, Any], table: object = None) -> Plan:
    """All that a release does before its charge, and a look at the names and kinds of columns; nothing is spent.

    The header of a table counts as public here. Rows are not looked at.
    """
    plan = prepared(read_spec(spec), table)
    affordable(plan.budget, plan.dataset, plan.cost)
    source = plan.spec.table if table is None else table
    if source is not None:
        batches(source, plan.spec.axes)
    return plan


def prepared(spec: Spec, table: object = None, dask: str | None = None) -> Plan:
    """Read everything but the table: algorithm, budget, what is paid for a record, the statement; and rehearse."""
    for key in NEEDED:
        if getattr(spec, key) is None:
            raise spec.wrong(key, f"a release needs the key {key}; add it to the spec")
    if table is None and spec.table is None and spec.counts is None:
        raise spec.wrong("table", 'a release needs a table; add table = "FILE" (or counts = "FILE") to the spec')
    _insist_on_a_source((spec.table or spec.counts) if table is None else table)
    if dask is not None and (table is not None or spec.table is None):
        raise ReleaseRefused("a cluster counts the files of a table, and the spec names none; leave --dask out")
    assert spec.epsilon is not None and spec.algorithm is not None  # noqa: S101, PT018  # for the type checker
    assert spec.out is not None and spec.budget is not None and spec.dataset is not None  # noqa: S101, PT018
    algorithm, advice = chosen(spec)
    cost = Cost(spec.epsilon, spec.delta or Fraction(0))
    affordable(spec.budget, spec.dataset, cost)
    notion = paid_per_record(cost, spec.records_per_person)
    if notion.name not in algorithm.notions:
        raise ReleaseRefused(f"{algorithm.name} has no {notion.name} differential privacy; leave delta out of the spec")
    workload, words = usual_workload(spec.domain)
    algorithm._check_domain(spec.domain.afford(), workload)
    try:
        nobody = np.zeros(spec.domain.shape, dtype=np.int64)
        draw(algorithm, nobody, workload, notion, channel=_channel_of(spec))
    except AlgorithmFailed:
        raise ReleaseRefused(
            f"{algorithm.name} fails on an empty table of {spec.domain} cells at {cost}, where noise is too large for "
            f"whole numbers of 62 bits; nothing was charged; take a larger epsilon, or fewer cells"
        ) from None
    statement = state(algorithm, workload, words, notion, advice)
    return Plan(spec, algorithm, workload, notion, cost, statement, spec.out, spec.budget, spec.dataset)


def _insist_on_a_source(source: object) -> None:
    """Refuse what is no table by its name or type alone: nothing is opened, and a slip costs no charge."""
    try:
        insist_on_a_table(source)
    except InvalidTable as error:
        raise ReleaseRefused(f"{error}; nothing was charged") from None


def paid_per_record(cost: Cost, records: int) -> Notion:
    """What each record may cost so that a person with so many costs what was said.

    Losses of pure differential privacy add up; those of zCDP grow with the square of the number of records. Discrete
    Gaussian noise is accounted for by rho: the exact formula for one measurement is for noise from the real line.
    """
    if not cost.delta:
        return PureDP(cost.epsilon / records)
    return ZCDP(ZCDP.within(cost.epsilon, cost.delta).rho / records**2)


def exact_channel() -> Exact:
    """The channel of one release, with the operating system's randomness."""
    return Exact()


def _channel_of(spec: Spec) -> Exact:
    """The channel that a spec asks for."""
    return Exact(OpenDPNoise()) if spec.sampler == "opendp" else exact_channel()


def draw(
    algorithm: Algorithm,
    counts: Ints,
    workload: Workload,
    notion: Notion,
    *,
    channel: Exact | None = None,
    noise: NoDraws | None = None,
) -> Outcome:
    """One run of an algorithm by exact draws alone; the black box gives a channel of many."""
    budget: dict[str, Any] = {"epsilon": notion.amount} if isinstance(notion, PureDP) else {"rho": notion.amount}
    budget |= {"noise": noise or NoDraws(), "channel": channel or exact_channel()}
    return algorithm._outcome(counts, workload, trials=1 if noise is None else noise.trials, **budget)


def processed(outcome: Outcome) -> Ints:
    """Whole, non-negative, consistent numbers out of estimates, ``(trials, *domain)``."""
    return np.asarray(apply_steps(outcome.estimate, STEPS)).astype(np.int64)


def released_counts(outcome: Outcome) -> Ints:
    """The numbers that are published, ``(*domain)``."""
    return np.asarray(processed(outcome)[0])


def _files(plan: Plan, table: object, identity: str, cluster: Any) -> dict[str, bytes]:
    """The table read, the noise drawn, and everything that leaves, by name."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")  # a warning would say something of the rows
        counts = _counts(plan.spec, table, cluster)
        outcome = draw(plan.algorithm, counts, plan.workload, plan.notion, channel=_channel_of(plan.spec))
        del counts
        return _output(plan, outcome, identity)


def _counts(spec: Spec, table: object, cluster: Any) -> Ints:
    """What the spec says, counted; with no tally, and no more per cell than sums stay exact for."""
    if table is None and spec.counts is not None:
        return capped(from_counts(spec.counts, spec.axes))
    if table is None and spec.table is not None and cluster is not None:
        return capped(histogram_on_cluster(spec.table, spec.axes, cluster).counts)
    return capped(histogram(spec.table if table is None else table, spec.axes).counts)


def _output(plan: Plan, outcome: Outcome, identity: str) -> dict[str, bytes]:
    """Files made from the outcome and from public things alone."""
    spec = plan.spec
    counts = released_counts(outcome)
    cells = as_table(spec.axes, counts)
    files = {"histogram.csv": csv_bytes(cells), "histogram.parquet": parquet_bytes(cells)}
    if counts.ndim == 2:
        files["histogram-wide.csv"] = wide_csv(spec.axes, counts)
    title = f"{plan.dataset}: {' by '.join(axis.name for axis in spec.axes)} ({plan.cost})"
    files["picture.svg"], files["picture.png"] = svg(spec.axes, counts, title), png(counts)
    names, ranges = named_ranges(spec.domain, spec.ranges)
    answers = ranges.answer(counts[np.newaxis])[0].astype(np.int64)
    bars = intervals(outcome, ranges)
    if spec.ranges:
        files["answers.csv"] = _answers(names, answers, bars)
    error = {**plan.statement.as_json(), "intervals": _intervals(names, bars)}
    files["error.json"] = (dumps(error, indent=1) + "\n").encode()
    files["error.txt"] = "\n".join([str(plan.statement), *_interval_lines(names, answers, bars), ""]).encode()
    made = certificate(spec, plan.algorithm, outcome.ledger, plan.cost, identity, files)
    return {**files, "certificate.json": (dumps(made, indent=1) + "\n").encode()}


def _answers(names: list[str], answers: Ints, bars: Intervals | None) -> bytes:
    import pyarrow as pa

    columns: dict[str, Any] = {"range": names, "answer": answers}
    nothing = pa.nulls(len(names), pa.int64())
    columns["low"], columns["high"] = (nothing, nothing) if bars is None else (bars.ends[:, 0], bars.ends[:, 1])
    columns["guaranteed"] = (
        pa.nulls(len(names)) if bars is None else ["yes" if each else "no" for each in bars.guaranteed]
    )
    return csv_bytes(pa.table(columns))


def _intervals(names: list[str], bars: Intervals | None) -> dict[str, Any] | None:
    if bars is None:
        return None
    listed = zip(names, bars.ends.tolist(), bars.guaranteed.tolist(), strict=True)
    return {
        "level": LEVEL,
        "ranges": {name: {"low": low, "high": high, "guaranteed": sure} for name, (low, high), sure in listed},
    }


def _interval_lines(names: list[str], answers: Ints, bars: Intervals | None) -> list[str]:
    if bars is None:
        return ["The algorithm has no intervals for its answers."]
    return [f"{name}: {answers[number]:,}; {bars.words(number)}" for number, name in enumerate(names)]


def _folder_for(out: Path) -> Path:
    """A new folder beside the output, which shows before the charge that one can be written."""
    staging = out.with_name(f".{out.name}.{secrets.token_hex(6)}.unfinished")
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        staging.mkdir()
        (staging / "written").write_bytes(b"")
        (staging / "written").unlink()
    except OSError as error:
        with suppress(OSError):
            shutil.rmtree(staging)
        raise ReleaseRefused(
            f"the folder {out} cannot be written ({error.strerror}); nothing was charged; choose another"
        ) from None
    return staging


def _put(files: dict[str, bytes], staging: Path, out: Path) -> Path:
    """Write every file, push it to the disk, and give the folder its name: OUT, or OUT-2, ... where that is taken."""
    for name, content in files.items():
        with (staging / name).open("wb") as stream:
            stream.write(content)
            stream.flush()
            os.fsync(stream.fileno())
    sync_folder(staging)
    for number in range(1, MOST_OUTPUTS):
        folder = out if number == 1 else out.with_name(f"{out.name}-{number}")
        with suppress(OSError):
            staging.rename(folder)
            sync_folder(folder.parent)
            return folder
    raise DPBenchError("no name is left for the output")
