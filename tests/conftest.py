import os

import pytest


@pytest.fixture(scope="session", autouse=True)
def own_cache(tmp_path_factory):
    """What the package keeps on disk goes to a folder of the test run's own, also in subprocesses."""
    before = os.environ.get("DPBENCH_CACHE")
    os.environ["DPBENCH_CACHE"] = str(tmp_path_factory.mktemp("cache"))
    yield
    if before is None:
        del os.environ["DPBENCH_CACHE"]
    else:
        os.environ["DPBENCH_CACHE"] = before


@pytest.fixture
def histograms():
    """The paper's histograms; skipped where they are absent."""
    from dpbench import datasets

    if any(status != "ok" for _, status in datasets.verify()):
        pytest.skip("the paper's histograms are not here; `dpbench data pull` fetches them")
