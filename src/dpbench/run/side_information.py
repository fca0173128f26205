"""R_side put to the test: plans that run algorithms with a public scale, and with one estimated by some of epsilon."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from dpbench.datasets import shapes
from dpbench.domain import Domain
from dpbench.errors import InvalidInput
from dpbench.repair.side_prices import PUBLIC, TASK
from dpbench.run import source_data
from dpbench.run.plan import Plan
from dpbench.run.strangers import facts_of
from dpbench.run.units import Unit
from dpbench.task.parts import AlgorithmPart
from dpbench.task.task import RANGE_1D, RANGE_2D, Task

DECLARERS = ("MWEM", "UGrid", "AGrid", "SF")
"""Those that the paper repairs."""
SCALES = (10**3, 10**4, 10**5, 10**6, 10**7, 10**8)
SHARES = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5)
"""What the sweep of rho_total tries."""
USUAL = 0.05


@dataclass(frozen=True)
class SideComparison:
    """Algorithms with a public scale and with an estimated one, on the same data vectors."""

    references: tuple[str, ...]
    """Names in the catalogue, or FILE.py:Class."""
    datasets: tuple[str, ...]
    domains: tuple[str, ...]
    scales: tuple[int, ...]
    shares: tuple[float, ...]
    samples: int
    trials: int
    seed: int

    @classmethod
    def of(
        cls,
        references: Sequence[str] = (),
        *,
        datasets: Sequence[str] = (),
        domains: Sequence[str] = (),
        scales: Sequence[int] = (),
        shares: Sequence[float] = (),
        samples: int = 3,
        trials: int = 10,
        seed: int = 0,
    ) -> SideComparison:
        """A comparison with everything checked; by default on synthetic shapes, so that nothing is tuned on data."""
        chosen = tuple(references) or DECLARERS
        for reference in chosen:
            known = facts_of(reference)
            if "scale" not in known.side_information:
                raise InvalidInput(f"{known.name} needs no scale, so there is none to estimate; leave it out")
        for share in shares:
            if not 0 < share < 1:
                raise InvalidInput(f"the share {share:g} is not between 0 and 1; write for example --share 0.05")
        return cls(
            chosen,
            tuple(datasets) or tuple(shapes.names()),
            tuple(domains) or ("1024", "64x64"),
            tuple(scales) or SCALES,
            tuple(dict.fromkeys(shares)) or (USUAL,),
            samples,
            trials,
            seed,
        )

    def plan(self) -> Plan:
        """One task for the free scale and one for each share, on as many axes as there are datasets and domains for."""
        tasks = [task for axes in (1, 2) for task in self._tasks(axes)]
        if not tasks:
            raise InvalidInput("no dataset fits any of the domains; give a dataset and a domain of as many axes")
        return Plan(name="side-information", tasks=tuple(tasks))

    def _tasks(self, axes: int) -> Iterable[Task]:
        domains = [domain for domain in self.domains if Domain.of(domain).ndim == axes]
        datasets = [name for name in self.datasets if source_data.find(name).ndim == axes]
        able = [name for name in self.references if facts_of(name, domains).domains]
        if not datasets or not able:
            return
        usual = RANGE_1D if axes == 1 else RANGE_2D
        for label in (PUBLIC, *map(repr, self.shares)):
            source = PUBLIC if label == PUBLIC else "estimated"
            yield usual.replace(
                name=TASK + label,
                datasets=datasets,
                domains=domains,
                scales=self.scales,
                algorithms=[AlgorithmPart(name, side_information=source) for name in able],
                samples=self.samples,
                trials=self.trials,
                seed=self.seed,
                **({} if label == PUBLIC else {"rho_total": float(label)}),
            )

    def shared_noise(self, units: Sequence[Unit]) -> list[Unit]:
        """The same draws for every share: differences between shares are less noisy."""
        return [replace(unit, noise_name=f"side information {unit.algorithm.name}") for unit in units]
