"""The page as a reader meets it, in a headless Chromium: views, address, keyboard, widths, contrast, downloads."""

import dataclasses
import json
import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest

import dpbench as dpb
from dpbench.page import page
from dpbench.page.palette import colour_of
from dpbench.results import Results
from page import chromium
from page.reader import FIGURES, as_number, table
from page.study import HOSTILE, gallery, results, rows

pytestmark = pytest.mark.skipif(bool(chromium.missing()), reason=chromium.missing())

TASKS = ("On a line (1-D)", "In the plane (2-D)")
SECTIONS = dict.fromkeys(filter(None, FIGURES.values()))
ADDRESSES = (
    *("#", "#form=published", *(f"#view=explore&section={each}" for each in SECTIONS)),
    *(f"#view=catalogue&section={each}" for each in ("algorithms", "datasets", "method")),
)


def words(browser, selector):
    return browser.run(f"document.querySelector({selector!r}).textContent")


def test_it_opens_on_private_forms_with_advice(browser, shown):
    """One sentence per task, that names a form which is private; the leaderboard is of private forms."""
    browser.open(shown[0])
    assert browser.run("document.getElementById('filter-form').value") == "private"
    told = browser.run("[...document.querySelectorAll('.advice')].map((each) => each.textContent)")
    assert [each.split(",")[0] for each in told] == list(TASKS)
    assert all("Use Identity: its error is 1.00 times the lowest on average over 3 datasets" in each for each in told)
    assert "†" not in "".join(told)
    assert browser.run("document.querySelectorAll('.board .warn').length") == 0


def test_another_budget_stands_beside_the_first(browser, tmp_path):
    """One card per task for pure privacy, with a line for Gaussian noise, whose delta is a power of ten."""
    pure = rows(algorithms=("Identity", "Hb"), variants=("private",))
    study = Results._from_rows([*pure, *(dataclasses.replace(each, delta=1e-9) for each in pure)])
    browser.open(page(study, tmp_path))
    told = browser.run("[...document.querySelectorAll('.advice')].map((each) => each.textContent)")
    assert [each.split("Use")[0] for each in told] == [f"{task}, epsilon 0.1" for task in TASKS]
    assert all("At epsilon 0.1, delta 10⁻⁹ use Identity: 1.00 times the lowest" in each for each in told)
    browser.choose("#filter-budget", "epsilon 0.1, delta 1e-09")
    assert "epsilon 0.1, delta 10⁻⁹" in words(browser, "#leaderboard .about")
    assert browser.troubles() == []


def test_losses_are_those_of_the_chosen_form(browser, shown, tmp_path):
    """A loss that one form was not measured by is not offered there."""
    private = shown[1].columns["variant"] == "private"
    known = {f"relative_{end}": np.where(private, shown[1].measured.mean, np.nan) for end in ("mean", "sd", "p95")}
    study = dataclasses.replace(shown[1], columns={**shown[1].columns, **known})
    browser.open(page(study, tmp_path), "#loss=relative")
    losses = "[...document.querySelectorAll('#filter-loss option')].map((each) => each.value)"
    assert browser.run(losses) == ["L2", "L1", "Linf", "relative"]
    assert browser.run("document.getElementById('filter-loss').value") == "relative"
    assert browser.run("document.querySelectorAll('.board tbody tr').length") == 5
    browser.choose("#filter-form", "published")
    assert browser.run(losses) == ["L2", "L1", "Linf"]
    assert browser.run("document.querySelectorAll('.board tbody tr').length") == 5


def test_a_form_that_is_not_private_is_marked(browser, shown):
    """By a dagger after its name in charts, a tag in the leaderboard, and a line that says what it means."""
    browser.open(shown[0], "#form=published")
    assert browser.run("document.querySelectorAll('.board .warn').length") == 5
    assert words(browser, "#leaderboard .warning").startswith("† this form is not private")
    assert "†" in words(browser, "#figure-winners .plot")
    assert "†" not in browser.run("[...document.querySelectorAll('.advice')].map((each) => each.textContent).join()")
    browser.open(shown[0], "#form=published&view=explore&section=scale")
    assert "Hb †" in words(browser, "#figure-scale .plot")
    assert words(browser, "#figure-scale .warning").startswith("† this form is not private")
    table(browser, "scale")
    assert "Hb †" in words(browser, "#figure-scale tbody")
    browser.open(shown[0], "#view=explore&section=price")
    assert "Hb †" in words(browser, "#figure-price .plot")
    assert words(browser, "#figure-price .warning") == "† its published form is not private"


def test_the_leaderboard_is_sorted_and_searched(browser, shown):
    """By a click on a heading, once more the other way; the address keeps both."""
    names = "[...document.querySelectorAll('.board tbody th')].map((each) => each.textContent)"
    browser.open(shown[0], "#domain=256")
    assert browser.run(names)[:2] == ["Identity", "Hb"]
    browser.page.click(".board [data-key=name]")
    assert browser.run(names) == sorted(browser.run(names), key=str.casefold)
    browser.page.click(".board [data-key=name]")
    assert browser.run(names) == sorted(browser.run(names), key=str.casefold, reverse=True)
    assert browser.run("document.querySelector('[aria-sort]').getAttribute('aria-sort')") == "descending"
    browser.page.fill("#find", "hb")
    assert browser.run(names)[0] == "Hb"
    browser.page.click(".board [data-key=won]")  # what wins most comes first
    assert browser.run("document.querySelector('[aria-sort]').getAttribute('aria-sort')") == "descending"
    address = browser.run("location.hash")
    browser.open(shown[0], address)
    assert browser.run("document.getElementById('find').value") == "hb"
    assert words(browser, "#found").endswith("of 5 algorithms")


def test_a_name_leads_to_its_card_and_back_returns(browser, shown):
    """The card of the algorithm, in sight; back is the view that was left."""
    browser.open(shown[0], "#domain=256")
    browser.page.click(".board .name >> text=DAWA")
    browser.wait("document.querySelector('.card.chosen')")
    assert words(browser, ".card.chosen h3").startswith("DAWA")
    assert "view=catalogue" in browser.run("location.hash")
    browser.page.go_back()
    browser.wait("document.getElementById('leaderboard')")
    assert browser.run("location.hash") == "#domain=256"
    browser.page.click(".board tbody tr:has-text('Hb') td >> nth=1")  # anywhere in its row
    browser.wait("document.querySelector('.card.chosen')")
    assert words(browser, ".card.chosen h3").startswith("Hb")


def test_a_winner_leads_to_its_dataset_and_scale(browser, shown, tmp_path):
    """A cell of who wins where opens every algorithm on that dataset with as many records."""
    browser.open(shown[0], "#domain=256")
    browser.page.click("#figure-winners [data-name=stairs] rect.pick >> nth=1")
    browser.wait("document.getElementById('figure-dataset')")
    assert browser.run("document.getElementById('filter-dataset').value") == "stairs"
    assert browser.run("document.getElementById('filter-scale').value") == "100000"
    assert len(table(browser, "dataset")) == 6
    (saved,) = browser.downloads("#figure-dataset .tools > button:nth-child(3)", tmp_path)
    assert saved.name.endswith("256-cells-epsilon-0.1-1e5-records-mean-scaled-l2-error-stairs.csv")
    browser.page.go_back()
    browser.wait("document.getElementById('figure-winners')")


def test_the_address_brings_the_view_back(browser, shown):
    """A view that is shared is the view that was seen; back undoes a filter."""
    browser.open(shown[0], "#view=explore")
    browser.choose("#filter-domain", "256")
    browser.choose("#filter-dataset", "stairs")
    address = browser.run("location.hash")
    before = table(browser, "scale")
    browser.page.go_back()
    browser.wait("document.getElementById('filter-dataset').value === ''")
    assert browser.run("document.getElementById('filter-domain').value") == "256"
    browser.open(shown[0], address)
    assert browser.run("document.getElementById('filter-dataset').value") == "stairs"
    assert table(browser, "scale") == before


def test_the_recommender_says_what_the_command_says(browser, shown, tmp_path):
    """The same text, word by word, over sizes, budgets and numbers of records inside and outside of the study."""
    from dpbench.advice.offline import carried

    browser.open(page(shown[1], tmp_path, gallery=dataclasses.replace(shown[2], advice=carried())))
    assert "nothing leaves this page" in words(browser, "#recommend")
    grid = [
        (cells, epsilon, records, risk)
        for cells in ("256", "4096", "32x32", "128x128")
        for epsilon in (0.03, 0.5, 1)
        for records in (40, 12_345, 300_000, 10**8)
        for risk in ("mean", "p95")
    ]
    told = browser.run(
        f"""{json.dumps(grid)}.map((facts) => {{
          ['cells', 'epsilon', 'records', 'risk'].forEach((name, k) => {{
            const input = document.getElementById(`recommend-${{name}}`);
            input.value = facts[k];
            input.dispatchEvent(new Event('input'));
          }});
          return document.getElementById('recommendation').textContent;
        }})"""
    )
    for (cells, epsilon, records, risk), text in zip(grid, told, strict=True):
        assert text == str(dpb.recommend(cells, epsilon, records, risk=risk))
    assert len({text.split(",")[0] for text in told}) > 1
    browser.page.fill("#recommend-epsilon", "none")
    assert words(browser, "#recommendation").startswith("epsilon is 'none'; give a finite number greater than 0")
    assert not browser.page.is_visible("#recommend code")
    for epsilon, records in (("0", "100"), ("-1", "100"), ("0.1", "0"), ("0.1", "-3")):
        with pytest.raises(dpb.errors.DPBenchError) as refused:
            dpb.recommend("4096", float(epsilon), int(records))
        browser.page.fill("#recommend-epsilon", epsilon)
        browser.page.fill("#recommend-records", records)
        assert words(browser, "#recommendation") == str(refused.value)
    browser.page.fill("#recommend-records", "100,000")
    assert (
        words(browser, "#recommend code")
        == "dpbench recommend --cells 128x128 --epsilon 0.1 --records 100000 --risk p95"
    )


def test_somebodys_own_algorithm_is_told_first(browser, shown):
    """What no catalogue holds is named before the leaderboard, and its card leads."""
    browser.open(shown[0])
    assert words(browser, "#headline").startswith(f"{HOSTILE} is competitive in ")
    browser.open(shown[0], "#view=catalogue")
    assert words(browser, "#algorithms .card h3").startswith(HOSTILE)


def test_labels_are_plain_words(browser, shown):
    """Queries and domains are said, not spelled as constructors."""
    browser.open(shown[0], "#dimensions=2")
    assert "2,000 random rectangles, 64 x 64 cells, epsilon 0.1" in words(browser, "#leaderboard .about")
    browser.open(shown[0])
    assert "all prefixes, 1,024 cells" in words(browser, "#leaderboard .about")


def test_unbiased_algorithms_say_so(browser, shown):
    """A data-independent algorithm of the catalogue has no bias to measure; others show what was measured."""
    browser.open(shown[0], "#view=explore&section=bias")
    bias = {line[0]: line[2] for line in table(browser, "bias")[1:]}
    assert bias["Hb"] == bias["Identity"] == "unbiased"
    assert as_number(bias["DAWA"]) > 0


def test_an_algorithm_has_one_colour(browser, shown):
    """In the leaderboard and in charts; baselines share their grey."""
    browser.open(shown[0], "#view=explore&section=scale")
    colours = {
        name: browser.run(
            f"document.querySelector('#figure-scale [data-name={name}] [fill-opacity]').getAttribute('fill')"
        )
        for name in ("DAWA", "Hb", "Identity", "Uniform")
    }
    assert colours["Identity"] == colours["Uniform"] not in (colours["DAWA"], colours["Hb"])
    assert colours["DAWA"] != colours["Hb"]
    browser.open(shown[0])
    in_board = browser.run(
        """Object.fromEntries([...document.querySelectorAll('.board .name')]
          .map((each) => [each.textContent, each.querySelector('.swatch > *').getAttribute('fill')]))"""
    )
    assert {name: in_board[name] for name in colours} == colours


def test_a_colour_is_that_of_every_page_and_figure(browser, tmp_path):
    """Whichever algorithms stand beside it, which are competitive, and on either ground."""
    swatches = """Object.fromEntries([...document.querySelectorAll('.board .name')]
      .map((each) => [each.textContent, each.querySelector('.swatch > *').getAttribute('fill')]))"""
    for place, names in enumerate((("Hb", "DAWA"), ("SF", "Mine", "DAWA", "AHP", "Hb", "Identity"))):
        study = results(algorithms=names, datasets=("bimodal",), domains=("256",), variants=("private",))
        written = page(study, tmp_path / str(place))
        for dark in (False, True):
            browser.open(written, dark=dark)
            assert browser.run(swatches) == {name: colour_of(name)[dark] for name in names}


def test_advice_names_its_source(browser, shown, tmp_path):
    """The results of the page on the left and, where these are others, the study of the package on the right."""
    from dpbench.advice.offline import carried

    told = []
    for study in (False, True):
        advice = carried() | {"shown": study}
        browser.open(page(shown[1], tmp_path, gallery=dataclasses.replace(shown[2], advice=advice)))
        told.append([words(browser, f"#{each}") for each in ("advice-title", "recommend-title", "recommend .about")])
    (left, right, about), (plain_left, plain_right, plain_about) = told
    assert left == "What to use, by the results on this page"
    assert right == "For your own table, by the study of DPBench"
    assert "the study that comes with DPBench, not from the results on this page" in about
    assert (plain_left, plain_right) == ("What to use", "For your own table")
    assert "not from" not in plain_about


def test_panels_can_have_one_order(browser, shown):
    """By error in each panel, or the same in all."""
    orders = """[...document.querySelectorAll('#figure-scale g[data-name]')].map((each) => each.dataset.name)"""
    browser.open(shown[0], "#view=explore&section=scale&order=same")
    names = browser.run(orders)
    assert names[:5] == names[5:]


def test_hostile_names_stay_text(browser, shown):
    """A plug-in's name with markup is shown letter by letter and runs nothing."""
    for address in ("", "#view=explore", "#view=catalogue"):
        browser.open(shown[0], address)
        assert browser.run("typeof window.pwned") == "undefined"
        assert browser.run("document.querySelectorAll('img, iframe, object, embed').length") == 0
        assert browser.run("document.scripts.length") == 2
        assert HOSTILE in words(browser, "main")


def test_the_policy_refuses_what_is_put_in_later(browser, shown):
    """Even markup that got in could neither run nor send."""
    browser.open(shown[0])
    script = """(() => {
      const made = document.createElement('script');
      made.textContent = 'window.pwned = 3';
      document.body.append(made);
      return typeof window.pwned;
    })()"""
    assert browser.run(script) == "undefined"
    assert browser.run("fetch('data:,x').then(() => 'sent', () => 'refused')") == "refused"


def test_the_keyboard_reads_a_chart_and_follows_a_name(browser, shown):
    """Arrow keys go from mark to mark, Enter marks a name and leaves the reader there, escape ends it."""
    browser.open(shown[0], "#view=explore&section=scale")
    browser.run("document.querySelector('#figure-scale .plot svg').focus()")
    key = browser.page.keyboard.press
    key("ArrowRight")
    first = words(browser, "#tip")
    key("ArrowRight")
    assert first not in ("", words(browser, "#tip"))
    while words(browser, "#tip") != "Hb":
        key("ArrowRight")
    key("Enter")
    assert browser.run("new URLSearchParams(location.hash.slice(1)).get('mark')") == "Hb"
    assert browser.run("document.activeElement.closest('figure').id") == "figure-scale"
    key("Enter")
    assert browser.run("new URLSearchParams(location.hash.slice(1)).get('mark')") is None
    key("Escape")
    assert browser.run("document.getElementById('tip').hidden")


@pytest.mark.parametrize("dark", [False, True])
def test_axe_finds_nothing(browser, shown, dark):
    """No finding of axe-core in any view and section; in dark, where only colours differ, by its rules of colour."""
    browser.open(shown[0], dark=dark)
    for address in ADDRESSES:
        browser.go(address)
        assert browser.axe(["cat.color"] if dark else []) == [], address


def test_the_whole_catalogue_fits_a_phone(browser, tmp_path):
    """Every card and every row, whatever is said on it; as many colours as algorithms, but for baselines."""
    names = tuple(name for name, kind in dpb.algorithms.ours().items() if "pure" in kind.notions)
    study = results(algorithms=names, datasets=("bimodal",), domains=("256",))
    browser.open(page(study, tmp_path, gallery=gallery(names)), "#view=catalogue", width=390)
    assert browser.run("document.querySelectorAll('.card').length") == len(names) > 20
    assert browser.run("document.documentElement.scrollWidth") == 390
    browser.go("#")
    assert browser.run("document.documentElement.scrollWidth") == 390
    fills = "[...document.querySelectorAll('.board .swatch > *')].map((each) => each.getAttribute('fill'))"
    assert len(set(browser.run(fills))) == len(names) - 1
    assert browser.troubles() == []


@pytest.mark.parametrize("width", [390, 800, 1300])
def test_it_fits_every_width(browser, shown, width):
    """Nothing makes the page scroll sideways; tables and charts that are wider scroll by themselves."""
    browser.open(shown[0], width=width)
    for address in ADDRESSES:
        browser.go(address)
        assert browser.run("document.documentElement.scrollWidth") <= width, address
    assert browser.troubles() == []


def test_a_phone_has_menus(browser, shown):
    """Filters wait behind a button, sections are a list to choose from, and the table says that it scrolls."""
    browser.open(shown[0], "#view=explore", width=390)
    assert not browser.page.is_visible("#filter-domain")
    browser.page.click("#filters .more")
    assert browser.page.is_visible("#filter-domain")
    assert not browser.page.is_visible("#contents ol")
    browser.choose("#section", "regret")
    browser.wait("document.getElementById('figure-regret')")
    browser.open(shown[0], width=390)
    assert browser.page.is_visible(".hint")
    assert browser.run(
        "(() => { const box = document.querySelector('.rows.wide'); return box.scrollWidth > box.clientWidth; })()"
    )


def test_figures_are_taken_away_with_title_legend_and_setting(browser, shown, tmp_path):
    """SVG that stands alone, PNG, and CSV in which no name is a formula; all named after what they show."""
    browser.open(shown[0], "#view=explore&section=scale&form=published")
    saved = {path.suffix: path for path in browser.downloads("#figure-scale .tools > button", tmp_path)}
    assert {path.stem for path in saved.values()} == {
        "error-of-every-algorithm-by-number-of-records-as-the-paper-did-some-not-private-1-d-all-prefixes-1-024-cells-epsilon-0.1-mean-scaled-l2-error"
    }
    drawing = ElementTree.parse(saved[".svg"]).getroot()  # noqa: S314
    assert drawing.tag == "{http://www.w3.org/2000/svg}svg"
    assert not [each for each in drawing.iter() if any(name.startswith("on") for name in each.attrib)]
    text = " ".join(drawing.itertext())
    for part in (
        "Error of every algorithm",
        "all prefixes, 1,024 cells",
        "data-dependent",
        "† this form is not private",
    ):
        assert part in text
    assert saved[".png"].read_bytes().startswith(b"\x89PNG")
    assert len(saved[".png"].read_bytes()) > 10_000
    assert saved[".csv"].read_text().count("\n") > 5
    assert "'=1+1" not in saved[".csv"].read_text()
    assert browser.troubles() == []
