"""What is kept on this machine between runs."""

import numpy as np
import pytest

from dpbench import fitted


@pytest.fixture
def cache(monkeypatch, tmp_path):
    monkeypatch.setenv("DPBENCH_CACHE", str(tmp_path))
    return tmp_path


def test_arrays_come_back_as_they_were(cache):
    """With their types; nothing else is left in the folder."""
    fitted.keep("name", {"rows": np.arange(6, dtype=np.uint16).reshape(2, 3), "value": np.array(0.5)})
    found = fitted.kept("name")
    assert found["rows"].dtype == np.uint16
    assert found["rows"].tolist() == [[0, 1, 2], [3, 4, 5]]
    assert float(found["value"]) == 0.5
    assert [path.name for path in cache.iterdir()] == ["name.npz"]
    assert fitted.kept("other") is None


def test_a_damaged_file_is_as_good_as_none(cache):
    """Every byte in turn is another one: the arrays are the same where it does not matter, or there are none."""
    arrays = {"rows": np.random.default_rng(0).integers(0, 9, (20, 5)).astype(np.uint16)}
    fitted.keep("name", arrays)
    path = cache / "name.npz"
    whole = path.read_bytes()
    lost = 0
    for place in range(len(whole)):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 255]) + whole[place + 1 :])
        found = fitted.kept("name")
        lost += found is None or "rows" not in found
        assert found is None or "rows" not in found or (found["rows"] == arrays["rows"]).all()
    assert lost > len(whole) / 2
