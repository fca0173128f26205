"""The paper's ten principles, each decided for a study from what the study left behind."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from dpbench import algorithms
from dpbench.domain import Domain
from dpbench.interpreting import baselines
from dpbench.results import Results

Verdict = Literal["kept", "broken", "cannot be decided"]
LARGEST_EPSILON = 10.0
"""Above this a guarantee says next to nothing; the paper's own studies use 0.1 and 1."""


DIVERSE = (
    (2, "Scale diversity", "scale", "scales"),
    (3, "Shape diversity", "dataset", "shapes"),
    (4, "Domain size diversity", "domain", "domains"),
)
"""Principles on what has to vary: number, principle, column, the same in words."""


@dataclass(frozen=True)
class Judgement:
    """One principle, the verdict on a study, and what it rests on."""

    number: int
    principle: str
    verdict: Verdict
    evidence: str


def judge(
    results: Results,
    *,
    exchangeable: Mapping[tuple[str, str], str] | None = None,
    audited: Mapping[str, str] | None = None,
) -> list[Judgement]:
    """The ten principles for a study.

    ``exchangeable`` has what was measured of algorithms and forms (see ``measured_properties``); without it the
    declarations of the catalogue count. ``audited`` has for each algorithm why its audit failed, empty where it passed.
    """
    judged = [_epsilons(results, exchangeable)]
    judged += [_diversity(results, *each) for each in DIVERSE]
    judged += [_accounting(results, audited), _parameters(results), _side_information(results)]
    return [*judged, _variability(results), _bias(results), _reasonable(results)]


def _epsilons(results: Results, exchangeable: Mapping[tuple[str, str], str] | None) -> Judgement:
    found = _values(results.columns["epsilon"])
    name = "Epsilon diversity"
    if len(found) > 1:
        return Judgement(1, name, "kept", f"{len(found)} epsilons: {_listed(found)}")
    known = algorithms.ours()
    without, unknown = [], []
    for algorithm, variant in _forms(results):
        if exchangeable is not None and (algorithm, variant) in exchangeable:
            holds = exchangeable[algorithm, variant] != "no"
        elif algorithm in known:
            holds = known[algorithm](variant=variant).exchangeable  # type: ignore[arg-type]  # as stored
        else:
            unknown.append(algorithm)
            continue
        if not holds:
            without.append(f"{algorithm} [{variant}]")
    scales = len(_values(results.columns["scale"]))
    words = f"one epsilon ({found[0]:g}), {scales} scales"
    if without:
        return Judgement(1, name, "broken", f"{words}; not exchangeable: {_listed(without)}")
    if unknown:
        why = "exchangeability was not measured for"
        return Judgement(1, name, "cannot be decided", f"{words}; {why} {_listed(unknown)}; see `dpbench properties`")
    if scales < 2:
        return Judgement(1, name, "broken", f"{words}: neither epsilon nor scale varies")
    source = "measured" if exchangeable is not None else "declared"
    return Judgement(
        1, name, "kept", f"{words}; every algorithm is exchangeable ({source}), so scales stand for epsilons"
    )


def _diversity(results: Results, number: int, principle: str, name: str, word: str) -> Judgement:
    """Kept where something varies in every task: one domain of one axis and one of two are no two sizes."""
    words, kept = [], True
    for axes in range(1, 10):
        found = _values(results.where(dimensions=axes).columns[name])
        if name == "domain":
            found.sort(key=lambda domain: Domain.of(domain).size)
        if found:
            kept &= len(found) > 1
            words.append(f"{axes}-D: {len(found)} {word} ({_listed(found)})")
    return Judgement(number, principle, "kept" if kept else "broken", "; ".join(words))


def _accounting(results: Results, audited: Mapping[str, str] | None) -> Judgement:
    name = "Private pre- and post-processing"
    columns = results.columns
    exposed = sorted(set(results.labels[~columns["private"]].tolist()))
    good = results.whole
    open_ledger = sorted(set(results.labels[good & ~columns["accounted"]].tolist()))
    words = f"ledgers add up to epsilon in {int((columns['accounted'] & good).sum())} of {int(good.sum())} settings"
    if exposed:
        return Judgement(5, name, "broken", f"{words}; not private: {_listed(exposed)}")
    if open_ledger:
        return Judgement(5, name, "broken", f"{words}; not accounted: {_listed(open_ledger)}")
    if audited is None:
        return Judgement(5, name, "cannot be decided", f"{words}, all marked private; the audit was not run (--audit)")
    failed = [f"{algorithm}: {why}" for algorithm, why in audited.items() if why]
    missing = sorted(set(columns["algorithm"].tolist()) - audited.keys())
    if failed:
        return Judgement(5, name, "broken", f"{words}; audit: {failed[0]}")
    if missing:
        return Judgement(
            5,
            name,
            "cannot be decided",
            f"{words}; no audit of {_listed(missing)}: their code is not here, or the audit did not come to its end",
        )
    return Judgement(5, name, "kept", f"{words}; the audit of all {len(audited)} algorithms passes")


def _parameters(results: Results) -> Judgement:
    name = "No free parameters"
    known = algorithms.ours()
    names = _values(results.columns["algorithm"])
    by_hand = sorted(
        {label for label, given in zip(results.labels, results.columns["parameters"], strict=True) if given != "{}"}
    )
    free = [each for each in names if each in known and known[each].free]
    strangers = [each for each in names if each not in known]
    words = f"{len(names) - len(free) - len(strangers)} algorithms have no free parameter"
    if free:
        words += f"; {_listed(free)}: fixed or from tables trained on synthetic shapes, never on a dataset of a study"
    if by_hand:
        words += f"; set by hand, on what the study does not say: {_listed(by_hand)}"
        return Judgement(6, name, "cannot be decided", words)
    if strangers:
        return Judgement(
            6, name, "cannot be decided", f"{words}; how those of {_listed(strangers)} were set is not known"
        )
    return Judgement(6, name, "kept", words)


def _side_information(results: Results) -> Judgement:
    name = "Knowledge of side information"
    found = [each for each in _values(results.columns["side_information"]) if each]
    if "public" in found and "estimated" in found:
        return Judgement(7, name, "broken", "the scale is public for some algorithms and estimated by others")
    if found == ["public"]:
        users = sorted(set(results.where(side_information="public").columns["algorithm"].tolist()))
        return Judgement(7, name, "broken", f"{_listed(users)} know the true scale for nothing, others do not")
    estimated = "every algorithm that needs the scale estimates it with part of the budget"
    return Judgement(7, name, "kept", estimated if found else "no algorithm needs side information")


def _variability(results: Results) -> Judgement:
    trials = np.isfinite(results.errors).sum(axis=(1, 2))[results.whole]
    name = "Measurement of variability"
    if not len(trials):
        return Judgement(8, name, "cannot be decided", "no setting has errors")
    least, vectors = int(trials.min()), int(np.isfinite(results.errors).any(axis=2).sum(axis=1)[results.whole].min())
    words = f"at least {least} trials on {vectors} data vectors in every setting; all errors are kept"
    standards = results.standards
    beyond = (standards.percentile / 100) ** least
    coverage = f", {standards.percentile_words} above all of them in {beyond:.1%} of cases"
    return Judgement(8, name, "kept" if least > 1 else "broken", words + (coverage if least > 1 else ""))


def _bias(results: Results) -> Judgement:
    known = np.isfinite(results.columns["squared_bias"])[results.whole]
    words = f"bias and variance of the answers are known in {int(known.sum())} of {len(known)} settings"
    return Judgement(9, "Measurement of bias", "kept" if len(known) and known.all() else "broken", words)


def _reasonable(results: Results) -> Judgement:
    name = "Reasonable privacy and utility"
    largest = max(_values(results.columns["epsilon"]))
    wanted = results.standards.baselines
    missing = [each for each in wanted if each not in results.columns["algorithm"] and each not in results.labels]
    if largest > LARGEST_EPSILON:
        return Judgement(10, name, "broken", f"epsilon {largest:g} is no reasonable guarantee")
    if missing or not wanted:
        lacks = f"without {_listed(missing)} to compare" if missing else "the standards name no baseline"
        return Judgement(10, name, "cannot be decided", f"epsilon at most {largest:g}; {lacks}")
    beaten: dict[tuple[Any, ...], bool] = {}
    for each in baselines(results):
        where = (each.task, each.workload, each.domain, each.epsilon, each.seed, each.scale, each.algorithm)
        beaten[where] = beaten.get(where, True) and each.beats
    useful: dict[tuple[Any, ...], bool] = {}
    for where, both in beaten.items():
        useful[where[:-1]] = useful.get(where[:-1], False) or both
    good = sum(useful.values())
    words = f"epsilon at most {largest:g}; some algorithm beats {_listed(wanted)} in {good} of {len(useful)} tables"
    words += f" and scales, by the mean {results.standards.error_words} over datasets"
    return Judgement(10, name, "kept" if good == len(useful) else "broken", words)


def _forms(results: Results) -> list[tuple[str, str]]:
    return sorted(set(zip(results.columns["algorithm"].tolist(), results.columns["variant"].tolist(), strict=True)))


def _values(column: Iterable[Any]) -> list[Any]:
    return sorted(set(np.asarray(column).tolist()))


def _listed(values: Sequence[Any], most: int = 6) -> str:
    shown = ", ".join(f"{each:g}" if isinstance(each, int | float) else str(each) for each in values[:most])
    return shown + (f" and {len(values) - most} more" if len(values) > most else "")
