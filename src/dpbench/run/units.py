"""A unit of work: one data vector, one algorithm, its trials. Plain data, so that it can go anywhere."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from dpbench.algorithm import Algorithm
from dpbench.errors import AlgorithmFailed
from dpbench.loss import L2, Loss
from dpbench.plugins import find
from dpbench.run.identity import content_hash
from dpbench.run.source_data import SourceData
from dpbench.store.loss_versions import stored_label
from dpbench.store.schema import LOSS_COLUMNS, Row
from dpbench.store.setting_key import budget_of
from dpbench.store.versions import Form
from dpbench.task.parts import AlgorithmPart, WorkloadPart


@dataclass(frozen=True, kw_only=True)
class Unit:
    """What to run, complete in itself."""

    task: str
    data: SourceData
    domain: str
    workload: WorkloadPart
    scale: int
    epsilon: float
    delta: float = 0.0
    rho: float = 0.0
    """The budget: epsilon, epsilon and delta, or rho; 0 where it does not apply."""
    algorithm: AlgorithmPart
    """With the name that the algorithm gives itself."""
    reference: str
    """Where the algorithm is found: its name in the catalogue, or FILE.py:Class."""
    side_information: str
    """Where the scale comes from; empty where none is declared."""
    rho_total: float
    sample: int
    seed: int
    first_trial: int
    trials: int
    key: str
    algorithm_source: str
    generator_source: str
    loss: Loss = field(default_factory=L2)
    """What is measured beside the losses that every row holds."""
    loss_source: str = ""
    """Version of the loss; empty for those that every row holds."""
    run: str = ""
    noise_name: str = ""
    """Whose noise is drawn; empty: the algorithm's own, so that any two trials of a study are independent."""
    answers: str = ""
    """The store that keeps the answers of every trial; empty where nobody asked for them."""
    files: tuple[tuple[str, str], ...] = ()
    """Files that somebody's own algorithm depends on, with a hash of each."""

    def row(self, **outcome: Any) -> Row:
        """The row of this unit with what came out; a failure says which loss was asked for."""
        asked: dict[str, list[float]] = {} if self.loss_name in LOSS_COLUMNS else {self.loss_name: []}
        return Row(
            task=self.task,
            dataset=self.data.name,
            domain=self.domain,
            workload=self.workload.label,
            scale=self.scale,
            epsilon=self.epsilon,
            delta=self.delta,
            rho=self.rho,
            algorithm=self.algorithm.name,
            variant=self.algorithm.variant,
            side_information=self.side_information,
            parameters=self.form[2],
            sample=self.sample,
            seed=self.seed,
            first_trial=self.first_trial,
            key=self.key,
            algorithm_source=self.algorithm_source,
            dataset_source=self.data.source,
            generator_source=self.generator_source,
            run=self.run,
            **({"other_losses": asked} | outcome),
        )

    @property
    def loss_name(self) -> str:
        """The name under which a store holds the loss."""
        return stored_label(self.loss.label, self.loss_source)

    @property
    def form(self) -> Form:
        """What names the form of the algorithm that is run."""
        return self.algorithm.name, self.algorithm.variant, json.dumps(dict(self.algorithm.parameters), sort_keys=True)

    @property
    def budget(self) -> dict[str, Any]:
        """The budget as an algorithm takes it."""
        return budget_of(self)

    @property
    def vector(self) -> tuple[str, str, int, int]:
        """What names the data vector within a study."""
        return self.data.name, self.domain, self.scale, self.sample


def build_algorithm(reference: str, part: AlgorithmPart) -> Algorithm:
    """The algorithm that a part names, found by reference."""
    kind = find(reference)
    kind._refuse_unknown(dict(part.parameters))
    return kind(variant=part.variant, **dict(part.parameters))  # type: ignore[arg-type]  # checked by the class


def load_algorithm(unit: Unit) -> Algorithm:
    """The algorithm of a unit; somebody's own file has to be what it was when the run was planned."""
    algorithm = build_algorithm(unit.reference, unit.algorithm)
    for path, known in unit.files:
        if not Path(path).is_file() or content_hash(path) != known:
            raise AlgorithmFailed(
                f"{Path(path).name}, which {unit.algorithm.name} uses, has changed since the run began; run it again"
            )
    return algorithm


def describe(error: BaseException) -> str:
    """A failure in one line of plain text, whatever the exception holds."""
    try:
        text = " ".join(str(error).split())[:300].encode("utf-8", "replace").decode()
    except Exception:
        text = ""
    name = type(error).__name__
    return f"{name}: {text}" if text else name
