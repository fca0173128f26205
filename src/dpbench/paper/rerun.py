"""Whether a slice of a study, run again, gives the same errors."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dpbench.paper.study import Study
from dpbench.results import Results, Setting
from dpbench.store.setting_key import IDENTITY
from dpbench.store.versions import short

BORDER = 1e-9
"""Part of an error by which processors may disagree about it; any other cause moves errors by more."""


@dataclass(frozen=True)
class Rerun:
    """A slice beside the study that it is from."""

    same: int
    """Settings whose errors are the study's, bit for bit of the 32 that a summary keeps."""
    different: tuple[str, ...]
    """Settings with at least one other error."""
    absent: int
    """Settings that the study does not have."""
    skipped: tuple[tuple[str, int], ...] = ()
    """Versions that are not the study's, in words, with the number of settings that were not compared for it."""

    def __str__(self) -> str:
        words = f"{self.same} settings give the errors of the study bit for bit, {len(self.different)} do not"
        return words + (f"; {self.absent} are not in it" if self.absent else "")


def compare_rerun(study: Study, again: Results) -> Rerun:
    """Errors of a slice beside those of the study, trial by trial; a slice may have fewer trials.

    A setting of an algorithm that has another version than in the study is not compared.
    """
    known = {_identity(each): each for part in _parts(study) for each in part}
    same, different, absent = 0, list[str](), 0
    skipped: Counter[str] = Counter()
    for each in again:
        before = known.get(_identity(each))
        if before is None:
            absent += 1
        elif before.algorithm_source != each.algorithm_source:
            skipped[
                f"{each.label} is {short(each.algorithm_source)}, in the study {short(before.algorithm_source)}"
            ] += 1
        elif _agrees(before, each):
            same += 1
        else:
            different.append(f"{each.label} on {each.dataset}, {each.domain}, scale {each.scale:.0e}")
    return Rerun(same, tuple(different), absent, tuple(skipped.items()))


def _parts(study: Study) -> Iterable[Results]:
    found = (study.published.results, study.private.results, study.gaussian.results, study.published.extras)
    return (part for part in found if part is not None)


def _identity(setting: Setting) -> tuple[object, ...]:
    return tuple(getattr(setting, name) for name in IDENTITY)


def _agrees(before: Setting, after: Setting) -> bool:
    samples, trials = after.errors.shape
    if before.errors.shape[0] < samples or before.errors.shape[1] < trials:
        return False
    run = np.isfinite(after.errors)
    return bool(run.any() and same_errors(before.errors[:samples, :trials][run], after.errors[run]))


def same_errors(kept: NDArray[np.floating], again: NDArray[np.float64]) -> bool:
    """Whether errors that a summary keeps in 32 bits are those of a rerun, rounded.

    Exponentials and logarithms of another processor may differ in the last of 64 bits. A number next to the border
    between two of 32 bits then rounds the other way, so either is the same where both are within ``BORDER`` of it.
    """
    low, here, high = (each.astype(np.float32) for each in (again * (1 - BORDER), kept, again * (1 + BORDER)))
    return bool(((low <= here) & (here <= high)).all())
