import os

# workers of the test run share the cores: more threads would only wait for each other
for _library in ("OPENBLAS", "OMP", "MKL"):
    os.environ.setdefault(f"{_library}_NUM_THREADS", "1")

import pytest  # noqa: E402


@pytest.fixture
def histograms():
    """The paper's histograms; skipped where they are absent."""
    from dpbench import datasets

    if any(status != "ok" for _, status in datasets.verify()):
        pytest.skip("the paper's histograms are not here; `dpbench data pull` fetches them")
