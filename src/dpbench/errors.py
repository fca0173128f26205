"""Every exception that a user of this package can meet.

Each message is one line that says what was given, what is wanted and what to do next. No message
contains a private count.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from difflib import get_close_matches

LONGEST = 60
"""How many characters of a value a message repeats."""
_BREAKS = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]+\s*")


def shown(given: object) -> str:
    """Quote what was given, short and on one line, whatever its repr does."""
    try:
        text = _BREAKS.sub(" ", repr(given)) if not isinstance(given, int) or abs(given) < 10**60 else "a huge number"
    except Exception:  # the repr of a stranger's class
        text = f"a {type(given).__name__}"
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 3]}..."


def one_line(text: str) -> str:
    """A text without line breaks, control characters and halves of characters."""
    return _BREAKS.sub(" ", text)


class DPBenchError(Exception):
    """The root of all exceptions raised on purpose by this package."""

    def __str__(self) -> str:
        """The message, on one line: what it quotes may have several, or control characters."""
        return one_line(super().__str__())


class InvalidInput(DPBenchError, ValueError):
    """A value that no computation can be made from: a bad epsilon, counts, domain, parameter."""


class NotEnoughMemory(InvalidInput):
    """Something that would take more memory than one call may; the limit can be raised."""


class InvalidEpsilon(InvalidInput):
    """A privacy budget that is not a positive finite number."""


class InvalidCounts(InvalidInput):
    """Counts that are negative, fractional, not finite, or too large."""


class InvalidDomain(InvalidInput):
    """A domain that is malformed or does not fit what it is used with."""


class InvalidWorkload(InvalidInput):
    """Ranges outside the domain, or a workload file with bad rows."""


class InvalidTable(InvalidInput):
    """A table, or the bounds and bins for it, that cannot become a histogram."""


class InvalidSpec(InvalidTable):
    """A spec of a histogram or a release with a mistake in it."""


class InvalidTraining(InvalidInput):
    """A training that cannot be, or a table of parameters that does not fit."""


class InvalidTask(InvalidInput):
    """A task description with a part that does not exist or does not fit."""


class UnknownName(InvalidInput):
    """A name that no catalogue holds."""

    @classmethod
    def among(cls, kind: str, name: object, known: Iterable[str]) -> UnknownName:
        """Say which names exist, the nearest ones first."""
        names = list(known)
        folded = {candidate.casefold(): candidate for candidate in names}
        text = name[:LONGEST] if isinstance(name, str) else ""
        close = get_close_matches(text.casefold(), folded, n=3, cutoff=0.5)
        hint = ", ".join(folded[match] for match in close)
        known_names = f"known: {', '.join(names)}" if names else "there are none"
        advice = f"did you mean {hint}?" if hint else known_names
        return cls(f"there is no {kind} named {shown(name)}; {advice}")


class Unsupported(DPBenchError):
    """A combination that cannot run, such as a 1-D algorithm on a 2-D domain."""


class InvalidPlan(InvalidInput):
    """A plan that names what does not exist or asks for what cannot be."""


class InvalidStore(DPBenchError):
    """A folder that is not a store, or a store that cannot be read or mixed."""


class RunStopped(DPBenchError):
    """A run that had to end early; everything finished is in the store."""


class DatasetUnavailable(DPBenchError):
    """A histogram that is not on this machine and could not be fetched."""


class CorruptData(DPBenchError):
    """A file whose checksum or content is not what was published."""


class PrivacyError(DPBenchError):
    """The root of what the private door refuses."""


class BudgetExceeded(PrivacyError):
    """A charge that does not fit into what is left of epsilon; nothing was drawn."""


class BudgetNotSpent(PrivacyError):
    """A run that ended with part of epsilon neither spent nor forfeited."""


class UndeclaredSideInformation(PrivacyError):
    """An algorithm asked for the scale without declaring it as side information."""


class NotPrivate(PrivacyError):
    """Raw counts asked for by something that claims to be private."""


class ReplayDiverged(PrivacyError):
    """A replay on a neighbour made other calls than the recorded run."""


class ReleaseRefused(PrivacyError):
    """A release that does not take place: nothing was read, and nothing was charged."""


class ReleaseFailed(PrivacyError):
    """A release that failed after its charge, which stays; no word about why, since that may follow from the rows."""


class AlgorithmFailed(DPBenchError):
    """An algorithm returned something that breaks the contract of an estimate."""


class CheckFailed(DPBenchError):
    """An algorithm that does not have a property that every algorithm must have."""
