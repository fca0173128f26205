"""The site: it builds without a warning, needs no network, and its generated parts say what was measured."""

import re
import subprocess
import sys
from importlib import import_module, util
from pathlib import Path
from xml.etree import ElementTree

import pytest

from dpbench import algorithms
from dpbench.paper.study import Study
from dpbench.results import Results
from paper.synthetic import rows

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The site as ``make docs`` builds it, in a folder of the test's own."""
    for package in ("sphinx", "myst_parser", "furo"):
        if util.find_spec(package) is None:
            pytest.skip(f"{package} is not installed; it comes with the extra docs")
    out = tmp_path_factory.mktemp("site")
    strict = ["--fail-on-warning", "--keep-going", "--quiet"]
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "sphinx",
            *strict,
            "--doctree-dir",
            str(out / "trees"),
            str(ROOT / "docs"),
            str(out / "html"),
        ],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    return out / "html"


@pytest.fixture
def generators(monkeypatch):
    """The modules beside the documents."""
    monkeypatch.syspath_prepend(str(ROOT / "docs"))
    return import_module("pages"), import_module("measured")


def test_the_site_loads_nothing_from_a_network(site):
    """No script, style, font or picture of any page has an address elsewhere."""
    elsewhere = r"""["'](?:https?:)?//"""
    loaded = rf"<(?:script|img|iframe|source)[^>]*\ssrc={elsewhere}|<link[^>]*rel=.(?:style|pre)[^>]*href={elsewhere}"
    pages = list(site.rglob("*.html"))
    assert len(pages) > 25
    assert [page.name for page in pages if re.search(loaded, page.read_text())] == []
    styles = [*site.rglob("*.css"), *site.rglob("*.js")]
    assert [style.name for style in styles if re.search(r"url\(['\"]?(?:https?:)?//|@import", style.read_text())] == []


def test_every_algorithm_has_a_page_with_its_docstring_ledger_and_parameters(site, generators):
    """And the index links to it."""
    pages, _ = generators
    index = (site / "algorithms" / "index.html").read_text()
    for name, kind in algorithms.catalogue().items():
        text = (site / "algorithms" / f"{pages.file_name(name)}.html").read_text()
        assert f'href="{pages.file_name(name)}.html"' in index
        assert all(word in text for word in ("Where epsilon goes", "Privacy", *kind.defaults()))
        assert re.search(r"<p>\d+\.\d %</p>", text)
        assert text.count('<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 760 312" role="img"') == 1


@pytest.mark.parametrize("name", ["Identity", "MWEM", "AGrid", "GaussianOptimal"])
def test_a_figure_has_the_counts_the_estimate_and_the_whole_budget(name, generators):
    """On a line and in the plane, for both kinds of budget; it is drawn in the colours of the page, and is small."""
    figures = import_module("algorithm_figures")
    drawn = figures.figure(name)
    root = ElementTree.fromstring(drawn)  # noqa: S314  (written a line before)
    words = [each.text for each in root.iter("{http://www.w3.org/2000/svg}text")]
    assert {"true counts", "estimate"} <= set(words)
    assert f"where {'rho' if name == 'GaussianOptimal' else 'epsilon'} went" in words
    shares = [float(found[1]) for each in words if (found := re.match(r"(\d+\.\d) % ", each))]
    assert sum(shares) == pytest.approx(100, abs=0.1 * len(shares))
    bars = [each for each in root.iter("{http://www.w3.org/2000/svg}rect") if each.get("width") == str(figures.BAR)]
    assert sum(float(each.get("height")) for each in bars) == pytest.approx(figures.TALL, abs=0.1 * len(bars))
    assert root.get("fill") == "currentColor"
    assert len(drawn) < 60_000


def test_every_parameter_has_a_docstring(generators):
    """The pages would show an empty meaning otherwise."""
    pages, _ = generators
    for kind in algorithms.catalogue().values():
        assert kind.defaults().keys() <= pages.parameter_docstrings(kind).keys()


def test_the_page_of_commands_has_them_all(generators):
    """With their examples."""
    from dpbench.cli import build_parser

    def below(parser):
        for action in parser._actions:
            for each in action.choices.values() if action.nargs == "A..." else ():
                yield from (each.prog, *below(each))

    pages, _ = generators
    text = pages.command_page()
    paths = list(below(build_parser()))
    assert {"dpbench run", "dpbench store info"} <= set(paths)
    assert all(f"\n{path}\n{'-' * len(path)}\n" in text for path in paths)
    assert text.count("example:") == len(paths)


def test_stale_pages_are_removed(generators, tmp_path):
    """A page of an algorithm that is gone would be an orphan, and the build would fail."""
    pages, _ = generators
    (tmp_path / "algorithms").mkdir()
    (tmp_path / "algorithms" / "gone.rst").write_text("Gone\n====\n")
    pages.write_all(tmp_path)
    names = {path.stem for path in (tmp_path / "algorithms").iterdir()}
    assert names == {"index", *map(pages.file_name, algorithms.everything())}


def test_the_packages_of_the_architecture_exist():
    """Every file and folder that the page names is there, and all nine letters have one."""
    text = (ROOT / "docs" / "architecture.md").read_text()
    names = [name for row in re.findall(r"^\|.*\|$", text, re.MULTILINE) for name in re.findall(r"`([\w.]+/?)`", row)]
    named = [name for name in names if name.endswith(("/", ".py"))]
    assert len(named) >= 20
    assert [name for name in named if not (ROOT / "src" / "dpbench" / name).exists()] == []
    letters = re.findall(r"^\| (\w+) \| .*` \|$", text, re.MULTILINE)
    assert letters == ["letter", "T", "W", "D", "M", "L", "G", "R", "E_M", "E_I"]


def test_places_are_filled_from_a_study(generators):
    """DAWA has half of the others' error, so it alone is competitive, at a regret of 1; privacy costs a factor 3."""
    _, measured = generators

    def error(name, dataset, scale, dimensions):
        return (1 if name == "DAWA" else 2) / scale

    both = [
        *rows(error, variant="published"),
        *rows(lambda *place: 3 * error(*place), variant="private"),
    ]
    places = measured.places(Study.of(Results._from_rows(both)))
    ours = {"since", *(f"problem-{number}" for number in range(1, 6))}
    assert places.keys() == {"competitive", "regret", "price"} | ours
    assert "Cascade was not measured" in places["problem-1"]
    assert places["competitive"].count("\n| DAWA | 18 | 18 | 18 | 18 | 18 | 18 |\n") == 1
    assert places["competitive"].count("\n| DAWA | 9 | 9 | 9 | 9 | 9 | 9 |\n") == 1
    assert "Hb" not in places["competitive"]
    assert places["regret"].count("| DAWA | 1.00 | 1.00 to 1.00 |") == 2
    assert re.search(r"\n\| Hb \| (1\.9\d|2\.0\d) \|", places["regret"])
    assert re.search(r"\n\| DAWA \| (2\.9\d|3\.0\d) \|", places["price"])
