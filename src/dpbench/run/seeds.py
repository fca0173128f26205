"""Seeds from named axes: what a stream is for decides it, not when or where it is drawn."""

from __future__ import annotations

from hashlib import sha256

import numpy as np


def seed_for(seed: int, *names: object) -> np.random.SeedSequence:
    """The stream of a study's ``seed`` that belongs to ``names``, such as ("data", "MEDCOST", "1024", 1000, 0).

    Different names give independent streams, and a stream does not depend on which others exist.
    """
    written = "\x1f".join(f"{type(name).__name__}:{name}" for name in names)
    words = np.frombuffer(sha256(written.encode()).digest(), dtype="<u4")
    return np.random.SeedSequence([seed, *(int(word) for word in words)])
