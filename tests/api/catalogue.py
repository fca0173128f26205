"""Every call of the public API that the suite makes, in groups."""

from __future__ import annotations

import inspect
from dataclasses import fields

import numpy as np
from hypothesis import strategies as st

import dpbench as dpb
from api.calls import (
    COUNTS,
    DOMAINS,
    EPSILONS,
    ERRORS,
    ESTIMATES,
    Call,
    Fitting,
    among,
    answers_hold,
    budgets,
    counts_hold,
    domain_holds,
    error_holds,
    estimate_holds,
    finite_holds,
    fraction_holds,
    ledger_holds,
    limit_holds,
    loss_holds,
    measured,
    norm_holds,
    outcome_holds,
    seeds,
    shape_holds,
    study,
    table_holds,
    task_holds,
    workload_holds,
    workloads,
)
from dpbench.datasets import Column, shapes
from dpbench.measuring import measure

domains = among(*DOMAINS)
counts = among(*COUNTS)
fitting = among(Fitting("counts"), Fitting("few"), Fitting("many"), Fitting("counts"), *COUNTS)
estimates = among(*ESTIMATES, *(Fitting(kind) for kind in ("counts", "few", "estimates", "estimates") * 3))


def _call(name, function, valid, holds=lambda result, given: None, always=()):
    return Call(name, function, valid, holds, frozenset(always))


DOMAIN = [
    _call("Domain", dpb.Domain, {"shape": among((4,), (2, 3))}, domain_holds, ["shape"]),
    _call("Domain.of", dpb.Domain.of, {"like": domains}, domain_holds, ["like"]),
    _call(
        "Domain.coarsen",
        lambda domain, counts, coarse: dpb.Domain.of(domain).coarsen(counts, coarse),
        {"domain": among(4, "4x2"), "counts": among(np.arange(4), np.ones((4, 2))), "coarse": among(2, "2x2", 1)},
        lambda result, given: np.testing.assert_allclose(result.sum(), np.asarray(given["counts"]).sum()),
        ["domain", "counts", "coarse"],
    ),
]

WORKLOAD = [
    *(
        _call(f"workloads.{kind.__name__}", kind, {"domain": domains}, workload_holds, ["domain"])
        for kind in (dpb.workloads.Prefix, dpb.workloads.Identity, dpb.workloads.AllRange)
    ),
    *(
        _call(
            f"workloads.{kind.__name__}",
            kind,
            {"domain": domains, "queries": among(1, 5, None, 200), "seed": among(0, 7, 2**100)},
            workload_holds,
            ["domain"],
        )
        for kind in (dpb.workloads.RandomRange, dpb.workloads.RandomSmall)
    ),
    _call(
        "workloads.Ranges",
        dpb.workloads.Ranges,
        {
            "domain": among(4, "2x2"),
            "lower": among([0, 1], [[0], [1]], [[0, 0], [1, 0]]),
            "upper": among([4, 2], [[4], [2]], [[2, 1], [2, 2]]),
            "weights": among(None, [1, 2], [0.5, -1e9], [0, 0]),
        },
        workload_holds,
        ["domain", "lower", "upper"],
    ),
    _call(
        "workloads.build",
        dpb.workloads.build,
        {
            "name": among(*dpb.workloads.names(), "Ranges"),
            "domain": domains,
            "queries": among(5, None),
            "seed": among(0, 3),
            "file": among("ranges.csv"),
        },
        workload_holds,
        ["name", "domain"],
    ),
    _call(
        "Workload.answer",
        lambda workload, estimate: dpb.workloads.Workload.answer(dpb.workloads.Workload.insist(workload), estimate),
        {"workload": workloads, "estimate": estimates},
        answers_hold,
        ["workload", "estimate"],
    ),
    _call(
        "Workload.norm",
        lambda workload, difference, **more: dpb.workloads.Workload.insist(workload).norm(difference, **more),
        {"workload": workloads, "difference": estimates, "order": among("L2", "L1", "Linf")},
        norm_holds,
        ["workload", "difference"],
    ),
    _call(
        "Workload.mean_squared",
        lambda workload, difference: dpb.workloads.Workload.insist(workload).mean_squared(difference),
        {"workload": workloads, "difference": estimates},
        lambda result, given: np.isfinite(result).all() and (np.asarray(result) >= 0).all(),
        ["workload", "difference"],
    ),
    _call(
        "Workload.matrix",
        lambda workload: dpb.workloads.Workload.insist(workload).matrix(),
        {"workload": workloads},
        always=["workload"],
    ),
]

TABLES = (
    {"age": [3, 17, 41, 44], "sex": ["f", "m", "m", "f"]},
    {"age": [0.0, 60.0], "sex": ["f", "f"]},
    {"age": [], "sex": []},
)
COLUMNS = (
    [Column("age", 0, 60, bins=3)],
    [Column("age", 0, 60, bins=3), Column("sex", categories=["f", "m"])],
    Column("age", edges=[0, 10, 60]),
    [Column("sex")],
    [Column("age", bins=3)],
)
DATA = [
    _call(
        "generate",
        dpb.generate,
        {
            "shape": among([1, 2, 3, 4], np.ones((4, 2)), shapes.get("bimodal", 16), [1e-300, 1e300]),
            "scale": among(0, 10, 1000, 2**53, 1e5),
            "domain": among(None, 2, 1, "2x2", 4),
            "seed": seeds,
            "axes": among(None, 0, [0], [1, 0], (1,)),
        },
        counts_hold,
        ["shape", "scale"],
    ),
    _call(
        "datasets.shapes.get",
        shapes.get,
        {"name": among(*shapes.names(), "heaped/0"), "domain": domains},
        shape_holds,
        ["name", "domain"],
    ),
    _call("datasets.shapes.names", shapes.names, {"ndim": among(None, 1, 2)}),
    _call("datasets.get", dpb.datasets.get, {"name": among("ADULT", "medcost")}, always=["name"]),
    _call("datasets.names", dpb.datasets.names, {"ndim": among(None, 1, 2), "in_paper": among(True, False)}),
    _call(
        "datasets.load",
        dpb.datasets.load,
        {"name": among("ADULT"), "folder": among("no-such-folder")},
        always=["name", "folder"],
    ),
    _call(
        "datasets.verify",
        dpb.datasets.verify,
        {"names": among(["ADULT"]), "folder": among("no-such-folder")},
        always=["names", "folder"],
    ),
    _call(
        "datasets.pull",
        dpb.datasets.pull,
        {"names": among(["ADULT"]), "mirror": among("no-such-folder"), "folder": among("no-such-folder")},
        always=["names", "mirror", "folder"],
    ),
    _call(
        "datasets.Column",
        Column,
        {
            "name": among("age"),
            "low": among(None, 0, -1.5),
            "high": among(None, 60, 1e9),
            "bins": among(None, 1, 3, np.int64(4)),
            "categories": among(None, ["f", "m"], [1, 2]),
            "edges": among(None, [0, 1, 10]),
        },
        lambda result, given: not result.is_explicit or result.cells >= 1,
        ["name"],
    ),
    _call(
        "datasets.from_table",
        dpb.datasets.from_table,
        {
            "table": among(*TABLES),
            "columns": among(*COLUMNS),
            "outside": among("refuse", "clamp"),
            "public": among(True, False),
        },
        table_holds,
        ["table", "columns"],
    ),
]

ALGORITHMS = sorted(dpb.algorithms.everything())
PARAMETERS = sorted({each.name for kind in dpb.algorithms.everything().values() for each in fields(kind)} - {"variant"})


def _values(name):
    """Defaults of a parameter, and others that may be valid."""
    defaults = {
        each.default for kind in dpb.algorithms.everything().values() for each in fields(kind) if each.name == name
    }
    words = {
        "F_rule": ["scale"],
        "objective": ["gram", "workload"],
        "mode": ["m_by_m"],
        "rule": ["penalty"],
        "noise": ["tight"],
    }
    return among(*defaults, 1, 2, 3, 0.5, 0.25, True, False, *words.get(name, ()))


def _get(name, parameters=None, variant="private"):
    """An algorithm with those of the parameters that it has."""
    known = dpb.algorithms.everything().get(name) if isinstance(name, str) else None
    parameters = parameters if isinstance(parameters, dict) else {}
    kept = {key: value for key, value in parameters.items() if known and key in known.defaults()}
    return dpb.algorithms.get(name, variant=variant, **kept)


def _run(method):
    def call(name, parameters=None, variant="private", **given):
        return getattr(_get(name, parameters, variant), method)(**given)

    return call


PAIRS = [(name, each) for name, kind in sorted(dpb.algorithms.everything().items()) for each in kind.defaults()]


def _with_parameter(pair, value, variant, workload):
    """One parameter of an algorithm, and a run with it."""
    name, parameter = pair if isinstance(pair, tuple) and len(pair) == 2 else ("Hb", "root")
    algorithm = dpb.algorithms.get(name, variant=variant, **{parameter: value})
    chosen = dpb.workloads.Workload.insist(workload)
    budget = {"epsilon": 0.5} if "pure" in algorithm.notions else {"rho": 0.1}
    return algorithm.run(np.arange(chosen.domain.size).reshape(chosen.domain.shape), chosen, seed=0, **budget)


chosen = {
    "name": among(*ALGORITHMS),
    "variant": among("private", "private", "private", "published"),
}
running = {
    "x": fitting,
    "workload": workloads,
    **budgets,
    "trials": among(1, 2, 3),
    "seed": among(0, 5, None, np.random.SeedSequence(1)),
    "side_information": among(None, "estimated", "public"),
}
RUN = [
    _call(
        "algorithms.get",
        lambda name, parameters=None, **variant: _get(name, parameters, **variant),
        {**chosen, "parameters": st.dictionaries(st.sampled_from(PARAMETERS), st.one_of(*map(_values, PARAMETERS)))},
        lambda result, given: hash(result),
        ["name"],
    ),
    _call(
        "Algorithm.run",
        _run("run"),
        {**chosen, **running, "postprocess": among((), "integral", ["top-down", "integral"], ("non-negative",))},
        estimate_holds,
        ["name", "x", "workload", "epsilon"],
    ),
    _call(
        "Algorithm.outcome",
        _run("outcome"),
        {**chosen, **running, "scale_share": among(None, 0.1)},
        outcome_holds,
        ["name", "x", "workload", "epsilon"],
    ),
    _call(
        "Algorithm.explain",
        _run("explain"),
        {**chosen, "domain": among(*DOMAINS, *[Fitting("domain")] * 9), "workload": workloads, **budgets},
        ledger_holds,
        ["name", "domain", "workload", "epsilon"],
    ),
    _call(
        "Algorithm.expected_error",
        _run("expected_error"),
        {**chosen, "workload": workloads, **budgets},
        error_holds,
        ["name", "workload", "epsilon"],
    ),
    _call("Algorithm.supports", _run("supports"), {**chosen, "domain": domains}, always=["name", "domain"]),
    _call(
        "limit",
        dpb.limit,
        {"workload": workloads, **budgets, "delta": among(0, 1e-6), "method": among("svd", "dual")},
        limit_holds,
        ["workload", "epsilon"],
    ),
    _call(
        "Algorithm with a parameter",
        _with_parameter,
        {
            "pair": among(*PAIRS),
            "value": st.one_of(*map(_values, PARAMETERS)),
            "variant": among("private", "private", "published"),
            "workload": workloads,
        },
        lambda result, given: np.isfinite(result).all() or 1 / 0,
        ["pair", "value", "variant", "workload"],
    ),
    _call("algorithms.names", dpb.algorithms.names, {"notion": among("pure", "zCDP")}),
]

LOSS = [
    _call(
        "loss.scaled_error",
        dpb.loss.scaled_error,
        {
            "workload": workloads,
            "truth": fitting,
            "estimate": estimates,
            "loss": among("L2", "L1", "Linf", "relative", "relative:floor=0.5", {"name": "relative", "floor": 0.1}),
            "scale": among(None, 10, 1e6, 2**53),
        },
        loss_holds,
        ["workload", "truth", "estimate"],
    ),
    _call(
        "loss.population_error",
        dpb.loss.population_error,
        {
            "workload": workloads,
            "shape": fitting,
            "scale": among(1, 100, 1e5),
            "estimate": estimates,
            "loss": among("L2", "L1"),
        },
        lambda result, given: np.isfinite(result).all() or 1 / 0,
        ["workload", "shape", "scale", "estimate"],
    ),
    _call(
        "loss.get",
        dpb.loss.get,
        {"given": among("L2", "relative:floor=0.5", {"name": "relative", "floor": 1})},
        always=["given"],
    ),
    _call("loss.label_of", dpb.loss.label_of, {"given": among("L2", "mine")}, always=["given"]),
]

errors = among(*ERRORS)
results = st.just(0).map(lambda _: study())
tests = among(None, "unpaired", "paired", "blocked", "percentile")
READ = [
    _call("measure", measure, {"errors": errors, "percentile": among(95, 50, 0.5)}, always=["errors"]),
    _call(
        "interpreting.paired_p_value",
        dpb.interpreting.paired_p_value,
        {"one": errors, "other": errors},
        finite_holds,
        ["one", "other"],
    ),
    _call(
        "interpreting.blocked_p_value",
        dpb.interpreting.blocked_p_value,
        {"one": errors, "other": errors},
        finite_holds,
        ["one", "other"],
    ),
    _call(
        "interpreting.percentile_p_value",
        dpb.interpreting.percentile_p_value,
        {"one": errors, "other": errors, "percentile": among(95, 50)},
        finite_holds,
        ["one", "other"],
    ),
    _call(
        "interpreting.unpaired_p_value",
        dpb.interpreting.unpaired_p_value,
        {"one": errors.map(measured), "other": errors.map(measured)},
        finite_holds,
        ["one", "other"],
    ),
    _call(
        "interpreting.competitive",
        dpb.interpreting.competitive,
        {"measurements": st.dictionaries(among("A", "B"), errors.map(measured)), "alpha": among(0.05)},
        always=["measurements"],
    ),
    _call("interpreting.find_test", dpb.interpreting.find_test, {"test": among("paired")}, always=["test"]),
    _call(
        "interpreting.competitive_sets",
        dpb.interpreting.competitive_sets,
        {"results": results, "test": tests, "alpha": among(None, 0.05)},
        always=["results"],
    ),
    _call(
        "interpreting.baselines",
        dpb.interpreting.baselines,
        {"results": results, "names": among(None, ["Identity"]), "alpha": among(None, 0.05), "test": tests},
        always=["results"],
    ),
    _call(
        "interpreting.regret",
        dpb.interpreting.regret,
        {
            "results": results,
            "by": among((), ["scale"], ["domain", "scale"]),
            "resamples": among(10, 100),
            "seed": among(0, 3),
        },
        always=["results"],
    ),
    *(
        _call(f"interpreting.{name}", getattr(dpb.interpreting, name), {"results": results}, always=["results"])
        for name in ("bias_shares", "error_cells", "in_records", "time_spent")
    ),
    _call(
        "interpreting.above_limits",
        dpb.interpreting.above_limits,
        {"results": results, "yardsticks": among({})},
        always=["results", "yardsticks"],
    ),
    _call(
        "Results.where",
        lambda **wanted: study().where(**wanted),
        {
            "algorithm": among("Hb", ["Hb", "DAWA"]),
            "domain": among("4096", 4096, ["4096", 64]),
            "scale": among(1000, [1000, 10**6]),
            "dimensions": among(1, 2),
            "epsilon": among(0.1),
            "label": among("Hb"),
        },
        lambda result, given: len(result) <= len(study()) or 1 / 0,
    ),
    _call(
        "Results.read_by",
        lambda standards: study().read_by(standards),
        {"standards": st.just(0).map(lambda _: study().standards)},
        always=["standards"],
    ),
    _call(
        "Results.take",
        lambda chosen: study().take(chosen),
        {"chosen": among([0, 1], np.array([0]), np.zeros(0, dtype=int))},
        always=["chosen"],
    ),
    _call("page.tables", dpb.page.tables, {"results": results, "out": among(None, "tables")}, always=["results"]),
    _call("page.show", dpb.page.show, {"results": results}, always=["results"]),
    _call(
        "page.page",
        dpb.page.page,
        {"results": results, "out": among("page"), "title": among("Mine")},
        always=["results", "out"],
    ),
    _call("Results.joined", lambda other: study().joined(other), {"other": results}, always=["other"]),
    _call("Results.open", dpb.results.Results.open, {"path": among("no-such-store")}, always=["path"]),
    _call("Results.read", dpb.results.Results.read, {"path": among("no-such-file")}, always=["path"]),
]

PARTS = {
    "base": among("RANGE_1D", "RANGE_2D"),
    "name": among("mine"),
    "dimensions": among(1, 2),
    "workloads": among("Prefix", ["Identity"], [{"name": "RandomRange", "queries": 5}]),
    "datasets": among(["ADULT"], []),
    "algorithms": among(["Hb"], [{"name": "Hb", "root": True}]),
    "loss": among("L1", {"name": "relative", "floor": 0.1}),
    "domains": among([64], ["8x8"], 128),
    "scales": among([1000], 10**5),
    "epsilons": among([0.1], 1),
    "deltas": among([], [1e-6]),
    "rhos": among([], [0.1]),
    "samples": among(1, 5),
    "seed": among(0, 7),
    "side_information": among("public"),
    "rho_total": among(0.1),
    "trials": among(5, 1e2),
    "percentile": among(50),
    "baselines": among(["Hb"]),
    "alpha": among(0.01),
    "test": among("paired"),
    "generator": among({"domains": [64]}),
    "measuring": among({"trials": 2}),
}
TASK = [
    _call("Task.from_dict", lambda **parts: dpb.Task.from_dict(parts), PARTS, task_holds, ["base"]),
    _call(
        "Task.from_dict, positional", dpb.Task.from_dict, {"parts": among({"base": "RANGE_1D"})}, task_holds, ["parts"]
    ),
    _call(
        "Task.replace",
        dpb.RANGE_1D.replace,
        {key: value for key, value in PARTS.items() if key != "base"},
        task_holds,
    ),
    _call("Task.build_workloads", dpb.RANGE_1D.build_workloads, {"domain": domains}, always=["domain"]),
    _call("Task.from_toml", dpb.Task.from_toml, {"path": among("no-such-file.toml")}, always=["path"]),
]


def _opened(values, budget, seed, trials):
    noise = dpb.privacy.RandomNoise.seeded(seed, trials)
    return dpb.privacy.PrivateData.open(values, budget, noise)


def _asked(values, budget, spend, why):
    """One verb of the handle on cells."""
    from dpbench.mathematics.cells import Cells

    data = _opened(values, budget, 0, 2)
    return data.laplace(Cells(data.domain), spend, why)


PRIVACY = [
    _call("privacy.read_epsilon", dpb.privacy.read_epsilon, {"value": among(*EPSILONS)}, fraction_holds, ["value"]),
    _call(
        "privacy.exact",
        dpb.privacy.exact,
        {"value": among(*EPSILONS), "what": among("a share")},
        always=["value", "what"],
    ),
    _call(
        "privacy.split",
        lambda amount, share: dpb.privacy.split(dpb.privacy.read_epsilon(amount), share),
        {"amount": among(*EPSILONS), "share": among(0, 0.5, 1)},
        lambda result, given: sum(result) == dpb.privacy.read_epsilon(given["amount"]) or 1 / 0,
        ["amount", "share"],
    ),
    _call(
        "privacy.evenly",
        lambda amount, parts: dpb.privacy.evenly(dpb.privacy.read_epsilon(amount), parts),
        {"amount": among(*EPSILONS), "parts": among(1, 7)},
        fraction_holds,
        ["amount", "parts"],
    ),
    _call(
        "privacy.PureDP",
        dpb.privacy.PureDP,
        {"epsilon": among(*EPSILONS)},
        lambda result, given: str(result),
        ["epsilon"],
    ),
    _call("privacy.ZCDP", dpb.privacy.ZCDP, {"rho": among(*EPSILONS)}, lambda result, given: str(result), ["rho"]),
    _call(
        "privacy.ZCDP.within",
        dpb.privacy.ZCDP.within,
        {"epsilon": among(0.1, 1), "delta": among(1e-6, 0.3)},
        lambda result, given: str(result),
        ["epsilon", "delta"],
    ),
    _call(
        "privacy.ZCDP.epsilon_at",
        lambda rho, delta: dpb.privacy.ZCDP(rho).epsilon_at(delta),
        {"rho": among(0.1, 1e-3), "delta": among(1e-6, 0.3)},
        always=["rho", "delta"],
    ),
    _call(
        "privacy.ZCDP.delta_at",
        lambda rho, epsilon: dpb.privacy.ZCDP(rho).delta_at(epsilon),
        {"rho": among(0.1, 1e-3), "epsilon": among(0.1, 3)},
        always=["rho", "epsilon"],
    ),
    _call(
        "privacy.read_budget",
        dpb.privacy.read_budget,
        {**budgets, "one_measurement": among(True, False)},
        always=["epsilon", "delta", "rho", "one_measurement"],
    ),
    _call("privacy.seed_sequence", dpb.privacy.seed_sequence, {"seed": seeds}, always=["seed"]),
    _call(
        "privacy.PrivateData.open",
        _opened,
        {"values": counts, "budget": among(*EPSILONS), "seed": seeds, "trials": among(1, 3)},
        always=["values", "budget", "seed", "trials"],
    ),
    _call(
        "privacy.PrivateData.laplace",
        _asked,
        {"values": counts, "budget": among(0.1, 1), "spend": among(0.1, 1), "why": among("cells")},
        lambda result, given: np.isfinite(result).all() or 1 / 0,
        ["values", "budget", "spend", "why"],
    ),
]

GROUPS = {
    "domains": DOMAIN,
    "workloads": WORKLOAD,
    "data": DATA,
    "algorithms": RUN,
    "losses": LOSS,
    "results": READ,
    "tasks": TASK,
    "privacy": PRIVACY,
}


def documented():
    """Names of the API that the groups reach."""
    return {call.name.split(".")[0] for calls in GROUPS.values() for call in calls} | set(inspect.getmembers(dpb))
