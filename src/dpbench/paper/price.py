"""The price of privacy: what the forms that are really private lose, or gain, against what was published."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dpbench.interpreting import regret
from dpbench.paper.error_panel import TASKS, Panel
from dpbench.paper.findings_inputs import spread
from dpbench.paper.reported import DOMAINS, PLOTTED, authors_code, numbers
from dpbench.paper.study import Study
from dpbench.paper.verdict import Answer, Claim, Undecided, Verdict, judge
from dpbench.results import Results

MODEST = 1.25
"""A rise of error up to this factor is called modest."""


@dataclass(frozen=True)
class Price:
    """Private over published error of one algorithm at one scale of one domain."""

    dimensions: int
    domain: str
    algorithm: str
    scale: int
    ratio: float
    """Ratio of the means over datasets."""
    typical: float
    """Geometric mean over datasets of the ratios."""
    datasets: int


def prices(study: Study, domains: tuple[str, ...] = tuple(DOMAINS.values())) -> list[Price]:
    """Every algorithm that both settings have, on the datasets that both have."""
    found = []
    for domain in domains:
        dimensions = domain.count("x") + 1
        published, private = study.published.panel(dimensions, domain), study.private.panel(dimensions, domain)
        for name in dict.fromkeys([*PLOTTED[dimensions], *private.results.columns["algorithm"].tolist()]):
            for scale in published.scales:
                both = [d for d in published.wanted if published.has(name, d, scale) and private.has(name, d, scale)]
                if both:
                    before, after = (np.array([p.mean(name, d, scale) for d in both]) for p in (published, private))
                    typical = float(np.exp(np.mean(np.log(after / before))))
                    ratio = float(after.mean() / before.mean())
                    found.append(Price(dimensions, domain, name, scale, ratio, typical, len(both)))
    return found


def side_information(study: Study) -> Answer:
    """Estimating the scale costs UGrid and AGrid modestly, and MWEM much at small scales."""
    ratio = {(each.dimensions, each.algorithm, each.scale): each.typical for each in prices(study)}
    try:
        grids = {name: max(v for (d, n, _), v in ratio.items() if d == 2 and n == name) for name in ("UGrid", "AGrid")}
        mwem = {scale: v for (d, n, scale), v in ratio.items() if d == 1 and n == "MWEM"}
        small, large = mwem[min(mwem)], mwem[max(mwem)]
    except ValueError:
        raise Undecided("MWEM, UGrid or AGrid were not measured in both settings") from None
    words = f"UGrid at most {grids['UGrid']:.2f}, AGrid {grids['AGrid']:.2f}; MWEM {small:.2f} at {min(mwem):.0e}, "
    words += f"{large:.2f} at {max(mwem):.0e}"
    modest = all(value <= MODEST for value in grids.values())
    return Answer(words, modest and small > MODEST and small > large, quantities={"MWEM": mwem, **grids})


def truncation(study: Study) -> Answer:
    """How much of the error of published DAWA in 2-D, and of its variation, is the truncation to integers."""
    cut = study.published.panel(2)
    whole = Panel.of(study.published.suite("truncation"), 2, DOMAINS[2])
    rows = []
    for scale in whole.scales:
        try:
            before, after = cut.each("DAWA", scale), whole.each("DAWA", scale)
        except Undecided:
            continue
        logs = np.log(before / after)
        rows.append(
            {
                "scale": scale,
                "truncated": float(before.mean()),
                "untruncated": float(after.mean()),
                "ratio of means": float(before.mean() / after.mean()),
                "most on a dataset": float(np.exp(logs.max())),
                "spread truncated": spread(cut, "DAWA", scale),
                "spread untruncated": spread(whole, "DAWA", scale),
                "authors' code": _code_ratio(scale),
            }
        )
    if not rows:
        raise Undecided("DAWA was not measured on all datasets with and without truncation")
    words = ", ".join(f"{row['scale']:.0e}: {row['ratio of means']:.2f}" for row in rows)
    return Answer(f"error truncated over untruncated by scale: {words}", None, "the paper does not say", {}, rows)


def truncation_in_conclusions(study: Study) -> Answer:
    """What Table 3 and the regrets would say in 2-D if DAWA's output were left as it is."""
    cut = study.published.panel(2)
    whole = _with_untruncated(cut, study.published.suite("truncation"))
    scales = numbers()["table3"]["2"]["scales"]
    rows = [
        {
            "2-D DAWA": name,
            **{f"competitive at {scale:.0e}": panel.counts(panel.competitive(scale))["DAWA"] for scale in scales},
            **{
                f"regret {who}": round(lost, 2)
                for who, lost in _regrets(panel).items()
                if who in ("DAWA", "AGrid", "Hb")
            },
        }
        for name, panel in (("truncated", cut), ("untruncated", whole))
    ]
    before, after = ([row[f"competitive at {scale:.0e}"] for scale in scales] for row in rows)
    lost = [row["regret DAWA"] for row in rows]
    words = f"DAWA competitive on {before} of 9 datasets truncated, {after} untruncated; regret {lost[0]} and {lost[1]}"
    return Answer(words, None, "the paper does not say", {}, rows)


def _with_untruncated(cut: Panel, suite: Results) -> Panel:
    """A panel with the untruncated DAWA in the place of the truncated one."""
    whole = Panel.of(suite, 2, cut.domain).results
    others = cut.results.take(cut.results.columns["algorithm"] != "DAWA")
    same_task = {**whole.columns, "task": np.full(len(whole), others.columns["task"][0], dtype=object)}
    return Panel(2, cut.domain, others.joined(Results(same_task, whole.errors)))


def _regrets(panel: Panel) -> dict[str, float]:
    found = regret(panel.part(TASKS[panel.dimensions].generator.scales))
    return {panel.names[each.algorithm]: each.regret for each in found}


def _code_ratio(scale: int) -> float:
    """The same ratio in the authors' released code, over the datasets that it was run on; NaN where it was not."""
    cut, whole = authors_code(), authors_code("truncate=False")
    keys = [key for key in whole if key[3] == scale and key in cut]
    return sum(cut[key].mean for key in keys) / sum(whole[key].mean for key in keys) if keys else float("nan")


def side_information_by_dimension(study: Study) -> Verdict:
    """The paper's sentence on side information needs both settings at once."""
    says = "modest for SF, UGrid and AGrid, significant for MWEM at small scales"
    source = "text, resolving violations"
    claim = Claim(
        "beyond", "error when the scale is estimated", source, says, lambda _: side_information(study), fixed=True
    )
    return judge(claim, study)


def verdicts(study: Study) -> list[Verdict]:
    """What needs both settings at once, or what the paper could not say."""
    dawa = Claim(
        "beyond", "2-D DAWA: what truncation to integers does", "not in the paper", "-", lambda _: truncation(study),
        fixed=True,
    )  # fmt: skip
    conclusions = Claim(
        "beyond", "2-D DAWA: what truncation does to Table 3 and to regret", "not in the paper", "-",
        lambda _: truncation_in_conclusions(study), fixed=True,
    )  # fmt: skip
    return [side_information_by_dimension(study), judge(dawa, study), judge(conclusions, study)]
