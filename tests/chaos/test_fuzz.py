"""The short version of ``python -m benchmarks.fuzz``, which makes two thousand."""

import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path


def test_malformed_plans_and_tables_are_refused_in_one_line(tmp_path):
    """No traceback, no hang, and every refusal names the file."""
    path = Path(__file__).parents[2] / "benchmarks" / "fuzz.py"
    spec = spec_from_file_location("benchmarks_fuzz", path)
    module = module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    found, wrong = module.fuzz(200, 1, tmp_path)
    assert wrong == []
    assert found["refused"] == 200
    assert found["different reasons"] > 40
