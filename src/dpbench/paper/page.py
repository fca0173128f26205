"""The page of findings, generated: the ten findings in both settings, and what changes with privacy."""

from __future__ import annotations

from collections.abc import Iterable

from dpbench.paper.all_claims import verdicts
from dpbench.paper.hypotheses import is_ours
from dpbench.paper.price import Price, prices
from dpbench.paper.study import Study
from dpbench.paper.verdict import UNDECIDED, Undecided, Verdict
from dpbench.results.markup import by_scale, markdown_rows


def page(study: Study) -> str:
    """The page in Markdown."""
    everything = verdicts(study)
    found = [each for each in everything if not is_ours(each.group)]
    headlines = [each for each in found if each.headline]
    lines = [
        "# The paper's findings, in its setting and end-to-end private",
        "",
        "Written by `dpbench paper --page docs/findings.md`; do not edit. The paper's setting runs the algorithms as",
        "their authors' code does, with the scale public; several of them are then not private. End-to-end private",
        "runs the repaired forms, and estimates the scale with part of the budget.",
        "",
        "## The ten findings",
        "",
        *markdown_rows(["", "finding", "in the paper's setting", "end-to-end private"], map(_finding, headlines)),
        "",
        "## What changes when every algorithm is really private",
        "",
        *_changes(found),
        "",
        "### Price of privacy: private over published error, geometric mean over datasets",
        "",
        *price_tables(study),
        "",
        "## The ten years since, and the open problems",
        "",
        "Claims of our own. What was expected was fixed before it was computed on the study",
        "([open problems](open-problems.md)).",
        "",
        *own_rows(each for each in everything if is_ours(each.group)),
        "",
        "## All verdicts",
        "",
        *markdown_rows(["where", "claim", "paper", "paper's setting", "private"], map(_verdict, found)),
    ]
    return "\n".join(line.rstrip() for line in lines) + "\n"


def _finding(each: Verdict) -> list[str]:
    return [
        each.group.split()[1],
        each.claim,
        f"**{each.verdict}**: {each.ours}{_note(each.why)}",
        f"**{each.private_verdict}**: {each.private}{_note(each.private_why)}",
    ]


def _verdict(each: Verdict) -> list[str]:
    return [
        f"{each.group}, {each.source}",
        each.claim,
        each.says,
        f"{each.ours}: **{each.verdict}** {each.why}",
        f"{each.private}: **{each.private_verdict}** {each.private_why}",
    ]


def own_rows(found: Iterable[Verdict]) -> list[str]:
    """Claims of our own as a table: what was expected, what was measured, the verdict."""
    rows = ([e.group, e.claim, e.says, f"{e.ours}: **{e.verdict}** {e.why}"] for e in found)
    return markdown_rows(["where", "claim", "expected", "measured"], rows)


def _note(why: str) -> str:
    return f" ({why})" if why else ""


def _changes(found: list[Verdict]) -> list[str]:
    """Claims whose verdict is another one when every algorithm is private."""
    decided = [each for each in found if UNDECIDED not in {each.verdict, each.private_verdict}]
    changed = [each for each in decided if each.verdict != each.private_verdict]
    if not decided:
        return ["Nothing was decided in both settings."]
    intro = f"Of {len(decided)} claims that both settings decide, {len(changed)} come out differently:"
    words = [
        f"- **{each.claim}** ({each.group}): {each.ours} in the paper's setting ({each.verdict}), "
        f"{each.private} with privacy ({each.private_verdict})."
        for each in changed
    ]
    return [intro, "", *words]


def price_tables(study: Study) -> list[str]:
    """The price of privacy in Markdown, a table for each domain of the figures."""
    try:
        found = prices(study)
    except Undecided as reason:
        return [f"Cannot be decided: {reason}."]
    lines = []
    for domain in dict.fromkeys(each.domain for each in found):
        lines += [*_price_table(domain, [each for each in found if each.domain == domain]), ""]
    return lines


def _price_table(domain: str, found: list[Price]) -> list[str]:
    scales, rows = by_scale({(each.algorithm, each.scale): f"{each.typical:.2f}" for each in found})
    return markdown_rows([domain, *(f"{scale:.0e}" for scale in scales)], rows)
