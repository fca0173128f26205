import pytest

from dpbench.audit import black_box


@pytest.fixture(autouse=True)
def a_short_quick_look(monkeypatch, request):
    """The quick look of the default audit takes nine seconds; two are enough here, but for slow tests."""
    if request.node.get_closest_marker("slow") is None:
        monkeypatch.setattr(black_box, "SECONDS", 2.0)
