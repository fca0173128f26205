import os

# workers of the test run share the cores: more threads would only wait for each other
for _library in ("OPENBLAS", "OMP", "MKL"):
    os.environ.setdefault(f"{_library}_NUM_THREADS", "1")

import pytest  # noqa: E402

LONG = (
    "test_examples.py",
    "test_hostile.py",
    "test_site.py",
    "test_notebooks.py",
    "test_kills.py",
    "test_docstrings.py",
)
"""Files with tests, or fixtures, of half a minute and more: begun first, so that none is waited for in the end."""


def pytest_collection_modifyitems(items):
    """The longest first, the others as they are."""
    items.sort(key=lambda item: item.path.name not in LONG)


@pytest.fixture
def histograms():
    """The paper's histograms; skipped where they are absent."""
    from dpbench import datasets

    if any(status != "ok" for _, status in datasets.verify()):
        pytest.skip("the paper's histograms are not here; `dpbench data pull` fetches them")


@pytest.fixture(autouse=True)
def a_short_quick_look(monkeypatch, request):
    """The quick look of the default audit takes nine seconds; two are enough here, but for slow tests."""
    from dpbench.audit import black_box

    if request.node.get_closest_marker("slow") is None:
        monkeypatch.setattr(black_box, "SECONDS", 2.0)
