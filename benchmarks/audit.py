"""What the audit says of the mutants, the published forms and the private forms: docs/audit.md is made here.

python -m benchmarks.audit --out docs/audit.md
python -m benchmarks.audit --out docs/audit.md --add                   only rows of mutants that the page does not have
python -m benchmarks.audit --out docs/audit.md --stale                 runs nothing, and names rows of other code
python -m benchmarks.audit --cards src/dpbench/gallery/audited.json    for the cards of the page
"""

import argparse
import re
import sys
from importlib import import_module
from pathlib import Path

from dpbench import algorithms
from dpbench.audit import audit, audit_function
from dpbench.audit.report import LAYERS
from dpbench.audit.subject import REVISION
from dpbench.gallery.audited import audit_catalogue

ROOT = Path(__file__).resolve().parents[1]
MUTANT_RUNS = 2000
WITHIN = "the mark in its ledger alone: no call moved by more than it was charged for"
HEAD = """\
# What the audit finds

Made by `python -m benchmarks.audit --out docs/audit.md`; do not edit. Every row was measured, none was typed.
`dpbench check` prints the same verdicts; what each layer does is in `dpbench check --help`.

A check has one of three outcomes: a leak or a fault was found, nothing was found, or it was not examined, because a
layer that matters did not come to its end. "Nothing found" covers only the tests listed, which `dpbench check`
prints. It is not a proof.

The replay draws a domain, a budget, a workload, trials and two data vectors at random. It records a run on one
vector, forces its answers on the other in a fresh process, and compares everything that leaves. The audit does not
look at how long a run takes, at memory that does not leave, or at code that finds out by other means than its handle
that it is examined. Runs that do not end are not compared; the report names one. The black box looks at outputs
rounded to seven digits, because double-precision Laplace noise differs between neighbours in its last bits. A release
has to round.

The column "code" has the revision of the audit that made the row. `--stale` names rows of another one than is here.
"""
RELATED = """\
## Related work

Two other tools for the same task, and what differs:

- **Re:cord-play** (T. Cebere, D. Erb, D. Desfontaines, A. Bellet, J. Fitzsimons: *Privacy in Theory, Bugs in
  Practice: Grey-Box Auditing of Differential Privacy Libraries*,
  [arXiv:2602.17454](https://arxiv.org/abs/2602.17454), package `dp-recorder`) has the idea of our replay. It records
  the outcomes of noise primitives on one dataset, forces them on a neighbour, flags control flow that differs, and
  compares how far the inputs of a primitive moved with its declared sensitivity. Re:cord-play-sample draws from
  single components that are not trusted and estimates their privacy loss. The paper reports 13 violations in 12
  libraries, among them SmartNoise SDK, Opacus and Diffprivlib. It works on any Python code: an author marks the
  primitives by decorators and the public values by `ensure_equality`, and gives the datasets. Ours works only on
  algorithms that ask through the handle of DPBench. So nothing has to be marked, and everything that leaves a run is
  compared: output, ledger, exceptions, text, files, settings. Cases are drawn at random, include vectors that are far
  apart and noise that is distorted, run in fresh processes in batches, and are made small when they fail.
  Re:cord-play composes the losses of components into one privacy loss distribution, which ours does not.
- **DP-Auditorium** (M. Ribero and others: *DP-Auditorium: A Large-Scale Library for Auditing Differential Privacy*,
  IEEE S&P 2024) is a black box for any
  mechanism. It searches for neighbouring datasets and tests a divergence between output distributions, for several
  definitions of privacy. Our black box does the same for histograms, with fixed families of events, a learned one and
  exact confidence bounds. It knows pure and approximate differential privacy only.
"""
OLDER = "audit-r1"
"""The audit of dpbench 0.2.0 as of 2026-11-18."""
OLDER_WORDS = f"""\
Rows with `{OLDER}` are of dpbench 0.2.0 as of 2026-11-18. The audit has gained since then: a comparison of one seed
in a fresh process and after 60 or more other runs; forced tails, and a watch on generators, for an algorithm's own
mechanisms; both sides of rounding borders for plain functions. Rows of a later revision show these.
"""
MUTANTS_HEAD = """\
## Mutants

Algorithms that were broken on purpose (`tests/audit/mutants.py`; `tests/audit/leaks.py`, written before the randomised
replay, each with another mechanism of leaking; `tests/audit/later_leaks.py`, written after it, some of them to get past
it), by the default audit; plain functions with {runs:,} runs per side.

The measure that counts is what nobody here had seen. Five sets were written by people who had not read the audit,
each frozen before it was checked:

| set | algorithms | functions | found | all |
|---|---|---|---|---|
| first | 51 | 6 | 48 and 6 | 95 % |
| second | 36 | 6 | 27 and 6 (2 more flagged for something else than their leak) | 79 % |
| third | 36 | 6 | 30 and 5 (1 more flagged for something else) | 83 % |
| fourth | 36 | 6 | 36 and 6 | 100 % |
| fifth | 30 | 6 | 29 and 4 (1 more flagged for something else) | 92 % |

What a set missed was mended before the next was checked, and stands in the table below. The fourth was frozen while the
third was looked at, so nobody who mended had seen it; its author had read `docs/privacy.md` and a part of
`privacy/claims.py`. Four of its kinds are like some that the third had shown to be missed (error bars, text at the end
of the process, a sampler that is replaced, draws used twice): the audit as it was before that flagged 38 of its 42. The
fifth's author had read what authors of algorithms are told, which has the audit in outline. Missed were two functions,
one wrong below an epsilon of 1 and one wrong in the plane alone; a sparse vector of somebody's own was flagged because
its density does not add up to 1. With one that does, it is found to lose four times what it pays.

| mutant | flagged by | cause | code |
|---|---|---|---|
"""
PUBLISHED_HEAD = """\
## Forms that are not private

Published forms that say of themselves that they are not private, and private forms with a public scale, judged with
the marks of their ledger switched off (`--ignore-marks`): by measurement alone.

| form | flagged by | cause | code |
|---|---|---|---|
"""
PRIVATE_HEAD = """\
## Private forms

The cases are as many, up to 480, as ten seconds of the processor allow; `python -m benchmarks.audit_cases` runs ten
thousand per algorithm and notion.

| algorithm | verdict | largest domain | largest change of its claim | code |
|---|---|---|---|---|
"""


ROW = re.compile(r"^\| (.+?) \| .* \| `(audit-r\d+)` \|$", re.MULTILINE)
"""A row of the page: what it is of, and the code that made it."""


def code():
    """The audit that is here."""
    return f"audit-r{REVISION}"


def broken(file):
    """A module of broken algorithms."""
    if str(ROOT / "tests") not in sys.path:
        sys.path.append(str(ROOT / "tests"))
    return import_module(f"audit.{file}")


def flagged(label, report, unseen=WITHIN):
    """A row: which layers flag it, and the cause that the first of them that measures names."""
    measured = [
        layer
        for name in ("sensitivity", "replay", "mechanisms", "black box", "ledger", "conformance")
        for layer in report.failures
        if layer.name == name
    ]
    layers = ", ".join(name for name in LAYERS if name in {layer.name for layer in measured}) or "nothing measured"
    cause = measured[0].cause.replace("|", "/") if measured else unseen
    return f"| {label} | {layers} | {cause} | `{code()}` |"


def mutants():
    """Every broken algorithm and function by its label, with what audits it."""
    first, leaks, later = broken("mutants"), broken("leaks"), broken("later_leaks")
    found = {kind.name: (audit, kind, {}) for kind in (*first.MUTANTS, *leaks.LEAKS, *later.LATER, *leaks.BEYOND)}
    found |= {kind.name: (audit, kind, {}) for kind in later.NOT_FOUND}
    functions = (*first.BROKEN_FUNCTIONS, *leaks.LEAKY_FUNCTIONS, *later.LATER_FUNCTIONS, *later.FUNCTIONS_WITH_MEMORY)
    for each in functions:
        found[f"`{each.__name__}`, a plain function"] = (audit_function, each, {"runs": MUTANT_RUNS})
    return found


def mutant_rows(leave_out=()):
    for label, (examine, subject, how) in mutants().items():
        if label not in leave_out:
            yield flagged(label, examine(subject, **how), "found by nobody" if examine is audit else WITHIN)


def head(older):
    """What stands above the rows; ``older``: some of them are of the audit of 2026-11-18."""
    return "\n".join([HEAD, *([OLDER_WORDS] if older else []), RELATED])


def added(page):
    """The page with this head, and with a row for every mutant that has none, after the other mutants."""
    rows = list(mutant_rows(dict(ROW.findall(page))))
    found = page[page.index("## Mutants\n") :]
    before, heading, after = found.partition("\n## Forms that are not private\n")
    found = before.rstrip("\n") + "".join(f"\n{row}" for row in rows) + "\n" + heading + after
    return head(OLDER in found) + "\n" + found


def stale(page):
    """What the rows that other code has made are of."""
    return [label for label, its in ROW.findall(page) if its != code()]


def published_rows():
    for name, kind in algorithms.catalogue().items():
        if not kind(variant="published").is_private:
            report = audit(kind(variant="published"), ignore_marks=True)
            yield flagged(f"{name}, published", report)
    for name, kind in algorithms.catalogue().items():
        if "scale" in kind.side_information:
            report = audit(kind, side_information="public", ignore_marks=True)
            yield flagged(f"{name}, private with public scale", report)


def private_rows():
    for name in algorithms.everything():
        report = audit(algorithms.get(name))
        verdict = report.outcome if report.passed else f"**{report.outcome}**: {report.causes[0].cause}"
        replay, change = report.layer("replay").figures, report.layer("sensitivity").figures
        yield (
            f"| {name} | {verdict} | {replay['cells'][1]:,} cells | "
            f"{change['largest change']:.4g} of {change['claim']:.4g} | `{code()}` |"
        )


def document():
    """The whole text."""
    parts = [head(False), MUTANTS_HEAD.format(runs=MUTANT_RUNS) + "\n".join(mutant_rows()) + "\n"]
    parts.append(PUBLISHED_HEAD + "\n".join(published_rows()) + "\n")
    parts.append(PRIVATE_HEAD + "\n".join(private_rows()) + "\n")
    return "\n".join(parts)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--cards", type=Path)
    parser.add_argument("--add", action="store_true", help="make only the rows of mutants that the page does not have")
    parser.add_argument("--stale", action="store_true", help="name the rows of the page that other code has made")
    chosen = parser.parse_args()
    if (chosen.add or chosen.stale) and not chosen.out:
        parser.error("--add and --stale ask for an --out")
    if chosen.stale:
        print("\n".join(stale(chosen.out.read_text())) or "every row is of the code as it is")
        return
    if chosen.add:
        chosen.out.write_text(added(chosen.out.read_text()))
        return
    if chosen.cards:
        chosen.cards.write_text(audit_catalogue())
        return
    text = document()
    if chosen.out:
        chosen.out.write_text(text)
    else:
        print(text)


if __name__ == "__main__":
    main()
