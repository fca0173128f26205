"""docs/audit.md is what the command gives."""

import pytest
from benchmarks import audit as document


@pytest.fixture
def committed(request):
    return (request.config.rootpath / "docs" / "audit.md").read_text()


def test_the_rows_of_the_mutants_are_what_the_audit_says_now(committed):
    """Which layer flags each, and the cause."""
    assert all(row in committed for row in document.mutant_rows())


def test_nothing_is_left_unflagged(committed):
    """No mutant and no published form goes through, and every private form passes.

    With a public scale SF's private form stays within its charges: the true scale only divides a score, which then
    moves by less than is paid for.
    """
    unflagged = [line.split("|")[1].strip() for line in committed.splitlines() if "| nothing measured |" in line]
    assert unflagged == ["SF, private with public scale"]
    assert "**fails**" not in committed
    assert committed.count("| passes |") >= 17


@pytest.mark.slow
def test_the_whole_document_is_what_the_command_gives(committed):
    """All three tables."""
    assert document.document() == committed
