"""What README says: its paths are there, and every number in its prose is recomputed."""

import re
import sys
import tomllib
from importlib import import_module
from pathlib import Path

import pytest

import dpbench as dpb
from dpbench.cli import build_parser
from dpbench.paper import Study
from dpbench.paper.study import shipped_file

ROOT = Path(__file__).parents[1]
WORDS = {2: "two", 3: "three", 4: "four", 5: "five", 6: "six", 7: "seven", 8: "eight", 9: "nine", 10: "ten"}
WORDS |= {11: "eleven", 12: "twelve", 20: "twenty", 100: "hundred", 1000: "thousand"}


@pytest.fixture(scope="module")
def readme():
    return (ROOT / "README.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def derived():
    """The sentences of README with the numbers of the shipped study, as ``docs/renew.py`` derives them."""
    sys.path.insert(0, str(ROOT / "docs"))
    try:
        return [text.format(*numbers) for text, numbers in import_module("renew").of_readme(Study.shipped())]
    finally:
        sys.path.remove(str(ROOT / "docs"))


def block(readme, heading):
    """The first block of Python below a heading."""
    return re.search(rf"^## {heading}\n.*?^```python\n(.*?)^```", readme, re.DOTALL | re.MULTILINE)[1]


def facts(readme):
    """What README says of itself and of the package, beside the numbers of the study."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    histograms = len({*dpb.RANGE_1D.datasets, *dpb.RANGE_2D.datasets})
    year = re.search(r"collection-title: .*\(SIGMOD\)\n\s+year: (\d+)", (ROOT / "CITATION.cff").read_text())[1]
    studies = sum(shipped_file(name).is_file() for name in ("published", "private", "gaussian"))
    lines = [line for line in block(readme, "Twelve lines of Python").splitlines() if line.strip()]
    kinds = re.findall(r"^- [*]{2}(?:Researchers|Practitioners|Data owners)", readme, re.MULTILINE)
    parts = re.findall(r"^\| [A-Z](?:_[A-Z])? \|", readme, re.MULTILINE)
    yield f"SIGMOD {year}"
    yield f"It is for {WORDS[len(kinds)]} kinds of people"
    yield f"The package carries the whole study, {WORDS[studies]} times"
    yield f"You need Python {project['requires-python'].removeprefix('>=')} or newer"
    yield f"The paper's {histograms} histograms"
    yield f"datasets: the paper's {histograms}"
    yield f"{WORDS[len(lines)].capitalize()} lines of Python"
    yield f"A benchmark is {WORDS[len(parts)]} things"
    yield "Two lines need no run.** Figures, page, `compare` and `interpret` show the *limit*"
    yield "one- or two-dimensional range queries"


def prose(readme):
    """README without blocks, comments, addresses and paths."""
    text = re.sub(r"^```.*?^```|<!--.*?-->", " ", readme, flags=re.DOTALL | re.MULTILINE)
    text = re.sub(r"<img[^>]*>", " ", text)
    return re.sub(r"\s+", " ", text)


def test_paths_in_the_table_exist(request):
    """Every path that the README names is there."""
    root = request.config.rootpath
    paths = re.findall(r"`(src/[\w/.]+)`", (root / "README.md").read_text())
    assert len(paths) >= 9
    assert all((root / path).exists() for path in paths)


def left_over(text, known):
    """The numbers of a text, in figures and in words, that are in none of the known sentences."""
    for sentence in known:
        text = text.replace(sentence, " ")
    text = re.sub(r"`[^`]*`|\]\([^)]*\)|\[Coming from 0\.1", " ", text)
    return re.findall(rf"[^ ]*\d[^ ]*|\b(?:{'|'.join(WORDS.values())})\b", text, re.IGNORECASE)


def test_every_number_is_derived(readme, derived):
    """Each sentence is there with the number of today, and no other number is."""
    known, text = [*derived, *facts(readme)], prose(readme)
    assert [sentence for sentence in known if sentence not in text] == []
    assert left_over(text, known) == []


def test_a_number_that_nothing_derives_is_found(readme, derived):
    """Figures and words, and a number of the study that has changed."""
    known, text = [*derived, *facts(readme)], prose(readme)
    assert left_over(text + " It took four minutes. Wins 1 of 756.", known) == ["four", "1", "756."]
    assert left_over(text.replace("8 of them stand", "9 of them stand"), known) == ["9"]


def test_cutting_at_zero_costs_what_is_said(readme, tmp_path):
    """The algorithm of README errs many times as much as Identity where most cells are empty."""
    (tmp_path / "mine.py").write_text(block(readme, "Compare your algorithm"))
    mine = dpb.plugins.load_class(f"{tmp_path / 'mine.py'}:Mine")()
    workload = dpb.workloads.Prefix(1024)
    x = dpb.generate(dpb.datasets.shapes.get("power-law", 1024), scale=500, domain=1024, seed=0)
    assert (x == 0).mean() > 0.5
    errors = [
        dpb.loss.scaled_error(workload, x, each.run(x, workload, epsilon=0.1, trials=10, seed=0)).mean()
        for each in (mine, dpb.algorithms.get("Identity"))
    ]
    assert errors[0] > 5 * errors[1]


def test_classifiers_are_true():
    """No system that refuses plug-ins, the versions of Python that wheels are tried on, types that are there."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    said = project["classifiers"]
    assert not [each for each in said if "Independent" in each or "Windows" in each]
    tried = re.search(r"^PYTHONS \?= (.*)$", (ROOT / "Makefile").read_text(), re.MULTILINE)[1].split()
    assert [each.rpartition(" ")[2] for each in said if re.search(r":: 3\.\d+$", each)] == tried
    assert project["requires-python"] == f">={tried[0]}"
    assert ("Typing :: Typed" in said) == (ROOT / "src" / "dpbench" / "py.typed").is_file()
    assert int(project["version"].split(".")[0]) == 0
    assert "Development Status :: 3 - Alpha" in said


def test_security_is_said_and_found(readme):
    """README links the page; its links lead somewhere, its commands exist, and it gives no address of a person."""
    page = (ROOT / "SECURITY.md").read_text()
    assert "[SECURITY.md](SECURITY.md)" in readme
    assert "@" not in page
    for path, anchor in re.findall(r"\]\(([^)#]*)#?([^)]*)\)", page):
        headings = re.findall(r"^#+ (.*)$", (ROOT / path).read_text(), re.MULTILINE)
        assert anchor in {re.sub(r"[^a-z0-9 -]", "", each.lower()).replace(" ", "-") for each in headings}
    known = build_parser()._subparsers._group_actions[0].choices
    assert set(re.findall(r"`dpbench ([a-z]+)", page)) <= {*known}
    for option in ("--timeout", "--memory"):
        assert option in page
        assert option in known["run"].format_help()
    for verb in ("report", "figures"):
        assert "--with" in known[verb].format_help()
    included = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["hatch"]["build"]["targets"]["sdist"]
    assert "SECURITY.md" in included["include"]
