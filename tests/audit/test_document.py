"""docs/audit.md is what the command gives."""

import re

import pytest
from benchmarks import audit as document
from benchmarks import audit_cases


def nine_digits(text):
    """Numbers with more digits are rounded to as many."""
    return re.sub(r"\d+\.\d{8,}(e[+-]\d+)?", lambda found: f"{float(found[0]):.9g}", text)


@pytest.fixture
def committed(request):
    return (request.config.rootpath / "docs" / "audit.md").read_text()


def test_every_broken_algorithm_has_its_row(committed):
    """The mutants and the leaks, by the name that they have now."""
    mutants, leaks, later = (document.broken(file) for file in ("mutants", "leaks", "later_leaks"))
    names = [kind.name for kind in (*mutants.MUTANTS, *leaks.LEAKS, *later.LATER, *leaks.BEYOND, *later.NOT_FOUND)]
    functions = (*mutants.BROKEN_FUNCTIONS, *leaks.LEAKY_FUNCTIONS, *later.LATER_FUNCTIONS)
    names += [f"`{each.__name__}`, a plain function" for each in functions]
    assert [name for name in names if f"| {name} | " not in committed] == []


def test_nothing_is_left_unflagged(committed):
    """No published form and no mutant goes through but those that are beyond the audit; no private form fails.

    With a public scale SF's private form stays within its charges: the true scale only divides a score, which then
    moves by less than is paid for.
    """
    unflagged = [line.split("|")[1].strip() for line in committed.splitlines() if "| nothing measured |" in line]
    later = [kind.name for kind in document.broken("later_leaks").NOT_FOUND]
    assert unflagged == ["slower on more records", *later, "SF, private with public scale"]
    assert "**fails**" not in committed
    assert committed.count("| not refuted |") >= 23


def test_rows_of_other_code_are_named():
    """A page of cases keeps the rows that it has; of these, what other code has made and what is missing is named."""
    every = audit_cases.pairs_of(audit_cases.algorithms.everything())
    found = {"batches": 1250, "cases": 10_000, "too large": 0, "too slow": 0, "seconds": 60.0, "alarms": []}
    kept = {f"{name}, {notion}": {**found, "audited": audit_cases.audited(name)} for name, notion in every}
    page = audit_cases.page(kept)
    assert audit_cases.stale(page) == []
    changed = audit_cases.page({"MWEM*, pure": {**found, "audited": "0" * 16}}, page)
    assert audit_cases.stale(changed) == ["MWEM*, pure"]
    gone = "\n".join(line for line in changed.splitlines() if not line.startswith("| Hb | zCDP |"))
    assert audit_cases.stale(gone) == ["Hb, zCDP", "MWEM*, pure"]


@pytest.mark.slow
@pytest.mark.filterwarnings("default")
def test_the_rows_of_the_mutants_are_what_the_audit_says_now(committed):
    """Which layer flags each, and the cause; but for the last digits, which another processor rounds otherwise."""
    rows = [nine_digits(row) for row in committed.splitlines()]
    assert [row for row in map(nine_digits, document.mutant_rows()) if row not in rows] == []
