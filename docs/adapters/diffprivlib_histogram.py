"""diffprivlib's histogram, on a line. It takes records; counts below 0 become 0."""

import numpy as np
from diffprivlib.tools import histogram


def cells(x, workload, epsilon, rng):
    """Truncated geometric noise on every cell."""
    records = np.repeat(np.arange(len(x)), x)
    seed = int(rng.integers(2**31))
    found, _ = histogram(records, epsilon, bins=len(x), range=(-0.5, len(x) - 0.5), random_state=seed)
    return np.asarray(found, dtype=float)
