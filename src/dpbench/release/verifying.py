"""A second look at a release: does its certificate add up, and is the output the one that it speaks of."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from fractions import Fraction
from hashlib import sha256
from math import prod
from os import PathLike
from pathlib import Path
from typing import Any

from dpbench.errors import InvalidInput
from dpbench.given import as_path, stored_sum
from dpbench.given import stored_fraction as _amount
from dpbench.privacy import ZCDP
from dpbench.release.certificate import FORMAT, OPENDP, SAMPLERS

NAME = "certificate.json"


def verify(folder: str | PathLike[str]) -> list[tuple[str, str]]:
    """What was checked, and what is wrong with each; empty where nothing is.

    Nothing but the folder is read, so this needs no budget and no table.
    """
    place = as_path(folder, "the folder of a release")
    if not (place / NAME).is_file():
        raise InvalidInput(f"{place} holds no {NAME}; give the folder that `dpbench release` wrote")
    try:
        certificate = json.loads((place / NAME).read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        certificate = None
    if not isinstance(certificate, dict) or certificate.get("certificate") != FORMAT:
        return [("certificate", "it is damaged, or of another version")]
    checks: list[tuple[str, Callable[[Path, dict[str, Any]], str]]] = [
        ("every file is the one that was written", _files),
        ("the charges add up to what was paid for each record", _charges),
        ("what was paid for each record is what the promise to a person needs", _promise),
        ("every sampler is an exact one", _samplers),
        ("the histogram holds one whole, non-negative number per cell", _histogram),
    ]
    return [(words, _checked(check, place, certificate)) for words, check in checks]


def _checked(check: Callable[[Path, dict[str, Any]], str], place: Path, certificate: dict[str, Any]) -> str:
    try:
        return check(place, certificate)
    except Exception:  # somebody else's file: whatever is wrong with it
        return "it cannot be read"


def _files(place: Path, certificate: dict[str, Any]) -> str:
    listed: dict[str, str] = certificate["files"]
    for name, digest in listed.items():
        if Path(name).name != name or not (place / name).is_file():
            return f"{name} is not there"
        if sha256((place / name).read_bytes()).hexdigest() != digest:
            return f"{name} is another file than the one that was released"
    extra = sorted({each.name for each in place.iterdir()} - set(listed) - {NAME})
    return f"{extra[0]} is not in the certificate" if extra else "" if "histogram.csv" in listed else "no histogram"


def _charges(place: Path, certificate: dict[str, Any]) -> str:
    del place
    return _adds_up(certificate["calls"], _amount(certificate["per_record"]["amount"]))


def _adds_up(calls: list[dict[str, Any]], amount: Fraction) -> str:
    amounts = [_amount(call["amount"]) for call in calls]
    total = stored_sum(amounts)
    if total != amount or any(each <= 0 for each in amounts):
        return f"they add up to {total} and not to {amount}"
    for call in calls:
        for region in call.get("regions", []):
            if found := _adds_up(region, _amount(call["amount"])):
                return f"in '{call['why']}' {found}"
    return ""


def _promise(place: Path, certificate: dict[str, Any]) -> str:
    del place
    per_record = _amount(certificate["per_record"]["amount"])
    many, epsilon = int(certificate["records_per_person"]), _amount(certificate["epsilon"])
    if certificate["per_record"]["notion"] == "pure":
        return "" if many >= 1 and per_record * many <= epsilon else f"{many} records cost {per_record * many}"
    needed = ZCDP(per_record * many**2).epsilon_at(_amount(certificate["delta"]))
    return "" if needed <= epsilon else f"its rho needs an epsilon of {float(needed):g}"


def _samplers(place: Path, certificate: dict[str, Any]) -> str:
    del place

    def every(calls: list[dict[str, Any]]) -> list[dict[str, Any]]:
        return [*calls, *(each for call in calls for region in call.get("regions", []) for each in every(region))]

    for call in every(certificate["calls"]):
        kind = call["mechanism"]
        if kind not in (*SAMPLERS, "parts", "forfeit"):
            return f"'{call['why']}' was asked by {kind}"
        if kind in SAMPLERS and call.get("sampler") not in (SAMPLERS[kind], OPENDP.get(kind)):
            return f"'{call['why']}' was drawn by another sampler"
    return ""


def _histogram(place: Path, certificate: dict[str, Any]) -> str:
    from pyarrow.parquet import read_table

    with (place / "histogram.csv").open(encoding="utf-8", newline="") as stream:
        counts = [row[-1] for row in list(csv.reader(stream))[1:]]
    cells = prod(int(axis["cells"]) for axis in certificate["columns"])
    if len(counts) != cells:
        return f"it has {len(counts)} rows for {cells} cells"
    if not all(count.isdecimal() for count in counts):
        return "a count is no whole number of at least 0"
    if read_table(place / "histogram.parquet").columns[-1].to_pylist() != [int(count) for count in counts]:
        return "histogram.parquet has other counts"
    return ""
