"""What goes wrong while counts are shown to somebody's code is reported by its kind alone.

An exception can carry counts in its words, in the name of its class, in what it was raised from, and in the frames that
its traceback holds. So it is dropped where it arrives, and another one is raised where it is gone.
"""

from __future__ import annotations

import builtins
from collections.abc import Callable, Mapping
from typing import TypeVar

from dpbench import errors
from dpbench.errors import AlgorithmFailed

Result = TypeVar("Result")

KINDS: Mapping[type[BaseException], str] = {
    kind: name
    for module in (builtins, errors)
    for name, kind in vars(module).items()
    if isinstance(kind, type) and issubclass(kind, BaseException)
}
"""Exceptions whose names are public: Python's and ours. Of any other, the nearest one above it is named."""


def withheld(reason: str, compute: Callable[[], Result], on_failure: Callable[[str], None]) -> Result:
    """The result of somebody's code that is shown counts; ``on_failure`` is called before a failure is raised."""
    kind: type[BaseException]
    try:
        return compute()
    except BaseException as error:  # SystemExit carries words as well
        kind = next(each for each in type(error).__mro__ if each in KINDS)
    on_failure(reason)
    if kind is KeyboardInterrupt:
        raise KeyboardInterrupt
    raise AlgorithmFailed(
        f"'{reason}' failed with {KINDS[kind]} when it was shown the counts; its words are withheld, since they "
        f"may quote counts: show it made-up counts to read them"
    )
