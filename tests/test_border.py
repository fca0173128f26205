"""docs/pure-or-gaussian.md is what the command gives."""

import pytest
from benchmarks import border

from dpbench.workloads import Prefix, RandomRange


@pytest.fixture
def committed(request):
    return (request.config.rootpath / "docs" / "pure-or-gaussian.md").read_text()


def test_rows_of_short_axes_are_what_the_command_gives(committed):
    """Errors and borders; on a line, in the plane and in space."""
    for workload in (Prefix(64), RandomRange(64, queries=None), RandomRange((32, 32), queries=None)):
        assert border.error_row(workload) in committed
        assert border.border_row(workload) in committed


def test_errors_meet_at_the_border():
    """Below it every Gaussian strategy errs more than the pure one, above it the best errs less."""
    workload, epsilon = Prefix(64), 0.5
    at = border.border(workload, epsilon)
    pure = border.pure(workload).error / epsilon**2
    for delta, lower in ((at / 1.01, False), (at * 1.01, True)):
        assert (border.gaussian_error(workload, epsilon, delta) < pure) is lower


def test_what_is_said_of_the_papers_sizes_stands(committed):
    """At epsilon 1 pure privacy wins on a line at delta 1e-6; in the plane it loses from 64 x 64 on."""
    verdicts = {}
    for line in committed.split("## The border")[0].splitlines():
        cells = [cell.strip() for cell in line.split("|")]
        if len(cells) > 6 and cells[1] in ("Prefix", "RandomRange"):
            verdicts[cells[1], cells[2]] = cells[6]
    assert {verdicts["Prefix", n] for n in ("256", "1024", "4096")} == {"pure"}
    assert "1e-06: Gaussian" in verdicts["RandomRange", "64x64"]
    assert "1e-06: Gaussian" in verdicts["RandomRange", "128x128"]
    assert verdicts["RandomRange", "256x256"] == "Gaussian"


@pytest.mark.slow
def test_the_whole_document_is_what_the_command_gives(committed):
    """All of it."""
    assert border.document() == committed
