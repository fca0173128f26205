"""One browser for the tests of a module, and a page in it."""

import pytest

from dpbench.page import page
from dpbench.results import Results
from dpbench.store import Store
from page import chromium
from page.study import gallery, rows


@pytest.fixture(scope="module")
def shown(tmp_path_factory):
    """The page of a store with two forms and three losses, the results, and the gallery."""
    folder = tmp_path_factory.mktemp("page")
    store = Store(folder / "store", create=True)
    store.append(rows(), "run")
    results = Results.from_store(store)
    pictures = gallery()
    return page(results, folder, gallery=pictures, title="A study"), results, pictures


@pytest.fixture(scope="module")
def browser():
    opened = chromium.Browser()
    yield opened
    opened.close()
