"""From a table of records to a histogram, in batches: bounds, bins and rules for odd values come from a spec.

>>> import dpbench as dpb
>>> people = {"age": [3, 17, None, 44], "sex": ["f", "m", "m", "x"]}
>>> age, sex = dpb.tables.Numbers("age", 0, 60, bins=3), dpb.tables.Categories("sex", ["f", "m"])
>>> dpb.tables.histogram(people, [age, sex]).counts
array([[1, 1],
       [0, 0],
       [0, 0]])
"""

from dpbench.tables.axes import Axis, Categories, Numbers, Times
from dpbench.tables.counting import Histogram, histogram
from dpbench.tables.sources import from_counts
from dpbench.tables.spec import Spec, read_spec
from dpbench.tables.sql import group_by

__all__ = [
    "Axis",
    "Categories",
    "Histogram",
    "Numbers",
    "Spec",
    "Times",
    "from_counts",
    "group_by",
    "histogram",
    "read_spec",
]
