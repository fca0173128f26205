"""Datasets [D]: the paper's public histograms, synthetic shapes, and a user's own table.

``load("MEDCOST")`` gives the counts of a histogram of the paper, ``shapes.get("bimodal", 1024)`` a
distribution that needs no file, ``from_table(...)`` the histogram of a table.
"""

from dpbench.datasets import shapes
from dpbench.datasets.catalogue import DATASETS, SOURCE, Dataset, get, names
from dpbench.datasets.fetch import pull
from dpbench.datasets.files import load, path, verify
from dpbench.datasets.table import Column, TableHistogram, from_table

__all__ = [
    "DATASETS",
    "SOURCE",
    "Column",
    "Dataset",
    "TableHistogram",
    "from_table",
    "get",
    "load",
    "names",
    "path",
    "pull",
    "shapes",
    "verify",
]
