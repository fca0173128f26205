"""Results for other libraries."""

import pyarrow as pa
import pytest

from dpbench.paper import Study


@pytest.fixture(scope="module")
def study():
    return Study.shipped().private.results.where(algorithm="Hb", domain="256", dataset="ADULT")


def test_a_table_has_one_row_per_setting(study):
    """With the measurements, and null where a budget does not apply."""
    table = study.to_arrow()
    assert table.num_rows == len(study)
    assert table["mean"].to_pylist() == study.measured.mean.tolist()
    assert set(table["delta"].to_pylist()) == {None}
    assert len(table["errors"][0]) == 50


def test_any_library_reads_the_stream(study):
    """Through Arrow's C interface; bytes are compared, since NaN equals nothing."""
    streamed, made = pa.table(study), study.to_arrow()
    assert streamed.schema.equals(made.schema, check_metadata=True)
    assert [each.serialize() for each in streamed.to_batches()] == [each.serialize() for each in made.to_batches()]


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_frames(study, library):
    """Each library's own."""
    pytest.importorskip(library)
    frame = getattr(study, f"to_{library}")()
    assert list(frame["scale"]) == study.columns["scale"].tolist()
