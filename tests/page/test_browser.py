"""The figures of the page in a headless Chromium: their numbers are the library's. Skipped where there is none."""

from dataclasses import replace

import numpy as np
import pytest

import dpbench as dpb
from dpbench.gallery.budget_use import workload_on
from dpbench.interpreting import competitive_sets, error_cells, in_records, regret
from dpbench.measuring.yardstick import Yardstick
from dpbench.page import page
from dpbench.page.comparison import for_page
from dpbench.page.data import by_form
from dpbench.paper.comparison import against
from dpbench.standards import Standards
from dpbench.workloads import Ranges
from page import chromium
from page.reader import FIGURES, as_number, numbers, table

pytestmark = pytest.mark.skipif(bool(chromium.missing()), reason=chromium.missing())


def test_every_figure_is_there_without_an_error_and_without_a_request(browser, shown):
    """Nothing in the console, nothing refused by the policy, nothing asked for; every section draws its charts."""
    browser.open(shown[0])
    for key, section in FIGURES.items():
        browser.go(f"#view=explore&section={section}" if section else "#")
        browser.wait(f"document.querySelector('#figure-{key} .plot > svg')")
    assert browser.troubles() == []
    assert browser.requests() == []


def test_the_limit_and_the_best_known_strategy_are_drawn(browser, shown, tmp_path):
    """As lines at their root mean squares, by mean L2 error alone, on the page whose results have them."""
    browser.open(shown[0])
    assert "limit" not in {row[0] for row in table(browser, "scale")}
    results = shown[1]
    known = {place.group: Yardstick(64.0, "Laplace", 256.0, "HDMM") for place in results.grid.places}
    path = page(results, tmp_path, yardsticks=known)
    browser.open(path)
    lines = {
        (row[0], as_number(row[1])): as_number(row[3])
        for row in table(browser, "scale")
        if row[0] in ("limit", "best known")
    }
    queries = 1024
    assert lines == pytest.approx(
        {
            (name, scale): (error / queries) ** 0.5 / scale
            for name, error in (("limit", 64), ("best known", 256))
            for scale in (1000, 100_000)
        },
        rel=1e-3,
    )
    assert {row[0] for row in table(browser, "domain")} > {"limit", "best known"}
    table(browser, "scale")
    assert "no unbiased strategy with this noise" in browser.run(
        "document.querySelector('#figure-scale .about').textContent"
    )
    assert "limit" in browser.run("document.querySelector('#figure-scale .plot svg').textContent")
    browser.open(path, "#measure=percentile")
    assert "limit" not in {row[0] for row in table(browser, "scale")}
    assert browser.troubles() == []


def test_filters_change_what_they_should(browser, shown):
    """Errors by scale are the library's for the chosen form, dimension, domain, measure and loss."""
    browser.open(shown[0], "#view=explore")
    published, private = by_form(shown[1])
    for choices, part, domain, measure, factor in (
        ({}, private, "1024", "mean", 1),
        ({"domain": "256"}, private, "256", "mean", 1),
        ({"form": "published", "measure": "percentile"}, published, "256", "percentile", 1),
        ({"dimensions": "2", "loss": "Linf", "measure": "mean"}, published, "64x64", "mean", 5),
    ):
        for name, chosen in choices.items():
            browser.choose(f"#filter-{name}", chosen)
        heading, *lines = table(browser, "scale")
        assert heading[:3] == ["algorithm", "records", "datasets"]
        short = dict(zip(part.results.labels, part.names, strict=True))
        expected = {
            (short[each.algorithm], each.scale): factor * getattr(each, measure)
            for each in error_cells(part.results)
            if each.domain == domain
        }
        told = {(line[0], as_number(line[1])): as_number(line[3]) for line in lines}
        assert told == pytest.approx(expected, rel=6e-4)  # four digits are shown


@pytest.fixture(scope="module")
def otherwise(shown, tmp_path_factory):
    """The page of the same study by other standards, with a newcomer's comparison, and its results."""
    by_loss = replace(shown[1], losses={"L1": 1e-9 / shown[1].errors})
    results = by_loss.read_by(Standards(loss="L1", percentile=90, alpha=0.2, baselines=("Hb",), test="blocked"))
    part = results.where(variant="private", domain="256")
    newcomer = part.where(algorithm="DAWA")
    comparison = against(part.take(part.columns["algorithm"] != "DAWA"), newcomer, {"Hb": {"256": 1.5}})
    return page(results, tmp_path_factory.mktemp("page"), comparison=for_page(comparison)), results, comparison


def test_it_opens_on_the_standards_of_the_results(browser, otherwise):
    """Loss, percentile, baselines, test and level are those of the results, in numbers and in words."""
    browser.open(otherwise[0], "#domain=256&form=published")
    published = by_form(otherwise[1])[0]
    sets = competitive_sets(published.results)
    short = dict(zip(published.results.labels, published.names, strict=True))
    domains, scales = sets.grid.column("domain"), sets.grid.column("scale")
    counts = [sets.counts(np.flatnonzero((domains == "256") & (scales == scale))) for scale in (1000, 100_000)]
    told = {line[0]: line[1:] for line in table(browser, "competitive")[1:]}
    assert told == {short[label]: [str(each[label]) for each in counts] for label in sets.grid.labels}
    words = browser.run("document.querySelector('#figure-competitive .about').textContent")
    family = sets.family(np.flatnonzero(domains == "256"))
    assert family == "among 5 algorithms; t-test on these data vectors, level 0.2/4"
    assert f"Lowest mean scaled L1 error, or not significantly above it ({family})" in words
    heading, *lines = table(browser, "scale")
    assert heading[3] == "mean over datasets of the mean scaled L1 error"
    expected = {
        (short[each.algorithm], each.scale): each.mean
        for each in error_cells(published.results)
        if each.domain == "256"
    }
    assert {(line[0], as_number(line[1])): as_number(line[3]) for line in lines} == pytest.approx(expected, rel=6e-4)
    options = "[...document.querySelectorAll('#filter-measure option, #filter-loss option')].map((each) => each.text)"
    assert browser.run(options) == ["mean error", "90th percentile", "L1", "L2 (the paper's)", "L-infinity"]
    dashed = "[...document.querySelectorAll('#figure-scale line[stroke-dasharray]')].map((each) => each.dataset.tip)"
    assert {words.split(":")[0] for words in browser.run(dashed)} == {"Hb"}
    browser.open(otherwise[0], "#view=catalogue&section=method")
    assert "Baselines: Hb." in browser.run("document.getElementById('method').textContent")
    assert browser.troubles() == []


def test_another_loss_can_be_chosen(browser, otherwise):
    """One with errors of single trials has everything; by one that is only summarised nothing is tested."""
    browser.open(otherwise[0], "#domain=256&loss=L2&form=published")
    published = by_form(otherwise[1].read_by(replace(otherwise[1].standards, loss="L2")))[0]
    short = dict(zip(published.results.labels, published.names, strict=True))
    told = {line[0]: numbers(line[1:4]) for line in table(browser, "regret")[1:]}
    for each in regret(published.results.where(domain="256")):
        assert told[short[each.algorithm]] == pytest.approx([each.regret, each.low, each.high], rel=6e-4)
    browser.choose("#filter-loss", "Linf")
    assert browser.run("document.querySelectorAll('#filter-measure option').length") == 1  # kept for the 95th alone
    assert len(table(browser, "scale")) == 11
    assert table(browser, "competitive")[0][0] == "algorithm"
    assert "Ties are not tested" in browser.run("document.querySelector('#figure-competitive .about').textContent")
    assert browser.troubles() == []


@pytest.mark.parametrize("measure", ["mean", "percentile"])
@pytest.mark.parametrize("loss", ["L2", "L1", "Linf"])
def test_every_loss_and_measure_fills_the_first_view(browser, shown, loss, measure):
    """Leaderboard and winners are there, and regret is the geometric mean of errors over the lowest."""
    browser.open(shown[0], f"#loss={loss}&measure={measure}&domain=256")
    (_, private) = by_form(shown[1])
    part = private.results.where(domain="256")
    assert browser.run("document.querySelectorAll('.board tbody tr').length") == 5
    assert browser.run("document.querySelector('#figure-winners .plot > svg') !== null")
    column = {"L2": None, "L1": "l1", "Linf": "linf"}[loss]
    if column is None:
        errors = getattr(part.measured, measure)
    else:
        errors = part.columns[f"{column}_{'mean' if measure == 'mean' else 'p95'}"]
    grid = part.grid.spread(errors)
    expected = np.exp(np.log(grid / grid.min(axis=1, keepdims=True)).mean(axis=0))
    short = dict(zip(part.labels, [private.short[each] for each in part.labels.tolist()], strict=True))
    told = {line[0]: as_number(line[1]) for line in table(browser, "regret")[1:]}
    assert told == pytest.approx(
        {short[label]: value for label, value in zip(part.grid.labels, expected, strict=True)}, rel=6e-4
    )


def test_intervals_of_regret_are_near_the_librarys(browser, shown):
    """Where the page has to resample by itself: the same datasets, other draws, so the ends are near, not equal."""
    known = shown[1].read_by(Standards(test="percentile"))
    browser.open(shown[0], "#measure=percentile&domain=256")
    own = {line[0]: numbers(line[1:4]) for line in table(browser, "regret")[1:]}
    assert len(own) == 5
    for middle, low, high in own.values():
        assert low <= middle <= high
    browser.open(shown[0], "#loss=L1&domain=256")  # L1 is 3 times L2 in this study: the same ratios, resampled here
    told = {line[0]: numbers(line[1:4]) for line in table(browser, "regret")[1:]}
    browser.open(shown[0], "#domain=256")
    for name, ends in {line[0]: numbers(line[1:4]) for line in table(browser, "regret")[1:]}.items():
        assert told[name] == pytest.approx(ends, rel=0.05)
    assert known.standards.test == "percentile"


def test_a_newcomers_ratios_come_first(browser, otherwise):
    """The numbers of the comparison, with its caption."""
    browser.open(otherwise[0])
    assert browser.run("document.querySelector('main section').id") == "against"
    lines = {line[0]: line[1:] for line in table(browser, "against")[1:]}
    for name, rival in otherwise[2].rivals.items():
        assert [int(cell) for cell in lines[name][:3]] == [rival.settings, rival.better, rival.worse]
        ratios = [rival.ratio, rival.low, rival.high]
        assert numbers(lines[name][3:6]) == pytest.approx(ratios, rel=6e-4)
    assert lines["Hb"][6] == "1.5"
    about = browser.run("document.querySelector('#figure-against .about').textContent")
    assert about.startswith("DAWA against each other algorithm: ")
    assert "t-test on these data vectors, level 0.2 over their number" in about


def test_competitive_counts_are_the_librarys(browser, shown):
    """The paper's Table 3 on the page."""
    browser.open(shown[0], "#domain=256")
    (_, private) = by_form(shown[1])
    sets = competitive_sets(private.results)
    short = dict(zip(private.results.labels, private.names, strict=True))
    domains, scales = sets.grid.column("domain"), sets.grid.column("scale")
    counts = [sets.counts(np.flatnonzero((domains == "256") & (scales == scale))) for scale in (1000, 100_000)]
    told = {line[0]: line[1:] for line in table(browser, "competitive")[1:]}
    assert told == {short[label]: [str(each[label]) for each in counts] for label in sets.grid.labels}


def test_errors_in_records_are_the_librarys(browser, shown):
    """Records and percent of a typical query, in a mean and in a bad run."""
    browser.open(shown[0], "#domain=256")
    (_, private) = by_form(shown[1])
    short = dict(zip(private.results.labels, private.names, strict=True))
    expected = {
        (short[each.algorithm], each.scale): [each.records, each.percent, each.bad_records, each.bad_percent]
        for each in in_records(private.results)
        if each.domain == "256"
    }
    told = {(line[0], as_number(line[1])): numbers(line[3:]) for line in table(browser, "records")[1:]}
    assert told.keys() == expected.keys()
    for key, values in told.items():
        assert values == pytest.approx(expected[key], rel=6e-4)


def test_the_price_of_privacy_is_the_ratio_of_errors(browser, shown):
    """Private over published, geometric mean over datasets: about 2 in this study."""
    browser.open(shown[0])
    ratios = [as_number(line[3]) for line in table(browser, "price")[1:]]
    assert len(ratios) == 10
    assert all(1.6 < ratio < 2.5 for ratio in ratios)


@pytest.mark.parametrize(("dimensions", "start", "end"), [(1, (0.3, 0.5), (0.62, 0.4)), (2, (0.1, 0.3), (0.3, 0.7))])
def test_the_answer_of_a_dragged_range_is_the_librarys(browser, shown, dimensions, start, end):
    """True and noisy answers are those of the workload over the range that was dragged."""
    browser.open(shown[0], f"#view=explore&section=noise&dimensions={dimensions}")
    browser.wait("document.querySelector('#figure-explorer svg')")
    box = browser.run(
        """(() => { const svg = document.querySelector('#figure-explorer svg'); svg.scrollIntoView({ block: 'center' });
          const { x, y, width, height } = svg.getBoundingClientRect(); return [x, y, width, height]; })()""",
    )
    at = [(box[0] + share[0] * box[2], box[1] + share[1] * box[3]) for share in (start, end)]
    before = browser.run("document.getElementById('answer').dataset.truth")
    mouse = browser.page.mouse
    mouse.move(*at[0])
    mouse.down()
    mouse.move(*at[1])
    mouse.up()
    told = browser.run("({ ...document.getElementById('answer').dataset, address: location.hash })")
    choice = browser.run("['show', 'by', 'eps'].map((name) => document.getElementById(`explore-${name}`).value)")
    corners = [
        [int(each) for each in browser.run(f"new URLSearchParams(location.hash.slice(1)).get('{end}')").split(",")]
        for end in ("from", "to")
    ]
    assert told["truth"] != before
    assert all(low < high for low, high in zip(*corners, strict=True))
    (example,) = [each for each in shown[2].examples if each.name == choice[0]]
    (estimate,) = [
        each for each in example.estimates if [each.algorithm, str(each.epsilon).removesuffix(".0")] == choice[1:]
    ]
    asked = Ranges(example.counts.shape, [corners[0]], [[end + 1 for end in corners[1]]])
    assert float(told["truth"]) == asked.answer(example.counts)[0]
    single = estimate.counts.astype(np.float32).astype(np.float64)
    assert float(told["noisy"]) == pytest.approx(asked.answer(single)[0], rel=1e-12, abs=1e-9)
    assert float(told["noisy"]) == pytest.approx(asked.answer(estimate.counts)[0], rel=1e-5, abs=1e-3)


def test_intervals_are_those_of_the_outcome(browser, shown):
    """Of any range on a line: the ends that Cascade's outcome gives, read off the draws that the page carries."""
    (example,) = [each for each in shown[2].examples if each.name == "bimodal"]
    cells = example.counts.size
    low = np.array([0, 3, 17, 100, 255, 400, 511, 0])
    high = np.array([1, 9, 60, 300, 256, 512, 512, cells])
    asked = Ranges((cells,), low[:, None], high[:, None])
    outcome = dpb.algorithms.get("Cascade").outcome(example.counts, workload_on(asked.domain), 0.1, seed=0)
    expected = outcome.intervals(asked, level=0.9)[0]
    address = "#view=explore&section=noise&show=bimodal&by=Cascade&eps=0.1"
    browser.open(shown[0], address)
    for ends, first, last in zip(expected.tolist(), low.tolist(), (high - 1).tolist(), strict=True):
        browser.go(f"{address}&from={first}&to={last}")
        browser.wait(f"document.getElementById('answer-cells')?.textContent === '{first}\\u2013{last}'")
        assert [float(end) for end in browser.run("document.getElementById('answer').dataset.interval").split()] == ends
    assert browser.run("document.getElementById('intervals') !== null")
    browser.go(address.replace("Cascade", "Hb"))
    browser.wait("document.getElementById('intervals') === null")
    assert browser.run("document.getElementById('answer').dataset.interval") == ""
