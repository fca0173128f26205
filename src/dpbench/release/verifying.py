"""A second look at a release: whether its certificate contradicts itself, the output, or what its algorithm asks.

Everything that follows from something else in the folder is worked out again: the noise of a call from its sensitivity
and amount, what was paid for a record from the promise, the promise's words from its numbers, the calls of the
algorithm from its name and the cells, answers from the histogram. There is no signature. Who writes a certificate, an
output and a budget file that agree with one another is not found out.
"""

from __future__ import annotations

import csv
import json
import re
import tomllib
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from hashlib import file_digest
from html import escape
from itertools import zip_longest
from math import inf, isclose, prod
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpbench import __version__
from dpbench.algorithm import ADD_OR_REMOVE, Algorithm, Outcome
from dpbench.domain import Domain
from dpbench.errors import DPBenchError, InvalidInput, Unsupported, shown
from dpbench.given import as_path, stored_sum
from dpbench.given import stored_fraction as _amount
from dpbench.privacy import ZCDP, Notion, PureDP
from dpbench.privacy.mechanisms import Gaussian, Laplace
from dpbench.releasable import STEPS
from dpbench.release.algorithms import released_algorithm
from dpbench.release.budget_file import Cost, read_account
from dpbench.release.certificate import (
    FORMAT,
    LIBRARIES,
    NOT_PROMISED,
    OPENDP,
    SAMPLERS,
    calls,
    parameters,
    promise,
)
from dpbench.release.picture import title
from dpbench.release.publishing import paid_per_record
from dpbench.release.statement import Answers, Statement, as_budget, error_text, expected, usual_workload
from dpbench.release.writing import count_heading
from dpbench.store.files import harmless
from dpbench.tables.spec import MOST_PER_PERSON, NAME, read_fraction

Ints = NDArray[np.int64]
Calls = list[dict[str, Any]]

CERTIFICATE = "certificate.json"
FILES = ("histogram.csv", "histogram.parquet", "picture.svg", "picture.png", "error.json", "error.txt")
"""Of every release; with two axes there is histogram-wide.csv, and answers.csv where ranges are named."""
MOST_CALLS = 10_000
COUNT = re.compile(r"[0-9]{1,18}")
IDENTITY = re.compile(r"[0-9a-f]{16}")
VERSION = re.compile(r"[0-9]+(\.[0-9a-z]+)*([.+-][0-9A-Za-z.]+)?")
ROUNDING = Fraction(2**50 - 1, 2**50)
"""An L2 sensitivity is written rounded up to a float: its square may have been less by that much, squared."""
OUTSIDE, MISSING = ("clamp", "drop", "cell"), ("drop", "cell")
KEYS = {
    *("certificate", "dataset", "neighbours", "records_per_person", "promise", "epsilon", "delta", "charge"),
    *("per_record", "algorithm", "calls", "post_processing", "columns", "not_promised", "versions", "files"),
}


def verify(folder: str | PathLike[str], budget: str | PathLike[str] | None = None) -> list[tuple[str, str]]:
    """What was checked, and what is wrong with each; empty where nothing is.

    Nothing but the folder is read, so this needs no budget and no table; with a budget file its charge is looked up.
    """
    place = as_path(folder, "the folder of a release")
    if not (place / CERTIFICATE).is_file():
        raise InvalidInput(f"{place} holds no {CERTIFICATE}; give the folder that `dpbench release` wrote")
    try:
        certificate = _plain(place / CERTIFICATE)
    except (OSError, ValueError, RecursionError):
        certificate = None
    if not isinstance(certificate, dict) or type(certificate.get("certificate")) is not int:
        return [("certificate", "it is damaged, or of another version")]
    if certificate["certificate"] != FORMAT:
        return [("certificate", "it is damaged, or of another version")]
    others = [each.name for each in place.iterdir() if not each.is_file()]
    if others:  # to read a pipe or a device may take for ever
        return [("every file is the one that was written", f"{shown(min(others))} is no file")]
    release = _Release(place, certificate)
    checks: list[tuple[str, Callable[[], Iterator[str]]]] = [
        ("every file is the one that was written", release.files),
        ("every part of the certificate is there and in its form", release.form),
        ("the charges add up to what was paid for each record", release.charges),
        ("what was paid for each record is what the promise to a person needs", release.promise),
        ("every call has the noise that its sensitivity and amount ask for", release.noise),
        ("every sampler is an exact one", release.samplers),
        ("the histogram holds one whole, non-negative number per cell", release.histogram),
        ("the calls are those of the algorithm", release.calls),
        ("errors and answers are those of the algorithm and the histogram", release.said),
    ]
    found = [(words, _checked(check)) for words, check in checks]
    if budget is not None:
        words, charges = "the budget file has the charge", _charges_of(as_path(budget, "the budget file"))
        found.append((words, _checked(lambda: release.charged(*charges))))
    return found


def _checked(check: Callable[[], Iterator[str]]) -> str:
    """The first fault."""
    try:
        return next(check(), "")
    except Exception:  # somebody else's file: whatever is wrong with it
        return "it cannot be read"


def _plain(file: Path) -> Any:
    """What a file of JSON holds, if a release wrote it: what another program sees in other bytes may be otherwise.

    A key that stands there twice has one value to this program and another one to a reader.
    """
    text = file.read_bytes().decode()
    plain = json.loads(text)
    if json.dumps(plain, indent=1) + "\n" != text:
        raise ValueError
    return plain


def _charges_of(path: Path) -> tuple[str, list[dict[str, Any]]]:
    """The dataset and the charges of a budget file."""
    try:
        if path.exists() and not path.is_file():  # a pipe would keep us waiting
            raise OSError
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, ValueError):
        raise InvalidInput(f"the budget file {path} cannot be read; give the one that the spec names") from None
    account = read_account(path, text)
    return account.dataset, tomllib.loads(text).get("charge", [])


@dataclass(frozen=True)
class _Release:
    """A folder and its certificate; what cannot be read raises, which is a fault of the check that wanted it."""

    place: Path
    certificate: dict[str, Any]

    # --- what it says, read ------------------------------------------------------------------------

    @cached_property
    def notion(self) -> Notion:
        paid = self.certificate["per_record"]
        if paid["notion"] not in ("pure", "zCDP"):
            raise ValueError
        amount = _amount(paid["amount"])
        return PureDP(amount) if paid["notion"] == "pure" else ZCDP(amount)

    @cached_property
    def cost(self) -> Cost:
        delta = self.certificate["delta"]
        return Cost(_amount(self.certificate["epsilon"]), Fraction(0) if delta is None else _amount(delta))

    @cached_property
    def domain(self) -> Domain:
        return Domain(tuple(int(axis["cells"]) for axis in self.certificate["columns"]))

    @cached_property
    def every_call(self) -> Calls:
        """Those of regions too."""
        found = list(_walk(self.certificate["calls"]))
        if len(found) > MOST_CALLS:
            raise ValueError
        return found

    @cached_property
    def counts(self) -> Ints:
        """The histogram, ``(*domain)``; :meth:`histogram` has found no fault in it."""
        if any(self.histogram()):
            raise ValueError
        return np.array(self._rows, dtype=np.int64).reshape(self.domain.shape)

    @cached_property
    def _rows(self) -> list[int]:
        return [int(row[-1]) if COUNT.fullmatch(row[-1]) else -1 for row in self._csv("histogram.csv")[1:]]

    def _csv(self, name: str) -> list[list[str]]:
        with (self.place / name).open(encoding="utf-8", newline="") as stream:
            return list(csv.reader(stream))

    @cached_property
    def algorithm(self) -> Algorithm:
        return released_algorithm(self.certificate["algorithm"]["name"])

    @cached_property
    def rehearsed(self) -> Outcome:
        """A run of the algorithm on an empty table of the same cells, at the same budget, with noise of no account."""
        workload, _ = usual_workload(self.domain)
        empty = np.zeros(self.domain.afford().shape, dtype=np.int64)
        return self.algorithm.outcome(empty, workload, seed=0, **as_budget(self.notion))

    @property
    def _settled(self) -> bool:
        """Whether what the algorithm asks is the same on any table."""
        return self.algorithm.one_measurement or not self.algorithm.data_dependent

    # --- what is checked: each gives its faults, of which the first is told ------------------------

    def files(self) -> Iterator[str]:
        listed: dict[str, str] = self.certificate["files"]
        for name, digest in listed.items():
            if Path(name).name != name or not (self.place / name).is_file():
                yield f"{shown(name)} is not there"
            with (self.place / name).open("rb") as stream:
                found = file_digest(stream, "sha256").hexdigest()
            if found != digest:
                yield f"{shown(name)} is another file than the one that was released"
        yield from (
            f"{shown(name)} is not in the certificate"
            for name in sorted({each.name for each in self.place.iterdir()} - set(listed) - {CERTIFICATE})
        )
        wide = {"histogram-wide.csv"} if len(self.certificate["columns"]) == 2 else set()
        for name in sorted({*listed} ^ {*FILES, *wide, *({"answers.csv"} & {*listed})}):
            yield f"{shown(name)} is no file of a release with these columns, or is missing"

    def form(self) -> Iterator[str]:
        written = self.certificate
        yield from _other_keys("the certificate", written, KEYS)
        if written["neighbours"] != ADD_OR_REMOVE:
            yield f"neighbours are {shown(written['neighbours'])}; a release knows {shown(ADD_OR_REMOVE)} alone"
        many = written["records_per_person"]
        if type(many) is not int or not 1 <= many <= MOST_PER_PERSON:
            yield f"records_per_person is {shown(many)}, no whole number from 1 on"
        for key, form in (("dataset", NAME), ("charge", IDENTITY)):
            if not isinstance(written[key], str) or not form.fullmatch(written[key]):
                yield f"{key} is {shown(written[key])}, which no release writes"
        amounts = (written["epsilon"], written["delta"] or "1", written["per_record"]["amount"])
        if any(str(_amount(each)) != each for each in amounts):
            yield "an amount is not in its lowest terms"
        if written["post_processing"] != list(STEPS):
            yield f"post_processing is {shown(written['post_processing'])}; every release takes {', '.join(STEPS)}"
        if written["not_promised"] != list(NOT_PROMISED):
            yield "not_promised is another list than that of every release"
        yield from _other_keys("per_record", written["per_record"], {"notion", "unit", "amount"})
        if written["per_record"]["unit"] != self.notion.unit:
            yield f"per_record is in {shown(written['per_record']['unit'])} in place of {self.notion.unit}"
        for axis in written["columns"]:
            yield from _other_keys("a column", axis, {"name", "cells", "outside", "missing"})
            if type(axis["cells"]) is not int or axis["outside"] not in OUTSIDE or axis["missing"] not in MISSING:
                yield f"column {shown(axis['name'])} has cells or rules that no release has"
        versions = written["versions"]
        yield from _other_keys("versions", versions, {"dpbench", "python", *LIBRARIES, *({"opendp"} & versions.keys())})
        for name, version in versions.items():
            if not isinstance(version, str) or not VERSION.fullmatch(version):
                yield f"{shown(name)} has the version {shown(version)}, which is none"

    def charges(self) -> Iterator[str]:
        if not any(call["mechanism"] in SAMPLERS for call in self.every_call):
            yield "there is no measurement, so nothing in the histogram is accounted for"
        yield from _faults_of_sum(self.certificate["calls"], self.notion.amount)

    def promise(self) -> Iterator[str]:
        written, many, notion = self.certificate, self.certificate["records_per_person"], self.notion
        if (written["delta"] is None) != (notion.name == "pure"):
            yield f"delta is {shown(written['delta'])}, and what was paid is in {notion.unit}"
        needed = paid_per_record(self.cost, many)
        if needed.amount != notion.amount:
            said = f"{self.cost} for {many} records of a person is {needed.unit} {_short(needed.amount)} for each"
            yield f"{said}, and not {_short(notion.amount)}"
        wanted = promise(self.cost, many)
        if written["promise"] != wanted:
            yield f"it says {shown(written['promise'])}; its numbers say '{wanted}'"

    def noise(self) -> Iterator[str]:
        for call in self.every_call:
            kind, why = call["mechanism"], call["why"]
            if kind not in SAMPLERS:
                continue
            sensitivity, amount = _amount(call["sensitivity"]), _amount(call["amount"])
            if kind == Gaussian.name and self.notion.name == "pure":
                yield f"{shown(why)} has Gaussian noise, which has no pure differential privacy"
            wanted = self._noise_of(kind, sensitivity, amount)
            if call["noise"] not in wanted:
                states = f"{shown(why)} states {shown(call['noise'])}"
                yield f"{states}; its sensitivity and amount ask for {shown(wanted[0])}"

    def _noise_of(self, kind: str, sensitivity: Fraction, amount: Fraction) -> list[str]:
        """The words for it; those for the last bit of the sensitivity too."""
        if kind not in (Laplace.name, Gaussian.name):
            return [""]
        claims = (sensitivity, sensitivity * ROUNDING) if kind == Gaussian.name else (sensitivity,)
        made = [(Gaussian if kind == Gaussian.name else Laplace)(_Claim(claim)) for claim in claims]  # type: ignore[arg-type]
        return [each.noise_words(each.level(self.notion._loss(each, amount))) for each in made]

    def samplers(self) -> Iterator[str]:
        known = {**SAMPLERS, **(OPENDP if "opendp" in self.certificate["versions"] else {})}
        for call in self.every_call:
            kind, keys = call["mechanism"], {"mechanism", "why", "amount"}
            if not isinstance(call["why"], str) or not call["why"].isprintable():
                yield f"a call gives as its reason {shown(call['why'])}, which is none"
            if kind not in (*SAMPLERS, "parts", "forfeit"):
                yield f"{shown(call['why'])} was asked by {shown(kind)}"
            if kind in SAMPLERS:
                keys |= {"sensitivity", "noise", "sampler"}
            yield from _other_keys(f"{shown(call['why'])}", call, keys | ({"regions"} if kind == "parts" else set()))
            if kind in SAMPLERS and call["sampler"] != known[kind]:
                yield f"{shown(call['why'])} was drawn by another sampler than {shown(known[kind])}"

    def histogram(self) -> Iterator[str]:
        from pyarrow.parquet import ParquetFile

        rows, names = self._rows, self._csv("histogram.csv")[0]
        cells = prod(int(axis["cells"]) for axis in self.certificate["columns"])
        if len(rows) != cells:
            yield f"it has {len(rows)} rows for {shown(cells)} cells"
        if min(rows) < 0:
            yield "a count is no whole number of at least 0"
        with ParquetFile(self.place / "histogram.parquet") as binary:
            binary_names = binary.schema_arrow.names
            if list(map(harmless, binary_names)) != names:
                yield "histogram.parquet has other columns"
            if binary.schema_arrow.types[-1] != "int64" or binary.metadata.num_rows != cells:
                yield "histogram.parquet has other counts"
            if binary.read([binary_names[-1]]).columns[0].to_pylist() != rows:
                yield "histogram.parquet has other counts"
        columns = [axis["name"] for axis in self.certificate["columns"]]
        if not _are_headings(binary_names, columns):
            yield "its columns are not those of the certificate"
        if len(columns) == 2:
            wide = [[int(count) for count in row[1:]] for row in self._csv("histogram-wide.csv")[1:]]
            if wide != np.array(rows).reshape(self.domain.shape).tolist():
                yield "histogram-wide.csv has other counts"
        above = title(self.certificate["dataset"], columns, self.cost)
        if f">{escape(above)}<" not in (self.place / "picture.svg").read_bytes().decode():
            yield f"picture.svg has another title than {shown(above)}"

    def calls(self) -> Iterator[str]:
        if any(self.histogram()):
            yield "they cannot be compared before the histogram is whole"
        stated = self.certificate["algorithm"]
        try:
            algorithm = self.algorithm
        except DPBenchError:
            yield f"{shown(stated['name'])} is no algorithm that can be released"
        if stated["name"] != algorithm.name:
            yield f"{shown(stated['name'])} is called {algorithm.name}"
        if stated != {"name": algorithm.name, "parameters": parameters(algorithm)}:
            yield f"a release by {algorithm.name} has other parameters than {shown(stated['parameters'])}"
        if self.notion.name not in algorithm.notions or not algorithm.supports(self.domain):
            yield f"{algorithm.name} does not run on {self.domain} cells with {self.notion.name} differential privacy"
        sampler = "opendp" if "opendp" in self.certificate["versions"] else "dpbench"
        made, written = calls(self.rehearsed.ledger, sampler), self.certificate["calls"]
        if not self._settled:  # what comes later follows from the table; the first call cannot
            made, written = made[:1], written[:1]
        nothing: dict[str, Any] = {}
        for number, (one, other) in enumerate(zip_longest(made, written, fillvalue=nothing), 1):
            for key in ("mechanism", "why", "amount", "sensitivity", "noise", "sampler"):
                if one.get(key) != other.get(key):
                    yield self._otherwise(f"{key} of call {number}", other.get(key), one.get(key))

    def _otherwise(self, what: str, written: object, made: object) -> str:
        said = f"{what} is {shown(written)}, and {self.algorithm.name} makes it {shown(made)}"
        other = self.certificate["versions"]["dpbench"]
        return (
            said
            if other == __version__
            else f"{said} in dpbench {__version__}; verify it with {shown(other)}, which made it"
        )

    def said(self) -> Iterator[str]:
        error = _plain(self.place / "error.json")
        statement, answers = Statement.from_json(error), Answers.from_json(error, self.counts)
        workload, words = usual_workload(self.domain)
        if (statement.algorithm, statement.workload) != (self.algorithm.name, words):
            yield f"error.json is about {shown(statement.algorithm)} and {shown(statement.workload)}"
        known = expected(self.algorithm, workload, self.notion)
        for one, other in zip(known, (statement.root_mean_square, statement.known_alternative), strict=True):
            if (one is None) != (other is None) or not isclose(one or 0.0, other or 0.0, rel_tol=1e-6):
                yield self._otherwise("the error in error.json", other, one)
        tried = statement.published
        if tried is not None and not (known[0] is not None and 0 <= tried.low <= tried.high < inf):
            yield "what error.json says was tried cannot have been"
        for name, value in zip(answers.names, answers.values.tolist(), strict=True):
            if not NAME.fullmatch(name):
                yield f"a range is called {shown(name)}, which is no name"
            if error["ranges"][name]["answer"] != value:
                yield f"error.json answers {shown(name)} otherwise than the histogram, which says {value:,}"
        yield from self._intervals(answers)
        if error != {**statement.as_json(), **answers.as_json()}:
            yield "error.json has other facts than those of a release"
        if (self.place / "error.txt").read_bytes() != error_text(statement, answers):
            yield "error.txt says something else than error.json and the histogram"
        file = self.place / "answers.csv"
        if not file.is_file() and len(answers.names) > 1:
            yield "answers.csv is missing"
        if file.is_file() and file.read_bytes() != answers.csv():
            yield "answers.csv says something else than error.json and the histogram"

    def _intervals(self, answers: Answers) -> Iterator[str]:
        """Faults of the intervals; of those from the noise on a settled measurement the width is known."""
        bars, made, width = answers.bars, None, None
        with suppress(Unsupported):
            made = self.rehearsed.intervals(answers.ranges)[0]
        if (bars is None) != (made is None):
            has, lacks = ("error.json", self.algorithm.name) if made is None else (self.algorithm.name, "error.json")
            yield f"{lacks} has no intervals, and {has} has"
        if bars is None or made is None:
            return
        if self._settled:
            width = np.ptp(made, axis=1)
        for ends in (bars.ends, bars.sure):
            held = (ends[:, 0] >= 0) & (ends[:, 0] <= answers.values) & (answers.values <= ends[:, 1])
            if not held.all():
                yield f"the interval of {shown(answers.names[int(held.argmin())])} does not hold its answer"
        if (bars.ends != bars.sure)[bars.guaranteed].any() or not (bars.guaranteed.all() or width is None):
            yield "an interval is not the one that is guaranteed"
        if width is not None:
            wide = (bars.sure[:, 0] == 0) | (np.ptp(bars.sure, axis=1) >= width * (1 - 1e-6))
            if not wide.all():
                yield f"the interval of {shown(answers.names[int(wide.argmin())])} is narrower than the noise"

    def charged(self, dataset: str, charges: list[dict[str, Any]]) -> Iterator[str]:
        written = self.certificate
        if dataset != written["dataset"]:
            yield f"it is the budget of {shown(dataset)}, and the release is of {shown(written['dataset'])}"
        mine = next((each for each in charges if each["id"] == written["charge"]), {})
        if not mine:
            yield f"no charge has the id {shown(written['charge'])}"
        cost = Cost(*(read_fraction(mine.get(key, 0)) or Fraction(0) for key in ("epsilon", "delta")))
        if cost != self.cost:
            yield f"charge {written['charge']} is {cost}, and the certificate says {self.cost}"
        if mine.get("algorithm") != written["algorithm"]["name"]:
            yield f"charge {written['charge']} is for {shown(mine.get('algorithm'))}"


def _are_headings(names: list[str], columns: list[str]) -> bool:
    """Whether they are a category, or both ends of a bin, for every column, and then the count."""
    made: list[list[str]] = [[]]
    for name in columns:
        made = [each + more for each in made for more in ([name], [f"{name}_low", f"{name}_high"])]
    return any(names == [*each, count_heading(each)] for each in made)


def _other_keys(what: str, written: dict[str, Any], wanted: set[str]) -> Iterator[str]:
    for key in sorted(written.keys() ^ wanted):
        yield f"{what} {'has' if key in written else 'lacks'} {shown(key)}"


@dataclass(frozen=True)
class _Claim:
    """A strategy of which nothing is known but its sensitivity."""

    sensitivity: Fraction


def _walk(listed: Calls) -> Iterator[dict[str, Any]]:
    for call in listed:
        yield call
        for region in call.get("regions", []):
            yield from _walk(region)


def _short(amount: Fraction) -> str:
    return str(amount) if amount.denominator < 10**6 else f"{float(amount):.6g}"


def _faults_of_sum(listed: Calls, amount: Fraction) -> Iterator[str]:
    amounts = [_amount(call["amount"]) for call in listed]
    for call, one in zip(listed, amounts, strict=True):
        if not one:
            yield f"{shown(call['why'])} costs nothing"
    total = stored_sum(amounts)
    if total != amount:
        yield f"they add up to {_short(total)} and not to {_short(amount)}"
    for call in listed:
        if call["mechanism"] == "parts" and not call["regions"]:
            yield f"{shown(call['why'])} has no regions"
        for region in call.get("regions", []):
            for fault in _faults_of_sum(region, _amount(call["amount"])):
                yield f"in {shown(call['why'])} {fault}"
