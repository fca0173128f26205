"""Results: every setting of a study with its errors, read from a store or from a summary file."""

from dpbench.results.csv_file import export_csv
from dpbench.results.grid import Grid
from dpbench.results.results import Results
from dpbench.results.setting import Setting
from dpbench.store.setting_key import Place

__all__ = [
    "Grid",
    "Place",
    "Results",
    "Setting",
    "export_csv",
]
