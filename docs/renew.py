"""Renew the numbers of README.md, private.md and choosing.md: ``python docs/renew.py`` (``--check`` only says).

The pages are prose, written by hand; their numbers follow from the study. Each sentence of README.md and private.md
below is a template whose numbers are computed here, and a number of the page that is not the study's is replaced. In
choosing.md the output of the command and the table of how good the advice was are replaced whole. What no number can
mend, a conclusion that no longer holds, is a failing test (tests/documentation/test_renewed_pages.py).
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from difflib import unified_diff
from pathlib import Path
from typing import Any

import numpy as np

from dpbench.advice import experience
from dpbench.advice.advisor import recommend
from dpbench.interpreting import regret
from dpbench.paper import Study, verdicts
from dpbench.paper.catalogue_errors import CatalogueErrors
from dpbench.paper.error_panel import TASKS, Panel
from dpbench.paper.figures import NEAR
from dpbench.paper.findings_inputs import advantage
from dpbench.paper.findings_practice import best_columns, shares
from dpbench.paper.price import prices, truncation, truncation_in_conclusions
from dpbench.paper.study import Part
from dpbench.paper.tables import table_3
from dpbench.paper.verdict import REPRODUCED
from dpbench.results.markup import markdown_rows

HERE = Path(__file__).parent
NUMBER = r"\d+(?:,\d{3})*(?:\.\d+)?"
ASKED = ("128x128", 0.5, 300_000)
"""The example of docs/choosing.md."""
ADVICE = r"(?<=```text\n)[^\n]*, for random ranges on 128x128 cells.*?(?=```)"
EVALUATION = r"\| evaluated on \|.*?\n(?=\n)"
BLOCK = r"(?<=```text\n)finding 1 .*?(?=```)"


def regrets(part: Part, dimensions: int) -> dict[str, float]:
    """Regrets among the algorithms of Figure 1, the lowest first."""
    panel = part.panel(dimensions)
    found = regret(panel.part(TASKS[dimensions].generator.scales))
    return {panel.names[each.algorithm]: each.regret for each in found}


def sentences(study: Study) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Templates with {} where a number stands, and the numbers."""
    yield from _regrets(study)
    yield from _prices(study)
    yield from _truncation(study)
    yield from _bias(study)
    yield from _volatility(study)
    yield from _advice(study)


def _regrets(study: Study) -> Iterator[tuple[str, tuple[str, ...]]]:
    (line, line_private), (plane, plane_private) = (
        [regrets(part, d) for part in (study.published, study.private)] for d in (1, 2)
    )
    yield "lowest regret ({}, Hb {})", (f"{line['DAWA']:.2f}", f"{line['Hb']:.2f}")
    yield "Hb {}, DAWA {}", (f"{line_private['Hb']:.2f}", f"{line_private['DAWA']:.2f}")
    yield "its regret goes from {} to {}", (f"{line['EFPA']:.1f}", f"{line_private['EFPA']:.0f}")
    yield "from {} to {} in 1-D", (f"{line['DPCube']:.0f}", f"{line_private['DPCube']:.1f}")
    yield "Its regret falls from {} to {}", (f"{plane['DAWA']:.2f}", f"{plane_private['DAWA']:.2f}")
    yield "from {} to {} in 2-D, the third best there", (f"{plane['DPCube']:.0f}", f"{plane_private['DPCube']:.1f}")


def _prices(study: Study) -> Iterator[tuple[str, tuple[str, ...]]]:
    cost = {(each.algorithm, each.scale): each.typical for each in prices(study) if each.dimensions == 1}
    dawa = [cost["DAWA", scale] for scale in study.private.panel(1).scales]
    first, rest = f"{dawa[0]:.1f}", (f"{min(dawa[1:]):.2f}", f"{max(dawa[1:]):.1f}")
    yield "a factor of {} at 10^3 records and {} to {} above", (first, *rest)
    yield "DAWA's partition ({} times), MWEM*'s free scale ({} times", (first, f"{cost['MWEM*', 1000]:.1f}")
    yield "EFPA's exact phases ({} times)", (f"{cost['EFPA', 1000]:.1f}",)
    efpa = f"{cost['EFPA', 10**3]:.1f}", f"{cost['EFPA', 10**7]:.0f}"
    yield "{} times as large at 10^3, {} times at 10^7", efpa
    factors = tuple(f"{advantage(part.panel(1), 1000)[0]:.1f}" for part in (study.published, study.private))
    yield "by {} times in the paper's setting and by {} times with privacy", factors
    competitive = {row["algorithm"]: row["ours"] for row in table_3(study.private, 1, 1000).rows}
    yield "Hb is competitive on {} of 18 datasets", (str(competitive["Hb"]),)


def _truncation(study: Study) -> Iterator[tuple[str, tuple[str, ...]]]:
    ratios = [row["ratio of means"] for row in truncation(study).rows]
    yield "its mean error {} to {} times as large", (f"{min(ratios):.1f}", f"{max(ratios):.1f}")
    cut, whole = truncation_in_conclusions(study).rows
    counts = [[str(row[f"competitive at {scale:.0e}"]) for scale in (10**4, 10**6, 10**8)] for row in (whole, cut)]
    yield (
        "a regret of {} and is competitive on {}, {} and {} of nine datasets",
        (f"{whole['regret DAWA']:.2f}", *counts[0]),
    )
    yield "not on {}, {} and {}", tuple(counts[1])
    untruncated, private = Panel.of(study.published.suite("truncation"), 2, "128x128"), study.private.panel(2)
    price = [
        np.exp(np.mean(np.log(private.each("DAWA", scale) / untruncated.each("DAWA", scale))))
        for scale in private.scales
    ]
    shown = f"{price[0]:.1f}", f"{price[1]:.1f}", f"{price[3]:.1f}"
    yield "a factor of {} at 10^3, {} at 10^4 and 10^5, and {} above", shown


def _bias(study: Study) -> Iterator[tuple[str, tuple[str, ...]]]:
    own = [f"{100 * shares(part, 1, 10**8)['MWEM*']:.0f}" for part in (study.private, study.published)]
    yield "bias is {} % of its squared error, published {} %", tuple(own)


def _volatility(study: Study) -> Iterator[tuple[str, tuple[str, ...]]]:
    def volatility(part: Part, name: str, scale: int) -> float:
        panel = part.panel(1)
        numbers = [panel.number(name, dataset, scale) for dataset in panel.wanted]
        return float(100 * np.median(panel.measured.deviation[numbers] / panel.measured.mean[numbers]))

    def careless(part: Part) -> tuple[str, str]:
        panel = part.panel(1)
        results = panel.part(TASKS[1].generator.scales)
        mean, tail = best_columns(results)
        own = mean == [panel.names[label] for label in results.grid.labels].index("DAWA")
        return str(int((own & (tail != mean)).sum())), str(int(own.sum()))

    yield (
        "lacks the lowest 95th percentile in {} of {}; in the paper's setting in {} of {}",
        careless(study.private) + careless(study.published),
    )
    ends = []
    for part in (study.private, study.published):
        own = [volatility(part, "DAWA", scale) for scale in part.panel(1).scales]
        ends += [f"{min(own):.0f}", f"{max(own):.0f}"]
    yield "a deviation of {} to {} % of its mean, published {} to {} %", tuple(ends)
    hb = tuple(f"{volatility(part, 'Hb', 10**5):.0f}" for part in (study.published, study.private))
    yield "deviation {} % of the mean at 10^5), ours does not ({} %)", hb


def _advice(study: Study) -> Iterator[tuple[str, tuple[str, ...]]]:
    line, plane = study.private.panel(1), study.private.panel(2)
    dawa = sorted(line.average("DAWA", scale) / line.average("Hb", scale) for scale in (10**3, 10**4))
    yield "({} to {} times that of Hb on average", (f"{dawa[0]:.2f}", f"{dawa[1]:.2f}")
    agrid = [plane.average("AGrid", scale) / plane.average("Hb", scale) for scale in (10**3, 10**4, 10**5)]
    yield "({} to {} times that of Hb)", (f"{min(agrid):.2f}", f"{max(agrid):.2f}")


def findings(study: Study) -> str:
    """The verdicts on the ten findings, as the block at the head of the page prints them."""
    found = verdicts(study, lambda group: group.startswith("finding"))
    return "".join(f"{e.group:10} {e.verdict:10} {e.private_verdict}\n" for e in found if e.headline)


def of_readme(study: Study) -> Iterator[tuple[str, tuple[str, ...]]]:
    """The sentences of README that have numbers of the study."""
    sizes = [_size(part) for part in (study.published, study.private, study.gaussian)]
    yield "in the paper's setting ({} settings, {} trials)", sizes[0]
    yield "private end to end ({} settings, {} trials)", sizes[1]
    yield "with Gaussian noise ({} settings, {} trials)", sizes[2]
    found = verdicts(study, lambda group: group.startswith("finding"))
    (figure,) = verdicts(study, lambda group: group == "figure 1")
    off = [abs(row["difference"]) for row in figure.rows]
    yield (
        "In the paper's setting {} of {} values of its Figure 1 are within {} of ours in log10 error and all are "
        "within {}",
        (
            str(sum(each <= NEAR for each in off)),
            str(len(off)),
            f"{NEAR:.2f}",
            f"{np.ceil(100 * max(off) - 1e-9) / 100:.2f}",
        ),
    )
    heads = [each for each in found if each.headline]
    yield (
        "{} of its {} findings are reproduced",
        (str(sum(each.verdict == REPRODUCED for each in heads)), str(len(heads))),
    )
    yield (
        "[With privacy](docs/private.md) {} of them stand",
        (str(sum(each.private_verdict == REPRODUCED for each in heads)),),
    )
    (best, next_best), (best_2, next_2) = (
        list(CatalogueErrors.of(study.private, d).regrets().values())[:2] for d in (1, 2)
    )
    yield (
        "its error is {} times that of the best algorithm of each setting on a line and {} times",
        (
            f"{best:.2f}",
            f"{best_2:.2f}",
        ),
    )
    yield "the next one has {} and {}", (f"{next_best:.2f}", f"{next_2:.2f}")


def _size(part: Part) -> tuple[str, str]:
    if part.results is None:
        return "0", "0"
    return f"{len(part.results):,}", f"{part.results.measured.trials.sum():,}"


def private(text: str, study: Study) -> str:
    """The page on privacy with the numbers of a study."""
    text = renewed("docs/private.md", text, sentences(study))
    return re.sub(BLOCK, findings(study).replace("\\", r"\\"), text, flags=re.DOTALL)


def renewed(name: str, text: str, templates: Iterable[tuple[str, tuple[str, ...]]]) -> str:
    """A text with other numbers in its sentences; one that is not there, or there twice, is an error."""
    for template, numbers in templates:
        parts = [re.sub(r"(?:\\ )+", r"\\s+", re.escape(part)) for part in template.split("{}")]
        pattern = re.compile(f"({NUMBER})".join(f"({part})" for part in parts))
        found = list(pattern.finditer(text))
        if len(found) != 1:
            raise SystemExit(f"{name} has {len(found)} sentences like '{template}'; one is wanted")
        pieces = list(found[0].groups())
        pieces[1::2] = list(numbers)
        text = text[: found[0].start()] + "".join(pieces) + text[found[0].end() :]
    return text


def evaluation() -> str:
    """How good the advice was on data that it had not seen, as a table."""
    held, unseen = experience.shipped()["held"], experience.shipped(experience.TRIED).get("unseen", {})
    rows = []
    for at in ("1", "2"):
        left = held[at]["mean"]
        rows.append([f"{at}-D, families left out of the study", f"{left['families']} families", *_row(left)])
        if unseen:
            new = unseen[at]["mean"]
            rows.append([f"{at}-D, generators and public tables", f"{new['data']} kinds", *_row(new)])
    head = ["evaluated on", "how many", "settings", "regret", "interval held", "bad run held", "high over low"]
    return "\n".join(markdown_rows(head, rows)) + "\n"


def _row(found: Mapping[str, Any]) -> list[str]:
    held = f"{found['interval']:.0%}", f"{found['bad_run']:.0%}"
    return [str(found["settings"]), f"{found['regret']:.2f}", *held, f"{found['width']:.1f}"]


def choosing(text: str) -> str:
    """The page on choosing with the advice and its evaluation as they are now."""
    advice = f"{recommend(*ASKED)}\n"
    for pattern, new in ((ADVICE, advice), (EVALUATION, evaluation())):
        text, found = re.subn(pattern, new.replace("\\", r"\\"), text, flags=re.DOTALL)
        if found != 1:
            raise SystemExit(f"docs/choosing.md has {found} places like {pattern}; one is wanted")
    return text


def pages() -> Iterator[tuple[Path, str]]:
    """Every page and what it should be."""
    readme = HERE.parent / "README.md"
    yield readme, renewed("README.md", readme.read_text(encoding="utf-8"), of_readme(Study.shipped()))
    yield HERE / "private.md", private((HERE / "private.md").read_text(encoding="utf-8"), Study.shipped())
    yield HERE / "choosing.md", choosing((HERE / "choosing.md").read_text(encoding="utf-8"))


def main(arguments: list[str]) -> int:
    """Write the pages, or say whether they would change."""
    changed = 0
    for path, after in pages():
        before = path.read_text(encoding="utf-8")
        sys.stdout.writelines(unified_diff(before.splitlines(True), after.splitlines(True), path.name, path.name, n=0))
        changed += before != after
        if "--check" not in arguments:
            path.write_text(after, encoding="utf-8")
    return changed if "--check" in arguments else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
