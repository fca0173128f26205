"""``dpbench repair``: what the paper's repair functions do to error."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from dpbench.cli.arguments import add_jobs, add_json, add_quiet, add_verb, seed, whole, write_json
from dpbench.cli.text_tables import write_table

if TYPE_CHECKING:
    from dpbench.cli.arguments import Subparsers
    from dpbench.repair.side_prices import ShareChoice, SidePrice
    from dpbench.repair.tuning_findings import RoundsRatio, TuningSpread


def add_parser(subparsers: Subparsers) -> None:
    """Add ``repair`` with its commands."""
    parser = add_verb(
        subparsers,
        "repair",
        "what repairs do to error: an estimated scale, trained parameters",
        "An algorithm that is given the scale, or tuned on the data, is not private end to end. These commands show\n"
        "what it costs, or gains, to repair it. `dpbench tune` does the training.",
        "dpbench repair side UGrid AGrid",
    )
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    _add_side(commands)
    _add_findings(commands)


def _add_side(commands: Subparsers) -> None:
    side = add_verb(
        commands,
        "side",
        "error with a public scale and with an estimated one",
        "Run algorithms with the scale public and with a scale estimated by a share of epsilon, on the same data\n"
        "vectors, and show both errors by scale. With several shares (--sweep) it shows which share serves best.\n"
        "It runs on synthetic shapes unless datasets are named, and goes on where it was interrupted.",
        "dpbench repair side                                 MWEM, UGrid, AGrid and SF at a share of 0.05\n"
        "  dpbench repair side MWEM --sweep                    the sweep of rho_total\n"
        "  dpbench repair side mine.py:Mine --share 0.02 --domain 4096 --dataset MEDCOST",
    )
    add = side.add_argument
    add("algorithms", nargs="*", metavar="NAME|FILE.py:Class", help="algorithms (MWEM UGrid AGrid SF)")
    add("--share", type=float, action="append", default=[], metavar="S", help="share of epsilon for the scale (0.05)")
    add("--sweep", action="store_true", help="shares 0.01 0.02 0.05 0.1 0.2 0.5")
    add("--dataset", action="append", default=[], metavar="NAME|FILE", help="on this; repeatable (synthetic shapes)")
    add("--domain", action="append", default=[], metavar="N|NxM", help="on this; repeatable (1024 and 64x64)")
    add("--scale", type=whole, action="append", default=[], metavar="N", help="at this; repeatable (10^3 ... 10^8)")
    add("--samples", type=whole, default=3, metavar="N", help="data vectors for each dataset and scale (3)")
    add("--trials", type=whole, default=10, metavar="N", help="runs on each (10)")
    add("--seed", type=seed, default=0, metavar="N", help="seed (0)")
    add("--store", metavar="DIR", help="where the errors are kept (dpbench-store/side-information)")
    add_jobs(side)
    add_json(side)
    add_quiet(side)
    side.set_defaults(run=run_side)


def _add_findings(commands: Subparsers) -> None:
    findings = add_verb(
        commands,
        "findings",
        "the paper's findings 6 and 7, from a store",
        "Finding 6: how much worse an algorithm does with parameters that are the best somewhere else (the suite\n"
        "`parameters` makes such a store). Finding 7: the error of MWEM over that of MWEM* by scale.",
        "dpbench run parameters --store tuned\n  dpbench repair findings tuned --json",
    )
    findings.add_argument("store", metavar="STORE")
    findings.add_argument("--dataset", default="MEDCOST", metavar="NAME", help="where finding 6 is measured (MEDCOST)")
    findings.add_argument("--scale", type=whole, default=10**5, metavar="N", help="and at which scale (10^5)")
    add_json(findings)
    findings.set_defaults(run=run_findings)


def run_side(chosen: argparse.Namespace) -> int:
    """Compare a public with an estimated scale and print the price."""
    from dataclasses import asdict

    from dpbench.cli.running import fill
    from dpbench.repair.side_prices import best_shares, side_prices
    from dpbench.results import Results
    from dpbench.run.side_information import SHARES, SideComparison

    comparison = SideComparison.of(
        chosen.algorithms,
        datasets=chosen.dataset,
        domains=chosen.domain,
        scales=chosen.scale,
        shares=chosen.share or (SHARES if chosen.sweep else ()),
        samples=chosen.samples,
        trials=chosen.trials,
        seed=chosen.seed,
    )
    store, todo, outcome = fill(comparison.plan(), chosen, comparison.shared_noise)
    wanted = {unit.key for unit in todo.units}
    prices = side_prices(Results._from_rows(row for row in store.rows() if row.key in wanted))
    choices = best_shares(prices)
    if chosen.json:
        plain = {"prices": [asdict(price) for price in prices], "shares": [asdict(choice) for choice in choices]}
        write_json(plain)
    else:
        _print_prices(prices, choices)
    return 1 if outcome and outcome.failures else 0


def _print_prices(prices: list[SidePrice], choices: list[ShareChoice]) -> None:
    for algorithm, domain in dict.fromkeys((price.algorithm, price.domain) for price in prices):
        here = [price for price in prices if (price.algorithm, price.domain) == (algorithm, domain)]
        shares = sorted({price.share for price in here})
        rows = []
        for scale in sorted({price.scale for price in here}):
            by_share = {price.share: price for price in here if price.scale == scale}
            public = next(iter(by_share.values())).public_error
            rows.append([f"{scale:.0e}", f"{public:.2e}", *(_ratio(by_share.get(share)) for share in shares)])
        notes = [
            f"best share over all scales {choice.best:g}; error over that of the best: "
            + ", ".join(f"{share:g} {regret:.3f}" for share, regret in choice.regret)
            for choice in choices
            if (choice.algorithm, choice.domain) == (algorithm, domain)
        ]
        title = f"{algorithm} on {domain}: error with a public scale, and with an estimated one as a multiple of it"
        write_table(title, ["scale", "public", *(f"share {share:g}" for share in shares)], rows, "\n".join(notes))


def _ratio(price: SidePrice | None) -> str:
    return "-" if price is None else f"{price.ratio:.2f} ±{price.ratio * price.uncertainty:.2f}"


def run_findings(chosen: argparse.Namespace) -> int:
    """Print what a store says of findings 6 and 7."""
    from dataclasses import asdict

    from dpbench.repair.tuning_findings import rounds_ratios, tuning_spreads
    from dpbench.store import Store

    rows = Store(chosen.store).rows()
    spreads = tuning_spreads(rows, chosen.dataset, chosen.scale)
    ratios = rounds_ratios(rows)
    if chosen.json:
        plain = {"finding 6": [asdict(each) for each in spreads], "finding 7": [asdict(each) for each in ratios]}
        write_json(plain)
    else:
        _print_findings(spreads, ratios, chosen)
    return 0


def _print_findings(spreads: list[TuningSpread], ratios: list[RoundsRatio], chosen: argparse.Namespace) -> None:
    write_table(
        f"Finding 6, {chosen.dataset} at scale {chosen.scale:.0e}: error with the worst parameters that are the best "
        f"somewhere, over error with the best",
        ["algorithm", "domain", "ratio", "worst", "best", "best somewhere"],
        [
            [
                each.algorithm,
                each.domain,
                f"{each.ratio:.2f}",
                each.worst,
                each.best,
                f"{each.optimal_somewhere} of {each.tried} in one of {each.scenarios} scenarios",
            ]
            for each in spreads
        ],
        ""
        if spreads
        else "cannot be decided: the store holds no algorithm with several parameters there (`dpbench run parameters`)",
    )
    write_table(
        "Finding 7: error of MWEM over MWEM*",
        ["domain", "scale", "mean of ratios", "ratio of means", "datasets"],
        [
            [
                each.domain,
                f"{each.scale:.0e}",
                f"{each.mean_of_ratios:.3f}",
                f"{each.ratio_of_means:.3f}",
                str(each.datasets),
            ]
            for each in ratios
        ],
        "" if ratios else "cannot be decided: the store does not hold MWEM and MWEM* on the same data",
    )
