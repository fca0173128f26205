"""A stranger's claims are recomputed on the workload and domain that a run uses."""

from dataclasses import dataclass

import pytest

from audit.leaks import TenthAboveThreeHundred
from dpbench import algorithms
from dpbench.algorithm import Algorithm
from dpbench.cli import main
from dpbench.errors import CheckFailed
from dpbench.run.claims import insist_on_claims
from dpbench.workloads import Prefix

TENTH = """\
from dataclasses import dataclass
import dpbench as dpb
from dpbench.mathematics.cells import Cells

class Tenth(Cells):
    @property
    def sensitivity(self):
        return 0.1 if self.domain.size > 300 else 1

@dataclass(frozen=True, kw_only=True)
class Mine(dpb.Algorithm):
    name = "Mine"
    data_dependent = False

    def estimate(self, data, workload):
        return data.laplace(Tenth(data.domain), data.epsilon, "cells")
"""


@pytest.mark.parametrize("budget", [{"epsilon": 0.1}, {"rho": 0.3}, {"epsilon": 1, "delta": 1e-6}])
def test_a_claim_is_recomputed_at_the_domain_at_hand(budget):
    """A tenth of the sensitivity above 300 cells, and none too little below."""
    insist_on_claims(TenthAboveThreeHundred(), Prefix(256), budget)
    kind = "a sensitivity" if "rho" not in budget and "delta" not in budget else "an L2 sensitivity"
    with pytest.raises(CheckFailed, match=rf"is not private on 512: 'cells' claims {kind} of 0\.1, .* factor 10"):
        insist_on_claims(TenthAboveThreeHundred(), Prefix(512), budget)


@pytest.mark.parametrize("name", ["Hb", "DAWA", "MWEM", "Privelet"])
def test_true_claims_are_believed(name):
    """On a domain of the study."""
    insist_on_claims(algorithms.get(name), Prefix(1024), {"epsilon": 0.1})


def test_what_else_goes_wrong_is_for_the_run_to_report():
    """No claim is refuted by an algorithm that fails."""

    @dataclass(frozen=True, kw_only=True)
    class Fails(Algorithm):
        name = "Fails"

        def estimate(self, data, workload):
            raise RuntimeError("not today")

    insist_on_claims(Fails(), Prefix(8), {"epsilon": 1})


def test_run_refuses_an_understated_claim_where_it_is_used(tmp_path, capsys):
    """Units on the small domain are run, those on the large one fail with the cause."""
    (tmp_path / "mine.py").write_text(TENTH)
    (tmp_path / "plan.toml").write_text(
        'base = "RANGE_1D"\nname = "small"\ndatasets = ["uniform"]\nalgorithms = ["Identity"]\n'
        '[generator]\ndomains = ["128", "512"]\nscales = [1000]\nsamples = 1\n'
    )
    options = ["--with", f"{tmp_path / 'mine.py'}:Mine", "--store", str(tmp_path / "store"), "--jobs", "0", "--quiet"]
    assert main(["run", str(tmp_path / "plan.toml"), *options]) == 1
    told = capsys.readouterr()
    assert "Mine is not private on 512: 'cells' claims a sensitivity of 0.1" in told.out + told.err
    assert "not private on 128" not in told.out + told.err
