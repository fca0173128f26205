"""docs/audit.md is what the command gives."""

import re

import pytest
from benchmarks import audit as document
from benchmarks import audit_cases

from dpbench.audit.report import FOUND, UNKNOWN


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
    functions += later.FUNCTIONS_WITH_MEMORY
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
    assert not any(f"**{word}**" in committed for word in (FOUND, UNKNOWN))
    assert committed.count("| nothing found |") >= 23


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


def test_the_page_says_of_every_row_which_code_made_it(committed):
    """The rows of the audit before are named, and what it has gained since is said above them."""
    rows = dict(document.ROW.findall(committed))
    assert sorted({*document.mutants()} - {*rows}) == []
    assert len(rows) > 130
    assert (document.OLDER_WORDS in committed) == (document.OLDER in rows.values())
    assert set(document.stale(committed)) == {label for label, code in rows.items() if code != document.code()}
    assert committed.startswith(document.head(document.OLDER in rows.values()))


def test_the_page_of_cases_says_that_its_rows_are_of_another_version(request):
    """As long as any of them is of other code than this."""
    page = (request.config.rootpath / "docs" / "audit-cases.md").read_text()
    assert (audit_cases.OLDER in page) == bool(audit_cases.stale(page))
    assert page == audit_cases.page({}, page)


@pytest.mark.slow
@pytest.mark.filterwarnings("default")
def test_the_rows_of_the_mutants_are_what_the_audit_says_now(committed):
    """Which layer flags each, and the cause; but for the last digits, which another processor rounds otherwise.

    Rows of other code are left aside: the page says that they are.
    """
    rows = [nine_digits(row) for row in committed.splitlines()]
    others = document.stale(committed)
    assert [row for row in map(nine_digits, document.mutant_rows(others)) if row not in rows] == []
