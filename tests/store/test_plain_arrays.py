"""Columns to and from Arrow without pandas, as pyarrow itself would make them."""

import subprocess
import sys

import numpy as np
import pyarrow as pa
import pytest

from dpbench.store.plain_arrays import to_arrow, to_numpy

COLUMNS = {
    "texts": (pa.string(), ["a", "", "é", "a"]),
    "whole": (pa.int64(), [1, -2, 3, 2**60]),
    "floats": (pa.float64(), [1.5, None, float("inf"), 0.0]),
    "truths": (pa.bool_(), [True, False, True, True]),
    "lists": (pa.list_(pa.float64()), [[1.0, 2.0], [], [3.0], [float("inf")]]),
    "maps": (pa.map_(pa.string(), pa.list_(pa.float64())), [[("a", [1.0])], [], [("b", []), ("c", [2.0, 3.0])], []]),
}


@pytest.mark.parametrize("name", COLUMNS)
def test_a_column_is_what_pyarrow_makes_of_the_same_values(name):
    kind, values = COLUMNS[name]
    for part in (values, values[:1], []):
        made = to_arrow(part, kind)
        made.validate(full=True)
        assert made.equals(pa.array(part, kind))


@pytest.mark.parametrize("name", ["texts", "whole", "floats", "truths"])
def test_an_array_is_what_pyarrow_makes_of_the_same_column(name):
    """In one chunk, in several that begin in the middle of their buffers, as a dictionary, and empty."""
    kind, values = COLUMNS[name]
    array = pa.array(values, kind)
    columns = [
        pa.chunked_array([array]),
        pa.chunked_array([array.slice(1), array.slice(0, 0), array.slice(2, 1)]),
        pa.chunked_array([], kind),
    ]
    if name == "texts":
        columns += [columns[1].dictionary_encode(), pa.chunked_array([pa.array(["a", None, "b"])])]
    for column in columns:
        wanted = column.cast(pa.string()).to_numpy() if name == "texts" else column.to_numpy(zero_copy_only=False)
        found = to_numpy(column)
        np.testing.assert_array_equal(found, wanted)
        assert found.dtype == (object if name == "texts" else wanted.dtype)


def test_reading_the_study_and_a_small_run_do_not_import_pandas(tmp_path):
    """It is installed here, and takes longer to import than either of them."""
    words = ["run", "demo", "--algorithm", "Identity", "--dataset", "bimodal", "--scale", "1000", "--trials", "1"]
    words += ["--samples", "1", "--quiet", "--store", str(tmp_path / "store")]
    for line in (["paper", "--finding", "9"], words):
        code = f"import sys; from dpbench.cli import main; main({line!r}); sys.exit('pandas' in sys.modules)"
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
