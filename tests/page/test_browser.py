"""The page in a headless Chromium, as a reader meets it; skipped where there is none."""

import json
import xml.etree.ElementTree as ElementTree
from dataclasses import replace

import numpy as np
import pytest

from dpbench.interpreting import competitive_sets, error_cells, in_records, regret
from dpbench.measuring.yardstick import Yardstick
from dpbench.page import page
from dpbench.page.comparison import for_page
from dpbench.page.data import by_form
from dpbench.paper.comparison import against
from dpbench.results import Results
from dpbench.standards import Standards
from dpbench.store import Store
from dpbench.workloads import Ranges
from page import chromium
from page.study import HOSTILE, gallery, rows

pytestmark = pytest.mark.skipif(chromium.find() is None, reason="there is no Chromium on this machine")


@pytest.fixture(scope="module")
def shown(tmp_path_factory):
    """A store with two forms and three losses, and its page."""
    folder = tmp_path_factory.mktemp("page")
    store = Store(folder / "store", create=True)
    store.append(rows(), "run")
    results = Results.from_store(store)
    pictures = gallery()
    return page(results, folder, gallery=pictures, title="A study"), results, pictures


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    opened = chromium.Browser(tmp_path_factory.mktemp("downloads"))
    yield opened
    opened.close()


def table(browser, key):
    """The data behind a chart, as the page shows it."""
    return browser.run(
        f"""new Promise((done) => {{
          const details = document.querySelector('#figure-{key} details');
          details.open = true;
          const words = (row) => [...row.children].map((cell) => cell.textContent);
          setTimeout(() => done([...details.querySelectorAll('tr')].map(words)), 50);
        }})"""
    )


def value(browser, script):
    return browser.run(script)


def test_it_opens_without_an_error_and_without_a_request(browser, shown):
    """Nothing in the console, nothing refused by the policy, nothing asked for; every chart is there."""
    browser.open(shown[0])
    assert browser.troubles() == []
    assert browser.requests() == []
    charts = value(
        browser,
        "[...document.querySelectorAll('.plot > svg')].map((each) => each.closest('figure').id)",
    )
    keys = "winners competitive scale dataset records domain regret regret-scale bias time price explorer"
    assert charts == [f"figure-{key}" for key in keys.split()]


def test_the_limit_and_the_best_known_strategy_are_drawn(browser, shown, tmp_path):
    """As lines at their root mean squares, by mean L2 error alone, on the page whose results have them."""
    browser.open(shown[0])
    assert "limit" not in {row[0] for row in table(browser, "scale")}
    results = shown[1]
    known = {place.group: Yardstick(64.0, "Laplace", 256.0, "HDMM") for place in results.grid.places}
    path = page(results, tmp_path, yardsticks=known)
    browser.open(path)
    lines = {
        (row[0], float(row[1])): float(row[3]) for row in table(browser, "scale") if row[0] in ("limit", "best known")
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
    about = value(browser, "document.querySelector('#figure-scale .about').textContent")
    assert "no unbiased strategy with this noise" in about
    assert "limit" in value(browser, "document.querySelector('#figure-scale .plot svg').textContent")
    browser.open(path, "#measure=percentile")
    assert "limit" not in {row[0] for row in table(browser, "scale")}
    assert browser.troubles() == []


def test_filters_change_what_they_should(browser, shown):
    """Errors by scale are the library's for the chosen form, dimension, domain, measure and loss."""
    browser.open(shown[0])
    published, private = by_form(shown[1])
    for choices, part, domain, measure, factor in (
        ({}, published, "1024", "mean", 1),
        ({"domain": "256"}, published, "256", "mean", 1),
        ({"form": "private", "measure": "percentile"}, private, "256", "percentile", 1),
        ({"dimensions": "2", "loss": "Linf", "measure": "mean"}, private, "64x64", "mean", 5),
    ):
        for name, chosen in choices.items():
            browser.choose(f"#filter-{name}", chosen)
        heading, *lines = table(browser, "scale")
        assert heading[:3] == ["algorithm", "scale", "datasets"]
        short = dict(zip(part.results.labels, part.names, strict=True))
        expected = {
            (short[each.algorithm], each.scale): factor * getattr(each, measure)
            for each in error_cells(part.results)
            if each.domain == domain
        }
        told = {(line[0], int(float(line[1]))): float(line[3]) for line in lines}
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
    browser.open(otherwise[0], "#domain=256")
    published = by_form(otherwise[1])[0]
    sets = competitive_sets(published.results)
    short = dict(zip(published.results.labels, published.names, strict=True))
    domains, scales = sets.grid.column("domain"), sets.grid.column("scale")
    counts = [sets.counts(np.flatnonzero((domains == "256") & (scales == scale))) for scale in (1000, 100_000)]
    told = {line[0]: line[1:] for line in table(browser, "competitive")[1:]}
    assert told == {short[label]: [str(each[label]) for each in counts] for label in sets.grid.labels}
    words = value(browser, "document.querySelector('#figure-competitive .about').textContent")
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
    assert {(line[0], int(float(line[1]))): float(line[3]) for line in lines} == pytest.approx(expected, rel=6e-4)
    options = "[...document.querySelectorAll('#filter-measure option, #filter-loss option')].map((each) => each.text)"
    assert value(browser, options) == ["mean error", "90th percentile", "L1", "L2 (the paper's)", "L-infinity"]
    assert "Baselines: Hb." in value(browser, "document.getElementById('method').textContent")
    dashed = "[...document.querySelectorAll('#figure-scale line[stroke-dasharray]')].map((each) => each.dataset.tip)"
    assert {words.split(":")[0] for words in value(browser, dashed)} == {"Hb"}
    assert browser.troubles() == []


def test_another_loss_can_be_chosen(browser, otherwise):
    """One with errors of single trials has everything; of one that is only summarised there is no competitive set."""
    browser.open(otherwise[0], "#domain=256&loss=L2")
    published = by_form(otherwise[1].read_by(replace(otherwise[1].standards, loss="L2")))[0]
    short = dict(zip(published.results.labels, published.names, strict=True))
    told = {line[0]: float(line[1]) for line in table(browser, "regret")[1:]}
    part = published.results.where(domain="256")
    assert told == pytest.approx({short[each.algorithm]: each.regret for each in regret(part)}, rel=6e-4)
    browser.choose("#filter-loss", "Linf")
    assert value(browser, "document.getElementById('headline').textContent").endswith("by the loss L1, L2.")
    assert value(browser, "document.querySelectorAll('#filter-measure option').length") == 1  # kept for the 95th alone
    assert value(browser, "document.querySelector('#figure-regret .note').textContent").endswith("by the loss L1, L2.")
    assert len(table(browser, "scale")) == 11
    assert browser.troubles() == []


def test_a_newcomers_ratios_come_first(browser, otherwise):
    """The numbers of the comparison, with its caption."""
    browser.open(otherwise[0])
    assert value(browser, "document.querySelector('main > section').id") == "against"
    lines = {line[0]: line[1:] for line in table(browser, "against")[1:]}
    for name, rival in otherwise[2].rivals.items():
        assert [int(cell) for cell in lines[name][:3]] == [rival.settings, rival.better, rival.worse]
        numbers = [rival.ratio, rival.low, rival.high]
        assert [float(cell) for cell in lines[name][3:6]] == pytest.approx(numbers, rel=6e-4)
    assert lines["Hb"][6] == "1.5"
    about = value(browser, "document.querySelector('#figure-against .about').textContent")
    assert about.startswith("DAWA against each other algorithm: ")
    assert "t-test on these data vectors, level 0.2 over their number" in about


def test_the_address_brings_the_view_back(browser, shown):
    """A view that is shared is the view that was seen."""
    browser.open(shown[0])
    browser.choose("#filter-domain", "256")
    browser.choose("#filter-dataset", "stairs")
    address = value(browser, "location.hash")
    before = table(browser, "scale")
    browser.open(shown[0], address)
    assert value(browser, "document.getElementById('filter-dataset').value") == "stairs"
    assert table(browser, "scale") == before
    browser.open(shown[0])
    assert table(browser, "scale") != before


def test_competitive_counts_are_the_librarys(browser, shown):
    """The paper's Table 3 on the page."""
    browser.open(shown[0], "#domain=256")
    (published, _) = by_form(shown[1])
    sets = competitive_sets(published.results)
    short = dict(zip(published.results.labels, published.names, strict=True))
    domains, scales = sets.grid.column("domain"), sets.grid.column("scale")
    counts = [sets.counts(np.flatnonzero((domains == "256") & (scales == scale))) for scale in (1000, 100_000)]
    told = {line[0]: line[1:] for line in table(browser, "competitive")[1:]}
    assert told == {short[label]: [str(each[label]) for each in counts] for label in sets.grid.labels}


def test_errors_in_records_are_the_librarys(browser, shown):
    """Records and percent of a typical query, in a mean and in a bad run."""
    browser.open(shown[0], "#domain=256")
    (published, _) = by_form(shown[1])
    short = dict(zip(published.results.labels, published.names, strict=True))
    expected = {
        (short[each.algorithm], each.scale): [each.records, each.percent, each.bad_records, each.bad_percent]
        for each in in_records(published.results)
        if each.domain == "256"
    }
    told = {
        (line[0], int(float(line[1]))): [float(cell) for cell in line[3:]] for line in table(browser, "records")[1:]
    }
    assert told.keys() == expected.keys()
    for key, numbers in told.items():
        assert numbers == pytest.approx(expected[key], rel=6e-4)


def test_somebodys_own_algorithm_is_told_first(browser, shown):
    """What no catalogue holds is named in the first words, and its card leads."""
    browser.open(shown[0])
    assert f" {HOSTILE} is competitive in " in value(browser, "document.getElementById('headline').textContent")
    assert value(browser, "document.querySelector('#algorithms h3').firstChild.textContent") == HOSTILE


def test_the_price_of_privacy_is_the_ratio_of_errors(browser, shown):
    """Private over published, geometric mean over datasets: about 2 in this study."""
    browser.open(shown[0])
    ratios = [float(line[3]) for line in table(browser, "price")[1:]]
    assert len(ratios) == 10
    assert all(1.6 < ratio < 2.5 for ratio in ratios)


@pytest.mark.parametrize(("dimensions", "start", "end"), [(1, (0.3, 0.5), (0.62, 0.4)), (2, (0.1, 0.3), (0.3, 0.7))])
def test_the_answer_of_a_dragged_range_is_the_librarys(browser, shown, dimensions, start, end):
    """True and noisy answers are those of the workload over the range that was dragged."""
    browser.open(shown[0], f"#dimensions={dimensions}")
    box = value(
        browser,
        """(() => { const svg = document.querySelector('#figure-explorer svg'); svg.scrollIntoView({ block: 'center' });
          const { x, y, width, height } = svg.getBoundingClientRect(); return [x, y, width, height]; })()""",
    )
    at = [(box[0] + share[0] * box[2], box[1] + share[1] * box[3]) for share in (start, end)]
    before = value(browser, "document.getElementById('answer').dataset.truth")
    browser.mouse("mousePressed", *at[0])
    browser.mouse("mouseMoved", *at[1])
    browser.mouse("mouseReleased", *at[1])
    told = value(browser, "({ ...document.getElementById('answer').dataset, address: location.hash })")
    choice = value(browser, "['show', 'by', 'eps'].map((name) => document.getElementById(`explore-${name}`).value)")
    corners = [
        [int(each) for each in value(browser, f"new URLSearchParams(location.hash.slice(1)).get('{end}')").split(",")]
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


def test_hostile_names_stay_text(browser, shown):
    """A plug-in's name with markup is shown letter by letter and runs nothing."""
    browser.open(shown[0])
    assert value(browser, "typeof window.pwned") == "undefined"
    assert value(browser, "document.querySelectorAll('img, iframe, object, embed').length") == 0
    assert value(browser, "document.scripts.length") == 2
    assert HOSTILE in value(
        browser, "[...document.querySelectorAll('#algorithms h3')].map((each) => each.firstChild.textContent)"
    )


def test_the_policy_refuses_what_is_put_in_later(browser, shown):
    """Even markup that got in could neither run nor send."""
    browser.open(shown[0])
    script = """(() => {
      const made = document.createElement('script');
      made.textContent = 'window.pwned = 3';
      document.body.append(made);
      return typeof window.pwned;
    })()"""
    assert value(browser, script) == "undefined"
    assert value(browser, "fetch('data:,x').then(() => 'sent', () => 'refused')") == "refused"
    browser.events.clear()  # these refusals were asked for


def test_the_keyboard_reads_a_chart(browser, shown):
    """Arrow keys go from mark to mark; escape ends it."""
    browser.open(shown[0])
    browser.run("document.querySelector('#figure-scale .plot svg').focus()")
    browser.key("ArrowRight")
    first = value(browser, "document.getElementById('tip').textContent")
    browser.key("ArrowRight")
    assert first
    assert value(browser, "document.getElementById('tip').textContent") != first
    browser.key("Escape")
    assert value(browser, "document.getElementById('tip').hidden")


def test_the_keyboard_follows_a_name(browser, shown):
    """Enter on a name marks it and leaves the reader where they were; once more forgets it."""
    browser.open(shown[0])
    browser.run("document.querySelector('#figure-scale .plot svg').focus()")
    while value(browser, "document.getElementById('tip').textContent") != "Hb":
        browser.key("ArrowRight")
    browser.key("Enter")
    assert value(browser, "location.hash") == "#mark=Hb"
    assert value(browser, "document.activeElement.closest('figure').id") == "figure-scale"
    browser.key("Enter")
    assert value(browser, "location.hash") == ""


@pytest.mark.parametrize("width", [390, 900, 1400])
@pytest.mark.parametrize("dark", [False, True])
def test_it_fits_every_width_in_light_and_dark(browser, shown, width, dark):
    """Nothing makes the page scroll sideways; text and ground are far apart in brightness."""
    browser.open(shown[0], width=width, dark=dark)
    assert value(browser, "document.documentElement.scrollWidth") <= width
    ground = value(browser, "getComputedStyle(document.body).backgroundColor.match(/\\d+/g).map(Number)")
    ink = value(browser, "getComputedStyle(document.body).color.match(/\\d+/g).map(Number)")
    assert (sum(ground) < sum(ink)) is dark
    assert abs(sum(ground) - sum(ink)) > 450
    assert browser.troubles() == []


@pytest.mark.parametrize("width", [390, 640, 900, 1400])
def test_a_jump_ends_below_the_filters(browser, shown, width):
    """The title of the section that was asked for is in sight, and the contents say where the reader is."""
    browser.open(shown[0], width=width)
    browser.run("document.querySelector('#contents a[href=\"#regret\"]').click()")
    top = value(browser, "document.getElementById('regret-title').getBoundingClientRect().top")
    assert value(browser, "document.getElementById('filters').getBoundingClientRect().bottom") <= top < 300
    browser.wait("document.querySelector('#contents a[aria-current]').hash === '#regret'")


def test_filters_open_on_a_phone(browser, shown):
    """They wait behind a button where there is little room."""
    browser.open(shown[0], width=390)
    visible = "document.getElementById('filter-domain').getBoundingClientRect().height > 0"
    assert not value(browser, visible)
    browser.run("document.querySelector('#filters .more').click()")
    assert value(browser, visible)


def test_every_figure_can_be_taken_away(browser, shown, tmp_path):
    """SVG that stands alone, PNG, and CSV in which no name is a formula."""
    browser.open(shown[0])
    browser.call("Browser.setDownloadBehavior", behavior="allow", downloadPath=str(tmp_path))
    for key in ("scale", "explorer"):
        browser.run(f"for (const each of document.querySelectorAll('#figure-{key} .tools > button')) each.click()")
        names = [f"{key}.{ending}" for ending in ("svg", "png", "csv")]
        browser.wait("true")
        wait_for([tmp_path / name for name in names])
        drawing = ElementTree.parse(tmp_path / f"{key}.svg").getroot()  # noqa: S314
        assert drawing.tag == "{http://www.w3.org/2000/svg}svg"
        assert not [each for each in drawing.iter() if any(name.startswith("on") for name in each.attrib)]
        assert (tmp_path / f"{key}.png").read_bytes().startswith(b"\x89PNG")
        assert len((tmp_path / f"{key}.png").read_bytes()) > 10_000
        assert (tmp_path / f"{key}.csv").read_text().count("\n") > 5
    assert browser.troubles() == []


def wait_for(files):
    """Until all are written."""
    import time

    deadline = time.monotonic() + 30
    while not all(path.is_file() and path.stat().st_size for path in files):
        assert time.monotonic() < deadline, f"never written: {json.dumps([path.name for path in files])}"
        time.sleep(0.05)
