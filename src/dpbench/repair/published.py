"""The tables in the authors' code: parameters by epsilon * scale, interpolated linearly in the product."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from dpbench.domain import Domain


@dataclass(frozen=True)
class PublishedTable:
    """Parameters at a few products, for one number of axes; end values are held."""

    products: tuple[float, ...]
    parameters: Mapping[str, Sequence[float]]

    def look_up(self, product: float) -> dict[str, float]:
        """Each parameter by itself, linear in the product and not in its logarithm, as the authors' code does."""
        return {name: float(np.interp(product, self.products, values)) for name, values in self.parameters.items()}


MWEM_ROUNDS = {
    1: PublishedTable(
        (0, 1, 10, 100, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e20),
        {"rounds": (2, 2, 2, 4, 8, 12, 60, 80, 140, 140, 140, 140)},
    ),
    2: PublishedTable(
        (0, 500, 1e3, 5e3, 1e4, 1e5, 5e5, 1e6, 5e6, 1e7, 1e8, 1e20),
        {"rounds": (12, 12, 12, 32, 32, 60, 120, 140, 140, 140, 140, 140)},
    ),
}
AHP_SHARES = {
    1: PublishedTable(
        (0, 50, 100, 500, 1e3, 1e4, 5e5, 1e6, 5e6, 1e7, 1e8, 1e20),
        {
            "rho": (0.7, 0.7, 0.7, 0.9, 0.9, 0.8, 0.7, 0.5, 0.5, 0.3, 0.3, 0.3),
            "eta": (0.2, 0.2, 0.1, 0.2, 0.1, 0.1, 0.3, 0.1, 0.2, 0.1, 0.3, 0.3),
        },
    ),
    2: PublishedTable(
        (0, 500, 1e3, 5e3, 1e4, 1e5, 5e5, 1e6, 5e6, 1e7, 1e8, 1e20),
        {
            "rho": (0.9, 0.9, 0.9, 0.9, 0.9, 0.9, 0.9, 0.7, 0.5, 0.7, 0.5, 0.5),
            "eta": (0.5, 0.5, 0.1, 0.1, 0.1, 0.3, 0.7, 0.1, 0.1, 0.9, 0.1, 0.1),
        },
    ),
}


def published(tables: Mapping[int, PublishedTable], domain: Domain, product: float) -> dict[str, float]:
    """The authors' parameters; more than two axes take those of two."""
    return tables[min(domain.ndim, 2)].look_up(product)
