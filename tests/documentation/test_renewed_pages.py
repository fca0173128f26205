"""Numbers in README and in the pages on privacy and on choosing are the study's, and conclusions follow from them."""

import re
import sys
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest

from dpbench.paper import Study

DOCS = Path(__file__).parents[2] / "docs"


@pytest.fixture(scope="module")
def page():
    """The module that renews the pages."""
    sys.path.insert(0, str(DOCS))
    try:
        return import_module("renew")
    finally:
        sys.path.remove(str(DOCS))


@pytest.fixture(scope="module")
def study():
    return Study.shipped()


@pytest.fixture(scope="module")
def text(page):
    return re.sub(r"\s+", " ", (DOCS / "private.md").read_text())


def test_every_number_is_of_the_study(page, study, text):
    """After another study, ``python docs/renew.py`` renews them."""
    readme = re.sub(r"\s+", " ", (DOCS.parent / "README.md").read_text())
    wrong = [t.format(*n) for t, n in page.sentences(study) if t.format(*n) not in text]
    wrong += [t.format(*n) for t, n in page.of_readme(study) if t.format(*n) not in readme]
    assert not wrong


def test_renewing_changes_numbers_and_nothing_else(page, study):
    """A page with other numbers becomes the page as it is; a page without a sentence is refused."""
    whole = (DOCS / "private.md").read_text()
    spoilt = whole.replace("lowest regret (1.", "lowest regret (9.").replace(
        "finding 5  reproduced", "finding 5  unknown"
    )
    assert spoilt != whole
    assert page.private(spoilt, study) == whole
    with pytest.raises(SystemExit, match="0 sentences like"):
        page.private(whole.replace("lowest regret", "smallest regret"), study)


def test_what_the_words_say(page, study, text):
    """Conclusions that no renewal of numbers would mend."""
    line, plane = page.regrets(study.private, 1), page.regrets(study.private, 2)
    assert line["Hb"] < line["DAWA"]
    assert page.regrets(study.published, 1)["DAWA"] < page.regrets(study.published, 1)["Hb"]
    assert list(plane)[2] == "DPCube"
    panel = study.private.panel(2)
    ahead = [panel.average("DAWA", scale) < panel.average("AGrid", scale) for scale in panel.scales]
    assert ahead == [False, False, False, True, True, True]
    assert np.all(panel.each("DAWA", 10**8) < panel.each("Hb", 10**8))
    assert study.private.panel(1).average("DAWA", 10**5) > study.private.panel(1).average("Hb", 10**5)


def test_the_page_on_choosing_is_as_renewed(page):
    """The advice of its example and the table of how good advice was."""
    whole = (DOCS / "choosing.md").read_text()
    assert page.choosing(whole) == whole
    with pytest.raises(SystemExit, match="0 places like"):
        page.choosing(whole.replace("| evaluated on |", "| tried on |"))
