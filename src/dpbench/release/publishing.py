"""The steps of a release, in the one order in which they are safe."""

from __future__ import annotations

import secrets
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction
from json import dumps
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dpbench.algorithm import Algorithm, Outcome
from dpbench.errors import AlgorithmFailed, InvalidTable, ReleaseFailed, ReleaseRefused
from dpbench.given import of_kind
from dpbench.mathematics.postprocess import apply_steps
from dpbench.privacy import ZCDP, Notion, PureDP
from dpbench.privacy.exact_channel import Exact, NoDraws
from dpbench.privacy.opendp_noise import OpenDPNoise
from dpbench.progress import StepProgress
from dpbench.releasable import STEPS
from dpbench.release.algorithms import chosen
from dpbench.release.budget_file import Cost, affordable, charge
from dpbench.release.certificate import certificate
from dpbench.release.folder import put as _put
from dpbench.release.folder import unfinished
from dpbench.release.picture import png, svg, title
from dpbench.release.size import Size, insist_on_memory, size_of
from dpbench.release.statement import Answers, Statement, as_budget, error_text, state, usual_workload
from dpbench.release.writing import csv_bytes, parquet_bytes, pieces, wide_csv
from dpbench.store.disk import sync_folder
from dpbench.tables import Spec, from_counts, histogram, read_spec
from dpbench.tables.cluster import connected, histogram_on_cluster
from dpbench.tables.counting import capped
from dpbench.tables.counting import histogram as count_rows
from dpbench.tables.sources import columns_of_counts, insist_on_a_table, look_at_header
from dpbench.workloads import Workload

Ints = NDArray[np.int64]

NEEDED = ("dataset", "epsilon", "algorithm", "budget", "out")
STEPS_SHOWN = 7
"""Of a release that takes long."""
FACTOR = 3
"""Between the published total and the number of rows that the spec guesses, from which on there is a warning."""
FAILED = "the release failed after its charge, which stays; why is not said, since that may follow from the rows"
STAYS = "the charge was made before any row was read, and stays"
INTERRUPTED = "the release was interrupted after its charge, which stays"


@dataclass(frozen=True)
class Released:
    """Where a release is, what it cost, and what is left."""

    folder: Path
    cost: Cost
    left: Cost
    words: str
    warnings: tuple[str, ...] = ()
    """What seems odd about the published numbers, or about the disk that they are on."""

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
    size: Size
    """Time and memory that the release will take, about."""

    @property
    def words(self) -> str:
        """What is released, in a few words."""
        return f"{self.spec.domain} cells of {self.dataset!r} by {self.algorithm.name}"


def publish(
    spec: str | PathLike[str] | Mapping[str, Any],
    table: object = None,
    *,
    dask: str | None = None,
    quiet: bool = True,
) -> Released:
    """Release one histogram; ``table`` is a frame in place of the file that the spec names.

    With ``dask``, the address of a cluster, its workers count the files of the table; noise is drawn here. Unless
    ``quiet``, stderr shows the steps of a release that will take long.

    Raises :class:`ReleaseRefused` (or another error of the spec) before anything is charged and any row is read, and
    :class:`ReleaseFailed` afterwards, when the charge stays.
    """
    with StepProgress(STEPS_SHOWN, quiet=of_kind(quiet, bool, "quiet", "True")) as begins:
        plan = prepared(read_spec(spec), table, dask, begins)
        with _cluster(dask) as cluster, unfinished(plan.out) as staging:
            identity = secrets.token_hex(8)
            named = plan.spec.out.name if plan.spec.out else ""
            left = charge(plan.budget, plan.dataset, plan.cost, identity, plan.algorithm.name, named)
            # from here on the charge is on the disk, and only now are rows read
            try:
                found = _after_the_charge(plan, table, identity, cluster, staging, begins)
            except KeyboardInterrupt:
                found = None
            if found is None:
                raise KeyboardInterrupt(INTERRUPTED)
    if isinstance(found, str):
        raise ReleaseFailed(found)
    return Released(found.folder, plan.cost, left, plan.words, (*_doubts(plan.spec, found.total), *found.warnings))


def check(spec: str | PathLike[str] | Mapping[str, Any], table: object = None, *, quiet: bool = True) -> Plan:
    """All that a release does before its charge; nothing is spent.

    The header of a table counts as public here. Rows are not looked at.
    """
    with StepProgress(STEPS_SHOWN, quiet=of_kind(quiet, bool, "quiet", "True")) as begins:
        return prepared(read_spec(spec), table, None, begins)


def prepared(spec: Spec, table: object, dask: str | None, begins: StepProgress) -> Plan:
    """Read everything but rows: header, algorithm, budget, what is paid for a record, the statement; and rehearse."""
    for key in NEEDED:
        if getattr(spec, key) is None:
            raise spec.wrong(key, f"a release needs the key {key}; add it to the spec")
    if table is None and spec.table is None and spec.counts is None:
        raise spec.wrong("table", 'a release needs a table; add table = "FILE" (or counts = "FILE") to the spec')
    _insist_on_a_source(spec, table)
    if dask is not None and (table is not None or spec.table is None):
        raise ReleaseRefused("a cluster counts the files of a table, and the spec names none; leave --dask out")
    assert spec.epsilon is not None and spec.algorithm is not None  # noqa: S101, PT018  # for the type checker
    assert spec.out is not None and spec.budget is not None and spec.dataset is not None  # noqa: S101, PT018
    size = size_of(spec.domain, spec.algorithm)
    insist_on_memory(size)
    begins.expect(size.seconds, f"a release of {spec.domain} cells takes {size}, besides the reading of the table")
    begins("choosing the algorithm")
    algorithm, advice = chosen(spec)
    cost = Cost(spec.epsilon, spec.delta or Fraction(0))
    affordable(spec.budget, spec.dataset, cost)
    notion = paid_per_record(cost, spec.records_per_person)
    if notion.name not in algorithm.notions:
        raise ReleaseRefused(f"{algorithm.name} has no {notion.name} differential privacy; leave delta out of the spec")
    workload, words = usual_workload(spec.domain)
    algorithm._check_domain(spec.domain.afford(), workload)
    begins("rehearsing on an empty table")
    empty = count_rows({axis.name: [] for axis in spec.axes}, spec.axes).counts
    try:
        draw(algorithm, empty, workload, notion, channel=_channel_of(spec))
    except AlgorithmFailed:
        raise ReleaseRefused(
            f"{algorithm.name} fails on an empty table of {spec.domain} cells at {cost}, where noise is too large for "
            f"whole numbers of 62 bits; nothing was charged; take a larger epsilon, or fewer cells"
        ) from None
    begins("stating the error")
    statement = state(algorithm, workload, words, notion, advice, spec.records)
    return Plan(spec, algorithm, workload, notion, cost, statement, spec.out, spec.budget, spec.dataset, size)


def _insist_on_a_source(spec: Spec, table: object) -> None:
    """Refuse what is no table by its name or type, or has another header: no row is read, and a slip costs no charge.

    Between this look and the release the file may become another one. Then the release fails after its charge.
    """
    source, axes = (spec.table if table is None else table), list(spec.axes)
    if source is None:
        source, axes = spec.counts, list(columns_of_counts(spec.axes))
    try:
        insist_on_a_table(source)
        look_at_header(source, axes)
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
    budget = {**as_budget(notion), "noise": noise or NoDraws(), "channel": channel or exact_channel()}
    return algorithm._outcome(counts, workload, trials=1 if noise is None else noise.trials, **budget)


def processed(outcome: Outcome) -> Ints:
    """Whole, non-negative, consistent numbers out of estimates, ``(trials, *domain)``."""
    return np.asarray(apply_steps(outcome.estimate, STEPS)).astype(np.int64)


def released_counts(outcome: Outcome) -> Ints:
    """The numbers that are published, ``(*domain)``."""
    return np.asarray(processed(outcome)[0])


class _Written(NamedTuple):
    """A release that is on the disk."""

    folder: Path
    total: int
    warnings: tuple[str, ...]


def _after_the_charge(
    plan: Plan, table: object, identity: str, cluster: Any, staging: Path, begins: StepProgress
) -> _Written | str:
    """The table read, the noise drawn, the files written; or why not, as far as that follows from no row.

    Whatever an unexpected error says while rows are read or noise is drawn may follow from a row. Memory that runs out
    in an algorithm whose arrays follow from the domain does not, and nothing does once noise has been drawn.
    """
    public: tuple[type[Exception], ...] = (InvalidTable,)  # names and kinds of columns, or a file that cannot be read
    failure = ""
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")  # a warning would say something of the rows
            begins("reading the table")
            counts = _counts(plan.spec, table, cluster)
            public = () if plan.algorithm.data_dependent else (MemoryError,)
            begins("drawing noise")
            outcome = draw(plan.algorithm, counts, plan.workload, plan.notion, channel=_channel_of(plan.spec))
            del counts
            public = (MemoryError, ImportError)
            begins("making the files")
            published = released_counts(outcome)
            files = _output(plan, outcome, published, identity)
            public = (MemoryError, OSError)
            begins("writing the files")
            folder = _put(files, staging, plan.out)
            return _Written(folder, int(published.sum()), _pushed(folder))
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # a panic of a library in another language is no Exception
        failure = _why(error) if isinstance(error, public) else FAILED
    return failure


def _why(error: BaseException) -> str:
    """A failure after the charge, in words that follow from no row."""
    if isinstance(error, InvalidTable):
        return f"{error}; {STAYS}"
    reason = "memory ran out; take fewer cells, or a larger machine"
    if isinstance(error, ImportError):
        reason = f"the package {error.name} cannot be imported; install it"
    elif isinstance(error, OSError):
        reason = f"its files cannot be written ({error.strerror or type(error).__name__}); look at the disk"
    return f"the release failed after its charge, which stays: {reason}"


def _pushed(folder: Path) -> tuple[str, ...]:
    """Push the name of a complete release to the disk; a warning where that fails, for the release is there."""
    try:
        sync_folder(folder.parent)
    except OSError as error:
        return (f"{folder} is complete, but a power failure may lose it ({error.strerror}); copy it elsewhere",)
    return ()


def _doubts(spec: Spec, total: int) -> tuple[str, ...]:
    """A warning where the published total is far from the number of rows that the spec guesses; both are public."""
    if spec.records is None or spec.records <= FACTOR * total <= FACTOR**2 * spec.records:
        return ()
    return (
        f"the published total is {total:,} and the spec says records = {spec.records:,}: they are more than a factor "
        f"of {FACTOR} apart; usual reasons are dates or numbers in a form that was not read, another column than was "
        f"meant, rows that the rules outside and missing leave out, and, where records are few, noise alone",
    )


@contextmanager
def _cluster(address: str | None) -> Iterator[Any]:
    """A client of a cluster, closed afterwards; None without an address."""
    if address is None:
        yield None
        return
    client = connected(address)
    try:
        yield client
    finally:
        client.close()


def _counts(spec: Spec, table: object, cluster: Any) -> Ints:
    """What the spec says, counted; with no tally, and no more per cell than sums stay exact for."""
    if table is None and spec.counts is not None:
        return capped(from_counts(spec.counts, spec.axes))
    if table is None and spec.table is not None and cluster is not None:
        return capped(histogram_on_cluster(spec.table, spec.axes, cluster).counts)
    return capped(histogram(spec.table if table is None else table, spec.axes).counts)


def _output(plan: Plan, outcome: Outcome, counts: Ints, identity: str) -> dict[str, bytes]:
    """Files made from the outcome and from public things alone, by name."""
    spec = plan.spec
    files = {
        "histogram.csv": csv_bytes(pieces(spec.axes, counts)),
        "histogram.parquet": parquet_bytes(pieces(spec.axes, counts)),
    }
    if counts.ndim == 2:
        files["histogram-wide.csv"] = wide_csv(spec.axes, counts)
    above = title(plan.dataset, [axis.name for axis in spec.axes], plan.cost)
    files["picture.svg"], files["picture.png"] = svg(spec.axes, counts, above), png(counts)
    answers = Answers.of(spec.ranges, counts, outcome)
    if spec.ranges:
        files["answers.csv"] = answers.csv()
    error = {**plan.statement.as_json(), **answers.as_json()}
    files["error.json"] = (dumps(error, indent=1) + "\n").encode()
    files["error.txt"] = error_text(plan.statement, answers)
    made = certificate(spec, plan.algorithm, outcome.ledger, plan.cost, identity, files)
    return {**files, "certificate.json": (dumps(made, indent=1) + "\n").encode()}
