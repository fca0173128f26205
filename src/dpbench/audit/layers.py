"""The audit: every layer on one algorithm, and what each found."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpbench.algorithm import Algorithm, SideInformation
from dpbench.audit.black_box import (
    APPROXIMATE,
    PURE,
    Finding,
    Pairs,
    Promise,
    Sampler,
    probe,
    probe_quickly,
    usual_pairs,
)
from dpbench.audit.conformance import check_batch, check_edges, check_files, check_form, check_memory
from dpbench.audit.declared import (
    check_consistency,
    check_data_independence,
    check_exchangeability,
    check_expected_error,
)
from dpbench.audit.fresh import TooSlow, fresh
from dpbench.audit.ledgers import check_ledger
from dpbench.audit.own_mechanisms import check_own_mechanisms
from dpbench.audit.replay_layer import check_replay, prepare
from dpbench.audit.report import LAYERS, AuditReport, Layer, NotExamined
from dpbench.audit.sensitivity import check_sensitivity
from dpbench.audit.subject import CASES, SMALL_DOMAINS, Subject, built, in_words, workload_for
from dpbench.domain import Domain, DomainLike
from dpbench.errors import CheckFailed, PrivacyError
from dpbench.given import of_kind
from dpbench.given import whole as whole_number
from dpbench.privacy.ledger import BY_ITS_OWN
from dpbench.workloads import Workload

Check = Callable[[Subject], Mapping[str, Any]]

CHECKS: Mapping[str, tuple[Check, ...]] = {
    "conformance": (
        check_form,
        check_batch,
        check_memory,
        check_files,
        check_edges,
        check_consistency,
        check_exchangeability,
        check_expected_error,
        check_data_independence,
    ),
    "ledger": (check_ledger,),
    "sensitivity": (check_sensitivity,),
    "replay": (check_replay,),
}
IN_ORDER = (
    check_form,
    check_ledger,
    check_batch,
    check_memory,
    check_sensitivity,
    check_own_mechanisms,
    check_replay,
    check_files,
    check_edges,
    check_consistency,
    check_exchangeability,
    check_expected_error,
    check_data_independence,
)
"""As ``check_algorithm`` goes through them: the cheap and telling ones first."""
BLACK_BOX_DOMAINS = {1: ("4", "12"), 2: ("2x2", "12x3")}
"""The first and the last of those that the algorithm supports."""
IN_PROCESSES = (check_replay, check_memory)
"""These begin processes of their own, which have to start from one in which the algorithm has not run."""
BATCH = 2000


TOO_SLOW = "it is too slow for a quick look; give --black-box"
LONGEST = 300.0
"""Seconds of the processor that a check may take in its process."""
UNFINISHED = "{} was not examined to the end: a check took more than {:g} s of CPU time, or waited"


def check_algorithm(
    algorithm: Algorithm | type[Algorithm],
    *,
    side_information: SideInformation | None = None,
    seed: int = 0,
    cases: int = CASES,
    domain: DomainLike | None = None,
) -> None:
    """Return nothing when an algorithm has every property, else raise ``CheckFailed`` with the cause.

    Where a check does not come to its end that is a ``NotExamined``, which is a ``CheckFailed`` too.
    ``cases`` is the number of random replays; ``domain`` restricts replays and claims to one domain.
    """
    only = _checked(seed, cases, domain)
    whole = Subject(built(algorithm), side_information, seed, domain=only, cases=cases)
    prepare(whole)
    for notion in whole.notions:
        subject = replace(whole, notion=notion, replayed=(notion,), cases=-(-cases // len(whole.notions)))
        for check in IN_ORDER:
            _figures(check, subject)
    layer = _black_box(whole, None)
    if layer.verdict == "fail":
        raise CheckFailed(layer.cause)


def audit(
    algorithm: Algorithm | type[Algorithm],
    *,
    side_information: SideInformation | None = None,
    seed: int = 0,
    ignore_marks: bool = False,
    black_box: int | None = None,
    cases: int = CASES,
    domain: DomainLike | None = None,
) -> AuditReport:
    """Every layer, each to its own verdict; ``black_box`` runs a side, none where it is 0.

    Where it is not given, a stranger's algorithm that nothing else was found of gets as many as take a few seconds.
    ``cases`` is the number of random replays; ``domain`` restricts replays and claims to one domain.
    ``ignore_marks`` leaves aside what a form says of itself (that it reveals counts, that its scale is public), so that
    only what is measured counts.
    """
    started = time.perf_counter()
    only = _checked(seed, cases, domain)
    of_kind(ignore_marks, bool, "ignore_marks", "True")
    if black_box is not None:
        whole_number(black_box, "the runs of the black box", 0)
    try:
        whole = built(algorithm)
        subject = Subject(whole, side_information, seed, ignore_marks, whole.notions[0], domain=only, cases=cases)
        prepare(subject)
        _try(subject)
    except CheckFailed as failure:
        name = getattr(algorithm, "name", "") or getattr(algorithm, "__name__", type(algorithm).__name__)
        culprit = "ledger" if isinstance(failure.__cause__, PrivacyError) else "conformance"
        layers = [
            _unwell(layer, failure) if layer == culprit else Layer(layer, "not run", "it does not run")
            for layer in LAYERS
        ]
        return AuditReport(name, getattr(algorithm, "variant", "private"), side_information, tuple(layers))
    layers = [_examine(name, checks, subject) for name, checks in CHECKS.items()]
    layers.append(_own_mechanisms(subject))
    if black_box is None and any(layer.verdict == "fail" for layer in layers):
        black_box = 0  # it is found out already
    layers.insert(-1, _black_box(subject, black_box))
    seconds = time.perf_counter() - started
    report = AuditReport(subject.name, subject.algorithm.variant, side_information, tuple(layers), seconds)
    own = ", ".join(report.layer("mechanisms").figures.get("mechanisms", ()))
    notes = [f"{BY_ITS_OWN} ({own})"] if own and report.passed else []
    notes += [f"no black box: {TOO_SLOW}"] if report.layer("black box").cause == TOO_SLOW else []
    slow = report.layer("replay").figures.get("what took too long")
    notes += [f"too slow to be compared: {slow}"] if slow else []
    warning = report.layer("conformance").figures.get("warning")
    notes += [f"it warns ({warning})"] if warning else []
    return replace(report, notes=tuple(notes))


def _checked(seed: object, cases: object, domain: DomainLike | None) -> Domain | None:
    """The domain that an audit is restricted to; the other arguments are as they have to be."""
    whole_number(seed, "the seed", 0)
    whole_number(cases, "the number of cases")
    return None if domain is None else Domain.of(domain)


def _try(subject: Subject) -> None:
    """Run it once: what cannot run at all is reported once, and not by every layer."""

    def attempt() -> tuple[str, bool]:
        try:
            for domain in list(subject.domains(SMALL_DOMAINS))[:1]:
                subject.outcome(np.ones(domain.shape, dtype=np.int64), workload_for(domain), 1)
        except CheckFailed as failure:
            return str(failure), isinstance(failure.__cause__, PrivacyError)
        return "", False

    try:
        words, of_the_ledger = fresh(attempt, LONGEST)
    except TooSlow:
        raise NotExamined(UNFINISHED.format(subject.name, LONGEST)) from None
    if words:
        raise CheckFailed(words) from (PrivacyError(words) if of_the_ledger else None)


def _examine(name: str, checks: Sequence[Check], subject: Subject) -> Layer:
    by_notion: dict[str, dict[str, Any]] = {}
    first: dict[str, Any] = {}
    unknown: Layer | None = None
    for under in _by_notion(subject, checks[0]):
        figures = by_notion.setdefault(under.notion, {})
        first = first or figures
        mark = "" if under.notion == "pure" or checks[0] is check_replay else f"under {under.notion}: "
        for check in checks:
            try:
                figures.update(_figures(check, under))
            except NotExamined as failure:  # the others may find something
                unknown = unknown or _unwell(name, failure, mark, figures)
            except CheckFailed as failure:
                return _unwell(name, failure, mark, figures)
    if unknown:
        return unknown
    others = {notion: figures for notion, figures in by_notion.items() if figures is not first}
    return Layer(name, "pass", "", first | ({"other notions": others} if others else {}))


def _unwell(name: str, failure: CheckFailed, mark: str = "", figures: Mapping[str, Any] | None = None) -> Layer:
    """A layer that found something, or that did not come to its end."""
    unknown = isinstance(failure, NotExamined)
    return Layer(name, "not run" if unknown else "fail", f"{mark}{failure}", figures or {}, missing=unknown)


def _figures(check: Check, subject: Subject) -> Mapping[str, Any]:
    """What a check measured, in a process of its own; whatever a stranger's code raises there is a failed check."""
    if check in IN_PROCESSES:
        return check(subject)

    def work() -> Mapping[str, Any]:
        try:
            return check(subject)
        except CheckFailed:
            raise
        except (Exception, SystemExit) as error:
            raise CheckFailed(f"{subject.name} fails with {in_words(error)}") from error

    try:
        return fresh(work, LONGEST)
    except TooSlow:
        raise NotExamined(UNFINISHED.format(subject.name, LONGEST)) from None


def _by_notion(subject: Subject, check: Check) -> list[Subject]:
    """The subject under each notion that it has; the replay tries all of them by itself."""
    notions = subject.notions[:1] if check is check_replay else subject.notions
    return [replace(subject, notion=notion) for notion in notions]


def _own_mechanisms(subject: Subject) -> Layer:
    layer = _examine("mechanisms", (check_own_mechanisms,), subject)
    if layer.verdict == "pass" and not layer.figures["mechanisms"]:
        return Layer("mechanisms", "not run", "it has no mechanism of its own")
    return layer


def _black_box(subject: Subject, runs: int | None) -> Layer:
    """So many runs a side; where that is left open none for one of ours, and a quick look at a stranger's."""
    if runs == 0 or (runs is None and (subject.ours or subject.algorithm.variant != "private")):
        return Layer("black box", "not run", "give --black-box")
    supported = list(subject.domains(BLACK_BOX_DOMAINS))
    workloads = [workload_for(domain) for domain in dict.fromkeys((supported[0], supported[-1]))]
    promises = (*(PURE if "pure" in subject.notions else ()), *(APPROXIMATE if "zCDP" in subject.notions else ()))
    return black_box_layer(subject.name, runs_of(subject), workloads, runs, subject.seed, promises)


def runs_of(subject: Subject) -> Sampler:
    """Independent runs of an algorithm, in batches of trials."""

    def outputs(
        x: NDArray[np.int64], workload: Workload, promise: Promise, runs: int, seed: np.random.SeedSequence
    ) -> NDArray[np.float64]:
        epsilon, delta = promise
        batches = []
        for number, own_seed in enumerate(seed.spawn(-(-runs // BATCH))):
            trials = min(BATCH, runs - number * BATCH)
            outcome = subject.algorithm.outcome(
                x, workload, epsilon, trials, own_seed, delta=delta, side_information=subject.side_information
            )
            batches.append(outcome.estimate)
        return np.concatenate(batches)

    return outputs


def black_box_layer(
    name: str,
    sampler: Sampler,
    workloads: Sequence[Workload],
    runs: int | None,
    seed: int,
    promises: Sequence[Promise] = PURE,
    pairs: Pairs = usual_pairs,
    seconds: float | None = None,
) -> Layer:
    """The verdict of the black box on anything that can be run; a quick look where no number of runs is given."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            if runs is None:
                findings = probe_quickly(sampler, workloads, seed, promises, pairs, seconds)
            else:
                findings = list(probe(sampler, workloads, runs, seed, promises, pairs))
    except (Exception, SystemExit) as error:
        return Layer("black box", "fail", f"{name} fails with {in_words(error)}")
    if not findings:
        return Layer("black box", "not run", TOO_SLOW)
    most = max(each.runs for each in findings)
    figures = {"runs a side": most, "settings": [_finding(each) for each in findings]}
    # what little is shown at a small epsilon is not worth a line, unless it refutes
    telling = [each for each in findings if each.refuted or each.setting.epsilon >= 1]
    worst = max(telling, key=lambda each: (each.refuted, each.runs, each.strongest.refuted - each.setting.epsilon))
    figures |= {"refuted": worst.strongest.refuted, "epsilon": worst.setting.epsilon, "power": worst.within_reach}
    if not worst.refuted:
        return Layer("black box", "pass", "", figures)
    test = worst.strongest
    delta = f", with delta {worst.setting.delta:g}," if worst.setting.delta else ""
    cause = (
        f"{name} is not {worst.setting.epsilon:g}-private{delta} on {worst.setting.domain}: epsilon up to "
        f"{test.refuted:.3g} is refuted; '{test.event}' happened in {test.happened} of {test.runs} runs and in "
        f"{test.happened_on_neighbour} on a neighbour; seen with {worst.setting}"
    )
    return Layer("black box", "fail", cause, figures)


def _finding(finding: Finding) -> dict[str, Any]:
    test = finding.strongest
    return {
        "domain": str(finding.setting.domain),
        "epsilon": finding.setting.epsilon,
        "delta": finding.setting.delta,
        "refuted": test.refuted,
        "power": finding.within_reach,
        "event": str(test.event),
        "happened": [test.happened, test.happened_on_neighbour],
        "runs": finding.runs,
        "tested on": test.runs,
    }
